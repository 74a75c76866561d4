"""Studies: a grid over one experiment, cells that are kept, and what is said of bad specifications."""

import json

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from textsan import project_data
from textsan.cli.main import main
from textsan.sweeps import specification, studies, sweep
from textsan_book.chapters import stored_tables
from textsan_book.studies import recertification, vectors

CELL = {"encoder": "glove-6b-50d", "pooling": "mean", "layer": 0, "pairs": 50, "steps": 3, "victims": 5}


@pytest.fixture
def spec(tmp_path):
    def write(**changes):
        path = tmp_path / "few.yml"
        path.write_text(yaml.safe_dump({"experiment": "citizens", "grids": [CELL | {"seed": [0, 1]}]} | changes))
        return path

    return write


def _say(*arguments):
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


def test_every_stored_specification_of_an_experiment_can_be_read():
    paths = sorted((project_data() / "sweeps").glob("*.yml"))
    specs = [one for path in paths if "experiment" in (one := yaml.safe_load(path.read_text()))]
    assert {studies.cells_of(one)[0]["experiment"] for one in specs} == set(studies.known())


def test_a_study_goes_on_where_it_stopped(default_data, spec, tmp_path, monkeypatch):
    cells, folder = specification.read_spec(spec()), tmp_path / "out"
    assert sweep.compute(cells[:1], folder, workers=1) == []
    assert [len(part) for part in sweep.state(cells, folder)[:3]] == [1, 0, 1]
    first = next((folder / "cells").glob("*.json")).stat().st_mtime_ns
    assert sweep.run(cells, folder, workers=1) == []
    assert first in [file.stat().st_mtime_ns for file in (folder / "cells").glob("*.json")]  # not made again
    table = pd.read_csv(folder / "results.csv")
    assert len(table) == 2 * 2 * 4 and set(table.segment) == {"year", "month", "day", "whole"}
    record = yaml.safe_load((folder / "results.yml").read_text())
    assert record["cells"] == "2 of 2" and "textsan/embedding_leakage/pattern.py" in record["modules"]


def test_two_workers_find_the_same(default_data, spec, tmp_path):
    cells = specification.read_spec(spec())
    tables = []
    for workers in (1, 2):
        assert sweep.run(cells, tmp_path / str(workers), workers=workers) == []
        tables.append((tmp_path / str(workers) / "results.csv").read_bytes())
    assert tables[0] == tables[1]


def test_stale_cells_are_named_and_kept_if_a_few_come_out_the_same(default_data, spec, tmp_path):
    path, folder = spec(), tmp_path / "out"
    assert _say(path, "-o", folder, "-j", 1).exit_code == 0
    for file in (folder / "cells").glob("*.json"):
        made = json.loads(file.read_text())
        made["code"]["textsan/embedding_leakage/pattern.py"] = "another"
        file.write_text(json.dumps(made))
    said = _say(path, "-o", folder, "--status").output
    assert "0 fresh, 2 stale (made by other code: textsan/embedding_leakage/pattern.py), 0 missing" in said
    said = _say(path, "-o", folder, "-j", 1, "--recertify", 1).output
    assert "1 of 2 stale cells were computed anew and agree; all are kept" in said
    assert "2 fresh, 0 stale, 0 missing" in _say(path, "-o", folder, "--status").output


@pytest.mark.parametrize(
    "column, change, is_kept",
    [("asr", lambda row: row["asr"] / 2 + row["high"] / 2, True), ("asr", lambda row: row["high"] + 0.01, False)]
    + [("n", lambda row: row["n"] + 1, False), ("chance", lambda row: row["chance"] + 1e-4, False)],
)
def test_of_what_is_trained_an_estimate_may_move_within_its_interval(
    default_data, spec, tmp_path, column, change, is_kept
):
    path, folder = spec(), tmp_path / "out"
    assert _say(path, "-o", folder, "-j", 1).exit_code == 0
    for file in (folder / "cells").glob("*.json"):
        made = json.loads(file.read_text())
        made["code"] = None
        row = made["rows"][0]
        row[column] = change(row)
        if column == "asr" and not is_kept:  # the stored interval is one that does not hold what comes out
            row |= {"low": row["asr"], "high": row["asr"] + 0.01}
        file.write_text(json.dumps(made))
    said = _say(path, "-o", folder, "-j", 1, "--recertify", 1)
    assert (said.exit_code == 0) is is_kept
    assert (f"{column} come out otherwise" in said.output) is not is_kept
    assert ("2 fresh, 0 stale" if is_kept else "0 fresh, 2 stale") in _say(path, "-o", folder, "--status").output


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A table of a planted experiment whose rows say how many there were, and have no number in some cells."""
    (tmp_path / "planted_experiment.py").write_text(
        """def halves(*, size: float, n: int):
            return [{"n": n // 2, "half": size / 2 if size < 2 else None, "printed": "0.520"}]"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(studies.known(), "halves", studies.Experiment("planted_experiment"))
    spec, folder, table = tmp_path / "halves.yml", tmp_path / "out", tmp_path / "table.csv"
    spec.write_text(yaml.safe_dump({"experiment": "halves", "grids": [{"size": [0.5, 1, 2], "n": 10}]}))
    assert sweep.run(specification.read_spec(spec), folder, workers=1) == []
    stored_tables.store(folder, table, "textsan sweep halves.yml")
    record = yaml.safe_load(table.with_suffix(".yml").read_text())
    record["modules"]["planted_experiment.py"] = "another"
    table.with_suffix(".yml").write_text(yaml.safe_dump(record))
    return spec, table


def test_text_of_a_stored_table_is_as_it_was_said(planted):
    assert planted[1].read_text().splitlines() == [
        "n,size,half,printed",
        "5,0.5,0.25,0.520",
        "5,1.0,0.5,0.520",
        "5,2.0,,0.520",
    ]


@pytest.mark.parametrize("column, found", [(None, None), ("half", "1 of 3 differ"), ("size", "1 rows")])
def test_a_stored_table_of_a_study_is_kept_if_its_rows_come_out_the_same(planted, column, found):
    spec, table = planted
    if column:
        rows = pd.read_csv(table)
        rows.loc[1, column] += 0.01
        rows.to_csv(table, index=False)
    said = _say(spec, "-j", 1, "--recertify", 3, "--table", table)
    assert (said.exit_code == 0) is (column is None)
    assert (found or "3 of 3 stale cells were computed anew and agree") in said.output
    assert ("half come out otherwise" in said.output) is (column == "half")
    assert stored_tables.table_state(table).verdict == ("stale" if column else "fresh")


@pytest.mark.parametrize(
    "asr, is_kept", [([0.4], True), ([0.6], False), ([], False), ([None], False), ([0.4, 0.4], False)]
)
def test_of_what_is_trained_as_many_numbers_come_out_as_are_stored(asr, is_kept):
    stored = pd.DataFrame({"asr": [0.3], "low": [0.2], "high": [0.5]})
    anew = pd.DataFrame({"asr": asr, "low": [0.1] * len(asr), "high": [0.9] * len(asr)})
    assert (recertification._changed({"experiment": "citizens"}, stored, anew) is None) is is_kept


def test_a_table_that_lacks_a_column_is_not_said_to_come_out_otherwise(planted):
    spec, table = planted
    pd.read_csv(table).drop(columns="printed").to_csv(table, index=False)
    said = _say(spec, "-j", 1, "--recertify", 3, "--table", table).output
    assert "printed: not in the table, whose columns agree" in said and "otherwise" not in said
    assert stored_tables.table_state(table).verdict == "stale"


def test_a_cell_that_fails_is_named_and_the_others_are_kept(default_data, spec, tmp_path):
    path = spec(grids=[CELL | {"seed": 0, "layer": [0, 7]}])
    said = _say(path, "-o", tmp_path / "out", "-j", 1)
    assert said.exit_code == 1 and "1 failed, the others are kept: citizens" in said.output
    assert "layer=7" in said.output and len(pd.read_csv(tmp_path / "out" / "results.csv")) == 8


@pytest.mark.parametrize(
    "changes, line",
    [
        ({"experiment": "magic"}, "experiment: 'magic' is unknown; known: citizens, genomes"),
        ({"experiment": ["citizens"]}, "experiment: .* is unknown; known: citizens"),
        ({"grids": [CELL | {"seed": []}]}, r"citizens: seed: \[\] is empty"),
        ({"attack": "markov"}, "spec: key 'attack' is unknown; known: experiment, grids"),
        ({"grids": CELL}, "grids: .* is no list"),
        ({"grids": [CELL | {"seed": 0, "depth": 1}]}, "citizens: 'depth' is unknown; known: encoder, pooling"),
        ({"grids": [CELL]}, "citizens: 'seed' is missing; known: encoder"),
    ],
)
def test_a_bad_specification_gets_one_line(spec, changes, line):
    with pytest.raises((KeyError, ValueError), match=line):
        specification.read_spec(spec(**changes))


def test_an_attack_to_compare_with_is_refused_where_there_is_none(spec, tmp_path):
    said = _say(spec(), "-o", tmp_path / "out", "--over", "markov")
    assert said.exit_code == 2 and "'markov' is 0 attacks of the sweep" in said.output
    assert not (tmp_path / "out").exists()


def test_what_is_attacked_is_never_the_attackers_draw():
    from textsan_book.studies import citizen

    assert not set(citizen.generate(500, 0)) & set(citizen.generate(500, 0 + vectors.VICTIMS))
