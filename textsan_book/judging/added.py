"""Gains that attackers add to one another on words of a stored table, and verdicts of rules on several cells."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from textsan.evaluation import Estimate, clustered_rate
from textsan.sweeps.hits import load_hits
from textsan.sweeps.tables import estimate, load_tables, over, pooled, select
from textsan_book.judging import on_words, stored

ALONE = ("alone.csv", "alone-prose.csv", "alone-medical.csv")
"""The tables of a language model without any text, six corpora together."""

REMEMBERED = "{sentences}: film reviews {film reviews}; product reviews {product reviews}"
"""A line for a row of `remembered`."""

_MODEL = {"attack": "language model"}
_OTHERS = {"public list": "public ranks", "word counts": "context-free", "combined": "mixture without language"}
_TEXTS = {
    "as written": "as written",
    "other words, as frequent": "with other words, as frequent",
    "and of the same part of speech": "and of the same part of speech, too",
    "made by dice": "made by dice",
}


def ladder(table: Path, attackers: Mapping[str, Mapping], cells: Sequence[Mapping]) -> list[dict]:
    """Compute the success of the first attacker, and what each further one adds to the one before.

    `attackers` are values by column of `load_tables`, the weakest first; each of `cells` is one more condition. A
    row a corpus of a cell: `corpus`, the first attacker's success, for each further one `+ NAME`, the paired
    difference to the one before, and `in all`, the success of the last; on words with a letter or a digit, pooled
    over the seeds.
    """
    (first, weakest), *_ = attackers.items()
    rows = []
    for cell in cells:
        ends = {first: weakest, "in all": [*attackers.values()][-1]}
        added = {}
        for (_, theirs), (name, ours) in pairwise(attackers.items()):
            gains = on_words.gains(table, {**cell, **ours}, {**cell, **theirs}, ["dataset"])
            added[name] = {stored.corpus(row.dataset): row.gain for row in gains.itertuples()}
        for line in on_words.success(table, ends, cell):
            corpus = line["corpus"]
            steps = {f"+ {name}": gain[corpus] for name, gain in added.items()}
            rows.append({"corpus": corpus, first: line[first]} | steps | {"in all": line["in all"]})
    return rows


def verdict(gains: Sequence[Estimate]) -> str:
    """Return "above" or "below" if the intervals of all cells lie on that side of 0, else "undecided"."""
    if all(gain.low > 0 for gain in gains):
        return "above"
    return "below" if all(gain.high < 0 for gain in gains) else "undecided"


def alone(folder: Path, told: bool, epsilon: float = 4.0, *, marks: bool = False) -> list[dict]:
    """Compare a language model that has no text of its own with other attackers, on six corpora.

    Success and differences are those at `epsilon`; verdicts are of all values that a table has. `marks` counts
    punctuation in differences, too. A row a corpus: `corpus`, `success`, and for each other attacker `over NAME`,
    the difference, and `NAME`, its `verdict` over the values of epsilon.
    """
    rows = []
    for table in (folder / name for name in ALONE):
        ours = _MODEL | {"attack.told": told}
        lines = on_words.success(table, {"success": ours}, {"epsilon": epsilon})
        for name, other in _OTHERS.items():
            theirs = {"attack": other, "attack.told": told}
            gains = on_words.gains(table, ours, theirs, ["dataset", "epsilon"], marks=marks)
            for line in lines:
                here = gains[[stored.corpus(corpus) == line["corpus"] for corpus in gains.dataset]]
                line[f"over {name}"] = here.set_index("epsilon").gain[epsilon]
                line[name] = verdict([*here.gain])
        rows += lines
    return rows


def best_of(tables: Sequence[Path], asked: Mapping) -> tuple[str, Estimate]:
    """Find the cell in which an attacker recovers most words, by its corpus, with the success there.

    `asked` are values by column of `load_tables`; what differs besides is a cell. Success is on words with a
    letter or a digit, pooled over the seeds.
    """
    found = []
    for table in tables:
        rows = select(load_tables(table.parent, table.name), asked)
        for epsilon in dict.fromkeys(rows.epsilon):
            found += on_words.success(table, {"success": asked}, {"epsilon": epsilon})
    best = max(found, key=lambda row: row["success"].value)
    return best["corpus"], best["success"]


def ways(folder: Path) -> list[dict]:
    """Compare ways to use one language model without text, on all protected tokens of 100 film reviews.

    A row a way: `attacker`, `success`, and `over word counts`, the paired difference to an attacker who counts the
    words of 1,000 other reviews.
    """
    read = load_tables(folder, "language-model-channel.csv")
    asked = load_tables(folder, "language-model-prompted.csv")
    parts = {"the word as released": select(asked, {"attack": "unchanged"})}
    for pairs, name in ((None, "asked for the original"), (4, "asked, four pairs shown")):
        parts[name] = select(asked, {"attack": "prompted", "attack.examples": pairs})
    for known, name in ((0, "given the candidates"), (1, "given candidates and channel")):
        parts[name] = select(read, {"attack.likelihood": known})
    parts["word counts and channel"] = select(read, {"attack": "context-free"})
    rows = []
    for name, part in parts.items():
        (line,) = part.to_dict("records")
        rows.append({"attacker": name, "success": estimate(line), "over word counts": over(line, "context-free")})
    return rows


def surest(table: Path, attackers: Mapping[str, Mapping], where: Mapping, least: float = 0.9) -> list[dict]:
    """Compute how often attackers are right where their answer has at least the probability `least`.

    A row an attacker: `attacker`; `words` with a letter or a digit that were not released as a kept word and whose
    answer is so sure; and `right`, the share that is right, pooled over the seeds, None of no words.
    """
    rows, hits, found = load_tables(table.parent, table.name), load_hits(table), []
    for name, asked in attackers.items():
        n, rates = 0, []
        for row in select(rows, {**where, **asked}).index:
            at = hits[row]
            sure = at["letter"] & ~at["as kept"] & (at["probability"] >= 255 * least)
            n += int(sure.sum())
            if sure.any():
                rates.append(clustered_rate(at["hit"][sure], at["source"][sure]))
        found.append({"attacker": name, "words": n, "right": pooled(rates) if rates else None})
    return found


def remembered(folder: Path) -> list[dict]:
    """Compare what a language model adds to the channel in sentences that somebody wrote and in others."""
    rows = load_tables(folder, "language-model-memory.csv")
    found: dict[str, dict] = {text: {"sentences": label} for text, label in _TEXTS.items()}
    for row in rows.to_dict("records"):
        found[row["text"]][stored.corpus(row["dataset"])] = estimate(row, "added")
    return [*found.values()]


def by_epsilon(table: Path, pairs: Mapping[str, tuple[Mapping, Mapping]], *, marks: bool = False) -> str:
    """Write differences of pairs of attackers on words, pooled over the seeds, a line a pair and corpus.

    A line reads "NAME: ε = 1 0.1 [0.0, 0.2]; ε = 4 ...". `marks` counts punctuation, too.
    """
    lines = []
    for name, sides in pairs.items():
        gains = on_words.gains(table, *sides, ["dataset", "epsilon"], marks=marks).sort_values("epsilon")
        for corpus, some in gains.groupby("dataset"):
            label = name if gains.dataset.nunique() == 1 else f"{name}, {stored.corpus(corpus)}"
            cells = (f"ε = {row.epsilon:g} {row.gain}" for row in some.itertuples())
            lines.append(f"{label}: {'; '.join(cells)}")
    return "\n".join(lines)


def weights(table: Path, part: str) -> tuple[float, float]:
    """Return the least and the largest weight of a part (of `attacks.mixture.STATED`) in combined attacks."""
    fitted = select(load_tables(table.parent, table.name), {"attack": "mixture"})[f"{part}_weight"]
    return float(fitted.min()), float(fitted.max())
