"""The report of a run: every figure as an image, and a table of what the paper claims and what we found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tidings.errors import SettingError
from tidings.lab import pastry_strings_claims, pastry_strings_figures, substring_claims, substring_figures
from tidings.lab.claims import Claim, as_markdown
from tidings.lab.experiment import Group
from tidings.lab.figures import Figure, draw
from tidings.lab.results import Results, read_results
from tidings.lab.running import read_run

FIGURES, REPORT = "figures", "report.md"
NO_MATPLOTLIB = "figures are drawn with matplotlib, which is not installed; pip install 'tidings[lab]'"


@dataclass(frozen=True, slots=True)
class Contents:
    """What the report of a group shows. `drawn` are figures of their own kind."""

    claims: Callable[[Results], list[Claim]]
    figures: Sequence[Figure]
    drawn: Sequence[Callable[[Results, str, Path], tuple[Path, ...]]] = ()


CONTENTS = {
    "pastrystrings": Contents(pastry_strings_claims.claims, pastry_strings_figures.FIGURES),
    "substring": Contents(
        substring_claims.claims, substring_figures.FIGURES, (substring_figures.draw_overview,)
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    group: Group
    scale: str
    file: Path
    figures: tuple[Path, ...]
    claims: tuple[Claim, ...]

    @property
    def verdicts(self) -> Counter[str]:
        return Counter(claim.verdict for claim in self.claims)


def make_report(folder: Path) -> Report:
    """Writes the figures and the report into the folder of a run."""
    if find_spec("matplotlib") is None:
        raise SettingError(NO_MATPLOTLIB)
    group, scale = read_run(folder)
    results = read_results(folder)
    contents = CONTENTS[group.name]
    note = _note(group, scale)
    files = [file for figure in contents.figures for file in draw(figure, results, note, folder / FIGURES)]
    files += [file for drawing in contents.drawn for file in drawing(results, note, folder / FIGURES)]
    claims = tuple(contents.claims(results))
    report = Report(group, scale, folder / REPORT, tuple(files), claims)
    report.file.write_text(_text(report), encoding="utf-8")
    return report


def _note(group: Group, scale: str) -> str:
    repetitions = max(experiment.scales[scale].repetitions for experiment in group.experiments)
    return f"{group.name}, scale {scale}; means of up to {repetitions} repetitions"


def _text(report: Report) -> str:
    counts = ", ".join(f"{verdict}: {count}" for verdict, count in report.verdicts.most_common())
    images = [file for file in report.figures if file.suffix == ".svg"]
    shown = "\n\n".join(f"![{file.stem}]({FIGURES}/{file.name})" for file in images)
    return (
        f"# {report.group.title}\n\nScale: {report.scale}. Verdicts: {counts}.\n\n"
        f"## Claims\n\n{as_markdown(report.claims)}\n\n## Figures\n\n{shown}\n"
    )
