"""Points for a submission, in a process of its own: one line a check, one line for what is no submission."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textsan_book.course import master as masters
from textsan_book.course.master import Check, Master
from textsan_book.course.sandbox import AnswerError, Pen, Submission

SECONDS = 120.0  # that a submission's cells and the calls of its checks have together


class NoSubmission(ValueError):
    """A file that is no submission; the message is one line."""


@dataclass(frozen=True)
class Mark:
    """One check's verdict: its points, those earned, and what a student reads."""

    check: Check
    earned: float
    message: str


@dataclass(frozen=True)
class Grade:
    """What a submission got.

    Args:
        who: the file's name without its ending.
        assignment: the master's name.
        marks: one a check.
        remarks: cells that failed, missing cells: a line each.
        texts: what was written to questions that a person grades, by question.
    """

    who: str
    assignment: str
    marks: list[Mark]
    remarks: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def earned(self) -> float:
        return sum(mark.earned for mark in self.marks)

    @property
    def possible(self) -> float:
        return sum(mark.check.points for mark in self.marks)

    def lines(self) -> list[str]:
        """One line a check that failed or remark, then the sum."""
        failed = [
            f"  {mark.check.question} ({'hidden' if mark.check.hidden else mark.check.name}): {mark.message}"
            for mark in self.marks
            if not mark.earned
        ]
        total = f"{self.who}: {self.earned:g} of {self.possible:g} points of {self.assignment}"
        return [total, *(f"  {remark}" for remark in self.remarks), *failed]


def marks(master: Master, submission: Submission, *, seed: int, only: list[Check] | None = None) -> list[Mark]:
    """The verdict of every check on a running submission.

    Args:
        master: the assignment.
        submission: its running answers.
        seed: what `seed` means in checks.
        only: these checks alone.
    """
    return [_mark(check, submission, seed) for check in (master.checks if only is None else only)]


def _mark(check: Check, submission: Submission, seed: int) -> Mark:
    from textsan_book.course import checks

    try:
        names = {name: submission.get(name) for name in check.names}
        with np.errstate(all="ignore"):  # a wrong answer may overflow; its sentence is what counts
            eval(compile(check.source, check.name, "eval"), {"checks": checks, "seed": seed, **names})
    except (AssertionError, AnswerError) as error:
        cause = submission.errors.get(check.question)
        return Mark(check, 0, cause or str(error))
    except Exception as error:  # a check met a value that it did not think of: the student's, so no grade is lost
        return Mark(
            check, 0, f"the answer cannot be checked: {type(error).__name__}: {' '.join(str(error).split())}"
        )
    return Mark(check, check.points, "")


def grade(
    path: Path,
    *,
    pen: Pen,
    folder: Path | None = None,
    name: str | None = None,
    seconds: float = SECONDS,
    cohort: int | None = None,
) -> Grade:
    """Grade one submission.

    Args:
        path: an `.ipynb` made from a student version, whatever became of it.
        pen: where it runs.
        folder: the masters.
        name: its assignment; by default what the notebook says.
        seconds: the time that it has.
        cohort: the seed that its student version was built with; None for the master's own.

    Raises:
        NoSubmission: the file is none.
    """
    notebook = read_submission(path)
    name = name or notebook.metadata.get("textsan", {}).get("assignment")
    if not isinstance(name, str):
        raise NoSubmission(f"{path}: it does not say which assignment it is; name it with --assignment")
    try:
        master = masters.find(name, folder)
    except KeyError as error:
        raise NoSubmission(f"{path}: no submission: {error.args[0]}") from None
    master = master if cohort is None else master.for_cohort(cohort)
    cells, remarks = submitted_cells(notebook, master)
    with pen.run(cells, seconds=seconds) as submission:
        done = marks(master, submission, seed=master.seeds[1])
        known = set(master.answers)
        remarks += [f"{where}: {line}" for where, line in submission.errors.items() if where not in known]
    return Grade(path.stem, master.name, done, remarks, _texts(notebook))


def grade_all(paths: Sequence[Path], *, say=lambda line: None, **settings) -> tuple[list[Grade], list[str]]:
    """Grade many; one that is broken costs nobody else a grade.

    Args:
        paths: notebooks, or folders of them.
        say: takes each line as it is known.
        settings: as `grade` has them.

    Returns:
        The grades, and a line for each file that is no submission.
    """
    grades, broken = [], []
    with Pen() as pen:
        if not (pen.own_network and pen.confined):
            say("note: no network namespace or no Landlock here: Python's audit hook alone holds submissions")
        for path in notebooks(paths):
            try:
                grades.append(grade(path, pen=pen, **settings))
                lines = grades[-1].lines()
            except NoSubmission as error:
                broken.append(str(error))
                lines = [str(error)]
            for line in lines:
                say(line)
    return grades, broken


def notebooks(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and the notebooks of folders, sorted."""
    found = []
    for path in paths:
        inside = [one for one in sorted(path.rglob("*")) if one.is_file()] if path.is_dir() else [path]
        found += [one for one in inside if not path.is_dir() or one.suffix == ".ipynb"]
    return found


def write_table(grades: Sequence[Grade], broken: Sequence[str], path: Path) -> None:
    """A row a submission: who, assignment, points, and what was said; those that are none get 0 and their line."""
    rows = [("who", "assignment", "earned", "possible", "said")]
    for one in grades:
        said = " | ".join(map(str.strip, one.lines()[1:]))
        rows.append((one.who, one.assignment, one.earned, one.possible, said))
    rows += [(Path(line.partition(": ")[0]).stem, "", 0, "", line) for line in broken]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def read_submission(path: Path):
    """A notebook, or one line on why it is none.

    Raises:
        NoSubmission: it is missing, no notebook, or has no code.
    """
    import nbformat

    if path.suffix != ".ipynb" or not path.is_file():
        raise NoSubmission(f"{path}: no submission: a notebook (.ipynb) is wanted")
    try:
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    except Exception as error:
        reason = " ".join(str(error).split())[:100]
        raise NoSubmission(f"{path}: no submission: it is no notebook ({reason})") from None
    if not code:
        raise NoSubmission(f"{path}: no submission: it has no code")
    return notebook


def submitted_cells(notebook, master: Master) -> tuple[list[tuple[str | None, str]], list[str]]:
    """The cells to run, in order and with the grader's seed, and a line for each answer cell that is missing."""
    student, grader = master.seeds
    cells = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or is_grader_cell(cell):
            continue
        lines = [line for line in cell.source.splitlines() if not line.lstrip().startswith(("%", "!", "?"))]
        source = "\n".join(f"seed = {grader}" if line == f"seed = {student}" else line for line in lines)
        cells.append((cell.metadata.get("textsan", {}).get("answer"), source))
    there = {question for question, _ in cells}
    missing = [f"{question}: its cell is missing" for question in master.answers if question not in there]
    return cells, missing


def is_grader_cell(cell) -> bool:
    """Whether a cell holds checks, or calls of a grader: those are not the student's, and are left out."""
    ours = cell.metadata.get("textsan", {}).get("check")
    return bool(ours) or cell.source.startswith(("# Initialize Otter", "grader."))


def _texts(notebook) -> dict[str, str]:
    return {
        cell.metadata["textsan"]["text"]: cell.source
        for cell in notebook.cells
        if cell.metadata.get("textsan", {}).get("text")
    }
