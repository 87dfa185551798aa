"""A network in one process: messages one by one, in the order of a clock, with latencies and loss.

What happens is written as processes: generators that yield `Send` and get back whether it arrived. A process runs where
its last message arrived, so a request that is forwarded from node to node is one process. The queue is ordered by time
and, at equal times, by a running number; loss comes from one seeded generator: the same seed gives the same trace.
An acknowledgement costs nothing; a sender that misses it for `timeout_ms` sends again, `attempts` times in all, and
then takes the other for gone.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from math import hypot
from typing import Any, Generic, TypeAlias, TypeVar

from tidings.errors import SettingError
from tidings.overlay.ledger import Ledger

Result = TypeVar("Result")

HEADER_BYTES = 24  # kind, sender, receiver, and the number of a message
IDENTIFIER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Send:
    """What a process yields: carry this from node to node. `payload_bytes` is what it weighs beside its header."""

    kind: str
    source: int
    target: int
    payload_bytes: int = 0
    hop: int = 1


Process: TypeAlias = Generator[Send, bool, Result]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the trace; of a `Send` that was tried three times there are three. Bytes count the header too."""

    number: int
    kind: str
    source: int
    target: int
    bytes: int
    hop: int
    sent_ms: float
    arrived: bool
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Latencies:
    """Nodes are points of a square, by a seeded hash; a message takes `least_ms` and more with the distance."""

    seed: int = 0
    least_ms: float = 1.0
    across_ms: float = 100.0  # from one corner to the one opposite
    _points: dict[int, tuple[float, float]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def point(self, node: int) -> tuple[float, float]:
        """Where a node is: both numbers from 0 to 1."""
        if node not in self._points:
            digest = blake2b(b"%d" % node, digest_size=16, key=self.seed.to_bytes(8, "big", signed=True)).digest()
            self._points[node] = tuple(int.from_bytes(half, "big") / 2**64 for half in (digest[:8], digest[8:]))  # type: ignore[assignment]  # two of them
        return self._points[node]

    def between(self, one: int, other: int) -> float:
        (x1, y1), (x2, y2) = self.point(one), self.point(other)
        return self.least_ms + self.across_ms * hypot(x1 - x2, y1 - y2) / hypot(1, 1)


@dataclass(slots=True)
class Task(Generic[Result]):
    """A process that was started: `result` is there when it is done."""

    process: Process[Result]
    done: bool = False
    result: Result | None = None


@dataclass(slots=True)
class _Flight:
    task: Task[Any]
    send: Send
    attempt: int
    message: Message


class Network:
    def __init__(
        self,
        *,
        seed: int = 0,
        latencies: Latencies | None = None,
        loss: float = 0.0,
        timeout_ms: float = 500.0,
        attempts: int = 3,
        keep_trace: bool = True,
    ) -> None:
        if not 0 <= loss < 1 or attempts < 1 or timeout_ms <= 0:
            raise SettingError(
                f"loss {loss}, attempts {attempts}, timeout_ms {timeout_ms}: "
                "loss is at least 0 and below 1, attempts at least 1, timeout_ms above 0"
            )
        self.latencies = latencies or Latencies(seed)
        self.loss = loss
        self.timeout_ms = timeout_ms
        self.attempts = attempts
        self.now_ms = 0.0
        self.ledger = Ledger()
        self.trace: list[Message] = []
        self._keep_trace = keep_trace
        self._random = random.Random(seed)
        self._up: set[int] = set()  # those who get messages
        self._senders: set[int] = set()
        self._queue: list[tuple[float, int, _Flight]] = []
        self._numbers = 0

    # Nodes.

    def attach(self, node: int, *, receiving: bool = True) -> None:
        """From now on the node sends, and messages to it arrive; who is about to leave may send only."""
        self._senders.add(node)
        if receiving:
            self._up.add(node)

    def detach(self, node: int) -> None:
        """From now on messages to the node, also those under way, are lost, and it sends none."""
        self._up.discard(node)
        self._senders.discard(node)

    def is_up(self, node: int) -> bool:
        return node in self._up

    # Processes.

    def start(self, process: Process[Result]) -> Task[Result]:
        """Begins a process; it goes on whenever the network runs."""
        task = Task(process)
        self._resume(task, None)
        return task

    def complete(self, process: Process[Result]) -> Result:
        """Begins a process and runs the network until nothing is under way: what else it has set off is done too."""
        task = self.start(process)
        self.run()
        return task.result  # type: ignore[return-value]  # it is done: the result is one

    def run(self) -> None:
        """Runs until nothing is under way."""
        while self._queue:
            self._step()

    def send(self, kind: str, source: int, target: int, payload_bytes: int = 0, hop: int = 1) -> bool:
        """One message and its repetitions, run until its fate is known: whether it arrived."""

        def alone() -> Process[bool]:
            return (yield Send(kind, source, target, payload_bytes, hop))

        return self.complete(alone())

    # Inside.

    def _resume(self, task: Task[Any], answer: bool | None) -> None:
        try:
            send = next(task.process) if answer is None else task.process.send(answer)
            while send.source == send.target or send.source not in self._senders:
                # To itself a node needs no message; from a node that is gone there is none.
                send = task.process.send(send.source in self._senders)
        except StopIteration as stop:
            task.done, task.result = True, stop.value
        else:
            self._launch(task, send, 1)

    def _launch(self, task: Task[Any], send: Send, attempt: int) -> None:
        self._numbers += 1
        lost = self.loss > 0 and self._random.random() < self.loss
        latency_ms = self.latencies.between(send.source, send.target)
        size = HEADER_BYTES + send.payload_bytes
        message = Message(
            self._numbers, send.kind, send.source, send.target, size, send.hop, self.now_ms, not lost, latency_ms
        )
        due_ms = self.now_ms + (self.timeout_ms if lost else latency_ms)
        heappush(self._queue, (due_ms, self._numbers, _Flight(task, send, attempt, message)))

    def _step(self) -> None:
        """Lets the next thing happen: a message arrives, or its sender has waited in vain."""
        due_ms, number, flight = heappop(self._queue)
        self.now_ms = due_ms
        message = flight.message
        if message.arrived and message.target not in self._up:
            # Nobody is there: the sender waits until its time is over.
            flight.message = Message(
                message.number, message.kind, message.source, message.target, message.bytes, message.hop,
                message.sent_ms, False, message.latency_ms,
            )  # fmt: skip
            heappush(self._queue, (max(due_ms, message.sent_ms + self.timeout_ms), number, flight))
            return
        self.ledger.record(message)
        if self._keep_trace:
            self.trace.append(message)
        if message.arrived:
            self._resume(flight.task, True)
        elif flight.attempt < self.attempts and message.source in self._senders:
            self._launch(flight.task, flight.send, flight.attempt + 1)
        else:
            self._resume(flight.task, False)
