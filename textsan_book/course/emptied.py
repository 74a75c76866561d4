"""Assignments that are a chapter's own notebook with cells emptied, graded with another corpus and seed.

In the chapter the cells have the tag `assignment`; what is asked of them, the lines that are left out and the
checks are in a file of `book/course/chapters/`. No copy of the chapter is kept.
"""

import ast
import re
from pathlib import Path

from textsan_book.chapters import chapters
from textsan_book.course.master import BEGIN, END, Master, MasterError

TAG = "assignment"
HEAD = """\
*An assignment.* In {number} cells of this chapter lines are left out. Write them, and leave other cells as they
are. Your notebook is graded with another corpus and seed, too: compute from the parameters at its top. Work in the
folder `notebooks/` of a clone of the book."""


def read(path: Path) -> Master:
    """Read a chapter as an assignment, from the file of `book/course/chapters` that says what is asked.

    MasterError says that the chapter has other marked cells than the file has questions, or that lines are not
    found.
    """
    import yaml
    from nbformat.v4 import new_markdown_cell

    about = yaml.safe_load(path.read_text(encoding="utf-8"))
    chapter = chapters.find(chapters.project_root(path.parent), about["chapters"][0])
    own = chapters.parameters(chapter)
    graded = chapters.checked_parameters(chapter, about["graded"])
    if {"dataset", "seed"} - {name for name in graded if graded[name] != own[name]}:
        raise MasterError(f"{path.name}: graded: dataset and seed must differ from the chapter's")
    questions, cells = list(about["questions"].items()), []
    for cell in chapters.read_text(chapter).cells:
        if TAG not in cell.metadata.get("tags", []):
            cells.append(cell)
            continue
        if not questions:
            raise MasterError(f"{path.name}: more cells of the chapter have the tag {TAG}")
        name, asked = questions.pop(0)
        cells += _question(path.name, name, asked, cell.source, own, own | graded)
    if questions:
        raise MasterError(f"{path.name}: no cell of the chapter has the tag {TAG} for {questions[0][0]}")
    cells.insert(1, new_markdown_cell(HEAD.format(number=len(about["questions"]))))
    seeds = {"student": own["seed"], "grader": graded["seed"]}
    return Master(path.stem, cells, {**about, "graded": graded, "seed": seeds})


def _question(file: str, name: str, asked: dict, source: str, own: dict, graded: dict) -> list:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    points, caught = asked["points"], ast.parse(asked["check"].strip()).body[0].value.func.attr
    cells = [
        new_markdown_cell(f"**Question {name}** ({2 * points} points). {asked['task'].strip()}"),
        new_code_cell(_marked(file, source, asked), metadata={"answer": name}),
    ]
    for kind, values in (("check", own), ("hidden", graded)):
        cells.append(new_code_cell(_filled(asked["check"], values), metadata={kind: name, "points": points}))
    for what, (before, after) in asked["wrong"].items():
        if source.count(before) != 1:
            raise MasterError(f"{file}: {name}: wrong: {what}: {before!r} must be in the cell once")
        metadata = {"wrong": name, "name": what, "caught": caught}
        cells.append(new_code_cell(source.replace(before, after), metadata=metadata))
    return cells


def _marked(file: str, source: str, asked: dict) -> str:
    """The cell with marks around the lines to be left out, which begin with `from` and end with `to`."""
    lines, ends = source.splitlines(), []
    for key in ("from", "to"):
        found = [n for n, line in enumerate(lines) if line.startswith(asked[key])]
        if len(found) != 1:
            raise MasterError(f"{file}: {key}: {len(found)} lines of the cell begin with {asked[key]!r}, not one")
        ends += found
    start, stop = ends
    indent = re.match(" *", lines[start])[0]
    return "\n".join([*lines[:start], indent + BEGIN, *lines[start : stop + 1], indent + END, *lines[stop + 1 :]])


def _filled(call: str, values: dict) -> str:
    """The call with every `name=name` of a parameter filled in, but for the seed, which a cohort changes."""

    def value(match):
        return f"{match[1]}={values[match[1]]!r}" if match[1] in values and match[1] != "seed" else match[0]

    return re.sub(r"\b(\w+)=\1\b", value, " ".join(call.split()))
