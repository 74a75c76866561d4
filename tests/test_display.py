"""Tables and sentences as readers see them: HTML and text."""

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from textsan.evaluation import Estimate
from textsan.plotting.display import reading, table

ROWS = [
    {"attack": "Markov", "n": 12, "asr": Estimate(0.986, 0.97, 1.0), "ratio": 1.0, "verdict": "above"},
    {"attack": "blind <guess>", "n": 3, "asr": Estimate(0.1, 0.05, 0.15), "ratio": 0.986, "verdict": "below"},
]


def page(shown):
    return BeautifulSoup(shown._repr_html_(), "html.parser")


def cells(shown, column):
    return [row.find_all(["th", "td"])[column].text for row in page(shown).find_all("tr")[1:]]


@pytest.mark.parametrize(
    "values, shown",
    [
        ([1.0, 2.0], ["1", "2"]),
        ([0.5, 2.0], ["0.5", "2.0"]),
        ([1 / 3, 12.0], ["0.33", "12.00"]),
        ([0.0123, 0.002], ["0.0123", "0.0020"]),
        ([1 / 3, 1e-9, 0.0], ["0.333", "1e-09", "0.000"]),
        ([5.136e-42, 2e-6, 0.0], ["5.1e-42", "0.000002", "0.000000"]),
        ([np.float64(0.25), np.float32(0.5)], ["0.25", "0.50"]),
        ([float("inf"), 1.5, -float("inf")], ["∞", "1.5", "-∞"]),
        ([0.5, float("nan"), None], ["0.5", "–", "–"]),
        ([-1e-20, 1.25], ["-1e-20", "1.25"]),
        ([np.int64(20_000), 5], ["20,000", "5"]),
        ([0.5, 1, np.int64(2)], ["0.5", "1.0", "2.0"]),
        ([True, np.False_], ["yes", "no"]),
        ([2_000_000_000.0, 0.5], ["2e+09", "0.5"]),
        ([["a", 0.25], ("b",)], ["a, 0.25", "b"]),
        (["", "x"], ["–", "x"]),
        ([0.25, "not run"], ["0.25", "not run"]),
        ([Estimate(0.0333, 0.0146, 0.0551)], ["0.033 [0.015, 0.055]"]),
        ([Estimate(0.0033, 0.0014, 0.0055)], ["0.00330 [0.00140, 0.00550]"]),
        ([Estimate(-0.001, -0.1, 0), Estimate(0, 0, 0)], ["-0.001 [-0.100, 0.000]", "0.000 [0.000, 0.000]"]),
    ],
)  # fmt: skip
def test_values(values, shown):
    assert cells(table([{"row": i, "value": value} for i, value in enumerate(values)]), 1) == shown


def test_text_of_cells_is_no_markup():
    assert "blind &lt;guess&gt;" in table(ROWS)._repr_html_()


def test_frames_are_taken_as_they_come():
    frame = pd.DataFrame({"attack": ["a", "b"], "epsilon": [1.0, 2.0], "asr": [0.25, 0.5]})
    rows = frame.to_dict("records")
    assert repr(table(frame)) == repr(table(rows)) == repr(table(frame.set_index("attack")))
    assert repr(table(frame.set_index(["attack", "epsilon"]).asr)) == repr(table(rows))
    wide = frame.pivot(index="epsilon", columns="attack", values="asr")
    assert table(wide).columns == ["epsilon", "a", "b"] and cells(table(wide), 2) == ["–", "0.5"]
    two = frame.pivot(index="epsilon", columns="attack", values=["asr"])
    assert table(two).columns == ["epsilon", "asr a", "asr b"]


def test_reading_marks_what_agrees_and_nothing_else():
    shown = reading(["a", "b", "c"], {"<x>": ["a", "c", "c"]})
    assert repr(shown) == "<x>  [a] c [c]"
    assert [mark.text for mark in page(shown).find_all("mark")] == ["a", "c"]
    assert page(shown).th.text == "<x>"
