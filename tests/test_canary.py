"""The canary: which cells are drawn, and what is said of one that comes out otherwise."""

import pandas as pd
import pytest
from click.testing import CliRunner

from textsan_book.commands.canary import canary as command
from textsan_book.studies import canary, golden, recompute


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """End with the test what the command sets for its process."""
    monkeypatch.setenv("TEXTSAN_RECOMPUTE", "0")


@pytest.fixture
def one(monkeypatch):
    """The cell of a table that needs nothing, and is quick."""
    [table] = [table for table in golden.tables() if table.name == "golden/results/mechanisms"]
    cell, rows = table.cells[1]
    return canary.DrawnCell(table, cell, rows, 1.0, "")


def test_another_commit_draws_other_cells_and_never_a_golden_one(monkeypatch):
    few = tuple(table for table in golden.tables() if table.name in ("results/every-attack", "results/know-k"))
    monkeypatch.setattr(golden, "tables", lambda: few)
    drawn = {commit: [(x.name, x.seconds) for x in canary.draw(commit)] for commit in map(str, range(30))}
    assert drawn["1"] == [(x.name, x.seconds) for x in canary.draw("1")]
    names = {name for found in drawn.values() for name, _ in found}
    assert len(names) > 20
    assert not names & {f"{one['table']} row {one['row']}" for one in golden.golden_cells()}


def test_a_cell_comes_out_again_or_the_column_is_named(one, tmp_path, default_data):
    assert recompute.difference(one.cell, one.table.table, one.rows) == ""
    for suffix in (".csv", ".yml", ".npz"):
        copy = tmp_path / f"mechanisms{suffix}"
        copy.write_bytes(one.table.table.with_suffix(suffix).read_bytes())
    rows = pd.read_csv(tmp_path / "mechanisms.csv")
    rows.loc[one.rows[0], "coverage"] += 2e-5
    rows.to_csv(tmp_path / "mechanisms.csv", index=False)
    assert recompute.difference(one.cell, tmp_path / "mechanisms.csv", one.rows).startswith("coverage ")


def test_what_cannot_be_computed_is_named_and_only_a_difference_is_red(one, monkeypatch):
    lacking = one._replace(lacking="a GPU")
    monkeypatch.setattr(canary, "draw", lambda commit: [lacking, one._replace(seconds=1e9)])
    said = CliRunner().invoke(command, ["--minutes", "1", "--commit", "x"])
    assert said.exit_code == 0
    assert f"not here: {one.name}, needs a GPU, made at" in said.output and "no time" in said.output
    monkeypatch.setattr(canary, "compute", lambda *_: iter([(one, "otherwise", "asr 0.5, stored 0.4")]))
    said = CliRunner().invoke(command, ["--minutes", "1", "--commit", "x"])
    assert said.exit_code == 1 and "otherwise" in said.output


def test_searches_under_other_kernels_are_not_compared(monkeypatch):
    search, pinned = {"experiment": "gradient_attacks"}, {"hardware": ["x86_64, 2 cores"]}
    for held in ("", "other kernels"):
        monkeypatch.setattr(recompute.kernels, "held", lambda held=held: held)
        assert recompute.incomparable(search, pinned) == ("the kernels that made it" if held else "")


@pytest.mark.parametrize("is_exact", [True, False])
def test_every_table_is_equal_to_itself(is_exact):
    """Infinity, too, and a number whose interval is empty."""
    for table in golden.tables():
        rows = pd.read_csv(table.table, low_memory=False)
        assert recompute._moved(rows, rows, is_exact) == [], table.name


@pytest.mark.parametrize(("value", "is_near"), [(0.737, True), (0.70, False), (-0.734, False)])
def test_with_other_kernels_a_number_without_an_interval_is_near(value, is_near):
    stored, anew = pd.DataFrame({"original": [0.734]}), pd.DataFrame({"original": [value]})
    assert bool(recompute._moved(stored, anew, is_exact=False)) != is_near
    assert recompute._moved(stored, anew, is_exact=True)


def test_ends_of_an_interval_are_no_values():
    """Linkage's intervals are made of stored hits, which have four digits."""
    stored = pd.DataFrame([{"main": 0.5, "excess": 0.2, "low": 0.11533, "high": 0.29319, "over end": 1.0}])
    assert recompute._moved(stored, stored.assign(low=0.115336), is_exact=True) == []
    assert recompute._moved(stored, stored.assign(excess=0.2001), is_exact=True)
    with_share = stored.assign(share=0.2)
    assert recompute._moved(with_share, with_share.assign(excess=0.3), is_exact=True)


@pytest.mark.parametrize("mark", ["_", " "])
def test_an_interval_of_one_column_is_no_value_where_another_has_the_same_name_less_its_mark(mark):
    stored = pd.DataFrame([{"difference": 0.1, f"difference{mark}low": 0.0, f"difference{mark}high": 0.2}])
    assert recompute._moved(stored, stored.assign(**{f"difference{mark}low": 0.05}), is_exact=True) == []
    assert recompute._moved(stored, stored.assign(difference=0.15), is_exact=True)
    assert recompute._moved(stored, stored.assign(difference=0.15), is_exact=False) == []
