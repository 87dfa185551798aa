"""What is asked of the command, checked before Spark is started: a wrong option is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidings.errors import SettingError
from tidings.match_files.formats import CSV, ENDINGS, FORMATS, format_of, is_local


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
    def out_is_one_file(self) -> bool:
        """A name with the ending of a format is one file, where Spark's workers write to the disk of this process."""
        workers_are_here = self.master.startswith("local") and is_local(self.out)
        return not self.streaming and workers_are_here and self._has_ending

    @property
    def _has_ending(self) -> bool:
        return Path(self.out).suffix.lower().removeprefix(".") in ENDINGS

    @property
    def checkpoint_folder(self) -> str:
        return self.checkpoint or f"{self.out.rstrip('/')}/_checkpoint"

    @property
    def goes_on(self) -> bool:
        """Whether this is a stream that has run before."""
        folder = self.checkpoint_folder
        return self.streaming and is_local(folder) and Path(folder).exists()

    def beside(self, what: str) -> str:
        """Where rows in error go: matches.csv has matches.refused.jsonl beside it."""
        bare = self.out.rstrip("/")
        return f"{bare.rpartition('.')[0] if self._has_ending else bare}.{what}.jsonl"

    def check(self) -> None:
        """Raises a SettingError that says which option is wrong and what to do."""
        for option, value in (
            ("--format", self.format),
            ("--events-format", self.events_format),
            ("--subscriptions-format", self.subscriptions_format),
        ):
            if value is not None and value not in FORMATS:
                raise SettingError(f"{option} is one of {', '.join(FORMATS)}, not {value!r}")
        if self.lists and self.out_format == CSV:
            raise SettingError(
                "--lists writes lists, which csv cannot hold; write jsonl or parquet, or leave out --lists"
            )
        if not self.streaming:
            for option, given in (
                ("--follow", self.follow),
                ("--checkpoint", self.checkpoint),
                ("--files-per-batch", self.files_per_batch),
            ):
                if given:
                    raise SettingError(f"{option} is for streams; add --streaming, or leave it out")
        self._check_place()

    def _check_place(self) -> None:
        """Nothing is overwritten unasked. A stream goes on where its checkpoint says it was."""
        if not is_local(self.out):
            return  # Spark says so itself
        out = Path(self.out)
        filled = out.is_file() or (out.is_dir() and any(out.iterdir()))
        if filled and not self.overwrite and not self.goes_on:
            raise SettingError(f"{self.out} exists already; name another place with --out, or add --overwrite")
        if not out.absolute().parent.is_dir():
            raise SettingError(f"--out {self.out}: there is no folder {out.absolute().parent}; make it first")
