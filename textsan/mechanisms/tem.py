"""TEM, the truncated exponential mechanism (Carvalho et al. 2021), in closed form."""

import math
from functools import cached_property

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings


class TEM(VectorMechanism):
    """Pr(y | x) proportional to exp(-epsilon min(d(x, y), gamma) / 2), d Euclidean.

    As published, the words within gamma of x and one option for all the others, of score
    -gamma + 2 ln(number of words outside) / epsilon, receive Gumbel noise of scale 2 / epsilon; the largest wins,
    and the option becomes a uniform draw from the words outside. The largest of Gumbel-perturbed scores is a draw
    from the exponential mechanism, so that the option has weight (number outside) exp(-epsilon gamma / 2), shared
    equally: the formula above. The peer package `mldp-text` takes (vocabulary / number inside) for the number
    outside; its channel is another one, for which the proof does not hold.

    Satisfies metric DP for the metric min(d, gamma), hence for d, and (epsilon gamma)-DP.

    Args:
        embeddings, epsilon, oov, device: as for `VectorMechanism`.
        beta: probability from 0 to 1, both excluded, that a word beyond gamma is released, at most: it sets
            gamma = 2 / epsilon ln((1 - beta) (|V| - 1) / beta). None is 0.001; it is not used with a gamma.
        gamma: truncation distance of at least 0, in place of beta.

    >>> TEM(Embeddings(["a", "b", "c"], [[0.0], [9.0], [8.0]]), epsilon=2, gamma=1).channel.rows(["a"]).round(4)
    array([[0.5761, 0.2119, 0.2119]])
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        beta: float | None = 0.001,
        gamma: float | None = None,
        oov: Oov = "uniform",
        device: str = "auto",
    ):
        super().__init__(embeddings, epsilon, oov=oov, device=device)
        beta = 0.001 if beta is None else beta
        self.beta = checks.number("beta", beta, 0, 1)
        if not 0 < self.beta < 1:
            raise ValueError(f"beta: {beta!r} is out of range; pass a probability above 0 and below 1")
        if gamma is not None:
            self.gamma = checks.number("gamma", gamma, low=0)
        elif self.epsilon == 0:
            self.gamma = math.inf
        else:
            others = max(len(embeddings) - 1, 1)
            self.gamma = max(0.0, 2 / self.epsilon * math.log((1 - beta) * others / beta))
        self._given_gamma = gamma

    @property
    def parameters(self) -> dict:
        """The arguments of the constructor; None is that of beta and gamma which is not used."""
        beta = self.beta if self._given_gamma is None else None
        return super().parameters | {"beta": beta, "gamma": self._given_gamma}

    @cached_property
    def channel(self) -> Channel:
        vectors, words = self.embeddings.vectors, self.embeddings.words
        scale = self.epsilon / 2
        return Channel.exponential(words, words, vectors, vectors, scale, cutoff=self.gamma, device=self.device)

    @property
    def guarantee(self) -> Guarantee:
        adjacency = Adjacency(distance=self.embeddings, cutoff=self.gamma)
        return Guarantee("metric DP", self.epsilon, adjacency, self._outside())
