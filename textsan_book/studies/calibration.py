"""Calibration of an attacker who says how sure they are: are they right as often as they say."""

import numpy as np

from textsan.base.listed import Listed
from textsan.evaluation import Estimate, clustered_rate


def curve(
    said: Listed[float], right: Listed[bool], groups: Listed[int], parts: int
) -> list[tuple[float, Estimate]]:
    """Compare stated with actual success, from the answers that were least sure to those that were surest.

    Answers are put into parts of equal size. For each, the mean probability that was given to them, and the share
    that is right with the interval of `clustered_rate` by groups, the number of each answer's sentence or source.

    >>> [(said, right.value) for said, right in curve([0.9, 0.1], [True, False], [0, 1], 2)]
    [(0.1, 0.0), (0.9, 1.0)]
    """
    said, right, groups = (np.asarray(values) for values in (said, right, groups))
    order = np.argsort(said, kind="stable")
    return [
        (float(said[part].mean()), clustered_rate(right[part], groups[part]))
        for part in np.array_split(order, parts)
    ]
