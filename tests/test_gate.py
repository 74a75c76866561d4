"""The gate: a planted detector that uses context passes, others do not, at the rate that is promised."""

from itertools import product

import numpy as np
import pytest
import scipy

from textsan.attacks.gate import _beta, _matched, _permuted, flat, gate

WORDS, CANDIDATES, COPIES = 15, 3, 3


def planted(seed, detector, strength=0.0, sentences=150):
    """Items of 4 positions a sentence, sanitized three times: labels, log odds, blind log odds, strata, sentences.

    A label is 1 with log odds blind + strength * c. The sentence itself moves a noisy detector, everywhere.
    """
    generator = np.random.default_rng(seed)
    n = sentences * 4 * COPIES
    stratum, c = generator.integers(WORDS * CANDIDATES, size=n), generator.normal(size=n)
    blind = scipy.special.logit(generator.beta(1, 1, WORDS * CANDIDATES))[stratum]
    sentence = np.repeat(np.arange(sentences), 4 * COPIES)
    labels = generator.random(n) < scipy.special.expit(blind + strength * c)
    noise = generator.normal(size=n) + generator.normal(size=sentences)[sentence] / 2
    odds = {
        "noisy": blind / 2 + noise,
        "blind": blind,
        "knows frequencies better": 2 * blind,
        "constant": np.full(n, -3.0),
        "context": blind + c,
        "context alone": 2 * c - 4,
    }[detector]
    wrong = np.sign(blind) * 0.1 if detector == "knows frequencies better" else blind
    return labels, odds, wrong, stratum, sentence


@pytest.mark.parametrize("detector", ["blind", "constant", "knows frequencies better"])
def test_a_detector_that_sees_no_context_never_passes(detector):
    for seed in range(5):
        found = gate(*planted(seed, detector, strength=1.0))
        assert not found.passed and found.permuted.value == 0


@pytest.mark.parametrize("sentences", [25, 150])
def test_noise_passes_no_more_often_than_promised(sentences):
    """Two tests, each passing by luck in 1.25 % of cases: of 300 that is 7.5, and 15 is 2.7 deviations more."""
    found = [gate(*planted(seed, "noisy", strength=1.0, sentences=sentences)) for seed in range(300)]
    assert sum(one.passed for one in found) <= 15
    if sentences == 150:  # and no less often than an honest test would
        assert 2 <= sum(one.permuted.high < 0 or one.beta.high < 0 for one in found) <= 15


def test_detectors_that_use_context_pass_also_below_the_blind_rule():
    found = [gate(*planted(seed, "context", strength=1.0)) for seed in range(10)]
    assert all(one.passed and one.accuracy.value > one.accuracy_blind.value for one in found)
    assert np.mean([one.beta.value for one in found]) == pytest.approx(1.0, abs=0.1)
    found = [gate(*planted(seed, "context alone", strength=1.0)) for seed in range(10)]
    assert all(one.passed and one.accuracy.high < one.accuracy_blind.low for one in found)


def test_statistics_are_those_of_all_pairs():
    """By brute force over pairs of items, and the slope against a search over a grid."""
    labels, odds, _, stratum, sentence = planted(0, "context", strength=1.0, sentences=12)
    n = len(labels)
    partners = {
        i: [j for j in range(n) if stratum[j] == stratum[i] and sentence[j] != sentence[i]] for i in range(n)
    }
    says, some = odds > 0, [i for i in range(n) if partners[i]]
    gains = [float(says[i] == labels[i]) - np.mean([says[j] == labels[i] for j in partners[i]]) for i in some]
    pairs = _matched(stratum, sentence)
    assert _permuted(labels.astype(float), says, pairs, sentence).value == pytest.approx(np.mean(gains))

    discordant = [(i, j) for i, j in product(some, some) if j in partners[i] and labels[i] > labels[j]]
    weight = np.array([(1 / len(partners[i]) + 1 / len(partners[j])) / 2 for i, j in discordant])
    apart = np.array([odds[i] - odds[j] for i, j in discordant])
    scale = np.sqrt(np.mean(apart**2))

    def loss(beta):
        ridge = np.logaddexp(0, -beta * scale) / 2 + np.logaddexp(0, beta * scale) / 2
        return weight @ np.logaddexp(0, -beta * apart) + ridge

    best = scipy.optimize.minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x
    assert _beta(labels.astype(float), odds, pairs, sentence).value == pytest.approx(best, abs=1e-5)


def test_copies_of_a_sentence_are_no_evidence():
    """One sentence with each label: a detector that tells the two apart, a thousand times, has shown nothing."""
    labels, sentences = [1, 0] * 500, [0, 1] * 500
    found = gate(labels, [2.0, -2.0] * 500, [0.0] * 1000, [0] * 1000, sentences)
    assert not found.passed
    assert not gate([1] * 30, [1.0] * 30, [0.0] * 30, [0] * 30, range(30)).passed  # no other label


def test_a_detector_that_is_always_right_has_a_finite_slope():
    found = gate([1, 0] * 60, [3.0, -3.0] * 60, [0.0] * 120, [0] * 120, range(120))
    assert found.passed and np.isfinite(list(flat({"beta": found.beta}).values())).all()
    assert (found.columns()["gate"], found.columns()["gate_beta_low"]) == ("passed", found.beta.low)
