"""Stored tables of attacks on sentence vectors: dates of birth, bases, keywords, leaked pairs and defences."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import t as student

from textsan import plotting
from textsan.evaluation import Estimate
from textsan.sweeps.tables import estimate, select
from textsan_book.judging import stored
from textsan_book.judging.seeds import over_seeds
from textsan_book.studies import citizen

SEGMENTS = ("year", "month", "day", "whole")
CORPORA = {"airline_ba": "airline reviews", "mtsamples": "medical reports"}
MODEL = "all-minilm-l6-v2"
_PRINTED = {"year": "Year", "month": "Month", "day": "Date", "whole": "Whole"}
_FULL, _LAYERS = "vectors-citizen-full.csv", "vectors-citizen-layers.csv"
_SMALL, _CAUSAL = "vectors-citizen.csv", "vectors-citizen-causal.csv"
_VECTORS = (  # of whose vectors, table, rows of it
    ("MiniLM", _FULL, {"pooling": "mean"}),
    ("MiniLM, layer 2", _LAYERS, {"pooling": "mean", "layer": 2}),
    ("MiniLM, last layer", _LAYERS, {"pooling": "mean", "layer": -1}),
    ("static", _SMALL, {"encoder": "glove-6b-50d"}),
    ("SmolLM2, mean", _CAUSAL, {"encoder": "smollm2-135m", "pooling": "mean"}),
    ("SmolLM2, last piece", _CAUSAL, {"encoder": "smollm2-135m", "pooling": "last"}),
    ("MiniLM", _CAUSAL, {"encoder": MODEL}),
)


def printed() -> pd.DataFrame:
    """Return the success that Table II of Pan et al. 2020 prints for the first guess, shares of 1,000 victims.

    A row an encoder, "Baseline (random guess)" the last one, a column a segment.
    """
    rows = stored.printed(table_or_figure="Table II", metric="Top-1 accuracy")
    table = rows.pivot(index="mechanism_or_method", columns="setting", values="value").astype(float)
    table = table.rename(columns=lambda name: name.removeprefix("segment="))[list(_PRINTED.values())]
    table.columns = list(_PRINTED)
    return table.sort_index(key=lambda names: names.str.startswith("Baseline").astype(int), kind="stable")


def citizens() -> list[dict]:
    """Compute the success of the first guess of each part of a date of birth, pooled over the seeds.

    A row for each kind of vectors: `numbers` that were encoded, an estimate a segment; the first one is BERT's
    printed shares, the last the exact blind guesses.
    """
    lines: list[dict] = [{"vectors of": "BERT, printed", "numbers": None} | dict(printed().loc["Bert"])]
    for name, table, where in _VECTORS:
        rows = select(stored.table(table), where | {"top": 1})
        cells = over_seeds(rows, by=["segment"]).set_index("segment")
        line = {"vectors of": name, "numbers": int(rows.pairs.iloc[0])}
        lines.append(line | {segment: estimate(cells.loc[segment].to_dict()) for segment in SEGMENTS})
    return [*lines, {"vectors of": "blind guess, counted", "numbers": 0} | citizen.blind(1)]


def bases() -> list[dict]:
    """Compute the share of bases read from vectors of DNA windows, pooled over the seeds, a row a corpus.

    `read` and `gain` are estimates, `majority` the share of the base that is most frequent at its position; mean
    gains are at the `first` position, the `last` one, and in the middle (3 to 18).
    """
    cells = over_seeds(stored.table("vectors-genome.csv"), by=["corpus", "position"])
    lines = []
    for corpus, some in cells.groupby("corpus", sort=False):
        at = some.set_index("position")
        mean, gain = at.loc["mean"].to_dict(), at.asr - at.chance
        line = {"windows": str(corpus).replace("_", "-"), "read": estimate(mean), "majority": mean["chance"]}
        line |= {"gain": estimate(mean, "over"), "first": gain["1"], "last": gain["20"]}
        lines.append(line | {"middle": gain[[str(i) for i in range(3, 19)]].mean()})
    return lines


def keywords() -> list[dict]:
    """Compute the areas under the curve of linear attacks on keywords in real text, pooled over the seeds.

    `black box` is plain transfer from film reviews, `static` a white box on means of word vectors; `accuracy` is
    that of the white box, and `no` that of always saying no.
    """
    by = ["encoder", "dataset", "keyword"]
    white = over_seeds(select(stored.table("vectors-keywords.csv"), {"balance": "weights"}), by=by)
    other = select(moved(), {"reversal": 0.0, "moments": False}).set_index(by[1:])
    static = select(white, {"encoder": "glove-6b-50d"}).set_index(by[1:])
    lines = []
    for row in select(white, {"encoder": MODEL}).to_dict("records"):
        at = row["dataset"], row["keyword"]
        line = {"text": CORPORA[at[0]], "keyword": at[1], "white box": estimate(row)}
        line |= {"black box": estimate(other.loc[at].to_dict()), "static": static.asr[at]}
        lines.append(line | {"accuracy": row["accuracy"], "no": row["majority"]})
    return lines


def moved() -> pd.DataFrame:
    """Return the black-box attacks on keywords, one row for all seeds of a setting."""
    rows = stored.table("vectors-transfer-airline.csv", "vectors-transfer.csv")
    return over_seeds(rows, by=["dataset", "keyword", "reversal", "moments"])


def adaptations() -> list[dict]:
    """Compute the gain of each adaptation over plain transfer, with Student's interval over keywords.

    For each corpus and adaptation, `area` and `balanced` are the mean differences of the area and of the balanced
    accuracy at the attacker's own border.
    """
    cells, lines = moved(), []
    for dataset, text in CORPORA.items():
        some = cells[cells.dataset == dataset]
        plain = select(some, {"reversal": 0.0, "moments": False}).set_index("keyword")
        adapted = some[(some.reversal > 0) | some.moments.astype(bool)]
        for (reversal, moments), rows in adapted.groupby(["reversal", "moments"]):
            parts = [f"reversal {reversal:g}"] * bool(reversal) + ["moments"] * bool(moments)
            gains = rows.set_index("keyword")[["asr", "balanced"]] - plain[["asr", "balanced"]]
            line = {"text": text, "adaptation": ", ".join(parts), "area": over_draws(gains.asr)}
            lines.append(line | {"balanced": over_draws(gains.balanced)})
    return lines


def over_draws(values: pd.Series, most: float = np.inf) -> Estimate:
    """Compute the mean of at least two independent values, with Student's 95 % interval, cut at `most`."""
    mean, half = float(values.mean()), float(student.ppf(0.975, len(values) - 1) * values.sem())
    return Estimate(mean, mean - half, min(mean + half, most))


def leaked() -> list[dict]:
    """Compute the share of a text's words that five guesses recover after a leak, pooled over the seeds.

    A row a corpus and size: `words recovered` and its `gain`, estimates, and `blind`, the share that the most
    frequent words of the leaked texts reach.
    """
    cells = over_seeds(stored.table("vectors-inversion.csv"), by=["dataset", "leak"])
    return [
        {"text": CORPORA[row["dataset"]], "leaked pairs": row["leak"], "words recovered": estimate(row)}
        | {"blind": row["chance"], "gain": estimate(row, "over")}
        for row in cells.to_dict("records")
    ]


def erased() -> list[dict]:
    """Compute areas under the curve of a linear attacker before and after LEACE erases a word, over the seeds.

    A row for each word and number of sentences that the erasure was `fitted on`; `change` is of the accuracy on
    the sentiment.
    """
    rows = select(stored.table("vectors-erasure.csv"), {"head": "linear"})
    rows = rows.assign(erased=rows.erased.fillna(""))
    rows = rows[~rows.erased.str.contains(" ")]  # one word alone
    cells = over_seeds(rows, by=["erased", "fitted", "keyword"])
    plain = cells[cells.erased == ""].set_index("keyword")
    return [
        {"word": row["keyword"], "is erased": row["keyword"] == row["erased"], "fitted on": row["fitted"]}
        | {"before": estimate(plain.loc[row["keyword"]].to_dict()), "after": estimate(row)}
        | {"change": estimate(row, "over_plain")}
        for row in cells[cells.erased != ""].to_dict("records")
    ]


def defences() -> pd.DataFrame:
    """Return the defended releases of film reviews, "none" first, with what keyword attack and task reach on them.

    `keeps`: the accuracy on the sentiment is inside the interval of the undefended one or above it;
    `stops keyword` (balanced accuracy) and `stops month`: the attack is not shown to be above 0.55 and above
    the blind guess.
    """
    rows = stored.table("vectors-defences.csv")
    bare = rows[rows.defence == "none"].iloc[0]
    keeps, keyword = rows.utility > bare.utility_low, rows.balanced_low < 0.55
    stops = {"stops keyword": keyword, "stops month": rows.month_low < rows.month_chance}
    return rows.assign(keeps=keeps, **stops)


def draw_defences(attack: str = "asr", ax=None):
    """Draw an attack against the task, a point for each defended release.

    It is "asr", the keyword's area under the curve; "balanced", its balanced accuracy; or "month".
    """
    rows = defences()
    alone, bare = ax is None, rows[rows.defence == "none"].iloc[0]
    if alone:
        _, ax = plt.subplots(figsize=(6.4, 4.2))
    blind = bare.month_chance if attack == "month" else 0.5
    for number, (name, some) in enumerate(rows[rows.defence != "none"].groupby("defence", sort=False)):
        own = {"series": number, "label": _DEFENCES[name]} if name in _DEFENCES else {"mechanism": name}
        records = some.to_dict("records")
        at = [estimate(row, "utility") for row in records]
        plotting.points(ax, at, [estimate(row, attack) for row in records], **own)
    kept = [estimate(bare.to_dict(), name) for name in ("utility", attack)]
    plotting.points(ax, kept[:1], kept[1:], role="bound", label="no defence")
    plotting.theory(ax, [0.47, 0.79], [blind, blind], role="chance", label="blind guess")
    ax.set(xlabel="accuracy on the sentiment", ylabel=_LABELS[attack])
    if alone:
        plotting.legend(ax.figure, columns=4)
    return ax


_DEFENCES = {"rounding": "rounding", "laplace": "Laplace noise", "dimensions": "fewer dimensions"}
_LABELS = {"asr": "keyword, area under the curve", "balanced": "keyword, balanced accuracy"}
_LABELS |= {"month": "month of birth, first guess"}


def ends(values) -> str:
    """Format the least and the largest of some numbers.

    >>> ends([0.25, 0.5, 0.75])
    '0.250 to 0.750'
    """
    values = np.array(list(values), dtype=float)
    return f"{values.min():.3f} to {values.max():.3f}"
