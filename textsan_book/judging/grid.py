"""The papers' main figure as a grid: every attack and bound at every epsilon, one panel a data set and defence.

A cell that no table has stays empty, so that a reader sees what a comparison does not rest on; one whose detector
has not been shown to have learnt is crossed out, and its number is not printed. Detectors are trained and tried on
words of their own: their cells hold what they add on these words.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from textsan.plotting.looks import GREY, INK, look
from textsan.sweeps.tables import estimate, over, pooled, select
from textsan_book.judging.verdicts import untrained

ATTACKS = (
    "unchanged",
    "mask inference",
    "empirical inversion",
    "context-free",
    "contextual",
    "markov",
    "noisy channel",
    "context-free bound",
    "contextual bound",
)
"""Rows of a panel: three published baselines (embedding inversion says the released word again, and Inversion BERT
counts), the two published attacks, two of ours, and the two published bounds."""

WITHOUT = {"contextual": "context-free", "contextual bound": "context-free bound"}
"""Rows that hold a gain, and over what."""

_UNTRAINED = -1.0


def panel(rows: pd.DataFrame, epsilons: Sequence[float]) -> pd.DataFrame:
    """Tabulate the success rates of one data set and defence, a row an attack and a column an epsilon.

    The rows of `WITHOUT` hold a gain instead. Of an attack with several settings the one with the most positions
    counts, and of those the last; seeds are pooled. NaN is a cell that no table has, -1 one that rests on a
    detector that has not learnt.
    """
    table = pd.DataFrame(np.nan, index=list(ATTACKS), columns=list(epsilons))
    for name in ATTACKS:
        for epsilon in epsilons:
            matching = select(rows, {"attack": name, "epsilon": epsilon}) if len(rows) else rows
            if len(matching):
                table.loc[name, epsilon] = _value(matching, WITHOUT.get(name))
    return table


def _value(found: pd.DataFrame, without: str | None) -> float:
    trained = [row for row in found.to_dict("records") if not untrained(row)]
    if not trained:
        return _UNTRAINED
    most = max(row["n_positions"] for row in trained)
    by_seed = {row.get("seed"): row for row in trained if row["n_positions"] == most}
    return pooled([over(row, without) if without else estimate(row) for row in by_seed.values()]).value


def draw(ax, table: pd.DataFrame, *, labels: bool = True) -> Mapping[str, int]:
    """Draw a panel as numbered cells, lighter for more success, and count "filled", "empty" and "untrained" ones.

    Gains stand on white and have a sign; empty cells are empty, untrained ones are crossed out.
    """
    values = table.to_numpy(dtype=float)
    crossed = values == _UNTRAINED
    shown = np.ma.masked_where(np.isnan(values) | crossed, values)
    gains = table.index.isin([*WITHOUT])
    rates = np.ma.masked_where(np.broadcast_to(gains[:, None], shown.shape), shown)
    image = ax.imshow(rates, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(shown.filled(np.nan)):
        if not np.isnan(value):
            ink = INK if gains[i] else "#fefefe" if image.norm(value) < 0.5 else "#111111"
            text = f"{value:+.2f}" if gains[i] else f"{value:.2f}"
            ax.text(j, i, text.replace("0.", ".", 1), ha="center", va="center", size=8, color=ink)
    for i, j in np.argwhere(crossed):
        ax.plot([j - 0.4, j + 0.4], [i + 0.35, i - 0.35], color=GREY, lw=1)
    ax.set_xticks(range(len(table.columns)), [f"{epsilon:g}" for epsilon in table.columns], size=8)
    ax.set_yticks(range(len(table)), [look(attack=name).label for name in table.index] if labels else [], size=8)
    ax.set_xticks(np.arange(len(table.columns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(table) + 1) - 0.5, minor=True)
    ax.grid(False)
    ax.grid(which="minor", color=INK, lw=0.3)
    ax.tick_params(which="both", length=0)
    counts = {"empty": int(np.isnan(values).sum()), "untrained": int(crossed.sum())}
    return {"filled": int(shown.count())} | counts
