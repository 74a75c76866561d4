"""The study of writers: parts by hand, and the whole with made-up words and writers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from textsan import Embeddings
from textsan.mechanisms import SanText
from textsan.text.corpora import Record
from textsan_book.studies import writer as study

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(40)]
EMBEDDINGS = Embeddings(WORDS, RNG.normal(size=(40, 3)))


def texts(n, seed, told=True):
    rng, made = np.random.default_rng(seed), []
    for i in range(n):
        kind = int(rng.integers(2))
        words = WORDS[20 * kind :][:20] if told else WORDS
        made.append(Record(" ".join([*rng.choice(words, 6), f"{i}x"]), "ab"[kind]))
    return made


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(study, "load_embeddings", lambda: EMBEDDINGS)
    monkeypatch.setattr(study, "PUBLIC", len(WORDS))

    def rows(epsilon, told=True, seed=0):
        monkeypatch.setattr(study, "labelled", lambda _: texts(400, 1, told))
        sizes = {"n_released": 120, "n_shadow": 200}
        found = study.writers(dataset="made up", defence="santext", epsilon=epsilon, seed=seed, **sizes)
        return {row["reading"]: row for row in found}

    return rows


def test_without_noise_writers_and_words_are_read_and_surely(small):
    rows = small(200.0)
    assert set(rows) == {"release", "kept words and length", "original", "words"}
    release, words = rows["release"], rows["words"]
    assert release["main"] > 0.95 and release["excess_low"] > 0.3 and release["read"] > 0.95
    assert release["claimed"] > 0.5 and release["precision"] > 0.9
    assert words["main"] == pytest.approx(1.0) and words["claimed"] == pytest.approx(1.0)
    assert words["vulnerability"] == pytest.approx(1.0) and words["hundredth"] == pytest.approx(1.0)
    assert len(release["right"]) == 120 and release["right"].count("+") / 120 == pytest.approx(
        release["main"], abs=0.05
    )


@pytest.mark.parametrize(("epsilon", "told"), [(0.0, True), (200.0, False)])
def test_nothing_is_read_where_nothing_is_said(small, epsilon, told):
    """A leak of labels into the reader would show here: pure noise, and writers whose words are all alike."""
    gaps = [small(epsilon, told, seed)["release"] for seed in range(3)]
    assert any(row["excess_low"] <= 0 <= row["excess_high"] for row in gaps)
    assert abs(np.mean([row["excess"] for row in gaps])) < 0.06


def test_the_control_is_the_same_answers_held_against_the_others():
    truth, learnt = np.array(list("aabbb")), np.array(list("aab"))
    answers = np.array(list("abbba"))
    row = study._of_attributes(answers, np.zeros(5, dtype=bool), truth, learnt, np.arange(5), 0)
    pairs = [answers[j] == truth[i] for i in range(5) for j in range(5) if i != j]
    assert row["control"] == pytest.approx(np.mean(pairs))
    assert row["main"] == pytest.approx(3 / 5) and row["baseline"] == pytest.approx(2 / 5)
    assert row["right"] == "+.++." and row["precision"] is None


def test_the_interval_of_the_excess_is_as_wide_as_many_corpora_differ():
    """Answers and writers are drawn anew; of the first bearing alone the width would be a third too small."""
    rng, n = np.random.default_rng(0), 80
    excesses, widths = [], []
    for _ in range(400):
        kind = rng.random(n) < 0.3
        truth, own = np.where(kind, "a", "b"), np.arange(n)
        answers = np.where(rng.random(n) < 0.7, truth, np.where(rng.random(n) < 0.6, "a", "b"))
        row = study._of_attributes(answers, np.zeros(n, dtype=bool), truth, truth, own, 0)
        excesses.append(row["excess"])
        widths.append(row["excess_high"] - row["excess_low"])
    assert np.mean(widths) / (2 * 1.96) == pytest.approx(np.std(excesses), rel=0.12)


def test_texts_that_share_a_run_are_of_one_source(monkeypatch):
    run = "one two three four five six seven eight"
    records = [Record(f"{run} {i}", "a") for i in range(20)] + [Record(f"apart {i}", "a") for i in range(5)]
    monkeypatch.setattr(study, "load_dataset", lambda *_: records)
    sources = [one.fields["part_of"] for one in study.labelled("made up")]
    assert len(set(sources[:20])) == 1 and len(set(sources)) == 6


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=120))
def test_no_lower_threshold_has_the_precision(pairs):
    said, right = np.array([one / 20 for one, _ in pairs]), np.array([hit for _, hit in pairs])
    found = study.surely(said, right)
    possible = [
        level
        for level in set(said.tolist())
        if (said >= level).sum() >= 20 and right[said >= level].mean() >= study.PRECISION
    ]
    assert found == min(possible, default=np.inf)


def test_shares_of_named_words_are_those_of_many_releases():
    docs = [record.tokens for record in texts(30, 2)]
    mechanism = SanText(EMBEDDINGS, epsilon=2.0)
    releases = mechanism.sanitize(docs, seed=0)
    row = study._of_words(mechanism, docs, docs, releases, np.arange(30), 0)
    counts = {word: sum(doc.count(word) for doc in docs) + 1.0 for word in WORDS}
    P = mechanism.channel.matrix()
    weights = P * np.array([counts[word] for word in mechanism.channel.inputs])[:, None]
    guess = {y: mechanism.channel.inputs[weights[:, j].argmax()] for j, y in enumerate(mechanism.channel.outputs)}
    many = mechanism.sanitize(docs * 400, seed=1)
    hits = [
        np.mean([guess[y] == x for x, y in zip(doc[:6], released[:6], strict=True)])
        for doc, released in zip(docs * 400, many, strict=True)
    ]
    assert row["main"] == pytest.approx(np.mean(hits), abs=0.01)
    assert 0 <= row["claimed"] <= 1 and row["half"] <= row["tenth"] <= row["hundredth"]


def test_a_reader_learns_from_words_from_vectors_and_from_lengths_alone():
    labels = np.array(["a", "b"] * 40)
    by_words = [[f"n{i % 2}"] for i in range(80)]  # without a vector
    reader = study.Reader(by_words, labels, np.arange(80), EMBEDDINGS)
    assert (reader.read(by_words).answers == labels).all()
    far = Embeddings(["l", "m", "n", "o"], [[-1.0], [-0.9], [1.0], [0.9]])
    reader = study.Reader([["l"], ["n"]] * 40, labels, np.arange(80), far)
    assert reader.read([["m"], ["o"]]).answers.tolist() == ["a", "b"]
    reader = study.Reader([["l"], ["l"] * 9] * 40, labels, np.arange(80), far)  # how long a text is
    assert reader.read([["l"] * 2, ["l"] * 8]).answers.tolist() == ["a", "b"]
