"""The command `tidings`. It calls public functions only, and prints for people or, with --json, for machines.

Exit status: 0 for yes, 1 for no (a subscription that is wrong, an event that does not match), 2 for what could not be
asked at all (no such file, no such option).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from tidings import Event, Explanation, Settings, __version__, explain, parse, print_expression
from tidings.analysis.words import analyser as analyser_named
from tidings.demo import run_demo
from tidings.errors import SubscriptionError, TidingsError
from tidings.model.predicates import Conjunction, all_of
from tidings.planning.access import Access, AccessPath, Cost, Plan, plan
from tidings.reference import check_answerable

CONJUNCTIONS_SHOWN = 10
_COLOURS = {True: "green", False: "red", None: "yellow"}
_TRUTHS = {True: "true", False: "false", None: "unknown"}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Standing queries: say once what you want to hear about, and hear of every event that satisfies it.",
)
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
def check(where: Where, as_json: AsJson = False) -> None:
    """Say whether a subscription is right, how it is read and found, and what that costs. Status 1 when it is wrong."""
    try:
        expression = parse(where)
        check_answerable(expression)
    except TidingsError as error:
        _refused(error, as_json)
    found = plan(expression)
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
    if access.cost is Cost.VERIFIED:
        lines.append(Text(f"then  verified: {' AND '.join(print_expression(term, 3) for term in access.residual)}"))
    lines.append(Text(f"cost  {access.cost}, for an estimated {access.share:.2g} of the events"))
    return lines


def _plan_as_json(found: Plan) -> dict[str, Any]:
    return {
        "conjunctions": [
            {
                "text": _conjunction(access.conjunction),
                "path": access.path.name.lower(),
                "predicate": print_expression(access.predicate) if access.predicate is not None else None,
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
    analyser: Annotated[str, typer.Option(help="How text is cut into words: simple or english.")] = "simple",
) -> None:
    """Say why the event in FILE matches a subscription, or why not. Status 0 when it matches, 1 when it does not."""
    try:
        event = Event.from_json(_content(file), dict(_assignment(option) for option in read_as or []))
        explanation = explain(where, event, Settings(analyser_named(analyser)))
    except TidingsError as error:
        _refused(error, as_json, status=2)
    if as_json:
        print(json.dumps({"matches": explanation.matches, "why": explanation.why, "tree": explanation.to_dict()}))
    else:
        console = _console()
        for line in explanation_lines(explanation):
            console.print(line, soft_wrap=True)
        console.print(Text(explanation.why, "bold"), soft_wrap=True)
    raise typer.Exit(0 if explanation.matches else 1)


@app.command()
def demo(
    events: Annotated[int, typer.Option(help="How many events to make.", min=1, max=100_000)] = 300,
    seed: Annotated[int, typer.Option(help="Another seed makes other data.")] = 7,
) -> None:
    """Match events of every kind (quotes, news, XML records) against subscriptions of every kind, on data it makes."""
    run_demo(_console(), events, seed)


def explanation_lines(explanation: Explanation) -> list[Text]:
    """The tree as `str(explanation)` draws it, with each truth in its colour."""
    lines = []
    for line in str(explanation).split("\n"):
        text = Text(line)
        for truth, word in _TRUTHS.items():
            at = line.find(word)
            if at >= 0 and not line[:at].strip("│├└ "):
                text.stylize(_COLOURS[truth], at, at + len(word))
        lines.append(text)
    return lines


def _content(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise TidingsError(f"{file} cannot be read: {reason}") from None


def _assignment(option: str) -> tuple[str, str]:
    name, equals, kind = option.partition("=")
    if not equals:
        raise TidingsError(f"--read-as takes attribute=type, such as published=timestamp, and was given {option!r}")
    return name, kind


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
