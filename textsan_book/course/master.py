"""Masters: one notebook an assignment, with text, solutions, checks, wrong answers and rubrics.

What a cell is for stands in its metadata: `answer`, `check` or `hidden` with the name of a question, `wrong` for
an answer that must be caught, `text` for a question that a person grades. Cells without one are seen by all.
"""

import ast
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from textsan_book.chapters.chapters import project_root

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"
ROLES = ("answer", "check", "hidden", "wrong", "text")


class MasterError(ValueError):
    """A master that cannot be read; the message names the file, the cell and what to do."""


@dataclass(frozen=True)
class Check:
    """One call of a function of `checks`, e.g. `checks.channels.rows_sum_to_one(response, seed=seed)`.

    `seed=seed` means the student's if they see it, else the grader's.
    """

    question: str
    points: float
    hidden: bool
    source: str
    seed: int

    @property
    def call(self) -> ast.Call:
        return ast.parse(self.source).body[0].value

    @property
    def code(self) -> str:
        """The call with its seed written out, so that no variable of a submission decides or tells it."""
        return self.source.replace("seed=seed", f"seed={self.seed}")

    @property
    def name(self) -> str:
        """The check function's own name."""
        return self.call.func.attr

    @property
    def names(self) -> list[str]:
        """The names of the notebook that the call uses, `seed` left out."""
        used = {node.id for node in ast.walk(self.call) if isinstance(node, ast.Name)}
        return sorted(used - {"checks", "seed"})


@dataclass(frozen=True)
class Wrong:
    """A wrong answer to a question, and the check that has to catch it."""

    question: str
    name: str
    caught: str
    source: str


@dataclass(frozen=True)
class Master:
    """One assignment as its master has it: name, all cells in order, and what the head of the file says."""

    name: str
    cells: list = field(repr=False)
    about: dict = field(repr=False)

    @property
    def seeds(self) -> tuple[int, int]:
        """The student's seed and the grader's."""
        return self.about["seed"]["student"], self.about["seed"]["grader"]

    def for_cohort(self, seed: int) -> "Master":
        """Give the assignment seeds of a cohort's own, for visible checks and for hidden ones."""
        student, grader = np.random.SeedSequence([seed, self.seeds[1]]).generate_state(2) % 90_000 + 10_000
        if self.graded:  # the student's seed stands in the chapter
            student = self.seeds[0]
        return replace(self, about={**self.about, "seed": {"student": int(student), "grader": int(grader)}})

    @property
    def graded(self) -> dict:
        """Parameters that a chapter's notebook is graded with; empty for a master."""
        return {**self.about["graded"], "seed": self.seeds[1]} if "graded" in self.about else {}

    @property
    def answers(self) -> dict[str, str]:
        """The code of each question's answer cell, solution included, by question."""
        return {cell.metadata["answer"]: cell.source for cell in self.cells if role(cell) == "answer"}

    @property
    def checks(self) -> list[Check]:
        """All checks, in order."""
        return [
            Check(
                cell.metadata[kind],
                cell.metadata["points"],
                kind == "hidden",
                cell.source.strip(),
                self.seeds[kind == "hidden"],
            )
            for cell in self.cells
            if (kind := role(cell)) in ("check", "hidden")
        ]

    @property
    def wrong(self) -> list[Wrong]:
        """The planted wrong answers."""
        return [
            Wrong(cell.metadata["wrong"], cell.metadata["name"], cell.metadata["caught"], cell.source)
            for cell in self.cells
            if role(cell) == "wrong"
        ]

    @property
    def possible(self) -> float:
        """Points that checks give."""
        return sum(check.points for check in self.checks)

    def code(self, answers: dict[str, str] | None = None) -> list[tuple[str | None, str]]:
        """List (question or None, source) of each code cell that is no check; some answers in place of its own."""
        replaced = answers or {}
        return [
            (cell.metadata.get("answer"), replaced.get(cell.metadata.get("answer"), cell.source))
            for cell in self.cells
            if cell.cell_type == "code" and role(cell) in (None, "answer")
        ]


def role(cell) -> str | None:
    """Read the role of a cell of a master: one of `ROLES`, or None for what everybody sees."""
    return next((kind for kind in ROLES if kind in cell.metadata), None)


def stripped(source: str) -> str:
    """Return an answer cell without its solution.

    >>> print(stripped("def one():\\n    # BEGIN SOLUTION\\n    return 1\\n    # END SOLUTION"))
    def one():
        ...
    """
    return re.sub(rf"^( *){BEGIN}.*?{END}", r"\1...", source, flags=re.M | re.S)


def solution_lines(master: Master) -> list[str]:
    """Collect lines of solutions, hidden checks, wrong answers and rubrics, if they say something of their own."""
    secret = []
    for cell in master.cells:
        kind = role(cell)
        if kind == "answer":
            for block in re.findall(rf"{BEGIN}\n(.*?){END}", cell.source, flags=re.S):
                secret += block.splitlines()
        elif kind in ("hidden", "wrong", "text"):
            secret += cell.source.splitlines()
    shown = {
        line.strip()
        for cell in master.cells
        if role(cell) in (None, "check", "answer")
        for line in stripped(cell.source).splitlines()
    }
    return sorted({line.strip() for line in secret if len(line.strip()) >= 16} - shown)


def masters(folder: Path | None = None) -> list[Path]:
    """List the files of all masters in a folder, by default `book/course/masters` of the project, by name."""
    folder = Path(folder) if folder else project_root() / "book" / "course" / "masters"
    files = sorted(folder.glob("*.md"))
    if not files:
        raise FileNotFoundError(f"masters: {folder} holds no master (*.md); name their folder with --masters")
    return files


def assignments(folder: Path | None = None) -> list[Path]:
    """List the files of all masters, and after them those of `chapters` beside their folder: see `emptied`."""
    paths = masters(folder)
    return paths + sorted(paths[0].parents[1].glob("chapters/*.yml"))


def find(name: str, folder: Path | None = None) -> Master:
    """Read the one assignment of that name, number or start of name."""
    known = assignments(folder)
    matching = [path for path in known if path.stem == name or path.stem.startswith(f"{name}-")]
    if len(matching) != 1:
        raise KeyError(f"assignment: {name!r} is none; choose from {', '.join(path.stem for path in known)}")
    return read(matching[0])


def read(path: Path, *, full: bool = True) -> Master:
    """Read a master, or what is asked of a chapter.

    With `full` corpora have the size that students have; else the verifier's. In checks it replaces `size=size`.
    """
    import jupytext

    if path.suffix == ".yml":
        from textsan_book.course import emptied

        return emptied.read(path)
    notebook = jupytext.read(path, fmt="md:myst")
    about = notebook.metadata.get("course")
    if not about:
        raise MasterError(f"{path.name}: its head has no `course:`")
    for wanted in ("title", "part", "chapters", "minutes", "seed"):
        if wanted not in about:
            raise MasterError(f"{path.name}: course: {wanted} is missing in its head")
    if about["seed"]["student"] == about["seed"]["grader"]:
        raise MasterError(f"{path.name}: course: seed: student and grader must differ")
    cells = [cell for cell in notebook.cells if cell.source.strip()]
    size = about.get("size", {}).get("full" if full else "verify")
    for cell in cells:
        if role(cell) in ("check", "hidden"):
            cell.source = cell.source.replace("size=size", f"size={size}")
    master = Master(path.stem, cells, dict(about))
    _check_cells(path.name, master)
    return master


def _check_cells(file: str, master: Master) -> None:
    known = master.answers
    for number, cell in enumerate(master.cells, start=1):
        kind, where = role(cell), f"{file}: cell {number}"
        if kind == "answer" and (BEGIN not in cell.source or END not in cell.source):
            raise MasterError(f"{where}: an answer needs the lines {BEGIN} and {END}")
        if kind in ("check", "hidden", "wrong") and cell.metadata[kind] not in known:
            raise MasterError(
                f"{where}: {kind}: {cell.metadata[kind]!r} is no question; known: {', '.join(known)}"
            )
        if kind in ("check", "hidden", "text") and not cell.metadata.get("points", 0) > 0:
            raise MasterError(f"{where}: {kind}: points must be a number above 0")
        if kind in ("check", "hidden"):
            _check_call(where, cell.source)
        if kind == "wrong" and not {"name", "caught"} <= set(cell.metadata):
            raise MasterError(f"{where}: wrong: give its name, and the check that it is caught by")


def _check_call(where: str, source: str) -> None:
    message = f"{where}: a check is one call such as checks.module.function(answer, seed=seed)"
    try:
        (statement,) = ast.parse(source).body
    except (SyntaxError, ValueError):
        raise MasterError(message) from None
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).startswith("checks."):
        raise MasterError(message)
    if "seed=seed" not in source:
        raise MasterError(f"{where}: a check is given its seed by the words seed=seed")
