"""All mechanisms on one scale: each at the epsilon at which the strongest attack has a given success.

So of every registered mechanism that epsilon is looked for at which the strongest of some contextual attacks reads
a given share of the protected words (or a document is linked as often as asked), and everything else is measured
there, with the text, attacked positions and draws of the seed at every epsilon. The quickest attack searches; the
others are asked where it ends, and it goes on at the level that it must have for the strongest to have the one
asked for. Equal success orders neither other priors nor other attacks, and mechanisms that keep words protect
fewer: the share of all words that are read stands beside the share of protected ones.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from textsan.base import checks
from textsan.base.project import project_data
from textsan.channel import Channel
from textsan.evaluation import clustered_difference, clustered_rate, paired_difference, words_at
from textsan.leakage import Frontier, bayes_vulnerability, frontier, linkage_success
from textsan.mechanisms import MECHANISMS, Mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior
from textsan.sweeps import problems
from textsan.text.corpora import load_dataset, source_numbers
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import count_words, tokenize
from textsan_book.studies.experiments import columns, takes_settings

ATTACKS: dict[str, dict[str, Any]] = {"markov": {"k": 30}, "noisy channel": {"epochs": 0.0, "copies": 1}}
"""The contextual attacks of which the strongest counts, with their settings, the quickest before the others: those
that need no language model. The reader of the noisy channel is as it was trained on other corpora; only its
weights are chosen on the attacker's text."""
SEARCHED = {"erasure": ("q", 0.001, 0.999)}
"""Parameters that are searched in place of epsilon, with their ends."""
EPSILONS = 1e-3, 1e3
"""Ends of the search of an epsilon."""
NEAR = 0.005
"""The distance from the level within which a success is taken."""
LENGTH, CANDIDATES = 20, 1000
"""Words of a document, and documents among which it is looked for."""
LEVELS = 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8
"""Vulnerabilities at which the frontier is computed; its certificates hold at all."""
_STEPS = 12  # of the search, its ends among them
_ROUNDS = 4  # of asking the other attacks
_FACTOR = 4.0  # between two epsilons while there is no bracket
_TESTED = 1000  # documents of a task's test
_FIRST = 1 << 43  # number of its first document: draws that nobody else makes


@dataclass(frozen=True)
class Documents:
    """The documents that every mechanism of one comparison releases, drawn like everything by the seed.

    Of the most frequent words of the embeddings so many are the vocabulary; others are not protected by anybody.
    """

    dataset: str
    seed: int
    vocabulary: int = 1000
    n_private: int = 150
    n_shadow: int = 300

    def problem(self, defence: str, **parameters) -> problems.Problem:
        """Release the text by a mechanism, under attack."""
        return problems.prepare(**vars(self), n_positions=None, mechanism=defence, **parameters)


@takes_settings
def ranks(
    documents: Documents, *, defence: str, target: str, level: float, n_learn: int = 4000, public: bool = True
) -> list[dict]:
    """Measure cost and disclosure of a mechanism, its other parameters their defaults, where a target has a level.

    The target is "success" of the strongest attack, "linkage" of a document, or "epsilon" as it is; a task is
    learnt from `n_learn` documents, and `public` gives the attackers the public n-gram table. One row: the
    parameter found and whether the level was reached; success with its ends, share of all words read, V, distance
    lost and least possible at that V, linkage, tight epsilon, changed, words covered, different words, accuracy
    with its ends and that of the original text, seconds, guarantee and what lies outside of it. What does not
    exist, of an estimated channel say, is nan.
    """
    dial = _Dial(documents, defence, public)
    value, reached = dial.at_level(checks.choice("target", target, ["success", *TARGETS]), level)
    start = time.perf_counter()
    problem = dial.problem(value)
    seconds = time.perf_counter() - start
    row = {"parameter": dial.parameter, "value": value, "reached": reached, **dial.attacked(value)}
    row |= _of_channel(problem.mechanism, problem.split)
    right = _accuracy(problem.mechanism, documents.dataset, documents.seed, n_learn)
    row |= columns((math.nan,) * 3 if right is None else clustered_rate(*right), "accuracy_")
    row |= {"original": _original(documents.dataset, documents.seed, n_learn), "seconds": seconds}
    promise = problem.mechanism.guarantee
    return [row | {"guarantee": promise.definition, "outside": "; ".join(promise.outside)}]


@takes_settings
def task_differences(
    documents: Documents,
    *,
    first: str,
    second: str,
    target: str,
    level: float,
    n_learn: int = 4000,
    public: bool = True,
) -> list[dict]:
    """Compute the accuracy learnt from one mechanism's text minus that from another's, at one level of a target.

    The target may also be "matched": the second has the epsilon `level`, and the first the one at which the
    strongest attack reads as much from it as from the second. One row: the parameter of both, whether it was
    found, the strongest attack and its success, accuracy; the difference with its 95 % interval over test
    documents, both on the same ones; that of the original text.
    """
    checks.choice("target", target, ["success", *TARGETS, "matched"])
    row: dict[str, Any] = {}
    right: dict[str, np.ndarray] = {}
    seconds = _at_level(documents, second, "epsilon" if target == "matched" else target, level, public)
    kind, wanted = target, level
    if target == "matched":
        kind, wanted = "success", _outcome(documents, second, seconds[0], n_learn, public)[0]["success"]
    sides = {"first": (first, *_at_level(documents, first, kind, wanted, public)), "second": (second, *seconds)}
    for side, (name, at, is_reached) in sides.items():
        attacked, hits = _outcome(documents, name, at, n_learn, public)
        if hits is None:
            raise ValueError(f"dataset: {documents.dataset!r} has no labels to learn; pass another")
        right[side], sources = hits
        row |= {f"{side}_value": at, f"{side}_reached": is_reached, f"{side}_attack": attacked["attack"]}
        row |= {f"{side}_success": attacked["success"], f"{side}_accuracy": right[side].mean()}
    difference = clustered_difference(right["first"] - right["second"], sources)
    row |= {"difference": difference.value, "low": difference.low, "high": difference.high}
    return [row | {"original": _original(documents.dataset, documents.seed, n_learn)}]


@lru_cache(maxsize=16)  # a mechanism is compared with several, at several targets
def _at_level(documents: Documents, defence: str, target: str, level: float, public: bool) -> tuple[float, bool]:
    return _Dial(documents, defence, public).at_level(target, level)


@lru_cache(maxsize=16)
def _outcome(documents: Documents, defence: str, value: float, n_learn: int, public: bool):
    """Success of the strongest attack at a value of the parameter, and which test documents are right."""
    problem = _Dial(documents, defence, public).problem(value)
    return _attacked(problem, public), _accuracy(problem.mechanism, documents.dataset, documents.seed, n_learn)


def searched(
    measure: Callable[[float], float],
    level: float,
    ends: tuple[float, float],
    *,
    start: float,
    near: float = NEAR,
    known: dict[float, float] | None = None,
) -> tuple[float, bool]:
    """Search the number at which a rising measure has a level, to `near`, and tell if it was reached.

    From `start` on by factors until the level is enclosed; then within the gap that holds it, by interpolation
    over the logarithm, kept away from the ends of the gap. Noise that makes the measure fall in places costs
    steps, no more. What is `known` is not measured again, and what is measured is added to it.
    """
    known = {} if known is None else known
    if not known:
        known[start] = measure(start)
    for _ in range(_STEPS - 1):
        if min(abs(measured - level) for measured in known.values()) <= near:
            break
        below = [value for value, measured in known.items() if measured < level]
        above = [value for value, measured in known.items() if measured >= level]
        if below and above:
            low = max(below)
            higher = [value for value in above if value > low]
            if not higher:  # it fell: what is above lies left of all that is below
                break
            high = min(higher)
            share = (level - known[low]) / (known[high] - known[low])
            value = low * (high / low) ** float(np.clip(share, 0.15, 0.85))
        else:
            value = min(max(known) * _FACTOR, ends[1]) if below else max(min(known) / _FACTOR, ends[0])
        if value in known:
            break
        known[value] = measure(value)
    return _nearest(known, level, near)


def _nearest(known: Mapping[float, float], level: float, near: float = NEAR) -> tuple[float, bool]:
    value = min(known, key=lambda value: abs(known[value] - level))
    both = min(known.values()) <= level <= max(known.values())
    return value, both or abs(known[value] - level) <= near


class _Dial:
    """A mechanism on the documents of one seed, at any value of its parameter."""

    def __init__(self, documents: Documents, defence: str, public: bool):
        self.documents, self.defence, self.public = documents, defence, public
        has_epsilon = "epsilon" in MECHANISMS[defence].parameters()
        self.parameter, low, high = SEARCHED.get(defence, ("epsilon" if has_epsilon else "", *EPSILONS))
        self.ends = low, high
        self._attacked: dict[float, dict] = {}

    def problem(self, value: float) -> problems.Problem:
        """The released text under attack."""
        return self.documents.problem(self.defence, **({self.parameter: value} if self.parameter else {}))

    def attacked(self, value: float) -> dict:
        """Success of the strongest attack at a value; each value is attacked once."""
        if value not in self._attacked:
            self._attacked[value] = _attacked(self.problem(value), self.public)
        return self._attacked[value]

    def at_level(self, target: str, level: float) -> tuple[float, bool]:
        """The value at which the target has the level; nan where the mechanism has no parameter."""
        if not self.parameter:
            return math.nan, abs(self._measured(target, math.nan) - level) <= NEAR
        if target == "epsilon":
            return level, True
        if target == "success":
            return self._at_success(level)
        start = math.sqrt(self.ends[0] * self.ends[1])
        return searched(lambda value: self._measured(target, value), level, self.ends, start=start)

    def _measured(self, target: str, value: float) -> float:
        if target == "success":
            return self.attacked(value)["success"]
        return TARGETS[target](self.problem(value))

    def _at_success(self, level: float) -> tuple[float, bool]:
        """Find the value at which the strongest attack has the level, searched with the first, which is quick."""
        start, quickest = math.sqrt(self.ends[0] * self.ends[1]), list(ATTACKS)[:1]
        quick: dict[float, float] = {}
        best: dict[float, float] = {}
        lack = 0.0  # of the quickest attack behind the strongest

        def measure(value: float) -> float:
            return _attacked(self.problem(value), self.public, quickest)["success"]

        for _ in range(_ROUNDS):
            value, is_reached = searched(measure, level - lack, self.ends, start=start, known=quick)
            if value in best:
                break
            best[value] = self.attacked(value)["success"]
            beyond = not is_reached and (quick[value] < level) == (best[value] < level)
            if beyond or abs(best[value] - level) <= NEAR:
                break
            lack = best[value] - quick[value]
        return _nearest(best, level)


def _linkage(problem: problems.Problem) -> float:
    if isinstance(problem.mechanism, NoiseMechanism):
        raise ValueError(f"defence: {problem.mechanism!r} has an estimated channel; linkage needs an exact one")
    channel = problem.mechanism.channel.restrict(problem.split.embeddings.words)
    return linkage_success(_prior(problem.split, channel.inputs), channel, LENGTH, CANDIDATES, seed=0).value


TARGETS: dict[str, Callable[[problems.Problem], float]] = {
    "linkage": _linkage,
    "epsilon": lambda problem: getattr(problem.mechanism, "epsilon", math.nan),
}
"""The targets of a search, "success" apart."""


def _attacked(problem: problems.Problem, public: bool, attacks: Sequence[str] = ()) -> dict:
    """Success of the strongest of some attacks, of all unless they are named, and counts of the words."""
    truths = problem.truth.words
    guesses = {name: problem.guesses(name, **ATTACKS[name], public=public) for name in attacks or ATTACKS}
    rates = {name: clustered_rate(np.equal(words, truths), problem.sentences) for name, words in guesses.items()}
    strongest = max(rates, key=lambda name: rates[name].value)
    best = rates[strongest]
    released = words_at(problem.released, problem.positions)
    docs, attacked = problem.split.private, set(problem.positions)
    words = sum(map(len, docs))
    others = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc)) if (d, i) not in attacked]
    kept = sum(docs[d][i] == problem.released[d][i] for d, i in others)  # stop words; by SanText+ others, too
    row: dict[str, Any] = {"attack": strongest, **columns(best, "success_")}
    row |= {"read": (best.value * len(truths) + kept) / words, "covered": len(truths) / words}
    changed = np.mean([word != truth for word, truth in zip(released, truths, strict=True)])
    return row | {"changed": float(changed), "different": len(set(released)), "originally": len(set(truths))}


def _prior(split, words: Sequence[str]) -> Prior:
    """Of text that is neither private nor the attacker's."""
    counts = count_words(split.population)
    return Prior.from_counts(counts, words, 0.5 / max(sum(counts.values()), 1))


def _of_channel(mechanism: Mechanism, split) -> dict:
    """Measure the channel over the protected words; nan where it is estimated."""
    words = [word for word in split.embeddings.words if word in mechanism.protected]
    channel, prior = mechanism.channel.restrict(words), _prior(split, words)
    row = dict.fromkeys(("vulnerability", "least", "times", "linkage", "tight"), math.nan)
    row["lost"] = lost = _lost(prior, channel, split.embeddings)
    if isinstance(mechanism, NoiseMechanism):
        return row
    v = bayes_vulnerability(prior, channel)
    least = _frontier(tuple(words), tuple(prior.probabilities), split.embeddings).least_loss(v)
    whole = mechanism.channel.restrict(split.embeddings.words)
    linkage = linkage_success(_prior(split, whole.inputs), whole, LENGTH, CANDIDATES, seed=0)
    row |= {"vulnerability": v, "least": least, "times": lost / least if least > 0 else math.nan}
    return row | {"linkage": linkage.value, "tight": float(mechanism.guarantee.tight(mechanism.channel))}


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


def _accuracy(mechanism: Mechanism | None, dataset: str, seed: int, n_learn: int):
    """Test a linear classifier of bags of words, learnt and tested on sanitized text: hits and sources, or None.

    Of a score the sign is learnt. Both parts are drawn, since a file may hold one label after the other. Without a
    mechanism the text is the original.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    records = load_dataset(dataset)
    labels: list[Any] = [record.label for record in records]
    if None in labels:
        return None
    if all(isinstance(label, int | float) for label in labels):
        labels = [label > 0 for label in labels]
    sources = np.array(source_numbers(records))
    order = np.random.default_rng(seed).permutation(np.unique(sources))
    place = np.argsort(order)[np.unique(sources, return_inverse=True)[1]]
    drawn = np.argsort(place, kind="stable")
    tested, learnt = (drawn[place[drawn] < _TESTED], drawn[place[drawn] >= _TESTED][:n_learn])
    docs = [tokenize(records[i].text) for i in (*learnt, *tested)]
    if mechanism is not None:
        docs = mechanism.sanitize(docs, seed=seed, first=_FIRST)
    bags = CountVectorizer(analyzer=list, binary=True).fit_transform(docs)
    known = np.array(labels)
    head = LogisticRegression(max_iter=1000).fit(bags[: len(learnt)], known[learnt])
    return (head.predict(bags[len(learnt) :]) == known[tested]).astype(float), sources[tested]


@lru_cache(maxsize=8)
def _original(dataset: str, seed: int, n_learn: int) -> float:
    """Accuracy that the same classifier learns from the text as it was."""
    accuracy = _accuracy(None, dataset, seed, n_learn)
    return math.nan if accuracy is None else float(accuracy[0].mean())


# --- stronger attacks, asked once where `ranks` has put a mechanism ---------------------------------------------


@takes_settings
def ranks_with_language(
    documents: Documents, *, defence: str, level: float, n_attacked: int = 50, n_fitted: int = 30
) -> list[dict]:
    """Measure the success of the mixture at the setting at which the strongest attack of `ranks` has the level.

    Documents, defence and level are of a row of the table `rank`, whose target is "success". The first
    `n_attacked` of the documents are read, and the mixture's weights are fitted on `n_fitted` of the attacker's
    own. One row: the parameter's value and whether it reached the level; if so, positions, success of the attack
    that was the strongest there and of the mixture, their difference on the same positions, with 95 % intervals,
    and the weight of the language model.
    """
    row, attack, problem = _placed(documents, defence, level)
    if problem is None:
        return [row]
    positions = [place for place in problem.positions if place[0] < n_attacked]
    mixture = problem.attack("mixture", sentences=n_fitted, public=False)
    other, guesses = (
        reader.reconstruct(problem.released[:n_attacked], positions)
        for reader in (problem.attack(attack, **ATTACKS[attack], public=False), mixture)
    )
    row |= {"attack": attack, "positions": len(positions), "language_weight": mixture.weights["language"]}
    return [row | _beside(problem, other, guesses, "language")]


@takes_settings
def ranks_with_public(documents: Documents, *, defence: str, level: float) -> list[dict]:
    """Measure the success of Markov with a public n-gram table at the same setting, if `ranks` has none.

    One row, as of `ranks_with_language`, with the Markov attack in place of the mixture.
    """
    row, attack, problem = _placed(documents, defence, level)
    if problem is None:
        return [row]
    other = problem.guesses(attack, **ATTACKS[attack], public=False)
    guesses = problem.guesses("markov", **ATTACKS["markov"], public=True)
    row |= {"attack": attack, "positions": len(guesses)}
    return [row | _beside(problem, other, guesses, "public")]


def _placed(documents: Documents, defence: str, level: float) -> tuple[dict, str, problems.Problem | None]:
    """Look up where `rank` put a mechanism, and its release if that reached the level."""
    table = pd.read_csv(project_data() / "results" / "rank.csv").fillna({"parameter": ""})
    key = {"dataset": documents.dataset, "defence": defence, "target": "success", "level": level}
    key["seed"] = documents.seed
    ranked = table[(table[list(key)] == pd.Series(key)).all(axis=1)]
    if ranked.empty:
        raise ValueError(f"{', '.join(map(str, key.values()))}: the table rank has no such row")
    rank = ranked.iloc[0]
    row = {"parameter": rank.parameter, "value": float(rank.value), "reached": bool(rank.reached)}
    given = {rank.parameter: row["value"]} if rank.parameter else {}
    return row, rank.attack, documents.problem(defence, **given) if row["reached"] else None


def _beside(problem: problems.Problem, other: list[str], guesses: list[str], what: str) -> dict:
    """Success on the first positions of an attack and of a stronger one, and the difference, as columns."""
    truths, sentences = problem.truth.words[: len(guesses)], problem.sentences[: len(guesses)]
    estimates = {
        "success": clustered_rate(np.equal(other, truths), sentences),
        f"with_{what}": clustered_rate(np.equal(guesses, truths), sentences),
        "difference": paired_difference(guesses, other, truths, sentences),
    }
    row: dict = {}
    for name, estimate in estimates.items():
        row |= columns(estimate, f"{name}_")
    return row
