"""The loss of an attacker by a prior that is counted in other text, and the missing facts that it is due to.

The loss is V(X | Y) minus the expected success of the rule that the wrong prior gives; it needs no draw. Three
facts separate the attacker's prior from the true one, `FACTS`. Told any of them, the attacker corrects the prior
and, as a rule, succeeds more often. What a fact is worth depends on which others are known already, so its part of
the loss is the mean gain over all orders in which the facts can be told, its Shapley value (Shapley 1953).
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple, TypeVar

import numpy as np

from textsan.channel import Channel, Posterior
from textsan.evaluation import Estimate, clustered_difference, sensitive_positions, words_at
from textsan.mechanisms import CusText
from textsan.priors import Prior
from textsan.text.vocabulary import count_words

Player = TypeVar("Player", bound=Hashable)

FACTS = "weight of unseen words", "which unseen words", "frequencies of seen words"
"""The true probability of all words that the attacker has not seen; how they share it; and how the others do."""


class PriorLoss(NamedTuple):
    """Success with the true prior (`bound`) and with the attacker's, and what the difference is due to.

    `unseen` is the true probability of the words that the attacker's text lacks. The parts of the loss, by fact,
    add up to it; a part below zero is of a fact that misleads.
    """

    bound: float
    success: float
    unseen: float
    parts: dict[str, float]

    @property
    def loss(self) -> float:
        """`bound` minus `success`, at least 0 up to rounding."""
        return self.bound - self.success


def prior_loss(channel: Channel, counts: Mapping[str, int], true: Prior) -> PriorLoss:
    """Compute the loss of the context-free attack with a prior from counts, one added to each, and its parts.

    The channel's inputs are the words under attack (`Channel.restrict` leaves those alone).
    """

    channel = channel.exact("the loss of a wrong prior")
    exact, occurrences = true.aligned(channel.inputs), _occurrences(counts, channel.inputs)
    best = channel.posterior(true, k=1)
    outputs = _reached(best)

    @cache
    def success(facts: frozenset[str]) -> float:
        if len(facts) == len(FACTS):
            return best.expected_success(true)
        prior = _corrected(facts, exact, occurrences)
        return channel.posterior(prior, k=1, outputs=outputs).expected_success(true)

    unseen = float(sum(p for word, p in zip(true.words, true.probabilities, strict=True) if not counts.get(word)))
    parts = shapley_values(FACTS, success)
    return PriorLoss(success(frozenset(FACTS)), success(frozenset()), unseen, parts)


def loss_on_text(channel: Channel, counts: Mapping[str, int], docs: Sequence[Sequence[str]]) -> Estimate:
    """Compute this loss on one text, with the 95 % interval that other documents of its kind would give.

    Words that are no inputs are not attacked.
    """
    channel = channel.exact("the loss of a wrong prior")
    positions = sensitive_positions(docs, channel.inputs)
    words = words_at(docs, positions)
    true = Prior.from_counts(count_words([words]), channel.inputs, alpha_inverse=0)
    best = channel.posterior(true, k=1)
    own = channel.posterior(told((), counts, true, channel.inputs), k=1, outputs=_reached(best))
    losses = best.hit_probabilities(words) - own.hit_probabilities(words)
    return clustered_difference(losses, [document for document, _ in positions])


def told(facts: Collection[str], counts: Mapping[str, int], true: Prior, words: Sequence[str]) -> np.ndarray:
    """Correct the add-one prior of counts by some of `FACTS`, (len(words),); all of them give the true one.

    >>> told(["weight of unseen words"], {"a": 3}, Prior("abc", [0.4, 0.6, 0.0]), "abc")
    array([0.4, 0.3, 0.3])
    """
    return _corrected(facts, true.aligned(list(words)), _occurrences(counts, words))


def _occurrences(counts: Mapping[str, int], words: Sequence[str]) -> np.ndarray:
    return np.array([counts.get(word, 0) for word in words], dtype=np.float64)


def _reached(best: Posterior) -> list[str]:
    """The outputs that a text's words can become, by the rule of its true prior: no other adds to a success."""
    return [y for y, number in zip(best.released, best.numbers[:, 0], strict=True) if number >= 0]


def _corrected(facts: Collection[str], exact: np.ndarray, occurrences: np.ndarray) -> np.ndarray:
    """Apply `told` to true probabilities and occurrences in the attacker's text."""
    guess, seen = _scaled(occurrences + 1), occurrences > 0
    weight, which, frequencies = (exact if fact in facts else guess for fact in FACTS)
    unseen = weight[~seen].sum()
    return _scaled(_scaled(frequencies * seen) * (1 - unseen) + _scaled(which * ~seen) * unseen)


def shapley_values(players: Sequence[Player], value: Callable[[frozenset], float]) -> dict[Player, float]:
    """Average the gain by each player over all orders in which they can join; the gains add up to that of all."""
    orders = list(permutations(players))
    joined = {frozenset(order[:size]) for order in orders for size in range(len(order) + 1)}
    worth = {subset: value(subset) for subset in joined}
    gains = dict.fromkeys(players, 0.0)
    for order in orders:
        for size, player in enumerate(order):
            gain = worth[frozenset(order[: size + 1])] - worth[frozenset(order[:size])]
            gains[player] += gain / len(orders)
    return gains


def outweighing_epsilons(mechanism: CusText, prior: Prior) -> dict[str, float]:
    """Compute for each word of a prior the epsilon above which the context-free attack, seeing it, answers it.

    From there on the channel outweighs the prior and the attack agrees with embedding inversion. It suffices that
    epsilon > 2 / d(x, y) (log q(x) / q(y) + log M) for each other x of the group of y, M words, since each row's
    normaliser lies between 1 and M. Groups are disjoint and have distinct vectors; a group of one word needs no
    epsilon.
    """
    channel = mechanism.with_(epsilon=2).channel  # where Pr(y | x) / Pr(x | x) is exp(-d(x, y))
    among, epsilons = frozenset(prior.words), {}
    for group in mechanism.group_words:
        words = [word for word in group if word in among]
        chances = channel.rows(words)[:, [channel.output_index[word] for word in words]]
        distance = np.log(np.diag(chances)[:, None] / chances)
        np.fill_diagonal(distance, np.inf)
        log_q = np.log([prior[word] for word in words])
        needed = 2 / distance * (log_q[:, None] - log_q + np.log(len(group)))
        np.fill_diagonal(needed, -np.inf)
        epsilons |= dict(zip(words, needed.max(axis=0, initial=-np.inf).tolist(), strict=True))
    return epsilons


def _scaled(weights: np.ndarray) -> np.ndarray:
    """Summing to one; nothing stays nothing."""
    total = weights.sum()
    return weights / total if total > 0 else weights
