"""The frontier: between its two ends lies what full programmes find, and every channel is above its line."""

import numpy as np
import pytest
import scipy
from helpers import refused
from hypothesis import given, settings, strategies as st
from qif.mechanism import bayes_vuln
from scipy.spatial.distance import cdist

from textsan import Embeddings, Prior
from textsan.leakage import bayes_vulnerability, frontier, least_loss, sorted_outputs


def programme(p, far, v):
    """Least expected distance with V <= v: all n m unknowns, by HiGHS."""
    n, m = far.shape
    size = n * m
    cost = np.append(far.ravel(), np.zeros(m))
    sums = scipy.sparse.hstack([scipy.sparse.kron(np.eye(n), np.ones((1, m))), scipy.sparse.csr_array((n, m))])
    below = scipy.sparse.hstack([scipy.sparse.eye(size), -scipy.sparse.kron(np.ones((n, 1)), scipy.sparse.eye(m))])
    budget = scipy.sparse.csr_array(np.append(np.zeros(size), np.ones(m))[None])
    limits = scipy.sparse.vstack([below, budget]).tocsr()
    found = scipy.optimize.linprog(
        cost, A_ub=limits, b_ub=np.append(np.zeros(size), v), A_eq=sums.tocsr(), b_eq=p, method="highs"
    )
    assert found.success
    return found.fun


def world(seed, n=None):
    random = np.random.default_rng(seed)
    n = n or int(random.integers(3, 13))
    points = random.normal(size=(n, 2))
    p = random.dirichlet(np.full(n, 0.7))
    return p, points, cdist(points, points), float(random.uniform(p.max(), 1))


def loss(p, far, channel, words):
    columns = [words.index(word) for word in channel.outputs]
    return float((p[:, None] * channel.matrix() * far[:, columns]).sum())


@pytest.mark.parametrize("seed", range(50))
def test_the_ends_hold_what_two_solvers_find(seed):
    p, _, far, v = world(seed)
    found, exact = frontier(p, far, v), programme(p, far, v)
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert found.upper - found.lower <= 1e-6
    table = np.array(bayes_vuln.min_loss_given_max_vuln(p, len(p), v, lambda x, y: far[x, y]))
    assert (p[:, None] * table * far).sum() == pytest.approx(exact, abs=1e-7)
    assert bayes_vulnerability(p, found.channel) <= v + 1e-12
    assert loss(p, far, found.channel, found.channel.inputs) == pytest.approx(found.upper, abs=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_the_ends_of_the_updates_hold_what_the_programme_finds(seed, monkeypatch):
    monkeypatch.setattr(least_loss, "_EXACT", 0)
    p, _, far, v = world(seed)
    found, exact = frontier(p, far, v), programme(p, far, v)
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.02 * far.mean()
    assert bayes_vulnerability(p, found.channel) <= v + 1e-12


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), other=st.integers(0, 10**6), sharpness=st.floats(0.05, 30))
def test_no_channel_is_below_a_line(seed, other, sharpness):
    """Neither one that was drawn, nor a mechanism's; at any vulnerability, not that of the certificate alone."""
    p, points, far, v = world(seed)
    found = frontier(p, far, v, also=[(v + 1) / 2], gap=0.05)
    random = np.random.default_rng(other).dirichlet(np.full(len(p), 1 / sharpness), size=len(p))
    weights = np.exp(-sharpness * far)
    for table in (random, weights / weights.sum(axis=1, keepdims=True), np.eye(len(p))):
        success = (p[:, None] * table).max(axis=0).sum()
        assert (p[:, None] * table * far).sum() >= found.least_loss(success) - 1e-9


def test_short_lists_say_the_same_as_whole_ones(monkeypatch):
    p, points, far, _ = world(1, n=140)
    words = Embeddings([f"w{i}" for i in range(140)], points)
    prior = Prior(words.words, p)
    whole = frontier(prior, words, 0.3)
    monkeypatch.setattr(sorted_outputs, "_NEAREST", 25)
    short, exact = frontier(prior, words, 0.3), programme(p, far, 0.3)
    assert np.isfinite(sorted_outputs.SortedOutputs(p, lambda rows: far[rows], 140).reach).sum() == 115
    for found in (whole, short):
        assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert short.upper - short.lower <= 0.02 * exact


def test_several_success_rates_draw_the_whole_frontier():
    p, _, far, _ = world(5, n=40)
    low = float(p.max())
    found = frontier(p, far, 0.4, also=np.linspace(low + 0.02, 0.95, 7))
    for v in np.linspace(low + 0.02, 0.99, 9):
        exact = programme(p, far, v)
        assert found.least_loss(v) - 1e-9 <= exact <= found.attained_loss(v) + 1e-9
        assert exact - found.least_loss(v) <= 0.05 * programme(p, far, low + 0.02)
    assert found.least_loss(low / 2) == np.inf and found.least_loss(1.0) == 0
    assert (np.diff(found.least_loss(np.linspace(low, 1, 50))) <= 1e-12).all()


def test_at_the_blind_guess_there_is_a_channel_and_below_it_none():
    p, _, far, _ = world(7, n=9)
    found, exact = frontier(p, far, p.max()), programme(p, far, p.max())
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    with pytest.raises(ValueError, match=r"success: .* is below the blind guess; no channel has less than 0\.\d+"):
        frontier(p, far, p.max() / 2)


@pytest.mark.parametrize("seed", range(8))
def test_an_erasure_symbol_is_one_more_output(seed):
    p, _, far, v = world(seed)
    more = np.column_stack([far, np.full(len(p), 0.4)])
    found, exact = frontier(p, far, v, erasure=0.4), programme(p, more, v)
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert set(found.channel.outputs) <= {*found.channel.inputs, "⊥"}
    assert frontier(p, far, p.max(), erasure=0.0).upper == pytest.approx(0, abs=1e-12)


def test_words_that_never_occur_are_outputs_only():
    """A point between two words is worth releasing, though nobody writes it."""
    p, far = np.array([0.5, 0.5, 0.0]), cdist([[0.0], [2.0], [1.0]], [[0.0], [2.0], [1.0]])
    found = frontier(p, far + np.where(np.eye(3), 0, 0), 0.5)
    assert found.upper == pytest.approx(programme(p, far, 0.5), abs=1e-2)
    assert found.channel.matrix().sum(axis=1) == pytest.approx(1) and found.channel.shape[0] == 3


@pytest.mark.parametrize(
    "prior, vectors, success, message",
    [
        ([0.5, 0.5], [[0, -1], [1, 0]], 0.7, r"vectors: the distance in row 0, column 1 is -1.0; pass"),
        ([0.5, 0.5], [[0, np.nan], [1, 0]], 0.7, r"vectors: the distance in row 0, column 1 is nan"),
        ([0.5, 0.5], [[0, np.inf], [1, 0]], 0.7, r"vectors: the distance in row 0, column 1 is inf"),
        ([0.5, 0.5], [[0.0], [np.nan]], 0.7, "vectors: a number is missing"),
        ([0.5, 0.5], [[0.0]], 0.7, r"vectors: shape \(1, 1\) does not fit a prior of 2 words"),
        ([0.5, 0.6], [[0, 1], [1, 0]], 0.7, "prior: pass numbers of at least 0 that sum to 1"),
        (Prior("ax", [0.5, 0.5]), Embeddings("ab", [[0.0], [1.0]]), 0.7, "prior: 'x' has mass but is no word"),
        ([0.5, 0.5], [[0, 1], [1, 0]], 1.5, "success: 1.5 is out of range"),
    ],
)
def test_bad_input_is_one_line(prior, vectors, success, message):
    refused(message, lambda: frontier(prior, vectors, success))


def test_a_table_of_too_many_words_is_refused(monkeypatch):
    monkeypatch.setattr(least_loss, "_LARGEST", 3)
    with pytest.raises(ValueError, match="a table of 4 words; pass Embeddings, or at most 3 words"):
        frontier(np.full(4, 0.25), np.ones((4, 4)) - np.eye(4), 0.5)


def test_what_was_asked_for_first_is_attained_up_to_rounding():
    found = frontier([0.4, 0.3, 0.2, 0.1], [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]], 0.4)
    assert found.attained_loss(found.points[0, 0] - 1e-15) == found.points[0, 1]
    assert found.attained_loss(found.points[0, 0] - 1e-9) == np.inf


@pytest.mark.parametrize("n", [20, 30, 50])
@pytest.mark.parametrize("seed", range(30))
def test_rounding_leaves_no_probability_below_nothing(seed, n):
    random = np.random.default_rng(seed)
    points, p = random.normal(size=(n, 2)), random.dirichlet(np.ones(n))
    found = frontier(Prior([str(i) for i in range(n)], p), cdist(points, points), 2 * p.max())
    assert (found.channel.matrix() >= 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_at_exactly_the_blind_guess_of_more_words_than_are_solved_exactly(seed):
    """Capacities sum to the likeliest word's probability, up to rounding: "too little near a word"."""
    p, _, far, _ = world(seed, n=61 + seed)
    found, exact = frontier(p, far, float(p.max())), programme(p, far, float(p.max()))
    assert found.lower <= exact + 1e-9 and exact <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.02 * exact
    assert bayes_vulnerability(p, found.channel) <= p.max() + 1e-12
