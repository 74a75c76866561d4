"""Tables of one setting are of one released text: what of it was released unchanged is the same in all of them.

A program that made a table elsewhere, of part of the word vectors say, shows here: its sentences are those of
other tables, and what became of them is not.
"""

import json

import pandas as pd
import pytest

import textsan
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import sanitized
from textsan.sweeps.specification import DEFAULTS, identity

_ROUNDED = 2e-5  # of five digits


@pytest.fixture(autouse=True)
def known(plugged):
    MECHANISMS.register("santext pieces", "textsan.mechanisms.bert:santext_pieces")


def settings(table: pd.DataFrame) -> list[str]:
    """Return all that the released text of each row depends on, defaults written out."""
    found = []
    for row in table.to_dict("records"):
        shared = {name: row.get(name, "") or DEFAULTS.get(name) for name in sanitized.SHARED}
        defence = {"name": row["defence"], **json.loads(row["defence_parameters"] or "{}")}
        made = identity({"defence": defence})["defence"]
        found.append(json.dumps([str(shared), row["epsilon"], made, row["n_positions"]], sort_keys=True))
    return found


def disagreements(tables: dict[str, pd.DataFrame]) -> tuple[int, list[str]]:
    """Count the settings that stand in several tables, and list those whose shares of unchanged words differ."""
    rows = pd.concat([some.assign(setting=settings(some), table=name) for name, some in tables.items()])
    rows = rows[rows.unchanged != ""].astype({"unchanged": float})
    by_setting = rows.groupby("setting")
    several = by_setting.table.nunique() > 1
    apart = by_setting.unchanged.max() - by_setting.unchanged.min() > _ROUNDED
    return int(several.sum()), several.index[several & apart].tolist()


def stored() -> dict[str, pd.DataFrame]:
    files = sorted((textsan.project_data() / "results").glob("*.csv"))
    found = {file.stem: pd.read_csv(file, comment="#", dtype=str, keep_default_na=False) for file in files}
    needed = {"unchanged", "attack", "defence", "defence_parameters", "n_positions"}
    return {name: table for name, table in found.items() if needed <= set(table)}


def test_tables_of_one_setting_are_of_one_released_text():
    several, apart = disagreements(stored())
    assert several > 50 and apart == []


def test_a_table_that_was_made_of_other_vectors_is_found():
    tables = stored()
    rows = tables["detectors-trained"]
    tables["detectors-trained"] = rows.assign(unchanged=(rows.unchanged.astype(float) + 0.012).astype(str))
    assert disagreements(tables)[1]
