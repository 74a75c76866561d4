"""Sentences of chapters on stored tables that the tables themselves do not show."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsan import load_split
from textsan.evaluation import Estimate
from textsan.sweeps.hits import load_hits
from textsan.sweeps.paired import paired_differences
from textsan.sweeps.tables import estimate, load_tables, pooled, select
from textsan.text.corpora import load_dataset
from textsan_book.studies import linkage
from textsan_book.studies.vector_texts import other_texts

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "data" / "results"

pytestmark = pytest.mark.usefixtures("default_data")


def test_film_reviews_for_the_black_box_are_drawn():
    """Chapter 15: the file is sorted, and its first 1,728 are nearly all favourable."""
    favourable = {record.text: record.label > 0 for record in load_dataset("rt", split="all")}
    assert np.mean(list(favourable.values())[:1728]) > 0.9
    drawn = other_texts("rt", 1728, seed=0)
    assert np.mean([favourable[text] for text in drawn]) == pytest.approx(0.5, abs=0.03)
    assert drawn != other_texts("rt", 1728, seed=1) and len(set(drawn)) == len(drawn)


def test_two_rows_of_the_dice_are_one_run():
    table = pd.read_csv(RESULTS / "language-model-memory.csv")
    dice = table[table.text == "made by dice"].drop(columns="dataset")
    assert len(dice) == 2 and len(dice.drop_duplicates()) == 1


@pytest.mark.parametrize(("dataset", "without"), [("amazon", 5), ("rt", 0)])
def test_five_controls_are_of_another_length(dataset, without):
    """Chapter S3: of three draws of 100 releases, where no document of the length was left."""
    found = 0
    for seed in range(3):
        split = load_split(dataset, 1000, 500, seed=seed)
        docs = split.private[:100]
        others = linkage.of_equal_lengths(docs, split.population)
        found += sum(len(doc) != len(split.population[at]) for doc, at in zip(docs, others, strict=True))
    assert found == without


def test_marks_that_stand_for_a_kept_word_are_found_and_words_are_not():
    """Chapter 7: who is not told, with the mixture at ε = 4."""
    path = RESULTS / "mixture.csv"
    rows, hits = load_tables(path.parent, path.name), load_hits(path)
    rows = select(rows, {"dataset": "rt", "attack": "mixture", "attack.told": False, "epsilon": 4.0})
    at = {name: np.concatenate([hits[i][name] for i in rows.index]) for name in ("hit", "letter", "as kept")}
    there = {kind: at["hit"][at["as kept"] & (at["letter"] == kind)].mean() for kind in (False, True)}
    assert there[False] == pytest.approx(0.69, abs=0.03) and there[True] < 0.1


@pytest.mark.parametrize("dataset", ["rt", "amazon", "nyt", "tweets"])
def test_two_draws_share_hardly_a_sentence(dataset):
    """Chapter 7: of the 60 private ones of `alone.yml`."""
    drawn = [{tuple(doc) for doc in load_split(dataset, 60, 1000, seed=seed).private} for seed in range(3)]
    assert max(len(one & other) for i, one in enumerate(drawn) for other in drawn[:i]) <= 2


def test_every_table_is_read_by_a_page():
    """A table that no page reads can contradict one for weeks: two did."""
    read = {"claims", "scoreboard"}  # what the judges wrote, who read all others
    for file in (ROOT / "notebooks").glob("**/[!.]*.ipynb"):
        used = json.loads(file.read_text(encoding="utf-8"))["metadata"]["textsan"]["tables"]
        read |= {Path(name).stem for name in used if name.startswith("data/results/")}
    for file in [*(ROOT / "book" / "pages").glob("*.md"), *(ROOT / "book" / "manual").glob("*.md")]:
        read |= set(re.findall(r"data/results/([\w-]+)\.csv", file.read_text(encoding="utf-8")))
    assert {file.stem for file in (ROOT / "data" / "results").glob("*.csv")} <= read


def test_accuracy_in_the_encoders_own_space():
    """Chapter 9: not told from chance while three of ten words can be read, above it where half and more can."""
    learnt = load_tables(RESULTS, ["utility-pieces.csv", "utility-pieces-qnli.csv"])
    for (_, epsilon), some in learnt[learnt.task.notna()].groupby(["dataset", "epsilon"]):
        rate = pooled([estimate(row, "utility") for row in some.to_dict("records")])
        if epsilon <= 12:
            assert rate.low < some.chance.mean() < rate.high
        else:
            assert rate.low > some.chance.mean()


def test_more_shadow_text_for_the_detector():
    """Chapter S14: the claim is judged on one seed; means, and what word counts have of them."""
    rows = load_tables(RESULTS, "detectors-shadow.csv").set_index(["attack", "n_shadow", "seed"]).sort_index()
    read = rows.loc["contextual"]
    both = [s for s in (0, 1, 2) if all(read.gate[n, s] == "passed" for n in (200, 1600))]
    gains = {name: rows.asr[name, 1600] - rows.asr[name, 200] for name in ("contextual", "context-free")}
    assert both == [2]
    assert gains["contextual"].mean() / gains["contextual"][2] == pytest.approx(0.75, abs=0.03)
    assert gains["context-free"].mean() / gains["contextual"].mean() == pytest.approx(0.5, abs=0.03)
    ends = read.loc[200].loc[2, ["over context-free low", "over context-free high"]]
    assert ends.iloc[0] < 0 <= ends.iloc[1] < 0.0015
    passed = read[read.gate == "passed"]["over context-free"]
    newer = load_tables(RESULTS, ["detectors-trained.csv", "faithful.csv"])
    newer = select(newer, {"attack": "contextual", "attack.k": 10})["over context-free"]
    assert len(passed) == 5 and len(newer) == 8 and passed.mean() < newer.mean()


def test_the_smaller_model_beside_a_mixture_without_one():
    """Chapter 7: alone and told, on film reviews above at one of two budgets, on news at both."""
    sides = {"attack": "language model", "attack.model": "smollm2-135m"}, "mixture without language"
    found = paired_differences(RESULTS / "alone-gemma.csv", *sides, where=lambda at: at["letter"])
    shown = {}
    for place, some in found.groupby(["dataset", "epsilon"]):
        drawn = [Estimate(*one) for one in some[["difference", "low", "high"]].to_numpy()]
        shown[place] = pooled(drawn).low > 0
    assert shown == {("nyt", 1): True, ("nyt", 4): True, ("rt", 1): False, ("rt", 4): True}
