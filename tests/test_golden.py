"""Golden cells come out again: each mechanism, attack and task, and cheap experiments, with an empty cache."""

import os
from functools import cache

import pytest

from textsan.base import assets
from textsan_book.studies import golden, recompute

FULL = bool(os.environ.get("TEXTSAN_FULL"))
CELLS = golden.golden_cells()
REMEDY = "run python -m textsan_book.commands.golden"


@cache
def tables():
    return {table.name: table for table in golden.tables()}


@cache
def cells_of(name):
    return tables()[name].cells


@pytest.fixture(scope="module")
def nothing_computed(tmp_path_factory, default_data):
    """A cache with what was downloaded and nothing that older code computed."""
    folder = tmp_path_factory.mktemp("cache")
    for name in assets.registry()["assets"]:
        if assets.is_cached(name):
            (folder / name).symlink_to(assets.cache_folder() / name, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXTSAN_CACHE", str(folder))
        yield folder


def here(entry):
    """The cell of an entry and its rows; the test is skipped, with what lacks, where data are not here."""
    try:
        found = [(cell, rows) for cell, rows in cells_of(entry["table"]) if entry["row"] in rows]
    except KeyError as error:
        pytest.skip(str(error))
    [(cell, rows)] = found
    if lacking := golden.lacking(cell):
        pytest.skip(f"not here: {', '.join(lacking)}")
    return cell, rows


@pytest.mark.parametrize("entry", CELLS, ids=lambda entry: f"{entry['table']}-{entry['row']}")
def test_a_golden_cell_comes_out_again(entry, nothing_computed):
    if entry["trained"] and not FULL:
        pytest.skip("trained; make test FULL=1")
    cell, rows = here(entry)
    assert golden.subjects(cell) == entry["of"]
    assert recompute.difference(cell, tables()[entry["table"]].table, rows) == ""


@pytest.mark.parametrize("kind", ["mechanism", "attack", "task"])
def test_every_registered_name_has_a_golden_cell(kind):
    named = {one for entry in CELLS for one in entry["of"]}
    built_in = [name for name in golden.KINDS[kind] if name in golden.KINDS[kind]._built_in]
    assert not [name for name in built_in if f"{kind} {name}" not in named], REMEDY
