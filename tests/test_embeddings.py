import gzip
import hashlib

import numpy as np
import pytest
from helpers import refused
from scipy.spatial.distance import cdist

from textsan import Embeddings, load_embeddings
from textsan.base import assets
from textsan.text.embeddings import euclidean


@pytest.mark.parametrize("dimension", [1, 3, 50])
def test_distances_agree_with_scipy(dimension):
    generator = np.random.default_rng(dimension)
    a, b = generator.normal(size=(70, dimension)), generator.normal(size=(90, dimension))
    b[:10] = a[:10]
    b[10:20] = a[10:20] + 1e-7
    b[20] = 0
    np.testing.assert_allclose(euclidean(a, b), cdist(a, b), rtol=0, atol=5e-12)
    assert (euclidean(a, a).diagonal() == 0).all()


def test_float32_vectors_are_measured_in_float64():
    vectors = np.random.default_rng(0).normal(size=(20, 50)).astype(np.float32)
    embeddings = Embeddings(map(str, range(20)), vectors)
    np.testing.assert_allclose(
        embeddings.distances(embeddings.words), cdist(vectors.astype(float), vectors.astype(float)), atol=1e-11
    )


def test_frequent_is_the_first_words_with_their_own_vectors():
    embeddings = Embeddings("abcd", np.arange(8.0).reshape(4, 2))
    part = embeddings.frequent(3)
    assert part.words == ["a", "b", "c"]
    np.testing.assert_array_equal(part.vectors, embeddings.vectors[:3])
    assert not np.shares_memory(part.vectors, embeddings.vectors)  # else 20,000 words keep 400,000 in memory
    assert embeddings.frequent(9).words == embeddings.words


@pytest.mark.parametrize("n", [0, -1, 2.5, "two"])
def test_frequent_takes_a_number_of_words(n):
    refused(r"^n: .*; pass a", lambda: Embeddings("ab", [[0.0], [1.0]]).frequent(n))


def test_restrict_keeps_the_order_asked_for():
    embeddings = Embeddings("abcd", np.arange(8.0).reshape(4, 2))
    part = embeddings.restrict(["d", "x", "b", "d"])
    assert part.words == ["d", "b"]
    np.testing.assert_array_equal(part.vectors, [[6, 7], [2, 3]])


def test_hash_tells_embeddings_apart():
    one, other = Embeddings("ab", np.eye(2)), Embeddings("ba", np.eye(2))
    assert one.sha256 == Embeddings("ab", np.eye(2)).sha256 != other.sha256


@pytest.mark.parametrize(
    "words, vectors, message",
    [
        ("aa", np.eye(2), "'a' occurs more than once"),
        ("ab", np.eye(3), "does not fit 2 words"),
        ("ab", [[0.0, np.nan], [1, 1]], "vector of 'a' is not finite"),
        ("", np.empty((0, 3)), "no word"),
        ("ab", np.empty((2, 0)), "no word or no dimension"),
    ],
)
def test_bad_embeddings_are_refused_in_one_line(words, vectors, message):
    refused(message, lambda: Embeddings(words, vectors))


def test_unknown_words():
    embeddings = Embeddings("ab", np.eye(2))
    refused("'z' has no vector", lambda: embeddings.distances(["a", "z"]), KeyError)
    refused("none of them has a vector", lambda: embeddings.restrict(["z"]))


@pytest.mark.parametrize(
    "name, what",
    [
        ("sst2", "is a data set, no embedding"),
        ("rt", "is a data set, no embedding"),
        ("gpt2", "is a model, no embedding"),
        ("word2vec", "is unknown, and no file"),
    ],
)
def test_what_is_no_embedding_is_not_fetched(name, what, monkeypatch):
    monkeypatch.setattr(assets, "fetch", lambda name: pytest.fail("fetched"))
    refused(f"embedding: '{name}' {what}; known: glove-6b-50d", lambda: load_embeddings(name), KeyError)


TEXT = {
    "plain.txt": 'the 0.5 1\nnan -1 2\n" 3 4\n7 5 6\n',
    "with-sizes.txt": '4 2\nthe 0.5 1\nnan -1 2\n" 3 4\n7 5 6\n',
    "blank-at-the-end.txt": 'the 0.5 1 \nnan -1 2 \n" 3 4 \n7 5 6 \n',
}


@pytest.mark.parametrize("name", TEXT)
def test_vectors_of_a_file_of_ones_own(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXT[name])
    for given in (path, str(path)):
        read = load_embeddings(given)
        assert read.words == ["the", "nan", '"', "7"] and read.vectors.dtype == np.float32
        np.testing.assert_array_equal(read.vectors, [[0.5, 1], [-1, 2], [3, 4], [5, 6]])
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_embeddings(packed).sha256 == read.sha256


@pytest.mark.parametrize("text", ["", "the film is good\nno vectors\n", "the 1 2\nof 1\n", "the 1\nthe 2\n"])
def test_a_file_without_vectors_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(ValueError, match=r"embedding: .*vectors.txt holds no word vectors \(") as error:
        load_embeddings(tmp_path / "vectors.txt")
    assert "\n" not in str(error.value)


def test_all_words_are_those_that_another_reader_reads():
    """The hash of what pyarrow 26 made of the file; one reader has None from row 95,360 on."""
    words = load_embeddings().words
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    assert len(words) == 400_000 and digest == "029a7168ebc71f71e23e1f6ae94967234a13dcd64717754746c171be20d31a77"
