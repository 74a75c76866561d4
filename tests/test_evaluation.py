import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from textsan.evaluation import (
    attack_success_rate,
    bootstrap_rate,
    paired_difference,
    sensitive_positions,
    substring_success_rate,
)


@pytest.mark.parametrize("hits, n", [(0, 7), (3, 11), (250, 1000), (5, 5)])
def test_wilson_interval_agrees_with_statsmodels(hits, n):
    rate = attack_success_rate(["a"] * hits + ["b"] * (n - hits), ["a"] * n)
    assert rate.value == hits / n
    assert (rate.low, rate.high) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_success_is_equality_not_containment():
    assert attack_success_rate(["artful", "Art"], ["art", "art"]).value == 0


def test_the_paper_compatible_score_is_containment_of_the_truth():
    guesses, truths = ["artful", "art", "film", "a"], ["art", "artful", "film", "b"]
    lenient, exact = substring_success_rate(guesses, truths), attack_success_rate(guesses, truths)
    assert (lenient.value, exact.value) == (2 / 4, 1 / 4)
    assert (lenient.low, lenient.high) == pytest.approx(proportion_confint(2, 4, method="wilson"), abs=1e-9)
    with pytest.raises(ValueError, match="guesses"):
        substring_success_rate(["a"], [])


def test_sentences_that_stand_or_fall_together_widen_the_interval():
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(200), 10)
    hits = np.repeat(generator.random(200) < 0.4, 10)
    guesses = np.where(hits, "a", "b").tolist()
    clustered = bootstrap_rate(guesses, ["a"] * 2000, groups, seed=1)
    naive = attack_success_rate(guesses, ["a"] * 2000)
    assert clustered.value == naive.value
    assert clustered.high - clustered.low == pytest.approx(np.sqrt(10) * (naive.high - naive.low), rel=0.15)


def test_pairing_narrows_the_interval_of_a_difference():
    generator = np.random.default_rng(0)
    easy = generator.random(3000) < 0.5
    better = easy | (generator.random(3000) < 0.02)
    word = np.array(["b", "a"])
    guesses, others = word[better.astype(int)].tolist(), word[easy.astype(int)].tolist()
    truths, groups = ["a"] * 3000, np.arange(3000)
    difference = paired_difference(guesses, others, truths, groups, seed=2)
    assert 0 < difference.low < difference.value < difference.high
    assert attack_success_rate(guesses, truths).low < attack_success_rate(others, truths).high  # unpaired overlap
    reverse = paired_difference(others, guesses, truths, groups, seed=2)
    assert reverse.value == -difference.value and reverse.high < 0


def test_bootstrap_covers_as_often_as_it_says():
    generator = np.random.default_rng(4)
    covered = 0
    for trial in range(200):
        sentence_rates = generator.beta(2, 3, size=60)
        hits = generator.random((60, 8)) < sentence_rates[:, None]
        guesses = np.where(hits.ravel(), "a", "b").tolist()
        interval = bootstrap_rate(guesses, ["a"] * 480, np.repeat(np.arange(60), 8), seed=trial, resamples=400)
        covered += interval.low <= 0.4 <= interval.high
    assert 0.89 <= covered / 200 <= 0.99


@pytest.mark.parametrize("guesses, truths", [([], []), (["a"], ["a", "b"])])
def test_nothing_to_score_is_an_error(guesses, truths):
    with pytest.raises(ValueError, match="guesses"):
        attack_success_rate(guesses, truths)


def test_sensitive_positions_are_those_of_the_original_words():
    docs = [["the", "cat", "sat"], [], ["cat"]]
    assert sensitive_positions(docs, {"cat", "sat"}) == [(0, 1), (0, 2), (2, 0)]
