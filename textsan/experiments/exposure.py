"""What released text gives away on the same words whatever protects them, and of a document in all.

V(X | Y) of the words that a mechanism protects is not comparable between mechanisms that protect others: SanText+
protects rare words, CusText+ all but stop words. Comparable are V(X | Y) of the words that *all* of them protect,
and the exposure of a document, in which every word counts, the kept ones too.

    python -m textsan.experiments.exposure SPEC OUTPUT    # a row for each released text of a sweep
"""

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from textsan.experiments import specification
from textsan.experiments.splits import load_split
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.text.vocabulary import count_words

Docs = Sequence[Sequence[str]]

_BLOCK = 256  # rows held at a time


def vulnerability_of(mechanism: Mechanism, docs: Docs, words: Collection[str]) -> float:
    """V(X | Y) under the true frequencies of some of the private words, exact.

    The attacker is told that the word is one of them, so that mechanisms with different protected words compare.

    Args:
        mechanism: one whose channel has a formula.
        docs: the private text, token lists.
        words: among the channel's inputs.
    """
    counts = count_words(docs)
    asked = [word for word in words if counts[word]]
    weights = np.array([counts[word] for word in asked], dtype=float)
    best = np.zeros(len(mechanism.channel.outputs))
    for at in range(0, len(asked), _BLOCK):  # rows of the words that occur, not of the whole vocabulary
        rows = mechanism.channel.rows(asked[at : at + _BLOCK])
        np.maximum(best, (weights[at : at + _BLOCK, None] * rows).max(axis=0), out=best)
    return float(best.sum() / weights.sum())


def exposure(mechanism: Mechanism, docs: Docs) -> float:
    """The expected share of the private words, of whatever kind, that the best context-free guess gets right.

    The prior is the true one of all words that have a row or are kept. A word without a row becomes a uniform draw
    and counts as never guessed.

    Args:
        mechanism: one whose channel has a formula.
        docs: the private text, token lists.
    """
    words, counts = mechanism.channel.inputs, count_words(docs)
    return vulnerability_of(mechanism, docs, words) * sum(counts[word] for word in words) / counts.total()


def table(cells: list[specification.Cell]) -> pd.DataFrame:
    """A row for each released text that cells share: what made it, and three numbers.

    They are V(X | Y) of the words it protects (vulnerability), of those that all mechanisms of the cells protect
    (common), and the exposure.

    Args:
        cells: of `textsan.experiments.specification.read_spec`.
    """
    released = {str(one): one for one in map(specification.released_by, cells)}.values()
    splits, rows = {}, []
    for seed in sorted({one["seed"] for one in released}):
        here = [one for one in released if one["seed"] == seed]
        made = [_made(one, splits) for one in here]
        common = frozenset.intersection(*(mechanism.protected for mechanism, _ in made))
        rows += [_row(one, *pair, common) for one, pair in zip(tqdm(here, disable=None), made, strict=True)]
    return pd.DataFrame(rows)


def _made(shared: specification.Cell, splits: dict) -> tuple[Mechanism, Docs]:
    """A mechanism as a problem has it, and the private text; nothing is sanitized."""
    names = ("dataset", "n_private", "n_shadow", "seed", "shadow_dataset", "vocabulary", "split_by", "drawn_from")
    names += ("embeddings",)
    drawn = {name: shared[name] for name in names}
    if str(drawn) not in splits:
        splits[str(drawn)] = load_split(**drawn)
    split, defence = splits[str(drawn)], dict(shared["defence"])
    counts = count_words(split.shadow)
    return make_mechanism(defence.pop("name"), split.embeddings, counts=counts, **defence), split.private


def _row(shared: specification.Cell, mechanism: Mechanism, docs: Docs, common: Collection[str]) -> dict:
    said = {key: shared[key] for key in ("dataset", "vocabulary", "n_private", "seed")}
    said |= {"defence": shared["defence"]["name"], "epsilon": shared["defence"].get("epsilon")}
    own = vulnerability_of(mechanism, docs, mechanism.protected)
    both = vulnerability_of(mechanism, docs, common)
    return said | {"vulnerability": own, "common": both, "exposure": exposure(mechanism, docs)}


def main(specs: list[str], output: str) -> None:
    """Writes the table of some specifications, together, with the command that made it above.

    Args:
        specs: paths of specifications.
        output: path of the table.
    """
    cells = [cell for spec in specs for cell in specification.read_spec(Path(spec))]
    command = f"# python -m textsan.experiments.exposure {' '.join(specs)} {output}\n"
    Path(output).write_text(command + table(cells).to_csv(index=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
