"""The cells of a stored table, from the table alone: which rows are whose, and a folder to go on from.

A sweep keeps each cell in a file of its own, and a clone has the table only. What the table has need not be
computed again: its rows and hits are the cells, to the digits that are stored.
"""

import json
from pathlib import Path

import pandas as pd
import yaml

from textsan.sweeps import hits, provenance, sanitized, studies, sweep
from textsan.sweeps.specification import DEFAULTS, Cell, cell_name, identity
from textsan_book.chapters.stored_tables import table_changes

_FOUND = {"n"}  # of an experiment: an argument in whose place its rows say how many there were


def places(cells: list[Cell], table: Path) -> dict[str, list[int]]:
    """The numbers of the rows of each cell, by the cell's name. A column that the table lacks has its default."""
    rows = pd.read_csv(table, dtype=str, keep_default_na=False).to_dict("records")
    if cells and "experiment" in cells[0]:
        return _places_of_study(cells, rows)
    keys: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        keys.setdefault(_key(row), []).append(at)
    texts = ({name: _blank(value) for name, value in sanitized.labels(cell).items()} for cell in cells)
    return {cell_name(cell): keys.get(_key(one), []) for cell, one in zip(cells, texts, strict=True)}


def _blank(value):
    return "" if value is None else value


def _places_of_study(cells: list[Cell], rows: list[dict[str, str]]) -> dict[str, list[int]]:
    asked = [studies.defaults(cell["experiment"]) | studies.labels(cell) for cell in cells]
    asked = [{name: _plain(value) for name, value in one.items()} for one in asked]
    named = [name for name in asked[0] if name not in _FOUND and all(name in row for row in rows)]
    found: dict[tuple, list[int]] = {}
    for at, row in enumerate(rows):
        found.setdefault(tuple(_plain(row[name]) for name in named), []).append(at)
    keys = [tuple(one.get(name) for name in named) for one in asked]
    return {cell_name(cell): found.get(key, []) for cell, key in zip(cells, keys, strict=True)}


def _key(row: dict[str, str]) -> str:
    """What tells the cells of a table's rows apart; what a row leaves out has its default."""
    kind = "task" if row.get("task") else "attack"
    parts = {
        "defence": {"name": row["defence"], **json.loads(row["defence_parameters"])},
        kind: {"name": row[kind], **json.loads(row[f"{kind}_parameters"])},
    }
    if row["epsilon"] != "":
        parts["defence"]["epsilon"] = float(row["epsilon"])
    shared = {name: _plain(row.get(name, DEFAULTS.get(name))) for name in sanitized.SHARED}
    return json.dumps([shared, identity(parts)], sort_keys=True)


def _plain(value) -> str:
    """A value as cells and tables both say it: of numbers one spelling, of nothing the empty text."""
    text = "" if value is None else str(value)
    try:
        return repr(float(text))
    except ValueError:
        return text


def take_up(cells: list[Cell], table: Path, folder: Path) -> int:
    """Writes the cells that a stored table has into a folder, from which a sweep goes on.

    Numbers have the digits of the table. Which machine made which cell is not in a table: the cells have those of
    its record in turn, so that a record made from all of them names the same.

    Args:
        cells: of the specification that made the table.
        table: a csv file; its record is the yml file beside it, its hits the npz file.
        folder: that of `sweep.run`.

    Returns:
        how many cells were written; those that have a result in the folder are left as they are.

    Raises:
        ValueError: the table is made by other code, rows are of no cell, or an attack's hits are missing.
    """
    if differing := table_changes(table.with_suffix(".yml")):
        raise ValueError(f"table: {table} is {sweep.made_by(differing)}; recertify it first")
    rows, at = pd.read_csv(table), places(cells, table)
    if left := len(rows) - sum(map(len, at.values())):
        raise ValueError(f"table: {left} rows of {table} are of no cell of the specification")
    found = hits.load_hits(table) if table.with_suffix(".npz").is_file() else {}
    said = yaml.safe_load(table.with_suffix(".yml").read_text(encoding="utf-8"))
    wanted = {cell_name(cell): cell for cell in cells if not sweep.is_computed(cell, folder)}
    wanted = {name: cell for name, cell in wanted.items() if at[name]}
    if without := [at[name][0] for name, cell in wanted.items() if "attack" in cell and at[name][0] not in found]:
        raise ValueError(f"table: row {without[0]} of {table} has no hits; its cell must be computed")
    stored = Path(folder) / "cells"
    stored.mkdir(parents=True, exist_ok=True)
    for number, (name, cell) in enumerate(wanted.items()):
        of = at[name]
        arrays = {what: values for what, values in found.get(of[0], {}).items() if what != "family"}
        sweep.put(cell, _result(cell, rows.loc[of], said, number, len(wanted)), arrays, stored)
    return len(wanted)


def _result(cell: Cell, rows: pd.DataFrame, said: dict, number: int, n: int) -> dict:
    """What is written of a cell beside its arrays."""
    in_turn = {key: said[key][number % len(said[key])] for key in ("versions", "hardware")}
    if said.get("recertified"):
        in_turn["recertified"] = said["recertified"][number % len(said["recertified"])]
    return {
        "rows": [json.loads(line.to_json(double_precision=15)) for _, line in rows.iterrows()],
        "seconds": said["seconds"] / n,
        "models": sweep.model_names(said.get("models", ())),
        "code": provenance.code_of(cell),
        **in_turn,
    }
