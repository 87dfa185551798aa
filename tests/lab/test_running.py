"""Experiments as data: points, results that are kept, reports, and the command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tidings.errors import SettingError, StoreError
from tidings.lab import pastry_strings, running
from tidings.lab.claims import AGREES, DIFFERS, NO_VALUE, PARTLY, Claim, as_markdown, falls, rises, verdict_of_factor
from tidings.lab.command import app
from tidings.lab.experiment import Experiment, Group, Parameters, Scale
from tidings.lab.groups import GROUPS, group_named
from tidings.lab.report import CONTENTS, make_report
from tidings.lab.results import Results, Row, gather, read_results, write_point
from tidings.lab.running import run_group, run_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def doubled(parameters: Parameters, seed: int) -> Mapping[str, float]:
    return {"twice": 2.0 * parameters["x"] + seed, "once": float(parameters["x"])}


TOY = Experiment("toy", "x and twice x", doubled, {"small": Scale({"x": (3, 1, 2)}, {"why": "to see"}, 2)})


def test_points_are_the_grid_times_the_repetitions() -> None:
    points = list(TOY.points("small"))
    assert [(json.loads(point.parameters), point.seed) for point in points] == [
        ({"why": "to see", "x": x}, seed) for x in (3, 1, 2) for seed in (0, 1)
    ]
    assert len({point.name for point in points}) == len(points)
    with pytest.raises(SettingError, match="scale is one of small, not 'huge'"):
        list(TOY.points("huge"))


def test_another_version_is_another_result() -> None:
    newer = Experiment(TOY.name, TOY.title, doubled, TOY.scales, version=2)
    assert {point.name for point in newer.points("small")}.isdisjoint(point.name for point in TOY.points("small"))


def test_results_are_kept_gathered_and_summed_up(tmp_path: Path) -> None:
    points = list(TOY.points("small"))
    for point in points:
        write_point(point, doubled(json.loads(point.parameters), point.seed), tmp_path)
    gathered = gather(points, tmp_path)
    results = read_results(tmp_path)
    assert set(map(str, results.rows)) == set(map(str, gathered.rows))
    curve = results.curve("toy", "twice", "x")
    assert [(x, mean) for x, mean, _ in curve] == [(x, 2 * x + 0.5) for x in (1.0, 2.0, 3.0)]
    assert [sd for _, _, sd in curve] == pytest.approx([0.5**0.5] * 3)
    assert results.value("toy", "once", x=3) == 3
    with pytest.raises(StoreError, match="3 settings"):
        results.value("toy", "once")
    table = (tmp_path / "tables" / "toy.csv").read_text().splitlines()
    assert table[0] == "why,x,metric,mean,sd,repetitions"
    assert "to see,1,twice,2.5,0.707107,2" in table


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = list(pastry_strings.GROUP.experiment("sub-ranges").points("small"))[:3]
    run_here("pastrystrings", points, tmp_path)
    asked: list[str] = []
    monkeypatch.setattr(running, "measure_point", lambda group, point, folder: asked.append(point.name))
    run_here("pastrystrings", points, tmp_path)
    assert asked == []


def test_a_folder_is_for_one_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not the folder of a run"):
        make_report(tmp_path)
    (tmp_path / "run.json").write_text('{"group": "substring", "scale": "small"}')
    with pytest.raises(StoreError, match="holds substring at scale small"):
        run_group(pastry_strings.GROUP, "published", tmp_path, "local[2]", print)
    with pytest.raises(StoreError, match="holds no results"):
        make_report(tmp_path)


def test_a_group_runs_on_spark_and_goes_on_where_it_was(tmp_path: Path, spark: SparkSession) -> None:
    one = Group("pastrystrings", "", (pastry_strings.GROUP.experiment("sub-ranges"),))
    points = one.points("small")
    run_here(one.name, points[:4], tmp_path)
    said: list[str] = []
    results = run_group(one, "small", tmp_path, "local[2]", said.append)
    assert said[0] == f"4 of {len(points)} points were done before"
    assert len(results.curve("sub-ranges", "sub-ranges, mean", "size")) == len(points)
    again: list[str] = []
    run_group(one, "small", tmp_path, "local[2]", again.append)
    assert again == [f"{len(points)} of {len(points)} points were done before"]


def measured_once(group: Group) -> Results:
    """Each experiment measured at one point, in its smallest form, and taken for all of its points."""
    rows = []
    for experiment in group.experiments:
        points = list(experiment.points("small"))
        sizes = {"subscriptions": 30, "events": 30, "peers": 80, "ranges": 50}
        known = json.loads(points[0].parameters)
        metrics = experiment.measure({**known, **{name: sizes[name] for name in sizes if name in known}}, 0)
        for number, point in enumerate(points):
            parameters = json.loads(point.parameters)
            rows += [
                Row(point.experiment, parameters, point.seed, metric, value * (1 + number / 100))
                for metric, value in metrics.items()
            ]
    return Results(rows)


@pytest.mark.parametrize("name", GROUPS)
def test_a_report_has_every_figure_and_every_claim(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    group = group_named(name)
    results = measured_once(group)
    monkeypatch.setattr("tidings.lab.report.read_results", lambda folder: results)
    (tmp_path / "run.json").write_text(json.dumps({"group": name, "scale": "small"}))
    report = make_report(tmp_path)
    contents = CONTENTS[name]
    assert len(report.figures) == 2 * (len(contents.figures) + len(contents.drawn))
    assert all(file.stat().st_size > 5_000 for file in report.figures)
    needed = {experiment for figure in contents.figures for experiment in figure.needs()}
    assert needed <= {experiment.name for experiment in group.experiments}
    assert {claim.verdict for claim in report.claims} <= {AGREES, PARTLY, DIFFERS, NO_VALUE}
    assert all(claim.why for claim in report.claims if claim.verdict == PARTLY and "Figure 8(b)" not in claim.where)
    text = report.file.read_text()
    assert all(file.name in text for file in report.figures if file.suffix == ".svg")


def test_verdicts_follow_from_numbers() -> None:
    assert [verdict_of_factor(ours, 4) for ours in (4, 4.9, 5.1, 1.1, 0.9)] == [AGREES, AGREES, PARTLY, PARTLY, DIFFERS]
    assert [verdict_of_factor(ours, 0.4) for ours in (0.4, 0.2, 1.5)] == [AGREES, PARTLY, DIFFERS]
    assert rises([1, 2, 3])
    assert not rises([1, 1])
    assert falls([3, 2])
    assert "| 7 | a | b | c | **agrees** |  |" in as_markdown([Claim("7", "a", "b", "c", AGREES)])


def test_the_command_lists_and_refuses(tmp_path: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["list"])
    assert listed.exit_code == 0
    assert "pastrystrings: PastryStrings" in listed.output
    assert "overview-ngrams-PS-pastry" in listed.output
    for arguments, said in (
        (["run", "nothing"], "there is no group 'nothing'; there are pastrystrings, substring"),
        (["run", "substring", "--scale", "huge"], "--scale is one of small, published, not 'huge'"),
    ):
        refused = runner.invoke(app, arguments)
        assert refused.exit_code == 2
        assert said in refused.output
    assert runner.invoke(app, ["report", str(tmp_path)]).exit_code == 1
