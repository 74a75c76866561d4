"""The cells of a stored table, from the table alone: which rows are whose, and a folder to go on from.

A sweep keeps each cell in a file of its own, and a clone has the table only. What the table has need not be
computed again: its rows and hits are the cells, to the digits that are stored.
"""

import json
from pathlib import Path

import pandas as pd
import yaml

from textsan.attacks import ATTACKS
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import hits, sanitized, studies, sweep
from textsan.sweeps.specification import DEFAULTS, Cell, identity
from textsan.utility import TASKS

_FOUND = {"n"}  # of an experiment: an argument in whose place its rows say how many there were


def places(cells: list[Cell], table: Path) -> dict[str, list[int]]:
    """Find the numbers of the rows of each cell, by the cell's name.

    A column that the table lacks has its default. A parameter that the rows lack is younger than they are: it has
    the value that all cells of its attack, task or mechanism have.
    """
    rows = pd.read_csv(table, dtype=str, keep_default_na=False).to_dict("records")
    if cells and "experiment" in cells[0]:
        return _places_of_study(cells, rows)
    keys: dict[str, list[int]] = {}
    common = _common(cells)
    for at, row in enumerate(rows):
        keys.setdefault(_key(row, common), []).append(at)
    labels = ((cell.name, sanitized.labels(cell).items()) for cell in cells)
    texts = {cell: {name: "" if value is None else value for name, value in given} for cell, given in labels}
    return {cell: keys.get(_key(text, common), []) for cell, text in texts.items()}


def _common(cells: list[Cell]) -> dict[tuple[str, str], dict]:
    """The parameters of each attack, task or mechanism, by kind and name, that have one value in all cells."""
    common: dict[tuple[str, str], dict] = {}
    for cell in cells:
        for part in {"defence", "attack", "task"} & cell.keys():
            given = cell[part]
            known = common.setdefault((part, given["name"]), dict(given))
            for name in [name for name, value in known.items() if name not in given or given[name] != value]:
                del known[name]
    return common


def _places_of_study(cells: list[Cell], rows: list[dict[str, str]]) -> dict[str, list[int]]:
    asked = [studies.defaults(cell["experiment"]) | studies.labels(cell) for cell in cells]
    asked = [{name: _spelling(value) for name, value in settings.items()} for settings in asked]
    named = [name for name in asked[0] if name not in _FOUND and all(name in row for row in rows)]
    by_key: dict[tuple, list[int]] = {}
    for at, row in enumerate(rows):
        by_key.setdefault(tuple(_spelling(row[name]) for name in named), []).append(at)
    keys = [tuple(settings.get(name) for name in named) for settings in asked]
    return {cell.name: by_key.get(key, []) for cell, key in zip(cells, keys, strict=True)}


def _key(row: dict[str, str], common: dict[tuple[str, str], dict]) -> str:
    """The key of a row's cell; what a row leaves out has its default."""
    kind = "task" if row.get("task") else "attack"
    parts = {}
    for part, known in (("defence", MECHANISMS), (kind, TASKS if kind == "task" else ATTACKS)):
        given, parameters = json.loads(row[f"{part}_parameters"]), known[row[part]].parameters()
        # Of an older table: a parameter that is gone and said nothing.
        given = {name: value for name, value in given.items() if value is not None or name in parameters}
        parts[part] = {**common.get((part, row[part]), {}), "name": row[part], **given}
    if row["epsilon"] != "":
        parts["defence"]["epsilon"] = float(row["epsilon"])
    shared = {name: _spelling(row.get(name, DEFAULTS.get(name))) for name in sanitized.SHARED}
    return json.dumps([shared, identity(parts)], sort_keys=True)


def _spelling(value) -> str:
    """A value as cells and tables both say it: of numbers one spelling, of nothing the empty text."""
    text = "" if value is None else str(value)
    try:
        return repr(float(text))
    except ValueError:
        return text


def take_up(cells: list[Cell], table: Path, folder: Path) -> int:
    """Write the cells that a stored table has into a folder, from which a sweep goes on, and count them.

    Numbers have the digits of the table. Which machine made which cell is not in a table: the cells have those of
    its record in turn, so that a record made from all of them names the same. Cells that have a result in the
    folder are left as they are.
    """
    rows, at = pd.read_csv(table), places(cells, table)
    if left := len(rows) - sum(map(len, at.values())):
        raise ValueError(f"table: {left} rows of {table} are of no cell of the specification")
    arrays_of = hits.load_hits(table) if table.with_suffix(".npz").is_file() else {}
    record = yaml.safe_load(table.with_suffix(".yml").read_text(encoding="utf-8"))
    wanted = {cell.name: cell for cell in cells if not sweep.is_computed(cell, folder)}
    wanted = {name: cell for name, cell in wanted.items() if at[name]}
    if without := [
        at[name][0] for name, cell in wanted.items() if "attack" in cell and at[name][0] not in arrays_of
    ]:
        raise ValueError(f"table: row {without[0]} of {table} has no hits; its cell must be computed")
    stored = Path(folder) / "cells"
    stored.mkdir(parents=True, exist_ok=True)
    for number, (name, cell) in enumerate(wanted.items()):
        of = at[name]
        arrays = {what: values for what, values in arrays_of.get(of[0], {}).items() if what != "family"}
        sweep.put(cell, _result(cell, rows.loc[of], record, number, len(wanted)), arrays, stored)
    return len(wanted)


def _result(cell: Cell, rows: pd.DataFrame, said: dict, number: int, n: int) -> dict:
    """The part of a cell's result that is stored beside its arrays."""
    in_turn = {key: said[key][number % len(said[key])] for key in ("versions", "hardware")}
    return {
        "rows": [json.loads(line.to_json(double_precision=15)) for _, line in rows.iterrows()],
        "seconds": said["seconds"] / n,
        "models": [model.partition(",")[0] for model in said.get("models", ())],
        **in_turn,
    }
