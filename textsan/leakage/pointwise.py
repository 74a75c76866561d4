"""Pointwise maximal leakage of one released word (Saeidian et al. 2023; Issa et al. 2020).

Seeing y raises the chance of any guess, about the word or about anything that was computed of it, by a factor of
at most exp(leakage of y). It is a property of what was released, not of a rule, and says nothing of chances that
fall.
"""

import numpy as np

from textsan.base.listed import Listed
from textsan.channel import Channel


def pointwise_leakage(prior, channel: Channel, outputs: Listed | None = None) -> np.ndarray:
    """log max_x Pr(y | x) / Pr(y) over the words x of positive prior: what each released word gives away, in nats.

    The mean of its exponential over Pr(y) is sum_y max_x Pr(y | x), the exponential of maximal leakage. It is at
    most epsilon under epsilon-DP, and at most log 1 / min_x Pr(x) always.

    Args:
        outputs: words or column numbers that can be released; None is all outputs.

    Returns:
        (n outputs,) numbers of at least 0; nan for a word that no word of the prior becomes.

    >>> channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["u", "v"])
    >>> np.exp(pointwise_leakage([0.5, 0.5], channel)).round(3)
    array([1.5, 1.5])
    """
    p = channel.exact("pointwise leakage").prior_array(prior)
    with np.errstate(divide="ignore"):
        marginal = channel.log_marginal(np.log(p), outputs)
    _, largest = channel.best_inputs(np.where(p > 0, 0.0, -np.inf), outputs)
    possible = marginal > -np.inf
    return np.where(possible, np.maximum(largest[:, 0] - np.where(possible, marginal, 0.0), 0.0), np.nan)
