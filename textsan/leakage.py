"""How much a channel gives away: Bayes vulnerability, entropies, min-entropy leakage.

Pure functions of a prior and a channel. A prior is a `Prior`, or an array in the order of the channel's inputs.
"""

import numpy as np
from scipy import special

from textsan.channel import Channel, map_blocks
from textsan.priors import Prior


def prior_vulnerability(prior) -> float:
    """V(X) = max_x Pr(x): the success rate of the best guess made blindly.

    >>> prior_vulnerability([0.25, 0.75])
    0.75
    """
    return float(_probabilities(prior).max())


def bayes_vulnerability(prior, channel: Channel) -> float:
    """V(X | Y) = sum_y max_x Pr(x) Pr(y | x): the success rate of the best guess from the output.

    The expectation of Tong et al. 2024, Definition 1 (Context-free ASR bound), when `prior` is the prior of the
    text under attack.

    Args:
        prior: `Prior`, or (n_in,) probabilities.
        channel: Pr(y | x).

    Raises:
        ValueError: the prior ranges over other words than the channel.

    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> bayes_vulnerability([0.25, 0.75], identity)
    1.0
    """
    log_prior = _log(_probabilities(prior, channel))
    _, best = channel.best_inputs(log_prior)
    return float(np.exp(best[:, 0]).sum())


def min_entropy_leakage(prior, channel: Channel) -> float:
    """log2 V(X | Y) - log2 V(X), in bits (Smith 2009).

    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> min_entropy_leakage([0.5, 0.5], identity)
    1.0
    """
    return float(np.log2(bayes_vulnerability(prior, channel)) - np.log2(prior_vulnerability(prior)))


def entropy(prior) -> float:
    """H(X) = - sum_x Pr(x) log2 Pr(x), in bits.

    >>> entropy([0.5, 0.5])
    1.0
    """
    p = _probabilities(prior)
    return float(special.entr(p).sum() / np.log(2))


def conditional_entropy(prior, channel: Channel) -> float:
    """H(X | Y) = H(X) + H(Y | X) - H(Y), in bits: the uncertainty that the output leaves.

    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> conditional_entropy([0.25, 0.75], identity)
    0.0
    """
    p = _probabilities(prior, channel)
    inputs = np.flatnonzero(p)

    def block(numbers):
        rows = channel.rows(numbers)
        noise = special.entr(rows).sum(axis=1) / np.log(2)
        return p[numbers] @ rows, p[numbers] @ noise

    marginals, noises = zip(*map_blocks(block, inputs), strict=True)
    marginal = np.sum(marginals, axis=0)
    return max(0.0, entropy(p) + sum(noises) - entropy(marginal / marginal.sum()))


def _probabilities(prior, channel: Channel | None = None) -> np.ndarray:
    if not isinstance(prior, Prior):
        array = np.asarray(prior, dtype=np.float64)
        prior = Prior(range(len(array)) if channel is None else channel.inputs, array)
    return prior.probabilities if channel is None else prior.aligned(channel.inputs)


def _log(probabilities: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
