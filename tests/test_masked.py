"""Masked readers at their gate: joined by hand from the stored tables, and the rule of their specification."""

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

    def against(self, knowledge, *, public):
        return self

    def reconstruct(self, docs, positions):
        assert all(any(map(str.isalnum, docs[d][i])) for d, i in positions)
        return [docs[d][i] if self.right else "" for d, i in positions]
