"""A page a paper: every published number and claim is of an item, and the verdicts are those of the tables."""

import re
from pathlib import Path

import pandas as pd
import pytest

from textsan_book.chapters import chapters, paper_pages

RESULTS = Path(__file__).parents[1] / "data" / "results"
ROOT = RESULTS.parents[1]


@pytest.mark.parametrize("paper", paper_pages.PAPERS)
def test_every_table_and_theorem_of_a_claim_or_number_has_its_row(paper):
    claims, board = (pd.read_csv(RESULTS / f"{name}.csv") for name in ("claims", "scoreboard"))
    places = [place.removeprefix(f"{paper}, ") for place in claims.place if place.startswith(paper)]
    places += list(board[board.paper == paper].table_or_figure)
    named = {name for place in places for name in re.findall(r"Table [IVX\d]+|Theorem \d|Figure \d", place)}
    items = paper_pages.PAPERS[paper]
    for name in named:
        assert any(paper_pages.of(item, f"{paper}, {name}", paper) for item in items), name


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
