"""The study of several releases of one source, in a small world of made-up writers; and its verdicts by hand."""

import numpy as np
import pytest

from textsan import Embeddings
from textsan.attacks import Knowledge, Linkage
from textsan.mechanisms import SanText
from textsan_book.studies import several_releases as study

WORDS = [f"w{i}" for i in range(40)]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(40, 3)))


def people(n=60, sharp=1.0):
    """Writers of 13 texts, each with frequencies of words of its own."""
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(np.full(40, sharp), size=n)
    return [[list(rng.choice(WORDS, rng.integers(5, 9), p=law)) for _ in range(13)] for law in laws]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(study, "writers", lambda dataset: people())
    monkeypatch.setattr(study, "PUBLIC", 40)
    monkeypatch.setattr(study, "load_embeddings", lambda: EMBEDDINGS)

    def rows(epsilon, seed=0):
        given = {"dataset": "made up", "defence": "santext", "n": 12, "n_candidates": 100}
        found = study.several_releases(epsilon=epsilon, seed=seed, **given)
        return {(row["threat"], row["releases"]): row for row in found}

    return rows


def test_without_noise_sources_are_found_and_more_releases_find_more(small):
    rows = small(200.0)
    assert rows["same document", 1]["main"] > 0.95 and rows["one writer", 8]["main"] > 0.7
    assert rows["one writer", 1]["main"] < rows["one writer", 8]["main"]
    assert all(row["control"] < 0.3 and row["low"] <= row["excess"] <= row["high"] for row in rows.values())
    assert {row["candidates"] for row in rows.values()} == {100, 12}


def test_without_a_channel_no_number_of_releases_finds_a_source(small):
    """A planted leak would show here: at epsilon 0 the words say nothing, and lengths are the control's too."""
    for (threat, _), row in small(0.0).items():
        assert row["low"] <= 0 <= row["high"]
        if threat == "one writer":
            assert row["main"] == pytest.approx(1 / 12) == row["control"]
        else:
            assert row["main"] == pytest.approx(row["baseline"])


def test_scores_of_sources_are_those_of_the_attack():
    mechanism, texts = SanText(EMBEDDINGS, 3.0), people(6)
    knowledge = Knowledge.of(mechanism, shadow=[doc for one in people(9) for doc in one])
    known = [sum(one[:4], []) for one in texts]
    rounds = [mechanism.sanitize([one[4 + j] for one in texts], j) for j in range(2)]
    found = study._sources(Linkage.against(knowledge), rounds, known, [0.5, 0.9])
    for share, scores in found.items():
        attack = Linkage.against(knowledge, changed=share)
        np.testing.assert_allclose(scores, [attack.source_likelihoods(one, known) for one in rounds])


def test_writers_of_the_corpus_have_no_text_twice():
    found = study.writers("nyt")
    texts = [tuple(doc) for one in found for doc in one]
    assert len(texts) == len(set(texts)) and sum(len(one) >= 12 for one in found) > 100
