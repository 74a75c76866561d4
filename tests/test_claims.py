"""Claims on planted tables, where the verdict is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_scoreboard import row

from textsan.evaluation import Estimate
from textsan_book.judging import claims, forests
from textsan_book.judging.claims import Cell
from textsan_book.judging.paper_claims import CLAIMS, Claim

ROOT = Path(__file__).parents[1]


def cell(value, half=0.01, dataset="rt"):
    return Cell(dataset, dataset, Estimate(value, value - half, value + half))


def judged(tmp_path, rows, **given):
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    sides = {"left": {"attack": "x"}, "right": {"attack": "y"}}
    return claims.judge([Claim("c", "p", "t.csv", **sides | given)], tmp_path).iloc[0]


def test_every_claim_has_a_rule_or_a_reason():
    for claim in CLAIMS:
        decided = bool(claim.tables and claim.left and claim.right != {})
        assert decided + bool(claim.not_run) + bool(claim.not_comparable) == 1
        assert bool(claims.rule(claim)) == decided
    papers = {claim.place.split(",")[0] for claim in CLAIMS}
    assert papers == set(pd.read_csv(ROOT / "data" / "paper_numbers.csv").paper)
    assert len({claim.claim for claim in CLAIMS}) == len(CLAIMS)


def test_lack_of_power_is_undecided_whatever_the_rule():
    coarse = [cell(value, half=0.5) for value in (-0.1, 0.0, 0.1)]
    for rule in (claims.at_most, claims.within, claims.above):
        finding = rule(coarse, 0.05)
        assert finding.verdict == "undecided" and "positions" in finding.reason


def test_at_most_is_shown_in_every_cell_or_refuted_in_one():
    assert claims.at_most([cell(0.0), cell(-0.2)], 0.03).verdict == "holds"
    assert claims.at_most([cell(0.0), cell(0.028)], 0.03).verdict == "undecided"
    refuted = claims.at_most([cell(0.0), cell(0.06)], 0.03)
    assert (refuted.verdict, refuted.number.value) == ("does not hold", 0.06)
    # The review's case: gaps of .055 and .046 over a tolerance of .03, too coarse to tell, "held".
    assert claims.at_most([cell(0.055, 0.041), cell(0.046, 0.041)], 0.03).verdict == "undecided"


def test_one_cell_of_many_by_chance_refutes_nothing():
    # Just significant alone (z = 1.8), as one of twenty cells it is what chance gives.
    by_chance = cell(0.03 + 1.8 * 0.01 / 1.96)
    assert claims.at_most([by_chance], 0.03).verdict == "does not hold"
    assert claims.at_most([by_chance, *[cell(0.0)] * 19], 0.03).verdict == "undecided"


def test_within_has_two_sides_and_at_most_has_one():
    below = [cell(-0.2)]
    assert claims.within(below, 0.03).verdict == "does not hold"
    assert claims.at_most(below, 0.03).verdict == "holds"  # ten times the constant is no better, and much worse


def test_above_is_shown_or_shown_to_be_nothing():
    assert claims.above([cell(0.02)], 0.01).verdict == "holds"
    assert claims.above([cell(0.014, 0.0245)], 0.01).verdict == "undecided"  # the review's larger shadow set
    assert claims.above([cell(0.0, 0.005)], 0.01).verdict == "does not hold"
    assert claims.above([cell(-0.2)], 0.01).verdict == "does not hold"
    assert claims.above([cell(0.004, 0.001)], 0.01).verdict == "holds"  # small, but shown


def test_data_sets_weigh_alike_and_their_cells_are_not_independent():
    many = [*[cell(0.1)] * 9, cell(0.3, dataset="nyt")]
    number = claims.above(many, 0.01).number
    assert number.value == pytest.approx(0.2)
    # Nine cells of one data set are no more certain than one; two data sets are independent.
    assert number.high - number.value == pytest.approx(0.01 / np.sqrt(2))


def test_ten_wrong_claims_are_seldom_shown():
    """Planted: a true difference right at the tolerance, where "holds" and "does not hold" are both errors."""
    generator = np.random.default_rng(0)
    found = [
        claims.at_most([cell(0.03 + generator.normal(scale=0.01 / 1.96)) for _ in range(10)], 0.03).verdict
        for _ in range(400)
    ]
    assert found.count("holds") == 0
    assert found.count("does not hold") <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_planted_claims_are_told_apart(tmp_path):
    rows = [row("x", 0.6), row("y", 0.5), row("x", 0.5, epsilon=8.0), row("y", 0.5, epsilon=8.0)]
    assert judged(tmp_path, rows).verdict == "holds"
    assert judged(tmp_path, rows).value == pytest.approx(0.05)
    assert judged(tmp_path, rows, at_most=0.0).verdict == "does not hold"
    assert judged(tmp_path, rows, at_most=0.0).value == pytest.approx(0.1)
    assert judged(tmp_path, rows, at_most=0.2).verdict == "holds"
    assert judged(tmp_path, rows, within=0.03, where={"epsilon": 8}).verdict == "holds"
    swapped = {"left": {"attack": "y"}, "right": {"attack": "x"}}
    assert judged(tmp_path, rows, at_most=0.03, **swapped).verdict == "holds"
    assert judged(tmp_path, rows, within=0.03, **swapped).verdict == "does not hold"
    assert judged(tmp_path, rows, **swapped).verdict == "does not hold"
    assert "of 2 cells 1 shown" in judged(tmp_path, rows, at_most=0.0).reason


def test_detectors_that_have_not_learnt_carry_no_claim(tmp_path):
    sides = {"left": {"attack": "contextual"}, "right": {"attack": "y"}}
    rows = [row("contextual", 0.6), row("y", 0.5)]
    assert judged(tmp_path, rows, **sides).verdict == "detector untrained"
    passed = [row("contextual", 0.6, epsilon=1.0, gate="passed"), row("y", 0.5, epsilon=1.0)]
    found = judged(tmp_path, rows + passed, **sides)
    assert found.verdict == "holds" and "one cell" in found.reason


def test_several_rows_in_a_cell_are_refused(tmp_path):
    with pytest.raises(ValueError, match="several rows"):
        judged(tmp_path, [row("x", 0.6), row("x", 0.5), row("y", 0.5)])
    assert judged(tmp_path, [row("x", 0.6), row("x", 0.6), row("y", 0.5)]).verdict == "holds"


def test_a_gain_that_is_named_must_be_exceeded(tmp_path):
    rows = [row("x", 0.6), row("y", 0.5)]
    assert judged(tmp_path, rows, by=0.05).verdict == "holds"
    assert judged(tmp_path, rows, by=0.1).verdict == "undecided"
    refuted = judged(tmp_path, rows, by=0.2)
    assert (refuted.verdict, refuted.value) == ("does not hold", pytest.approx(0.1))
    assert refuted["rule"] == "above 0.2 on average, refuted below 0.21"


def test_a_mean_over_sentences_has_the_interval_of_the_batches_that_were_drawn(tmp_path):
    gaps = {0: [0.1, 0.3], 1: [0.4, 0.4], 2: [0.6, 0.6]}
    rows = [
        {"method": method, "dataset": "rt", "batch": batch, "sentence": i, "rouge": 0.2 + (method == "x") * gap}
        for method in ("x", "y")
        for batch, some in gaps.items()
        for i, gap in enumerate(some)
    ]
    sides = {name: {"method": one, "column": "rouge"} for name, one in (("left", "x"), ("right", "y"))}
    given = {"cell": ["dataset"], "sample": ["batch", "sentence"], "free": ["method"], **sides}
    found = judged(tmp_path, rows, **given)
    half = 4.303 * np.std([0.2, 0.4, 0.6], ddof=1) / np.sqrt(3)  # Student's t of two degrees
    assert found.value == pytest.approx(0.4) and found.high - found.value == pytest.approx(half, abs=1e-3)
    with pytest.raises(ValueError, match="one unit has no interval"):
        judged(tmp_path, [one for one in rows if one["batch"] == 0], **given)


def test_a_rule_that_was_changed_after_a_result_gives_a_number_and_no_verdict(tmp_path):
    rows = [row("x", 0.6), row("y", 0.5)]
    found = judged(tmp_path, rows, changed="it asked for another column")
    assert (found.verdict, found.fixed, found.value) == ("no verdict", "after", pytest.approx(0.1))
    assert found.reason.startswith("it asked for another column; one data set, ")


def test_at_the_papers_own_setting_a_training_is_the_unit():
    """One seed stands in two tables. Student's interval over the three trainings, by another way to it."""
    gaps = {}
    for table in ("faithful", "detectors-trained"):
        rows = pd.read_csv(ROOT / "data" / "results" / f"{table}.csv")
        rows = rows[rows.epsilon == 4]
        k = rows.attack_parameters.str.extract(r'"k": (\d+)')[0]
        contextual = rows[(rows.attack == "contextual") & (k == "10")].set_index("seed").asr
        counted = rows[rows.attack == "context-free"].set_index("seed").asr
        for seed, gap in (contextual - counted).items():
            gaps.setdefault(seed, []).append(gap)
    means = np.array([np.mean(some) for some in gaps.values()])
    low, high = stats.t.interval(0.95, len(means) - 1, means.mean(), stats.sem(means))
    (claim,) = [one for one in CLAIMS if one.claim.startswith("At the paper's own setting")]
    found = claims.judge([claim], ROOT / "data" / "results").iloc[0]
    assert len(means) == 3 and low < 0 < high
    assert (found.value, found.low, found.high) == pytest.approx((means.mean(), low, high), abs=2e-4)
    assert found.verdict == "undecided"


def test_a_difference_in_words_of_text_leaves_those_in_shares_their_digits():
    """One column has differences of both: the page rounds a column of numbers alike."""
    columns = {"place": "Someone 2020, section 1", "claim": "c", "rule": "", "verdict": "holds", "reason": ""}
    rows = [columns | {"value": value, "low": value, "high": value} for value in (5694.0, 0.0415)]
    many, few = (row["difference"] for row in forests.stated(pd.DataFrame(rows), "holds"))
    assert "0.042" in few and "5694" in many


def test_the_means_of_both_counts_of_words_are_one_number_and_one_claim():
    rows = pd.read_csv(ROOT / "data" / "results" / "theorems.csv").set_index(["statement", "epsilon"]).value
    assert len(rows["distinct_outputs"]) == 3
    assert rows["distinct_outputs"].to_dict() == rows["distinct_inputs"].to_dict()
