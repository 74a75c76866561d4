import numpy as np
import pytest
from scipy.spatial.distance import cdist

from textsan import Embeddings, SanText


@pytest.fixture(scope="module")
def embeddings():
    return Embeddings([f"w{i}" for i in range(50)], np.random.default_rng(7).normal(size=(50, 8)))


@pytest.mark.parametrize("epsilon", [0, 0.5, 4.0, 1e3])
def test_channel_is_equation_1(embeddings, epsilon):
    d = cdist(embeddings.vectors, embeddings.vectors)
    expected = np.exp(-epsilon * d / 2)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(SanText(embeddings, epsilon).channel.matrix(), expected, atol=1e-10)


def test_casing_and_unknown_words(embeddings):
    docs = [["W1", "nowhere", "w2"] * 50]
    exact = Embeddings(["w1", "w2"], [[0.0], [1e3]])
    assert set(SanText(exact, 10, oov="keep").sanitize([["W1", "nowhere"]], seed=0)[0]) == {"w1", "nowhere"}
    released = SanText(exact, 10).sanitize(docs, seed=0)[0]
    assert released[0::3] == ["w1"] * 50 and set(released[1::3]) == {"w1", "w2"}
    with pytest.raises(ValueError, match="'nowhere' is not in the vocabulary"):
        SanText(exact, 10, oov="error").sanitize(docs, seed=0)
    assert SanText(exact, 1).sanitize([[], ["nowhere"]], seed=0)[0] == []


@pytest.mark.parametrize("epsilon", [-1, float("nan"), float("inf"), "2", None, True])
def test_bad_epsilon_is_refused(embeddings, epsilon):
    with pytest.raises(ValueError, match="epsilon: .* pass a"):
        SanText(embeddings, epsilon)


@pytest.mark.parametrize("docs", ["a string", ["a string"]])
def test_strings_are_not_token_lists(embeddings, docs):
    with pytest.raises(ValueError, match="list of token lists"):
        SanText(embeddings, 1).sanitize(docs, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_bad_seeds_are_refused(embeddings, seed):
    with pytest.raises(ValueError, match="seed"):
        SanText(embeddings, 1).sanitize([["w1"]], seed=seed)
