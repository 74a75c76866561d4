"""Stored tables of linkage: means and intervals against the rows of the file, read without pandas' groups."""

import pytest
from stored import lines, mean

from textsan_book.judging import linked


@pytest.fixture(scope="module")
def stored():
    return linked.cases("linkage.csv")


@pytest.mark.parametrize("name", ["linkage.csv", "linkage-held.csv"])
def test_cases_are_all_rows_with_their_names_and_each_case_is_one_run_of_rows(name):
    rows = linked.cases(name)
    assert len(rows) == len(lines(name))
    cases = list(rows.case + rows.listed)
    changes = sum(one != other for one, other in zip(cases, cases[1:], strict=False))
    assert changes == len(set(cases)) - 1
    assert set(rows.listed) == {"10", "100", "300", "1,000", "all"}
    assert (rows.loc[rows.listed == "all", "candidates"] > 1000).all()
    assert "summary 0.5" in cases[cases.index("summary 0.51,000")] and "CusText+, ε = 1" in set(rows.who)


def test_summary_is_the_mean_of_the_rows_with_the_pooled_interval(stored):
    who = {"defence": "santext", "epsilon": "2.0", "threat": "original", "candidates": "1000"}
    rows = lines("linkage.csv", **who)
    assert len(rows) == 6
    first = stored[(stored.who == "SanText, ε = 2") & (stored.threat == "original") & (stored.candidates == 1000)]
    line = linked.summary(first)
    for column in ("main", "control", "baseline"):
        assert line[column] == pytest.approx(mean(rows, column))
    assert line["excess"].value == pytest.approx(line["main"] - line["control"], abs=1e-4)
    assert line["excess"].low == pytest.approx(0.446, abs=1e-3)  # of the findings
    assert line["excess"].high == pytest.approx(0.717, abs=1e-3)


def test_a_case_is_listed_unless_the_interval_lies_above_zero(stored):
    listed = {(row["sanitizer"], row["case"], row["candidates"]): row for row in linked.undisclosed(stored)}
    small = stored[stored.listed != "all"]
    for key, rows in small.groupby(["who", "case", "listed"]):
        excess = linked.verdict(rows).pooled
        assert (excess.low <= 0) == (key in listed)
