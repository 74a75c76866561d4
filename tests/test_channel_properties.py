"""Properties of every channel over random embeddings: duplicates, zero vectors, one and two words, any epsilon."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from textsan import FBDD, TEM, CusText, Embeddings, Mahalanobis, Random, SanText, SanTextPlus, Vickrey

COORDINATES = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-100, 100, allow_subnormal=False))
EPSILONS = st.one_of(st.sampled_from([0.0, 1.0, 1e3]), st.floats(0, 1e3))


@st.composite
def embeddings(draw):
    size, dimension = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    vectors = draw(arrays(np.float64, (size, dimension), elements=COORDINATES))
    copies = draw(st.lists(st.integers(0, size - 1), max_size=3))  # duplicates
    vectors = np.vstack([vectors, vectors[copies]])
    return Embeddings([f"w{i}" for i in range(len(vectors))], vectors)


CLOSED = {
    "random": lambda e, epsilon: Random(e),
    "santext": SanText,
    "santext+": lambda e, epsilon: SanTextPlus(e, epsilon, sensitive=e.words[len(e) // 2 :], p=0.3),
    "tem": TEM,
    "tem near": lambda e, epsilon: TEM(e, epsilon, gamma=0.5),
    "custext": lambda e, epsilon: CusText(e, epsilon, k=3),
    "custext cosine": lambda e, epsilon: CusText(e, epsilon, k=2, similarity="cosine", normalise="row"),
    "overlapping": lambda e, epsilon: CusText(e, epsilon, k=3, mapping="overlapping"),
}


@pytest.mark.parametrize("name", CLOSED)
@settings(max_examples=60, deadline=None)
@given(embeddings=embeddings(), epsilon=EPSILONS, seed=st.integers(0, 2**32))
def test_closed_forms(name, embeddings, epsilon, seed):
    mechanism = CLOSED[name](embeddings, epsilon)
    channel = mechanism.channel
    log_rows = channel.log_rows(np.arange(len(embeddings)))
    assert not np.isnan(log_rows).any() and (log_rows <= 1e-9).all()
    np.testing.assert_allclose(np.exp(log_rows).sum(axis=1), 1, atol=1e-9)
    log_columns = channel.log_columns(np.arange(channel.shape[1]))
    np.testing.assert_allclose(log_columns.T, log_rows, atol=1e-6, rtol=1e-9)
    released = mechanism.sanitize([embeddings.words * 3, [], ["unknown"]], seed=seed)
    assert [len(doc) for doc in released] == [3 * len(embeddings), 0, 1]
    for i, word in enumerate(released[0]):
        assert log_rows[i % len(embeddings), channel.output_index[word]] > -np.inf
    assert set(released[2]) <= set(channel.outputs)
    assert mechanism.sanitize([["unknown"]], seed=seed, first=2) == released[2:]


@pytest.mark.parametrize("make", [FBDD, Mahalanobis, Vickrey])
@settings(max_examples=40, deadline=None)
@given(embeddings=embeddings(), epsilon=st.floats(1e-6, 1e3), seed=st.integers(0, 2**32))
def test_noise_releases_words_of_the_vocabulary(make, embeddings, epsilon, seed):
    docs = [embeddings.words * 2, [], ["unknown"]]
    mechanism = make(embeddings, epsilon)
    released = mechanism.sanitize(docs, seed=seed)
    assert [len(doc) for doc in released] == [len(doc) for doc in docs]
    assert {word for doc in released for word in doc} <= set(embeddings.words)
    assert mechanism.sanitize(docs[1:], seed=seed, first=1) == released[1:]
