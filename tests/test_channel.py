import numpy as np
import pytest
from helpers import refused
from scipy import sparse, stats
from scipy.spatial.distance import cdist

from textsan import Channel
from textsan.channel import channel

WORDS = [f"w{i}" for i in range(150)]


def three_storages(seed=0):
    """One mechanism as dense, sparse and metric channel: staying put mixed with an exponential mechanism."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(150, 6))
    stay = np.where(np.arange(150) >= 120, 0.7, 0.0)
    weights = np.exp(-1.3 * np.minimum(cdist(vectors, vectors[:120]), 2.5))
    matrix = np.zeros((150, 150))
    matrix[:, :120] = (1 - stay)[:, None] * weights / weights.sum(axis=1, keepdims=True)
    matrix[np.arange(150), np.arange(150)] += stay
    metric = Channel.exponential(WORDS, WORDS, vectors, vectors[:120], 1.3, cutoff=2.5, stay=stay)
    return matrix, {
        "dense": Channel.from_matrix(matrix, WORDS, WORDS),
        "sparse": Channel.from_sparse(sparse.csr_array(matrix), WORDS, WORDS),
        "metric": metric,
    }


@pytest.mark.parametrize("storage", ["dense", "sparse", "metric"])
class TestStorages:
    def test_rows_columns_and_matrix_agree(self, storage):
        matrix, channels = three_storages()
        ch = channels[storage]
        np.testing.assert_allclose(ch.matrix(), matrix, atol=1e-13)
        np.testing.assert_allclose(ch.rows(["w3", "w130"]), matrix[[3, 130]], atol=1e-13)
        columns = np.arange(149, -1, -1)
        np.testing.assert_allclose(np.exp(ch.log_columns(columns)), matrix.T[columns], atol=1e-13)
        np.testing.assert_allclose(ch.matrix().sum(axis=1), 1, atol=1e-12)

    def test_best_inputs_are_those_of_a_sort(self, storage):
        matrix, channels = three_storages()
        prior = np.random.default_rng(1).dirichlet(np.ones(150))
        joint = (prior[:, None] * matrix).T
        for k in (1, 4, 150, 999):
            best, scores = channels[storage].best_inputs(np.log(prior), k=k)
            expected = np.argsort(-joint, axis=1, kind="stable")[:, :k]
            np.testing.assert_allclose(np.exp(scores), np.take_along_axis(joint, expected, axis=1), atol=1e-13)
            positive = np.take_along_axis(joint, expected, axis=1) > 1e-12
            assert (best[positive] == expected[positive]).all()

    def test_draws_follow_the_row(self, storage):
        matrix, channels = three_storages()
        for x in (5, 140):
            uniforms = np.random.default_rng(x).random(40_000)
            drawn = channels[storage].sample(np.full(40_000, x), uniforms)
            counts = np.bincount(drawn, minlength=150)
            assert (counts[matrix[x] == 0] == 0).all()
            frequent = matrix[x] * 40_000 >= 5
            observed = np.append(counts[frequent], counts[~frequent].sum())
            expected = np.append(matrix[x][frequent], matrix[x][~frequent].sum()) * 40_000
            assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-3

    def test_a_draw_depends_on_its_own_uniform_only(self, storage):
        _, channels = three_storages()
        generator = np.random.default_rng(2)
        inputs, uniforms = generator.integers(0, 150, 500), generator.random(500)
        together = channels[storage].sample(inputs, uniforms)
        apart = [int(channels[storage].sample(inputs[[i]], uniforms[[i]])[0]) for i in range(500)]
        assert together.tolist() == apart

    def test_no_token_is_no_draw(self, storage):
        _, channels = three_storages()
        assert channels[storage].sample([], np.empty(0)).shape == (0,)

    def test_extreme_uniforms_stay_inside_the_support(self, storage):
        matrix, channels = three_storages()
        for u in (0.0, 1 - 2**-53):
            drawn = channels[storage].sample(np.arange(150), np.full(150, u))
            assert (matrix[np.arange(150), drawn] > 0).all()


def test_a_dense_matrix_above_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(channel, "DENSE_LIMIT", 8)
    small = Channel.from_matrix(np.eye(2), "ab", "ab")
    assert small.matrix().shape == (2, 2)
    refused("above the limit of 8", lambda: Channel.from_matrix(np.eye(3), "abc", "abc").matrix())


@pytest.mark.parametrize(
    "matrix, message",
    [
        ([[0.5, 0.6], [0, 1]], "row 0 sums to 1.1"),
        ([[1.5, -0.5], [0, 1]], "probabilities are at least 0"),
        ([[np.nan, 1], [0, 1]], "an entry is nan"),
        ([0.5, 0.5], "1 dimensions"),
        ([[1.0], [1.0]], "outputs: 2 words for 1"),
    ],
)
def test_bad_matrices_are_refused(matrix, message):
    refused(message, lambda: Channel.from_matrix(matrix, "ab", "ab"))


def test_repeated_and_unknown_words_are_refused():
    refused("inputs: a word occurs more than once", lambda: Channel.from_matrix(np.eye(2), "aa", "ab"))
    with pytest.raises(KeyError, match="'z' is not a word of the channel"):
        Channel.from_matrix(np.eye(2), "ab", "ab").rows(["z"])


@pytest.mark.parametrize("k", [1, 3, 12, 99])
def test_the_entries_of_a_sparse_channel_say_the_same_as_its_whole_columns(k):
    """Ties, columns without an entry and words without a prior included."""
    generator = np.random.default_rng(k)
    matrix = generator.integers(0, 3, size=(12, 9)) * (generator.random((12, 9)) < 0.5)
    matrix[:, 0], matrix[:, 8] = 1, 0
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    words = [f"w{i}" for i in range(12)]
    log_prior = np.log(generator.integers(1, 3, size=12) / 16)
    log_prior[:2] = -np.inf
    columns = [8, 3, 3, 0]
    exact = Channel.from_matrix(matrix, words, words[:9])
    best, scores = Channel.from_sparse(matrix, words, words[:9]).best_inputs(log_prior, columns, k)
    joint = exact.log_columns(columns) + log_prior
    expected = np.argsort(-joint, axis=1, kind="stable")[:, :k]  # ties by row
    np.testing.assert_array_equal(scores, np.take_along_axis(joint, expected, axis=1))
    assert (best[scores > -np.inf] == expected[scores > -np.inf]).all() and (scores[0] == -np.inf).all()


@pytest.mark.parametrize(
    "given, line",
    [
        ({"scale": -2.0}, "^scale: "),
        ({"scale": np.nan}, "^scale: "),
        ({"cutoff": -1.0}, "^cutoff: -1.0 is out of range"),
        ({"cutoff": np.nan}, "^cutoff: nan is out of range"),
        ({"stay": [1.5, 0.0]}, "^stay: an entry is no probability"),
        ({"stay": [-0.5, 0.2]}, "^stay: an entry is no probability"),
        ({"stay": [np.nan, 0.2]}, "^stay: an entry is no probability"),
        ({"input_vectors": [[0.0], [np.nan]]}, "^vectors: a number is missing"),
        ({"output_vectors": [[0.0], [np.inf]]}, "^vectors: a number is missing"),
    ],
)
def test_an_exponential_channel_of_no_numbers_is_refused(given, line):
    plain = {"input_vectors": [[0.0], [1.0]], "output_vectors": [[0.0], [1.0]], "scale": 1.0}
    refused(line, lambda: Channel.exponential("ab", "ab", **plain | given))
