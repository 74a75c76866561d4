"""The reports of the page *Decide*: what an audit finds, what a chapter prints, what the page says."""

import json
import os
import re
import shlex
from pathlib import Path

import click
import jsonschema
import nbformat
import pytest

from textsan.auditing import deciding
from textsan.auditing.report import SCHEMA, Report
from textsan.cli.main import main
from textsan_book.chapters import chapters, reports
from textsan_book.judging import front

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "pages" / "decide.md").read_text(encoding="utf-8")
FULL = bool(os.environ.get("TEXTSAN_FULL"))

every = pytest.mark.parametrize("name", reports.EXAMPLES)


@every
def test_a_stored_report_is_what_the_schema_asks_for_and_quotes_nothing(name):
    content = reports.read(ROOT, name)
    jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert content["example"] is None and content["about"]["quotes"] is False
    example = reports.EXAMPLES[name]
    asked = {row["limit"]: row["at_most"] for row in content["decision"]["limits"] if row["asked"]}
    assert asked == example.limits and content["about"]["rows"] == example.documents
    assert content["mechanism"]["epsilon"] == example.epsilon


def test_there_is_one_outcome_of_each_kind():
    verdicts = [reports.read(ROOT, name)["decision"]["verdict"] for name in reports.EXAMPLES]
    assert verdicts == [deciding.DO_NOT, deciding.KEPT, deciding.OPEN]


def test_the_first_report_is_the_audit_of_the_chapter():
    cells = nbformat.read(chapters.find(ROOT, "14").notebook, as_version=4).cells
    printed = "\n".join(str(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))
    summary = Report(reports.read(ROOT, "not-kept")).summary
    assert len(summary) > 4 and all(line in printed for line in summary)


def rates(content):
    found = {
        (row["attack"], row["owns"], row["told"]): row["value"]
        for row in content["words"]["attacks"]
        if row["group"] == "all"
    }
    return found | {"linked": content["linkage"]["main"]["value"], "length": content["linkage"]["length"]}


@pytest.mark.skipif(not FULL, reason="audits of a minute each: make test FULL=1")
@every
def test_an_audit_of_today_finds_what_is_stored(name, default_data):
    made, stored = reports.make(reports.EXAMPLES[name]).content, reports.read(ROOT, name)
    assert (
        made["decision"]["verdict"] == stored["decision"]["verdict"] and made["mechanism"] == stored["mechanism"]
    )
    assert rates(made) == pytest.approx(rates(stored), abs=0.02)  # arithmetic of another processor


def test_a_number_stands_at_each_place_that_the_page_explains(monkeypatch):
    content = reports.read(ROOT, "not-kept")
    page = reports.annotated(content)
    assert re.findall(r'class="callout">(\d)<', page) == [f"{n}" for n in range(1, len(reports.MARKS) + 1)]
    explained = re.findall(r"\{grid-item-card\} (\d) · ", PAGE)
    assert explained == [f"{n}" for n in range(1, len(reports.MARKS) + 1)]
    assert re.sub(r'<span class="callout">\d</span>|\n\.callout \{[^}]*\}\n', "", page) == Report(content).html()
    monkeypatch.setattr(reports, "MARKS", ("<h2>No such heading",))
    with pytest.raises(ValueError, match="No such heading"):
        reports.annotated(content)


def test_the_page_says_what_the_reports_say():
    """Read from the sentences of the verdicts, not from the fields that the page is filled from."""
    filled = front.fill(PAGE, ROOT)
    for name in ("not-kept", "kept"):
        (share,) = re.findall(r"recovers (\d+)", " ".join(reports.read(ROOT, name)["decision"]["reasons"]))
        assert f"ttackers recover {share} %" in filled
    about = reports.read(ROOT, "not-shown")["about"]
    assert f"{about['documents']} are too few" in filled and about["documents"] < deciding.FEW
    assert "{{" not in filled


def test_the_page_has_no_program_and_its_commands_can_be_typed():
    assert "```python" not in PAGE and "code-cell" not in PAGE
    blocks = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    names = []
    for block in blocks:
        program, name, *arguments = shlex.split(block.replace("\\\n", " "))
        assert program == "textsan" and max(map(len, block.splitlines())) <= 88
        command = main.get_command(click.Context(main), name)
        given = command.make_context(name, arguments).params  # an unknown option would be an error
        assert given["fields"] == ("review",)
        names.append(name)
    assert names == ["audit", "choose", "sanitize", "audit"]
