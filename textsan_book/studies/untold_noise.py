"""The loss of an attacker who is told neither mechanism nor epsilon, over the length of a release."""

from functools import lru_cache

import numpy as np

from textsan.attacks import UntoldNoise
from textsan.channel import Channel
from textsan.evaluation import clustered_rate, paired_difference
from textsan.mechanisms import make_mechanism
from textsan.priors import NGrams, Prior
from textsan.sweeps import problems
from textsan.text.vocabulary import count_words
from textsan_book.studies.experiments import columns

MECHANISMS = ("santext", "custext", "clusant", "1-diffractor")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""The family: each mechanism at each epsilon, all alike likely."""

SIZES = (1, 3, 10, 30, 100)  # documents of a release


@lru_cache(maxsize=1)  # the cells of a corpus and seed stand one after the other
def _family(dataset: str, seed: int, vocabulary: int, n_shadow: int) -> dict[tuple[str, float], Channel]:
    given = {"vocabulary": vocabulary, "epsilon": EPSILONS[0]}
    split = problems.prepare(dataset, max(SIZES), n_shadow, None, seed, MECHANISMS[0], **given).split
    counts = count_words(split.shadow)
    return {
        (name, epsilon): make_mechanism(name, split.embeddings, counts=counts, epsilon=epsilon).channel
        for name in MECHANISMS
        for epsilon in EPSILONS
    }


def untold_noise(
    *,
    dataset: str,
    defence: str,
    epsilon: float,
    seed: int,
    vocabulary: int = 2000,
    n_shadow: int = 1000,
    public: bool = False,
) -> list[dict]:
    """Attack releases of several lengths with and without knowing which channel of a family made them.

    Words outside of the vocabulary become uniform words; the attacker counts words of `n_shadow` documents. A row
    for each length: documents and words of a release, success of the attacker who is told the channel and of the
    one who is not, their difference, with 95 % intervals over sources; and the mean probability that the second
    gives the true channel and the true mechanism.

    She who is `public` owns no text, and knows words by the public table: the setting of BeamClean (Kale et al.
    2025).
    """
    given = {"vocabulary": vocabulary, "epsilon": epsilon}
    problem = problems.prepare(dataset, max(SIZES), n_shadow, None, seed, defence, **given)
    split, truths, places = problem.split, problem.truth.words, list(problem.positions)
    family = _family(dataset, seed, vocabulary, n_shadow)
    inputs = family[defence, epsilon].inputs
    prior, outside = _public(inputs) if public else _counted(split, inputs)
    told = UntoldNoise({"told": family[defence, epsilon]}, prior, outside=outside)
    untold = UntoldNoise({f"{name} {e:g}": one for (name, e), one in family.items()}, prior, outside=outside)
    known = told.reconstruct(problem.released, places)
    rows = []
    for size in SIZES:
        guesses, true, of_kind = [], [], []
        for start in range(0, max(SIZES), size):
            docs = problem.released[start : start + size]
            here = [(d - start, i) for d, i in places if start <= d < start + size]
            guesses += untold.reconstruct(docs, here)
            noise = untold.noise(docs)
            true.append(noise[f"{defence} {epsilon:g}"])
            of_kind.append(sum(p for name, p in noise.items() if name.rpartition(" ")[0] == defence))
        row = {"documents": size, "words": sum(map(len, problem.released)) / (max(SIZES) / size)}
        row |= columns(clustered_rate(np.equal(known, truths), problem.sentences), "told_")
        row |= columns(clustered_rate(np.equal(guesses, truths), problem.sentences), "untold_")
        row |= columns(paired_difference(guesses, known, truths, problem.sentences), "difference_")
        rows.append(row | {"channel": float(np.mean(true)), "mechanism": float(np.mean(of_kind))})
    return rows


def _counted(split, inputs: list[str]) -> tuple[Prior, float]:
    """The frequencies of the inputs in the attacker's text, and the share of its words that are no input."""
    shadow = [token for doc in split.shadow for token in doc]
    outside = sum(token not in split.embeddings for token in shadow) / len(shadow)
    return Prior.from_counts(count_words(split.shadow), inputs), outside


def _public(inputs: list[str]) -> tuple[Prior, float]:
    """The frequencies of the inputs in the public table, and the share of its words that are no input.

    Inputs that the table does not list (marks, above all) count as the rarest one that it lists.
    """
    table = NGrams.load()
    listed = [word for word in table.words if not word.startswith("<")]
    inside, every = (np.exp(table.log_probabilities(table.numbers(words)[:, None])) for words in (inputs, listed))
    outside = float(1 - inside.sum() / every.sum())
    inside = np.maximum(inside, inside[inside > 0].min())
    return Prior(inputs, inside / inside.sum()), outside
