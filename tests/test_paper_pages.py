"""The printed book, and a page a paper: every published number and claim is of an item, counted by its verdict."""

import importlib
import re
from pathlib import Path

import pandas as pd
import pytest

from textsan_book.chapters import chapters, paper, paper_pages

RESULTS = Path(__file__).parents[1] / "data" / "results"
ROOT = RESULTS.parents[1]


@pytest.mark.parametrize("title", paper_pages.PAPERS)
def test_every_table_and_theorem_of_a_claim_or_number_has_its_row(title):
    claims, board = (pd.read_csv(RESULTS / f"{name}.csv") for name in ("claims", "scoreboard"))
    places = [place.removeprefix(f"{title}, ") for place in claims.place if place.startswith(title)]
    places += list(board[board.paper == title].table_or_figure)
    named = {name for place in places for name in re.findall(r"Table [IVX\d]+|Theorem \d|Figure \d", place)}
    items = paper_pages.PAPERS[title]
    for name in named:
        assert any(paper_pages.of(item, f"{title}, {name}", title) for item in items), name


def test_verdicts_are_counted_and_an_item_without_one_says_so(tmp_path):
    (tmp_path / "data" / "results").mkdir(parents=True)
    (tmp_path / "book").mkdir()
    for chapter in chapters.chapters(ROOT):
        text = chapters.Chapter(tmp_path, chapter.name).text
        text.parent.mkdir(parents=True, exist_ok=True)
        text.touch()
    claims = {"place": ["Tong 2024, Theorem 1", "Tong 2024, Table 10"], "verdict": ["holds", "does not hold"]}
    board = {
        "paper": "Tong 2024",
        "table_or_figure": ["Table 1", "Table 1", "Sec 5.2; Fig 4b"],
        "verdict": ["agrees", "agrees", "differs"],
        "trivial": ["", "no effect agrees as well", ""],
    }
    pd.DataFrame(claims).to_csv(tmp_path / "data" / "results" / "claims.csv")
    pd.DataFrame(board).to_csv(tmp_path / "data" / "results" / "scoreboard.csv")
    rows = paper_pages.tables(tmp_path)["paper_tong"].splitlines()
    ends = {row.split(" | ")[0].strip("| "): row.rsplit(" | ", 1)[1].strip(" |") for row in rows[2:]}
    assert ends["Theorem 1"] == "claims: 1 reproduced"
    assert ends["Table 1"] == "numbers: 1 agrees, 1 agrees trivially"
    assert ends["Figure 4"] == "numbers: 1 differs"
    assert ends["Theorem 2"] == "shown; nothing to judge"


def test_each_page_has_its_table():
    for name in paper_pages.tables(ROOT):
        page = ROOT / "book" / "pages" / f"{name.replace('_', '-')}.md"
        assert f"{{{{ {name} }}}}" in page.read_text(encoding="utf-8")


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
