"""The landing page: every number of a finding is printed by the chapter that the finding names."""

import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]


def findings():
    page = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    section = page.partition("## Findings")[2].partition("\n\nWhat")[0]
    return [" ".join(one.split()) for one in section.split("\n- ")[1:]]


def printed(name):
    cells = nbformat.read(ROOT / f"{name}.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text") or output.get("data", {}).get("text/plain", "")) for output in outputs)


def missing(finding, text):
    """The decimals of a finding that a text does not have, and its counts ("3 of the 34", "27 differ")."""
    decimals = re.findall(r"\d+\.\d+", finding)
    counts = [f"compared: {a} of {n}" for a, n in re.findall(r"(\d+) of all (\d+) published numbers", finding)]
    for said, words in (("agrees", "agree"), ("differs", "differ"), ("undecided", "are undecided")):
        counts += [f"{said}: {n} of" for n in re.findall(rf"(\d+) {words}", finding)]
    for said in ("refuted", "reproduced"):
        counts += [f"{said}: {a} of {n} claims" for a, n in re.findall(rf"(\d+) of (\d+) claims {said}", finding)]
    counts += [f"{n} of {n} are above 0" for n in re.findall(r"all of (\d+) gains", finding)]
    return [one for one in decimals + counts if one not in text]


@pytest.mark.parametrize("finding", findings())
def test_a_finding_says_what_its_chapter_prints(finding):
    (name,) = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", finding)
    assert not missing(finding, printed(name))


def test_another_number_is_noticed():
    first = next(one for one in findings() if "0.333" in one)
    (name,) = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", first)
    assert missing(first.replace("0.333", "0.339"), printed(name)) == ["0.339"]


def test_there_is_a_row_for_each_published_number():
    (number,) = re.findall(r"of all (\d+) published numbers", " ".join(findings()))
    published = pd.read_csv(ROOT / "data" / "paper_numbers.csv")
    board = pd.read_csv(ROOT / "data" / "results" / "scoreboard.csv")
    assert int(number) == len(published) == len(board)
