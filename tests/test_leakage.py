import numpy as np
import pytest
from hypothesis import given, strategies as st
from qif.measure import bayes_vuln

from textsan import Channel, Prior, leakage


def random_world(seed, n, m):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(m, 0.4), size=n)
    prior = generator.dirichlet(np.full(n, 0.4))
    inputs, outputs = [f"x{i}" for i in range(n)], [f"y{j}" for j in range(m)]
    return prior, matrix, Channel.from_matrix(matrix, inputs, outputs)


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 30))
def test_bayes_vulnerability_agrees_with_qif(seed, n, m):
    prior, matrix, ch = random_world(seed, n, m)
    assert leakage.bayes_vulnerability(prior, ch) == pytest.approx(bayes_vuln.posterior(prior, matrix), abs=1e-12)
    assert leakage.prior_vulnerability(prior) == pytest.approx(bayes_vuln.prior(prior), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_entropies_agree_with_the_joint_distribution(seed, n, m):
    prior, matrix, ch = random_world(seed, n, m)
    joint = prior[:, None] * matrix
    posterior = joint / np.maximum(joint.sum(axis=0), 1e-300)
    expected = -(joint[joint > 0] * np.log2(posterior[joint > 0])).sum()
    assert leakage.conditional_entropy(prior, ch) == pytest.approx(expected, abs=1e-9)
    assert leakage.conditional_entropy(prior, ch) <= leakage.entropy(prior) + 1e-9


@given(st.integers(0, 10**6), st.integers(2, 10))
def test_post_processing_never_raises_leakage(seed, n):
    prior, matrix, ch = random_world(seed, n, n)
    _, garbling, _ = random_world(seed + 1, n, n)
    coarser = Channel.from_matrix(matrix @ garbling, ch.inputs, ch.outputs)
    assert leakage.bayes_vulnerability(prior, coarser) <= leakage.bayes_vulnerability(prior, ch) + 1e-12
    assert leakage.bayes_vulnerability(prior, ch) >= leakage.prior_vulnerability(prior) - 1e-12


def test_a_prior_over_part_of_the_inputs_is_completed_with_zeros():
    _, matrix, ch = random_world(0, 3, 4)
    prior = Prior(["x2", "x0"], [0.25, 0.75])
    assert leakage.bayes_vulnerability(prior, ch) == pytest.approx(
        bayes_vuln.posterior(np.array([0.75, 0, 0.25]), matrix), abs=1e-12
    )


def test_a_prior_over_other_words_is_refused():
    _, _, ch = random_world(0, 3, 4)
    with pytest.raises(ValueError, match="'dog' has mass but is no word"):
        leakage.bayes_vulnerability(Prior(["dog", "x0"], [0.5, 0.5]), ch)
    with pytest.raises(ValueError, match="shape"):
        leakage.bayes_vulnerability([0.5, 0.5], ch)
