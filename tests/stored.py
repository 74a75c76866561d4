"""Rows of the stored tables by the csv module, for witnesses that know nothing of the readers of the package."""

import csv
import json
import statistics
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "data" / "results"


def lines(*names, **where):
    """Rows with these values, as texts; parameters are columns too, as "task.words"."""
    found = []
    for name in names:
        with (RESULTS / f"{name.removesuffix('.csv')}.csv").open(encoding="utf-8", newline="") as file:
            found += csv.DictReader(line for line in file if not line.startswith("#"))
    for row in found:
        for kind in ("defence", "task"):
            given = json.loads(row.get(f"{kind}_parameters") or "{}")
            row |= {f"{kind}.{key}": str(value) for key, value in given.items()}
    return [row for row in found if all(row.get(key) == value for key, value in where.items())]


def mean(rows, column="utility"):
    return statistics.fmean(float(row[column]) for row in rows if row.get(column))
