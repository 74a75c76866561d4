"""`textsan new`, as CONTRIBUTING says, in a copy of the tree: the house tests pass without another line."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from textsan_book.commands.new import new

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line) for line in re.findall(r"^    \.venv/bin/textsan new (.*)$", TEXT, re.MULTILINE)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy the tree without its notebooks, and run the commands of CONTRIBUTING in it."""
    copy = tmp_path_factory.mktemp("tree") / "textsan"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("textsan", "textsan_book", "book", "tests", "data"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("_toc.yml", "pyproject.toml", "CONTRIBUTING.md", "README.md", "jupytext.toml", "constraints.txt"):
        shutil.copy(ROOT / name, copy)
    (copy / "notebooks").mkdir()
    printed = [called(copy, *command) for command in COMMANDS]
    assert all(result.exit_code == 0 for result in printed), printed
    return copy


def called(folder, *arguments):
    before = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(new, arguments)
    finally:
        os.chdir(before)


def run(tree, *command):
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_three_are_shown():
    assert sorted(kind for kind, _ in COMMANDS) == ["attack", "chapter", "mechanism"]


def test_house_tests_pass_at_the_first_try(tree):
    named = [
        "tests/test_looks.py",
        "tests/test_unit_santext.py",
        "tests/test_flat_prior.py",
        "textsan/mechanisms/unit_santext.py",
        "textsan/attacks/flat_prior.py",
        "tests/test_docstrings.py::test_every_parameter_of_a_mechanism_is_explained[unit santext]",
        "tests/test_registry.py::test_a_mechanism_is_known_to_all_four[unit santext]",
        "tests/test_registry.py::test_an_attack_is_known_to_all_four[flat prior]",
        "tests/test_promises_kept.py::test_what_is_made_keeps_its_promise[unit santext]",
        "tests/test_settings.py::test_every_chapter_with_parameters_has_settings_and_no_other",
        "tests/test_book.py::test_contents_list_every_chapter",
    ]
    chapter = f"supplement/{next((tree / 'book' / 'supplement').glob('*-a-coin.md')).stem}"
    named.append(f"tests/test_settings.py::test_a_chapter_takes_its_settings[{chapter}]")
    out = run(tree, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--durations=5", *named)
    assert " failed" not in out and " passed" in out


def test_linters_pass(tree):
    run(tree, "-m", "ruff", "check", ".")
    run(tree, "-m", "ruff", "format", "--check", ".")


def test_the_chapter_runs_with_other_parameters_and_is_stored_soundly(tree):
    (text,) = (tree / "book" / "supplement").glob("*-a-coin.md")
    program = (
        "from pathlib import Path; from textsan_book.chapters import build, chapters, run; "
        f"one = chapters.find(Path.cwd(), '{text.stem}'); run.refresh(one); "
        "print(build.stored_faults(Path.cwd(), [one.name]), run.run(one, {'turned': '0.1'}).name)"
    )
    assert run(tree, "-c", program).startswith("[] ")
    for path, shown in (
        (tree / "notebooks" / "supplement" / f"{text.stem}.ipynb", "0.750\n"),
        *[(path, "0.900\n") for path in (tree / "runs" / "supplement").glob("*.ipynb")],
    ):
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert code[-1].outputs[0].text == shown


@pytest.mark.parametrize(
    "kind, name, line",
    [
        ("mechanism", "santext", "'santext' is taken"),
        ("attack", "class", "'class' is taken"),
        ("attack", "Markov", "is not lower-case words"),
        ("mechanism", "../x", "is not lower-case words"),
        ("chapter", "a coin", "is or was called"),
        ("chapter", "smoothing the prior", "is or was called"),  # one that was joined with another
    ],
)
def test_names_that_exist_or_are_none_are_refused_and_nothing_is_written(tree, kind, name, line):
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*.*") if "__pycache__" not in path.parts}
    result = called(tree, kind, name)
    assert result.exit_code != 0 and line in result.output and result.output.count("\n") == 1
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert not [path for path in tree.rglob("*.*") if path not in before and "__pycache__" not in path.parts]
