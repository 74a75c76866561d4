"""Guarantees as data: a definition, its parameters, adjacent words, what lies outside."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.priors import Prior
from textsan.privacy.sharp_bounds import metric_success, sharp_success
from textsan.privacy.tight_epsilons import (
    Tight,
    tight_epsilon,
    tight_group_epsilon,
    tight_metric_epsilon,
    tight_umldp_epsilon,
)
from textsan.text.embeddings import Embeddings


@dataclass(frozen=True)
class Adjacency:
    """Pairs of words that a promise protects against each other, and its unit.

    Args:
        groups: only words that share one of these groups are adjacent; None is any two words.
        distance: vectors whose Euclidean distance epsilon multiplies; None: epsilon bounds each pair by itself.
        distance_name: what that distance is called.
        cutoff: distances count up to here.
        outputs: the outputs at which adjacent words are hard to tell apart; None is all.
        sensitive: with `outputs`, the words that never become another output.
        scope: "document", "writer" or "file" where a word has one draw: texts are adjacent if all occurrences
            of a word there are renamed to one that does not occur. None: if one occurrence is replaced.
    """

    groups: tuple[tuple[str, ...], ...] | None = None
    distance: Embeddings | None = None
    distance_name: str = "Euclidean distance"
    cutoff: float = math.inf
    outputs: tuple[str, ...] | None = None
    sensitive: frozenset[str] = frozenset()
    scope: str | None = None

    def __repr__(self) -> str:
        """Word lists by their number."""
        groups = None if self.groups is None else f"{len(self.groups)} groups"
        return f"Adjacency({groups or self.distance or 'any two words'})"

    def __str__(self) -> str:
        if self.scope is not None:
            renamed = f"where one becomes the other, new to the {self.scope}, at all its places there"
            return f"{replace(self, scope=None)}; {renamed}; for one place alone nothing is promised"
        if self.groups is not None:
            return "two words of one group of the mapping; words of different groups are told apart with certainty"
        pair = "any two words of the vocabulary"
        if self.distance is None:
            return pair
        if self.cutoff < math.inf:
            return f"{pair}, epsilon times the lesser of their distance and {self.cutoff:g}"
        if self.outputs is not None:
            return (
                f"{pair}, at outputs that are sensitive: epsilon times their {self.distance_name} "
                "plus epsilon_0 = ln(1/p)"
            )
        return f"{pair}, epsilon times their {self.distance_name}"


@dataclass(frozen=True)
class Guarantee:
    """A mechanism's promise, for one token and for a document of them.

    Args:
        definition: "DP", "DP within groups", "metric DP", "utility-optimised metric DP" or "none".
        epsilon: its parameter.
        adjacency: which pairs of words it is about.
        outside: what the promise does not cover, a clause each.
        epsilon_0: additive constant of utility-optimised metric DP.

    >>> Guarantee("DP", 1.0, Adjacency(), ("kept words",)).document(20)
    20.0
    """

    definition: str
    epsilon: float
    adjacency: Adjacency | None
    outside: Sequence[str] = ()
    epsilon_0: float = 0.0

    DEFINITIONS = ("DP", "DP within groups", "metric DP", "utility-optimised metric DP", "none")

    def __post_init__(self):
        checks.choice("definition", self.definition, self.DEFINITIONS)

    @property
    def per(self) -> str:
        """The unit of epsilon: the log-ratio of a "pair" of adjacent words, or that ratio by their "distance"."""
        return "distance" if self.adjacency is not None and self.adjacency.distance is not None else "pair"

    def token(self, distance: float = 1.0) -> float:
        """The bound on |log Pr(y | x) - log Pr(y | x')| for two adjacent words, of which one place is changed.

        Infinite where a word has one draw for all its places: they have to be changed together.

        Args:
            distance: d(x, x'), which counts where epsilon is per distance; where there is a cutoff, the lesser of
                the two.
        """
        if self.adjacency is not None and self.adjacency.scope is not None:
            return math.inf
        return (self.epsilon * distance if self.per == "distance" else self.epsilon) + self.epsilon_0

    def document(self, tokens: int, distance: float = 1.0) -> float:
        """The bound for two documents that differ in `tokens` places, `distance` apart in each (composition)."""
        return tokens * self.token(distance)

    def tight(self, channel: Channel) -> Tight:
        """The smallest epsilon with which the promise is true of a channel: what of it the channel uses.

        At most `epsilon` if the mechanism keeps its promise. Infinite where nothing is promised.

        Raises:
            ValueError: an estimated channel, or an infinite epsilon_0, with which nothing is bounded.

        >>> channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["u", "v"])
        >>> Guarantee("DP", 2.0, Adjacency()).tight(channel)
        1.09861 at 'u' from 'a' against 'b'
        """
        channel.exact("a tight epsilon")
        if self.definition == "none":
            return Tight(math.inf)
        adjacency = self.adjacency
        assert adjacency is not None
        if adjacency.groups is not None:
            return tight_group_epsilon(channel, adjacency.groups)
        if adjacency.distance is None:
            return tight_epsilon(channel)
        distances = adjacency.distance
        if adjacency.cutoff < math.inf:
            distances = np.minimum(distances.distances(channel.inputs, channel.inputs), adjacency.cutoff)
        if adjacency.outputs is None:
            return tight_metric_epsilon(channel, distances)
        if not math.isfinite(self.epsilon_0):
            raise ValueError("epsilon_0: infinite, so that nothing is bounded; p above 0 makes it finite")
        given: dict[str, Any] = {"sensitive": adjacency.sensitive, "protected": adjacency.outputs}
        return tight_umldp_epsilon(channel, distances, **given, epsilon_0=self.epsilon_0)

    def success(self, prior: Prior) -> float:
        """Bound the success of the best guess of a word from what is released for it, by the promise alone.

        It holds for who looks neither at the other words nor at the place, if the prior is pooled over places.

        `sharp_success` of DP, its sum over groups, `metric_success` of metric DP (with epsilon_0 added to the
        exponent of two different words); 1 where nothing is promised. Words without a group, without a vector, or
        not sensitive count as known; plain DP is taken to be about all words of the prior: leave out those that
        are released as they are. Those without mass are left out, which leaves the bound true.

        >>> round(Guarantee("DP", 1.0, Adjacency()).success(Prior("abc", [0.5, 0.25, 0.25])), 4)
        0.5761
        """
        if self.definition == "none":
            return 1.0
        words = [word for word, p in zip(prior.words, prior.probabilities, strict=True) if p > 0]
        p, adjacency = prior.probabilities[prior.probabilities > 0], self.adjacency
        assert adjacency is not None
        if adjacency.distance is None:
            return sharp_success(p, self.epsilon, groups=_numbers(adjacency.groups, words))
        about = adjacency.distance if adjacency.outputs is None else adjacency.sensitive
        inside = np.array([word in about for word in words])
        known, p = float(p[~inside].sum()), p[inside]
        if not len(p):
            return 1.0
        words = [word for word, there in zip(words, inside, strict=True) if there]
        exponents = self.epsilon * np.minimum(adjacency.distance.distances(words, words), adjacency.cutoff)
        exponents += np.where(np.eye(len(p)) > 0, 0.0, self.epsilon_0)
        return known + p.sum() * metric_success(p / p.sum(), exponents, epsilon=1.0).value

    def __str__(self) -> str:
        unit = " per unit of distance" if self.per == "distance" else ""
        plus = f", epsilon_0 = {self.epsilon_0:g}" if self.epsilon_0 else ""
        parameters = f"epsilon = {self.epsilon:g}{unit}{plus}"
        return f"{self.definition} with {parameters}; {self.which}; outside: {'; '.join(self.outside)}"

    @property
    def which(self) -> str:
        """Say in words which pairs are protected against each other."""
        return "no protection is claimed for any pair of words" if self.adjacency is None else str(self.adjacency)


def _numbers(groups, words: list[str]) -> list[list[int]] | None:
    """Groups of words as groups of their numbers; words that are not listed are left out."""
    number = {word: i for i, word in enumerate(words)}
    return groups and [[number[word] for word in group if word in number] for group in groups]


class Threshold(float):
    """A number up to which a promise holds: formatted, it is rounded down, never up.

    >>> limit = Threshold(0.42519)
    >>> f"{limit:.3f} {limit:.2f}", f"{float(limit):.2f}"
    ('0.425 0.42', '0.43')
    """

    def __format__(self, spec: str) -> str:
        if not math.isfinite(self):
            return super().__format__(spec)
        with localcontext() as context:
            context.rounding = ROUND_FLOOR
            return format(Decimal(float.__repr__(self)), spec)
