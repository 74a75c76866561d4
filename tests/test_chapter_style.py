"""The rules of a chapter's page: its box, figures, tables and open cells, its words, the source of its numbers.

They hold for the chapters that are written by them; those of earlier editions follow.
"""

import importlib
import re
from pathlib import Path

import nbformat
import pytest

from textsan_book.chapters import chapters

ROOT = Path(__file__).parents[1]
WRITTEN = [str(number) for number in range(1, 17)]
PRIVATE = (  # of earlier editions; the field has other words
    r"by value|told apart|not told from|the coin|\bone draw\b|made elsewhere|without a row|given away|unseen mass"
    r"|own counts|of 100 parts|stands? beside|beside it|hangs on"
)
PARTS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)|^:\w+:.*$|^\(.*\)=$", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(r"`{3,4}\{solution-start\}.*?\{solution-end\}", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?) ?%|(?<![\w.,])(\d+\.\d+)(?![\w%])")

pages = pytest.mark.parametrize("number", WRITTEN)


@pytest.fixture(scope="module")
def folding():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "book" / "_ext"))
        yield importlib.import_module("folding")


def read(number):
    chapter = chapters.find(ROOT, number)
    return chapter.text.read_text(encoding="utf-8"), nbformat.read(chapter.notebook, as_version=4)


def prose(text):
    """The words of a page without its head, code, formulas and solutions."""
    body = re.sub(r"```\{code-cell\}.*?\n```", "", text.split("\n---\n", 1)[1], flags=re.DOTALL)
    return PARTS.sub("", SOLUTION.sub("", body))


@pages
def test_the_box_is_short_and_has_numbers(number):
    (box,) = re.findall(r"```\{admonition\} In one minute\n:class: tip\n(.*?)\n```", read(number)[0], re.DOTALL)
    assert len(re.findall(r"[\w'’.%-]*\w[\w'’.%-]*", box)) <= 105  # a hundred, and the names of its parts
    assert len(NUMBER.findall(PARTS.sub("", box))) >= 2 and "{doc}" not in box and "{numref}" not in box


@pages
def test_figures_tables_and_open_cells_are_few(number, folding):
    text, notebook = read(number)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum("figure" in cell.metadata.get("mystnb", {}) for cell in code) <= 5
    shown = [out["data"]["text/plain"] for cell in code for out in cell.outputs if "data" in out]
    lengths = [table.count("\n") - 2 for table in shown if re.search(r"^-{3,}", table, re.MULTILINE)]
    lengths += [rows.count("\n") - 2 for rows in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]
    assert len(lengths) <= 3 and max(lengths, default=0) <= 10
    drawn = ["image/svg+xml" in str(cell.outputs) for cell in code]
    tags = [cell.metadata.get("tags", []) for cell in code]
    opened = [
        cell
        for cell, tag, draws in zip(code, tags, drawn, strict=True)
        if folding.summary(cell.source, tag, draws) is None
    ]
    assert len(opened) <= 10
    for cell in code:
        assert "finding(" not in cell.source and not re.search(r"^\s*assert\b", cell.source, re.MULTILINE)


@pages
def test_no_word_of_the_private_list_is_left(number):
    assert re.findall(PRIVATE, prose(read(number)[0]), re.IGNORECASE) == []


def unsupported(words, shown):
    """Numbers of a text, with decimals or in per cent, that nothing among what is shown rounds to."""
    confidence = 95.0  # of intervals and of choices
    known = [confidence] + [float(number) for number in re.findall(r"\d+\.?\d*(?:e-?\d+)?", shown)]
    wrong = []
    for share, decimal in NUMBER.findall(words):
        value, places = float(share or decimal), len((share or decimal).partition(".")[2])
        half = 0.5 * 10**-places + 1e-9
        if not any(abs(one - value) <= half or (share and abs(100 * one - value) <= half) for one in known):
            wrong.append(share or decimal)
    return wrong


@pages
def test_every_number_of_the_text_is_an_output_or_a_parameter(number):
    text, notebook = read(number)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [
        out.get("text") or out.get("data", {}).get("text/plain", "") for cell in code for out in cell.outputs
    ]
    assert unsupported(prose(text), " ".join(map(str, [*outputs, *(cell.source for cell in code)]))) == []


def test_a_number_that_nothing_shows_is_noticed():
    shown = "rate 0.299 [0.290, 0.309]"
    assert unsupported("It recovers 30 % of them, 0.30 [0.29, 0.31].", shown) == []
    assert unsupported("It recovers 33 % of them, 0.35 in all.", shown) == ["33", "0.35"]
