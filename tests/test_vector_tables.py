"""Stored tables of attacks on vectors, as they are shown: means of the seeds, by another way to them."""

import pandas as pd
import pytest
import stored

from textsan_book.judging import vector_tables


def mean(name, column="asr", **where):
    return stored.mean(stored.lines(f"vectors-{name}", **where), column)


def test_students_interval_is_that_of_the_tables_of_t():
    found = vector_tables.over_draws(pd.Series([0.1, 0.2, 0.3]), most=0.4)
    assert found.value == pytest.approx(0.2) and found.high == 0.4
    assert found.low == pytest.approx(0.2 - 4.302653 * 0.1 / 3**0.5)


def test_a_defence_keeps_the_task_inside_the_interval_without_one():
    rows = vector_tables.defences()
    lowest = mean("defences", "utility_low", defence="none")
    assert rows.keeps.tolist() == [row.utility > lowest for row in rows.itertuples()]
    assert rows.defence.iloc[0] == "none" and len(rows) == 27
