"""The learning curve of the context-free attack: its expected success after a shadow text of n tokens, exactly.

The attacker counts words in n tokens of its own, adds a constant, and guesses the x of largest
(N_x + c) Pr(y | x). If the tokens are independent draws and n is a Poisson variable, the counts N_x are
independent Poisson variables of mean n Pr(x), and the distribution of the guess is a sum: nothing is simulated.
"""

from collections.abc import Sequence

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.blocks import map_blocks
from textsan.channel import Channel

_TAIL = 1e-15  # counts that are less probable on either side are left out


def learning_curve(channel: Channel, true, sizes: Sequence[float], *, pseudo_count: float = 1.0) -> np.ndarray:
    """Compute the expected success rate of the context-free attack by the size of its shadow text, (len(sizes),).

    E = sum_y sum_x Pr(x) Pr(y | x) sum_k Pr(N_x = k) prod_{z != x} Pr((N_z + c) Pr(y | z) < (k + c) Pr(y | x)),
    with "at most" for z after x in the order of the inputs, which decides ties. The attack is
    `attacks.ContextFreeBayes` with a constant of c / alpha, c the pseudo-count; where nothing seen explains y (c =
    0), it guesses y. Sizes are expected numbers of shadow tokens that are words under attack, and `true` is the
    prior of both texts.
    """
    channel = channel.exact("a learning curve")
    true = channel.prior_array(true)
    constant = checks.number("pseudo_count", pseudo_count, low=0)
    counts = [_Counts(checks.number("sizes", size, low=0) * true, constant) for size in sizes]
    reached = np.arange(channel.shape[1])
    row = [channel.input_index.get(word, -1) for word in channel.outputs]

    def block(columns):
        success = np.zeros(len(counts))
        for log_column, y in zip(channel.log_columns(columns), columns, strict=True):
            joint = true * np.exp(log_column)
            if joint.any():
                success += [_hits(count, log_column, joint, row[y]) for count in counts]
        return success

    return np.sum(list(map_blocks(block, reached)), axis=0)


class _Counts:
    """The counts that each word may have, in a line: all of the first word, then of the second.

    `starts` and `number` (words,) say where the counts of each word begin, and how many there are; of each count
    (atoms,) the row number of its word and log(count + c), log Pr(N = k), log Pr(N <= k) and log Pr(N < k), -inf
    at the least count.
    """

    def __init__(self, means: np.ndarray, constant: float):
        low = np.maximum(scipy.stats.poisson.ppf(_TAIL, means), 0).astype(int)
        high = np.maximum(scipy.stats.poisson.isf(_TAIL, means), low).astype(int)
        number = high - low + 1
        self.words = np.repeat(np.arange(len(means)), number)
        starts = np.cumsum(number) - number
        k = np.arange(number.sum()) - np.repeat(starts - low, number)
        mean = means[self.words]
        self.log_mass = scipy.stats.poisson.logpmf(k, mean)
        self.log_upto = scipy.stats.poisson.logcdf(k, mean)
        self.log_below = np.concatenate([[-np.inf], self.log_upto[:-1]])
        self.log_below[starts] = -np.inf
        self.starts, self.number = starts, number
        with np.errstate(divide="ignore"):
            self.log_weights = np.log(k + constant)


def _hits(counts: _Counts, log_column: np.ndarray, joint: np.ndarray, own: int) -> float:
    """sum_x Pr(x, y) Pr(x is the guess), y one output."""
    possible = np.flatnonzero(log_column > -np.inf)
    number = counts.number[possible]
    first = np.cumsum(number) - number
    atoms = np.arange(number.sum()) + np.repeat(counts.starts[possible] - first, number)
    score = counts.log_weights[atoms] + log_column[counts.words[atoms]]
    # The largest of the least scores is always reached: what lies below it never wins.
    above = score >= score[first].max()
    kept, score = atoms[above], score[above]
    words = counts.words[kept]
    lowest = np.ones(len(kept), dtype=bool)
    lowest[1:] = words[1:] != words[:-1]
    before = counts.log_below[kept]
    started = np.where(lowest & (before > -np.inf), before, 0.0).sum()
    # Of equal scores the earlier word wins: it comes after the later ones.
    order = np.lexsort((-words, score))
    words, score, before, upto = words[order], score[order], before[order], counts.log_upto[kept][order]
    fresh = before == -np.inf  # a word's least count: until here it is below with probability 0
    waiting = fresh.sum() - np.cumsum(fresh)
    beaten = started + np.cumsum(np.where(fresh, upto, upto - np.where(fresh, 0.0, before)))
    wins = np.where(waiting == 0, np.exp(counts.log_mass[kept][order] + beaten - upto), 0.0)
    seen = score > -np.inf
    success = wins[seen] @ joint[words[seen]]
    if own >= 0:
        success += wins[~seen].sum() * joint[own]
    return float(success)
