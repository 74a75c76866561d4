"""The scatter of a rate with the types that are drawn: against enumeration, and the committed table."""

from itertools import combinations

import numpy as np
import pytest

from textsan_book.studies.attacked_types import scatter

WORDS = ["a"] * 40 + ["b"] * 8 + ["c"] * 6 + ["d"] * 6
HITS = [1] * 36 + [0] * 4 + [0] * 8 + [1] * 3 + [0] * 3 + [1] * 6


def test_the_deviation_is_that_of_all_sets_of_types():
    totals, right = (
        [sum(one for word, one in zip(WORDS, some, strict=True) if word == w) for w in "abcd"]
        for some in ([1] * len(WORDS), HITS)
    )
    rates = [sum(right[i] for i in two) / sum(totals[i] for i in two) for two in combinations(range(4), 2)]
    found = scatter(HITS, WORDS, types=2, positions=1000, draws=20_000, seed=0)
    assert found.mean == pytest.approx(np.mean(rates), abs=0.01)
    assert found.of_types == found.deviation == pytest.approx(np.std(rates), abs=0.01)


def test_positions_add_their_own_error():
    rate, n, few = np.mean(HITS), len(HITS), 10
    found = scatter(HITS, WORDS, types=4, positions=few, draws=20_000, seed=0)
    expected = np.sqrt(rate * (1 - rate) / few * (n - few) / (n - 1))  # without replacement
    assert found.of_types == 0 and found.deviation == pytest.approx(expected, rel=0.03)
