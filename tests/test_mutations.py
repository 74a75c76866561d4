"""Planted faults, `mutations.yml`: in a copy of the code each of them makes a golden cell or a unit test fail."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from textsan_book.studies import golden

ROOT = Path(__file__).parents[1]
FULL = bool(os.environ.get("TEXTSAN_FULL"))
GROUPS = yaml.safe_load(Path(__file__).with_name("mutations.yml").read_text(encoding="utf-8"))
MUTATIONS = [group | {"old": old, "new": new} for group in GROUPS for old, new in group.pop("faults")]
BUILT_IN = {
    kind: [name for name in golden.KINDS[kind] if name in golden.KINDS[kind]._built_in]
    for kind in ("attack", "mechanism")
}
CODE = ("textsan", "textsan_book")
REST = ("data", "tests", "book", "notebooks", "pyproject.toml", "_config.yml", "_toc.yml")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The code as files of its own, and links to what it reads."""
    root = tmp_path_factory.mktemp("mutated")
    for name in CODE:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in REST:
        (root / name).symlink_to(ROOT / name)
    return root


def caught_by(mutation):
    if "test" in mutation:
        return [mutation["test"]]
    cells = [one for one in golden.golden_cells() if mutation["of"] in one["of"]]
    assert cells, f"no golden cell of {mutation['of']}"
    name = "tests/test_golden.py::test_a_golden_cell_comes_out_again"
    return [f"{name}[{one['table']}-{one['row']}]" for one in cells]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{Path(one['file']).stem}: {one['new'][:40]}")
def test_the_old_text_stands_there_once(mutation):
    assert (ROOT / mutation["file"]).read_text(encoding="utf-8").count(mutation["old"]) == 1


@pytest.mark.skipif(not FULL, reason="ten minutes of two cores; make test FULL=1")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{Path(one['file']).stem}: {one['new'][:40]}")
def test_a_planted_fault_is_caught(mutation, copy, default_data):
    path = copy / mutation["file"]
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(mutation["old"], mutation["new"]), encoding="utf-8")
    given = {name: value for name, value in os.environ.items() if name != "TEXTSAN_FULL"}
    environment = given | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *caught_by(mutation)]
    try:
        ended = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    finally:
        path.write_text(whole, encoding="utf-8")
    assert ended.returncode == 1, f"nothing failed:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    assert "1 failed" in ended.stdout, ended.stdout[-2000:]  # and not an error of collection


def test_each_attack_and_mechanism_has_three():
    number = Counter(one["of"] for one in MUTATIONS)
    built_in = [f"{kind} {name}" for kind in ("attack", "mechanism") for name in BUILT_IN[kind]]
    assert not [name for name in [*built_in, *number] if number[name] < 3]
