"""Golden cells: for each mechanism, attack, task and experiment the cheapest cell of a committed table.

`python -m textsan_book.commands.golden` writes `data/golden.yml`; tests compute all of it with an empty cache.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from textsan.attacks import ATTACKS
from textsan.base import assets
from textsan.base.project import project_data
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import specification, studies
from textsan.sweeps.specification import Cell
from textsan.sweeps.tables import FAMILY, select
from textsan.text import names as text_names
from textsan.text.loading import COUNTER_FITTED
from textsan.utility import TASKS
from textsan_book.studies import recompute, stored_cells

SECONDS = 10.0
"""That a golden cell takes at most."""

TRAINED_SECONDS = 600.0
"""That one takes at most that is trained, which FULL alone computes."""

KINDS: dict[str, Any] = {"attack": ATTACKS, "task": TASKS, "mechanism": MECHANISMS, "experiment": studies.known()}
"""Names that have a golden cell each, by kind; an experiment only where it has one so cheap."""

OWN_TEXT = ", own text alone"
"""Of an attack without its public table, which has a golden cell of its own."""

_ONE_ANSWERS = {"language model", "mixture", "mixture without language"}
_ABOVE = """\
# The golden cells: rows of committed tables that tests compute anew, and the seconds of their records.
# Made by python -m textsan_book.commands.golden
"""


@dataclass(frozen=True)
class Table:
    """A committed table and the specification that made it, under one name."""

    name: str
    specification: Path
    table: Path

    @cached_property
    def record(self) -> dict:
        """The record beside the table."""
        return yaml.safe_load(self.table.with_suffix(".yml").read_text(encoding="utf-8"))

    @cached_property
    def cells(self) -> list[tuple[Cell, list[int]]]:
        """Read the cells that the table has, each with the numbers of its rows.

        KeyError and ValueError say that the specification asks for what is not here.
        """
        cells = specification.read_spec(self.specification)
        places = stored_cells.places(cells, self.table)
        return [(cell, rows) for cell in cells if (rows := places[cell.name])]

    def seconds(self, cell: Cell, rows: list[int]) -> float:
        """Read how long a cell took; of what shares vectors or answers the whole."""
        if "experiment" in cell:
            total = self.record.get("seconds", 0.0)
            return total if "encoder" in cell else total / len(self.cells)
        mine = self.rows.loc[rows[0]]
        if cell.get("attack", {}).get("name") in _ONE_ANSWERS:
            family = {column: mine[column] for column in FAMILY if column in mine}
            return float(select(self.rows, family | {"attack": sorted(_ONE_ANSWERS)}).seconds.max())
        return float(mine.seconds)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The table."""
        return pd.read_csv(self.table, low_memory=False)


@cache
def tables() -> tuple[Table, ...]:
    """Find the tables that a specification makes, those of golden cells last."""
    every = []
    for folder in (project_data(), project_data() / "golden"):
        for path in sorted((folder / "sweeps").glob("*.yml")):
            table = folder / "results" / f"{path.stem}.csv"
            if table.is_file():
                every.append(Table(str(table.relative_to(project_data()).with_suffix("")), path, table))
    return tuple(every)


def foreign(cell: Cell) -> list[str]:
    """Name what a cell needs that is not among the defaults: data sets, models, word vectors, Presidio."""
    registry, defaults = assets.registry(), assets.defaults()
    parts = [part.values() for part in cell.values() if isinstance(part, dict)]
    names = dict.fromkeys(value for value in chain(cell.values(), *parts) if isinstance(value, str))
    lacking_here = [
        cell[key] for key in ("dataset", "shadow_dataset") if cell.get(key) not in (None, *registry["datasets"])
    ]
    lacking_here += ["presidio"] if any(name.startswith("presidio") for name in names) else []
    for name in names:
        asset = registry["datasets"].get(name, {}).get("asset", name if name in registry["assets"] else None)
        if name == COUNTER_FITTED or asset not in (None, *defaults):
            lacking_here.append(name)
    return lacking_here


def lacking(cell: Cell) -> list[str]:
    """Name what a cell needs that is neither among the default assets nor in `TEXTSAN_DATA` nor downloaded."""
    return [name for name in foreign(cell) if not _is_here(name)]


def _is_here(name: str) -> bool:
    if name == "presidio":
        return text_names.is_presidio_here()
    root, registry = os.environ.get("TEXTSAN_DATA"), assets.registry()
    entry = registry["datasets"].get(name, {})
    folder = "counterfit" if name == COUNTER_FITTED else entry.get("local", name)
    if root and Path(root, folder).is_dir():
        return True
    asset = entry.get("asset", name)
    return asset in registry["assets"] and assets.is_cached(asset)


def subjects(cell: Cell) -> list[str]:
    """Name what a cell computes: an experiment, or an attack or a task and a mechanism.

    >>> subjects({"defence": {"name": "santext"}, "attack": {"name": "markov", "public": False}})
    ['attack markov, own text alone', 'mechanism santext']
    """
    if "experiment" in cell:
        return [f"experiment {cell['experiment']}"]
    asked = "task" if "task" in cell else "attack"
    alone = "" if cell[asked].get("public", True) else OWN_TEXT
    return [f"{asked} {cell[asked]['name']}{alone}", f"mechanism {cell['defence']['name']}"]


def choose() -> list[dict]:
    """Choose a cell for each name, from the tables alone; nothing is computed.

    Cells that need the default assets alone come first; then tables that the book reads, before the small ones
    that were made to be golden; then those of pinned kernels alone; then cheaper ones, by the seconds of the row,
    of an experiment by the mean of its record, and by the number of sentences. A mechanism whose attack or task is
    chosen needs no other cell, if that is computed everywhere. An entry says what the cell is of, its table and
    first row, the expected seconds, and whether it is trained.
    """
    candidates: dict[str, list] = {}
    for at, table in enumerate(tables()):
        with suppress(KeyError, ValueError):  # data that are not here
            own = table.name.startswith("golden"), not recompute.is_pinned(table.record)
            for cell, rows in table.cells:
                seconds = table.seconds(cell, rows)
                if own[0] or seconds <= (TRAINED_SECONDS if recompute.is_trained(cell) else SECONDS):
                    sentences = cell.get("n_private", 0) + cell.get("n_shadow", 0)
                    rank = bool(foreign(cell)), *own, seconds + sentences / 1000, at, rows[0]
                    for subject in subjects(cell):
                        candidates.setdefault(subject, []).append((rank, seconds, table, cell, rows))
    chosen: list[dict] = []
    covered: set[str] = set()
    names = (f"{kind} {name}" for kind, registered in KINDS.items() for name in registered)
    for subject in (f"{name}{alone}" for name in names for alone in ("", OWN_TEXT)):
        if subject in candidates and subject not in covered:
            _, seconds, table, cell, rows = min(candidates[subject], key=itemgetter(0))
            entry = {"of": subjects(cell), "table": table.name, "row": rows[0], "seconds": round(seconds, 1)}
            chosen.append(entry | {"trained": recompute.is_trained(cell)})
            if not (foreign(cell) or recompute.is_trained(cell)):
                covered.update(subjects(cell))
    return chosen


def golden_cells() -> list[dict]:
    """Read `data/golden.yml`: what each cell is of, its table, its first row, seconds, whether it is trained."""
    path = project_data() / "golden.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) or [] if path.is_file() else []


def store(chosen: list[dict]) -> None:
    """Write the list."""
    lines = (yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=200) for entry in chosen)
    (project_data() / "golden.yml").write_text(_ABOVE + "".join(f"- {line}" for line in lines), encoding="utf-8")
