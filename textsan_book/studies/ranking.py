"""All mechanisms on one scale: each at the epsilon at which the strongest attack has a given success.

Epsilons are of different units, and success is not. So of every registered mechanism that epsilon is looked for
at which the strongest of some contextual attacks reads a given share of the protected words (or a document is
linked as often as asked), and everything else is measured there. The search keeps a bracket around the level and
takes its next epsilon within the gap that holds it; text, attacked positions and draws are those of the seed, at
every epsilon.

Equal success orders neither other priors nor other attacks; a mechanism that keeps words protects fewer, so that
the share of all words that are read stands beside the share of protected ones.
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.evaluation import bootstrap_mean, bootstrap_rate, words_at
from textsan.leakage import Frontier, bayes_vulnerability, frontier, linkage_success
from textsan.mechanisms import MECHANISMS, Mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior
from textsan.sweeps import problems
from textsan.text.corpora import load_dataset
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import count_words
from textsan.utility import TASKS

ATTACKS: dict[str, dict[str, Any]] = {"markov": {"k": 30}}
"""The contextual attacks of which the strongest counts, at every epsilon, with their settings: of those that need
no language model."""
SEARCHED = {"erasure": ("q", 0.001, 0.999)}
"""What is searched in place of epsilon, and between which ends."""
EPSILONS = 1e-3, 1e3
"""Ends of the search of an epsilon."""
NEAR = 0.005
"""How near to the level a success is taken."""
LENGTH, CANDIDATES = 20, 1000
"""Words of a document, and documents among which it is looked for."""
LEVELS = 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8
"""Vulnerabilities at which the frontier is computed; its certificates hold at all."""
_STEPS = 12  # of the search, its ends among them
_FACTOR = 4.0  # between two epsilons while there is no bracket
_TESTED = 1000  # documents of a task's test
_FIRST = 1 << 43  # number of its first document: draws that nobody else makes


def ranks(
    *,
    dataset: str,
    defence: str,
    target: str,
    level: float,
    seed: int,
    vocabulary: int = 1000,
    n_private: int = 150,
    n_shadow: int = 300,
    n_learn: int = 4000,
) -> list[dict]:
    """What a mechanism costs and gives away at the epsilon at which a target has a level.

    Args:
        dataset: whose documents are released.
        defence: name of a mechanism, whose other parameters are their defaults.
        target: "success" of the strongest attack, "linkage" of a document, or "epsilon" as it is.
        level: of the target.
        seed: of the split and of all draws.
        vocabulary: the most frequent words of the embeddings, so many; others are not protected by anybody.
        n_private, n_shadow: documents that are attacked, and of the attacker's own.
        n_learn: documents that a task is learnt from.

    Returns:
        one row: the parameter found and whether the level was reached; success with its ends, share of all words
        read, V, distance lost and least possible at that V, linkage, tight epsilon, changed, words covered,
        different words, accuracy with its ends, seconds, guarantee and what lies outside of it. What does not
        exist, of an estimated channel say, is nan.
    """
    given = _Given(dataset, defence, seed, vocabulary, n_private, n_shadow)
    value, reached = given.found(checks.choice("target", target, TARGETS), level)
    start = time.perf_counter()
    problem = given.problem(value)
    seconds = time.perf_counter() - start
    row = {"parameter": given.dial, "value": value, "reached": reached, **_attacked(problem)}
    row |= _of_channel(problem.mechanism, problem.split)
    accuracy = _accuracy(problem.mechanism, dataset, seed, n_learn)
    if accuracy is None:
        row |= dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high"), math.nan)
    else:
        estimate = bootstrap_mean(*accuracy, seed=seed)
        row |= {"accuracy": estimate.value, "accuracy_low": estimate.low, "accuracy_high": estimate.high}
    promise = problem.mechanism.guarantee
    return [row | {"seconds": seconds, "guarantee": promise.definition, "outside": "; ".join(promise.outside)}]


def task_differences(
    *,
    dataset: str,
    first: str,
    second: str,
    target: str,
    level: float,
    seed: int,
    vocabulary: int = 1000,
    n_private: int = 150,
    n_shadow: int = 300,
    n_learn: int = 4000,
) -> list[dict]:
    """Accuracy learnt from one mechanism's text minus that from another's, at one level of a target.

    Args:
        first, second: names of mechanisms.
        dataset, target, level, seed, vocabulary, n_private, n_shadow, n_learn: as of `ranks`.

    Returns:
        one row: the parameter of both, and the success of the strongest attack and accuracy; the difference with
        its 95 % interval over test documents, both on the same ones.

    Raises:
        ValueError: a data set without numbers for labels.
    """
    row, right = {}, {}
    for side, name in (("first", first), ("second", second)):
        given = _Given(dataset, name, seed, vocabulary, n_private, n_shadow)
        value, reached = given.found(checks.choice("target", target, TARGETS), level)
        problem = given.problem(value)
        found = _accuracy(problem.mechanism, dataset, seed, n_learn)
        if found is None:
            raise ValueError(f"dataset: {dataset!r} has no labels to learn; pass another")
        right[side], sources = found
        row |= {f"{side}_value": value, f"{side}_reached": reached}
        row |= {f"{side}_success": _attacked(problem)["success"], f"{side}_accuracy": right[side].mean()}
    difference = bootstrap_mean(right["first"] - right["second"], sources, seed=seed)
    return [row | {"difference": difference.value, "low": difference.low, "high": difference.high}]


def searched(
    measure: Callable[[float], float], level: float, ends: tuple[float, float], *, start: float, near: float = NEAR
) -> tuple[float, bool]:
    """The value at which a rising measure has a level, to `near`, and whether it was reached.

    From `start` on by factors until the level is enclosed; then within the gap that holds it, by interpolation
    over the logarithm, kept away from the ends of the gap.

    Args:
        measure: of a positive number; noise that makes it fall in places costs steps, no more.
        level: of the measure.
        ends: between which values are tried.
        start: the first of them.
        near: how near to the level is enough.

    Returns:
        the value whose measure is nearest to the level, and whether it is near enough or on both sides of it.

    >>> searched(lambda x: x / (1 + x), 0.75, (1e-3, 1e3), start=1.0, near=1e-3)[1]
    True
    """
    known: dict[float, float] = {}
    value = start
    for _ in range(_STEPS):
        known[value] = measure(value)
        if abs(known[value] - level) <= near:
            break
        below = [one for one, found in known.items() if found < level]
        above = [one for one, found in known.items() if found >= level]
        if below and above:
            low = max(below)
            higher = [one for one in above if one > low]
            if not higher:  # it fell: what is above lies left of all that is below
                break
            high = min(higher)
            share = (level - known[low]) / (known[high] - known[low])
            value = low * (high / low) ** float(np.clip(share, 0.15, 0.85))
        else:
            value = min(max(known) * _FACTOR, ends[1]) if below else max(min(known) / _FACTOR, ends[0])
        if value in known:
            break
    nearest = min(known, key=lambda one: abs(known[one] - level))
    both = min(known.values()) <= level <= max(known.values())
    return nearest, both or abs(known[nearest] - level) <= near


class _Given:
    """A mechanism on the documents of one seed, at any value of its parameter."""

    def __init__(self, dataset, defence, seed, vocabulary, n_private, n_shadow):
        self.defence = defence
        self.sizes: dict[str, Any] = {"dataset": dataset, "n_private": n_private, "n_shadow": n_shadow}
        self.sizes |= {"n_positions": None, "seed": seed, "vocabulary": vocabulary}
        has_epsilon = "epsilon" in MECHANISMS[defence].parameters()
        self.dial, *ends = SEARCHED.get(defence, ("epsilon" if has_epsilon else "", *EPSILONS))
        self.ends = (ends[0], ends[1])

    def problem(self, value: float) -> problems.Problem:
        """The released text under attack."""
        return problems.prepare(**self.sizes, mechanism=self.defence, **({self.dial: value} if self.dial else {}))

    def found(self, target: str, level: float) -> tuple[float, bool]:
        """The value at which the target has the level; nan where the mechanism has no parameter."""
        if not self.dial:
            return math.nan, abs(TARGETS[target](self.problem(math.nan)) - level) <= NEAR
        if target == "epsilon":
            return level, True
        start = math.sqrt(self.ends[0] * self.ends[1])
        return searched(lambda value: TARGETS[target](self.problem(value)), level, self.ends, start=start)


def _success(problem: problems.Problem) -> float:
    return _attacked(problem)["success"]


def _linkage(problem: problems.Problem) -> float:
    if isinstance(problem.mechanism, NoiseMechanism):
        raise ValueError(f"defence: {problem.mechanism!r} has an estimated channel; linkage needs an exact one")
    channel = problem.mechanism.channel.restrict(problem.split.embeddings.words)
    return linkage_success(_prior(problem.split, channel.inputs), channel, LENGTH, CANDIDATES, seed=0).value


TARGETS: dict[str, Callable[[problems.Problem], float]] = {
    "success": _success,
    "linkage": _linkage,
    "epsilon": lambda problem: getattr(problem.mechanism, "epsilon", math.nan),
}


def _attacked(problem: problems.Problem) -> dict:
    """What the strongest attack reads, and what became of the words."""
    truths = problem.truth.words
    guesses = {name: problem.guesses(name, **given) for name, given in ATTACKS.items()}
    rates = {
        name: bootstrap_rate(one, truths, problem.sentences, seed=problem.seed) for name, one in guesses.items()
    }
    strongest = max(rates, key=lambda name: rates[name].value)
    best = rates[strongest]
    released = words_at(problem.released, problem.positions)
    words = sum(map(len, problem.split.private))
    kept = sum(word in problem.mechanism.keep for doc in problem.split.private for word in doc)
    row: dict[str, Any] = {"attack": strongest, "success": best.value}
    row |= {"success_low": best.low, "success_high": best.high}
    row |= {"read": (best.value * len(truths) + kept) / words, "covered": len(truths) / words}
    changed = np.mean([one != other for one, other in zip(released, truths, strict=True)])
    return row | {"changed": float(changed), "different": len(set(released)), "originally": len(set(truths))}


def _prior(split, words: Sequence[str]) -> Prior:
    """Of text that is neither private nor the attacker's."""
    counts = count_words(split.population)
    return Prior.from_counts(counts, words, 0.5 / max(sum(counts.values()), 1))


def _of_channel(mechanism: Mechanism, split) -> dict:
    """What follows from the channel over the protected words; nan where it is estimated."""
    words = [word for word in split.embeddings.words if word in mechanism.protected]
    channel = mechanism.channel.restrict(words)
    prior = _prior(split, words)
    row = dict.fromkeys(("vulnerability", "least", "times", "linkage", "tight"), math.nan)
    row["lost"] = lost = _lost(prior, channel, split.embeddings)
    if isinstance(mechanism, NoiseMechanism):
        return row
    v = bayes_vulnerability(prior, channel)
    least = _frontier(tuple(words), tuple(prior.probabilities), split.embeddings).least_loss(v)
    whole = mechanism.channel.restrict(split.embeddings.words)
    linkage = linkage_success(_prior(split, whole.inputs), whole, LENGTH, CANDIDATES, seed=0)
    return row | {
        "vulnerability": v,
        "least": least,
        "times": lost / least if least > 0 else math.nan,
        "linkage": linkage.value,
        "tight": float(mechanism.guarantee.tight(mechanism.channel)),
    }


def _lost(prior: Prior, channel: Channel, embeddings: Embeddings) -> float:
    """Expected distance between a word and what is released for it; nan where a released word has no vector."""
    if any(word not in embeddings for word in channel.outputs):
        return math.nan
    far = embeddings.distances(channel.inputs, channel.outputs)
    return float(channel.prior_array(prior) @ (channel.matrix() * far).sum(axis=1))


@lru_cache(maxsize=8)
def _frontier(words: tuple[str, ...], p: tuple[float, ...], embeddings: Embeddings) -> Frontier:
    """The frontier of words whose outputs may be any of them, at the levels above the blind guess."""
    levels = [level for level in LEVELS if level > max(p)]
    vectors = embeddings.restrict(words).vectors
    return frontier(np.array(p), vectors, levels[-1], also=levels[:-1])


def _accuracy(mechanism: Mechanism, dataset: str, seed: int, n_learn: int):
    """Of a linear classifier of bags of words, learnt and tested on sanitized text: hits and sources, or None."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    records = load_dataset(dataset)
    if not all(isinstance(record.label, int | float) for record in records):
        return None
    examples = TASKS["sentiment"].load()().examples(records, seed)
    order = np.random.default_rng(seed).permutation(np.unique(examples.sources))
    place = np.argsort(order)[np.unique(examples.sources, return_inverse=True)[1]]
    tested = np.flatnonzero(place < _TESTED)
    learnt = np.flatnonzero(place >= _TESTED)[:n_learn]
    docs = mechanism.sanitize([examples.first[i] for i in (*learnt, *tested)], seed=seed, first=_FIRST)
    bags = CountVectorizer(analyzer=list, binary=True).fit_transform(docs)
    n = len(learnt)
    head = LogisticRegression(max_iter=1000).fit(bags[:n], examples.labels[learnt])
    return (head.predict(bags[n:]) == examples.labels[tested]).astype(float), examples.sources[tested]
