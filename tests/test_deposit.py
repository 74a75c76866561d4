"""What archives and readers are told of the records is what the records say."""

import importlib
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from textsan_book.chapters import deposit, paper

ROOT = Path(__file__).parents[1]


def test_files_of_archives_are_those_of_the_records():
    """If not: python -m textsan_book.chapters.deposit writes them."""
    assert (ROOT / deposit.ZENODO).read_text(encoding="utf-8") == deposit.zenodo(ROOT)
    assert (ROOT / deposit.CODECHECK).read_text(encoding="utf-8") == deposit.codecheck(ROOT)


def test_version_is_that_of_the_package():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert json.loads(deposit.zenodo(ROOT))["version"] == cff["version"] == project["version"]


def test_times_are_sums_of_the_records():
    said = deposit.levels(ROOT)
    records = [yaml.safe_load(path.read_text()) for path in (ROOT / "data" / "results").glob("*.yml")]
    seconds = [one["seconds"] for one in records if isinstance(one.get("seconds"), int | float)]
    assert f"{sum(seconds) / 3600:.0f} hours by the records of {len(seconds)}" in said
    chapters = yaml.safe_load((ROOT / "data" / "checked.yml").read_text())["chapters"].values()
    assert f"{sum(one['seconds'] for one in chapters) / 60:.0f} minutes" in said


def test_archives_hold_the_files_and_are_the_same_twice(tmp_path):
    first, second = (deposit.archives(ROOT, tmp_path / name) for name in "ab")
    assert [one.read_bytes() for one in first] == [one.read_bytes() for one in second]
    with ZipFile(first[1]) as archive:
        names = set(archive.namelist())
    tables = {f"tables/{path.name}" for path in (ROOT / "data" / "results").glob("*.csv")}
    assert tables <= names and {name.replace(".csv", ".yml") for name in tables} <= names


def test_the_printed_book_is_the_main_text():
    pages = [one["file"] for part in paper.contents(ROOT)["parts"] for one in part["chapters"]]
    numbers = {page[10:12] for page in pages if page.startswith("notebooks/") and page[10:12].isdigit()}
    assert {"01", "10", "21", "32"} <= numbers and not {"08", "16", "30"} & numbers
    assert pages[-1] == "book/pages/references" and not any("/api" in page for page in pages)


def test_the_explorer_is_nothing_on_paper_and_what_is_not_printed_is_named_by_its_title(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    single = importlib.import_module("single")
    pages = [one["file"] for part in paper.contents(ROOT)["parts"] for one in part["chapters"]]
    assert paper.EXPLORER not in pages
    assert (
        single.titled(ROOT, "notebooks/08-plausible-deniability")
        == "Plausible deniability, of a word and of a sentence"
    )
    assert single.titled(ROOT, "book/pages/glossary") and single.titled(ROOT, "book/pages/nowhere") is None


@pytest.mark.skipif(not (ROOT / "_build" / "textsan.pdf").is_file(), reason="the book is not printed: make pdf")
def test_the_printed_book_is_short_light_and_has_bookmarks():
    pdf = (ROOT / "_build" / "textsan.pdf").read_bytes()
    assert 100 < paper.pages(pdf) <= paper.MOST_PAGES and len(pdf) <= 20 * 2**20
    assert pdf.count(b"/Dest") > 100 and b"/Outlines" in pdf
    assert b"file:" not in pdf  # a link to a folder that was there while it was printed
