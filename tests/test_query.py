import itertools
import math

import numpy as np
import pytest

from textsan import Channel, CusText, Embeddings
from textsan.leakage.repeated_releases import mode_probability, queries_bounds, queries_needed
from textsan_book.studies.query_words import simulate_queries


def enumerate_wins(row, x, n):
    """Pr(x wins) with ties split, and with ties lost, over all sequences of n draws."""
    split = lose = 0.0
    for draws in itertools.product(range(len(row)), repeat=n):
        counts = [draws.count(y) for y in range(len(row))]
        top = [y for y, count in enumerate(counts) if count == max(counts)]
        chance = math.prod(row[y] for y in draws)
        split += chance * (x in top) / len(top)
        lose += chance * (top == [x])
    return split, lose


@pytest.mark.parametrize("size, n", [(2, 9), (3, 7), (4, 6), (6, 4), (4, 1), (3, 2)])
def test_exact_probability_agrees_with_enumeration(size, n):
    generator = np.random.default_rng(size)
    for row in (generator.dirichlet(np.ones(size)), np.full(size, 1 / size), np.eye(size)[0] * 0.5 + 0.5 / size):
        for x in (0, size - 1):
            split, lose = enumerate_wins(row, x, n)
            assert mode_probability(row, x, n) == pytest.approx(split, abs=1e-9)
            assert mode_probability(row, x, n, ties="lose") == pytest.approx(lose, abs=1e-9)


@pytest.mark.parametrize("n", [1, 10, 100, 3000])
def test_exact_probability_agrees_with_simulation_of_long_rows(n):
    """Among 2,000 words, some repeated and most hopeless; 20,000 runs, 4 standard errors."""
    generator = np.random.default_rng(n)
    weights = np.r_[6, 5.5, 5, 5, np.full(6, 3), generator.random(1990) / 200]
    row, trials = weights / weights.sum(), 20_000
    counts = generator.multinomial(n, row, size=trials)
    top = counts == counts.max(axis=1, keepdims=True)
    split, lose = (top[:, 0] / top.sum(axis=1)).mean(), (top[:, 0] & (top.sum(axis=1) == 1)).mean()
    for ties, simulated in (("split", split), ("lose", lose)):
        exact = mode_probability(row, 0, n, ties=ties)
        assert abs(exact - simulated) < 4 * np.sqrt(exact * (1 - exact) / trials)


@pytest.mark.parametrize("row", [[0.6, 0.4], [0.3, 0.25, 0.25, 0.2], [0.55, *[0.015] * 30], [0.97, 0.03]])
def test_queries_needed_is_the_first_crossing_between_its_bounds(row):
    n = queries_needed(row, 0)
    assert mode_probability(row, 0, n) >= 0.95 > (mode_probability(row, 0, n - 1) if n > 1 else 0)
    low, high = queries_bounds(row, 0)
    assert 1 <= low <= n <= high


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 8.0])
def test_monte_carlo_finds_the_exact_count_of_a_custext_row(epsilon):
    """Four 95 % intervals, of which one may miss."""
    generator = np.random.default_rng(0)
    embeddings = Embeddings([f"w{i}" for i in range(40)], generator.normal(size=(40, 10)))
    row = CusText(embeddings, epsilon, k=20).channel.rows(["w3"])[0]
    exact = queries_needed(row, 3)
    estimates = [simulate_queries(row, 3, seed=seed) for seed in range(4)]
    assert sum(e.low <= exact <= e.high for e in estimates) >= 3
    assert all(0.7 * exact - 1 <= e.value <= 1.4 * exact + 1 for e in estimates)


def test_a_planted_bug_is_caught():
    """Forgetting all rivals but the strongest promises the attacker too much."""
    row = [0.3, 0.25, 0.25, 0.2]
    assert queries_bounds(row, 0)[0] < simulate_queries(row, 0, seed=0, trials=4000).low


@pytest.mark.parametrize("row, x", [([0.4, 0.6], 0), ([0.5, 0.5], 1), ([0.5, 0.5, 0.0], 2), ([1 / 3] * 3, 0)])
def test_no_number_of_draws_finds_a_word_that_is_not_the_mode(row, x):
    assert queries_needed(row, x) == math.inf
    assert queries_bounds(row, x) == (math.inf, math.inf)
    assert simulate_queries(row, x, seed=0).value == math.inf
    assert all(mode_probability(row, x, n) <= 0.5 + 1e-12 for n in (1, 2, 10, 501))


def test_one_draw_of_an_unprotected_word_is_enough():
    row = Channel.from_matrix(np.eye(2), "ab", "ab").rows(["a"])[0]
    assert queries_needed(row, 0) == 1 == simulate_queries(row, 0, seed=0).value
    assert mode_probability(row, 0, 5) == 1.0


@pytest.mark.parametrize(
    "arguments, named", [(([0.5, 0.6], 0), "row"), (([0.5, 0.5], 2), "x"), (([0.5, 0.5], 0, 0.5), "confidence")]
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        queries_needed(*arguments)
