"""Other gains than an exact guess: g-vulnerability, and its worst case, the deficiency of a channel.

An attacker may be content with a word near the true one, or care about some words only. A gain g(w, x), what
guess w is worth when x was there, says so (Alvim et al. 2012). How much more can *any* attacker, with any prior
and any gain from 0 to 1, have of one channel than of another? Exactly as much as the first fails to imitate the
other by more noise:

    max_{pi, g} V_g(other) - V_g(channel)  =  min_R max_x TV(Pr(. | x) of other, Pr(. | x) of channel, then R),

Le Cam's deficiency (1964), a linear programme. At zero the other channel is the first one and then more noise: it
gives away no more to anybody. That refinement is the only order of channels which holds for every prior and gain.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from textsan.base.blocks import map_blocks
from textsan.channel import Channel

_LARGEST = 100  # words or outputs of the programme, whose unknowns are pairs


def gain_vulnerability(prior, channel: Channel, gain) -> float:
    """V_g(X | Y) = sum_y max_w sum_x g(w, x) Pr(x) Pr(y | x): the expected gain of the best guess from the output.

    Alvim et al. 2012, g-leakage, Definition 3.3. With the identity as gain it is the Bayes vulnerability.

    Args:
        gain: (guesses, n_in) array or sparse array, what guess w is worth when x was there; no unit, finite.

    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> gain_vulnerability([0.25, 0.75], identity, [[1, 0], [0, 0.5]])
    0.625
    """
    channel = channel.exact("g-vulnerability")
    p, worth = channel.prior_array(prior), _gain(gain, channel)

    def block(outputs):
        joint = np.exp(channel.log_columns(outputs)) * p
        return (worth @ joint.T).max(axis=0).sum()

    return float(sum(map_blocks(block, np.arange(channel.shape[1]))))


@dataclass(frozen=True)
class Deficiency:
    """The largest excess gain of one channel over another, between two ends, with a case that shows it.

    Attributes:
        lower: the gain that is more in the case of `prior` and `gain`, from 0 to 1.
        upper: no prior and no gain from 0 to 1 has more: the distance that is left by the best imitation.
        prior: (n_in,) probabilities of the case.
        gain: (outputs, n_in) gain of the case: what it is worth to guess what an output stands for.
    """

    lower: float
    upper: float
    prior: np.ndarray
    gain: np.ndarray


def deficiency(channel: Channel, other: Channel) -> Deficiency:
    """max_{pi, g} V_g(other) - V_g(channel), gains from 0 to 1: what `other` gives away beyond `channel` at worst.

    Le Cam 1964, the deficiency of `channel` to `other`; zero if and only if `other` is `channel` and then more
    noise (Blackwell 1953). Both ends are computed anew from the solver's answer: they hold at any tolerance of it.

    Args:
        channel, other: channels of the same inputs, in the same order, of at most 100 words and outputs.

    >>> blind = Channel.from_matrix([[1.0], [1.0]], inputs=["a", "b"], outputs=["."])
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> round(deficiency(blind, identity).upper, 6), round(deficiency(identity, blind).upper, 6)
    (0.5, 0.0)
    """
    if channel.inputs != other.inputs:
        raise ValueError("other: its words are not those of the channel, in the same order")
    if max(*channel.shape, *other.shape) > _LARGEST:
        raise ValueError(
            f"channel: {max(*channel.shape, *other.shape)} words or outputs; the programme takes {_LARGEST}"
        )
    ours, theirs = (one.exact("deficiency").matrix() for one in (channel, other))
    noise, weights, excess = _imitated(ours, theirs)
    left = np.maximum(theirs - ours @ noise, 0.0).sum(axis=1).max()
    prior, gain = _case(weights, excess)
    more = gain_vulnerability(prior, other, gain) - gain_vulnerability(prior, channel, gain)
    return Deficiency(max(float(more), 0.0), float(left), prior, gain)


def _imitated(ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The noise R that brings ours nearest to theirs, and the dual point: of each word, of each word and output.

    Unknowns are R, the excess of theirs in each entry, and its largest sum over a word.
    """
    (n, m), k = ours.shape, theirs.shape[1]
    imitation = scipy.sparse.kron(ours, scipy.sparse.eye_array(k))
    entries = scipy.sparse.eye_array(n * k)
    sums = scipy.sparse.kron(scipy.sparse.eye_array(n), np.ones((1, k)))
    limits = [
        [-imitation, -entries, scipy.sparse.csr_array((n * k, 1))],
        [None, sums, scipy.sparse.csr_array(-np.ones((n, 1)))],
    ]
    rows = scipy.sparse.kron(scipy.sparse.eye_array(m), np.ones((1, k)))
    given = {
        "A_ub": scipy.sparse.block_array(limits).tocsr(),
        "b_ub": np.append(-theirs.ravel(), np.zeros(n)),
        "A_eq": scipy.sparse.hstack([rows, scipy.sparse.csr_array((m, n * k + 1))]).tocsr(),
        "b_eq": np.ones(m),
    }
    cost = np.append(np.zeros(m * k + n * k), 1.0)
    found = scipy.optimize.linprog(cost, **given, method="highs")
    if not found.success:
        raise ValueError(f"channel: HiGHS, the solver, finds no imitation ({found.message})")
    noise = np.maximum(found.x[: m * k].reshape(m, k), 0.0)
    dual = np.maximum(-found.ineqlin.marginals, 0.0)
    return noise / noise.sum(axis=1, keepdims=True), dual[n * k :], dual[: n * k].reshape(n, k)


def _case(weights: np.ndarray, excess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Prior and gain from the dual point: its weights are the prior, excess over weight the gain."""
    prior = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    gain = np.divide(excess, weights[:, None], out=np.zeros_like(excess), where=weights[:, None] > 1e-12)
    return prior, np.clip(gain, 0.0, 1.0).T


def _gain(gain, channel: Channel):
    worth = gain if scipy.sparse.issparse(gain) else np.asarray(gain, dtype=np.float64)
    n = channel.shape[0]
    if worth.ndim != 2 or worth.shape[1] != n or not worth.shape[0]:
        raise ValueError(f"gain: shape {worth.shape}; pass one row a guess, of one number a word, {n}")
    if not np.isfinite(worth.data if scipy.sparse.issparse(worth) else worth).all():
        raise ValueError("gain: an entry is not a finite number")
    return worth
