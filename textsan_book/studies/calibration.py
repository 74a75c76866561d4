"""Whether an attacker who says how sure they are is right as often as they say."""

import numpy as np

from textsan.base.listed import Listed
from textsan.evaluation import Estimate, bootstrap_mean, hit_rate


def share(right: Listed[bool], groups: Listed[int], *, seed) -> Estimate:
    """Share of right answers with its 95 % interval: of resampled groups, at 0 and 1 Wilson's.

    Where all answers are right, or none is, resampling gives a point, however few they are. Wilson's interval
    takes answers for independent; those of one sentence are not, so it is rather too narrow.

    Args:
        right: whether each answer is right.
        groups: number of the sentence, or source, that each stands in.
        seed: of the resampling.

    Raises:
        ValueError: no answer, or not as many groups as answers.

    >>> print(share([True] * 40, range(40), seed=0))
    1.000 [0.912, 1.000]
    """
    found = bootstrap_mean(right, groups, seed=seed)
    return hit_rate(right) if found.value in (0.0, 1.0) else found


def curve(
    said: Listed[float], right: Listed[bool], groups: Listed[int], parts: int, *, seed
) -> list[tuple[float, Estimate]]:
    """What was said and what was right, from the answers that were least sure to those that were surest.

    Args:
        said: the probability that was given to each answer.
        right, groups, seed: as those of `share`.
        parts: how many parts of equal size the answers are put into, at least 1 and at most as many as answers.

    Returns:
        for each part the mean of what was said, and the share that is right.

    Raises:
        ValueError: as `share`.

    >>> [(said, right.value) for said, right in curve([0.9, 0.1], [True, False], [0, 1], 2, seed=0)]
    [(0.1, 0.0), (0.9, 1.0)]
    """
    said, right, groups = (np.asarray(values) for values in (said, right, groups))
    order = np.argsort(said, kind="stable")
    return [
        (float(said[part].mean()), share(right[part], groups[part], seed=seed))
        for part in np.array_split(order, parts)
    ]
