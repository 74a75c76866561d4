"""The papers' claims one under another: counted, stated and drawn as the stored tables have them."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from textsan.evaluation import Estimate
from textsan_book.judging import forests
from textsan_book.judging.front import Claim

CLAIMS = pd.DataFrame(
    {
        "claim": ["A is above B", "A is above B by far", "C was not tried"],
        "place": ["X 2020, Table 1", "X 2020, Table 2", "Y 2021, Figure 1"],
        "rule": ["above 0 on average", "above 0.2 on average", ""],
        "fixed": ["before", "after", ""],
        "verdict": ["holds", "does not hold", "not run"],
        "value": [0.1, 0.1, float("nan")],
        "low": [0.05, 0.05, float("nan")],
        "high": [0.15, 0.15, float("nan")],
        "reason": ["", "", "no table"],
    }
)


def test_claims_are_stated_with_what_was_measured():
    [one] = forests.stated(CLAIMS, "does not hold")
    assert one["claim; where"] == "A is above B by far; Table 2" and one["difference"] == Estimate(0.1, 0.05, 0.15)
    assert one["rule"] == "above 0.2 on average; written after its tables"
    assert forests.stated(CLAIMS, "not run")[0]["difference"] is None
    assert forests.measured(CLAIMS, "by far") == ["A is above B by far: 0.100 [0.050, 0.150], refuted"]
    for part, number in (("A is above B", 2), ("D", 0)):
        with pytest.raises(ValueError, match=f"parts: {number} claims"):
            forests.measured(CLAIMS, part)


def test_a_forest_has_the_least_margin_on_top_and_cuts_what_is_longer():
    claims = [
        Claim("X", "met", "holds", Estimate(0.1, 0.05, 0.15)),
        Claim("X", "far below", "does not hold", Estimate(-0.4, -0.5, -0.3)),
        Claim("X", "open", "undecided", Estimate(0.0, -0.1, 0.1)),
    ]
    _, ax = plt.subplots()
    forests.forest(ax, claims)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["far below", "open", "met"]
    drawn = {
        bars.get_label(): tuple(float(one) for one in bars.lines[0].get_xydata()[0]) for bars in ax.containers
    }
    assert drawn == {"reproduced": (0.1, 2.0), "refuted": (-0.25, 0.0), "undecided": (0.0, 1.0)}
    low, high = ax.get_ylim()
    assert low > high  # the first claim is on top
    plt.close()
