"""The ladder of attackers of a Markov source: V(X) <= V(X | Y) <= V(X | Y, C) <= V(X | Y, X_others).

Each attacker sees more than the one before. The first two rungs are closed forms; the others are simulated, and
what is averaged is not hits but the chance of a hit given all the attacker sees: unbiased, with less variance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textsan import leakage
from textsan.attacks import Attack, MarkovBayes
from textsan.base import checks
from textsan.channel import Posterior
from textsan.evaluation import Estimate, sensitive_positions
from textsan.mechanisms import Mechanism
from textsan.priors import MarkovModel, Prior


class Hierarchy(NamedTuple):
    """Success rates of the best attackers on words that are sanitized, with 95 % intervals where simulated."""

    blind: float
    context_free: float
    contextual: Estimate
    neighbours: Estimate


def attacker_hierarchy(
    model: MarkovModel, mechanism: Mechanism, *, n_sentences: int, seed, length: int | None = None
) -> Hierarchy:
    """Compute the four rungs for sentences drawn from `model` and sanitized by `mechanism`, token by token.

    Exact up to simulation, because the model is the source; for real text, whose source nobody knows, count hits.
    The model's words are inputs of the mechanism or words it keeps, which may not be drawn for others. Without a
    length it is that of the sentences that the model was fitted on.
    """
    generator = np.random.default_rng(seed)
    channel, keep = mechanism.channel, mechanism.keep
    strange = set(model.words) - set(channel.inputs) - keep
    if strange:
        raise ValueError(f"model: {min(strange)!r} is neither an input of the mechanism nor kept; leave it out")
    if keep & set(channel.outputs):
        raise ValueError("mechanism: a kept word is also an output; build it over the other words' embeddings")
    docs = model.sample(n_sentences, generator, length)
    released = mechanism.sanitize(docs, generator)
    attack = MarkovBayes(channel, model)
    sensitive = sensitive_positions(docs, set(channel.inputs))
    rungs = [
        conditional_expectation(confidence, sensitive)
        for confidence in (attack.confidence(released), NeighbourBayes(attack, docs).confidence(released))
    ]
    prior = word_prior(model, channel.inputs, length)
    return Hierarchy(leakage.prior_vulnerability(prior), leakage.bayes_vulnerability(prior, channel), *rungs)


class NeighbourBayes(Attack):
    """The optimum of an attacker who is also told the unsanitized neighbours of the word under attack.

    Given x_{i-1} and x_{i+1} nothing else in the sentence tells more of x_i under a Markov source, so that its
    success bounds that of `MarkovBayes` with the true model: the upper rung of the ladder.

    >>> from textsan import Channel
    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> model = MarkovModel.from_arrays("ab", initial=[0.5, 0.5], transition=[[0, 1], [1, 0]])
    >>> NeighbourBayes(MarkovBayes(channel, model), [["b", "a"]]).reconstruct([["u", "v"]], [(0, 0), (0, 1)])
    ['b', 'a']
    """

    def __init__(self, attack: MarkovBayes, original_docs: Sequence[Sequence[str]]):
        self.attack = attack
        self.original_docs = checks.documents("original_docs", original_docs)

    def confidence(self, sanitized_docs: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Compute max_x Pr(x_i | y_i, x_{i-1}, x_{i+1}) of every position."""
        docs = checks.documents("sanitized_docs", sanitized_docs)
        positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
        windows = self._windows(docs, positions)
        values = [v[min(i, 1)] for v, (_, i) in zip(self.attack.confidence(windows), positions, strict=True)]
        return np.split(np.array(values), np.cumsum([len(doc) for doc in docs])[:-1])

    def _guess(self, docs, positions):
        places = [(window, min(i, 1)) for window, (_, i) in enumerate(positions)]
        return self.attack._guess(self._windows(docs, positions), places)

    def _posteriors(self, docs, positions, k):
        places = [(window, min(i, 1)) for window, (_, i) in enumerate(positions)]
        posterior = self.attack._posteriors(self._windows(docs, positions), places, k)
        return Posterior(
            positions, posterior.words, posterior.numbers, posterior.log_weights, released=posterior.released
        )

    def _windows(self, docs, positions) -> list[list]:
        """Sentences of up to three tokens: a released word between its original neighbours, marked as known."""
        if [len(doc) for doc in docs] != [len(doc) for doc in self.original_docs]:
            raise ValueError("sanitized_docs: lengths differ from original_docs; pass the same documents")
        windows = []
        for d, i in positions:
            known = [(word,) for word in self.original_docs[d]]
            windows.append([*known[max(i - 1, 0) : i], docs[d][i], *known[i + 1 : i + 2]])
        return windows


def word_prior(model: MarkovModel, words: list[str], length: int | None = None) -> Prior:
    """Compute Pr(x) of a word at a random position of the source's sentences, given that it is one of `words`."""
    lengths = model.lengths if length is None else np.array([length])
    reached = [(lengths > t).mean() for t in range(lengths.max())]
    frequency = sum(
        share * marginal for share, marginal in zip(reached, model.marginals(len(reached)), strict=True)
    )
    weights = np.array([frequency[model.index[word]] if word in model.index else 0.0 for word in words])
    return Prior(words, weights / weights.sum())


def conditional_expectation(values: list[np.ndarray], positions: list[tuple[int, int]]) -> Estimate:
    """Average over positions an expectation given what is seen, an array a sentence.

    The 95 % interval is that of a ratio of sums over independent sentences (Cochran 1977, Section 6.4).
    """
    sums, sizes = np.zeros(len(values)), np.zeros(len(values))
    for d, i in positions:
        sums[d] += values[d][i]
        sizes[d] += 1
    value = sums.sum() / sizes.sum()
    error = np.sqrt(len(sums) / (len(sums) - 1) * ((sums - value * sizes) ** 2).sum()) / sizes.sum()
    return Estimate(float(value), float(value - 1.96 * error), float(value + 1.96 * error))
