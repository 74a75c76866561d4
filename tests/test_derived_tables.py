"""Tables that are made of other tables are what those give now."""

import pandas as pd
import pytest

from textsan import project_data
from textsan.sweeps import specification, sweep


@pytest.mark.parametrize("name", ["scoreboard", "claims"])
def test_a_derived_table_is_made_of_the_tables_as_they_are(name, tmp_path, monkeypatch):
    data = project_data()
    monkeypatch.chdir(data.parent)
    assert sweep.run(specification.read_spec(data / "sweeps" / f"{name}.yml"), tmp_path, workers=1) == []
    stored, made = (pd.read_csv(file) for file in (data / "results" / f"{name}.csv", tmp_path / "results.csv"))
    pd.testing.assert_frame_equal(stored, made)
