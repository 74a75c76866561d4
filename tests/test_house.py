"""The house: rooms with a sentence at the door, imports that point one way, nothing heavy before it is used."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
PACKAGE, BOOK, _ = (one["layers"] for one in CONTRACTS)  # the uppermost may import all others of its list
LAYERS = [name.removeprefix("textsan.") for name in PACKAGE]
FOLDERS = sorted(
    {
        str(path.parent.relative_to(ROOT))
        for package in ("textsan", "textsan_book")
        for path in (ROOT / package).glob("*/**/*.py")
    }
)
ROOMS = sorted(path.parent.name for path in (ROOT / "textsan").glob("*/__init__.py"))


def python(program, **options):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, **options)


# Imports point one way


def lint_imports(folder):
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def house(tmp_path):
    """The rooms of the package, empty, under the project's own contract."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for layer in ("textsan", "textsan_book", *PACKAGE, *BOOK):
        (tmp_path / layer.replace(".", "/")).mkdir(parents=True, exist_ok=True)
        (tmp_path / layer.replace(".", "/") / "__init__.py").touch()
    return tmp_path


@pytest.mark.parametrize("indent", ["", "def later():\n    "])
def test_an_import_from_below_is_caught_wherever_it_stands(house, indent):
    module = house / "textsan" / "channel" / "sampling.py"
    module.write_text(f"{indent}import textsan.base\n")
    assert lint_imports(house).returncode == 0
    module.write_text(f"{indent}import textsan.attacks\n")
    result = lint_imports(house)
    assert result.returncode == 1
    assert "textsan.channel.sampling -> textsan.attacks" in result.stdout


def test_the_package_never_imports_the_book(house):
    (house / "textsan" / "cli" / "main.py").write_text("import textsan_book.chapters\n")
    result = lint_imports(house)
    assert result.returncode == 1 and "textsan.cli.main -> textsan_book.chapters" in result.stdout


def test_the_contracts_know_every_room():
    modules = {path.stem for path in (ROOT / "textsan").glob("*.py")} - {"__init__", "version"}
    assert sorted(LAYERS) == sorted({*ROOMS, *modules})
    assert sorted(BOOK) == sorted(
        f"textsan_book.{path.parent.name}" for path in (ROOT / "textsan_book").glob("*/__init__.py")
    )


# Doors


def faults_of_a_door(text):
    lines = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    if not lines:
        return ["no docstring"]
    faults = [] if re.fullmatch(r"[A-Z][^.!?]*(\([^)]*\))?\.", lines[0]) else [f"no one sentence: {lines[0]!r}"]
    return faults + (["no blank line after it"] if len(lines) > 1 and lines[1] else [])


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_sentence_stands_at_every_door(folder):
    assert faults_of_a_door((ROOT / folder / "__init__.py").read_text()) == []


@pytest.mark.parametrize("text", ["", '"""words"""', '"""Words. And more."""', '"""Words.\nMore."""'])
def test_a_door_without_a_sentence_is_caught(text):
    assert faults_of_a_door(text)


@pytest.mark.parametrize("door", ["textsan", *(f"textsan.{room}" for room in ROOMS), *BOOK])
def test_every_name_at_a_door_is_there(door):
    module = importlib.import_module(door)
    names = {*dir(module), *getattr(module, "__all__", ())}
    assert [name for name in names if not hasattr(module, name)] == []
    assert names >= {*getattr(module, "__all__", ())}


def test_the_map_in_the_manual_has_every_room_in_the_order_of_imports():
    text = (ROOT / "book" / "manual" / "package.md").read_text()
    start = text.index("The rooms of the package")
    plan = [line for line in text[start : text.index("## Tables and")].splitlines() if line.startswith("    ")]
    assert len(plan) == 13
    shown = re.findall(r"\b(\w+)(?:/|\.py)", "\n".join(plan))
    assert shown == LAYERS[::-1]


# Nothing heavy before it is used

MATRIX = """
import textsan
words = textsan.Embeddings(["the", "film", "movie"], [[0.0, 1.0], [2.0, 0.0], [2.0, 0.5]])
mechanism = textsan.SanText(words, epsilon=2.0)
released = mechanism.sanitize([["the", "film"]], seed=0)
knowledge = textsan.Knowledge.of(mechanism, shadow=[["the", "movie"], ["the", "film"]])
attack = textsan.attacks.ContextFreeBayes.against(knowledge)
assert len(attack.reconstruct(released, [(0, 0), (0, 1)])) == 2
assert textsan.leakage.bayes_vulnerability(knowledge.unigram(), mechanism.channel) > 1 / 3
assert textsan.privacy.tight_metric_epsilon(mechanism.channel, words) <= 2 + 1e-9
assert textsan.evaluation.attack_success_rate(["the"], ["the"]).value == 1
"""


WITHOUT = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
absent = ("torch", "transformers", "pandas", "matplotlib")
PathFinder.find_spec = lambda name, *rest: None if name in absent else find(name, *rest)
"""


def test_a_program_of_matrices_runs_where_they_are_not_installed():
    assert "No module named 'torch'" in python(WITHOUT + "import torch").stderr
    result = python(WITHOUT + MATRIX)
    assert result.returncode == 0, result.stderr
