"""Properties of every channel over random embeddings: duplicates, zero vectors, one and two words, any epsilon."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from textsan import FBDD, TEM, Channel, CusText, Embeddings, Mahalanobis, Random, SanText, SanTextPlus, Vickrey
from textsan.privacy import tight_group_epsilon

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


@pytest.mark.parametrize("name", ["santext", "tem", "tem near", "random"])
@settings(max_examples=60, deadline=None)
@given(embeddings=embeddings(), epsilon=EPSILONS)
def test_metric_dp_holds_for_every_pair_and_output(name, embeddings, epsilon):
    mechanism = CLOSED[name](embeddings, epsilon)
    log_rows = mechanism.channel.log_rows(np.arange(len(embeddings)))
    assert (log_rows > -np.inf).all()  # no support is lost
    metric = np.minimum(cdist(embeddings.vectors, embeddings.vectors), getattr(mechanism, "gamma", np.inf))
    ratios = np.abs(log_rows[:, None] - log_rows[None]).max(axis=2)
    # Distances are right to a relative 1e-10 of the vectors' lengths, at most 200 times epsilon / 2 here.
    assert (ratios <= mechanism.guarantee.epsilon * metric + 1e-9 + 1e-8 * epsilon).all()


@pytest.mark.parametrize("normalise", ["group", "row"])
@pytest.mark.parametrize("similarity", ["euclidean", "cosine"])
@settings(max_examples=60, deadline=None)
@given(embeddings=embeddings(), epsilon=st.floats(0, 100), k=st.integers(1, 12))
def test_custext_partitions_the_vocabulary_and_is_private_within_groups(
    normalise, similarity, embeddings, epsilon, k
):
    mechanism = CusText(embeddings, epsilon, k=k, normalise=normalise, similarity=similarity)
    sizes = [len(group) for group in mechanism.groups]
    assert sorted(np.concatenate(mechanism.groups).tolist()) == list(range(len(embeddings)))
    assert all(size == min(k, len(embeddings)) for size in sizes[:-1]) and 1 <= sizes[-1] <= k
    assert tight_group_epsilon(mechanism.channel, mechanism.group_words) <= epsilon + 1e-9


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


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_storages_agree_on_any_channel(data):
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    weights = data.draw(arrays(np.float64, (rows, columns), elements=st.floats(0, 1)))
    weights[:, data.draw(st.integers(0, columns - 1))] += 1e-3
    matrix = weights / weights.sum(axis=1, keepdims=True)
    inputs, outputs = [f"x{i}" for i in range(rows)], [f"y{i}" for i in range(columns)]
    dense, sparse = (make(matrix, inputs, outputs) for make in (Channel.from_matrix, Channel.from_sparse))
    np.testing.assert_allclose(dense.matrix(), sparse.matrix(), atol=1e-15)
    uniforms = data.draw(arrays(np.float64, rows, elements=st.floats(0, 1, exclude_max=True)))
    drawn = dense.sample(inputs, uniforms)
    assert (matrix[np.arange(rows), drawn] > 0).all()
