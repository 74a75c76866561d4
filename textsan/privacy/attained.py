"""A channel that gives away nearly all that a metric guarantee permits."""

from typing import NamedTuple

import numpy as np
import scipy

from textsan.base import checks
from textsan.privacy.sharp_bounds import metric_kernel, prior_probabilities

_NEAR = 20  # nearest words whose constraints the programme begins with
_SLACK = 1e-9  # a constraint that is missed by less counts as kept; what is missed is repaired afterwards


class Attained(NamedTuple):
    """A channel of a guarantee, and its Bayes vulnerability.

    Attributes:
        value: V(X | Y) of the channel; some channel of the guarantee has that much.
        matrix: (n, m + 1) Pr(y | x): m words that make an attacker guess them, and one output that says little.
    """

    value: float
    matrix: np.ndarray


def attained_metric_success(prior, distances, epsilon: float, *, guesses: int | None = None) -> Attained:
    """Make a channel of epsilon-metric DP that gives away much: an end below `metric_success`, which is above.

    Pr(y | x) = a_y exp(-epsilon d(x, y)) keeps the guarantee for each y, by the triangle inequality; what is
    missing to one goes to one further output r, of which r_x <= exp(epsilon d(x, x')) r_x' is asked. The weights
    a >= 0 with the largest sum of Pr(y) a_y solve a linear programme; constraints are added as they are missed.

    Args:
        distances: (n, n) array d(x, x'), or `Embeddings` whose Euclidean distances count; a metric.
        epsilon: privacy parameter per unit of distance, above 0.
        guesses: so many of the likeliest words can be released, m; None is all. Fewer are faster, and give less
            away.

    >>> found = attained_metric_success([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], epsilon=1.0)
    >>> round(found.value, 4), found.matrix.sum(axis=1)
    (0.7311, array([1., 1.]))
    """
    p = prior_probabilities(prior)
    kernel = metric_kernel(distances, checks.epsilon(epsilon), len(p))
    likeliest = np.argsort(-p, kind="stable")[
        : len(p) if guesses is None else checks.whole("guesses", guesses, low=1)
    ]
    near = np.argsort(-kernel, axis=1, kind="stable")[:, : _NEAR + 1]
    asked = np.zeros(kernel.shape, dtype=bool)
    np.put_along_axis(asked, near, True, axis=1)
    while True:
        np.fill_diagonal(asked, False)
        weights = _weights(p, kernel, likeliest, *np.nonzero(asked))
        rest = np.maximum(1 - kernel[:, likeliest] @ weights, 0.0)
        missed = rest[:, None] * kernel - rest
        if missed.max() <= _SLACK:
            break
        worst = min(4 * len(p), missed.size)
        asked |= missed >= np.partition(missed, -worst, axis=None)[-worst]
    # A constant added to the last output makes up for what the solver has missed.
    ratio = np.max(missed / np.maximum(1 - kernel, _SLACK))
    share = max(ratio, 0.0) / (1 + max(ratio, 0.0))
    matrix = np.column_stack([kernel[:, likeliest] * weights * (1 - share), share + (1 - share) * rest])
    matrix /= matrix.sum(axis=1, keepdims=True)
    return Attained(float((p[:, None] * matrix).max(axis=0).sum()), matrix)


def _weights(p, kernel, likeliest, x, other) -> np.ndarray:
    """The weights a of the programme with the constraints r_x kernel <= r_other of some pairs."""
    n, m, pairs = len(p), len(likeliest), len(x)
    entries = np.concatenate([kernel[x, other], -np.ones(pairs)])
    rows, columns = np.tile(np.arange(pairs), 2), m + np.concatenate([x, other])
    steps = scipy.sparse.coo_array((entries, (rows, columns)), shape=(pairs, m + n)).tocsr()
    sums = np.hstack([kernel[:, likeliest], np.eye(n)])
    gain = -np.concatenate([p[likeliest], np.zeros(n)])
    given = {"A_ub": steps, "b_ub": np.zeros(pairs), "A_eq": sums, "b_eq": np.ones(n)}
    found = scipy.optimize.linprog(gain, **given, method="highs-ipm")
    if not found.success:
        raise ValueError(f"distances: the linear programme has no solution ({found.message})")
    return np.maximum(found.x[:m], 0.0)
