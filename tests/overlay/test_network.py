"""Messages one by one: their order, what they cost, what becomes of them, and that a seed decides all of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SettingError
from tidings.overlay.chord import Chord
from tidings.overlay.ledger import Ledger, Traffic
from tidings.overlay.network import HEADER_BYTES, Latencies, Network, Process, Send
from tidings.overlay.pastry import Pastry
from tidings.overlay.spaces import IdentifierSpace


def network_of(*nodes: int, **options: object) -> Network:
    network = Network(**options)  # type: ignore[arg-type]  # options of the network, as the tests name them
    for node in nodes:
        network.attach(node)
    return network


def test_a_message_is_an_object_in_the_trace() -> None:
    network = network_of(1, 2)
    assert network.send("hello", 1, 2, payload_bytes=10, hop=3)
    (message,) = network.trace
    assert (message.kind, message.source, message.target, message.hop) == ("hello", 1, 2, 3)
    assert message.bytes == HEADER_BYTES + 10
    assert message.arrived
    assert message.sent_ms == 0.0
    assert network.now_ms == message.latency_ms == network.latencies.between(1, 2)


def test_to_itself_a_node_sends_nothing() -> None:
    network = network_of(1)
    assert network.send("hello", 1, 1)
    assert network.trace == []


def test_who_is_gone_is_tried_again_and_given_up() -> None:
    network = network_of(1, attempts=3, timeout_ms=50.0, latencies=Latencies(across_ms=10.0))
    assert not network.send("hello", 1, 2)
    assert [message.arrived for message in network.trace] == [False] * 3
    assert [message.sent_ms for message in network.trace] == [0.0, 50.0, 100.0]
    assert network.now_ms == 150.0


def test_who_is_gone_sends_nothing() -> None:
    network = network_of(2)
    assert not network.send("hello", 1, 2)
    assert network.trace == []


def test_who_hands_over_before_it_leaves_may_send_and_gets_nothing() -> None:
    network = network_of(2, attempts=1)
    network.attach(1, receiving=False)
    assert not network.is_up(1)
    assert network.send("mine", 1, 2)
    assert not network.send("hello", 2, 1)
    network.detach(1)
    assert not network.send("mine", 1, 2)


def test_a_node_that_goes_takes_the_messages_under_way_to_it_along() -> None:
    network = network_of(1, 2, attempts=1)

    def greeting() -> Process[bool]:
        return (yield Send("hello", 1, 2))

    task = network.start(greeting())
    network.detach(2)
    network.run()
    assert task.done
    assert task.result is False


def test_loss_is_repaired_by_sending_again() -> None:
    network = network_of(1, 2, seed=5, loss=0.5, attempts=50)
    assert all(network.send("hello", 1, 2) for _ in range(200))
    arrived = sum(message.arrived for message in network.trace)
    assert arrived == 200
    assert 320 <= len(network.trace) <= 480  # 400 on average


def test_processes_are_under_way_at_the_same_time() -> None:
    network = network_of(1, 2, 3)
    order: list[str] = []

    def visiting(name: str, target: int, times: int) -> Process[None]:
        for _ in range(times):
            yield Send(name, 1, target)
            order.append(name)

    near, far = sorted((2, 3), key=lambda node: network.latencies.between(1, node))
    assert 2 * network.latencies.between(1, near) > network.latencies.between(1, far)
    for name, target in (("far", far), ("near", near)):
        network.start(visiting(name, target, 2))
    network.run()
    assert order == ["near", "far", "near", "far"]


@given(st.integers(0, 3), st.sampled_from((0.0, 0.2)))
def test_the_same_seed_gives_the_same_trace(seed: int, loss: float) -> None:
    def life(seed: int) -> Network:
        network = Network(seed=seed, loss=loss, attempts=10)
        overlay = Chord(IdentifierSpace(2, 8), network) if seed % 2 else Pastry(IdentifierSpace(4, 4), network)
        chooser = random.Random(1)
        for node in overlay.space.spread(8, seed=1):
            overlay.join(node)
        overlay.fail(overlay.nodes[3])
        overlay.leave(overlay.nodes[2])
        overlay.stabilise()
        for _ in range(5):
            overlay.route(chooser.choice(overlay.nodes), chooser.randrange(overlay.space.size))
        return network

    one, same, other = life(seed), life(seed), life(seed + 2)
    assert one.trace == same.trace
    assert one.ledger == same.ledger
    assert one.now_ms == same.now_ms
    assert one.trace != other.trace


def test_the_ledger_is_the_sum_of_the_trace() -> None:
    network = Network(seed=1, loss=0.1, attempts=20)
    overlay = Pastry.settled(IdentifierSpace(4, 6).spread(30), IdentifierSpace(4, 6), network)
    hops = [overlay.route(overlay.nodes[0], key, "look", payload_bytes=7).hops for key in range(0, 4096, 50)]
    total = network.ledger.total()
    assert total.sent == len(network.trace)
    assert total.received == sum(message.arrived for message in network.trace) < total.sent
    assert total.sent_bytes == sum(message.bytes for message in network.trace)
    assert total == network.ledger.total("look")
    assert network.ledger.by_kind() == {"look": total}
    assert sum(traffic.sent for traffic in network.ledger.by_node("look").values()) == total.sent
    assert sorted(network.ledger.hops("look").elements()) == sorted(hops)
    assert total.received == sum(hops)


def test_ledgers_are_added() -> None:
    one, other = Ledger(), Ledger()
    one.add_counts("a", 1, Traffic(1, 2, 3, 4))
    other.add_counts("a", 1, Traffic(10, 20, 30, 40))
    other.add_counts("b", 2, Traffic(sent=5))
    other.record_route("a", 3)
    one.add(other)
    assert one.by_node() == {1: Traffic(11, 22, 33, 44), 2: Traffic(sent=5)}
    assert one.kinds() == ("a", "b")
    assert one.hops() == {3: 1}
    assert one != other


@pytest.mark.parametrize("options", [{"loss": 1.0}, {"loss": -0.1}, {"attempts": 0}, {"timeout_ms": 0.0}])
def test_a_network_that_cannot_be_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="loss is at least 0 and below 1, attempts at least 1, timeout_ms above 0"):
        network_of(**options)
