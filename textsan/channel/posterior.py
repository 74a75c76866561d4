"""The posterior Pr(x | y): what an observation says of the original word, tabulated once."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np


class Posterior:
    """The likeliest words of each observation, best first, with log-probabilities.

    An observation is a released word, as from `Channel.posterior`, or a position (document, index) of a sanitized
    text, as from `Attack.posteriors`. Where no word is possible the released word counts as its own original.

    Args:
        observed: n released words, or n positions.
        words: what `numbers` stand for.
        numbers: (n, k) numbers of words, best first, -1 where fewer than k are possible.
        log_weights: (n, k) their log-probabilities, -inf where `numbers` is -1; with a channel log Pr(x, y).
        released: the released word of each observation; None is `observed` itself.
        channel: for released words, where they come from.
        log_prior: with `channel`, its (n_in,) log Pr(x).
        device: with `channel`, where log Pr(y) is computed, as of `Channel.posterior`.

    >>> from textsan import Channel, Prior
    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.2, 0.8]], inputs=["a", "b"], outputs=["u", "v"])
    >>> posterior = channel.posterior(Prior(["a", "b"], [0.75, 0.25]))
    >>> posterior.mode(), posterior.expected_success(), posterior["v"]
    (['a', 'a'], 0.75, {'a': 0.6000000000000001, 'b': 0.4})
    """

    def __init__(
        self,
        observed,
        words,
        numbers,
        log_weights,
        *,
        released=None,
        channel=None,
        log_prior=None,
        device: str | None = None,
    ):
        self.observed, self.words = list(observed), words
        self.numbers, self.log_weights = numbers, log_weights
        self.released = self.observed if released is None else list(released)
        self._channel, self._log_prior, self._device = channel, log_prior, device

    @classmethod
    def from_scores(cls, positions, released, words, numbers, log_scores, k: int | None = None) -> "Posterior":
        """Make it from scores that are log-probabilities up to a constant; ties go to the earlier candidate.

        Candidates, (n, m), broadcast and are in any order; a score of -inf is that of no candidate.
        """
        log_scores = np.asarray(log_scores, dtype=np.float64)
        numbers = np.broadcast_to(numbers, log_scores.shape)
        if k == 1:
            order = log_scores.argmax(axis=1)[:, None] if log_scores.size else np.zeros((len(log_scores), 0), int)
        else:
            order = np.argsort(-log_scores, axis=1, kind="stable")[:, :k]
        possible = (log_scores > -np.inf).any(axis=1)
        total = np.zeros(len(log_scores))
        if possible.any():
            total[possible] = _log_sums(log_scores[possible])
        best = np.take_along_axis(log_scores, order, axis=1) - total[:, None]
        numbers = np.where(best > -np.inf, np.take_along_axis(numbers, order, axis=1), -1)
        return cls(positions, words, numbers, best, released=released)

    def __len__(self) -> int:
        return len(self.observed)

    def __repr__(self) -> str:
        kind = "positions" if self._channel is None else "released words"
        return f"Posterior({len(self)} {kind}, {self.numbers.shape[1]} candidates each)"

    def __getitem__(self, observation) -> dict[str, float]:
        """Words with their probabilities, for one of `observed`, likeliest first."""
        if observation not in self._index:
            raise KeyError(f"observation: {observation!r} is not among the {len(self)} that were tabulated")
        return self.mapping(self._index[observation])

    @cached_property
    def _index(self) -> dict:
        return {observation: at for at, observation in enumerate(self.observed)}

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        """log Pr(x | y) of the candidates, (n, k); over all words they sum to one, over k of them to less."""
        if self._channel is None:
            return self.log_weights
        total = self._channel.log_marginal(self._log_prior, self.observed, self._device)
        return self.log_weights - np.where(total > -np.inf, total, 0.0)[:, None]

    def mapping(self, at: int) -> dict[str, float]:
        """Words with their probabilities, for observation number `at`."""
        possible = self.numbers[at] >= 0
        if not possible.any():
            return {self.released[at]: 1.0}
        words = [self.words[number] for number in self.numbers[at][possible]]
        return dict(zip(words, np.exp(self.log_probabilities[at][possible]).tolist(), strict=True))

    def mode(self) -> list[str]:
        """The likeliest word of each observation: the rule that is optimal if the posterior is right."""
        if not self.numbers.shape[1]:
            return list(self.released)
        best = self.numbers[:, 0].tolist()
        return [self.words[number] if number >= 0 else y for number, y in zip(best, self.released, strict=True)]

    def coverage(self) -> float:
        """Compute how often the original word is among the candidates, if the posterior is right: the top-k bound.

        For released words their probabilities weigh them, and only those tabulated count: a rate needs all
        outputs, each once. Positions count alike.
        """
        return float(self.expected_coverage()[-1])

    def expected_success(self, true_prior=None) -> float:
        """Compute how often the mode is the original word, under a true prior over the channel's inputs.

        With all outputs tabulated, each once, and the prior of the text under attack, this is the exact success
        rate of the rule, sum_y Pr(x) Pr(y | x) at x = mode(y), whatever prior the rule was made from. Without it,
        the posterior is taken to be right.
        """
        return float(self.expected_coverage(true_prior)[0])

    def expected_coverage(self, true_prior=None) -> np.ndarray:
        """Compute how often the original word is among the first 1, 2, .., k candidates, (k,), under a true prior.

        Number K of these is a ceiling for every rule that answers with one of K candidates, whatever else it sees.

        >>> from textsan import Channel
        >>> channel = Channel.from_matrix([[0.5, 0.5], [1.0, 0.0]], inputs=["a", "b"], outputs=["u", "v"])
        >>> channel.posterior([0.5, 0.5], k=2).expected_coverage([0.75, 0.25])
        array([0.625, 1. ])
        """
        ranks = range(self.numbers.shape[1])
        if true_prior is None and self._channel is not None:
            return np.cumsum([np.exp(self.log_weights[:, rank]).sum() for rank in ranks])
        if true_prior is None:
            # Where nothing explains what was released it counts as its own original, as in `mode`.
            own = ~(self.numbers >= 0).any(axis=1)
            first = [np.where(own, 1.0, 0.0).mean()]
            shares = [np.exp(self.log_weights[:, rank]).mean() for rank in ranks] or [0.0]
            return np.cumsum([shares[0] + first[0], *shares[1:]])
        if self._channel is None:
            raise ValueError("true_prior: this posterior is of positions; score its guesses, or pass none")
        true = self._channel.prior_array(true_prior)
        candidates = [self._candidates(rank) for rank in ranks]
        shares = np.array([float(true[guess] @ likelihood) for guess, likelihood in candidates])
        own, stays = self._unexplained([self._channel.inputs[number] for number in np.flatnonzero(true)])
        shares[0] += float(true[own] @ stays)
        return np.cumsum(shares)

    def hit_probabilities(self, words: Sequence[str]) -> np.ndarray:
        """Pr(mode(Y) = x | x) of some inputs x: how often the rule is right about each, (len(words),).

        Their mean over the words of a text is the expected success on it, and its interval that of their mean.

        >>> from textsan import Channel
        >>> channel = Channel.from_matrix([[0.5, 0.5], [1.0, 0.0]], inputs=["a", "b"], outputs=["u", "v"])
        >>> channel.posterior([0.5, 0.5]).hit_probabilities(["b", "a", "a"])
        array([1. , 0.5, 0.5])
        """
        if self._channel is None:
            raise ValueError("hit_probabilities: this posterior is of positions; only released words have them")
        guess, likelihood = self._candidates(0)
        hits = np.bincount(guess, weights=likelihood, minlength=len(self._channel.inputs))
        own, stays = self._unexplained(words)
        hits[own] += stays
        return hits[[self._channel.input_index[word] for word in words]]

    def _candidates(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """The candidate of this rank for each released word that has one, and its Pr(y | x)."""
        possible = self.numbers[:, rank] >= 0
        guess = self.numbers[possible, rank]
        return guess, np.exp(self.log_weights[possible, rank] - self._log_prior[guess])

    def _unexplained(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Find the inputs whose release no word explains, so that they are guessed, and Pr(x | x) of each."""
        possible, words = self.numbers[:, 0] >= 0, frozenset(words)
        own = [y for y, explained in zip(self.released, possible, strict=True) if not explained and y in words]
        if not own:
            return np.empty(0, dtype=np.intp), np.empty(0)
        columns = [self._channel.output_index[word] for word in own]
        rows = np.array([self._channel.input_index[word] for word in own])
        return rows, self._channel.rows(own)[np.arange(len(own)), columns]


def _log_sums(logs: np.ndarray) -> np.ndarray:
    """Logarithms of rows' sums of exponentials, bit by bit `scipy.special.logsumexp` in a seventh of its time."""
    best = logs.max(axis=1, keepdims=True)
    at_best = logs == best
    many = at_best.sum(axis=1, dtype=np.float64)
    others = np.exp(np.where(at_best, -np.inf, logs) - best).sum(axis=1)
    return np.log1p(others / many) + np.log(many) + best[:, 0]


def tabulate(
    channel, log_prior: np.ndarray, k: int, outputs: Sequence | None = None, device: str | None = None
) -> Posterior:
    """Tabulate the posterior of released words under log weights of the inputs, -inf for impossible ones."""
    outputs = channel.outputs if outputs is None else list(outputs)
    numbers, joint = channel.best_inputs(log_prior, outputs, k, device)
    numbers = np.where(joint > -np.inf, numbers, -1)
    given = {"channel": channel, "log_prior": log_prior, "device": device}
    return Posterior(outputs, channel.inputs, numbers, joint, **given)
