"""Results as files: one Parquet file for each point that is done, and all of them as tidy tables.

A row is one metric of one point. A file appears whole or not at all, and is never changed: a run that was stopped goes
on where it was, and points can be measured by processes that know nothing of each other.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from tidings.errors import StoreError
from tidings.lab.experiment import Experiment, Parameters, Point

POINTS, RESULTS, TABLES = "points", "results.parquet", "tables"


@dataclass(frozen=True, slots=True)
class Row:
    """Of the long table: one number."""

    experiment: str
    parameters: Parameters
    seed: int
    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all repetitions of a setting: mean, sample standard deviation (0 of a single one), and how many."""

    parameters: Parameters
    mean: float
    sd: float
    repetitions: int


class Results:
    """The rows of a run, to be asked for by experiment, metric and setting."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)
        self._of: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            self._of.setdefault((row.experiment, row.metric), []).append(row)

    def has(self, experiment: str) -> bool:
        return any(name == experiment for name, _ in self._of)

    def metrics(self, experiment: str) -> tuple[str, ...]:
        return tuple(metric for name, metric in self._of if name == experiment)

    def summaries(self, experiment: str, metric: str, **setting: Any) -> list[Summary]:
        """Settings that agree with what is given, each with all its repetitions, in the order of the experiment."""
        groups: dict[str, list[Row]] = {}
        for row in self._of.get((experiment, metric), ()):
            if all(row.parameters.get(name) == value for name, value in setting.items()):
                groups.setdefault(json.dumps(row.parameters, sort_keys=True), []).append(row)
        return [_summary(rows) for rows in groups.values()]

    def value(self, experiment: str, metric: str, **setting: Any) -> float:
        """The mean of the one setting that agrees with what is given."""
        found = self.summaries(experiment, metric, **setting)
        if len(found) != 1:
            raise StoreError(f"{experiment} has {len(found)} settings with {setting}, and one was looked for")
        return found[0].mean

    def curve(self, experiment: str, metric: str, axis: str, **setting: Any) -> list[tuple[float, float, float]]:
        """Points (axis, mean, sd) in ascending order."""
        found = self.summaries(experiment, metric, **setting)
        return sorted((float(each.parameters[axis]), each.mean, each.sd) for each in found)


def _summary(rows: list[Row]) -> Summary:
    values = [row.value for row in rows]
    return Summary(rows[0].parameters, fmean(values), stdev(values) if len(values) > 1 else 0.0, len(values))


# Files.


def is_done(point: Point, folder: Path) -> bool:
    return _file_of(point, folder).is_file()


def write_point(point: Point, metrics: Mapping[str, float], folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = sorted(metrics)
    table = pa.table(
        {
            "experiment": [point.experiment] * len(names),
            "parameters": [point.parameters] * len(names),
            "seed": pa.array([point.seed] * len(names), pa.int32()),
            "metric": names,
            "value": pa.array([float(metrics[name]) for name in names], pa.float64()),
        }
    )
    file = _file_of(point, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.unfinished")
    pq.write_table(table, unfinished)
    unfinished.replace(file)


def _file_of(point: Point, folder: Path) -> Path:
    return folder / POINTS / f"{point.name}.parquet"


def gather(points: Iterable[Point], folder: Path) -> Results:
    """The results of these points, also as one Parquet file and as a table of means for each experiment."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(_file_of(point, folder)) for point in points]
    whole = pa.concat_tables(tables)
    pq.write_table(whole, folder / RESULTS)
    results = Results(_rows(whole))
    for experiment in dict.fromkeys(row.experiment for row in results.rows):
        _write_table(results, experiment, folder / TABLES / f"{experiment}.csv")
    return results


def read_results(folder: Path) -> Results:
    import pyarrow.parquet as pq

    file = folder / RESULTS
    if not file.is_file():
        raise StoreError(f"{folder} holds no results: there is no {RESULTS} in it; run `tidings lab run` first")
    return Results(_rows(pq.read_table(file)))


def _rows(table: Any) -> Iterator[Row]:
    for row in table.to_pylist():
        yield Row(row["experiment"], json.loads(row["parameters"]), row["seed"], row["metric"], row["value"])


def _write_table(results: Results, experiment: str, file: Path) -> None:
    """A line for each setting and metric: parameters, metric, mean, sd, repetitions."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as written:
        lines = csv.writer(written)
        header: list[str] = []
        for metric in results.metrics(experiment):
            for each in results.summaries(experiment, metric):
                if not header:
                    header = list(each.parameters)
                    lines.writerow([*header, "metric", "mean", "sd", "repetitions"])
                values = [each.parameters.get(name) for name in header]
                lines.writerow([*values, metric, f"{each.mean:.6g}", f"{each.sd:.6g}", each.repetitions])


def describe(experiment: Experiment, scale: str) -> str:
    """What an experiment varies, on one line."""
    axes = experiment.scales[scale].axes
    return ", ".join(f"{name} {values[0]} to {values[-1]} ({len(values)})" for name, values in axes.items())
