"""Leakage of one released word: exact where a channel is known, else between two ends that hold it."""

import numpy as np
import pytest

from textsan import FBDD, Embeddings, Prior, SanText, leakage
from textsan_book.studies import one_word

WORDS = ["a", "b"]
TWO = Embeddings(WORDS, [[0.0], [1.0]])
EVEN = Prior(WORDS, [0.5, 0.5])


def test_a_known_channel_has_one_value():
    mechanism = SanText(TWO, 2.0)
    exact = leakage.bayes_vulnerability(EVEN, mechanism.channel)
    assert one_word.bracket(mechanism, EVEN, draws=2, seed=0) == (exact, exact)
    assert one_word.on_new_text(mechanism, {"a": 3, "b": 3, "c": 9}, seed=0) == pytest.approx(exact)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_ends_hold_the_value_of_two_words_on_a_line(epsilon):
    # the other word is released with probability exp(-epsilon / 2) / 2, and the best guess is the released word
    exact = 1 - np.exp(-epsilon / 2) / 2
    mechanism = FBDD(TWO, epsilon)
    low, high = one_word.bracket(mechanism, EVEN, draws=4000, seed=0)
    assert low <= exact + 0.02 and high >= exact - 0.02 and 0.5 <= low <= high <= 1
    assert one_word.on_new_text(mechanism, {"a": 1, "b": 1}, seed=0) >= exact - 0.02
