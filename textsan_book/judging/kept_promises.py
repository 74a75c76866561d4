"""Choices of epsilon, held against later documents: from the stored tables `promises` and `promises-held`."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from textsan import evaluation, plotting
from textsan.evaluation import Estimate
from textsan.sweeps.tables import load_tables
from textsan_book.judging import stored
from textsan_book.studies.promises import COLUMNS


def choices(results: Path) -> pd.DataFrame:
    """Read the rows of both tables that hold a choice against later documents.

    Two columns are new: whether the share is `above` the target, and whether its whole interval is (`shown`).
    """
    rows = load_tables(results, ["promises.csv", "promises-held.csv"]).dropna(subset="other")
    return rows.assign(above=rows.share > rows.target, shown=rows.low > rows.target)


def answers(rows: pd.DataFrame, target: float) -> list[dict]:
    """List the choices for a share of scored words by corpus and mechanism: each column's epsilon, or "none"."""
    asked = rows[(rows.table == "promises.csv") & (rows.later == "same") & (rows.target == target)]
    listed = []
    for (corpus, defence), cases in asked.groupby(["dataset", "defence"], sort=False):
        by_column = cases.dropna(subset="epsilon").set_index("column").epsilon.map("{:g}".format)
        chosen = {name: by_column.get(name, "none") for name in COLUMNS}
        listed.append({"corpus": corpus, "mechanism": stored.called(defence)} | chosen)
    return listed


def later(rows: pd.DataFrame) -> list[dict]:
    """Summarise, for each column, the choices that name an epsilon on later documents of the same source.

    Answers, how many have a measured share above the target, how many are shown to have, and the mean excess over
    the target as a share of the scored words, resampled by corpus.
    """
    same = rows[(rows.table == "promises.csv") & (rows.later == "same")].dropna(subset="epsilon")
    summaries = []
    for column in COLUMNS:
        chosen = same[same.column == column]
        corpora = chosen.dataset.astype("category").cat.codes.to_numpy()
        summary: dict = {"ε by": column, "answers": len(chosen), "measured above": int(chosen.above.sum())}
        summary["shown above"] = int(chosen.shown.sum())
        if len({*corpora}) > 1:
            summary["mean excess"] = evaluation.bootstrap_mean(chosen.excess, corpora, seed=0)
        summaries.append(summary)
    return summaries


def promised_for_source(rows: pd.DataFrame) -> dict[str, int]:
    """Count the questions that the source's column was asked, and its answers that name an epsilon."""
    asked = rows[(rows.table == "promises.csv") & (rows.later == "same") & (rows.column == "source")]
    return {"asked": len(asked), "answered": int(asked.epsilon.notna().sum())}


def too_large(step: float, seed: int, trials: int = 250) -> Estimate:
    """Choose the largest level whose rate is one standard error below the limit, and count unsafe choices.

    The toy world of chapter 14: rates a `step` apart from 0.08 to 0.24, a limit of 0.2, and 300 documents of 1 to
    20 words, half of which lose 40 % more than the rate says, and half as much less.
    """
    rates, limit = np.arange(0.08 + step, 0.24 + step / 2, step), 0.2 - 1e-9
    generator, above = np.random.default_rng(seed), []
    for _ in range(trials):
        sizes = generator.integers(1, 21, 300)
        hits = generator.binomial(sizes, np.outer(rates, 1 + 0.4 * generator.choice([-1, 1], 300)))
        rate = hits.sum(axis=1) / sizes.sum()
        error = np.sqrt(((hits - rate[:, None] * sizes) ** 2).sum(axis=1)) / sizes.sum()
        above.append(rates[rate + error <= limit].max(initial=0) > limit)
    return evaluation.hit_rate(above)


def draw_excess(ax: Axes, rows: pd.DataFrame) -> Mapping[str, np.ndarray]:
    """Draw and return what attacks took beyond the target at each epsilon that is promised for the source.

    The excesses are shares of scored words, by the lines of the figure.
    """
    promised = rows[rows.column == "source"].dropna(subset="epsilon")
    drawn: dict[str, np.ndarray] = {}
    for (corpus, what), cases in promised.groupby(["dataset", "later"], sort=False):
        name = f"{corpus}, then {'the same' if what == 'same' else what}".replace("_", " ")
        heights = len(drawn) + np.linspace(-0.2, 0.2, len(cases))
        drawn[name] = (cases.share - cases.target).to_numpy()
        look = plotting.look(series=int(what != "same"))
        ax.plot(drawn[name], heights, look.marker, color=look.colour)
    ax.axvline(0, color="0.4", lw=1)
    ax.set_yticks(range(len(drawn)), drawn)
    ax.set_xlabel("share recovered less target")
    return drawn
