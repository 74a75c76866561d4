"""Masked readers at their gate: joined by hand from the stored tables, and the rule of their specification."""

from statistics import fmean

import pytest
from stored import RESULTS, lines as rows

from textsan.sweeps.tables import load_tables, select
from textsan_book.judging import masked
from textsan_book.judging.seeds import over_seeds
from textsan_book.studies import mask_gate


@pytest.mark.parametrize("reader", ["public", "adapter"])
def test_the_gate_is_three_seeds_of_each_corpus(reader):
    mine, found = rows("mask-gate.csv", reader=reader), masked.gate(RESULTS, reader)
    for dataset, line in zip(dict.fromkeys(row["dataset"] for row in mine), found, strict=True):
        seeds = [row for row in mine if row["dataset"] == dataset]
        assert sorted(row["seed"] for row in seeds) == ["0", "1", "2"]
        for name, column in {"named": "asr", "constant": "constant", "over": "over"}.items():
            assert line[name].value == pytest.approx(fmean(float(row[column]) for row in seeds))
        assert line["over"].value == pytest.approx(line["named"].value - line["constant"].value)
        assert line["passed"] == (line["over"].low > 0)


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


def test_names_are_rarely_filled_in():
    """Chapter S12: at most 0.038 of the names, and behind word counts wherever these find a tenth."""
    found = over_seeds(load_tables(RESULTS, "mask-public-names.csv"))
    filled = select(found, {"attack": "mask inference"})
    assert filled.asr.max() == pytest.approx(0.038, abs=5e-4) and filled.high.max() < 0.07
    counted = select(found, {"attack": "context-free"}).asr.to_numpy()
    assert (filled["over context-free high"][counted > 0.1] < 0).all() and (counted > 0.1).sum() == 4
