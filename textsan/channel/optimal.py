"""Optimal channels: the least expected loss under epsilon-DP, by a linear programme whose answer is made exact.

A solver keeps its constraints to a tolerance, and a guarantee has none. So what it returns is repaired in closed
form.
"""

import numpy as np
import scipy

from textsan.base import checks

_LARGEST = 20.0  # epsilon that a programme is given at most: exp(-20) is the least that a solver tells from 0
_STILL_A_NUMBER = 700.0  # epsilon whose exp(-epsilon) is far from what a double rounds to 0
_BELOW = 1e-9  # by how much the programme's epsilon is smaller, so that rounding does not pass the claim


def private_channel(prior, losses, epsilon: float, *, price: float = 0.0, joints=None) -> np.ndarray:
    """Compute the epsilon-DP channel of least expected loss, (n, m): two rows within exp(epsilon) of each other.

    Minimises sum_x Pr(x) sum_y P(y | x) loss(x, y) + price V(X | Y), V the Bayes vulnerability, over P with
    l_y <= P(y | x) <= exp(epsilon) l_y for some l (3 n m rows and n m + 2 m unknowns). Without a price only l is
    kept and the rows are filled again, cheapest outputs first, between l_y and exp(epsilon) l_y: private by
    construction, and the best channel with that l. With a price the rows are mixed with uniform ones
    (`mixed_to_private`).

    Args:
        prior: (n,) weights of at least 0; they need not sum to one.
        losses: (n, m) of releasing y for x.
        epsilon: privacy parameter, at least 0; above 20 the channel is that of 20.
        price: of a unit of vulnerability, at least 0.
        joints: (c, n) weights of the words in each of c classes, if the guess knows the class: V is then
            sum_c sum_y max_x joints[c, x] P(y | x). None is one class, of the prior.

    >>> private_channel([0.5, 0.5], [[0, 1], [1, 0]], epsilon=np.log(3)).round(6)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    prior, losses = np.asarray(prior, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    joints = np.array([prior]) if joints is None else np.asarray(joints, dtype=np.float64)
    if not (np.isfinite(prior) & (prior >= 0)).all() or not price >= 0:
        raise ValueError("prior, price: a number is negative or missing; pass numbers of at least 0")
    total = prior.sum()
    prior, joints = (prior / total, joints / total) if total > 0 else (np.full(len(prior), 1 / len(prior)), joints)
    epsilon = checks.epsilon(epsilon)
    inner = max(min(epsilon, _LARGEST) - _BELOW, 0.0)
    matrix, most = _solved(prior, losses, np.exp(-inner), price, joints)
    if price > 0:
        return mixed_to_private(matrix, min(epsilon, _LARGEST))
    return _refilled(most, losses, np.exp(-inner))


def mixed_to_private(matrix: np.ndarray, epsilon: float) -> np.ndarray:
    """Make a channel near a given one epsilon-DP: (1 - theta) P + theta / m, with the least theta that does.

    With eta = max_y (max_x P(y | x) - exp(epsilon) min_x P(y | x))_+ and m outputs theta is eta m / (exp(epsilon)
    - 1 + eta m). The loss rises by at most theta times that of uniform rows; V(X | Y), which is convex, not above
    what it was, or the blind guess. To floor entries and to normalise rows again is not private.

    Args:
        matrix: (n, m) rows that sum to one.
        epsilon: above 0, or rows that agree; above 700 the channel is that of 700, for exp(-epsilon) is 0 from 746
            on, and with it the rows would be left as they are.

    >>> mixed_to_private(np.eye(2), np.log(3)).round(6)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    matrix = np.maximum(matrix, 0.0)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    m, small = matrix.shape[1], np.exp(-min(epsilon, _STILL_A_NUMBER))
    eta = max(float((small * matrix.max(axis=0) - matrix.min(axis=0)).max()), 0.0)  # times exp(-epsilon)
    theta = eta * m / (1 - small + eta * m) if eta else 0.0
    return (1 - theta) * matrix + theta / m


def _solved(prior, losses, ratio: float, price: float, joints) -> tuple[np.ndarray, np.ndarray]:
    """P, and the most that each output has from any input, as the solver has them; `ratio` is exp(-epsilon)."""
    n, m = losses.shape
    classes = joints if price > 0 else joints[:0]
    size, caps = n * m, (1 + len(classes)) * m
    entry, output = np.arange(size), np.tile(np.arange(m), n)
    each = scipy.sparse.eye_array(size)
    most = scipy.sparse.csr_array((np.ones(size), (entry, output)), shape=(size, caps))
    rows = [scipy.sparse.hstack([each, -most]), scipy.sparse.hstack([-each, ratio * most])]
    for i, weights in enumerate(classes, start=1):  # and what is guessed right at y no less than for each x
        likely = scipy.sparse.diags_array(np.repeat(weights, m))
        guess = scipy.sparse.csr_array((np.ones(size), (entry, i * m + output)), shape=(size, caps))
        rows.append(scipy.sparse.hstack([likely, -guess]))
    sums = scipy.sparse.csr_array((np.ones(size), (np.repeat(np.arange(n), m), entry)), shape=(n, size + caps))
    cost = np.concatenate([(prior[:, None] * losses).ravel(), np.zeros(m), np.full(caps - m, price)])
    limits = scipy.sparse.vstack(rows).tocsr()
    given = {"A_ub": limits, "b_ub": np.zeros(limits.shape[0]), "A_eq": sums, "b_eq": np.ones(n)}
    found = scipy.optimize.linprog(cost, **given, method="highs")
    if not found.success:
        raise ValueError(f"losses: HiGHS, the solver, finds no channel ({found.message})")
    return np.maximum(found.x[:size].reshape(n, m), 0.0), np.maximum(found.x[size : size + m], 0.0)


def _refilled(most: np.ndarray, losses: np.ndarray, ratio: float) -> np.ndarray:
    """Each row with ratio * most_y on every output, and the rest on the cheapest up to most_y."""
    most = most * max(1.0, 1.0 / most.sum())
    most = most / max(1.0, ratio * most.sum())
    order = np.argsort(losses, axis=1, kind="stable")
    room = (most - ratio * most)[order]
    before = np.cumsum(room, axis=1) - room
    filled = np.clip(1.0 - ratio * most.sum() - before, 0.0, room)
    matrix = np.empty(losses.shape)
    np.put_along_axis(matrix, order, filled, axis=1)
    return matrix + ratio * most
