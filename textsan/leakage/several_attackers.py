"""The least expected distance when each of several attackers has a limit of his own.

One limit on V(X | Y) treats all words alike. An owner may want more: that of the words about illness at most 5 in
100 are guessed, say, beside a limit for all words together. Let a right guess of the word x be worth a_kx to
attacker k, whose success is then V_k = sum_y max_x a_kx Pr(x) Pr(y | x), a share of all words: with a = 1 for
illness the limit of that example is 0.05 times the probability of those words. With capacities
u_ky = max_x a_kx Pr(x) Pr(y | x) the least distance with V_k <= v_k for all k is a linear programme. It is solved
on few pairs of word and output, and for any distances t_x and any s_kxy >= 0 with
sum_k a_kx s_kxy >= t_x - d(x, y), every channel that keeps the limits has

    expected distance >= sum_x Pr(x) t_x - sum_k v_k max_y sum_x s_kxy:

the pairs that are not in the programme are added where this asks for them, until both ends are near.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from textsan.base import checks
from textsan.channel import Channel
from textsan.priors import Prior
from textsan.privacy.sharp_bounds import prior_probabilities

_LARGEST = 2000  # words or outputs
_NEAREST = 10  # outputs of a word in the first programme
_ROUNDS = 40  # of adding pairs
_EXACTLY = {"primal_feasibility_tolerance": 1e-10}  # HiGHS's own, 1e-7, is the probability of a rare word


@dataclass(frozen=True)
class JointFrontier:
    """The least expected distance at which several attackers keep their limits, between two ends.

    Attributes:
        lower: no channel within the limits has a smaller expected distance: the certificate.
        upper: the expected distance of `channel`.
        channel: Pr(y | x), within the limits to 1e-12 of each; it promises no epsilon.
        successes: (K,) of each attacker against `channel`.
        prices: (K,) by how much the certificate falls for a limit that is larger by one; 0 where a limit costs
            nothing.
    """

    lower: float
    upper: float
    channel: Channel
    successes: np.ndarray
    prices: np.ndarray


def joint_frontier(
    prior, distances, worth, limits: Sequence[float], *, outputs: Sequence[str] = (), gap: float = 0.005
) -> JointFrontier:
    """Compute the least expected distance of channels with sum_y max_x a_kx Pr(x) Pr(y | x) <= v_k for each k.

    With one attacker to whom all words are worth 1 it is `frontier`, which takes twenty thousand words; this one
    takes 2,000.

    Args:
        distances: (n, m) d(x, y) of words and outputs, at least 0.
        worth: (K, n) a_kx, what a right guess of a word is worth to each attacker; at least 0.
        limits: (K,) v_k, the largest success of each, counted over all words: for a share of the words that he
            counts pass it times sum_x a_kx Pr(x).
        outputs: names of the outputs; without, they are the words.
        gap: relative difference of the two ends at which to stop; after 40 rounds, or where no pair is left to
            add, they may be further apart.

    >>> far = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> found = joint_frontier([0.5, 0.25, 0.25], far, [[1, 1, 1], [0, 1, 1]], [1.0, 0.3])
    >>> round(found.upper, 6), found.successes.round(6).tolist()
    (0.2, [0.8, 0.3])
    """
    p = prior_probabilities(prior)
    words = list(prior.words) if isinstance(prior, Prior) else [str(x) for x in range(len(p))]
    far = _numbers("distances", distances, (len(p), len(outputs) or len(p)))
    a = _numbers("worth", worth, (len(limits), len(p)))
    if max(far.shape) > _LARGEST:
        raise ValueError(f"distances: {max(far.shape):,} words or outputs; pass at most {_LARGEST:,}")
    v, blind = np.array([checks.number("limits", one, low=0) for one in limits]), (a * p).max(axis=1)
    for k in np.flatnonzero(v < blind * (1 - 1e-12)):
        raise ValueError(f"limits: {v[k]:g} is below the blind guess of attacker {k}, {blind[k]:.6g}; pass more")
    gap, unit, scale = checks.number("gap", gap, low=0), np.where(blind > 0, blind, 1.0), float(far.max()) or 1.0
    a, v, far = a / unit[:, None], np.maximum(v, blind) / unit, far / scale  # the solver's tolerances are absolute
    home = int((p @ far).argmin())  # all words on one output keep every limit
    pairs = np.zeros(far.shape, dtype=bool)
    np.put_along_axis(pairs, np.argsort(far, axis=1, kind="stable")[:, :_NEAREST], True, axis=1)
    pairs[:, home] = True
    lower, prices, upper, best = -np.inf, np.zeros(len(v)), np.inf, np.eye(1)
    for _ in range(_ROUNDS):
        joint, t, shares = _solved(p, far, a, v, pairs)
        matrix = _within(joint, p, far, a, v, home)
        lost = float(p @ (matrix * far).sum(axis=1))
        if lost < upper:
            upper, best = lost, matrix
        own = shares.sum(axis=1).max(axis=1)  # prices of the programme that has these pairs alone
        shares = _completed(far, a, t, shares, own)
        sums = shares.sum(axis=1)
        bound = float(p @ t - v @ sums.max(axis=1))
        if bound > lower:
            lower, prices = bound, sums.max(axis=1)
        above = (sums > own[:, None] + 1e-9).any(axis=0)
        new = (t[:, None] > far) & above & ~pairs
        if upper - max(lower, 0.0) <= gap * upper or not new.any():
            break
        pairs |= new
    used = np.flatnonzero(best.any(axis=0))
    names = list(outputs) or words
    channel = Channel.from_matrix(best[:, used], words, [names[y] for y in used])
    lower = min(max(lower, 0.0), upper)
    return JointFrontier(
        lower * scale, upper * scale, channel, _successes(best, p, a) * unit, prices * scale / unit
    )


def _numbers(name: str, given, shape: tuple[int, int]) -> np.ndarray:
    found = np.asarray(given, dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name}: shape {found.shape}; pass one of {shape}")
    if not (np.isfinite(found) & (found >= 0)).all():
        x, y = np.argwhere(~(np.isfinite(found) & (found >= 0)))[0]
        raise ValueError(f"{name}: row {x}, column {y} is {found[x, y]}; pass numbers of at least 0")
    return found


def _successes(matrix: np.ndarray, p: np.ndarray, a: np.ndarray) -> np.ndarray:
    return np.array([((worth * p)[:, None] * matrix).max(axis=0).sum() for worth in a])


def _solved(p, far, a, v, pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The programme of some pairs: Pr(x, y), and the dual point t and s.

    Unknowns are Pr(x, y) of the pairs and the capacities u_ky.
    """
    (n, m), attackers = far.shape, len(v)
    x, y = np.nonzero(pairs)
    size = len(x)
    number, columns = np.arange(size), size + attackers * m
    k, pair = np.nonzero(a[:, x] > 0)
    row = np.arange(len(k))
    entries = np.concatenate([a[k, x[pair]], -np.ones(len(k)), np.ones(attackers * m)])
    below = len(k) + np.repeat(np.arange(attackers), m)
    where = (
        np.concatenate([row, row, below]),
        np.concatenate([pair, size + k * m + y[pair], size + np.arange(attackers * m)]),
    )
    limits = scipy.sparse.csr_array((entries, where), shape=(len(k) + attackers, columns))
    sums = scipy.sparse.csr_array((np.ones(size), (x, number)), shape=(n, columns))
    given = {"A_ub": limits, "b_ub": np.append(np.zeros(len(k)), v), "A_eq": sums, "b_eq": p}
    found = scipy.optimize.linprog(
        np.append(far[x, y], np.zeros(attackers * m)), **given, method="highs", options=_EXACTLY
    )
    if not found.success:
        raise ValueError(f"limits: HiGHS, the solver, finds no channel ({found.message})")
    joint, shares = np.zeros(far.shape), np.zeros((attackers, n, m))
    joint[x, y] = np.maximum(found.x[:size], 0.0)
    shares[k, x[pair], y[pair]] = np.maximum(-found.ineqlin.marginals[: len(k)], 0.0)
    return joint, found.eqlin.marginals, shares


def _within(joint, p, far, a, v, home: int) -> np.ndarray:
    """Pr(y | x) of what the solver gives, brought within the limits by one output for all where it is not."""
    matrix = np.zeros(far.shape)
    there = joint.sum(axis=1) > 0
    matrix[there] = joint[there] / joint[there].sum(axis=1, keepdims=True)
    used = np.flatnonzero(joint.any(axis=0))  # a word that never occurs has the nearest of these
    matrix[~there, used[far[np.ix_(~there, used)].argmin(axis=1)]] = 1.0
    success, blind = _successes(matrix, p, a), (a * p).max(axis=1)
    over = success > v * (1 + 1e-12)  # at the blind guess any mixture is that one output alone
    share = float(((success - v)[over] / (success - blind)[over]).max(initial=0.0))
    matrix *= 1 - share
    matrix[:, home] += share
    return matrix


def _completed(far, a, t, shares, prices) -> np.ndarray:
    """The shares s with what the pairs outside of the programme, and a solver's tolerance, lack; t may fall."""
    free = ~a.any(axis=0)  # words that nobody gains from: nothing may be charged for them
    t[free] = np.minimum(t[free], far[free].min(axis=1))
    lack = np.maximum(t[:, None] - far, 0.0) - np.einsum("kx,kxy->xy", a, shares)
    payer = np.lexsort((a, a * prices[:, None]), axis=0)[-1]  # to whom a word's share costs least of the price
    rows = np.flatnonzero(~free)
    shares[payer[rows], rows] += np.maximum(lack[rows], 0.0) / a[payer[rows], rows][:, None]
    return shares
