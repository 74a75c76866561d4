"""The delta that drawing with 53 random bits adds to a guarantee.

Log probabilities in float64 never lose support: log Pr(y | x) = -5,000 is an ordinary number. Probabilities do:
float64 represents none below 4.9e-324 (log -744.4), float32 none below 1.4e-45 (log -103.3), and a uniform variate
of 53 bits selects no output of less than about 1.1e-16 with the probability it should have.
"""

from textsan.channel import Channel

SMALLEST_DRAW = 2.0**-53  # step of the uniform variates that select outputs


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
