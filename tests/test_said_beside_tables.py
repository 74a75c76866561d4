"""Sentences of chapters on stored tables that the tables themselves do not show."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsan.sweeps.hits import load_hits
from textsan.sweeps.tables import load_tables, select
from textsan.text import corpora
from textsan.text.corpora import load_dataset
from textsan.text.sources import SHARED
from textsan_book.studies import writer as study
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


def test_marks_that_stand_for_a_kept_word_are_found_and_words_are_not():
    """Chapter 7: who is not told, with the mixture at ε = 4."""
    path = RESULTS / "mixture.csv"
    rows, hits = load_tables(path.parent, path.name), load_hits(path)
    rows = select(rows, {"dataset": "rt", "attack": "mixture", "attack.told": False, "epsilon": 4.0})
    at = {name: np.concatenate([hits[i][name] for i in rows.index]) for name in ("hit", "letter", "as kept")}
    there = {kind: at["hit"][at["as kept"] & (at["letter"] == kind)].mean() for kind in (False, True)}
    assert there[False] == pytest.approx(0.69, abs=0.03) and there[True] < 0.1


def test_every_table_is_read_by_a_page():
    """A table that no page reads can contradict one for weeks: two did."""
    read = {"claims", "scoreboard"}  # what the judges wrote, who read all others
    for file in (ROOT / "notebooks").glob("**/[!.]*.ipynb"):
        used = json.loads(file.read_text(encoding="utf-8"))["metadata"]["textsan"]["tables"]
        read |= {Path(name).stem for name in used if name.startswith("data/results/")}
    for file in [*(ROOT / "book" / "pages").glob("*.md"), *(ROOT / "book" / "manual").glob("*.md")]:
        read |= set(re.findall(r"data/results/([\w-]+)\.csv", file.read_text(encoding="utf-8")))
    assert {file.stem for file in (ROOT / "data" / "results").glob("*.csv")} <= read


def runs(record):
    tokens = record.tokens
    return {tuple(tokens[i : i + SHARED]) for i in range(len(tokens) - SHARED + 1)}


@pytest.mark.skipif(
    "symptom2disease" not in corpora._local_folders(), reason="symptom2disease is not in TEXTSAN_DATA"
)
@pytest.mark.parametrize("seed", range(3))
def test_the_attacker_owns_no_near_copy_of_a_released_description(seed):
    records = study.labelled("symptom2disease")
    sources = pd.Series(corpora.source_numbers(records))
    shared = sources.map(sources.value_counts()) > 1
    assert 0.65 < shared.mean() < 0.75  # two in three share a run with another
    private, shadow = corpora.private_and_shadow(records, 250, 350, seed)
    assert set().union(*map(runs, private)).isdisjoint(set().union(*map(runs, shadow)))
