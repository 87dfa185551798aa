"""The command `tidings`. It calls public functions only, and prints for people or, with --json, for machines.

Exit status: 0 for yes, 1 for no (a subscription that is wrong, an event that does not match), 2 for what could not be
asked at all (no such file, no such option).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from tidings import Event, Settings, __version__, explain, parse, print_expression
from tidings.analysis.words import analyser as analyser_named
from tidings.demo import run_demo
from tidings.demo.report import coloured
from tidings.errors import SettingError, SubscriptionError, TidingsError
from tidings.lab.command import app as lab
from tidings.match_files import Request, Summary, match_files
from tidings.match_files.sampling import sample_of
from tidings.model.predicates import Conjunction, Expression, all_of
from tidings.planning.access import NOTHING, Access, AccessPath, Cost, Plan, plan
from tidings.planning.statistics import learn_from_events
from tidings.reference import check_answerable

CONJUNCTIONS_SHOWN = 10
ANALYSER = "How text is cut into words: simple, english, or package.module:NAME of your own."
_ASSIGNMENTS = {
    "--read-as": "attribute=type, such as published=timestamp",
    "--read-option": "name=value, such as sep=;",
    "--conf": "name=value, such as spark.driver.memory=4g",
}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Standing queries: say once what you want to hear about, and hear of every event that satisfies it.",
)
app.add_typer(lab, name="lab")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Where = Annotated[str, typer.Argument(help="The subscription: what stands after WHERE.", show_default=False)]


def main() -> None:
    app()


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        print(f"tidings {__version__}")
        raise typer.Exit


@app.command()
def check(
    where: Where,
    events: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Estimate by the first events of a csv, json lines or parquet file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a subscription is right, how it is read and found, and what that costs. Status 1 when it is wrong."""
    try:
        expression = parse(where)
        check_answerable(expression)
    except TidingsError as error:
        _refused(error, as_json)
    try:
        known = learn_from_events(sample_of(events)) if events is not None else NOTHING
    except TidingsError as error:
        _refused(error, as_json, status=2)
    found = plan(expression, known)
    if as_json:
        print(json.dumps({"ok": True, "canonical": print_expression(expression), **_plan_as_json(found)}))
        return
    console = _console()
    console.print(Text("ok", "bold green"), Text(print_expression(expression)), soft_wrap=True)
    for access in found.accesses[:CONJUNCTIONS_SHOWN]:
        for line in _access_lines(access, len(found.accesses) > 1):
            console.print(line, soft_wrap=True)
    if len(found.accesses) > CONJUNCTIONS_SHOWN:
        console.print(Text(f"and {len(found.accesses) - CONJUNCTIONS_SHOWN} conjunctions more"))
    if not found.accesses:
        console.print(Text("it never matches", "yellow"))
    for warning in found.warnings[:CONJUNCTIONS_SHOWN]:
        console.print(Text("warning", "bold yellow"), Text(warning), soft_wrap=True)


def _access_lines(access: Access, several: bool) -> list[Text]:
    """How one conjunction is found: under what, what is left to verify, and what that costs."""
    lines = [Text(f"or    {_conjunction(access.conjunction)}")] if several else []
    if access.predicate is not None:
        lines.append(Text(f"found {access.path}: {print_expression(access.predicate)} ({access.reason})"))
    elif access.path is AccessPath.ALWAYS:
        lines.append(Text("found always: every event matches"))
    if access.ordered and access.path is not AccessPath.RANGE:
        lines.append(Text(f"then  ordered by: {_terms(access.ordered)}"))
    if access.cost is Cost.VERIFIED:
        lines.append(Text(f"then  verified: {_terms(access.residual)}"))
    lines.append(Text(f"cost  {access.cost}, for an estimated {access.share:.2g} of the events"))
    return lines


def _terms(terms: Iterable[Expression]) -> str:
    return " AND ".join(print_expression(term, 3) for term in terms)


def _plan_as_json(found: Plan) -> dict[str, Any]:
    return {
        "conjunctions": [
            {
                "text": _conjunction(access.conjunction),
                "path": access.path.name.lower(),
                "predicate": print_expression(access.predicate) if access.predicate is not None else None,
                "ordered": [print_expression(term) for term in access.ordered],
                "exact": access.cost is Cost.DIRECT,
                "share": access.share,
                "cost": str(access.cost),
                "reason": access.reason,
            }
            for access in found.accesses
        ],
        "warnings": list(found.warnings),
    }


def _conjunction(conjunction: Conjunction) -> str:
    return print_expression(all_of(conjunction.terms)) if conjunction.terms else "TRUE"


@app.command("explain")
def explain_command(
    where: Where,
    file: Annotated[str, typer.Argument(help="A file with one event as a JSON object; - is standard input.")],
    as_json: AsJson = False,
    read_as: Annotated[
        list[str] | None,
        typer.Option("--read-as", metavar="ATTRIBUTE=TYPE", help="Read a JSON value as a timestamp or a decimal."),
    ] = None,
    analyser: Annotated[str, typer.Option(help=ANALYSER)] = "simple",
) -> None:
    """Say why the event in FILE matches a subscription, or why not. Status 0 when it matches, 1 when it does not."""
    try:
        event = Event.from_json(_content(file), _assignments("--read-as", read_as))
        explanation = explain(where, event, Settings(analyser_named(analyser)))
    except TidingsError as error:
        _refused(error, as_json, status=2)
    if as_json:
        print(json.dumps({"matches": explanation.matches, "why": explanation.why, "tree": explanation.to_dict()}))
    else:
        console = _console()
        for line in coloured(explanation):
            console.print(line, soft_wrap=True)
        console.print(Text(explanation.why, "bold"), soft_wrap=True)
    raise typer.Exit(0 if explanation.matches else 1)


# The options of `match` as --help shows them: by what they are about.
_reading = partial(typer.Option, rich_help_panel="What is read")
_writing = partial(typer.Option, rich_help_panel="What is written")
_matching = partial(typer.Option, rich_help_panel="How it is matched")
_streams = partial(typer.Option, rich_help_panel="Streams")
_spark = partial(typer.Option, rich_help_panel="Spark")


@app.command("match")
def match_command(
    subscriptions: Annotated[
        str, typer.Argument(help="Subscriptions with id and where: csv, json lines, parquet, or a compiled index.")
    ],
    events: Annotated[str, typer.Argument(help="Events: csv, json lines or parquet; a file, a folder or a glob.")],
    out: Annotated[
        str,
        _writing("--out", "-o", help="Where matches go: a file by its ending, else a folder."),
    ],
    format: Annotated[str | None, _writing(help="csv, jsonl or parquet, where --out has no ending.")] = None,
    events_format: Annotated[str | None, _reading(help="csv, jsonl or parquet, where EVENTS has no ending.")] = None,
    subscriptions_format: Annotated[str | None, _reading(help="The same of the subscriptions.")] = None,
    schema: Annotated[
        str | None, _reading(help="All columns of the events and their types: 'id string, low double'.")
    ] = None,
    read_option: Annotated[
        list[str] | None, _reading(metavar="NAME=VALUE", help="An option of Spark's reader of events, such as sep=;")
    ] = None,
    id_column: Annotated[str, _reading(help="The column with the ids of events.")] = "id",
    lists: Annotated[bool, _writing("--lists", help="One row for each event, with a list of subscriptions.")] = False,
    event_column: Annotated[
        list[str] | None, _writing(metavar="NAME", help="A column of events to carry along; may be repeated.")
    ] = None,
    subscription_column: Annotated[
        list[str] | None, _writing(metavar="NAME", help="A column of subscriptions to carry along.")
    ] = None,
    strategy: Annotated[str, _matching(help="How events and subscriptions meet on Spark.")] = "auto",
    scheme: Annotated[
        str | None, _matching(metavar="NAME", help="How the sharded strategy divides subscriptions.")
    ] = None,
    index: Annotated[
        str | None, _matching(metavar="FOLDER", help="Keep the compiled index here, for the next time.")
    ] = None,
    analyser: Annotated[str | None, _matching(help=ANALYSER)] = None,
    master: Annotated[str, _spark(help="Spark's master, such as spark://host:7077.")] = "local[*]",
    conf: Annotated[list[str] | None, _spark(metavar="NAME=VALUE", help="A setting of Spark; may be repeated.")] = None,
    streaming: Annotated[
        bool, _streams("--streaming", help="Match the files of a folder that were not matched before.")
    ] = False,
    follow: Annotated[
        bool, _streams("--follow", help="With --streaming: wait for further files, until interrupted.")
    ] = False,
    checkpoint: Annotated[
        str | None, _streams(metavar="FOLDER", help="Where a stream notes what is done; OUT/_checkpoint if not given.")
    ] = None,
    files_per_batch: Annotated[int | None, _streams(min=1, help="At most so many files in one batch.")] = None,
    overwrite: Annotated[bool, _writing("--overwrite", help="Replace what is at --out and --index.")] = False,
    problems: Annotated[
        bool, _writing("--problems/--no-problems", help="Look for values that cannot be read: a second pass.")
    ] = True,
    top: Annotated[int, _writing(min=0, help="How many of the most matched subscriptions to show.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Match the events in files with the subscriptions in files, on Spark, once or as a stream.

    Status 0 when done, 1 when all subscriptions or all events were in error or cannot be read, 2 for a wrong option.
    """
    try:
        request = Request(
            subscriptions=subscriptions,
            events=events,
            out=out,
            format=format,
            subscriptions_format=subscriptions_format,
            events_format=events_format,
            schema=schema,
            read_options=_assignments("--read-option", read_option),
            id_column=id_column,
            lists=lists,
            event_columns=tuple(event_column or ()),
            subscription_columns=tuple(subscription_column or ()),
            strategy=strategy,
            scheme=scheme,
            index=index,
            analyser=analyser,
            master=master,
            settings=_assignments("--conf", conf),
            streaming=streaming,
            follow=follow,
            checkpoint=checkpoint,
            files_per_batch=files_per_batch,
            overwrite=overwrite,
            problems=problems,
            top=top,
        )
        summary = match_files(request, _progress)
    except SettingError as error:
        _refused(error, as_json, status=2)
    except TidingsError as error:
        _refused(error, as_json)
    _show(summary, as_json)
    raise typer.Exit(0 if summary.usable else 1)


def _show(summary: Summary, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary.to_dict()))
        return
    console = _console()
    for line in summary_lines(summary):
        console.print(line, soft_wrap=True)


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def summary_lines(summary: Summary) -> list[Text]:
    rows = list(summary.rows())
    width = max(len(word) for word, _ in rows)
    return [Text.assemble((word.ljust(width), "bold"), "  ", said) for word, said in rows]


@app.command()
def demo(
    events: Annotated[int, typer.Option(help="How many events to make.", min=100, max=100_000)] = 3_000,
    seed: Annotated[int, typer.Option(help="Another seed makes other data.")] = 7,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="Run on Spark, or in this process only.")] = True,
    out: Annotated[str, typer.Option(help="The folder for its files, or of an earlier demo.")] = "out/demo",
) -> None:
    """Stream events of every kind (quotes, news, XML records) past subscriptions of every kind, on data it makes."""
    try:
        run_demo(_console(), events, seed, spark, Path(out))
    except SettingError as error:
        _refused(error, as_json=False, status=2)
    except TidingsError as error:
        _refused(error, as_json=False)


def _content(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise TidingsError(f"{file} cannot be read: {reason}") from None


def _assignment(name: str, option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not equals:
        raise SettingError(f"{name} takes {_ASSIGNMENTS[name]}, and was given {option!r}")
    return key, value


def _assignments(name: str, options: list[str] | None) -> dict[str, str]:
    return dict(_assignment(name, option) for option in options or [])


def _refused(error: TidingsError, as_json: bool, status: int = 1) -> NoReturn:
    if as_json:
        details: dict[str, Any] = {"ok": False, "error": str(error)}
        if isinstance(error, SubscriptionError):
            details |= {"problem": error.problem, "position": error.position, "hint": error.hint}
        print(json.dumps(details))
    else:
        first, *rest = str(error).split("\n")
        console = _console(stderr=True)
        console.print(Text("error", "bold red"), Text(first), soft_wrap=True)
        for line in rest:
            console.print(Text(line, "red" if line.strip(" ^") == "" else ""), soft_wrap=True)
    raise typer.Exit(status)


def _console(stderr: bool = False) -> Console:
    return Console(stderr=stderr, highlight=False)
