"""Masked readers at their gate: joined by hand from the stored tables, and the rule of their specification."""

import numpy as np
import pytest

from textsan_book.studies import mask_gate


def test_the_gate_compares_with_the_most_frequent_word_of_the_blanks(monkeypatch):
    """A reader that names everything, and one that names nothing, on 40 blanks."""
    size = {"dataset": "rt", "n_private": 30, "n_shadow": 30, "n_positions": 40, "seed": 1}
    for right in (True, False):
        monkeypatch.setattr(mask_gate, "MaskInference", Planted(right))
        (row,) = mask_gate.masked_readers(**size, reader="public")
        assert row["asr"] == right and row["n"] == 40
        assert 1 / 40 <= row["constant"] < 0.3 and row["over"] == pytest.approx(right - row["constant"])


class Planted:
    words = ["a"]

    def __init__(self, right):
        self.right, self.model = right, self

    def against(self, knowledge, *, public=True):
        return self

    def reconstruct(self, docs, positions):
        assert all(any(map(str.isalnum, docs[d][i])) for d, i in positions)
        return [docs[d][i] if self.right else "" for d, i in positions]


class Expecting:
    """A causal model of three words that has read one: after "red" it expects "car", and then the end."""

    name, expects = "expecting", {"": "red", "red": "car"}

    def begin(self, n):
        return [""] * n

    def log_first(self, prefixes, rows, words):
        return np.log(
            [[0.9 if self.expects.get(prefixes[row]) == word else 0.05 for word in words] for row in rows]
        )

    def advance(self, prefixes, rows, words):
        logs = [self.log_first(prefixes, [row], [word])[0, 0] for row, word in zip(rows, words, strict=True)]
        return list(words), np.array(logs)

    def log_stop(self, prefixes):
        return np.log([0.9 if word == "car" else 0.05 for word in prefixes])


class Indifferent:
    words = ["red", "car", "sea"]

    def log_scores(self, docs, indices):
        return np.zeros((len(docs), 3))


def test_a_causal_reader_compares_whole_sentences():
    """Against sentences scored by hand; a word after the blank speaks for one that the left does not expect."""
    model = Expecting()
    reader = mask_gate.CausalReader(Indifferent(), model)
    for doc, index in ((["?", "car"], 0), (["red", "?"], 1), (["sea", "?", "car"], 1)):
        whole = []
        for word in reader.words:
            sentence, before, log = [*doc[:index], word, *doc[index + 1 :]], [""], 0.0
            for at, one in enumerate(sentence):
                before, further = model.advance(before, [0], [one])
                log += further[0] * (at >= index)
            whole.append(log + model.log_stop(before)[0])
        assert reader.log_scores([doc], [index])[0] == pytest.approx(whole)
    assert reader.words[reader.log_scores([["sea", "?", "car"]], [1])[0].argmax()] == "red"


def test_a_causal_reader_gives_up_what_falls_behind_and_reads_no_more_than_its_candidates(monkeypatch):
    monkeypatch.setattr(mask_gate.CausalReader, "BEHIND", 2.0)
    reader = mask_gate.CausalReader(Indifferent(), Expecting())
    assert reader.log_scores([["?", "car"]], [0])[0].tolist().count(-np.inf) == 2
    monkeypatch.setattr(mask_gate.CausalReader, "CANDIDATES", 1)
    assert np.isfinite(reader.log_scores([["red", "?"]], [1])[0]).tolist() == [False, True, False]
