"""The project's tables are found from any folder, and so is all that a chapter reads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import textsan
from textsan.base import project
from textsan_book.chapters import chapters, run
from textsan_book.chapters.kernel import figure_data

ROOT = Path(__file__).parents[1]


def test_the_checkout_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert textsan.project_data() == ROOT / "data"


def test_a_project_around_the_current_folder_comes_first(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "deep")
    for name in ("_toc.yml", "book", "data"):  # only with all three is it one
        assert textsan.project_data() == ROOT / "data"
        (tmp_path / name).touch() if "." in name else (tmp_path / name).mkdir()
    assert textsan.project_data() == tmp_path / "data"


def test_without_a_project_one_line_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(project, "_CHECKOUT", tmp_path)  # as if the package were installed from a wheel
    with pytest.raises(FileNotFoundError, match="clone of the project") as error:
        textsan.project_data()
    assert str(tmp_path) in str(error.value) and "\n" not in str(error.value)


def test_what_is_read_there_counts_as_used(tmp_path):
    """By a chapter's kernel, whose folder is `notebooks/`."""
    for name in ("book", "data", "notebooks"):
        (tmp_path / name).mkdir()
    for name in ("_toc.yml", "data/table.csv"):
        (tmp_path / name).touch()
    inside = Path(figure_data.__file__).parent
    path = f"{inside}{os.pathsep}{ROOT}"
    environment = os.environ | {"PYTHONPATH": path, "TEXTSAN_RECORD": str(tmp_path / "record")}
    program = "import textsan; (textsan.project_data() / 'table.csv').read_text()"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "notebooks", env=environment, check=True)
    tables = run.tables(tmp_path, (tmp_path / "record").read_text().splitlines())
    assert list(tables) == ["data/table.csv"]


@pytest.mark.parametrize("chapter", chapters.chapters(ROOT), ids=lambda chapter: chapter.name)
def test_no_chapter_reads_by_a_path_of_its_own_folder(chapter):
    code = [cell.source for cell in chapters.read_text(chapter).cells if cell.cell_type == "code"]
    upwards = re.compile(r"""["']\.\./|Path\(["']\.\.["']""")
    assert [line for source in code for line in source.splitlines() if upwards.search(line)] == []
