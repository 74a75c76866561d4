"""The sharp bounds: the most that a guarantee alone leaves to an attacker.

Bayes vulnerability is the success rate of the best guess from one released word. Of all channels that satisfy a
definition with some epsilon, how large can it be? For epsilon-DP the answer is a formula, for metric DP a
linear programme, of which every feasible dual point is a bound.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.blocks import BLOCK
from textsan.channel.distances import ScaledDistances
from textsan.text.embeddings import Embeddings

_EXACT = 400  # words up to which the linear programme is solved
_LARGEST = 16_384  # words whose distances are held at once: 2 GiB
_SWEEPS = 2000  # of coordinate descent, at most


def sharp_success(
    prior, epsilon: float, *, groups: Collection[Collection[int]] | None = None, outputs: int | None = None
) -> float:
    """The largest Bayes vulnerability of any epsilon-DP channel: max_m e^epsilon Pi_m / (e^epsilon - 1 + m).

    Pi_m is the sum of the m largest probabilities. Attained by randomised response on the m likeliest words, all
    others released as a uniform draw of them. It is one minus the least Hamming distortion under epsilon-DP
    (Kalantari, Sankar and Sarwate 2018). For DP within disjoint groups it is the sum of the same over the groups.
    With word frequencies of a whole text as the prior it bounds guesses from one released word by one rule for all
    places; for an attacker who also uses the place take the mean over places (`sharp_success_in_context`).

    Args:
        prior: `Prior`, or probabilities in any order.
        epsilon: at least 0; infinity gives 1.
        groups: disjoint sets of row numbers, for DP within groups only; a word of no group is one by itself. None
            is one group of all words.
        outputs: how many words can be released for a word (of a group): m goes no further. None is any number.

    >>> round(sharp_success([0.5, 0.25, 0.25], 1.0), 4)
    0.5761
    >>> round(sharp_success([0.5, 0.25, 0.25], 1.0, groups=[[0], [1, 2]]), 4)
    0.8655
    """
    p = prior_probabilities(prior)
    epsilon = epsilon if epsilon == math.inf else checks.epsilon(epsilon)
    most = len(p) if outputs is None else checks.whole("outputs", outputs, low=1)
    return float(min(sum(largest_share(sorted_mass(part)[:most], epsilon) for part in _parts(p, groups)), 1.0))


def best_guess(epsilon: float, prior: float = 0.5) -> float:
    """e^epsilon v / (1 + (e^epsilon - 1) v): to what an epsilon-DP release can raise a probability v, at most.

    Posterior odds are at most exp(epsilon) times prior odds. So it bounds how sure an attacker becomes that the
    input was x and not x', from Pr(x) = v. It also bounds the success rate of the best guess from a release
    and its context, where v is that of the best guess from the context alone (it is concave in v); with equal
    probabilities of 1 / v words it is attained.

    >>> round(best_guess(1.0), 3), round(best_guess(20.0), 9)
    (0.731, 0.999999998)
    """
    prior = checks.number("prior", prior, 0, 1)
    return prior / (prior + (1 - prior) * math.exp(-epsilon)) if prior else 0.0


def sharp_success_in_context(
    posteriors, epsilon: float, *, weights=None, groups: Collection[Collection[int]] | None = None
) -> float:
    """The most that an epsilon-DP release adds to context: the mean of `sharp_success` over what contexts leave.

    V(X | Y, C) <= E F(Pr(. | C)), F the `sharp_success` of a prior: given the context, the channel is the same.
    Without groups at most `best_guess(epsilon, V(X | C))`.

    Args:
        posteriors: (n contexts, n words) rows Pr(. | c).
        weights: (n contexts,) how likely each context is; None is evenly.

    >>> round(sharp_success_in_context([[1.0, 0.0], [0.5, 0.5]], 1.0), 4)
    0.8655
    """
    return float(np.average([sharp_success(row, epsilon, groups=groups) for row in posteriors], weights=weights))


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
    """Bound the Bayes vulnerability of any epsilon-metric-DP channel, with a certificate.

    V <= max {sum_x Pr(x) a_x : a >= 0, sum_x exp(-epsilon d(x, x')) a_x <= 1 for every x'}, because outputs may
    be merged by the word that they make the attacker guess, and Pr(x | x') >= exp(-epsilon d(x, x')) Pr(x | x).
    Any feasible dual point gives a bound. Up to 400 words the programme is solved by HiGHS; above, the dual
    point minimises dual' K dual / 2 - prior' dual, whose optimality condition is feasibility, by
    coordinate descent. Needs neither symmetry nor triangle inequality, and is not attained in general.

    Args:
        distances: (n, n) array d(x, x'), or `Embeddings` whose Euclidean distances count.
        epsilon: privacy parameter per unit of distance, at least 0.

    >>> metric_success([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], epsilon=0.0).value
    0.5
    """
    p = prior_probabilities(prior)
    kernel = metric_kernel(distances, checks.epsilon(epsilon), len(p))
    dual = _solved(p, kernel) if len(p) <= _EXACT else _descended(p, kernel)
    # What rounding leaves short of feasible is made up at the word itself, as K has ones on its diagonal.
    dual = dual + np.maximum(p - kernel @ dual, 0.0)
    return MetricBound(min(float(dual.sum()), 1.0), dual)


def metric_kernel(distances, epsilon: float, n: int) -> np.ndarray:
    """exp(-epsilon d), (n, n)."""
    if n > _LARGEST:
        raise ValueError(f"prior: {n} words, above the limit of {_LARGEST}; pass those with mass")
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
    found = scipy.optimize.linprog(np.ones(len(p)), A_ub=-kernel, b_ub=-p, bounds=(0, None), method="highs")
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


def sorted_mass(p: np.ndarray) -> np.ndarray:
    """Pi_m, the sum of the m largest weights, for every m."""
    return np.cumsum(-np.sort(-p))


def largest_share(mass: np.ndarray, epsilon: float) -> float:
    """The maximum over m in `sharp_success`, from the sums Pi_m; divided by e^epsilon: nothing overflows."""
    return float((mass / (1 + np.arange(len(mass)) * math.exp(-epsilon))).max(initial=0.0))


def _parts(p: np.ndarray, groups) -> list[np.ndarray]:
    """The probabilities of each group, and of each word that is in none."""
    if groups is None:
        return [p]
    numbers = [np.asarray(list(group), dtype=np.intp) for group in groups]
    times = np.bincount(np.concatenate([*numbers, np.arange(0)]), minlength=len(p))
    if len(times) > len(p) or times.max(initial=0) > 1:
        raise ValueError(f"groups: not disjoint, or beyond {len(p)} words; pass each row number once at most")
    return [p[group] for group in numbers] + [p[row : row + 1] for row in np.flatnonzero(times == 0)]


def prior_probabilities(prior) -> np.ndarray:
    """Read the probabilities of a `Prior`, or check the given ones."""
    return checks.probabilities("prior", getattr(prior, "probabilities", prior))
