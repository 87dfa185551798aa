"""A request checked before Spark is started: what is wrong with an option, or missing on this disk, is told at once."""

from __future__ import annotations

import re

from tidings.analysis.words import analyser
from tidings.errors import SettingError, TidingsError
from tidings.match_files.formats import CSV, FORMATS, PARQUET, compression_of, format_of, local_path
from tidings.match_files.request import Request, is_index
from tidings.spark_session import must_have_pyspark

GLOB = re.compile(r"[*?\[{]")  # in a path of which Hadoop finds the files


def check(request: Request) -> None:
    """Raises a TidingsError that says which option or path is wrong, and what to do."""
    _check_formats(request)
    _check_streaming(request)
    _check_columns(request)
    _check_matching(request)
    _check_out(request)
    _check_index(request)
    for what, path, given, option in (
        ("subscriptions", request.subscriptions, request.subscriptions_format, "--subscriptions-format"),
        ("events", request.events, request.events_format, "--events-format"),
    ):
        _check_input(request, what, path)
        if given is None and not is_index(path):
            format_of(path, option)


def _check_formats(request: Request) -> None:
    for option, value in (
        ("--format", request.format),
        ("--events-format", request.events_format),
        ("--subscriptions-format", request.subscriptions_format),
    ):
        if value is not None and value not in FORMATS:
            raise SettingError(f"{option} is one of {', '.join(FORMATS)}, not {value!r}")
    kind = request.out_format
    if request.lists and kind == CSV:
        raise SettingError("--lists writes lists, which csv cannot hold; write jsonl or parquet, or leave out --lists")
    packed = compression_of(request.out)
    if packed and (packed != "gz" or request.out_file is None or kind == PARQUET):
        raise SettingError(
            f"--out {request.out}: what can be compressed is one file of csv or JSON lines, by gzip (.csv.gz, "
            f".jsonl.gz); streams and clusters write folders. Leave out .{packed}"
        )


def _check_streaming(request: Request) -> None:
    if not request.streaming:
        for option, given in (
            ("--follow", request.follow),
            ("--checkpoint", request.checkpoint),
            ("--files-per-batch", request.files_per_batch),
        ):
            if given:
                raise SettingError(f"{option} is for streams; add --streaming, or leave it out")
        return
    events = local_path(request.events)
    if events is not None and events.is_file():
        raise SettingError(
            f"--streaming takes a folder to which files are added, and {request.events} is a file; give its folder, or "
            "leave out --streaming"
        )


def _check_columns(request: Request) -> None:
    event, found = ["event_id", *request.event_columns], ["subscription_id", *request.subscription_columns]
    for names in (event, found) if request.lists else (event + found,):
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise SettingError(
                f"the output would have two columns {', '.join(double)}: it has event_id and subscription_id, and what "
                "--event-column and --subscription-column name; leave one out, or rename it in its file"
            )


def _check_matching(request: Request) -> None:
    must_have_pyspark()
    from tidings.spark import Sharding
    from tidings.spark.matching import must_be_strategy

    must_be_strategy(request.strategy)
    if request.scheme is not None:
        Sharding(scheme=request.scheme)
    if request.analyser is not None:
        analyser(request.analyser)


def _check_out(request: Request) -> None:
    """Nothing is overwritten unasked. A stream goes on where its checkpoint says it was."""
    out = local_path(request.out)
    if out is None:
        return  # Spark says so itself
    filled = out.is_file() or (out.is_dir() and any(out.iterdir()))
    if filled and not request.overwrite and not request.goes_on:
        raise SettingError(f"{request.out} exists already; name another place with --out, or add --overwrite")
    if not out.absolute().parent.is_dir():
        raise SettingError(f"--out {request.out}: there is no folder {out.absolute().parent}; make it first")


def _check_index(request: Request) -> None:
    if request.subscriptions_are_an_index:
        for option, given in (("--index", request.index), ("--analyser", request.analyser)):
            if given is not None:
                raise SettingError(f"{request.subscriptions} is a compiled index already; leave out {option}")
    if request.index is not None and is_index(request.index) and not (request.overwrite or request.goes_on):
        raise SettingError(
            f"--index {request.index} holds an index already; give it as SUBSCRIPTIONS, name another folder, or add "
            "--overwrite to replace the subscriptions that it has"
        )


def _check_input(request: Request, what: str, path: str) -> None:
    local = local_path(path)
    if request.is_local and local is not None and not GLOB.search(path) and not local.exists():
        raise TidingsError(f"the {what} in {path} cannot be read: there is no such file or folder")
