"""SanText with weights: rows by the formula, one promise for any weights, and what it uses, in closed form."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import rel_entr

from textsan import Channel, Embeddings, SanText
from textsan.channel.weighted_exponential import WeightedExponential
from textsan.mechanisms import WeightedSanText
from textsan.mechanisms.vectors import public_prior
from textsan.mechanisms.weighted_santext import blahut_arimoto

WORDS = [f"w{i}" for i in range(40)]
VECTORS = np.random.default_rng(7).normal(size=(40, 3))
EMBEDDINGS = Embeddings(WORDS, VECTORS)
COUNTS = {word: int(1000 / (i + 1)) for i, word in enumerate(WORDS)}
FAR = cdist(VECTORS, VECTORS)


def formula(q, epsilon):
    weights = q * np.exp(-epsilon * FAR / 2)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", ["prior", "blahut-arimoto"])
@pytest.mark.parametrize("epsilon", [0, 0.7, 4.0])
def test_rows_are_those_of_the_formula(weights, epsilon):
    mechanism = WeightedSanText(EMBEDDINGS, epsilon, counts=COUNTS, weights=weights)
    matrix = formula(mechanism.output_weights, epsilon)
    assert mechanism.channel.matrix() == pytest.approx(matrix, abs=1e-12)
    assert np.exp(mechanism.channel.log_columns(WORDS[5:9])) == pytest.approx(matrix[:, 5:9].T, abs=1e-12)
    assert mechanism.output_weights.sum() == pytest.approx(1) and mechanism.output_weights.min() > 0


def test_uniform_weights_are_santext():
    storage = WeightedExponential(VECTORS, VECTORS, np.zeros(40), 1.5)
    assert Channel(WORDS, WORDS, storage).matrix() == pytest.approx(SanText(EMBEDDINGS, 3.0).channel.matrix())


@pytest.mark.parametrize("change", ["keeping", "restrict"])
def test_the_storage_answers_as_a_dense_channel_does(change):
    weighted = WeightedSanText(EMBEDDINGS, 2.0, counts=COUNTS).channel
    dense = Channel.from_matrix(weighted.matrix(), WORDS, WORDS)
    words = ["w5", "w1", "other"] if change == "keeping" else ["w5", "w1"]
    one, two = (getattr(channel, change)(words) for channel in (weighted, dense))
    assert one.inputs == two.inputs and one.outputs == two.outputs
    shared = [word for word in one.inputs if word != "other"]
    assert one.rows(shared) == pytest.approx(two.rows(shared), abs=1e-12)
    p = np.random.default_rng(0).dirichlet(np.ones(one.shape[0]))
    known = np.array([word != "other" for word in one.inputs])
    p = p * known / (p * known).sum()
    assert one.posterior(p, k=3).coverage() == pytest.approx(two.posterior(p, k=3).coverage())
    assert (one.sample(shared, np.full(len(shared), 0.3)) == two.sample(shared, np.full(len(shared), 0.3))).all()


def test_weights_that_depend_on_the_word_break_the_promise():
    weights = np.exp(-2.0 * FAR / 2) * (1 + 5 * np.eye(40))
    channel = Channel.from_matrix(weights / weights.sum(axis=1, keepdims=True), WORDS, WORDS)
    promise = WeightedSanText(EMBEDDINGS, 2.0).guarantee
    assert promise.tight(channel) > 2.0 >= promise.tight(WeightedSanText(EMBEDDINGS, 2.0).channel)


def objective(p, table, scale):
    marginal = p @ table
    information = (p[:, None] * rel_entr(table, marginal)).sum()
    return information + scale * (p[:, None] * table * FAR).sum()


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
def test_blahut_arimoto_is_below_its_neighbours_and_below_santext(scale):
    p = public_prior(COUNTS, WORDS)
    found = objective(p, formula(blahut_arimoto(p, VECTORS, scale), 2 * scale), scale)
    random = np.random.default_rng(0)
    for _ in range(20):
        other = random.dirichlet(np.full(40, 0.5))
        assert found < objective(p, formula(other, 2 * scale), scale)
    assert found < objective(p, formula(np.full(40, 1 / 40), 2 * scale), scale)
    assert found < objective(p, formula(p, 2 * scale), scale) + 1e-12


def test_counts_are_of_public_text_or_the_order_is():
    assert public_prior(None, ["a", "b", "c"]).tolist() == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert public_prior({"w1": 3}, ["w0", "w1"]).tolist() == pytest.approx([0.2, 0.8])
    with pytest.raises(ValueError, match="weights: 'secret' is unknown; pass one of 'blahut-arimoto', 'prior'"):
        WeightedSanText(EMBEDDINGS, 1.0, weights="secret")
