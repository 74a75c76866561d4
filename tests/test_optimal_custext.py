"""Optimal channels within groups: the programme's value, an exact promise, and never more lost than by CusText."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from qif.mechanism import d_privacy
from scipy.spatial.distance import cdist
from test_sharp import most

from textsan import Channel, CusText, Embeddings
from textsan.base import assets
from textsan.channel.optimal import mixed_to_private, private_channel
from textsan.mechanisms import OptimalCusText, make_mechanism, optimal_custext
from textsan.privacy import tight_epsilon

WORDS = ["the", "of", *(f"w{i}" for i in range(58))]
VECTORS = np.random.default_rng(0).normal(size=(60, 4))
EMBEDDINGS = Embeddings(WORDS, VECTORS)
COUNTS = {word: 1000 // (i + 1) for i, word in enumerate(WORDS)}


def tight(table):
    return tight_epsilon(Channel.from_matrix(table, WORDS[: len(table)], WORDS[: table.shape[1]]))


def least(p, losses, epsilon):
    """Least expected loss under epsilon-DP, every pair of rows a constraint of its own."""
    return -most(-p[:, None] * losses, np.full((len(p), len(p)), epsilon))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 4))
def test_the_loss_is_the_least_and_the_promise_is_exact(seed, epsilon):
    random = np.random.default_rng(seed)
    n, m = random.integers(2, 6), random.integers(2, 6)
    p, losses = random.dirichlet(np.ones(n)), random.uniform(size=(n, m))
    table = private_channel(p, losses, epsilon)
    assert table.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert tight(table) <= epsilon
    assert (p[:, None] * table * losses).sum() == pytest.approx(least(p, losses, epsilon), abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_qif_finds_the_same(seed):
    random = np.random.default_rng(seed)
    points, p = random.normal(size=(5, 2)), random.dirichlet(np.ones(5))
    far, epsilon = cdist(points, points), float(random.uniform(0.3, 2.5))
    other = np.array(d_privacy.min_loss_given_d(p, 5, lambda a, b: epsilon * (a != b), lambda x, y: far[x, y]))
    mine = private_channel(p, far, epsilon)
    assert (p[:, None] * mine * far).sum() == pytest.approx((p[:, None] * other * far).sum(), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 6), noise=st.floats(0, 0.2))
def test_mixing_makes_any_table_private_at_the_price_that_is_said(seed, epsilon, noise):
    random = np.random.default_rng(seed)
    n, m = random.integers(2, 8), random.integers(2, 8)
    p, losses = random.dirichlet(np.ones(n)), random.uniform(size=(n, m))
    base = random.dirichlet(np.ones(m))
    rough = np.maximum(base + noise * random.normal(size=(n, m)), 0)
    rough = (rough + 1e-12) / (rough + 1e-12).sum(axis=1, keepdims=True)
    made = mixed_to_private(rough, epsilon)
    assert tight(made) <= epsilon + 1e-9 and made.sum(axis=1) == pytest.approx(1)
    eta = max((rough.max(axis=0) - np.exp(epsilon) * rough.min(axis=0)).max(), 0)
    theta = eta * m / (np.exp(epsilon) - 1 + eta * m)
    lost = [(p[:, None] * table * losses).sum() for table in (rough, made)]
    uniform = (p[:, None] * losses / m).sum()
    assert lost[1] - lost[0] <= theta * uniform + 1e-9
    success = [(p[:, None] * table).max(axis=0).sum() for table in (rough, made)]
    assert success[1] <= max(success[0], p.max()) + 1e-9


def test_flooring_is_not_private_and_the_check_sees_it():
    """Planted: the repair that suggests itself, entries raised to exp(-eps) max and rows normalised again."""
    random, worst = np.random.default_rng(1), 0.0
    for _ in range(20):
        rough = random.dirichlet(np.full(6, 0.4), size=6)
        floored = np.maximum(rough, np.exp(-1.0) * rough.max(axis=0))
        floored /= floored.sum(axis=1, keepdims=True)
        worst = max(worst, tight(floored))
        assert tight(mixed_to_private(rough, 1.0)) <= 1.0 + 1e-9
    assert worst > 1.05


def lost(mechanism, p):
    channel = mechanism.channel.restrict(WORDS)
    far = cdist(VECTORS, VECTORS)[:, [WORDS.index(word) for word in channel.outputs]]
    table = channel.matrix()
    return (p[:, None] * table * far).sum(), (p[:, None] * table).max(axis=0).sum()


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0, 30.0])
def test_groups_and_promise_are_custexts_and_less_is_lost(epsilon):
    plain = CusText(EMBEDDINGS, epsilon, k=7)
    best = OptimalCusText(EMBEDDINGS, epsilon, k=7, counts=COUNTS)
    assert best.guarantee == plain.guarantee and best.group_words == plain.group_words
    assert best.guarantee.tight(best.channel) <= epsilon
    assert lost(best, best.prior)[0] < lost(plain, best.prior)[0]


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_success_rate_is_kept_and_costs_no_more_than_it_must(share):
    p = OptimalCusText(EMBEDDINGS, 2.0, k=7, counts=COUNTS).prior
    free = OptimalCusText(EMBEDDINGS, 2.0, k=7, counts=COUNTS)
    least = sum(p[group].max() for group in free.groups)
    asked = least + share * (lost(free, p)[1] - least)
    bound = free.with_(success=asked)
    loss, success = lost(bound, p)
    assert success <= asked + 1e-9 and bound.guarantee.tight(bound.channel) <= 2.0
    # by Lagrange: at any price no channel of the promise has less of loss + price V
    prices = np.geomspace(0.01, 100, 25)
    tables = [[private_channel(p[g], free._losses(g), 2.0, price=price) for g in free.groups] for price in prices]
    bounds = [
        sum((p[g][:, None] * t * free._losses(g)).sum() for g, t in zip(free.groups, made, strict=True))
        + price
        * (sum((p[g][:, None] * t).max(axis=0).sum() for g, t in zip(free.groups, made, strict=True)) - asked)
        for price, made in zip(prices, tables, strict=True)
    ]
    assert max(bounds) - 1e-6 <= loss <= 1.02 * max(bounds)


def test_an_impossible_success_is_one_line_that_says_the_least():
    with pytest.raises(
        ValueError, match=r"success: 0.01 is below what the groups give away; pass 0\.\d+ or a larger k"
    ):
        OptimalCusText(EMBEDDINGS, 1.0, k=7, success=0.01).channel  # noqa: B018
    with pytest.raises(ValueError, match="success: 1.5 is out of range"):
        OptimalCusText(EMBEDDINGS, 1.0, success=1.5)


def test_kept_words_stay_and_are_no_part_of_the_prior():
    plus = make_mechanism("optimal custext+", EMBEDDINGS, epsilon=1.0, k=7, counts=COUNTS)
    assert plus.channel.rows(["the"])[0].max() == 1 and plus.prior[0] == 0
    assert plus.guarantee.tight(plus.channel) <= 1.0


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(optimal_custext, "_FEW", 0)
    return tmp_path


def test_tables_are_kept_by_content(cache, monkeypatch):
    made = OptimalCusText(EMBEDDINGS, 1.0, k=7, counts=COUNTS).channel.matrix()
    assert len(list(cache.rglob("*.npz"))) == 1
    solved = []
    real = optimal_custext.private_channel
    monkeypatch.setattr(optimal_custext, "private_channel", lambda *a, **b: solved.append(1) or real(*a, **b))
    assert (OptimalCusText(EMBEDDINGS, 1.0, k=7, counts=COUNTS).channel.matrix() == made).all() and not solved
    for other in ({"counts": None}, {"k": 6}, {"similarity": "cosine"}):
        solved.clear()
        OptimalCusText(EMBEDDINGS, 1.0, **({"k": 7, "counts": COUNTS} | other)).channel  # noqa: B018
        assert solved


def test_a_solver_that_fails_is_named_and_leaves_nothing(cache, monkeypatch):
    class Failed:
        success, message = False, "time limit"

    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **b: Failed)
    with pytest.raises(ValueError, match="HiGHS, the solver, finds no channel .time limit"):
        OptimalCusText(EMBEDDINGS, 1.0, k=7).channel  # noqa: B018
    assert not list(cache.rglob("*"))


@pytest.mark.parametrize("prior, price", [([-0.5, 1.5], 0), ([0.5, 0.5], np.nan)])
def test_weights_that_are_none_are_refused(prior, price):
    with pytest.raises(ValueError, match="^prior, price: a number is negative or missing"):
        private_channel(prior, [[0, 1], [1, 0]], 1.0, price=price)
