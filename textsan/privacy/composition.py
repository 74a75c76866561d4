"""The composition certificate: a bound on success at one word, given all released words of a document.

Every word of a document goes through plain epsilon-DP, and the words may hang together in any way. Then all
released words together are one release of the word that is guessed, and its guarantee composes (Kairouz, Oh and
Viswanath 2015).
"""

import numpy as np
import scipy

from textsan.base import checks
from textsan.privacy.sharp_bounds import best_guess, largest_share, prior_probabilities, sorted_mass

_STEPS = 400  # values of epsilon' between 0 and n epsilon that are looked at; each gives a bound


def composed_delta(epsilon: float, n: int, epsilon_all):
    """The least delta with which n releases at epsilon are (epsilon_all, delta)-DP together.

    sum_k C(n, k) max(0, p^k q^(n-k) - e^epsilon_all q^k p^(n-k)), p = e^epsilon / (1 + e^epsilon), q = 1 - p: the
    optimal composition of pure DP (Kairouz, Oh and Viswanath 2015, Theorem 3.3), attained by randomised response
    on two words.

    Args:
        epsilon: of one release, at least 0.
        n: releases, at least 1.
        epsilon_all: of all together, at least 0; a number or an array.

    >>> round(float(composed_delta(1.0, 2, 1.0)), 4)
    0.3378
    """
    epsilon, n = checks.epsilon(epsilon), checks.whole("n", n, low=1)
    asked = np.asarray(epsilon_all, dtype=np.float64)[..., None]
    k = np.arange(n + 1)
    log_p, log_q = -np.logaddexp(0.0, -epsilon), -np.logaddexp(0.0, epsilon)
    ways = scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
    here, there = ways + k * log_p + (n - k) * log_q, ways + k * log_q + (n - k) * log_p
    # Where the second term is larger the summand is 0: its exponent stays below 1, whatever is asked.
    share = -np.expm1(np.minimum(asked + there - here, 0.0))
    return (np.exp(here) * share).sum(axis=-1)


def composed_success(prior, epsilon: float, n: int, *, weights=None) -> float:
    """Bound how often any attacker guesses one of n words from all that are released at epsilon: B_{n,epsilon}.

    For every source of documents, V(X_i | Y_1..Y_n) <= min over epsilon' of delta + (1 - delta) F(Pr(X_i)), F the
    `sharp_success` at epsilon' and delta the `composed_delta` of it. It is at most `sharp_success` at n epsilon,
    which no source attains for two words or more where it is above V(X). It holds where *all* words go through
    plain epsilon-DP: no groups, and no word that is released as it is.

    The attacker knows the number of words and the place that is guessed, so the prior is that of the word *at its
    place*. For several places the bound is the mean of their bounds. Frequencies pooled over places give no bound:
    B is not convex, and the mean may lie above or below B of the pooled prior.

    Args:
        prior: `Prior` or probabilities of the word at the place that is guessed; or a list of them, one a place.
        epsilon: of each released word, at least 0.
        n: released words that may depend on it, itself among them; at least 1.
        weights: how often each place is guessed; None is evenly.

    >>> round(composed_success([0.5, 0.25, 0.25], 0.1, 20), 4)
    0.5082
    >>> composed_success([[1.0, 0.0], [0.0, 1.0]], 0.0, 2)  # every text is "a b": the place names the word
    1.0
    """
    first = [] if hasattr(prior, "probabilities") else prior[:1]
    several = any(hasattr(place, "probabilities") or np.ndim(place) for place in first)
    places = [sorted_mass(prior_probabilities(place)) for place in (prior if several else [prior])]
    if weights is not None and len(weights) != len(places):
        raise ValueError(f"weights: {len(weights)} for {len(places)} places; pass one a place")
    grid, deltas = _divergences(epsilon, n)
    bounds = [_least(deltas, np.array([largest_share(mass, e) for e in grid])) for mass in places]
    return float(np.average(bounds, weights=weights))


def composed_uniform_success(words: int, epsilon: float, n: int) -> float:
    """Compute `composed_success` of so many equally likely words (or documents, that n words are released of).

    >>> round(composed_uniform_success(4, 1.0, 3), 9) == round(composed_success([0.25] * 4, 1.0, 3), 9)
    True
    """
    share = 1 / checks.whole("words", words, low=1)
    grid, deltas = _divergences(epsilon, n)
    return _least(deltas, np.array([best_guess(e, share) for e in grid]))


def _divergences(epsilon: float, n: int) -> tuple[list[float], np.ndarray]:
    """Some values of epsilon', and delta at each: any gives a bound, so that a grid errs on the safe side."""
    epsilon, n = checks.epsilon(epsilon), checks.whole("n", n, low=1)
    kinks = epsilon * np.arange(n, -1, -2)  # delta has its kinks at n, n - 2, ... epsilon
    grid = np.unique(np.concatenate([kinks[kinks >= 0], np.linspace(0.0, n * epsilon, _STEPS)]))
    return grid.tolist(), composed_delta(epsilon, n, grid)


def _least(deltas: np.ndarray, sharp: np.ndarray) -> float:
    """The least bound over epsilon', from the sharp success at each."""
    return float(min((deltas + (1 - deltas) * sharp).min(), 1.0))
