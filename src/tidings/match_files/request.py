"""What is asked of the command: its options, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidings.match_files.formats import format_by_ending, format_of, local_path, without_ending


@dataclass(frozen=True, slots=True)
class Request:
    """Options of one run. `follow`, `checkpoint` and `files_per_batch` are for streams only."""

    subscriptions: str
    events: str
    out: str
    format: str | None = None
    subscriptions_format: str | None = None
    events_format: str | None = None
    schema: str | None = None
    read_options: Mapping[str, str] = field(default_factory=dict)
    id_column: str = "id"
    lists: bool = False
    event_columns: tuple[str, ...] = ()
    subscription_columns: tuple[str, ...] = ()
    strategy: str = "auto"
    scheme: str | None = None
    index: str | None = None
    analyser: str | None = None
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    streaming: bool = False
    follow: bool = False
    checkpoint: str | None = None
    files_per_batch: int | None = None
    overwrite: bool = False
    problems: bool = True
    top: int = 5

    @property
    def out_format(self) -> str:
        return self.format or format_of(self.out, "--format")

    @property
    def out_file(self) -> Path | None:
        """The one file that is written, for a name with the ending of a format, where Spark's workers write to the disk
        of this process; None where the output is a folder."""
        one = not self.streaming and self.is_local and format_by_ending(self.out) is not None
        return local_path(self.out) if one else None

    @property
    def is_local(self) -> bool:
        """Whether Spark runs in this machine."""
        return self.master.startswith("local")

    @property
    def subscriptions_are_an_index(self) -> bool:
        return is_index(self.subscriptions)

    @property
    def checkpoint_folder(self) -> str:
        return self.checkpoint or f"{self.out.rstrip('/')}/_checkpoint"

    @property
    def goes_on(self) -> bool:
        """Whether this is a stream that has run before."""
        folder = local_path(self.checkpoint_folder)
        return self.streaming and folder is not None and folder.exists()

    def beside(self, what: str) -> str:
        """Where rows in error go: matches.csv has matches.refused.jsonl beside it."""
        return f"{without_ending(self.out.rstrip('/'))}.{what}.jsonl"


def is_index(path: str) -> bool:
    """Whether the folder holds a compiled index."""
    from tidings.index.folder import holds_index

    folder = local_path(path)
    return folder is not None and folder.is_dir() and holds_index(folder)
