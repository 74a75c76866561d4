import numpy as np
import pytest
import scipy.stats
from helpers import refused
from statsmodels.stats.proportion import proportion_confint

from textsan import Embeddings
from textsan.embedding_leakage.keyword import keyword_score
from textsan.embedding_leakage.pattern import beyond_product
from textsan.evaluation import (
    attack_success_rate,
    bootstrap_difference,
    bootstrap_mean,
    clustered_difference,
    clustered_rate,
    hit_rate,
    means_the_same,
    paired_difference,
    sensitive_positions,
)


@pytest.mark.parametrize("hits, n", [(0, 7), (3, 11), (250, 1000), (5, 5)])
def test_wilson_interval_agrees_with_statsmodels(hits, n):
    rate = attack_success_rate(["a"] * hits + ["b"] * (n - hits), ["a"] * n)
    assert rate.value == hits / n
    assert (rate.low, rate.high) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_success_is_equality_not_containment():
    assert attack_success_rate(["artful", "Art"], ["art", "art"]).value == 0


def test_hits_are_scored_as_the_guesses_are():
    generator = np.random.default_rng(5)
    guesses, others, truths = (generator.choice(["a", "b", "c"], size=300).tolist() for _ in range(3))
    hits, missed = (
        np.array([word == truth for word, truth in zip(g, truths, strict=True)]) for g in (guesses, others)
    )
    groups = generator.integers(40, size=300)
    assert hit_rate(hits) == attack_success_rate(guesses, truths)
    positions = [(group, i) for i, group in enumerate(groups)]
    assert attack_success_rate(guesses, truths, positions) == clustered_rate(hits, groups)
    gain = clustered_difference(hits.astype(float) - missed, groups)
    assert gain == paired_difference(guesses, others, truths, groups)


def test_the_interval_of_a_mean_covers_as_often_as_it_says():
    generator = np.random.default_rng(6)
    groups, covered = np.repeat(np.arange(60), 5), 0
    for trial in range(200):
        values = np.repeat(generator.normal(2, 1, size=60), 5) + generator.normal(0, 1, size=300)
        interval = bootstrap_mean(values, groups, seed=trial, resamples=400)
        covered += interval.low <= 2 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_a_difference_of_two_kinds_is_that_of_their_means():
    """Against the resamples counted one by one, a kind that some of them lack included."""
    hits, words = np.array([2.0, 0, 1, 3]), np.array([2, 0, 4, 3])
    rare, few = np.array([0.0, 1, 0, 0]), np.array([0, 1, 0, 0])
    difference = bootstrap_difference((hits, words), (rare, few), seed=7, resamples=50)
    draws = np.random.default_rng(7).multinomial(4, np.full(4, 0.25), size=50)
    gaps = []
    for draw in draws:
        drawn = np.repeat(np.arange(4), draw)
        means = [v[drawn].sum() / n[drawn].sum() if n[drawn].sum() else 0 for v, n in ((hits, words), (rare, few))]
        gaps.append(means[0] - means[1])
    assert (draws[:, 1] == 0).any()
    assert difference == (6 / 9 - 1, *np.quantile(gaps, [0.025, 0.975]))


def test_means_of_nothing_get_one_line():
    refused("guesses", lambda: attack_success_rate([], []))
    refused("guesses", lambda: attack_success_rate(["a"], ["a", "b"]))
    refused("hits", lambda: hit_rate([]))
    refused("hits: none", lambda: clustered_rate([], []))
    refused("groups: 1 for 2 hits", lambda: clustered_rate([1, 0], [0]))
    refused("hits: a number outside \\[0, 1\\]", lambda: clustered_rate([1, 2], [0, 1]))
    refused("outside", lambda: clustered_rate([1, float("nan")], [0, 1]))
    refused("gains: a number outside \\[-1, 1\\]", lambda: clustered_difference([1, -1.5], [0, 1]))
    refused("values", lambda: bootstrap_mean([], [], seed=0))
    refused("groups", lambda: bootstrap_mean([1, 2], [0], seed=0))
    refused("same sentences", lambda: bootstrap_difference(([1], [1]), ([1, 2], [1, 2]), seed=0))
    refused("no sentence", lambda: bootstrap_difference(([1], [1]), ([0], [0]), seed=0))


def test_sensitive_positions_are_those_of_the_original_words():
    docs = [["the", "cat", "sat"], [], ["cat"]]
    assert sensitive_positions(docs, {"cat", "sat"}) == [(0, 1), (0, 2), (2, 0)]


def test_a_hit_of_meaning_is_the_word_or_a_near_one_by_brute_force():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    table = Embeddings(words, rng.normal(size=(30, 5)))
    guesses, truths = rng.choice(words, 200).tolist(), rng.choice(words, 200).tolist()
    unit = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    for k in (1, 4, 29, 99):
        expected = []
        for guess, truth in zip(guesses, truths, strict=True):
            cosine = unit @ unit[words.index(truth)]
            order = [word for word in sorted(words, key=lambda w: -cosine[words.index(w)]) if word != truth]
            expected.append(guess == truth or guess in order[:k])
        assert means_the_same(guesses, truths, table, k=k).tolist() == expected


def test_a_word_without_a_vector_means_itself_alone():
    table = Embeddings(["a", "b"], [[1.0], [1.0]])
    assert means_the_same(["x", "a", "x"], ["x", "x", "a"], table).tolist() == [True, False, False]


@pytest.mark.parametrize("size", [49, 50, 103])
def test_groups_of_one_share_count_as_words_whatever_is_rounded(size):
    """Twenty groups with one hit each are no less known than twenty with a hit more: the interval hardly moves."""
    groups, hits = np.repeat(np.arange(20), size), np.arange(20 * size) % size == 0
    alike = clustered_rate(hits, groups)
    hits[1] = True
    near = clustered_rate(hits, groups)
    assert (near.low, near.high) == pytest.approx((alike.low, alike.high), rel=0.15)


@pytest.mark.parametrize("hits, n", [(0, 40), (1, 40), (20, 4000), (4000, 4000)])
def test_words_of_documents_of_one_word_have_the_interval_of_clopper_and_pearson(hits, n):
    """Against statsmodels, at as many trials as Student's t and the estimated variance leave."""
    rate = clustered_rate(np.arange(n) < hits, range(n))
    t = scipy.stats.t.ppf(0.975, n - 1) / scipy.stats.norm.ppf(0.975)
    left = (n - 1 if 0 < hits < n else n) / t**2
    expected = proportion_confint(hits / n * left, left, method="beta")
    low, high = np.nan_to_num(expected[0], nan=0.0), np.nan_to_num(expected[1], nan=1.0)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-9)


def test_a_rate_and_its_complement_and_a_difference_and_its_reverse_mirror_each_other():
    generator = np.random.default_rng(2)
    groups = np.sort(generator.integers(15, size=200))
    gains = generator.choice([-1, 0, 0, 1, 1], size=200)
    rate, misses = clustered_rate(gains == 1, groups), clustered_rate(gains != 1, groups)
    assert misses == pytest.approx((1 - rate.value, 1 - rate.high, 1 - rate.low))
    gain, loss = clustered_difference(gains, groups), clustered_difference(-gains, groups)
    assert loss == pytest.approx((-gain.value, -gain.high, -gain.low))


def test_far_from_the_ends_the_intervals_are_those_of_the_sandwich():
    """With many documents: 1.96 standard errors of the ratio of sums, as the linearized variance has them."""
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 20, size=2000)
    groups = np.repeat(np.arange(2000), sizes)
    shares = generator.dirichlet([2, 1, 2], size=2000)
    values = (generator.random(len(groups))[:, None] > np.cumsum(shares, axis=1)[groups, :2]).sum(axis=1) - 1
    for found, of in (
        (clustered_difference(values, groups), values),
        (clustered_rate(values == 1, groups), values == 1),
        (clustered_difference(values / 3, groups), values / 3),
    ):
        apart = np.bincount(groups, weights=of - np.mean(of))
        error = np.sqrt((apart**2).sum()) / len(groups)
        assert found.value == pytest.approx(np.mean(of))
        assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.03)


@pytest.mark.parametrize("values", [[1, 1], [0, 1], [0, 0]])
def test_one_document_says_nothing_of_others(values):
    rate, gain = clustered_rate(values, [7, 7]), clustered_difference(values, [7, 7])
    assert (rate.low, rate.high, gain.low, gain.high) == (0, 1, -1, 1)
    loss = bootstrap_mean(values, [7, 7], seed=0)
    apart = bootstrap_difference(([1.0], [2.0]), ([0.0], [3.0]), seed=0)
    assert (loss.low, loss.high) == (apart.low, apart.high) == (-np.inf, np.inf)


def test_one_text_of_a_kind_says_nothing_of_areas_and_products():
    alone = keyword_score(np.array([1.0, -1.0, -2.0]), np.array([True, False, False]), seed=0)
    assert {one[1:] for one in (alone.auc, alone.balanced, alone.accuracy)} == {(0.0, 1.0)}
    one = {name: np.array([True]) for name in ("year", "whole")}
    assert beyond_product(one, seed=0)[1:] == (-1.0, 1.0)
