"""What floating point does to a guarantee: lost support, and the delta of drawing with 53 random bits.

Log probabilities in float64 never lose support: log Pr(y | x) = -5,000 is an ordinary number. Probabilities do:
float64 represents none below 4.9e-324 (log -744.4), float32 none below 1.4e-45 (log -103.3), and a uniform variate
of 53 bits selects no output of less than about 1.1e-16 with the probability it should have.
"""

import numpy as np

from textsan.base.blocks import map_blocks
from textsan.channel import Channel
from textsan.text.embeddings import Embeddings

SMALLEST_DRAW = 2.0**-53  # step of the uniform variates that select outputs


def smallest_log_probability(channel: Channel) -> float:
    """The least log Pr(y | x) of the channel; -inf if an output cannot come from some input.

    >>> channel = Channel.from_matrix([[0.75, 0.25]], inputs=["a"], outputs=["u", "v"])
    >>> round(smallest_log_probability(channel), 3)
    -1.386
    """
    return float(min(map_blocks(lambda rows: channel.log_rows(rows).min(), np.arange(channel.shape[0]))))


def lost_support(channel: Channel, dtype=np.float64) -> int:
    """Number of pairs (x, y) with a positive probability that `dtype` rounds to 0.

    >>> tiny = Channel.from_matrix([[1.0, 1e-60]], inputs=["a"], outputs=["u", "v"])
    >>> lost_support(tiny, np.float32), lost_support(tiny, np.float64)
    (1, 0)
    """

    def block(rows):
        log_rows = channel.log_rows(rows)
        with np.errstate(under="ignore"):
            gone = np.exp(log_rows).astype(dtype) == 0
        return int((gone & (log_rows > -np.inf)).sum())

    return sum(map_blocks(block, np.arange(channel.shape[0])))


def undrawable_mass(channel: Channel) -> float:
    """Largest probability, over the inputs, that falls on outputs of less than 2^-53 each.

    >>> tiny = Channel.from_matrix([[1.0, 1e-60]], inputs=["a"], outputs=["u", "v"])
    >>> round(undrawable_mass(tiny) * 1e60, 6)
    1.0
    """

    def block(rows):
        probabilities = channel.rows(rows)
        return np.where(probabilities < SMALLEST_DRAW, probabilities, 0.0).sum(axis=1).max()

    return float(max(map_blocks(block, np.arange(channel.shape[0]))))


def sampling_delta(channel: Channel) -> float:
    """Bound on the total variation between a row and what 53-bit inversion draws from it: n_out 2^-52.

    Each output owns an interval of [0, 1). The number of multiples of 2^-53 in it is off by less than one, which
    costs n_out 2^-54 in all; rounding its length when partial sums are taken costs as much, and rounding their
    total at most n_out 2^-54 again. What is drawn satisfies the definition that the channel does with a further
    delta of at most (1 + exp(epsilon d)) times this. (Rounding of the weights themselves is relative, about 1e-13:
    it moves epsilon by as much, not delta.)

    >>> channel = Channel.from_matrix([[0.75, 0.25]], inputs=["a"], outputs=["u", "v"])
    >>> sampling_delta(channel)
    4.440892098500626e-16
    """
    return channel.shape[1] * 2 * SMALLEST_DRAW


def float32_santext(embeddings: Embeddings, epsilon: float) -> Channel:
    """SanText as published code computes it, by a softmax in float32: the counter-example.

    Words far enough from x underflow to probability 0, and with the support any finite epsilon is lost. Rows are
    normalised once more in float64, so that lost support is all that differs.

    >>> far = Embeddings(["a", "b"], [[0.0], [300.0]])
    >>> float32_santext(far, epsilon=1).matrix()
    array([[1., 0.],
           [0., 1.]])
    """
    scores = (-0.5 * epsilon * embeddings.distances(embeddings.words)).astype(np.float32)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    rows = weights / weights.sum(axis=1, keepdims=True)
    return Channel.from_matrix(rows, embeddings.words, embeddings.words)
