"""Choices of epsilon against later documents, from a small table."""

import numpy as np
import pandas as pd
import pytest

from textsan_book.judging import kept_promises


@pytest.fixture
def results(tmp_path):
    """Two corpora, two columns, one answer missing, one share above the target and one shown to be."""
    rows = [
        ("a", "same", "source", 0.2, 1.0, 0.10, 0.05, 0.15, -2.0),
        ("a", "same", "channel", 0.2, 2.0, 0.40, 0.30, 0.50, 4.0),
        ("b", "same", "source", 0.2, np.nan, np.nan, np.nan, np.nan, np.nan),
        ("b", "same", "channel", 0.2, 3.0, 0.25, 0.15, 0.35, 1.0),
        ("a", "next", "source", 0.2, 1.0, 0.05, 0.02, 0.08, -3.0),
    ]
    names = ["dataset", "later", "column", "target", "epsilon", "share", "low", "high", "excess"]
    frame = pd.DataFrame(rows, columns=names).assign(other="b", defence="custext")
    frame.to_csv(tmp_path / "promises.csv", index=False)
    copies = frame[frame.later == "next"].assign(later="copies", dataset="c", share=0.3, low=0.25)
    copies.to_csv(tmp_path / "promises-held.csv", index=False)
    return kept_promises.choices(tmp_path)


def test_later_documents_are_summarised_by_column(results):
    by_column = {row["ε by"]: row for row in kept_promises.later(results)}
    channel, source = by_column["channel"], by_column["source"]
    assert (channel["answers"], channel["measured above"], channel["shown above"]) == (2, 2, 1)
    assert channel["mean excess"].value == pytest.approx(2.5)
    assert (source["answers"], source["measured above"], source["shown above"]) == (1, 0, 0)
    assert kept_promises.promised_for_source(results) == {"asked": 2, "answered": 1}


def test_answers_are_spelled_and_none_where_there_is_no_epsilon(results):
    corpora = {row["corpus"]: row for row in kept_promises.answers(results, 0.2)}
    assert corpora["a"]["channel"] == "2" and corpora["a"]["source"] == "1"
    assert corpora["b"]["source"] == "none" and corpora["b"]["guarantee"] == "none"
    assert kept_promises.answers(results, 0.3) == []
