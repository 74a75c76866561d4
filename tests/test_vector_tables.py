"""Stored tables of attacks on vectors, as they are shown: means of the seeds, by another way to them."""

import statistics

import pandas as pd
import pytest
import stored

from textsan_book.judging import vector_tables


def mean(name, column="asr", **where):
    return stored.mean(stored.lines(f"vectors-{name}", **where), column)


def test_dates_of_birth_are_means_of_the_seeds_of_each_kind_of_vector():
    lines = vector_tables.citizens()
    assert [line["numbers"] for line in lines] == [None, 200_000, 8000, 8000, 8000, 4000, 4000, 4000, 0]
    assert lines[0]["whole"] == 0.219 and lines[-1]["whole"] == pytest.approx(1 / 36_524)
    for segment in vector_tables.SEGMENTS:
        part = {"segment": segment, "top": "1"}
        truth = [mean("citizen-full", pooling="mean", **part)]
        truth += [mean("citizen-layers", pooling="mean", layer=layer, **part) for layer in ("2", "-1")]
        truth += [mean("citizen", encoder="glove-6b-50d", **part)]
        truth += [mean("citizen-causal", encoder="smollm2-135m", pooling=p, **part) for p in ("mean", "last")]
        truth += [mean("citizen-causal", encoder="all-minilm-l6-v2", **part)]
        assert [line[segment].value for line in lines[1:-1]] == pytest.approx(truth)
        assert all(line[segment].low <= line[segment].value <= line[segment].high for line in lines[1:-1])


@pytest.mark.parametrize("at", [0, 1])
def test_bases_gain_over_the_majority_of_their_position(at):
    line, corpus = vector_tables.bases()[at], ["splice_junction", "generated"][at]

    def gain(position):
        return mean("genome", corpus=corpus, position=position) - mean(
            "genome", "chance", corpus=corpus, position=position
        )

    assert line["first"] == pytest.approx(gain("1")) and line["last"] == pytest.approx(gain("20"))
    middle = statistics.fmean(gain(str(i)) for i in range(3, 19))
    assert line["middle"] == pytest.approx(middle)
    every = (16 * middle + sum(map(gain, ("1", "2", "19", "20")))) / 20
    assert line["gain"].value == pytest.approx(every, abs=1e-4)


def test_students_interval_is_that_of_the_tables_of_t():
    found = vector_tables.over_draws(pd.Series([0.1, 0.2, 0.3]), most=0.4)
    assert found.value == pytest.approx(0.2) and found.high == 0.4
    assert found.low == pytest.approx(0.2 - 4.302653 * 0.1 / 3**0.5)


def test_a_defence_keeps_the_task_inside_the_interval_without_one():
    rows = vector_tables.defences()
    lowest = mean("defences", "utility_low", defence="none")
    assert rows.keeps.tolist() == [row.utility > lowest for row in rows.itertuples()]
    assert rows.defence.iloc[0] == "none" and len(rows) == 27
