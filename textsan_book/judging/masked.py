"""Masked readers at their gate, on text in the clear, and mask inference with the reader that passes."""

from pathlib import Path

from textsan.evaluation import Estimate
from textsan.sweeps.tables import load_tables, select
from textsan_book.judging import stored

GATE, OWN_SPACE = ["mask-gate.csv", "mask-gate-causal.csv"], "mask-public-pieces.csv"
"""The tables: text in the clear, and SST-2 under SanText in MiniLM's space."""


def gate(folder: Path, reader: str) -> list[dict]:
    """Judge a masked reader, "public" (trigram table), "adapter" (small encoder) or "smollm2-135m", by its gate.

    A row a corpus: the share `named` of the content words, the share that the best `constant` names, the paired
    difference `over` it, pooled over the seeds, and whether the reader `passed` there; of the causal model also
    the difference `over table`.
    """
    rows, found = select(load_tables(folder, GATE), {"reader": reader}), []
    for corpus, some in rows.groupby("dataset", sort=False):
        line: dict = {"corpus": stored.corpus(str(corpus))}
        for name, column in (("named", "asr"), ("constant", "constant")):
            line[name] = stored.share(stored.mean(some, column))
        over = stored.mean(some, "over")
        line |= {"over": over, "passed": over.low > 0}
        if some.over_public.notna().all():
            line["over table"] = stored.mean(some, "over_public")
        found.append(line)
    return found


def own_space() -> dict[float, Estimate]:
    """Compute the success of mask inference with the trigram table in MiniLM's own space, by ε, over the seeds."""
    return {float(epsilon): stored.mean(some) for epsilon, some in stored.table(OWN_SPACE).groupby("epsilon")}
