"""Mechanisms next to each other: losses over the least, losses at equal success, accuracy at equal success."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from textsan import plotting
from textsan.mechanisms import MECHANISMS
from textsan_book.judging import stored

CORPORA = {"rt": "film reviews", "amazon": "product reviews", "airline_tweets": "tweets to airlines"}
CORPORA |= {"ag_news": "news: of the world?", "mtsamples": "medical reports: specialty"}
"""Corpora of the stored tables, as figures call them."""


def ratios(rows: Sequence[Mapping], defence: str, high: float = 0.8) -> tuple[float, float]:
    """Return the least and the largest distance lost over the least possible, for success above a tenth."""
    mine = (row for row in rows if row["defence"] == defence and row["least"] > 0)
    over = [row["lost"] / row["least"] for row in mine if 0.1 < row["success"] < high]
    if not over:
        raise ValueError(f"defence: {defence!r} has no success between 0.1 and {high:g}; pass another end")
    return min(over), max(over)


def draw_ratios(ax: Axes, rows: Sequence[Mapping]) -> list[str]:
    """Draw the range of `ratios` of each mechanism, smallest at the top, and return their names from the top."""
    there = {row["defence"] for row in rows if 0.1 < row["success"] < 0.8 and row["least"] > 0}
    ranges = {name: ratios(rows, name) for name in there}
    order = sorted(ranges, key=lambda name: ranges[name])
    for at, name in enumerate(order):
        colour = plotting.look(mechanism=name).colour
        ax.plot(ranges[name], [-at, -at], color=colour, lw=4, solid_capstyle="butt")
    ax.axvline(1, color="0.4", lw=1)
    ax.set_yticks([-at for at in range(len(order))], [MECHANISMS[name].label for name in order])
    ax.set(xlabel="distance lost over the least at the same success", xlim=(0.9, None))
    return order


def accuracy(results: Path, first: str, second: str) -> list[dict]:
    """Compute what a classifier learns more from one mechanism than from another at equal success of attacks.

    A row a task: `more` is by the interval of independent seeds; `original` is the accuracy of the original text,
    `other` of the second mechanism.
    """
    table = pd.read_csv(results / "accuracy.csv", comment="#")
    chosen = table[(table["first"] == first) & (table.second == second) & (table.target == "matched")]
    chosen = chosen[chosen.first_reached & chosen.second_reached]
    rows = []
    for dataset, seeds in chosen.groupby("dataset", sort=False):
        row = {"task": CORPORA.get(dataset, dataset), "seeds": len(seeds)}
        row["more"] = stored.independent(seeds, "difference", "low", "high")
        rows.append(row | {"original": seeds.original.mean(), "other": seeds.second_accuracy.mean()})
    return rows


def draw_accuracy(ax: Axes, rows: Sequence[Mapping]) -> None:
    """Draw the differences of `accuracy`, a line a task."""
    for at, row in enumerate(rows):
        more = row["more"]
        ax.plot([more.low, more.high], [-at, -at], color="C0", lw=1.5)
        ax.plot(more.value, -at, "o", color="C0")
    ax.axvline(0, color="0.4", lw=1)
    ax.set_yticks([-at for at in range(len(rows))], [row["task"] for row in rows])
    ax.set_xlabel("accuracy more than from CusText")


def scale(results: Path, level: float) -> pd.DataFrame:
    """Compute the distance lost where the stronger of two attacks recovers a share of the protected words.

    The share is a `level` of the table. A row a mechanism, least mean loss before others, a column a corpus: means
    over the seeds that reached the level, NaN where none did.
    """
    table = pd.read_csv(results / "rank.csv", comment="#")
    reached = table[(table.target == "success") & (table.level == level) & table.reached]
    wide = reached.pivot_table(index="defence", columns="dataset", values="lost", aggfunc="mean")
    return wide.loc[wide.mean(axis=1).sort_values().index]


def draw_scale(ax: Axes, losses: pd.DataFrame) -> None:
    """Draw the losses of `scale`, a line a mechanism and a marker a corpus."""
    places = -np.arange(len(losses))
    for series, corpus in enumerate(losses):
        look = plotting.look(series=series)
        label = CORPORA.get(corpus, corpus)
        ax.plot(losses[corpus], places, look.marker, color=look.colour, label=label, linestyle="")
    ax.set_yticks(places, [MECHANISMS[name].label for name in losses.index])
    ax.set(xlabel="distance lost at equal success", xlim=(0, None))
    ax.legend()
