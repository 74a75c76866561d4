"""The attack of Li et al. 2023 as a whole, in small worlds where the answer is known."""

import numpy as np
import pytest

from textsan.gradient_leakage import cases, features, victims
from textsan_book.studies import gradients

SETTINGS = {"victim": "small", "dataset": "rt", "batches": 2, "batch": 0, "longest": 6, "seed": 0}


@pytest.fixture(scope="module")
def pair():
    """Two sentences of a small victim with a widened pooler, and public features in its coordinates."""
    victim = victims.small_victim()
    case = cases.make_case(victims.widened(victim, "tanh", recovered=64), ["good film", "a dull story"], [1, 0])
    return case, gradients.public_features(victim)


def test_the_fit_has_the_features_and_its_slopes_the_labels(pair):
    case, public = pair
    found, slopes, error = gradients.fitted(case.shared, public, 0)
    truth = case.features.double().numpy()
    order = gradients._oracle(found, truth)
    assert error < 1e-4
    np.testing.assert_allclose(found[order], truth, atol=1e-2)  # with length and sign
    assert (slopes[order] < 0).tolist() == [True, False]


def test_the_signs_of_the_tensors_slopes_are_the_labels_of_planted_features():
    """With features that are orthogonal and a tensor without error, signs are certain."""
    for activation in ("selu", "tanh", "cube plus square"):
        rng = np.random.default_rng(0)
        truth = 1.5 * np.linalg.qr(rng.normal(size=(8, 2)))[0].T
        weights, slopes = rng.normal(size=(60_000, 8)), np.array([-0.5, 0.4])
        terms = features.SLOPES[activation](weights @ truth.T) * slopes
        seen = features.TwoLayer(weights, terms @ truth / len(weights))
        found = features.recover_features(seen, 2)
        signs = np.sign((found.directions @ truth.T).sum(1))
        third = gradients.third_derivative(activation, 1.5)
        order = gradients._oracle(found.directions, truth)
        assert np.sign(found.weights * signs * third)[order].tolist() == [-1, 1], activation


def test_features_reach_the_attack_in_the_order_of_the_sentences(monkeypatch):
    """With the oracle's order the attack is given the true features, up to their lengths."""
    given = {}

    def attack(shared, name, **rest):
        given[name] = rest.get("features")
        raise InterruptedError

    monkeypatch.setattr(gradients.matching, "attack", attack)
    for method in ("true features", "fit, oracle order"):
        with pytest.raises(InterruptedError):
            gradients.gradient_whole(
                **SETTINGS, B=2, activation="selu", recovered=16, method=method, share=0.01, language_model="none"
            )
        given[method] = given.pop("feature match").numpy()
    np.testing.assert_allclose(given["fit, oracle order"], given["true features"], atol=0.05)
