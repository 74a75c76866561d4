"""The papers' pictures of utility, against stored tables read by the csv module and a mechanism made anew."""

import json

import numpy as np
import pytest
from stored import lines

import textsan
from textsan.mechanisms import make_mechanism
from textsan_book.judging import papers_tradeoffs


def rows(name):
    return [row | json.loads(row["defence_parameters"]) for row in lines(name)]


def accuracy(some):
    return np.mean([float(row["utility"]) for row in some if row["utility"]])


def test_corners_are_means_of_their_rows_and_p_is_not_in_a_sensitive_words_channel():
    for line, file in zip(papers_tradeoffs.corners(), papers_tradeoffs.LISTS.values(), strict=True):
        square, ends = rows(file), []
        for name, at in (("w = 0.10, p = 0.1", (0.1, 0.1)), ("w = 0.95, p = 0.9", (0.95, 0.9))):
            ends.append(accuracy([row for row in square if (row["w"], row["p"]) == at]))
            assert line[name].value == pytest.approx(ends[-1])
        assert line["difference"].value == pytest.approx(ends[0] - ends[1]) and line["difference"].low > 0
        by_w = {}
        for row in square:
            by_w.setdefault((row["seed"], row["w"]), set()).add(row["vulnerability"])
        assert all(len(values) == 1 for values in by_w.values())


def test_deniability_is_that_of_the_mechanism():
    embeddings = textsan.load_embeddings().frequent(300)
    lines = papers_tradeoffs.deniability(embeddings, words=300, draws=50)
    stays, outputs = ([line[name] for line in lines] for name in ("N_x", "S_x"))
    assert (np.diff(stays) > 0).all() and (np.diff(outputs) < 0).all()
    for line in lines[1:3]:
        channel = make_mechanism("santext", embeddings, epsilon=line["epsilon"]).channel
        matrix = np.array([channel.rows([i])[0] for i in range(300)])
        assert line["N_x"] == pytest.approx(np.median(np.diag(matrix)))
        assert line["S_x"] == pytest.approx(np.median((1 - (1 - matrix) ** 50).sum(axis=1)))
        drawn = accuracy(row for row in rows("utility-sst2.csv") if is_at(row, line["epsilon"]))
        assert line["accuracy"].value == pytest.approx(drawn)


def is_at(row, epsilon):
    return row["defence"] == "santext" and float(row["epsilon"]) == epsilon


def test_mask_inference_sees_the_noise_and_finds_no_mark():
    lines = papers_tradeoffs.masks()
    assert len(lines) == 36
    files = {"GloVe": ("tradeoff-mask-oov.csv", "mask-public-oov.csv")}
    files |= {"counter-fitted": ("tradeoff-mask-vectors.csv", "mask-public-vectors.csv")}
    for vectors, (learnt, masked) in files.items():
        (line,) = (
            one for one in lines if (one["vectors"], one["k"], one["epsilon"]) == (vectors, 20, 8) and one["k"]
        )
        mine, attacked = (
            [row for row in rows(file) if row.get("k") == 20 and float(row["epsilon"]) == 8]
            for file in (learnt, masked)
        )
        assert line["recovered"].value == pytest.approx(np.mean([float(row["asr"]) for row in attacked]))
        assert line["accuracy"].value == pytest.approx(accuracy(mine))
    for of in dict.fromkeys((one["vectors"], one["k"]) for one in lines):
        first, *_, last = [one["recovered"] for one in lines if (one["vectors"], one["k"]) == of]
        assert first.high < last.low  # more is recovered at the largest epsilon
    (words, of_words), (marks, of_marks) = papers_tradeoffs.marks().values()
    assert 0.1 < words.low and marks.value == 0
    attacked = rows("mask-public-oov.csv")
    total = sum(float(row["asr"]) * float(row["n_positions"]) for row in attacked)
    assert words.value * of_words == pytest.approx(total, rel=1e-3)
    assert of_words + of_marks == sum(float(row["n_positions"]) for row in attacked)
