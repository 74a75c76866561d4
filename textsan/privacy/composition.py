"""What a number of released words promises together about one of them: the composition certificate.

Every word of a document goes through plain epsilon-DP, and the words may hang together in any way. Then all
released words together are one release of the word that is guessed, and its guarantee composes (Kairouz, Oh and
Viswanath 2015).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from textsan.base import checks
from textsan.privacy.sharp_bounds import best_guess, sharp_success

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


def composed_success(prior, epsilon: float, n: int) -> float:
    """What n released words at epsilon promise about one of them, whatever the language: B_{n,epsilon}.

    For every source of documents, V(X_i | Y_1..Y_n) <= min over epsilon' of delta + (1 - delta) F(Pr(X_i)), F the
    `sharp_success` at epsilon' and delta the `composed_delta` of it. At most `sharp_success` at n epsilon, which
    no source attains for two words or more where it is above V(X). It holds where *all* words go through plain
    epsilon-DP: no groups,
    and no word that is released as it is. The attacker is told the number of words.

    Args:
        prior: `Prior` or probabilities of the word that is guessed.
        epsilon: of each released word, at least 0.
        n: released words that may depend on it, itself among them; at least 1.

    Returns:
        the bound, from V(X) to 1.

    Raises:
        ValueError: probabilities that are negative or do not sum to one; n below 1.

    >>> round(composed_success([0.5, 0.5], 1.0, 1), 4) == round(sharp_success([0.5, 0.5], 1.0), 4)
    True
    >>> round(composed_success([0.5, 0.25, 0.25], 0.1, 20), 4), round(sharp_success([0.5, 0.25, 0.25], 2.0), 4)
    (0.5082, 0.787)
    """
    return _composed(partial(sharp_success, prior), epsilon, n)


def composed_uniform_success(words: int, epsilon: float, n: int) -> float:
    """`composed_success` of so many equally likely words (or documents, that n words are released of).

    Args:
        words: how many, at least 1; a thousand million are no more work than two.
        epsilon, n: as of `composed_success`.

    >>> round(composed_uniform_success(4, 1.0, 3), 9) == round(composed_success([0.25] * 4, 1.0, 3), 9)
    True
    """
    share = 1 / checks.whole("words", words, low=1)
    return _composed(lambda one: best_guess(one, share), epsilon, n)


def _composed(sharp: Callable[[float], float], epsilon: float, n: int) -> float:
    """The least bound over epsilon', from the sharp success at each."""
    epsilon, n = checks.epsilon(epsilon), checks.whole("n", n, low=1)
    # Any epsilon' gives a bound: a grid errs on the safe side. Delta has its kinks at n, n - 2, ... epsilon.
    kinks = epsilon * np.arange(n, -1, -2)
    grid = np.unique(np.concatenate([kinks[kinks >= 0], np.linspace(0.0, n * epsilon, _STEPS)]))
    deltas = composed_delta(epsilon, n, grid)
    best = np.array([sharp(float(one)) for one in grid])
    return float(min((deltas + (1 - deltas) * best).min(), 1.0))
