"""One row for all seeds of a cell, against the seeds by hand, and what is said of the vocabulary."""

import numpy as np
import pandas as pd
import pytest

from textsan.evaluation import Estimate
from textsan.sweeps.tables import pooled
from textsan_book.judging import stored
from textsan_book.judging.seeds import over_seeds

CELL = {"dataset": "rt", "vocabulary": 20000, "defence": "custext+", "epsilon": 4.0, "n_positions": 100}


def row(seed, attack="markov", asr=0.5, **more):
    return CELL | {"seed": seed, "attack": attack, "asr": asr, "low": asr - 0.1, "high": asr + 0.1} | more


def test_seeds_of_a_cell_become_one_row_and_cells_stay_apart():
    rows = [row(0, asr=0.4), row(1, asr=0.5), row(2, asr=0.6), row(0, "unchanged", 0.1)]
    rows += [row(0, epsilon=1.0), row(0, **{"attack.k": 20}), row(0, dataset="amazon")]
    found = over_seeds(pd.DataFrame(rows))
    assert found.seeds.tolist() == [3, 1, 1, 1, 1]
    first = found.iloc[0]
    assert first.n_positions == 300 and np.isclose(first.spread, 0.2)
    by_hand = pooled([Estimate(v, v - 0.1, v + 0.1) for v in (0.4, 0.5, 0.6)])
    assert np.allclose(first[["asr", "low", "high"]].astype(float), by_hand)
    assert first.high - first.low > 0.2, "the spread between seeds widens the interval of one"


def test_a_single_seed_is_left_as_it_is_and_every_rate_is_pooled():
    difference = {"over context-free": 0.05, "over context-free low": 0.0, "over context-free high": 0.1}
    meaning = {"asr_meaning": 0.7, "asr_meaning_low": 0.6, "asr_meaning_high": 0.8}
    one = pd.DataFrame([row(0, **difference, **meaning)])
    pd.testing.assert_frame_equal(over_seeds(one)[list(one)], one, check_dtype=False)
    two = over_seeds(pd.DataFrame([row(s, **difference, **meaning) for s in (0, 1)])).iloc[0]
    assert two["over context-free"] == 0.05 and np.isclose(two.asr_meaning_high, 0.8)
    assert two["over context-free high"] <= 0.1 + 1e-9


def test_cells_without_an_interval_keep_none():
    rows = pd.DataFrame([row(s) | {f"over markov{end}": None for end in ("", " low", " high")} for s in (0, 1)])
    assert over_seeds(rows)["over markov"].isna().all()


def test_other_tables_name_what_tells_their_cells_apart():
    rate = {"low": 0.0, "high": 1.0}
    rows = [{"layer": n, "seed": s, "asr": 0.1 * s, **rate} for n in (0, 2) for s in (1, 3)]
    found = over_seeds(pd.DataFrame(rows), by=["layer"])
    assert found.layer.tolist() == [0, 2] and found.seeds.tolist() == [2, 2]
    assert np.allclose(found.asr, 0.2) and np.allclose(found.spread, 0.2)


def test_a_table_that_is_not_there_is_named():
    assert set(stored.table("vectors-erasure.csv").table) == {"vectors-erasure.csv"}
    with pytest.raises(ValueError, match="no row of nothing.csv, none.csv"):
        stored.table("nothing.csv", "none.csv")


def test_a_share_stays_one():
    rates = [
        row(seed, asr=asr, low=max(asr - 0.01, 0.0), high=asr + 0.01) for seed, asr in enumerate((0.0, 0.004))
    ]
    found = over_seeds(pd.DataFrame(rates)).iloc[0]
    assert found.low == 0.0 < found.asr < found.high
