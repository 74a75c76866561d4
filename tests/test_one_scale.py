"""Mechanisms next to each other, from small tables."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from textsan_book.judging import one_scale

ROWS = [
    {"defence": "santext", "success": 0.2, "lost": 3.0, "least": 2.0},
    {"defence": "santext", "success": 0.5, "lost": 2.0, "least": 1.0},
    {"defence": "santext", "success": 0.9, "lost": 9.0, "least": 1.0},  # too much is recovered
    {"defence": "custext", "success": 0.3, "lost": 1.2, "least": 1.0},
]


def test_ratios_are_of_the_success_rates_that_count():
    assert one_scale.ratios(ROWS, "santext") == (1.5, 2.0)
    assert one_scale.ratios(ROWS, "santext", high=0.95) == (1.5, 9.0)
    with pytest.raises(ValueError, match="defence: 'fbdd' has no success between"):
        one_scale.ratios(ROWS, "fbdd")


def test_the_smallest_ratio_is_drawn_at_the_top():
    _, ax = plt.subplots()
    assert one_scale.draw_ratios(ax, ROWS) == ["custext", "santext"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["CusText", "SanText"]
    plt.close("all")


def test_accuracy_has_the_interval_of_independent_seeds_and_leaves_out_what_was_not_reached(tmp_path):
    base = {"first": "a", "second": "b", "target": "matched", "first_reached": True, "second_reached": True}
    base |= {"dataset": "rt", "second_accuracy": 0.5, "original": 0.7}
    rows = [
        base | {"difference": 0.1, "low": 0.0, "high": 0.2},
        base | {"difference": 0.3, "low": 0.2, "high": 0.4},
        base | {"difference": 9.0, "low": 8.0, "high": 10.0, "first_reached": False},
        base | {"difference": 9.0, "low": 8.0, "high": 10.0, "target": "epsilon"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "accuracy.csv", index=False)
    (row,) = one_scale.accuracy(tmp_path, "a", "b")
    assert row["task"] == "film reviews" and row["seeds"] == 2
    half = (0.1**2 + 0.1**2) ** 0.5 / 2
    assert row["more"] == pytest.approx((0.2, 0.2 - half, 0.2 + half))
    _, ax = plt.subplots()
    one_scale.draw_accuracy(ax, [row])
    plt.close("all")


def test_the_scale_has_means_over_seeds_and_the_least_loss_first(tmp_path):
    base = {"target": "success", "level": 0.45, "reached": True}
    rows = [base | {"defence": "santext", "dataset": "rt", "lost": lost} for lost in (2.0, 4.0)]
    rows += [base | {"defence": "custext", "dataset": "rt", "lost": 1.0}]
    rows += [base | {"defence": "fbdd", "dataset": "rt", "lost": 0.0, "reached": False}]
    rows += [base | {"defence": "fbdd", "dataset": "rt", "lost": 0.0, "target": "linkage"}]
    pd.DataFrame(rows).to_csv(tmp_path / "rank.csv", index=False)
    losses = one_scale.scale(tmp_path, 0.45)
    assert losses["rt"].to_dict() == {"custext": 1.0, "santext": 3.0} and losses.index[0] == "custext"
    _, ax = plt.subplots()
    one_scale.draw_scale(ax, losses)
    plt.close("all")
