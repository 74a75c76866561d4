"""Published rates under SanText, in a unit that they share with ours: the success of a reference attack.

SanText's epsilon counts per unit of distance between word vectors, and other vectors have another unit. So a
published rate is compared where *success* is matched: at the epsilon at which our reference attack does as well as
the published one did, what does the other attack do? For Table 4 of Tong et al. 2024 the reference is the attack
with the constant 1 / alpha, and the others are the attacks with other constants: epsilon is fitted to the rows of
the first, and the rows of the rest are tested.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from textsan.evaluation import Estimate
from textsan.sweeps.tables import difference, estimate
from textsan_book.judging.verdicts import Z, standard_error


def matched(
    rows: Sequence[Mapping], references: Sequence[Mapping], target: float, target_error: float
) -> tuple[Estimate, float] | None:
    """Compute our success with an attack where our reference attack does as well as the published one.

    Between two epsilons of the table the *difference* of the two attacks is interpolated along the reference's
    success. Its interval has three parts: the difference's own error, that of the published reference
    (`target_error`, a standard error), and that of our reference, both times the slope of the difference. The
    epsilon is returned, too; None where the reference's success does not enclose the target. Rows of other
    positions, or a success that does not rise with epsilon, are an error.
    """
    pairs = [
        (row, reference) for row in rows for reference in references if row["epsilon"] == reference["epsilon"]
    ]
    pairs.sort(key=lambda pair: pair[0]["epsilon"])
    success = np.array([estimate(reference).value for _, reference in pairs])
    if (np.diff(success) <= 0).any():
        raise ValueError("references: their success does not rise with epsilon; match on another attack")
    above = int(np.searchsorted(success, target))
    if above in (0, len(success)):
        return None
    gaps = [difference(*pairs[i]) for i in (above - 1, above)]
    slope = (gaps[1].value - gaps[0].value) / (success[above] - success[above - 1])
    weight = (target - success[above - 1]) / (success[above] - success[above - 1])
    rises = [standard_error(estimate(pairs[i][1])) for i in (above - 1, above)]
    error = np.hypot(_between([standard_error(gap) for gap in gaps], weight), slope * target_error)
    error = np.hypot(error, slope * _between(rises, weight))
    value = target + _between([gap.value for gap in gaps], weight)
    epsilon = _between([pairs[i][0]["epsilon"] for i in (above - 1, above)], weight)
    return Estimate(float(value), float(value - Z * error), float(value + Z * error)), float(epsilon)


def _between(ends: Sequence[float], weight: float) -> float:
    return (1 - weight) * ends[0] + weight * ends[1]
