"""Stored tables: one that is not there is named."""

import pytest

from textsan_book.judging import stored


def test_a_table_that_is_not_there_is_named():
    assert set(stored.table("vectors-erasure.csv").table) == {"vectors-erasure.csv"}
    with pytest.raises(ValueError, match="no row of nothing.csv, none.csv"):
        stored.table("nothing.csv", "none.csv")
