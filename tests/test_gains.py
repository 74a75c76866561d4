"""Other gains than an exact guess, against qif; the worst of them, against more noise and other gains."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings, strategies as st
from qif import refinement
from qif.measure import g_vuln

from textsan import Channel, leakage


def random_channel(generator, n, m, concentration=0.5):
    matrix = generator.dirichlet(np.full(m, concentration), size=n)
    return Channel.from_matrix(matrix, [f"x{i}" for i in range(n)], [f"y{j}" for j in range(m)])


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.integers(1, 8))
def test_gain_vulnerability_agrees_with_qif(seed, n, m, guesses):
    generator = np.random.default_rng(seed)
    channel, prior = random_channel(generator, n, m), generator.dirichlet(np.ones(n))
    gain = generator.random((guesses, n))
    expected = g_vuln.posterior(gain, prior, channel.matrix())
    assert leakage.gain_vulnerability(prior, channel, gain) == pytest.approx(expected, abs=1e-12)
    sparse = scipy.sparse.csr_array(gain)
    assert leakage.gain_vulnerability(prior, channel, sparse) == pytest.approx(expected, abs=1e-12)


def test_the_identity_as_gain_is_the_exact_guess():
    generator = np.random.default_rng(0)
    channel, prior = random_channel(generator, 40, 30), generator.dirichlet(np.ones(40))
    exact = leakage.bayes_vulnerability(prior, channel)
    assert leakage.gain_vulnerability(prior, channel, np.eye(40)) == pytest.approx(exact, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(2, 7), st.integers(2, 7))
def test_both_ends_of_a_deficiency_meet_and_no_gain_passes_them(seed, n, m, k):
    generator = np.random.default_rng(seed)
    channel, other = random_channel(generator, n, m), random_channel(generator, n, k)
    found = leakage.deficiency(channel, other)
    assert found.lower == pytest.approx(found.upper, abs=1e-7)
    assert found.gain.min() >= 0 and found.gain.max() <= 1
    for _ in range(20):
        prior, gain = generator.dirichlet(np.full(n, 0.5)), generator.random((5, n))
        more = leakage.gain_vulnerability(prior, other, gain) - leakage.gain_vulnerability(prior, channel, gain)
        assert more <= found.upper + 1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(2, 7), st.integers(2, 7))
def test_more_noise_has_no_deficiency_and_qif_calls_it_refined(seed, n, m, k):
    generator = np.random.default_rng(seed)
    channel, noise = random_channel(generator, n, m), random_channel(generator, m, k)
    noisy = Channel.from_matrix(channel.matrix() @ noise.matrix(), channel.inputs, noise.outputs)
    assert leakage.deficiency(channel, noisy).upper == pytest.approx(0, abs=1e-7)
    assert refinement.refined_by(channel.matrix(), noisy.matrix()) is not None
    other = random_channel(generator, n, k)
    if (left := leakage.deficiency(noisy, other).lower) > 1e-6:
        assert not refinement.refined_by(noisy.matrix(), other.matrix()), left


def test_the_deficiency_of_a_coin_and_a_full_stop_is_known():
    """Of erasing, whoever wants the identity has all but what is erased: 1 - 1/n of it, by the uniform prior."""
    words = ["a", "b", "c", "d"]
    identity = Channel.from_matrix(np.eye(4), words, words)
    erased = Channel.from_matrix(np.c_[0.3 * np.eye(4), np.full(4, 0.7)], words, [*words, "."])
    assert leakage.deficiency(erased, identity).upper == pytest.approx(0.7 * 3 / 4)
    assert leakage.deficiency(identity, erased).upper == pytest.approx(0, abs=1e-9)


def test_bad_input_is_one_line():
    channel = random_channel(np.random.default_rng(0), 3, 4)
    with pytest.raises(ValueError, match=r"^gain: shape \(2, 2\); pass one row a guess"):
        leakage.gain_vulnerability(np.full(3, 1 / 3), channel, np.eye(2))
    with pytest.raises(ValueError, match="^gain: an entry is not a finite number$"):
        leakage.gain_vulnerability(np.full(3, 1 / 3), channel, [[1, np.nan, 0]])
    with pytest.raises(ValueError, match="^other: its words"):
        leakage.deficiency(channel, random_channel(np.random.default_rng(0), 4, 4))
    large = random_channel(np.random.default_rng(0), 101, 2)
    with pytest.raises(ValueError, match="^channel: 101 words or outputs; the programme takes 100$"):
        leakage.deficiency(large, large)
