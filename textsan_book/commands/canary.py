"""`python -m textsan_book.commands.canary`: cells of the stored tables, drawn by the commit, are computed anew."""

import os
import sys

import click

from textsan.base import kernels


@click.command()
@click.option("--minutes", type=click.FloatRange(min=0), help="For all.  [default: as long as it takes]")
@click.option("--commit", help="Draws the cells.  [default: the one that is checked out]")
def canary(minutes, commit):
    """Compute one cell of each stored table anew; fail if one does not come out as it is stored.

    What needs a GPU, or data that are not here, is named with the commit that made it.
    """
    from collections import Counter

    import joblib

    from textsan.base.project import project_data
    from textsan_book.chapters import build
    from textsan_book.studies import canary

    os.environ |= {"TEXTSAN_RECOMPUTE": "1", "HF_HUB_OFFLINE": "1"}  # what is not here is named, not fetched
    commit = commit or build.commit(project_data().parent) or "nobody"
    click.echo(f"cells drawn by {commit}")
    seconds, counts = float("inf") if minutes is None else 60 * minutes, Counter()
    for cell, verdict, why in canary.compute(canary.draw(commit), seconds, joblib.cpu_count()):
        counts[verdict] += 1
        made = f", made at {cell.table.record.get('commit', 'an unknown commit')}" if verdict == "not here" else ""
        click.echo(f"{verdict}: {cell.name}, {why}{made}")
    click.echo(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    sys.exit(1 if counts["otherwise"] + counts["failed"] else 0)


if __name__ == "__main__":
    kernels.pin()
    canary()
