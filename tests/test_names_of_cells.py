"""Names of cells: a default is no part of one, and every row of a committed table is of a cell."""

import inspect
import json
import pickle
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
import yaml

from textsan import project_data
from textsan.attacks import ATTACKS
from textsan.base import checks
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import specification, sweep
from textsan_book.studies import stored_cells, vectors

SPEC = {
    "dataset": "rt",
    "n_private": 40,
    "n_shadow": 30,
    "defence": [{"name": "custext+", "epsilon": [1, 4]}],
    "attack": ["unchanged", {"name": "markov", "k": 5}],
}
CITIZENS = {"encoder": "glove-6b-50d", "pooling": "mean", "layer": 0, "pairs": 50, "steps": 3, "victims": 5}
CITIZENS |= {"seed": 0}


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(SPEC))
    return path


def names(path):
    return [cell.name for cell in specification.read_spec(path)]


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


def test_a_cell_keeps_the_name_that_it_was_read_with(spec, monkeypatch):
    """In a worker, too: nobody names it again."""
    cells = specification.read_spec(spec)
    named = [(cell, cell.name, cell.family) for cell in cells]
    monkeypatch.setattr(specification, "identity", None)  # would fail, were it called
    again = pickle.loads(pickle.dumps(cells))
    assert [(cell, cell.name, cell.family) for cell in again] == named
    assert len({family for *_, family in named}) == 2 and len({name for _, name, _ in named}) == 4


@pytest.mark.parametrize("known, name", [(MECHANISMS, "custext+"), (ATTACKS, "markov")])
def test_a_further_parameter_leaves_every_cell_its_name(spec, monkeypatch, known, name):
    before = names(spec)
    monkeypatch.setitem(known._entries, name, with_parameter(known[name], "further", 3))
    cells = specification.read_spec(spec)
    part = "defence" if known is MECHANISMS else "attack"
    assert any(cell[part].get("further") == 3 for cell in cells)
    assert [cell.name for cell in cells] == before
    asked = {"name": name, "further": 4} | ({"epsilon": 1} if part == "defence" else {})
    spec.write_text(yaml.safe_dump(SPEC | {part: asked}))
    assert not set(names(spec)) & set(before)


def test_a_further_key_of_sweeps_leaves_every_cell_its_name(spec, monkeypatch):
    before = names(spec)
    monkeypatch.setitem(specification.DEFAULTS, "weather", "fair")
    monkeypatch.setitem(specification._CHECKS, "weather", partial(checks.choice, known=("fair", "foul")))
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
    """Tables whose specification has the same name."""
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
