"""The rule: its error rates, its corrections, and what it must never do."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from textsan.evaluation import Estimate
from textsan_book.judging import grid, verdicts
from textsan_book.judging.verdicts import Comparison, holm, judge, margin, p_below, rate_error


def drawn(truth, published_truth, positions, published_positions, generator):
    """A published rate and ours, both measured, as the rule sees them."""
    published = generator.binomial(published_positions, published_truth) / published_positions
    ours = generator.binomial(positions, truth) / positions
    error = rate_error(published, published_positions)
    return Comparison(ours - published, rate_error(ours, positions), error, margin(error, 0.03))


def test_holm_is_the_rule_of_the_books():
    # Holm's step-down by its definition: compare the k-th smallest with level / (m - k + 1) until one fails.
    generator = np.random.default_rng(0)
    for m in (1, 2, 5, 20):
        p = generator.beta(0.3, 3, size=m)
        order, rejected = np.argsort(p), set()
        for k, i in enumerate(order):
            if p[i] > 0.05 / (m - k):
                break
            rejected.add(int(i))
        assert {i for i, corrected in enumerate(holm(list(p))) if corrected <= 0.05} == rejected
    assert holm([]) == []


def test_p_values_are_those_of_the_normal_distribution():
    for gap, error in itertools.product((-0.3, 0.0, 0.2), (0.1, 1.0)):
        assert p_below(gap, error) == pytest.approx(stats.norm.cdf(gap, scale=error))
    one = Comparison(0.03, 0.01, 0.02, 0.025)
    assert one.p_differs == pytest.approx(2 * stats.norm.sf(0.03 / math.hypot(0.01, 0.02)))
    # Two one-sided tests: the larger of both p-values.
    two = [stats.norm.cdf((0.01 - 0.025) / 0.01), stats.norm.cdf((-0.01 - 0.025) / 0.01)]
    assert one._replace(gap=0.01).p_agrees == pytest.approx(max(two))


def test_equal_rates_seldom_differ_and_distant_ones_seldom_agree():
    generator = np.random.default_rng(1)
    same = [judge([drawn(0.4, 0.4, 40_000, 3000, generator) for _ in range(8)]) for _ in range(300)]
    assert sum("differs" in one for one in same) <= 300 * 0.05 + 3 * math.sqrt(300 * 0.05 * 0.95)
    assert sum(one.count("agrees") for one in same) > 0.5 * 8 * 300
    # Ours is a whole margin away from the published number: the error of "agrees" is 5 % a table.
    far = []
    for _ in range(300):
        table = []
        for _ in range(8):
            error = rate_error(0.4, 3000)
            gap = margin(error, 0.03) + generator.normal(scale=0.002)
            table.append(Comparison(gap, 0.002, error, margin(error, 0.03)))
        far.append(judge(table))
    assert sum("agrees" in one for one in far) <= 300 * 0.05 + 3 * math.sqrt(300 * 0.05 * 0.95)


def test_no_number_can_agree_and_differ():
    for gap, ours, theirs in itertools.product(
        (0.0, 0.005, 0.02, 0.04, 0.3), (0.0, 0.001, 0.02), (0.001, 0.009, 0.02)
    ):
        one = Comparison(gap, ours, theirs, margin(theirs, 0.03))
        assert not (one.p_agrees <= 0.05 and one.p_differs <= 0.05)


@pytest.mark.parametrize("tests", [1, 8])
@pytest.mark.parametrize("gap", [0.002, 0.006, 0.03, -0.03])
def test_the_sample_that_would_decide_decides(gap, tests):
    one = Comparison(gap, 0.02, 0.009, 0.0176)
    assert judge([one] * tests) == ["undecided"] * tests
    factor = one.factor(tests)
    more = one._replace(error=one.error / math.sqrt(factor * 1.001))
    less = one._replace(error=one.error / math.sqrt(factor * 0.9))
    assert judge([more] * tests) == ["agrees" if abs(gap) < 0.0176 else "differs"] * tests
    assert judge([less] * tests) == ["undecided"] * tests


@pytest.mark.parametrize("gap", [-0.01, 0.03])
def test_a_limit_is_decided_by_more_positions(gap):
    one = Comparison(gap, 0.05, 0.005, 0.0, "upper")
    more = one._replace(error=one.error / math.sqrt(one.factor() * 1.001))
    assert judge([one]) == ["undecided"] and judge([more]) == ["agrees" if gap < 0 else "differs"]
    mirrored = more._replace(gap=-gap, limit="lower")
    assert judge([mirrored]) == judge([more])


@pytest.mark.parametrize("name", verdicts.DETECTORS)
def test_detectors_pass_by_their_gate_alone(name):
    assert verdicts.untrained({"attack": name.upper()})
    assert verdicts.untrained({"attack": name, "gate": float("nan"), "accuracy_after": 0.99})
    assert not verdicts.untrained({"attack": name, "gate": "passed"})
    assert not verdicts.untrained({"attack": "context-free"})


def test_lack_of_power_is_never_called_not_seen():
    # Six draws of an excess of .13, one of whose intervals ends at 0, and one of .02 with wide intervals.
    large = [Estimate(0.13 + d, d if d else 0.0, 0.26 + d) for d in (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)]
    assert verdicts.of_excess(large, [100] * 6).verdict == "given away"
    coarse = verdicts.of_excess([Estimate(0.02, -0.3, 0.34)] * 6, [10] * 6)
    assert coarse.verdict == "undecided" and str(coarse) == "undecided (at most 0.34)"


@pytest.mark.parametrize(("documents", "verdict"), [(200, "not seen"), (100, "not seen"), (20, "undecided")])
def test_intervals_without_width_say_only_what_their_documents_allow(documents, verdict):
    found = verdicts.of_excess([Estimate(0.0, 0.0, 0.0)] * 6, [documents] * 6)
    # Wilson's upper end of none of n: z^2 / (n + z^2)
    assert found.verdict == verdict
    assert found.pooled.high == pytest.approx(1.959964**2 / (documents + 1.959964**2), abs=1e-6)


def test_what_is_called_not_seen_is_little():
    """Excesses of 0.08, drawn: seldom called not seen, whatever the sample."""
    generator, called = np.random.default_rng(0), []
    for n in (30, 100, 300) * 100:
        draws = []
        for _ in range(6):
            gap = generator.binomial(n, 0.1, size=1) / n - generator.binomial(n, 0.02, size=1) / n
            half = 1.96 * math.sqrt((0.1 * 0.9 + 0.02 * 0.98) / n)
            draws.append(Estimate(gap[0], gap[0] - half, gap[0] + half))
        called.append(verdicts.of_excess(draws, [n] * 6).verdict)
    assert called.count("not seen") <= 0.05 * len(called) and called.count("given away") > 0


def test_a_trained_detector_shows_its_gain_in_the_grid_and_another_is_crossed_out():
    row = {
        "attack": "contextual",
        "epsilon": 1.0,
        "seed": 0,
        "n_positions": 9,
        "asr": 0.4,
        "low": 0.3,
        "high": 0.5,
    }
    row |= {"over context-free": 0.1, "over context-free low": 0.05, "over context-free high": 0.15}
    rows = [row | {"gate": "passed"}, row | {"epsilon": 4.0, "gate": "not passed"}]
    rows.append(row | {"attack": "context-free", "gate": None})
    table = grid.panel(pd.DataFrame(rows), [1, 4, 8])
    assert table.loc["contextual"].tolist()[:2] == [pytest.approx(0.1), -1] and table.loc["context-free", 1] == 0.4
    assert table.loc["contextual"].isna()[8]
    counts = grid.draw(plt.subplots()[1], table)
    assert counts == {"filled": 2, "empty": table.size - 3, "untrained": 1}
