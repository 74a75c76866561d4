"""The metric storage's two ways to partial sums, against brute force, over several tiles and parts."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from textsan import Channel
from textsan.channel import exponential
from textsan.channel.accelerator import TorchDistances

N, M = 700, 500


def build(stay=0.0, seed=0):
    """A channel of 700 words of which the first 500, shuffled, are outputs; brute-force weights beside it."""
    generator = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(N)]
    vectors = generator.normal(size=(N, 6))
    protected = generator.permutation(N)[:M]
    outputs = [words[i] for i in protected] + [word for i, word in enumerate(words) if i not in set(protected)]
    stays = np.where(np.isin(np.arange(N), protected), 0.0, stay)
    channel = Channel.exponential(words, outputs, vectors, vectors[protected], 1.3, cutoff=3.0, stay=stays)
    return channel, np.exp(-1.3 * np.minimum(cdist(vectors, vectors[protected]), 3.0))


@pytest.fixture(params=["whole", "by rows", "by rows, long parts", "whole, small tiles"])
def way(request, monkeypatch):
    if "rows" in request.param:
        monkeypatch.setattr(exponential, "WHOLE", 0)
    if "long" in request.param:
        monkeypatch.setattr(exponential, "_PARTS", 3)
    if "small" in request.param:
        monkeypatch.setattr(exponential, "TILE", 128)
        monkeypatch.setattr("textsan.channel.distances.TILE", 128)
    return request.param


def test_normalisers_and_columns(way):
    channel, weights = build(stay=0.4)
    np.testing.assert_allclose(channel._storage.log_normaliser, np.log(weights.sum(axis=1)), atol=1e-12)
    expected = np.log(weights / weights.sum(axis=1, keepdims=True))
    move = np.log(np.where(channel._storage.stay > 0, 0.6, 1.0))
    np.testing.assert_allclose(channel.log_columns(np.arange(M)).T, expected + move[:, None], atol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 60])
def test_impossible_words_are_passed_over(way, k):
    channel, weights = build(stay=0.4)
    prior = np.zeros(N)
    prior[::13] = np.random.default_rng(1).dirichlet(np.ones(len(prior[::13])))  # 54 words: fewer than 60
    posterior = channel.posterior(prior, k=k)
    joint = prior[:, None] * channel.matrix()
    best = np.sort(joint, axis=0)[::-1][:k].T
    np.testing.assert_allclose(np.exp(posterior.log_weights), best, atol=1e-12)
    chosen = posterior.numbers >= 0
    columns = np.broadcast_to(np.arange(N)[:, None], chosen.shape)[chosen]
    np.testing.assert_allclose(joint[posterior.numbers[chosen], columns], best[chosen], atol=1e-12)


def test_draws_are_those_of_inversion_over_parts(way):
    """Any order of the outputs is an inversion; the sums of parts and the entries within say which one."""
    channel, weights = build()
    generator = np.random.default_rng(1)
    rows, uniforms = generator.integers(0, N, 3000), generator.random(3000)
    drawn = channel.sample(rows, uniforms)
    cumulative = np.cumsum(weights, axis=1)
    expected = (cumulative[rows] <= (uniforms * cumulative[rows, -1])[:, None]).sum(axis=1)
    np.testing.assert_array_equal(drawn, expected)


def test_torch_gives_the_same_within_rounding(monkeypatch):
    """torch's own CPU stands in for a GPU: the same code with another device."""
    pytest.importorskip("torch")
    expected, _ = build(stay=0.4)
    monkeypatch.setattr(exponential, "choose_device", lambda device: "torch:cpu")
    monkeypatch.setattr(exponential, "TorchDistances", lambda *arguments: TorchDistances(*arguments[:-1], "cpu"))
    channel, _ = build(stay=0.4)
    assert channel._storage._device == "torch:cpu"
    np.testing.assert_allclose(channel._storage.log_normaliser, expected._storage.log_normaliser, atol=1e-12)
    np.testing.assert_allclose(channel.log_columns(np.arange(N)), expected.log_columns(np.arange(N)), atol=1e-10)
    rows, uniforms = np.arange(N), np.random.default_rng(2).random(N)
    np.testing.assert_array_equal(channel.sample(rows, uniforms), expected.sample(rows, uniforms))
