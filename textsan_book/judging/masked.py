"""Masked readers at their gate, on text in the clear, and mask inference with the reader that passes."""

from pathlib import Path

from textsan.base.project import project_data
from textsan.evaluation import Estimate
from textsan.sweeps.tables import load_tables, pooled, select
from textsan_book.judging import on_words

GATE, SANITIZED, OWN_SPACE = "mask-gate.csv", "mask-public.csv", "mask-public-pieces.csv"
"""The tables: text in the clear, film reviews under CusText+, and SST-2 under SanText in MiniLM's space."""

_NAMES = {"airline_tweets": "airline tweets", "sst2": "SST-2"}


def gate(folder: Path, reader: str) -> list[dict]:
    """Judge a masked reader by the rule of its gate, for each corpus.

    Args:
        folder: of the stored tables.
        reader: "public" for the trigram table, "adapter" for the small encoder.

    Returns:
        a row a corpus: `corpus`, the share `named` of the content words, the share that the best `constant` names,
        the paired difference `over` it, pooled over the seeds, and whether the reader `passed` there.
    """
    rows, found = select(load_tables(folder, GATE), {"reader": reader}), []
    for corpus, some in rows.groupby("dataset", sort=False):
        line: dict = {"corpus": _named(str(corpus))}
        for name, columns in _COLUMNS.items():
            line[name] = pooled([Estimate(*values) for values in some[columns].itertuples(index=False)])
        for share in ("named", "constant"):
            line[share] = line[share]._replace(low=max(line[share].low, 0.0))
        found.append(line | {"passed": line["over"].low > 0})
    return found


def sanitized(folder: Path) -> list[dict]:
    """Compute the success of mask inference with the trigram table on sanitized text, for each corpus.

    Args:
        folder: of the stored tables.

    Returns:
        a row a corpus: `corpus`, `recovered`, and `over word counts`, the paired difference to the context-free
        attack, on words with a letter or a digit, pooled over the seeds.
    """
    table, ours, theirs = folder / SANITIZED, {"attack": "mask inference"}, {"attack": "context-free"}
    gains = on_words.gains(table, ours, theirs, ["dataset"])
    over = {on_words.named(row.dataset): row.gain for row in gains.itertuples()}
    return [
        {
            "corpus": _named(line["corpus"]),
            "recovered": line["recovered"],
            "over word counts": over[line["corpus"]],
        }
        for line in on_words.success(table, {"recovered": ours}, {})
    ]


def own_space(folder: Path | None = None) -> dict[float, Estimate]:
    """Compute the success of mask inference with the trigram table in MiniLM's own space, by ε, over the seeds.

    Args:
        folder: of the stored tables.
    """
    rows = load_tables(folder or project_data() / "results", OWN_SPACE)
    return {
        float(epsilon): pooled([Estimate(*values) for values in some[_COLUMNS["named"]].itertuples(index=False)])
        for epsilon, some in rows.groupby("epsilon")
    }


_COLUMNS = {
    "named": ["asr", "low", "high"],
    "constant": ["constant", "constant_low", "constant_high"],
    "over": ["over", "over_low", "over_high"],
}


def _named(corpus: str) -> str:
    return _NAMES.get(corpus, on_words.named(corpus))
