"""Limits of several attackers: the whole programme, the frontier of one attacker, limits that nothing can keep."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist

from textsan import Prior
from textsan.leakage import bayes_vulnerability, frontier, gain_vulnerability, joint_frontier, several_attackers


def programme(p, far, worth, limits):
    """Least expected distance within the limits: all unknowns in dense tables, by HiGHS's interior point."""
    (n, m), attackers = far.shape, len(limits)
    rows, sums = [], np.zeros((n, n * m + attackers * m))
    for k in range(attackers):
        for x in range(n):
            for y in range(m):
                row = np.zeros(n * m + attackers * m)
                row[x * m + y], row[n * m + k * m + y] = worth[k][x], -1
                rows.append(row)
    for k in range(attackers):
        row = np.zeros(n * m + attackers * m)
        row[n * m + k * m : n * m + (k + 1) * m] = 1
        rows.append(row)
    for x in range(n):
        sums[x, x * m : (x + 1) * m] = 1
    cost, most = np.append(far.ravel(), np.zeros(attackers * m)), np.append(np.zeros(attackers * n * m), limits)
    found = scipy.optimize.linprog(cost, A_ub=np.array(rows), b_ub=most, A_eq=sums, b_eq=p, method="highs-ipm")
    assert found.success
    return found.fun


def world(seed, most=10):
    random = np.random.default_rng(seed)
    n, attackers = int(random.integers(3, most)), int(random.integers(1, 4))
    p, points = random.dirichlet(np.full(n, 0.7)), random.normal(size=(n, 2))
    worth = random.random((attackers, n)) * (random.random((attackers, n)) < 0.7)
    blind, whole = (worth * p).max(axis=1), worth @ p
    return p, cdist(points, points), worth, blind + (whole - blind) * random.random(attackers) * 0.8


@pytest.mark.parametrize("seed", range(25))
def test_the_ends_are_what_the_whole_programme_finds(seed):
    p, far, worth, limits = world(seed)
    found = joint_frontier(p, far, worth, limits, gap=1e-7)
    exact = programme(p, far, worth, limits)
    assert found.lower - 1e-7 <= exact <= found.upper + 1e-7
    assert found.upper - found.lower <= 1e-6
    assert (found.successes <= limits + 1e-12).all() and (found.prices >= 0).all()


@pytest.mark.parametrize("seed", range(15))
def test_limits_at_the_blind_guess_are_met_at_the_least_distance(seed):
    p, far, worth, _ = world(seed)
    blind = (worth * p).max(axis=1)
    found = joint_frontier(p, far, worth, blind)
    assert found.lower <= found.upper <= programme(p, far, worth, blind) * 1.006 + 1e-9
    assert (found.successes <= blind + 1e-12).all()


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_of_worth_and_distance_do_not_matter(unit):
    p, far, worth, limits = world(3)
    one = joint_frontier(p, far, worth, limits, gap=1e-7)
    found = joint_frontier(p, far, worth * unit, limits * unit, gap=1e-7)
    assert [found.lower, found.upper] == pytest.approx([one.lower, one.upper])
    assert found.prices * unit == pytest.approx(one.prices, abs=1e-6)
    found = joint_frontier(p, far * unit, worth, limits, gap=1e-7)
    assert np.array([found.lower, found.upper]) / unit == pytest.approx([one.lower, one.upper])


def test_words_below_the_tolerance_of_the_solver_have_their_limit():
    random = np.random.default_rng(2)
    points, p, rare = random.normal(size=(20, 3)), random.dirichlet(np.ones(20)), np.arange(20) >= 12
    p[rare] = 1e-8
    p /= p.sum()
    worth, limits = [np.ones(20), rare.astype(float)], [max(0.3, p.max()), 3 * p[rare].max()]
    found = joint_frontier(p, cdist(points, points), worth, limits)
    assert found.upper - found.lower <= 0.005 * found.upper
    assert (found.successes <= np.array(limits) * (1 + 1e-9)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_successes_and_distance_are_those_of_the_channel(seed):
    p, far, worth, limits = world(seed)
    found = joint_frontier(Prior([f"w{i}" for i in range(len(p))], p), far, worth, limits)
    columns = [int(word[1:]) for word in found.channel.outputs]
    matrix = found.channel.matrix()
    assert (p[:, None] * matrix * far[:, columns]).sum() == pytest.approx(found.upper)
    again = [gain_vulnerability(p, found.channel, np.diag(one)) for one in worth]
    assert found.successes == pytest.approx(again)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 20))
def test_no_channel_is_below_the_line_of_prices(seed, sharpness):
    """At the successes that any channel has, the certificate of other limits is below its distance."""
    p, far, worth, limits = world(seed)
    found = joint_frontier(p, far, worth, limits, gap=1e-7)
    joint = p[:, None] * scipy.special.softmax(-sharpness * far, axis=1)
    had = [(one[:, None] * joint).max(axis=0).sum() for one in worth]
    line = found.lower + found.prices @ limits
    assert (joint * far).sum() >= line - found.prices @ had - 1e-9


@pytest.mark.parametrize("success", [0.15, 0.3, 0.6])
def test_one_attacker_of_all_words_has_the_frontier(success):
    """Two hundred words, whose programme begins with ten outputs of each."""
    random = np.random.default_rng(5)
    p, points = random.dirichlet(np.full(200, 0.4)), random.normal(size=(200, 6))
    far, success = cdist(points, points), max(success, p.max())
    found, one = joint_frontier(p, far, [np.ones(200)], [success], gap=1e-6), frontier(p, far, success, gap=1e-4)
    assert one.lower - 1e-9 <= found.upper and found.lower <= one.upper + 1e-9
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert bayes_vulnerability(p, found.channel) <= success + 1e-9


def test_a_word_that_never_occurs_has_a_used_output():
    found = joint_frontier([0.5, 0.5, 0], [[0, 9, 1], [9, 0, 1], [1, 9, 0]], [[1, 1, 1]], [1.0])
    assert found.upper == 0 and found.channel.outputs == ["0", "1"]
    assert found.channel.matrix()[2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limits": [0.7, 0.1]}, "limits: 0.1 is below the blind guess of attacker 1, 0.4; pass more"),
        ({"limits": [0.7]}, r"worth: shape \(2, 2\); pass one of \(1, 2\)"),
        ({"distances": [[0, np.nan], [1, 0]]}, "distances: row 0, column 1 is nan; pass numbers of at least 0"),
        ({"prior": [0.6, 0.6]}, "prior: pass numbers of at least 0 that sum to 1"),
    ],
)
def test_bad_input_is_one_line(given, message):
    good = {"prior": [0.6, 0.4], "distances": [[0, 1], [1, 0]], "worth": [[1, 1], [0, 1]], "limits": [0.7, 0.4]}
    with pytest.raises(ValueError, match=message) as error:
        joint_frontier(**good | given)
    assert "\n" not in str(error.value)


def test_too_many_words_are_refused(monkeypatch):
    monkeypatch.setattr(several_attackers, "_LARGEST", 3)
    with pytest.raises(ValueError, match="distances: 4 words or outputs; pass at most 3"):
        joint_frontier(np.full(4, 0.25), np.ones((4, 4)) - np.eye(4), [np.ones(4)], [0.5])


def test_what_passes_a_limit_is_mixed_with_the_channel_that_says_nothing():
    p, far = np.array([0.5, 0.5]), 1.0 - np.eye(2)
    limits = np.array([0.6])
    matrix = several_attackers._within(np.diag(p), p, far, np.ones((1, 2)), limits, home=0)
    assert matrix.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert (p[:, None] * matrix).max(axis=0).sum() == pytest.approx(0.6)  # and not 1, as of the identity
