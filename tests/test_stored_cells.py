"""A sweep that goes on from a stored table: the cells that it has are taken, the others computed."""

import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from helpers import made_up_split

from textsan.cli import main
from textsan.sweeps import hits, specification, sweep
from textsan_book.studies import records, stored_cells

SPEC = {
    "dataset": "rt",
    "n_private": 40,
    "n_shadow": 30,
    "defence": [{"name": "custext+", "epsilon": 1, "k": 5}, {"name": "santext+", "epsilon": 2}],
    "attack": ["unchanged", "context-free", {"name": "markov", "k": 5}],
}


@pytest.fixture
def done(tmp_path, monkeypatch):
    made_up_split(monkeypatch)
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(SPEC))
    cells = specification.read_spec(path)
    assert sweep.run(cells, tmp_path / "out", workers=1) == []
    return path, cells, tmp_path / "out"


def call(*arguments):
    return CliRunner().invoke(main.main, ["sweep", "-j", "1", *map(str, arguments)])


def test_one_missing_cell_is_computed_and_the_table_is_what_it_would_have_been(done, tmp_path):
    spec, cells, folder = done
    part, table = tmp_path / "part", tmp_path / "table.csv"
    shutil.copytree(folder, part)
    for file in (part / "cells").glob(f"{cells[3].name}.*"):
        file.unlink()
    sweep.write_table(cells, part)
    records.store(part, table, "textsan sweep", spec)
    assert len(pd.read_csv(table)) == 5
    said = call(spec, "-o", tmp_path / "anew", "--table", table, "--extend")
    assert said.exit_code == 0 and "5 cells are taken from" in said.stdout
    ours, theirs = (pd.read_csv(one).drop(columns="seconds") for one in (table, folder / "results.csv"))
    pd.testing.assert_frame_equal(ours, theirs)
    ours, theirs = (hits.load_hits(one) for one in (table, folder / "results.csv"))
    assert all(np.array_equal(ours[row][name], theirs[row][name]) for row in theirs for name in theirs[row])
    record, before = (
        yaml.safe_load(file.read_text()) for file in (table.with_suffix(".yml"), folder / "results.yml")
    )
    assert record["cells"] == "6 of 6" and record["versions"] == before["versions"]


@pytest.mark.parametrize(("change", "line"), [({"n_private": 41}, "6 rows"), ({}, "row 0 .* has no hits")])
def test_a_table_that_cannot_be_gone_on_from_is_refused(done, tmp_path, change, line):
    spec, _, folder = done
    table = tmp_path / "table.csv"
    records.store(folder, table, "textsan sweep", spec)
    table.with_suffix(".npz").unlink()
    spec.write_text(yaml.safe_dump(SPEC | change))
    with pytest.raises(ValueError, match=line):
        stored_cells.take_up(specification.read_spec(spec), table, tmp_path / "anew")


def test_there_is_no_going_on_without_a_table(done):
    said = call(done[0], "--extend")
    assert said.exit_code == 2 and "--extend goes with --table" in said.stderr
