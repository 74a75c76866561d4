"""Disclosure by released text on the same words whatever protects them, and of a document in all.

V(X | Y) of the words that a mechanism protects is not comparable between mechanisms that protect others: SanText+
protects rare words, CusText+ all but stop words. Comparable are V(X | Y) of the words that *all* of them protect,
and the exposure of a document, in which every word counts, the kept ones too.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from textsan.base.project import project_data
from textsan.leakage import Frontier, frontier, linkage_success
from textsan.mechanisms import ChannelMechanism, Mechanism, make_mechanism
from textsan.priors import Prior
from textsan.sweeps import specification
from textsan.sweeps.problems import TESTED_ON
from textsan.sweeps.splits import Split, load_split
from textsan.text.corpora import load_dataset
from textsan.text.vocabulary import count_words
from textsan.utility import TASKS
from textsan_book.studies.experiments import columns

Docs = Sequence[Sequence[str]]

_BLOCK = 256  # rows held at a time
_DRAWN = "dataset n_private n_shadow seed shadow_dataset vocabulary split_by drawn_from embeddings".split()


def vulnerability_of(mechanism: Mechanism, docs: Docs, words: Collection[str]) -> float:
    """Compute V(X | Y) under the true frequencies of some of the private words, exactly, from a channel's formula.

    The attacker is told that the word is one of them, so that mechanisms with different protected words compare.
    """
    counts = count_words(docs)
    return float(_best(mechanism, counts, words).sum() / sum(counts[word] for word in words))


def exposure(mechanism: Mechanism, docs: Docs) -> float:
    """Compute the expected share of all private words that the best context-free guess gets right.

    The prior is the true one of all words that have a row or are kept. A word without a row that becomes a uniform
    draw counts as never guessed; one that is released verbatim is guessed wherever no other word is likelier.
    """
    counts, channel = count_words(docs), mechanism.channel
    best = dict(zip(channel.outputs, _best(mechanism, counts, channel.inputs).tolist(), strict=True))
    if mechanism.oov == "keep":
        for word in unlisted(mechanism, counts):
            best[word] = max(best.get(word, 0.0), counts[word])
    return sum(best.values()) / counts.total()


def unlisted(mechanism: Mechanism, words: Collection[str]) -> list[str]:
    """Select the words that have no row and are not kept: what `Mechanism.oov` decides about."""
    return [word for word in words if not mechanism.knows(word)]


def _best(mechanism: Mechanism, counts: Counter, words: Collection[str]) -> np.ndarray:
    """For each output the count of the best guess, (outputs,): the largest n_x Pr(y | x) of the words."""
    asked = [word for word in words if counts[word]]
    weights = np.array([counts[word] for word in asked], dtype=float)
    best = np.zeros(len(mechanism.channel.outputs))
    for at in range(0, len(asked), _BLOCK):  # rows of the words that occur, not of the whole vocabulary
        rows = mechanism.channel.rows(asked[at : at + _BLOCK])
        np.maximum(best, (weights[at : at + _BLOCK, None] * rows).max(axis=0), out=best)
    return best


def exposures(*, sweeps: str, seed: int) -> list[dict]:
    """Compute three numbers of each released text that cells of sweeps, named with blanks between, share.

    They are V(X | Y) of the words it protects (vulnerability), of those that all mechanisms of the cells protect
    (common), and the exposure. Beside them stand what becomes of words without a row (oov), and their share of all
    private words (unlisted).
    """
    return of_cells(cells_of(sweeps, seed))


def cells_of(sweeps: str, seed: int) -> list[specification.Cell]:
    """Read the cells of one seed of sweeps, named with blanks between."""
    paths = [project_data() / "sweeps" / f"{name}.yml" for name in sweeps.split()]
    return [cell for path in paths for cell in specification.read_spec(path) if cell["seed"] == seed]


def released_by(cells: Sequence[specification.Cell]) -> list[specification.Cell]:
    """List the releases that cells share, each once."""
    return list({str(shared): shared for shared in map(specification.released_by, cells)}.values())


def drawn_by(shared: specification.Cell) -> dict:
    """Return what the split of a release is drawn by."""
    return {name: shared[name] for name in _DRAWN}


def made(defence: Mapping, split: Split) -> Mechanism:
    """Make a mechanism as a problem has it; nothing is sanitized."""
    given = {name: value for name, value in defence.items() if name != "name"}
    return make_mechanism(defence["name"], split.embeddings, counts=count_words(split.shadow), **given)


def of_cells(cells: Sequence[specification.Cell]) -> list[dict]:
    """Compute the rows of `exposures` for cells of one seed."""
    splits: dict[str, Split] = {}
    pairs = []
    for shared in (released := released_by(cells)):
        drawn = drawn_by(shared)
        split = splits[str(drawn)] = splits.get(str(drawn)) or load_split(**drawn)
        pairs.append((made(shared["defence"], split), split.private))
    common = frozenset.intersection(*(mechanism.protected for mechanism, _ in pairs))
    return [_row(shared, *pair, common) for shared, pair in zip(released, pairs, strict=True)]


def _row(shared: specification.Cell, mechanism: Mechanism, docs: Docs, common: Collection[str]) -> dict:
    row = {key: shared[key] for key in ("dataset", "vocabulary", "n_private")}
    row |= {"defence": shared["defence"]["name"], "epsilon": shared["defence"].get("epsilon")}
    counts = count_words(docs)
    without = sum(counts[word] for word in unlisted(mechanism, counts)) / counts.total()
    row |= {"oov": mechanism.oov, "unlisted": without}
    own = vulnerability_of(mechanism, docs, mechanism.protected)
    both = vulnerability_of(mechanism, docs, common)
    return row | {"vulnerability": own, "common": both, "exposure": exposure(mechanism, docs)}


# --- loss over the least possible, linkage, and the use of the least --------------------------------------------
# A kept word is at no distance from itself and is guessed with certainty. With such rows every mechanism is a
# channel over the same words, so that one frontier lies below all of them, whatever they protect. V(X | Y) of all
# these words is the exposure of a document over their share of it.

LEVELS = 0.15, 0.3, 0.45, 0.6, 0.75, 0.9
"""V(X | Y) at which certificates are computed; each holds at all."""
LENGTH, CANDIDATES, DRAWS = 3, 1000, 80
"""Words of a document, documents among which it is looked for, and draws that the formula is averaged over."""


def distances(*, sweeps: str, seed: int) -> list[dict]:
    """Compute what each released text that cells of sweeps share loses, and how often it is linked.

    Sweeps are named with blanks between. Rows have v (V(X | Y) of all words of the vocabulary, those that are kept
    included, under their true frequencies), lost (the expected distance between such a word and what is released
    for it), least (what every channel with that v loses), exposure, and linked with ends (a document of `LENGTH`
    such words, independent, among `CANDIDATES`).
    """
    cells = _cells(sweeps, seed)
    split, rows = _split(cells), []
    for defence in (cell["defence"] for cell in cells):
        row = {"defence": defence["name"], "epsilon": defence.get("epsilon")}
        rows.append(row | _facts(made(defence, split), split))
    least = _frontier(split, LEVELS[0], LEVELS[1:])
    return [row | {"least": least.least_loss(row["v"])} for row in rows]


def frontier_tasks(*, sweeps: str, success: float, seed: int, n_test: int = 500) -> list[dict]:
    """Measure a task on text released by a channel at the frontier: the least distance at a success rate.

    The channel is made of the private text's own frequencies and has no epsilon: no mechanism, but a mark. The
    sweeps are of one data set and task; `success` is the largest V(X | Y) of all words of the vocabulary. One row:
    what `distances` has, with common (V(X | Y) of the words that all mechanisms of the cells protect) and the
    columns of a task.
    """
    cells = _cells(sweeps, seed)
    split = _split(cells)
    common = frozenset.intersection(*(made(cell["defence"], split).protected for cell in cells))
    least = _frontier(split, success)
    mechanism = ChannelMechanism(least.channel)
    row = {"defence": "frontier", **_facts(mechanism, split), "least": least.lower}
    row["common"] = vulnerability_of(mechanism, split.private, common)
    tests = load_dataset(cells[0]["dataset"], TESTED_ON)
    outcome = TASKS["sentiment"].load()(n_test=n_test).learn(split.records, tests, mechanism, seed=seed)
    estimate = outcome.estimate(seed=seed)
    row |= {"metric": outcome.metric, "n_test": n_test, **columns(estimate, "utility_")}
    return [row | {"chance": outcome.chance, "right": outcome.right}]


def _cells(sweeps: str, seed: int) -> Sequence[specification.Cell]:
    return released_by(cells_of(sweeps, seed))


def _split(cells: Sequence[specification.Cell]) -> Split:
    """The private text of all cells, which is one."""
    drawn = [drawn_by(cell) for cell in cells]
    if any(sizes != drawn[0] for sizes in drawn):
        raise ValueError("sweeps: their cells are of several private texts; name those of one")
    return load_split(**drawn[0])


def _facts(mechanism: Mechanism, split: Split) -> dict:
    counts = _there(split)
    prior = Prior.from_counts(counts, mechanism.channel.inputs, alpha_inverse=0)
    linked = linkage_success(prior, mechanism.channel, LENGTH, CANDIDATES, draws=DRAWS, seed=0)
    row = {
        "v": vulnerability_of(mechanism, split.private, counts),
        "lost": lost(mechanism, split),
        "exposure": exposure(mechanism, split.private),
    }
    return row | columns(linked, "linked_")


def lost(mechanism: Mechanism, split: Split) -> float:
    """Compute the expected distance between a private word that has a vector and what is released for it.

    Kept words lose none.
    """
    counts, channel, total = _there(split), mechanism.channel, 0.0
    words = list(counts)
    for at in range(0, len(words), _BLOCK):  # rows of the words that occur, not of the whole vocabulary
        block = words[at : at + _BLOCK]
        expected = (channel.rows(block) * split.embeddings.distances(block, channel.outputs)).sum(axis=1)
        total += float(np.array([counts[word] for word in block]) @ expected)
    return total / sum(counts.values())


def _frontier(split: Split, success: float, also: Sequence[float] = ()) -> Frontier:
    prior = Prior.from_counts(_there(split), split.embeddings.words, alpha_inverse=0)
    return frontier(prior, split.embeddings, success, also=also)


def _there(split: Split) -> dict[str, int]:
    """Count each word of the vocabulary in the private text, those that are there."""
    counts = count_words(split.private)
    return {word: counts[word] for word in split.embeddings.words if counts[word]}
