"""Studies: a grid over one experiment, cells that are kept, and what is said of bad specifications."""

import re

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from textsan import project_data
from textsan.base.assets import file_sha256
from textsan.cli.main import main
from textsan.sweeps import specification, studies, sweep
from textsan_book.studies import records, vectors

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
    experiments = [path for path in paths if "experiment" in yaml.safe_load(path.read_text())]
    cells = [cell for path in experiments for cell in specification.read_spec(path)]
    assert {cell["experiment"] for cell in cells} == set(studies.known())


def test_a_study_goes_on_where_it_stopped(default_data, spec, tmp_path, monkeypatch):
    cells, folder = specification.read_spec(spec()), tmp_path / "out"
    assert sweep.run(cells[:1], folder, workers=1) == []
    assert [sweep.is_computed(cell, folder) for cell in cells] == [True, False]
    first = next((folder / "cells").glob("*.json")).stat().st_mtime_ns
    assert sweep.run(cells, folder, workers=1) == []
    assert first in [file.stat().st_mtime_ns for file in (folder / "cells").glob("*.json")]  # not made again
    table = pd.read_csv(folder / "results.csv")
    assert len(table) == 2 * 2 * 4 and set(table.segment) == {"year", "month", "day", "whole"}
    record = yaml.safe_load((folder / "results.yml").read_text())
    assert record["cells"] == "2 of 2" and record["versions"][0].startswith("python ")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A table of a planted experiment whose rows say how many there were, and have no number in some cells."""
    (tmp_path / "planted_experiment.py").write_text(
        """def halves(*, size: float, n: int):
            return [{"n": n // 2, "half": size / 2 if size < 2 else None, "printed": "0.520"}]"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(studies.known(), "halves", "planted_experiment")
    spec, folder, table = tmp_path / "halves.yml", tmp_path / "out", tmp_path / "table.csv"
    spec.write_text(yaml.safe_dump({"experiment": "halves", "grids": [{"size": [0.5, 1, 2], "n": 10}]}))
    assert sweep.run(specification.read_spec(spec), folder, workers=1) == []
    records.store(folder, table, "textsan sweep halves.yml", spec)
    return spec, table


def test_text_of_a_stored_table_is_as_it_was_said(planted):
    assert planted[1].read_text() == "n,size,half,printed\n5,0.5,0.25,0.520\n5,1.0,0.5,0.520\n5,2.0,,0.520\n"


def test_a_stored_table_has_a_record_with_the_hashes_of_its_files(planted):
    spec, table = planted
    record = yaml.safe_load(table.with_suffix(".yml").read_text())
    assert (record["csv"], record["specification"]) == (file_sha256(table), records.specification_sha256(spec))
    spec.write_text(f"# as agreed\n{spec.read_text()}")
    assert record["specification"] == records.specification_sha256(spec)
    assert [*record][:4] == ["command", "specification", "commit", "csv"] and record["cells"] == "3 of 3"


def test_every_committed_record_is_of_the_files_beside_it():
    """A changed specification needs its table made again; a changed default needs keep_default."""
    for table in sorted((project_data() / "results").glob("*.csv")):
        record, hits = yaml.safe_load(table.with_suffix(".yml").read_text()), table.with_suffix(".npz")
        assert record["csv"] == file_sha256(table), table.name
        assert record.get("hits") == (file_sha256(hits) if hits.is_file() else None), hits.name
        spec = re.search(r"data/(sweeps/[\w.-]+\.yml)", record["command"])
        if spec:
            assert record["specification"] == records.specification_sha256(project_data() / spec[1]), table.name
        assert {"commit", "hardware", "versions"} <= record.keys() or "made elsewhere" in record, table.name


def test_a_cell_that_fails_is_named_and_the_others_are_kept(default_data, spec, tmp_path):
    path = spec(grids=[CELL | {"seed": 0, "layer": [0, 7]}])
    said = _say(path, "-o", tmp_path / "out", "-j", 1)
    assert said.exit_code == 1 and "1 failed, the others are kept: citizens" in said.output
    assert "layer=7" in said.output and len(pd.read_csv(tmp_path / "out" / "results.csv")) == 8


@pytest.mark.parametrize(
    "changes, line",
    [
        ({"experiment": "magic"}, "experiment: 'magic' is unknown; known: citizens, genomes"),
        ({"grids": [CELL | {"seed": []}]}, r"citizens: seed: \[\] is empty"),
        ({"attack": "markov"}, "spec: key 'attack' is unknown; known: experiment, grids"),
        ({"grids": [CELL | {"seed": 0, "depth": 1}]}, "citizens: 'depth' is unknown; known: encoder, pooling"),
        ({"grids": [CELL]}, "citizens: 'seed' is missing; known: encoder"),
    ],
)
def test_a_bad_specification_gets_one_line(spec, changes, line):
    with pytest.raises((KeyError, ValueError), match=line):
        specification.read_spec(spec(**changes))


def test_what_is_attacked_is_never_the_attackers_draw():
    from textsan_book.studies import citizen

    assert not set(citizen.generate(500, 0)) & set(citizen.generate(500, 0 + vectors.VICTIMS))
