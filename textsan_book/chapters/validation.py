"""A pytest plugin: nbval executes the stored notebooks, `compare` says whether they show what is stored.

Exactly, if the kernels that made a notebook run now; else estimates are compared by interval, and those that moved
within it are listed at the end.
"""

import os

from nbval.plugin import IPyNbCell

from textsan_book.chapters import compare

_MOVED = "moved"


def _compares_equal(item: IPyNbCell, outputs: list, stored: list, skip_compare=None) -> bool:
    """In place of nbval's own comparison, which knows strings only; what differs is what nbval reports."""
    if "varies" in item.cell.metadata.get("tags", []):
        return True
    notebook, number = item.parent, item.cell_num + 1
    made = notebook.nb.metadata.get("textsan", {})
    by_interval = compare.BY_INTERVAL in os.environ or "cells" not in made or "not_pinned" in made
    differences = compare.output_differences(stored, outputs, number, by_interval)
    item.comparison_traceback = [str(difference) for difference in differences]
    if by_interval:
        moves = compare.moves(stored, outputs, number)
        item.user_properties += [(_MOVED, f"{notebook.path.stem}: {move}") for move in moves]
    return not item.comparison_traceback


def pytest_itemcollected(item) -> None:
    """Run and compare every cell, whatever nbval's own tags say."""
    if isinstance(item, IPyNbCell):
        item.compare_outputs = _compares_equal.__get__(item)
        item.options.update(check=True, skip=False)


def pytest_terminal_summary(terminalreporter) -> None:
    """List the estimates that moved; the reports bring them from the processes that executed the chapters."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    moved = [line for report in reports for name, line in report.user_properties if name == _MOVED]
    if moved:
        terminalreporter.section(f"{len(moved)} estimates moved within their intervals")
        terminalreporter.write_line("\n".join(sorted(moved)))
