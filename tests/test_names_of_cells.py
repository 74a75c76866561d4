"""Names of cells: a default is no part of one, whenever it came; older names stay readable."""

import inspect
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from textsan import project_data
from textsan.attacks import ATTACKS
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import provenance, specification, studies, sweep
from textsan.utility import TASKS
from textsan_book.studies import stored_cells, vectors

SPEC = {
    "dataset": "rt",
    "n_private": 40,
    "n_shadow": 30,
    "defence": [{"name": "custext+", "epsilon": [1, 4]}],
    "attack": ["unchanged", {"name": "markov", "k": 5}],
}
CITIZENS = {
    "encoder": "glove-6b-50d",
    "pooling": "mean",
    "layer": 0,
    "pairs": 50,
    "steps": 3,
    "victims": 5,
    "seed": 0,
}


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(SPEC))
    return path


def names(path):
    return [specification.cell_name(cell) for cell in specification.read_spec(path)]


def with_parameter(entry, name, default):
    """An entry whose constructor has a further parameter."""
    make = entry.load()
    known = inspect.signature(make, eval_str=True)
    further = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type(default))
    others = [one for one in known.parameters.values() if one.name != name]

    def made(*given, **settings):
        return make(*given, **settings)

    made.__signature__ = known.replace(parameters=[*others, further])
    return replace(entry, constructor=made)


# --- a further parameter ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("known, name", [(MECHANISMS, "custext+"), (ATTACKS, "markov")])
def test_a_further_parameter_leaves_every_cell_its_name(spec, monkeypatch, known, name):
    before = names(spec)
    monkeypatch.setitem(known._entries, name, with_parameter(known[name], "further", 3))
    cells = specification.read_spec(spec)
    part = "defence" if known is MECHANISMS else "attack"
    assert any(cell[part].get("further") == 3 for cell in cells)
    assert [specification.cell_name(cell) for cell in cells] == before
    asked = {"name": name, "further": 4} | ({"epsilon": 1} if part == "defence" else {})
    spec.write_text(yaml.safe_dump(SPEC | {part: asked}))
    assert not set(names(spec)) & set(before)


def test_a_further_key_of_sweeps_leaves_every_cell_its_name(spec, monkeypatch):
    before = names(spec)
    monkeypatch.setitem(specification.DEFAULTS, "weather", "fair")
    monkeypatch.setitem(specification._CHOICES, "weather", ("fair", "foul"))
    monkeypatch.setattr(specification, "_KEYS", (*specification._KEYS, "weather"))
    assert specification.read_spec(spec)[0]["weather"] == "fair" and names(spec) == before
    spec.write_text(yaml.safe_dump(SPEC | {"weather": "foul"}))
    assert not set(names(spec)) & set(before)


def test_a_further_argument_of_an_experiment_leaves_every_cell_its_name(tmp_path, monkeypatch):
    path = tmp_path / "few.yml"
    path.write_text(yaml.safe_dump({"experiment": "citizens", "grids": [CITIZENS]}))
    before, real = names(path), vectors.citizens

    def citizens(*, further="no", **given):
        return real(**given)

    known = inspect.signature(real)
    further = inspect.Parameter("further", inspect.Parameter.KEYWORD_ONLY, default="no")
    citizens.__signature__ = known.replace(parameters=[*known.parameters.values(), further])
    monkeypatch.setattr(vectors, "citizens", citizens)
    assert names(path) == before
    for value, same in (("no", True), ("yes", False)):
        path.write_text(yaml.safe_dump({"experiment": "citizens", "grids": [CITIZENS | {"further": value}]}))
        assert (names(path) == before) is same


def test_a_default_that_changes_is_another_value(spec, monkeypatch):
    """Cells that relied on the old one are missing; who asks for the old one finds them."""
    before = names(spec)
    monkeypatch.setitem(MECHANISMS._entries, "custext+", with_parameter(MECHANISMS["custext+"], "k", 30))
    assert not set(names(spec)) & set(before)
    spec.write_text(yaml.safe_dump(SPEC | {"defence": [{"name": "custext+", "epsilon": [1, 4], "k": 20}]}))
    assert names(spec) == before


def test_every_default_was_written_down_when_it_was_introduced():
    """A parameter that is missing here needs a line in textsan/sweeps/defaults.yml; a line never changes."""
    written = specification._INTRODUCED
    for part, known in (("defence", MECHANISMS), ("attack", ATTACKS), ("task", TASKS)):
        for name, entry in known._built_in.items():
            defaults = {
                one.name: one.default for one in entry.parameters().values() if one.default is not one.empty
            }
            gone = {"departure"} if name == "contextual" else set()  # now an attack of its own
            assert {*defaults} | gone == set(written[part].get(name) or {}), f"{part} {name}"
    for name in studies.known():
        assert set(studies.defaults(name)) == set(written["experiment"].get(name) or {}), name


def test_a_parameter_that_is_gone_is_no_part_of_a_name_where_it_had_its_default():
    old, now = ({"attack": {"name": "contextual", "k": 10} | more} for more in ({"departure": None}, {}))
    assert specification.identity(old) == specification.identity(now) == {"attack": {"name": "contextual"}}


# --- results under older names, older tables --------------------------------------------------------------------


def stored_as_before(cells, folder):
    """Results as they were named and written when every parameter stood in a name."""
    (folder / "cells").mkdir(parents=True)
    for number, cell in enumerate(cells):
        row = {"asr": 0.5, "seconds": 1.5}
        old = {
            "cell": {k: v for k, v in cell.items() if k != "embeddings"},
            "row": row,
            "hardware": "x",
            "versions": {},
        }
        (folder / "cells" / f"older-{number}.json").write_text(json.dumps(old))
        np.savez(folder / "cells" / f"older-{number}.npz", hit=np.array([True, bool(number)]))


def test_results_under_older_names_stay_readable(spec, tmp_path):
    cells, folder = specification.read_spec(spec), tmp_path / "out"
    stored_as_before(cells, folder)
    assert all(sweep.is_computed(cell, folder) for cell in cells)
    assert sweep.load_result(cells[1], folder)["rows"] == [{"asr": 0.5, "seconds": 1.5}]
    assert sweep.load_hits(cells[0], folder)["hit"].tolist() == [True, False]
    now = sweep.state(cells, folder)
    assert not now.missing and now.changed == [provenance.UNRECORDED]
    spec.write_text(yaml.safe_dump(SPEC | {"seed": 1}))
    assert len(sweep.state(specification.read_spec(spec), folder).missing) == len(cells)


def test_results_of_an_experiment_that_did_not_name_it_stay_readable(tmp_path):
    (tmp_path / "cells").mkdir()
    old = {"cell": CITIZENS, "rows": [{"asr": 0.5}], "seconds": 2, "code": {}}
    (tmp_path / "cells" / "0123456789abcdef.json").write_text(json.dumps(old))
    [row] = sweep.load_result({"experiment": "citizens"} | CITIZENS, tmp_path)["rows"]
    assert row == CITIZENS | {"asr": 0.5}


def test_a_column_or_a_parameter_that_an_older_table_lacks_has_its_default(spec, tmp_path):
    cells = specification.read_spec(spec)
    rows = pd.DataFrame([sweep.sanitized.labels(cell) for cell in cells]).drop(columns=["embeddings", "split_by"])
    rows["defence_parameters"] = [json.dumps({"k": 20})] * len(rows)
    rows.to_csv(tmp_path / "table.csv", index=False)
    places = stored_cells.places(cells, tmp_path / "table.csv")
    assert sorted(places.values()) == [[number] for number in range(len(cells))]
    spec.write_text(yaml.safe_dump(SPEC | {"embeddings": "counter-fitted"}))
    others = stored_cells.places(specification.read_spec(spec), tmp_path / "table.csv")
    assert not any(others.values())


def test_every_row_of_every_committed_table_is_of_a_cell_of_its_specification(monkeypatch):
    """Tables whose specification has the same name; what `--recertify` of a table begins with."""
    monkeypatch.setattr(specification.corpora, "known", lambda: Everything())
    checked = 0
    for path in sorted((project_data() / "sweeps").glob("*.yml")):
        table = project_data() / "results" / f"{path.stem}.csv"
        if table.is_file():
            places = stored_cells.places(specification.read_spec(path), table)
            assert sum(map(len, places.values())) == len(pd.read_csv(table, comment="#")), path.stem
            checked += 1
    assert checked > 50


class Everything:
    def __contains__(self, name):
        return True


# --- status -----------------------------------------------------------------------------------------------------

CLOSED = """
import socket, sys

def refused(*given, **more):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refused
from textsan.cli.main import main
main()
"""


def test_the_status_is_said_before_anything_is_loaded(tmp_path):
    """With an empty cache, no network and no data of the papers: of all tables, of one, of a sweep of SST-2."""
    data = project_data()
    one = data / "results" / "published-sst2.csv"
    sst2 = str(data / "sweeps" / "published-sst2.yml")
    for arguments, said in (
        (["--status", "--all"], " unrecorded"),
        ([sst2, "--status", "--table", str(one)], f"{one}: "),
        ([sst2, "--status", "-o", str(tmp_path / "out")], " missing"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", CLOSED, "sweep", *arguments],
            capture_output=True,
            text=True,
            cwd=data.parent,
            env={"TEXTSAN_CACHE": str(tmp_path / "empty"), "PATH": "", "PYTHONPATH": str(data.parent)},
        )
        assert said in done.stdout and "asked" not in done.stderr, done.stderr
    assert not (tmp_path / "empty").exists() and not (tmp_path / "out").exists()
