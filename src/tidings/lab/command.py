"""The command `tidings lab`: what there is to measure, measuring it, and the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tidings.errors import SettingError, TidingsError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Measure the papers' systems on simulated networks, with the published results beside ours.",
)
Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a run.", show_default=False)]


@app.command("list")
def list_groups() -> None:
    """Say which groups of experiments there are, and what each experiment varies."""
    from tidings.lab.groups import GROUPS
    from tidings.lab.results import describe

    for group in GROUPS.values():
        small, published = (len(group.points(scale)) for scale in ("small", "published"))
        print(f"{group.name}: {group.title}; {small} points at scale small, {published} at scale published")
        for experiment in group.experiments:
            print(f"  {experiment.name}: {experiment.title}")
            print(f"    {describe(experiment, 'published')}")


@app.command()
def run(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="pastrystrings or substring.", show_default=False)],
    scale: Annotated[str, typer.Option(help="small (some minutes) or published (the papers' sizes).")] = "small",
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder; out/lab/GROUP-SCALE if not given.")
    ] = None,
    master: Annotated[str, typer.Option(help="Spark's master.")] = "local[*]",
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report when done.")] = True,
) -> None:
    """Measure a group, in parallel on Spark. What is done in the folder already is not measured again."""
    from tidings.lab.experiment import SCALES
    from tidings.lab.groups import group_named
    from tidings.lab.running import run_group

    try:
        if scale not in SCALES:
            raise SettingError(f"--scale is one of {', '.join(SCALES)}, not {scale!r}")
        chosen = group_named(group)
        folder = Path(out or f"out/lab/{group}-{scale}")
        run_group(chosen, scale, folder, master, _say)
    except TidingsError as error:
        _refused(error)
    if report:
        make(str(folder))
    else:
        print(f"results are in {folder}")


@app.command("report")
def make(folder: Folder) -> None:
    """Draw the figures of a run, and set the paper's claims beside its results."""
    from tidings.lab.report import FIGURES, make_report

    try:
        made = make_report(Path(folder))
    except TidingsError as error:
        _refused(error)
    for claim in made.claims:
        print(f"{claim.verdict:8} {claim.where}: {claim.statement}; published: {claim.published}; ours: {claim.ours}")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in made.verdicts.most_common())
    print(f"{len(made.claims)} claims: {counts}")
    print(f"report: {made.file}; figures: {made.file.parent / FIGURES}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _refused(error: TidingsError) -> NoReturn:
    print(f"error: {error}", file=sys.stderr)
    raise typer.Exit(2 if isinstance(error, SettingError) else 1)
