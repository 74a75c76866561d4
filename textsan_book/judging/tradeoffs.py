"""Utility against privacy, from stored tables: learners compared on the same test examples, at equal V(X | Y).

The epsilons of two mechanisms are in different units, V(X | Y) of the same private text is not. So a mechanism's
answers are interpolated in V between two of its epsilons, example by example, and compared with those of another
one at the same V. Equal V orders neither other priors nor attacks that read context: it is one axis, fixed
beforehand.

The rule: one of two is better at a V where the 95 % interval of the paired difference is on one side of 0 *and*
every seed leans there; else undecided. Test examples are resampled, the same ones under all seeds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from textsan.evaluation import Estimate
from textsan.sweeps.tables import difference, pooled

RESAMPLES = 2000


def hits(row: Mapping) -> np.ndarray:
    """Which test examples a row answers rightly, (n_test,) of 0 and 1; from its column of signs.

    Args:
        row: of a task, with classes.

    Raises:
        ValueError: a row without signs, of a task whose answers are numbers.

    >>> hits({"right": "+.+"})
    array([1., 0., 1.])
    """
    signs = row.get("right")
    if not isinstance(signs, str) or not signs:
        raise ValueError("row: it has no signs, its answers are numbers; compare `utility` itself")
    return np.array([sign == "+" for sign in signs], dtype=float)


def paired(rows: pd.DataFrame, others: pd.DataFrame, *, seed: int = 0) -> Estimate:
    """Utility of rows minus that of others, seed by seed, with a 95 % interval.

    Of an accuracy the test examples are resampled, both learners and all seeds together. Of other metrics, signs
    or not, the rows' own intervals are added as if independent, which is rather too wide.

    Args:
        rows, others: a row a seed each, of the same task and test examples.
        seed: of the resampling.

    Raises:
        ValueError: no seed in common.
    """
    theirs = {row["seed"]: row for row in others.to_dict("records")}
    pairs = [(row, theirs[row["seed"]]) for row in rows.to_dict("records") if row["seed"] in theirs]
    if not pairs:
        raise ValueError("others: no seed in common with the rows; pass rows of the same sweep")
    if pairs[0][0]["metric"] != "accuracy":
        free = ("defence", "epsilon", "defence_parameters")
        return pooled([difference(*pair, "utility", "utility", free) for pair in pairs])
    return _resampled(np.array([hits(one) - hits(other) for one, other in pairs]), seed)


def at(rows: pd.DataFrame, vulnerability: float) -> np.ndarray | None:
    """How rightly a mechanism's learner answers each test example at a V(X | Y), one row a seed.

    Between two epsilons the answers are interpolated linearly in V, of each seed by itself.

    Args:
        rows: of one mechanism and task, several epsilons under the same seeds.
        vulnerability: V(X | Y).

    Returns:
        (seeds, n_test) from 0 to 1; None where a seed's V does not enclose it.

    Raises:
        ValueError: V does not rise with epsilon.
    """
    found = []
    for _, some in rows.sort_values("epsilon").groupby("seed"):
        reached = some.vulnerability.to_numpy(dtype=float)
        if (np.diff(reached) < -1e-9).any():
            raise ValueError("rows: V(X | Y) does not rise with epsilon; it cannot be matched on")
        above = int(np.searchsorted(reached, vulnerability))
        if above == len(reached) or (above == 0 and reached[0] > vulnerability):
            return None
        low, high = max(above - 1, 0), above
        gap = reached[high] - reached[low]
        weight = (vulnerability - reached[low]) / gap if gap else 1.0
        one, other = (hits(some.iloc[i].to_dict()) for i in (low, high))
        found.append((1 - weight) * one + weight * other)
    return np.array(found)


def matched(
    rows: pd.DataFrame, others: pd.DataFrame, vulnerability: float, *, seed: int = 0
) -> tuple[Estimate, str]:
    """Utility of one mechanism minus that of another at equal V(X | Y), and the verdict of the rule above.

    Args:
        rows, others: of one mechanism each, as for `at`.
        vulnerability: V(X | Y).
        seed: of the resampling.

    Returns:
        the difference, and "first", "second", "undecided", or "out of reach" with a difference of NaN.
    """
    one, other = at(rows, vulnerability), at(others, vulnerability)
    if one is None or other is None or one.shape != other.shape:
        return Estimate(np.nan, np.nan, np.nan), "out of reach"
    gaps = one - other
    found, leaning = _resampled(gaps, seed), gaps.mean(axis=1)
    if found.low > 0 and (leaning > 0).all():
        return found, "first"
    if found.high < 0 and (leaning < 0).all():
        return found, "second"
    return found, "undecided"


def common_range(some: Sequence[pd.DataFrame], points: int = 5) -> np.ndarray:
    """Values of V(X | Y) that all mechanisms reach under every seed, evenly spaced; empty where there are none.

    Args:
        some: rows of one mechanism each.
        points: how many.
    """
    reached = [one.groupby("seed").vulnerability.agg(["min", "max"]) for one in some]
    low, high = max(one["min"].max() for one in reached), min(one["max"].min() for one in reached)
    return np.linspace(low, high, points) if low < high else np.array([])


def _resampled(gaps: np.ndarray, seed: int) -> Estimate:
    """Mean of (seeds, n) differences, the n examples resampled."""
    by_example = gaps.mean(axis=0)
    n = len(by_example)
    picks = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    low, high = np.quantile(picks @ by_example / n, [0.025, 0.975])
    return Estimate(float(by_example.mean()), float(low), float(high))
