"""The printed book is the main text, of the version that is cited."""

import importlib
from pathlib import Path

import pytest

from textsan_book.chapters import paper

ROOT = Path(__file__).parents[1]


def test_the_explorer_is_nothing_on_paper_and_what_is_not_printed_is_named_by_its_title(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    single = importlib.import_module("single")
    pages = [one["file"] for part in paper.contents(ROOT)["parts"] for one in part["chapters"]]
    assert not paper.ON_SCREEN & {*pages}
    assert (
        single.titled(ROOT, "notebooks/supplement/s02-plausible-deniability")
        == "Plausible deniability, of a word and of a sentence"
    )
    assert single.titled(ROOT, "book/pages/notation") and single.titled(ROOT, "book/pages/nowhere") is None


@pytest.mark.skipif(not (ROOT / "_build" / "textsan.pdf").is_file(), reason="the book is not printed: make pdf")
def test_the_printed_book_is_short_light_and_has_bookmarks():
    pdf = (ROOT / "_build" / "textsan.pdf").read_bytes()
    assert 100 < paper.pages(pdf) <= paper.MOST_PAGES and len(pdf) <= 12 * 2**20
    assert pdf.count(b"/Dest") > 100 and b"/Outlines" in pdf
    assert b"file:" not in pdf  # a link to a folder that was there while it was printed
