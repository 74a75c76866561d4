"""What a guarantee alone promises about an attacker's success: the sharp bounds, and the epsilon they ask for.

Bayes vulnerability is the success rate of the best guess from one released word. Of all channels that satisfy a
definition with some epsilon, how large can it be? For epsilon-DP the answer is a formula, for metric DP a
linear programme, of which every feasible dual point is a bound.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from textsan.channel.distances import ScaledDistances
from textsan.text import checks
from textsan.text.blocks import BLOCK
from textsan.text.embeddings import Embeddings

_EXACT = 400  # words up to which the linear programme is solved
_SWEEPS = 2000  # of coordinate descent, at most


def sharp_success(prior, epsilon: float) -> float:
    """The largest Bayes vulnerability of any epsilon-DP channel: max_m e^epsilon Pi_m / (e^epsilon - 1 + m).

    Pi_m is the sum of the m largest probabilities. Attained by randomised response on the m likeliest words, all
    others released as a uniform draw of them. It is one minus the least Hamming distortion under epsilon-DP
    (Kalantari, Sankar and Sarwate 2018).

    Args:
        prior: `Prior`, or probabilities in any order.
        epsilon: at least 0; infinity gives 1.

    Raises:
        ValueError: probabilities that are negative or do not sum to one.

    >>> round(sharp_success([0.5, 0.25, 0.25], 1.0), 4)
    0.5761
    """
    mass = np.cumsum(_descending(prior))
    if math.isinf(epsilon) and epsilon > 0:
        return 1.0
    epsilon = checks.epsilon(epsilon)
    m = np.arange(1, len(mass) + 1)
    # Multiplied out by e^-epsilon, so that no epsilon overflows.
    return float(min((mass / (1 + (m - 1) * math.exp(-epsilon))).max(), 1.0))


def sharp_epsilon(prior, success: float) -> float:
    """The largest epsilon at which no epsilon-DP channel lets the best guess succeed more often than `success`.

    The inverse of `sharp_success`: log min_m success (m - 1) / (Pi_m - success) over Pi_m > success.

    Args:
        prior: `Prior`, or probabilities in any order.
        success: from the largest probability, below which no epsilon leads, to 1.

    Returns:
        epsilon; infinity at a success of 1.

    Raises:
        ValueError: a success below that of the best blind guess.

    >>> round(sharp_epsilon([0.5, 0.25, 0.25], sharp_success([0.5, 0.25, 0.25], 1.0)), 6)
    1.0
    """
    largest = _descending(prior)
    success = checks.number("success", success, 0, 1)
    if success < largest[0] - 1e-12:
        raise ValueError(f"success: {success:g} is below the best blind guess, {largest[0]:g}; pass more")
    mass = np.cumsum(largest)
    m = np.flatnonzero(mass > success + 1e-15) + 1
    if not len(m):
        return math.inf
    return float(max(0.0, math.log(max((success * (m - 1) / (mass[m - 1] - success)).min(), 1.0))))


class MetricBound(NamedTuple):
    """A bound on Bayes vulnerability, and what proves it.

    Attributes:
        value: no channel of the guarantee has a larger Bayes vulnerability.
        dual: (n,) numbers of at least 0 whose sum is the value, with sum_x' exp(-epsilon d(x, x')) dual_x' at
            least Pr(x) for every x.
    """

    value: float
    dual: np.ndarray


def metric_success(prior, distances, epsilon: float) -> MetricBound:
    """A bound on the Bayes vulnerability of any epsilon-metric-DP channel, with its certificate.

    V <= max {sum_x Pr(x) a_x : a >= 0, sum_x exp(-epsilon d(x, x')) a_x <= 1 for every x'}, because outputs may
    be merged by the word that they make the attacker guess, and Pr(x | x') >= exp(-epsilon d(x, x')) Pr(x | x).
    Any feasible dual point gives a bound. Up to 400 words the programme is solved by HiGHS; above, the dual
    point minimises dual' K dual / 2 - prior' dual, whose optimality condition is feasibility, by
    coordinate descent, and is then scaled to be feasible in spite of rounding. Needs neither symmetry nor triangle
    inequality, and is not attained in general.

    Args:
        prior: `Prior`, or (n,) probabilities in the order of the words.
        distances: (n, n) array d(x, x'), or `Embeddings` whose Euclidean distances count.
        epsilon: privacy parameter per unit of distance, at least 0.

    Raises:
        ValueError: distances that do not fit.

    >>> metric_success([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], epsilon=0.0).value
    0.5
    """
    p = _probabilities(prior)
    kernel = _kernel(distances, checks.epsilon(epsilon), len(p))
    dual = _solved(p, kernel) if len(p) <= _EXACT else _descended(p, kernel)
    reached = kernel @ dual
    inside = p > 0
    dual = dual * max(1.0, float((p[inside] / reached[inside]).max()))
    return MetricBound(min(float(dual.sum()), 1.0), dual)


def _kernel(distances, epsilon: float, n: int) -> np.ndarray:
    """exp(-epsilon d), (n, n)."""
    if isinstance(distances, Embeddings):
        if len(distances) != n:
            raise ValueError(f"distances: vectors of {len(distances)} words for {n} probabilities; restrict them")
        scaled = ScaledDistances(distances.vectors, distances.vectors, scale=epsilon)
        blocks = (np.arange(n)[at : at + BLOCK] for at in range(0, n, BLOCK))
        return np.exp(-np.concatenate([scaled.block(rows, height=BLOCK) for rows in blocks]))
    table = np.asarray(distances, dtype=np.float64)
    if table.shape != (n, n) or not (table >= 0).all():
        raise ValueError(f"distances: shape {table.shape}; pass {n} rows and columns of at least 0")
    return np.exp(-epsilon * table)


def _solved(p: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The optimal dual point: minimise its sum over dual >= 0 with kernel @ dual >= p."""
    found = linprog(np.ones(len(p)), A_ub=-kernel, b_ub=-p, bounds=(0, None), method="highs")
    if not found.success:
        raise ValueError(f"distances: the linear programme has no solution ({found.message})")
    return np.maximum(found.x, 0.0)


def _descended(p: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Coordinate descent on dual' K dual / 2 - p' dual over dual >= 0; K has ones on its diagonal."""
    dual, reached = np.zeros(len(p)), np.zeros(len(p))
    for _ in range(_SWEEPS):
        moved = 0.0
        for x in np.flatnonzero((dual > 0) | (p > reached)):
            step = max(p[x] - reached[x], -dual[x])
            dual[x] += step
            reached += step * kernel[:, x]
            moved = max(moved, abs(step))
        if moved < 1e-6 * p.max():
            break
    return dual


def _descending(prior) -> np.ndarray:
    return np.sort(_probabilities(prior))[::-1]


def _probabilities(prior) -> np.ndarray:
    return checks.probabilities("prior", getattr(prior, "probabilities", prior))
