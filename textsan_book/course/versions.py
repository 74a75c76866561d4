"""What a master becomes: the student's notebook, the solution, otter-grader's zip and nbgrader's tree.

One student notebook is read by all three graders: nbgrader by its cells' metadata, otter-grader by the tests in
its zip, `textsan course grade` by the master. Nothing here is written by hand twice.
"""

import copy
import os
import shutil
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from textsan_book.course.master import Master, role

KERNEL = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
_IMPORT = "from textsan_book.course import checks"


# Notebooks


def nbgrader_source(master: Master):
    """The notebook that `nbgrader generate_assignment` reads: solutions, hidden checks, and metadata for both."""
    import nbformat

    cells = []
    for number, cell in enumerate(master.cells):
        kind = role(cell)
        if kind == "wrong":
            continue
        new = copy.deepcopy(cell)
        new.metadata = {}
        if kind == "answer":
            _mark(new, cell.metadata["answer"], solution=True, answer=cell.metadata["answer"])
        elif kind == "check":
            question = cell.metadata["check"]
            new.source = f"{_IMPORT}\n\n{cell.source.strip()}"
            _mark(new, f"{question}-check-{number}", points=cell.metadata["points"], locked=True, check=question)
        elif kind == "hidden":
            question = cell.metadata["hidden"]
            new.source = _hidden(cell.source.strip(), question, master.seeds[1])
            _mark(new, f"{question}-hidden-{number}", points=cell.metadata["points"], locked=True, check=question)
        elif kind == "text":
            question = cell.metadata["text"]
            _mark(new, question, points=cell.metadata["points"], solution=True, text=question)
        new["id"] = f"{master.name[:2]}-{number}"
        cells.append(new)
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))
    notebook.metadata["textsan"] = {"assignment": master.name}
    notebook.metadata["otter"] = {"assignment_name": master.name}  # its zip wants that
    return notebook


def _mark(cell, grade_id: str, *, points=None, solution=False, locked=False, **ours) -> None:
    grader = {"grade_id": grade_id, "solution": solution, "grade": points is not None, "locked": locked}
    if points is not None:
        grader["points"] = points
    cell.metadata["nbgrader"] = {**grader, "schema_version": 3, "task": False}
    cell.metadata["textsan"] = ours


def _hidden(source: str, question: str, seed: int) -> str:
    return "\n".join(
        [
            f"# Hidden checks of {question} run here when it is graded.",
            "### BEGIN HIDDEN TESTS",
            _IMPORT,
            f"seed = {seed}",
            source,
            "### END HIDDEN TESTS",
        ]
    )


def otter_master(master: Master):
    """The notebook that `otter assign` reads: raw cells around the same answers and checks."""
    import nbformat

    new = nbformat.v4
    student, grader = master.seeds
    head = [
        "# ASSIGNMENT CONFIG",
        f"name: {master.name}",
        "export_cell: {pdf: false}",
        "tests: {ok_format: false}",
        f"seed: {{variable: seed, autograder_value: {grader}, student_value: {student}}}",
    ]
    cells, pending = [new.new_raw_cell("\n".join(head))], None
    by_question = {question: [] for question in master.answers}
    for cell in master.cells:
        kind = role(cell)
        if kind in ("check", "hidden"):
            by_question[cell.metadata[kind]].append(cell)
    for cell in master.cells:
        kind = role(cell)
        if kind is None:
            shown = copy.deepcopy(cell)
            shown.metadata = {}
            cells.append(shown)
        elif kind == "answer":
            pending = cell.metadata["answer"]
            answer = new.new_code_cell(cell.source, metadata={"textsan": {"answer": pending}})
            tests = [_otter_test(one, number) for number, one in enumerate(by_question[pending])]
            cells += [
                new.new_raw_cell(f"# BEGIN QUESTION\nname: {pending}"),
                *_block("SOLUTION", [answer]),
                *_block("TESTS", [new.new_code_cell(test) for test in tests]),
                new.new_raw_cell("# END QUESTION"),
            ]
        elif kind == "text":
            question = cell.metadata["text"]
            about = f"# BEGIN QUESTION\nname: {question}\nmanual: true\npoints: {cell.metadata['points']}"
            answer = new.new_markdown_cell(cell.source)
            cells += [new.new_raw_cell(about), *_block("SOLUTION", [answer]), new.new_raw_cell("# END QUESTION")]
    notebook = new.new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))
    notebook.metadata["textsan"] = {"assignment": master.name}
    return notebook


def _block(kind: str, cells: list) -> list:
    from nbformat.v4 import new_raw_cell

    return [new_raw_cell(f"# BEGIN {kind}"), *cells, new_raw_cell(f"# END {kind}")]


def _otter_test(cell, number: int) -> str:
    from textsan_book.course.master import Check

    kind = role(cell)
    check = Check(cell.metadata[kind], cell.metadata["points"], kind == "hidden", cell.source.strip())
    parameters = ", ".join([*check.names, "seed"])
    return "\n".join(
        [
            '""" # BEGIN TEST CONFIG',
            f"points: {check.points}",
            f"hidden: {str(check.hidden).lower()}",
            '""" # END TEST CONFIG',
            f"def test_{check.question}_{number}({parameters}):",
            f"    {_IMPORT}",
            *(f"    {line}" for line in check.source.splitlines()),
        ]
    )


# Files


def write_nbgrader_source(master: Master, tree: Path) -> Path:
    """Write a master into an nbgrader tree, as `source/<name>/<name>.ipynb`."""
    import nbformat

    target = tree / "source" / master.name / f"{master.name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbgrader_source(master), target)
    return target


def nbgrader_api(tree: Path):
    """nbgrader at work in a tree; its log stays in what its calls return."""
    import logging

    from traitlets.config import Config

    with quiet():
        from nbgrader.apps import NbGraderAPI

    # It calls alembic by its name, and an environment's programs may be run without being on the path.
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, [programs, os.environ.get("PATH")]))
    config = Config()
    config.CourseDirectory.root = str(tree.resolve())
    config.CourseDirectory.course_id = "textsan"
    config.CourseDirectory.db_url = f"sqlite:///{(tree / 'gradebook.db').resolve()}"
    config.Execute.timeout = 120
    api = NbGraderAPI(config=config)
    api.log.setLevel(logging.ERROR)
    return api


def release(master: Master, tree: Path) -> Path:
    """The student's notebook, as nbgrader makes it of the source in `tree`.

    Raises:
        RuntimeError: nbgrader refused; the message is its log.
    """
    with quiet():
        result = nbgrader_api(tree).generate_assignment(master.name)
    if not result["success"]:
        raise RuntimeError(f"nbgrader: {master.name}: {result.get('error', '')}{result.get('log', '')}")
    return tree / "release" / master.name / f"{master.name}.ipynb"


def otter_files(master: Master, folder: Path) -> Path:
    """otter-grader's `student` and `autograder` folders under `folder`; returns the autograder zip."""
    import nbformat

    work = folder / master.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source = work / f"{master.name}.ipynb"
    nbformat.write(otter_master(master), source)
    with quiet():
        from otter.assign import main as assign  # what it imports warns

        assign(str(source), str(work), no_pdfs=True, no_run_tests=True)
    source.unlink()
    (archive,) = (work / "autograder").glob("*.zip")
    return archive


@contextmanager
def quiet():
    """What graders and their kernels print and warn of is swallowed: their verdicts are files."""
    import warnings

    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)  # kernels write to the file itself
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def build(master: Master, out: Path) -> list[Path]:
    """Write all versions of a master under `out`.

    `student/NAME.ipynb` for students; `solution/NAME.ipynb`, `autograder/NAME.zip`, `otter/` and `nbgrader/` for
    instructors.

    Returns:
        The files a student may see.
    """
    import nbformat

    tree = out / "nbgrader"
    write_nbgrader_source(master, tree)
    released = release(master, tree)
    for name in ("student", "solution", "autograder"):
        (out / name).mkdir(parents=True, exist_ok=True)
    student = out / "student" / f"{master.name}.ipynb"
    shutil.copy(released, student)
    nbformat.write(nbgrader_source(master), out / "solution" / f"{master.name}.ipynb")
    archive = otter_files(master, out / "otter")
    shutil.copy(archive, out / "autograder" / f"{master.name}.zip")
    shown = out / "otter" / master.name / "student"
    return [student, released, *sorted(path for path in shown.rglob("*") if path.is_file())]
