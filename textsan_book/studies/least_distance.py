"""Loss of released text over the least possible, its linkage, and the use of the least.

A word that is kept is at no distance from itself and is guessed with certainty. With such rows every mechanism is
a channel over the same words, so that one frontier lies below all of them, whatever they protect. V(X | Y) of all
these words is the exposure of a document over their share of it.
"""

from collections.abc import Sequence

import numpy as np

from textsan.leakage import Frontier, frontier, linkage_success
from textsan.mechanisms import ChannelMechanism, Mechanism
from textsan.priors import Prior
from textsan.sweeps import specification
from textsan.sweeps.problems import TESTED_ON
from textsan.sweeps.splits import Split, load_split
from textsan.text.corpora import load_dataset
from textsan.text.vocabulary import count_words
from textsan.utility import TASKS
from textsan_book.studies import exposure
from textsan_book.studies.experiments import columns

LEVELS = 0.15, 0.3, 0.45, 0.6, 0.75, 0.9
"""V(X | Y) at which certificates are computed; each holds at all."""
LENGTH, CANDIDATES, DRAWS = 3, 1000, 80
"""Words of a document, documents among which it is looked for, and draws that the formula is averaged over."""

_BLOCK = 512  # rows held at a time


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
        rows.append(row | _facts(exposure.made(defence, split), split))
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
    common = frozenset.intersection(*(exposure.made(cell["defence"], split).protected for cell in cells))
    least = _frontier(split, success)
    mechanism = ChannelMechanism(least.channel)
    row = {"defence": "frontier", **_facts(mechanism, split), "least": least.lower}
    row["common"] = exposure.vulnerability_of(mechanism, split.private, common)
    tests = load_dataset(cells[0]["dataset"], TESTED_ON)
    outcome = TASKS["sentiment"].load()(n_test=n_test).learn(split.records, tests, mechanism, seed=seed)
    estimate = outcome.estimate(seed=seed)
    row |= {"metric": outcome.metric, "n_test": n_test, **columns(estimate, "utility_")}
    return [row | {"chance": outcome.chance, "right": outcome.right}]


def _cells(sweeps: str, seed: int) -> Sequence[specification.Cell]:
    return exposure.released_by(exposure.cells_of(sweeps, seed))


def _split(cells: Sequence[specification.Cell]) -> Split:
    """The private text of all cells, which is one."""
    drawn = [exposure.drawn_by(cell) for cell in cells]
    if any(sizes != drawn[0] for sizes in drawn):
        raise ValueError("sweeps: their cells are of several private texts; name those of one")
    return load_split(**drawn[0])


def _facts(mechanism: Mechanism, split: Split) -> dict:
    counts = _there(split)
    prior = Prior.from_counts(counts, mechanism.channel.inputs, alpha_inverse=0)
    linked = linkage_success(prior, mechanism.channel, LENGTH, CANDIDATES, draws=DRAWS, seed=0)
    row = {
        "v": exposure.vulnerability_of(mechanism, split.private, counts),
        "lost": lost(mechanism, split),
        "exposure": exposure.exposure(mechanism, split.private),
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
