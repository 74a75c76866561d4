"""The attacker who is not told the noise: the release itself says which of several channels made it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from scipy.special import logsumexp

from textsan.attacks.base import Attack
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.priors import Prior


class UntoldNoise(Attack):
    """Guesses by Bayes' rule over the channels of a family and over words, words taken as independent.

    A release y_1 ... y_n has a channel m of weight r(m) with probability

        Pr(m | y) proportional to r(m) prod_i P_m(y_i),    P_m(y) = sum_x Pr(x) Pr(y | x, m),

    and Pr(x_i | y) = sum_m Pr(m | y) Pr(x_i | y_i, m). The documents of one call are one release, of one channel.
    With one channel it is the context-free attack. Averaged over the family it loses against whoever is told m at
    most the mean of 1 - Pr(m | y) in success.

    Args:
        channels: Pr(y | x) by name, all over the same inputs in the same order.
        prior: Pr(x) over the inputs.
        weights: r, in the order of `channels`; None is even.
        outside: the share of tokens that are no input, in [0, 1); such a token becomes a uniform output. Tokens
            that no channel can release say nothing.

    >>> stay = [Channel.from_matrix([[p, 1 - p], [1 - p, p]], inputs="ab", outputs="ab") for p in (0.5, 0.9)]
    >>> attack = UntoldNoise(dict(zip(["blind", "clear"], stay)), Prior("ab", [0.8, 0.2]))
    >>> {name: round(p, 3) for name, p in attack.noise([["a", "a", "a", "a"]]).items()}
    {'blind': 0.172, 'clear': 0.828}
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        prior: Prior,
        *,
        weights: Sequence[float] | None = None,
        outside: float = 0.0,
        attacked: Collection[str] | None = None,
    ):
        if not channels:
            raise ValueError("channels: none; pass those that may have made the release")
        self.channels, self.words = dict(channels), next(iter(channels.values())).inputs
        if other := [name for name, channel in channels.items() if list(channel.inputs) != list(self.words)]:
            raise ValueError(f"channels: {other[0]!r} has other inputs than the first; give all the same words")
        self.outside = checks.number("outside", outside, low=0, high=1)
        given = np.full(len(channels), 1 / len(channels)) if weights is None else weights
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(checks.probabilities("weights", given, len(channels)))
            self._log_prior = np.log(prior.aligned(self.words))
        self._possible = np.array([attacked is None or word in attacked for word in self.words])

    def noise(self, docs: Sequence[Sequence[str]]) -> dict[str, float]:
        """Compute Pr(m | y), the probability that each channel made the release of these token lists."""
        return dict(zip(self.channels, np.exp(self._log_noise(docs)).tolist(), strict=True))

    def _log_noise(self, docs) -> np.ndarray:
        known = {word for channel in self.channels.values() for word in channel.output_index}
        counts = Counter(token for doc in docs for token in doc if token in known)
        logs = self._log_weights.copy()
        for m, channel in enumerate(self.channels.values()):
            there = [word for word in counts if word in channel.output_index]
            if len(there) < len(counts):
                logs[m] = -np.inf
                continue
            said = (1 - self.outside) * np.exp(channel.log_marginal(self._log_prior, there))
            with np.errstate(divide="ignore"):
                said = np.log(said + self.outside / channel.shape[1])
            logs[m] += said @ np.array([counts[word] for word in there]) if there else 0.0
        # Where no channel explains the release it says nothing.
        return logs - logsumexp(logs) if np.isfinite(logs).any() else self._log_weights

    def _posteriors(self, docs, positions, k):
        released = [docs[d][i] for d, i in positions]
        distinct = {word: row for row, word in enumerate(dict.fromkeys(released))}
        mixed = np.full((len(distinct), len(self.words)), -np.inf)
        for weight, channel in zip(self._log_noise(docs), self.channels.values(), strict=True):
            there = [word for word in distinct if word in channel.output_index]
            if weight == -np.inf or not there:
                continue
            joint = channel.log_columns(there) + np.where(self._possible, self._log_prior, -np.inf)
            total = logsumexp(joint, axis=1, keepdims=True)
            joint = np.where(total > -np.inf, joint - np.where(total > -np.inf, total, 0.0) + weight, -np.inf)
            rows = [distinct[word] for word in there]
            mixed[rows] = np.logaddexp(mixed[rows], joint)
        scores = mixed[[distinct[word] for word in released]]
        return Posterior.from_scores(positions, released, self.words, np.arange(len(self.words)), scores, k)
