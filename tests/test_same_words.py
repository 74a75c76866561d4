"""Attacks of several tables on the same words: joined by hand, and refused where the words are others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsan.sweeps.hits import packed
from textsan_book.judging import same_words

RESULTS = Path(__file__).parents[1] / "data" / "results"
WHERE = {"dataset": "rt", "epsilon": 4.0}
COUNTS = same_words.Attacker("counts", "own text", "one.csv", {"attack": "context-free"}, "context-free")
PAIRS = same_words.Attacker("pairs", "own text", "other.csv", {"attack": "markov"}, "markov")
HITS = {  # of two seeds, six words each, the last of which is a comma
    "context-free": ([1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1]),
    "markov": ([1, 1, 0, 1, 1, 0], [0, 1, 1, 0, 0, 0]),
}


def stored(folder, name, attack, **changed):
    rows, hits = [], {}
    for seed, found in enumerate(HITS[attack]):
        arrays = {
            "hit": np.array(found, bool),
            "substring": np.ones(6, bool),
            "document": np.arange(6) // 2,
            "index": np.arange(6) % 2,
            "source": np.arange(6) // 2,
            "letter": np.array([1, 1, 1, 1, 1, 0], bool),
            "unchanged": np.zeros(6, bool),
        } | changed
        rows.append({"dataset": "rt", "epsilon": 4.0, "seed": seed, "attack": attack, "asr": np.mean(found)})
        rows[-1] |= {"n_positions": 6, "attack_parameters": "{}", "defence_parameters": "{}"}
        hits[seed] = f"seed {seed}", arrays
    pd.DataFrame(rows).to_csv(folder / name, index=False)
    (folder / name).with_suffix(".npz").write_bytes(packed(hits))


@pytest.fixture
def folder(tmp_path):
    stored(tmp_path, "one.csv", "context-free")
    stored(tmp_path, "other.csv", "markov")
    return tmp_path


def test_rates_and_gains_are_means_over_words_with_letters_and_over_seeds(folder):
    hits = same_words.hits(folder, [COUNTS, PAIRS], WHERE)
    assert [len(one["hit"]) for one in hits["pairs"]] == [5, 5]
    assert same_words.rate(hits["counts"]).value == pytest.approx((2 / 5 + 1 / 5) / 2)
    assert same_words.rate(hits["counts"], "substring").value == 1
    assert same_words.gain(hits["pairs"], hits["counts"]).value == pytest.approx((2 / 5 + 1 / 5) / 2)
    assert same_words.gain(hits["counts"], hits["counts"]).value == 0


def test_other_words_another_release_and_missing_seeds_are_refused(folder):
    for name, value in (("index", np.arange(6)), ("unchanged", np.ones(6, bool))):
        stored(folder, "other.csv", "markov", **{name: value})
        with pytest.raises(ValueError, match="other words, or another release"):
            same_words.hits(folder, [COUNTS, PAIRS], WHERE)
    with pytest.raises(ValueError, match="0 rows"):
        same_words.hits(folder, [replace(COUNTS, row={"attack": "none"})], WHERE)


def test_an_attacker_named_twice_counts_once_and_the_baseline_has_no_difference(folder, monkeypatch):
    monkeypatch.setattr(same_words, "BASELINE", COUNTS)
    counts, pairs = same_words.table(folder, [COUNTS, PAIRS], WHERE)
    assert counts["minus word counts"] is None and pairs["minus word counts"].value == pytest.approx(0.3)
    assert [*pairs] == ["attack", "given", "recovered", "minus word counts"]
