from collections import Counter

import numpy as np
import pytest

from textsan import Prior


def test_alpha_inverse_is_add_one_on_counts():
    counts = Counter({"a": 5, "b": 2, "the": 93})
    words = ["a", "b", "c"]
    add_one = np.array([6, 3, 1]) / 10
    np.testing.assert_allclose(Prior.from_counts(counts, words).probabilities, add_one)
    np.testing.assert_allclose(Prior.from_counts(counts, words, alpha_inverse=1 / 100).probabilities, add_one)
    np.testing.assert_allclose(Prior.from_counts(counts, words, alpha_inverse=0).probabilities, [5 / 7, 2 / 7, 0])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (({}, ["a"]), "counts: empty"),
        (({"b": 3}, ["a"], 0), "none of the prior's words"),
        (({"a": 3}, ["a"], -1), "alpha_inverse: -1 is out of range"),
        (({"a": 3}, ["a"], float("nan")), "alpha_inverse: nan is not a number"),
        (({"a": 3}, ["a", "a"]), "more than once"),
    ],
)
def test_bad_counts_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Prior.from_counts(*arguments)


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [1.0]])
def test_weights_that_are_no_probabilities_are_refused(weights):
    with pytest.raises(ValueError, match="probabilities"):
        Prior(["a", "b"], weights)
