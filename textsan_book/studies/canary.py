"""The canary: of each table one cell, drawn by the commit, is computed anew, and must come out as it is stored.

Nothing is kept. Cheap cells come first, others as they are drawn, and what does not fit into the time is named.
"""

import multiprocessing
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from textsan.base import assets, plugins
from textsan.sweeps.specification import Cell
from textsan_book.studies import golden, recompute

CHEAP = 10.0
"""Seconds up to which cells come first."""

_PREPARING = 8.0  # seconds before the seconds of a row begin: vectors, sentences, channel
_GPU = "NVIDIA"


class DrawnCell(NamedTuple):
    """A cell that is to be computed anew; None if it cannot be read here, `lacking` what it needs, or ""."""

    table: golden.Table
    cell: Cell | None
    rows: list[int]
    seconds: float
    lacking: str

    @property
    def name(self) -> str:
        """The table and the first row."""
        return f"{self.table.name} row {self.rows[0]}" if self.rows else self.table.name


def draw(commit: str) -> list[DrawnCell]:
    """Draw a cell of each table by the commit: the cheap ones first, by seconds, then others as they are drawn."""
    chosen = {(cell["table"], cell["row"]) for cell in golden.golden_cells()}
    drawn = [_draw(table, random.Random(f"{commit} {table.name}"), chosen) for table in golden.tables()]
    order = random.Random(commit).sample(range(len(drawn)), len(drawn))
    ranks = {
        at: (one.seconds, 0) if one.seconds <= CHEAP else (CHEAP, 1 + order[at]) for at, one in enumerate(drawn)
    }
    return [drawn[at] for at in sorted(ranks, key=ranks.__getitem__)]


def _draw(table: golden.Table, draws: random.Random, golden_rows: set[tuple[str, int]]) -> DrawnCell:
    try:
        cells = [(cell, rows) for cell, rows in table.cells if (table.name, rows[0]) not in golden_rows]
    except KeyError as error:
        return DrawnCell(table, None, [], 0.0, str(error.args[0]).partition(";")[0])
    if not cells:
        return DrawnCell(table, None, [], 0.0, "another cell than its golden ones")
    cell, rows = draws.choice([pair for pair in cells if not golden.lacking(pair[0])] or cells)
    seconds = table.record.get("seconds", 0.0) / len(table.cells)
    if "experiment" not in cell:
        seconds = _PREPARING + float(table.rows.seconds[rows[0]])
    lacking = ", ".join(golden.lacking(cell)) or recompute.incomparable(cell, table.record)
    made, is_heavy = table.record.get("hardware"), "experiment" in cell or recompute.is_trained(cell)
    if made and all(_GPU in pair for pair in made) and is_heavy:
        lacking = lacking or "a GPU"
    return DrawnCell(table, cell, rows, seconds, lacking)


def compute(drawn: list[DrawnCell], seconds: float, workers: int) -> Iterator[tuple[DrawnCell, str, str]]:
    """Compute cells anew, in their order, until the time in seconds is up.

    For each the cell, the verdict (again, otherwise, failed, not here, no time), and what else is to be said.
    """
    yield from ((cell, "not here", f"needs {cell.lacking}") for cell in drawn if cell.lacking)
    end, waiting, running = time.monotonic() + seconds, [cell for cell in drawn if not cell.lacking], {}
    with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=10) as pool:
        while (waiting or running) and time.monotonic() < end:
            while waiting and len(running) < workers:
                cell = waiting.pop(0)
                if cell.seconds > end - time.monotonic():
                    yield cell, "no time", f"about {cell.seconds:.0f} s"
                else:
                    asked = plugins.loaded(), cell.cell, cell.table.table, cell.rows
                    running[cell.name] = cell, pool.apply_async(_compute, asked)
            for name in [name for name, (_, result) in running.items() if result.ready()]:
                cell, result = running.pop(name)
                yield cell, *result.get()
            time.sleep(0.1)
    for cell, _ in running.values():
        yield cell, "no time", f"not done, {cell.seconds:.0f} s were expected"
    for cell in waiting:
        yield cell, "no time", f"about {cell.seconds:.0f} s"


def _compute(plugged: dict[str, str], cell: Cell, table: Path, rows: list[int]) -> tuple[str, str]:
    """In a worker: the verdict of one cell, and what differs or how long it took."""
    start = time.monotonic()
    try:
        plugins.load_same(plugged)
        differing = recompute.difference(cell, table, rows)
    except assets.FetchError as error:
        return "not here", str(error)
    except Exception as error:
        line = str(error).strip("'\"")
        if "TEXTSAN_DATA" in line or "pip install" in line or line.startswith("dataset:"):
            return "not here", str(error)
        return "failed", f"{type(error).__name__}: {error}"
    return ("otherwise", differing) if differing else ("again", f"{time.monotonic() - start:.0f} s")
