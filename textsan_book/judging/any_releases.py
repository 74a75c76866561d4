"""Releases by other tools and by sanitizers, audited alike: from the stored tables `any-release*`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from textsan import plotting
from textsan.evaluation import Estimate
from textsan_book.judging import stored

CORPORA = {"rt": "film reviews", "airline_tweets": "tweets", "mtsamples": "medical reports"}
"""The corpora of the tables, with their names in a figure."""

_TOOLS = {"presidio masks": "masks", "presidio surrogates": "surrogates", "common words": "common words"}
_TOOLS |= {"rewrite": "rewrite"}
_LOOKS: dict[str, dict] = {tool: {"series": series} for tool, series in zip(_TOOLS, (2, 3, 4, 1), strict=True)}

_PLACES = {"presidio masks": ((0, 7), "center"), "presidio surrogates": ((7, -11), "left")}
_PLACES |= {"common words": ((-7, -11), "right"), "santext": ((-5, -11), "right")}  # of labels beside their points


def releases(results: Path) -> list[dict]:
    """Compute the figures of each release of a corpus, by the rules of `data/sweeps/any-release.yml`.

    `verbatim`, `recovered`, `found`, `kept` and `original` are means over the seeds, of the strongest attack;
    `length` is the baseline of found, and `largest` that of kept; `identified`, whether the words are shown to add
    to length with every seed; `lost`, the accuracy on originals less that on the release;
    and `answers`, of a language model, the shares that are no rewrites.
    """
    names = "any-release", "any-release-rewrite"
    table = pd.concat([pd.read_csv(results / f"{name}.csv", comment="#") for name in names])
    rows = []
    for (dataset, tool, epsilon), cells in table.groupby(["dataset", "tool", "epsilon"], sort=False, dropna=False):
        shares = {figure: _of_each(cells[cells.figure == figure]) for figure in cells.figure.unique()}
        best = {figure: max(shares[figure], key=shares[figure].__getitem__) for figure in ("recovered", "found")}
        found = cells[(cells.figure == "found") & (cells["of"] == best["found"])]
        kept, original = shares["kept"]["released"], shares["kept"]["original"]
        lost, half = original.value - kept.value, np.hypot(kept.high - kept.low, original.high - original.low) / 2
        name = _TOOLS.get(tool) or f"{plotting.look(mechanism=tool).label}, ε = {epsilon:g}"
        row = {"corpus": CORPORA.get(dataset, dataset), "release": name, "tool": tool}
        row |= {"verbatim": shares["verbatim"]["all"], "recovered": shares["recovered"][best["recovered"]]}
        row |= {"found": shares["found"][best["found"]], "length": found.baseline.mean()}
        row |= {"identified": bool((found.excess_low > 0).all()), "kept": kept, "original": original}
        row |= {"largest": cells[cells.figure == "kept"].baseline.mean(), "answers": shares.get("answers", {})}
        rows.append(row | {"lost": Estimate(lost, lost - half, lost + half)})
    return rows


def _of_each(rows: pd.DataFrame) -> dict[str, Estimate]:
    """The mean over seeds of each attack, group or text, with the interval of independent seeds."""
    columns, groups = ("share", "share_low", "share_high"), rows.groupby("of", sort=False)
    return {str(of): stored.share(stored.independent(seeds, *columns)) for of, seeds in groups}


def lines(rows: Sequence[Mapping]) -> list[str]:
    """Write what a release discloses and keeps, a line a release, the corpora in their order, with intervals."""
    named = {"verbatim": "left", "recovered": "recovered", "found": "identified", "kept": "accuracy"}
    written = []
    for row in rows:
        shares = {label: row[name] for name, label in named.items()} | row["answers"]
        texts = (f"{label} {share}" for label, share in shares.items())
        written.append(f"{row['corpus']}, {row['release']}: {', '.join(texts)}")
    return written


def draw(axes: Sequence[Axes], rows: Sequence[Mapping]) -> None:
    """Draw the share of documents that are identified against the accuracy of the task, a panel a corpus."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    for ax, corpus in zip(axes, corpora, strict=True):
        own = [row for row in rows if row["corpus"] == corpus]
        for row in own:
            look = _LOOKS.get(row["tool"], {"mechanism": row["tool"]})
            plotting.points(ax, [row["kept"]], [row["found"]], label="", **look)
            offset, side = _PLACES.get(row["tool"], ((5, -11), "left"))
            at, colour = (row["kept"].value, row["found"].value), plotting.look(**look).colour
            written = {"ha": side, "color": colour, "fontsize": 8}
            ax.annotate(row["release"], at, offset, textcoords="offset points", **written)
        for name, accuracy in (("largest class", own[0]["largest"]), ("original", own[0]["original"].value)):
            ax.axvline(accuracy, color="0.4", lw=1, ls=":")
            ax.annotate(name, (accuracy, 0.02), rotation=90, ha="right", va="bottom", color="0.4", fontsize=8)
        length = np.mean([row["length"] for row in own])
        ax.axhline(length, color="0.4", lw=1, ls="--")
        ax.set(title=corpus, xlabel="accuracy of the task", ylim=(0, 1.1))
        ax.margins(x=0.36)
    axes[0].annotate("length alone", (0.02, length), xycoords=("axes fraction", "data"), color="0.4", fontsize=8)
    axes[0].set_ylabel("share of documents identified")
