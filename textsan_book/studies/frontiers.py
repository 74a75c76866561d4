"""Mechanisms against the least distance that is possible at their success, and against who reads sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import optimize

from textsan.attacks import Attack, ContextFreeBayes, Knowledge, MarkovBayes
from textsan.channel import Channel
from textsan.evaluation import Estimate, clustered_rate, sensitive_positions, words_at
from textsan.leakage import (
    Frontier,
    bayes_vulnerability,
    frontier,
    noisy_vector_vulnerability,
    prior_vulnerability,
    vulnerability_bracket,
)
from textsan.mechanisms import MECHANISMS, ChannelMechanism, Mechanism, make_mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior
from textsan.sweeps.splits import Split, load_split
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import count_words

PER_DISTANCE, PER_PAIR, NOISE = (1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 4.0, 8.0), (10.0,)
"""Epsilons of mechanisms that promise per unit of distance, per pair of words, and of noise on vectors."""

_OF_PAIRS = {"spent", "clusant", "rantext"}  # and those of CusText's family
_NOISY = {"fbdd", "mahalanobis", "vickrey"}
_NOT_PLACED = {"random", "released custext+", "context-aware custext", "memoized"}
# Without a parameter, with outputs of its own, and one that takes seconds for each point.
_DRAWS = 25  # of each word, where a channel is estimated
_STATES = 30  # likeliest words a position, which the Markov attack reads


@dataclass(frozen=True)
class World:
    """A vocabulary with a prior, and a text over it: private sentences are attacked, the shadow is the attacker's.

    Of the word counts of the shadow (`public`) mechanisms are made; the prior has the frequencies of all other
    text of the corpus, with half a count for each word. The words are the most frequent in public first; outputs
    have the full stop, too.
    """

    split: Split
    public: Mapping[str, int]
    prior: Prior
    vocabulary: Embeddings
    outputs: Embeddings

    def lost(self, channel: Channel) -> float:
        """Return the expected distance between a word and what is released for it, in the unit of the vectors."""
        far = self.outputs.distances(channel.inputs, channel.outputs)
        return float(channel.prior_array(self.prior) @ (channel.matrix() * far).sum(axis=1))

    def placed(self, mechanism: Mechanism, seed: int = 0) -> tuple[float, float]:
        """Return V(X | Y), for noise on vectors the upper end of its bracket, and the distance lost."""
        if isinstance(mechanism, NoiseMechanism):
            estimated = [mechanism.estimate_channel(self.prior.words, _DRAWS, seed=seed + i) for i in (1, 2)]
            _, high = vulnerability_bracket(self.prior, *estimated)
            vector = noisy_vector_vulnerability(self.prior, mechanism, seed=seed)
            return min(high, vector.high), self.lost(estimated[0])
        channel = mechanism.channel.restrict(self.prior.words)
        return bayes_vulnerability(self.prior, channel), self.lost(channel)

    def at_success(self, make: Callable[[float], Mechanism], success: float) -> Mechanism:
        """Search the epsilon, with which V rises, at which the best guess from one word has a given success."""

        def excess(log_epsilon: float) -> float:
            return self.placed(make(np.exp(log_epsilon)))[0] - success

        return make(np.exp(optimize.brentq(excess, np.log(0.05), np.log(30.0), xtol=0.01)))


def world(dataset: str, *, n_private: int, n_shadow: int, public_words: int, seed: int) -> World:
    """Load a corpus as a world of the most frequent words of the vectors."""
    split = load_split(dataset, n_private, n_shadow, seed=seed, vocabulary=public_words)
    public, glove = count_words(split.shadow), load_embeddings()
    words = sorted((word for word in split.embeddings.words if word != "."), key=lambda word: -public[word])
    counts = count_words(split.population)
    prior = Prior.from_counts(counts, words, 0.5 / sum(counts.values()))
    return World(split, public, prior, glove.restrict(words), glove.restrict([*words, "."]))


def placed(worlds: Mapping[str, World], known: Mapping[str, Frontier], *, seed: int = 0) -> list[dict]:
    """Place the registered mechanisms by success and distance, next to the least distance at their success.

    The frontier of each corpus is given. A row a corpus, mechanism and setting (`parameter`): success, lost,
    least.
    """
    rows = []
    for corpus, here in worlds.items():
        for name in (name for name in MECHANISMS if name not in _NOT_PLACED):
            for setting in _settings(name):
                mechanism = make_mechanism(name, here.vocabulary, counts=here.public, **setting)
                success, lost = here.placed(mechanism, seed)
                row = {"corpus": corpus, "defence": name, "parameter": next(iter(setting.values()))}
                least = known[corpus].least_loss(success)
                rows.append(row | {"success": success, "lost": lost, "least": least})
    return rows


def _settings(name: str) -> list[dict[str, float]]:
    if name == "erasure":
        return [{"q": q} for q in (0.1, 0.2, 0.4, 0.6)]
    per_pair = "custext" in name or name in _OF_PAIRS
    chosen = NOISE if name in _NOISY else PER_PAIR if per_pair else PER_DISTANCE
    return [{"epsilon": epsilon} for epsilon in chosen]


def at_one_success(here: World, best: Frontier, success: float) -> dict[str, Mechanism]:
    """Set SanText, SanText with weights, erasure and the best channel, a frontier's, to one V(X | Y)."""
    words = here.vocabulary
    weighted = partial(make_mechanism, "weighted santext", words, weights="prior", counts=here.public)
    return {
        "SanText": here.at_success(lambda e: make_mechanism("santext", words, epsilon=e), success),
        "SanText, weighted": here.at_success(lambda e: weighted(epsilon=e), success),
        "erasure": make_mechanism("erasure", words, q=(success - best.blind) / (1 - best.blind)),
        "the best channel": ChannelMechanism(best.channel.restrict(here.prior.words)),
    }


def opened_by_context(here: World, mechanisms: Mapping[str, Mechanism], *, seed: int = 0) -> list[dict]:
    """Attack real sentences by the released word alone and by the sentence, a row a channel.

    Success is on protected words.
    """
    rows = []
    for name, mechanism in mechanisms.items():
        v, lost = here.placed(mechanism)
        attacks = {"one word": ContextFreeBayes.against, "the sentence": partial(MarkovBayes.against, k=_STATES)}
        hits = {what: _success(here, mechanism, against, seed) for what, against in attacks.items()}
        rows.append({"channel": name, "V(X | Y)": v, "lost": lost} | hits)
    return rows


def _success(here: World, mechanism: Mechanism, against: Callable[[Knowledge], Attack], seed: int) -> Estimate:
    docs = here.split.private
    positions = sensitive_positions(docs, set(here.vocabulary.words))
    attack = against(Knowledge.of(mechanism, shadow=here.split.shadow))
    guesses = attack.reconstruct(mechanism.sanitize(docs, seed=seed), positions)
    return clustered_rate(np.equal(guesses, words_at(docs, positions)), [document for document, _ in positions])


def same_guarantee(here: World, *, epsilon: float) -> list[dict]:
    """Compare CusText with the table that loses least at its claimed epsilon, alone and at CusText's success.

    A row a mechanism: tight ε, V(X | Y), lost, and different words: how many a release of the private sentences
    has where protected words stood.
    """
    custext = make_mechanism("custext", here.vocabulary, epsilon=epsilon)
    given = {"counts": here.public, "epsilon": epsilon}
    free = make_mechanism("optimal custext", here.vocabulary, **given)
    bound = bayes_vulnerability(free.prior, custext.channel)  # under the prior that it is made for
    alike = make_mechanism("optimal custext", here.vocabulary, success=bound, **given)
    rows = []
    for name, mechanism in {"CusText": custext, "optimal": free, "optimal, same V": alike}.items():
        v, lost = here.placed(mechanism)
        tight = mechanism.guarantee.tight(mechanism.channel)
        released = mechanism.sanitize(here.split.private, seed=0)
        positions = sensitive_positions(here.split.private, set(here.vocabulary.words))
        row = {"mechanism": name, "tight ε": tight, "V(X | Y)": v, "lost": lost}
        rows.append(row | {"different words": len({*words_at(released, positions)})})
    return rows


LEVELS = 0.1, 0.2, 0.3, 0.45, 0.6, 0.8
"""V(X | Y) of the points, of which those above the blind guess are computed, in one call."""
_PRIVATE, _SHADOW = 200, 1000  # sentences that the prior does not count


def frontier_gaps(*, dataset: str, vocabulary: int, seed: int) -> list[dict]:
    """Compute the least expected distance at several values of V(X | Y): certificate and attained, a row a level.

    The data set gives the prior, with half a count for each word of the vocabulary; private text and the
    attacker's are not counted. Each word may be released for each. `gap` is 1 - lower / upper of the two ends.
    """
    split = load_split(dataset, _PRIVATE, _SHADOW, seed=seed, vocabulary=vocabulary)
    words, counts = split.embeddings.words, count_words(split.population)
    prior = Prior.from_counts(counts, words, 0.5 / sum(counts.values()))
    blind = prior_vulnerability(prior)
    first, *also = [level for level in LEVELS if level > blind]
    curve = frontier(prior, split.embeddings, first, also=also)
    rows = []
    for level in (first, *also):
        lower, upper = curve.least_loss(level), curve.attained_loss(level)
        row = {"words": len(words), "blind": blind, "level": level, "lower": lower, "upper": upper}
        rows.append(row | {"gap": 1 - lower / upper})
    return rows
