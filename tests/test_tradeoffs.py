"""Utility at equal disclosure: interpolation, the rule, its errors, and stored tables read by the csv module."""

import numpy as np
import pandas as pd
import pytest

from textsan_book.judging import tradeoffs


def signs(rate, n, generator):
    return "".join("+" if hit else "." for hit in generator.random(n) < rate)


def curve(rates, vulnerabilities, seeds=(0, 1, 2), n=400, start=0, metric="accuracy"):
    """Rows of a mechanism whose utility at each epsilon is planted."""
    made = []
    for seed in seeds:
        generator = np.random.default_rng([start, seed])
        for number, (rate, v) in enumerate(zip(rates, vulnerabilities, strict=True)):
            right = signs(rate, n, generator)
            utility = right.count("+") / n
            ends = {"utility": utility, "utility_low": utility - 0.05, "utility_high": utility + 0.05}
            row = {"seed": seed, "epsilon": float(number), "vulnerability": v, "right": right, "metric": metric}
            made.append(row | ends)
    return pd.DataFrame(made)


def test_a_planted_lead_is_found_and_is_not_where_there_is_none():
    good, bad = curve([0.6, 0.8], [0.1, 0.5]), curve([0.5, 0.6], [0.0, 0.6], start=1)
    found, verdict = tradeoffs.matched(good, bad, 0.3)
    assert verdict == "first" and found.low < 0.7 - 0.55 < found.high
    assert tradeoffs.matched(bad, good, 0.3)[1] == "second"
    same = curve([0.6, 0.8], [0.1, 0.5], start=2)
    assert tradeoffs.matched(good, same, 0.3)[1] == "undecided"


def test_rule_is_rarely_wrong_where_there_is_no_lead():
    wrong = 0
    for start in range(200):
        one, other = (curve([0.6, 0.6], [0.1, 0.5], n=200, start=10 * start + i) for i in (0, 1))
        wrong += tradeoffs.matched(one, other, 0.3)[1] != "undecided"
    assert wrong <= 0.05 * 200


def test_interpolation_is_that_of_each_example():
    rows = curve([0.2, 0.9], [0.1, 0.5], seeds=(0,), n=50)
    first, last = (tradeoffs.hits(row) for row in rows.to_dict("records"))
    assert np.allclose(tradeoffs.at(rows, 0.2)[0], 0.75 * first + 0.25 * last)
    assert np.array_equal(tradeoffs.at(rows, 0.1)[0], first) and np.array_equal(tradeoffs.at(rows, 0.5)[0], last)


def test_nothing_is_said_beyond_what_was_run():
    rows = curve([0.5, 0.6], [0.1, 0.5])
    assert tradeoffs.at(rows, 0.05) is None and tradeoffs.at(rows, 0.51) is None
    assert tradeoffs.matched(rows, rows, 0.6)[1] == "out of reach"
    assert np.allclose(tradeoffs.common_range([rows, curve([0.5, 0.6], [0.2, 0.9])], 2), [0.2, 0.5])
    assert not len(tradeoffs.common_range([rows, curve([0.5, 0.6], [0.6, 0.9])]))


def test_a_v_that_falls_is_refused():
    with pytest.raises(ValueError, match="does not rise"):
        tradeoffs.at(curve([0.5, 0.6], [0.5, 0.1]), 0.3)


def test_paired_uses_the_same_examples_and_falls_back_on_intervals():
    rows = curve([0.7], [0.1])
    flipped = rows.assign(right=[("+" if s[0] == "." else ".") + s[1:] for s in rows.right])
    found = tradeoffs.paired(rows, flipped)
    assert found.high - found.low < 0.02 and abs(found.value) < 0.01
    numbers = rows.assign(metric="Pearson r", right=None)
    assert tradeoffs.paired(numbers, numbers).value == 0 and tradeoffs.paired(numbers, numbers).high > 0.03
    with pytest.raises(ValueError, match="no seed in common"):
        tradeoffs.paired(rows, rows.assign(seed=9))
    with pytest.raises(ValueError, match="no signs"):
        tradeoffs.hits({"right": None})


@pytest.fixture(scope="module")
def stored():
    return tradeoffs.grid()


def test_what_is_counted_turns_a_planted_pair_round():
    """The first is three points better at each epsilon; it discloses less of the common words and more of all."""
    first, other = curve([0.60, 0.80], [0.1, 0.5], n=2000), curve([0.55, 0.75], [0.1, 0.5], n=2000, start=1)
    first = first.assign(defence="santext+", common=first.vulnerability, exposure=first.vulnerability + 0.3)
    other = other.assign(defence="santext", common=other.vulnerability, exposure=other.vulnerability)
    rows = pd.concat([first, other])
    counted = {
        column: tradeoffs.matches(rows, column, [("santext+", "santext")], 3) for column in tradeoffs.COUNTS
    }
    assert [one["better"] for one in counted["common"]] == ["santext+"] * 3
    assert [one["better"] for one in counted["exposure"]] == ["santext"] * 3
    assert [one["at"] for one in counted["exposure"]] == pytest.approx([0.4, 0.45, 0.5])


def test_a_difference_is_that_of_accuracies_on_a_straight_line(stored):
    for column in tradeoffs.COUNTS:
        for one in tradeoffs.matches(stored, column, [("custext+", "custext")], 4):
            sides = []
            for name in one["pair"]:
                mine = stored[stored.defence == name].sort_values("epsilon")
                seeds = [np.interp(one["at"], rows[column], rows.utility) for _, rows in mine.groupby("seed")]
                sides.append(np.mean(seeds))
            assert one["difference"].value == pytest.approx(sides[0] - sides[1], abs=1e-9)
            assert one["difference"].low < one["difference"].value < one["difference"].high
