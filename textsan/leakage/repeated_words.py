"""Words that stand at several places: fresh noise at each, or one draw for all (`mechanisms.Memoized`).

Fresh noise can be averaged by whoever knows which places hold the same word. One draw for all cannot, but shows
which places are the same, and so how often a word stands in the text. Three facts order them, for any source of
texts and any word in it:

    V(one word alone)  <=  V(one draw, whole release)  <=  V(fresh noise, whole release, told which words repeat).

The first holds since the word's own replacement is in the release. The second since a release by one draw is one
by fresh noise of which all but the first draw of each word are forgotten, with what is told. Without what is told
neither fresh noise nor one draw gives away less for all sources: where words are independent fresh noise does, as
there a place tells of itself alone, and where each word is written twice in a row one draw does.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
import scipy

from textsan.base import checks
from textsan.channel import Channel
from textsan.leakage.vulnerability import bayes_vulnerability

_LARGEST = 2_000_000  # entries: multisets of outputs times inputs
_NEGLIGIBLE = 1e-15  # of the mass of counts, where it ends


def repeated_vulnerability(prior, channel: Channel, k: int) -> float:
    """sum over y_1..y_k of max_x Pr(x) prod_i Pr(y_i | x): the best guess of a word from k fresh draws.

    It is the attacker who knows that k places hold the same word, and takes nothing from there being k. At k = 1
    it is `bayes_vulnerability`, and it never falls with k. One draw for all places stays at k = 1.

    Raises:
        ValueError: the multisets of k outputs are too many to go through.

    >>> noisy = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs="ab", outputs="ab")
    >>> round(repeated_vulnerability([0.5, 0.5], noisy, 3), 6)  # two or three of three right
    0.84375
    """
    p, k = channel.exact("repeated vulnerability").prior_array(prior), checks.whole("k", k, low=1)
    inputs = np.flatnonzero(p)
    rows = channel.rows(inputs)
    rows = rows[:, rows.any(axis=0)]
    multisets = math.comb(rows.shape[1] + k - 1, k)
    if multisets * len(inputs) > _LARGEST:
        raise ValueError(f"k: {k} draws are {multisets:,} multisets of outputs; pass fewer words, or a smaller k")
    drawn = np.array(list(combinations_with_replacement(range(rows.shape[1]), k)))
    counts = (drawn[:, :, None] == np.arange(rows.shape[1])).sum(axis=1)
    orders = np.exp(math.lgamma(k + 1) - scipy.special.gammaln(counts + 1).sum(axis=1))
    return min(1.0, float(orders @ (p[inputs, None] * rows[:, drawn].prod(axis=2)).max(axis=0)))


def counted_vulnerability(prior, channel: Channel, n: int) -> float:
    """sum over y, c of max_x Pr(x) Pr(y | x) Binomial(c - 1; n - 1, Pr(x)): a best guess by a draw and a count.

    Of n independent words one is guessed, from its replacement and from the number c of places that hold it. The
    count is that of the word: where two words have the same replacement their places are told apart. For a whole
    release this is neither above nor below what can be had. There such words are not told apart, and what the
    counts of the others say is added: no two of them are the same word.

    Args:
        n: words of the text, at least 1; at 1 this is `bayes_vulnerability`.

    >>> blind = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs="ab", outputs="ab")
    >>> round(counted_vulnerability([0.75, 0.25], blind, 3), 6)  # that stands once is guessed to be b
    0.84375
    """
    p, n = channel.prior_array(prior), checks.whole("n", n, low=1)
    total, left = 0.0, 1.0
    for others in range(n):
        joint = p * scipy.stats.binom.pmf(others, n - 1, p)
        if mass := joint.sum():
            total += mass * bayes_vulnerability(joint / mass, channel)
        left -= mass
        if left < _NEGLIGIBLE * n and others > (n - 1) * p.max():
            break
    return min(1.0, float(total))
