"""All mechanisms on one scale: the search, the columns against other code, and a newcomer's mechanism."""

import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from textsan import Embeddings, SanText, Split, leakage
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import problems, studies
from textsan.text.corpora import Record
from textsan_book.commands.rank import SKIPPED, rank
from textsan_book.studies import ranking

WORDS = ["the", "of", *(f"w{i}" for i in range(28))]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(9).normal(size=(30, 3)))
SMALL = {"vocabulary": 30, "n_private": 40, "n_shadow": 60, "n_learn": 200, "public": False}

NEWCOMER = """from textsan.mechanisms import MECHANISMS, SanText

def shift(embeddings, epsilon: float):
    return SanText(embeddings, epsilon / 2)

MECHANISMS.register("shift", shift)
"""


@pytest.fixture
def world(monkeypatch):
    """Sentences of made-up words whose label one word decides; nothing is read."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, 31)
    docs = rng.choice(WORDS, size=(600, 8), p=weights / weights.sum()).tolist()
    records = [Record(" ".join(doc), 1.0 if "w0" in doc else -1.0) for doc in docs]

    def split(dataset, n_private, n_shadow, *, seed, **_):
        at = n_private + n_shadow
        return Split(docs[:n_private], docs[n_private:at], EMBEDDINGS, population=tuple(docs[at:]))

    monkeypatch.setattr(problems, "_split", split)
    monkeypatch.setattr(ranking, "load_dataset", lambda name: records)
    monkeypatch.setattr(ranking, "_TESTED", 200)
    monkeypatch.setattr(ranking, "ATTACKS", {"markov": {"k": 30}})
    for cached in (ranking._at_level, ranking._outcome, ranking._original):
        cached.cache_clear()
    return docs


@pytest.mark.parametrize("level", [0.02, 0.3, 0.75, 0.97])
@pytest.mark.parametrize("start", [1e-3, 1.0, 500.0])
def test_the_search_finds_the_level_of_a_rising_measure(level, start):
    value, reached = ranking.searched(lambda x: x / (1 + x), level, (1e-3, 1e3), start=start, near=0.005)
    assert reached and value / (1 + value) == pytest.approx(level, abs=0.05)


def test_the_search_takes_few_steps_stays_within_its_ends_and_says_where_there_is_no_level():
    asked = []

    def measure(x):
        asked.append(x)
        return 0.4 + 0.5 * x / (1 + x)

    value, reached = ranking.searched(measure, 0.2, (1e-3, 1e3), start=1.0)
    assert not reached and value == min(asked) == 1e-3
    value, reached = ranking.searched(measure, 0.95, (1e-3, 1e3), start=1.0)
    assert not reached and value == max(asked) == 1e3
    assert len(asked) <= 2 * 12
    value, reached = ranking.searched(lambda x: 0.1 if x < 2 else 0.9, 0.3, (1e-3, 1e3), start=1.0)
    assert reached and value < 2  # a measure that steps over the level is on both sides of it


def test_columns_against_other_code(world):
    row = ranking.ranks(dataset="made up", defence="santext", target="success", level=0.3, seed=0, **SMALL)[0]
    assert row["reached"] and row["success"] == pytest.approx(0.3, abs=0.06)
    channel = SanText(EMBEDDINGS, row["value"]).channel
    counts = np.array([sum(doc.count(word) for doc in world[100:]) for word in WORDS], dtype=float)
    assert row["vulnerability"] == pytest.approx(
        leakage.bayes_vulnerability(counts / counts.sum(), channel), abs=1e-3
    )
    assert 1 <= row["times"] and row["lost"] == pytest.approx(row["times"] * row["least"])
    assert row["tight"] <= row["value"] and row["covered"] == 1.0 and row["read"] == pytest.approx(row["success"])
    assert row["guarantee"] == "metric DP" and 0 < row["linkage"] <= 1


def test_an_accuracy_is_learnt_where_words_stay_and_is_lost_where_none_does(world):
    given = {"dataset": "made up", "seed": 0, **SMALL}
    kept = ranking.ranks(defence="santext", target="epsilon", level=60.0, **given)[0]
    lost = ranking.ranks(defence="random", target="success", level=0.3, **given)[0]
    assert kept["accuracy"] > 0.95 and lost["accuracy_high"] < kept["accuracy_low"]
    assert not lost["reached"] and math.isnan(lost["value"]) and lost["parameter"] == ""
    row = ranking.task_differences(first="santext", second="santext", target="epsilon", level=1.0, **given)[0]
    assert row["difference"] == 0.0 and row["low"] == -row["high"] < 0.0  # so many examples say no more
    row = ranking.task_differences(first="santext", second="fbdd", target="epsilon", level=60.0, **given)[0]
    assert row["low"] <= row["difference"] <= row["high"]


def test_labels_in_order_and_by_name_are_learnt_from_as_any_and_no_labels_are_none(world, monkeypatch):
    """Documents to learn from are drawn: the first of a file may all have one label."""
    records = ranking.load_dataset("made up")
    ordered = sorted(records, key=lambda record: record.label)
    named = [Record(one.text, "good" if one.label > 0 else "bad") for one in records]
    assert sum(record.label > 0 for record in ordered[:200]) == 0
    for seed, some in enumerate((ordered, named, [Record(one.text) for one in records])):
        monkeypatch.setattr(ranking, "load_dataset", lambda name, some=some: some)
        found = ranking._original("made up", seed, 200)
        assert math.isnan(found) if seed == 2 else found > 0.95


def test_a_language_model_reads_the_first_documents_of_the_same_release(world, monkeypatch, tmp_path):
    """A reader that is right at every second position; who never reaches the level is not asked about."""
    asked = []
    of = {"dataset": "made up", "target": "success", "level": 0.4, "seed": 0}
    placed = [
        of | {"defence": name} | ranking.ranks(defence=name, **of, **SMALL)[0] for name in ("santext", "random")
    ]
    (tmp_path / "results").mkdir()
    pd.DataFrame(placed).to_csv(tmp_path / "results" / "rank.csv", index=False)
    monkeypatch.setattr(ranking, "project_data", lambda: tmp_path)

    class Reader:
        weights = {"language": 0.25}

        def reconstruct(self, docs, positions):
            assert len(docs) == 10 and max(document for document, _ in positions) == 9
            return [world[d][i] if n % 2 else "nothing" for n, (d, i) in enumerate(positions)]

    attack = problems.Problem.attack

    def made(self, name, **settings):
        asked.append((name, settings))
        return Reader() if name == "mixture" else attack(self, name, **settings)

    monkeypatch.setattr(problems.Problem, "attack", made)
    sizes = {key: value for key, value in SMALL.items() if key not in ("n_learn", "public")}
    given = sizes | {"dataset": "made up", "seed": 0, "n_attacked": 10, "n_fitted": 7}
    row = ranking.ranks_with_language(defence="santext", level=0.4, **given)[0]
    assert row["positions"] == 80 and row["with_language"] == 0.5 and row["language_weight"] == 0.25
    assert row["difference"] == pytest.approx(0.5 - row["success"]) and row["attack"] == "markov"
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert row["value"] == placed[0]["value"] and ("mixture", {"sentences": 7, "public": False}) in asked
    asked.clear()
    [row] = ranking.ranks_with_language(defence="random", level=0.4, **given)
    assert not row["reached"] and "difference" not in row and not asked
    with pytest.raises(ValueError, match="made up, santext, success, 0.9, 0: the table rank has no such row"):
        ranking.ranks_with_language(defence="santext", level=0.9, **given)


def test_a_matched_setting_has_the_success_of_the_second(world):
    given = {"dataset": "made up", "seed": 0, "target": "matched", "level": 3.0, **SMALL}
    row = ranking.task_differences(first="erasure", second="santext", **given)[0]
    assert row["second_value"] == 3.0 and row["first_reached"]
    assert row["first_success"] == pytest.approx(row["second_success"], abs=0.05)
    assert row["original"] > 0.95


def test_what_is_released_as_it_is_counts_as_read_and_not_as_covered(world):
    """Kept words; and of SanText+, which keeps none, a word that is not sensitive stays with 1 - p = .7."""
    given = {"dataset": "made up", "seed": 0, "target": "epsilon", **SMALL}
    row = ranking.ranks(defence="custext+", level=1.0, **given)[0]
    kept = np.mean([word in ("the", "of") for doc in world[:40] for word in doc])
    assert row["covered"] == pytest.approx(1 - kept)
    assert row["read"] == pytest.approx(kept + (1 - kept) * row["success"])
    row = ranking.ranks(defence="santext+", level=100.0, **given)[0]
    assert row["covered"] < 0.7 and row["success"] > 0.99
    assert row["read"] == pytest.approx(row["covered"] + 0.7 * (1 - row["covered"]), abs=0.06)


def test_linkage_is_a_scale_and_an_estimated_channel_has_none(world):
    given = {"dataset": "made up", "seed": 0, **SMALL}
    row = ranking.ranks(defence="santext", target="linkage", level=0.2, **given)[0]
    assert row["reached"] and row["linkage"] == pytest.approx(0.2, abs=0.1)
    with pytest.raises(ValueError, match="estimated channel; linkage needs an exact one"):
        ranking.ranks(defence="fbdd", target="linkage", level=0.2, **given)
    with pytest.raises(ValueError, match="target: 'fame' is unknown"):
        ranking.ranks(defence="fbdd", target="fame", level=0.2, **given)


def test_a_newcomer_appears_without_another_edit(world, plugged, monkeypatch, tmp_path):
    """A mechanism in a file of its own, named on the command line, is in the table beside the others."""
    (tmp_path / "shift.py").write_text(NEWCOMER)
    monkeypatch.setattr(studies, "known", lambda: {"ranks": "textsan_book.studies.ranking"})
    monkeypatch.setattr("textsan.text.corpora.known", lambda: ["made up"])
    asked = ["made up", "--at-success", "0.4", "--sentences", "40", "--shadow", "60", "--learn", "200"]
    asked += ["--mechanism", "shift", "--mechanism", "erasure", "-o", str(tmp_path / "out")]
    found = CliRunner().invoke(rank, [*asked, "--plugin", str(tmp_path / "shift.py")])
    assert found.exit_code == 0, found.output
    assert "shift" in found.output and "erasure" in found.output
    assert "shift" in [name for name in MECHANISMS if name not in SKIPPED]  # without --mechanism, too
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    again = CliRunner().invoke(rank, [*asked, "--plugin", str(tmp_path / "shift.py")])
    assert again.exit_code == 0 and all(path.stat().st_mtime_ns == at for path, at in stored.items())


def test_bad_input_is_one_line(monkeypatch, tmp_path):
    two = CliRunner().invoke(rank, ["rt", "--at-success", "0.3", "--at-linkage", "0.2"])
    assert two.exit_code == 2 and "two scales; pass one of them" in two.output
    with pytest.raises(KeyError, match="rot13"):  # one line by `textsan`
        CliRunner().invoke(rank, ["rt", "--mechanism", "rot13"], catch_exceptions=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is unknown; known: rt"):
        CliRunner().invoke(rank, ["mine.txt"], catch_exceptions=False)
    assert not (tmp_path / "runs").exists()
