"""Chapters as assignments: cells are emptied as the file says, graded elsewhere, and mistakes are named."""

import os
from pathlib import Path

import pytest
import yaml
from nbformat.v4 import new_code_cell

from textsan_book.chapters import chapters
from textsan_book.course import emptied, master, verify, versions
from textsan_book.course.checks import again
from textsan_book.course.master import BEGIN, END, MasterError, stripped

ROOT = Path(__file__).parents[1]
MASTERS = ROOT / "book" / "course" / "masters"
FILES = sorted((ROOT / "book" / "course" / "chapters").glob("*.yml"))
PAGE = (ROOT / "book" / "pages" / "course-instructors.md").read_text(encoding="utf-8")
FULL = bool(os.environ.get("TEXTSAN_FULL"))


def test_the_last_hidden_check_asks_what_no_visible_one_does():
    for path in master.masters(MASTERS):
        one = master.read(path)
        for question in one.answers:
            visible = {check.name for check in one.checks if check.question == question and not check.hidden}
            hidden = {check.name for check in one.checks if check.question == question and check.hidden}
            assert hidden and not visible & hidden, (path.name, question)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:3])
def test_a_chapter_is_emptied_where_its_file_says_and_nowhere_else(path):
    one = master.read(path)
    chapter = chapters.find(ROOT, one.about["chapters"][0])
    own = [cell.source for cell in chapters.read_text(chapter).cells if cell.cell_type == "code"]
    marks = {BEGIN, END}
    written = [
        "\n".join(line for line in cell.source.splitlines() if line.strip() not in marks)
        for cell in one.cells
        if cell.cell_type == "code" and master.role(cell) in (None, "answer")
    ]
    assert written == own and 2 <= len(one.answers) <= 4
    student, grader = one.seeds
    assert student == chapters.parameters(chapter)["seed"] != grader
    for name, source in one.answers.items():
        assert stripped(source) != source and "..." in stripped(source)
        assert len([wrong for wrong in one.wrong if wrong.question == name]) in (1, 2)
        visible, hidden = (check for check in one.checks if check.question == name)
        assert visible.code != hidden.code and "=seed" not in hidden.code
        assert hidden.name == visible.name and not visible.hidden
    assert one.for_cohort(3).seeds[0] == student and one.for_cohort(3).graded["seed"] != grader
    assert f"| {path.stem[:3]} {one.about['title']} |" in PAGE


@pytest.mark.parametrize(
    "where, value, said",
    [
        (("questions", "q1", "from"), "no such line", "0 lines of the cell begin with 'no such line'"),
        (("questions", "q1", "wrong"), {"odd": ["no such code", ""]}, "'no such code' must be in the cell once"),
        (("graded", "seed"), 0, "dataset and seed must differ"),
        (("questions", "q3"), {}, "no cell of the chapter has the tag assignment for q3"),
        (("questions", "q2"), None, "more cells of the chapter have the tag"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, monkeypatch, where, value, said):
    about = yaml.safe_load(FILES[0].read_text(encoding="utf-8"))
    *folders, last = where
    inner = about
    for name in folders:
        inner = inner[name]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    monkeypatch.setattr(chapters, "project_root", lambda *_: ROOT)
    path = tmp_path / FILES[0].name
    path.write_text(yaml.safe_dump(about, sort_keys=False), encoding="utf-8")
    with pytest.raises(MasterError, match=said):
        emptied.read(path)


SOLUTION = """\
def largest(success, L):
    def over(e):
        return linkage_limit(e, L, candidates).value - success
    return brentq(over, 1e-6, 50) if success > 1 / candidates else float("nan")"""


def cells(answer):
    begin = "from scipy.optimize import brentq\nfrom textsan.leakage import linkage_limit\ncandidates = 10"
    return [
        new_code_cell(begin, metadata={"tags": ["parameters"]}),
        new_code_cell("1 / 0"),
        new_code_cell(answer, metadata={"textsan": {"answer": "q1"}}),
        new_code_cell("raise SystemExit('cells below the last answer are not run')"),
    ]


def test_a_notebook_is_run_with_other_parameters_and_a_cell_that_fails_leaves_the_others():
    call = "checks.chapters.limit_is_reached(largest, seed=3, candidates=60)"
    fixed = SOLUTION.replace("candidates)", "10)")
    tried = {"q1": [(source, call) for source in (SOLUTION, fixed, "largest = (")]}
    (why,), beside = again.run(cells(SOLUTION), {"candidates": 60}, [call], tried)
    assert why == ""
    right, other, broken = beside["q1"]
    assert right == "" and "the limit is another success" in other
    assert "there is no `largest` yet" in broken


def test_hidden_tests_run_the_notebook_again_and_packages_lie_beside_it():
    one = master.find("c03", MASTERS)
    sources = [cell.source for cell in versions.otter_source(one).cells]
    (hidden,) = [source for source in sources if "checks.again.passes(0, " in source]
    assert "hidden: true" in hidden and "'dataset': 'amazon'" in hidden and "def test_q1_1():" in hidden
    assert any("papermill" in source and "autograder_files" in source for source in sources)
    tagged = [cell for cell in versions.otter_source(one).cells if "parameters" in cell.metadata.get("tags", [])]
    assert [cell.source.partition(" ")[0] for cell in tagged] == ["dataset"]


@pytest.mark.skipif(not FULL, reason="minutes; set TEXTSAN_FULL=1")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:3])
def test_otter_grades_a_chapter(path, tmp_path):
    proof = verify.Proof(path.stem)
    verify._zips_are_right(master.read(path), tmp_path, proof)
    assert proof.faults == []
