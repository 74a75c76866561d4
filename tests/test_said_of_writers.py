"""Sentences of the book on near copies and on lengths beside the tables of writers."""

from pathlib import Path

import pandas as pd
import pytest

from textsan.text import corpora
from textsan.text.sources import SHARED
from textsan_book.studies import writer as study

RESULTS = Path(__file__).parents[1] / "data" / "results"


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


def test_the_length_alone_is_the_reading_of_a_mechanism_that_keeps_no_word():
    """So that the rows of SanText say what a length says: nothing seen in three corpora, a little of symptoms."""
    rows = pd.concat(pd.read_csv(RESULTS / name) for name in ("writer.csv", "writer-held.csv"))
    length = rows[(rows.reading == "kept words and length") & rows.defence.isin(["santext", "custext"])]
    by = length.drop_duplicates(["dataset", "seed"]).set_index("dataset")
    for dataset in ("rt", "drugs", "amazon"):
        assert (by.loc[dataset].excess_low <= 0).all() and (by.loc[dataset].excess_high >= 0).all()
    assert (by.loc["symptom2disease"].excess_low > 0).all()
