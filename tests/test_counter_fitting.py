import json
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from helpers import refused

import textsan
from textsan import Embeddings
from textsan.text import loading
from textsan.text.counter_fitting import counter_fit

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(40)]
TABLE = Embeddings(WORDS, RNG.normal(size=(40, 6)))


def cosine(embeddings, a, b):
    u, v = (embeddings.vectors[embeddings.index[word]] for word in (a, b))
    return u @ v / np.linalg.norm(u) / np.linalg.norm(v)


def by_hand(embeddings, synonyms, antonyms, margin, radius, epochs):
    """Fit pair by pair, with gradients by finite differences."""
    unit = embeddings.vectors / np.linalg.norm(embeddings.vectors, axis=1, keepdims=True)
    index, n = embeddings.index, len(unit)

    def distance(u, v):
        return 1 - u @ v / np.linalg.norm(u) / np.linalg.norm(v)

    def slope(u, v):
        steps = np.eye(len(u)) * 1e-6
        return np.array([(distance(u + s, v) - distance(u - s, v)) / 2e-6 for s in steps])

    near = [(i, j) for i in range(n) for j in range(i + 1, n) if distance(unit[i], unit[j]) <= radius]
    before, v = {pair: distance(unit[pair[0]], unit[pair[1]]) for pair in near}, unit.copy()
    for _ in range(epochs):
        step, count = np.zeros_like(v), np.zeros(n)
        moves = [(index[a], index[b], +0.1) for a, b in antonyms if distance(v[index[a]], v[index[b]]) < margin]
        moves += [(index[a], index[b], -0.1) for a, b in synonyms if distance(v[index[a]], v[index[b]]) > 0]
        moves += [(i, j, -0.1) for i, j in near if distance(v[i], v[j]) > before[i, j] + 1e-12]
        for i, j, weight in moves:
            for here, there in ((i, j), (j, i)):
                step[here] += weight * slope(v[here], v[there])
                count[here] += 1
        v = v + step / np.maximum(count, 1)[:, None]
        v /= np.linalg.norm(v, axis=1, keepdims=True)
    return v


def test_the_epochs_are_those_of_the_objective():
    synonyms, antonyms = [("w0", "w1"), ("w2", "w3"), ("w4", "w5")], [("w6", "w7"), ("w0", "w8")]
    fitted = counter_fit(TABLE, synonyms, antonyms, margin=0.9, radius=0.5, epochs=3)
    assert np.allclose(fitted.vectors, by_hand(TABLE, synonyms, antonyms, 0.9, 0.5, 3), atol=1e-7)


def test_a_pair_that_is_both_is_an_antonym_and_unknown_words_do_not_count():
    both = counter_fit(TABLE, [("w1", "w0"), ("w4", "?")], [("w0", "w1")], epochs=2)
    assert np.array_equal(both.vectors, counter_fit(TABLE, [], [("w0", "w1")], epochs=2).vectors)
    refused("no pair", lambda: counter_fit(TABLE, [("a", "b")], []))
    refused("length 0", lambda: counter_fit(Embeddings(["a", "b"], [[0.0], [1.0]]), [("a", "b")], []))


def test_the_named_vectors_are_fitted_to_the_pairs_of_the_reader(tmp_path, monkeypatch):
    loading.counter_fitted.cache_clear()
    monkeypatch.setenv("TEXTSAN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="a folder counterfit of TEXTSAN_DATA") as error:
        textsan.load_embeddings("counter-fitted")
    assert "\n" not in str(error.value)
    lists = {
        "vocabulary": [{"word": word} for word in ("nothing-of-the-kind", "inexpensive", "cheap", "costly")],
        "ppdb_synonyms": [{"w1": "cheap", "w2": "inexpensive"}],
        "ppdb_antonyms": [{"w1": "cheap", "w2": "costly"}],
        "wordnet_antonyms": [],
    }
    (tmp_path / "counterfit").mkdir()
    for name, rows in lists.items():
        with lzma.open(tmp_path / "counterfit" / f"{name}.jsonl.xz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    fitted, glove = textsan.load_embeddings("counter-fitted"), textsan.load_embeddings()
    assert fitted.words == [word for word in glove.words if word in {"cheap", "costly", "inexpensive"}]
    assert cosine(fitted, "cheap", "inexpensive") > cosine(glove, "cheap", "inexpensive")
    assert cosine(fitted, "cheap", "costly") < cosine(glove, "cheap", "costly")
    loading.counter_fitted.cache_clear()


@pytest.mark.skipif("TEXTSAN_DATA" not in os.environ, reason="needs the pairs of words in TEXTSAN_DATA")
def test_glove_counter_fitted_rates_similarity_better():
    folder = Path(os.environ["TEXTSAN_DATA"]) / "counterfit"

    def rows(name):
        return [json.loads(line) for line in lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8")]

    def pairs(*names):
        return [(row["w1"], row["w2"]) for name in names for row in rows(name)]

    glove, simlex = textsan.load_embeddings(), rows("simlex999")
    words = {word for row in simlex for word in (row["w1"], row["w2"])}
    glove = glove.restrict([*glove.words[:8000], *sorted(words)])
    fitted = counter_fit(glove, pairs("ppdb_synonyms"), pairs("ppdb_antonyms", "wordnet_antonyms"), radius=0.1)
    rated = [row for row in simlex if row["w1"] in glove and row["w2"] in glove]
    scores = [row["score"] for row in rated]
    before, after = (
        scipy.stats.spearmanr(scores, [cosine(table, row["w1"], row["w2"]) for row in rated]).statistic
        for table in (glove, fitted)
    )
    assert before < 0.3 and after > 0.42
