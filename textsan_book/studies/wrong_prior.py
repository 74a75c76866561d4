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
    """Success with the true prior and with that of the attacker, and what the difference is due to.

    Attributes:
        bound: V(X | Y).
        success: of the rule that the attacker's prior gives.
        unseen: the true probability of the words that the attacker's text lacks.
        parts: of the loss, by fact; they add up to it. A part below zero is of a fact that misleads.
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
    """The loss of the context-free attack with a prior from counts, one added to each, and its parts.

    Args:
        channel: Pr(y | x), its inputs the words under attack (`Channel.restrict` leaves those alone).
        counts: occurrences of words in the attacker's text.
        true: Pr(x) of the text under attack.

    Raises:
        ValueError: the true prior has mass on words that are no inputs.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["u", "v"])
    >>> found = prior_loss(channel, {"a": 9}, Prior(["a", "b"], [0.1, 0.9]))
    >>> round(found.bound, 6), round(found.success, 6), round(found.parts["weight of unseen words"], 6)
    (0.9, 0.1, 0.8)
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

    Args:
        channel, counts: as for `prior_loss`; words that are no inputs are not attacked.
        docs: token lists under attack.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["u", "v"])
    >>> print(loss_on_text(channel, {"a": 9}, [["b", "b"], ["a", "b"], ["b"]]))
    0.600 [-0.994, 1.000]
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
    """The add-one prior of counts, corrected by some of `FACTS`, (len(words),); of all, the true prior.

    Args:
        facts: those the attacker is told.
        counts: occurrences of words in the attacker's text.
        true: where the facts are from.
        words: those that the prior ranges over.

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
    """The mean gain by each player over all orders in which they can join; the gains add up to that of all.

    Args:
        players: a few; every subset of them is valued once.
        value: of a set of players.

    >>> shapley_values("ab", lambda some: {"": 0.0, "a": 1.0, "b": 2.0, "ab": 5.0}["".join(sorted(some))])
    {'a': 2.0, 'b': 3.0}
    """
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
    """For each word of a prior the epsilon above which the context-free attack, seeing it, answers it, too.

    From there on the channel outweighs the prior and the attack agrees with embedding inversion. It suffices that
    epsilon > 2 / d(x, y) (log q(x) / q(y) + log M) for each other x of the group of y, M words, since each row's
    normaliser lies between 1 and M. Groups have distinct vectors; a group of one word needs no epsilon.

    Args:
        mechanism: with disjoint groups, at any epsilon.
        prior: q, over words that the mechanism does not keep, all positive.

    >>> from textsan import Embeddings
    >>> two = Embeddings(["a", "b"], [[0.0], [1.0]])
    >>> epsilons = outweighing_epsilons(CusText(two, 1.0, k=2), Prior(["a", "b"], [0.75, 0.25]))
    >>> {word: round(epsilon, 3) for word, epsilon in epsilons.items()}  # 2 log 6, 2 log 2 / 3
    {'a': -0.811, 'b': 3.584}
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
