"""Which chapters a check executes: what differs from the record, and an eighth of the others, drawn by commit."""

import subprocess
from pathlib import Path

import nbformat
import pytest
import yaml
from click.testing import CliRunner

from textsan.cli import main
from textsan_book.chapters import build, chapters, checked

ROOT = Path(__file__).parents[1]
NAMES = [f"{number:02d}-chapter" for number in range(1, 11)]
COMMITS = [f"{number:040x}" for number in range(100)]
TEXT = """---
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

```{{code-cell}} ipython3
:tags: [parameters]

epsilon = {number}
```
"""


@pytest.fixture
def root(tmp_path):
    """Ten chapters, none of which has run, and a record of a check of all of them."""
    for name in ("book", "notebooks", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "_toc.yml").touch()
    for number, name in enumerate(NAMES):
        (tmp_path / "book" / f"{name}.md").write_text(TEXT.format(number=number))
        used = {"files": {}, "packages": {"numpy": "2.0", f"package-{number % 2}": "1"}}
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(f"epsilon = {number}", id="one")], metadata={"textsan": used}
        )
        nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
    checked.confirm(tmp_path, {name: 10.0 * place for place, name in enumerate(NAMES)}, {NAMES[1]: [1.23, 4.0]})
    return tmp_path


def spoil(root, name):
    path = root / "notebooks" / f"{name}.ipynb"
    path.write_text(path.read_text().replace("epsilon", "delta"))


def test_a_chapter_that_is_confirmed_renews_its_entry_alone(root):
    before = checked.read(root)
    text = (root / checked.RECORD).read_text()
    checked.confirm(root, {name: 99.0 for name in NAMES})  # nothing has changed: not even seconds
    assert (root / checked.RECORD).read_text() == text
    spoil(root, NAMES[1])
    spoil(root, NAMES[2])
    checked.confirm(root, {NAMES[1]: 7.0, NAMES[0]: 99.0})
    after = checked.read(root)
    assert after[NAMES[1]] == {
        "key": checked.key(chapters.find(root, "2")),
        "seconds": 7.0,
        "settings": before[NAMES[1]]["settings"],
    }
    assert after[NAMES[1]]["key"] != before[NAMES[1]]["key"]
    assert {name: after[name] for name in NAMES if name != NAMES[1]} == {
        name: before[name] for name in NAMES if name != NAMES[1]
    }
    assert NAMES[2] in checked.drawn(root, COMMITS[0])  # it was not confirmed


def test_chapters_that_are_gone_leave_the_record(root):
    for path in (root / "book" / f"{NAMES[3]}.md", root / "notebooks" / f"{NAMES[3]}.ipynb"):
        path.unlink()
    checked.confirm(root, {})
    assert list(checked.read(root)) == [name for name in NAMES if name != NAMES[3]]


def test_the_record_holds_keys_seconds_and_what_they_were_made_with(root):
    record = yaml.safe_load((root / checked.RECORD).read_text())
    assert list(record) == ["processor", "python", "packages", "chapters"]
    assert list(record["chapters"]) == NAMES and record["packages"] == {
        "numpy": "2.0",
        "package-0": "1",
        "package-1": "1",
    }
    assert record["chapters"][NAMES[1]] == {
        "key": checked.key(chapters.find(root, "2")),
        "seconds": 10.0,
        "settings": [1.2, 4.0],
    }
    assert len(record["chapters"][NAMES[0]]["key"]) == 16 and "settings" not in record["chapters"][NAMES[0]]
    assert record["processor"] and record["python"].count(".") == 2


def test_the_key_is_of_what_a_run_would_make_anew(root):
    chapter = chapters.find(root, "2")
    before = checked.key(chapter)
    notebook = nbformat.read(chapter.notebook, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("Other words.", id="words"))
    notebook.metadata["textsan"]["tables"] = {"data/results/x.csv": "stale"}
    nbformat.write(notebook, chapter.notebook)
    assert checked.key(chapter) == before
    keys = {before}
    for change in (
        lambda: notebook.cells[1].update(source="epsilon = 7"),
        lambda: notebook.cells[1].outputs.append(nbformat.v4.new_output("stream", text="7")),
        lambda: notebook.metadata["textsan"]["packages"].update(numpy="2.1"),
        lambda: notebook.metadata["textsan"]["files"].update({"textsan/evaluation.py": "0123"}),
    ):
        change()
        nbformat.write(notebook, chapter.notebook)
        keys.add(checked.key(chapter))
    assert len(keys) == 5


def test_an_eighth_rounded_up_is_drawn_by_the_commit_alone(root):
    one = checked.drawn(root, COMMITS[0])
    assert len(one) == 2 and set(one.values()) == {f"drawn by commit {COMMITS[0][:12]}"}
    assert list(one) == sorted(one) and checked.drawn(root, COMMITS[0]) == one
    sets = [frozenset(checked.drawn(root, commit)) for commit in COMMITS]
    assert len(set(sets)) > 20
    often = {name: sum(name in drawn for drawn in sets) for name in NAMES}
    assert min(often.values()) > 8  # of 100 that draw two of ten each


def test_what_differs_from_the_record_is_executed_by_every_commit(root):
    spoil(root, NAMES[4])
    record = yaml.safe_load((root / checked.RECORD).read_text())
    del record["chapters"][NAMES[7]]
    (root / checked.RECORD).write_text(yaml.safe_dump(record))
    for commit in COMMITS[:20]:
        reasons = checked.drawn(root, commit)
        differing = {name for name, why in reasons.items() if why == "differs from data/checked.yml"}
        assert differing == {NAMES[4], NAMES[7]} and len(reasons) == 2 + 1  # an eighth of eight
    first, *_, last = checked.announced(root, reasons, 10)
    assert first == "3 of 10 chapters are executed:"
    assert last == (
        "2 of them more than a tree needs that equals the record: 40 s and 1 chapters that it does not have"
    )


def test_a_tree_that_equals_the_record_adds_nothing(root):
    lines = checked.announced(root, checked.drawn(root, COMMITS[0]), 10)
    assert len(lines) == 3 and not any("more than" in line for line in lines)


def test_without_a_record_or_a_commit_all_are_executed(root):
    assert set(checked.drawn(root, None)) == set(NAMES)
    (root / checked.RECORD).unlink()
    reasons = checked.drawn(root, COMMITS[0])
    assert set(reasons) == set(NAMES) and set(reasons.values()) == {"differs from data/checked.yml"}


def test_the_commit_is_the_one_that_is_checked_out(root):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    assert checked.commit(root) is None
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    first = checked.commit(root)
    assert len(first) == 40
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "two"], cwd=root, check=True)
    assert checked.commit(root) != first


def test_the_dearest_begins_first_and_what_is_unknown_before_it(root):
    record = yaml.safe_load((root / checked.RECORD).read_text())
    del record["chapters"][NAMES[2]]
    (root / checked.RECORD).write_text(yaml.safe_dump(record))
    assert checked.dearest_first(root, NAMES[:5]) == [NAMES[place] for place in (2, 4, 3, 1, 0)]
    lines = checked.table(root, {NAMES[3]: 2.0, NAMES[2]: 7.25})
    assert lines == [
        "    7.2 s  03-chapter",
        "    2.0 s  04-chapter  (recorded: 30.0)",
        "    9.2 s  in all, of 2 chapters at a time",
    ]


@pytest.mark.parametrize(
    ("given", "error", "line"),
    [
        ({"11-chapter": [{"epsilon": 1}]}, KeyError, "'11-chapter' is no chapter; name one of 01-chapter"),
        ({NAMES[0]: [{"delta": 1}]}, KeyError, "01-chapter has no 'delta'"),
        ({NAMES[0]: [{"epsilon": 1}] * 4}, ValueError, "01-chapter has 4 settings; keep 3"),
        ({NAMES[0]: [{"epsilon": "much"}]}, ValueError, "'much' does not fit"),
    ],
)
def test_wrong_settings_are_one_line_before_anything_runs(root, given, error, line):
    (root / checked.SETTINGS).write_text(yaml.safe_dump(given))
    with pytest.raises(error, match=line):
        build.check(root, full=True)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["11"], "textsan: chapter: '11' is no chapter; choose from 01-chapter"),
        (["--drawn", "--full"], "textsan: chapters by name, --drawn and --full each say"),
        (["1", "--drawn"], "textsan: chapters by name, --drawn and --full each say"),
        (["--full", "--as", "sandybridge"], "textsan: --full is of the pinned kernels"),
    ],
)
def test_misuse_is_one_line(root, monkeypatch, arguments, line):
    monkeypatch.chdir(root)
    result = CliRunner().invoke(main.main, ["check", *arguments])
    assert result.exit_code == 2 and result.output.startswith(line) and result.output.count("\n") == 1


def test_own_settings_are_of_chapters_and_their_parameters():
    checked.settings(ROOT)


def test_of_the_long_tests_an_eighth_is_drawn_and_each_has_its_turn():
    from conftest import LONG, left_out

    seconds = {f"tests/test_a.py::test_{n}": LONG + n for n in range(20)} | {
        "tests/test_a.py::test_short": LONG - 1
    }
    ran = [seconds.keys() - left_out(seconds, commit) for commit in COMMITS]
    assert {len(some) for some in ran} == {4} and all("tests/test_a.py::test_short" in some for some in ran)
    assert set.union(*ran) == seconds.keys()
    assert left_out(seconds, None) == set()  # outside of a checkout nothing is left out


def test_a_smaller_run_says_what_it_leaves_out():
    """As `make test` starts it, on the file of the longest test."""
    import sys

    from conftest import left_out, recorded_seconds

    seconds = recorded_seconds()
    file = max(seconds, key=seconds.get).partition("::")[0]
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", file]
    whole, drawn = (
        subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True).stdout
        for more in ([], ["--drawn"])
    )
    left = {test for test in left_out(seconds, checked.commit(ROOT)) if test in whole.splitlines()}
    assert left == {test for test in whole.splitlines() if test.startswith(file)} - {*drawn.splitlines()}
    assert (f"({len(left)} deselected)" in drawn) == bool(left)
