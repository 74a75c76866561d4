"""`jupytext --sync` changes nothing in a clean tree, whichever file of a pair is newer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from textsan_book.chapters import chapters

ROOT = Path(__file__).parents[1]


def synchronised(folder, first, second):
    """Sync the pairs of a folder, where `first` is older than `second`; return the files that changed."""
    files = [*folder.glob("*/**/*.md"), *folder.glob("*/**/*.ipynb")]
    before = {path: path.read_bytes() for path in files}
    for path in files:
        os.utime(path, (1e9, 1e9) if path.is_relative_to(folder / first) else (2e9, 2e9))
    pairs = [str(path.relative_to(folder)) for path in files if path.is_relative_to(folder / second)]
    command = [sys.executable, "-m", "jupytext", "--sync", "--quiet", *pairs]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sorted(path.name for path in files if path.read_bytes() != before[path])


def pairs(folder, number=None):
    """Copy the first pairs; where the text differs, the notebook is one of this text without outputs."""
    shutil.copy(ROOT / "jupytext.toml", folder)
    for chapter in chapters.chapters(ROOT)[:number]:
        text, copy = (folder / path.relative_to(ROOT) for path in (chapter.text, chapter.notebook))
        for path in (text, copy):
            path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(chapter.text, text)
        text, stored = chapters.read_text(chapter), nbformat.read(chapter.notebook, 4)
        if chapters.content(text) == chapters.content(stored):
            shutil.copy(chapter.notebook, copy)
        else:
            text.metadata = stored.metadata
            copy.write_text(nbformat.writes(text) + "\n", encoding="utf-8")


@pytest.mark.parametrize("first, second", [("book", "notebooks"), ("notebooks", "book")])
def test_sync_of_a_clean_tree_changes_nothing(tmp_path, first, second):
    pairs(tmp_path)
    assert synchronised(tmp_path, first, second) == [], "jupytext writes it otherwise: see git diff after --sync"


def test_a_text_that_is_not_as_jupytext_writes_it_is_seen(tmp_path):
    pairs(tmp_path, 1)
    (text,) = (tmp_path / "book").glob("*.md")
    text.write_text(text.read_text(encoding="utf-8").replace("\n\n# ", "\n\n\n# ", 1), encoding="utf-8")
    assert synchronised(tmp_path, "book", "notebooks") == [text.name]
