"""Make otter-grader's assignment of a master: a zip for students, a zip for the grader, and the solution."""

import copy
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import requires
from io import StringIO
from pathlib import Path

from textsan_book.course.master import Check, Master, role

ANSWER_SECONDS = 30  # that one check may take of a student's function; a loop costs that check alone
CHAPTERS_NEED = r"extra == .(book|models)\b"
KERNEL = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


def otter_source(master: Master):
    """Make the notebook that `otter assign` reads: raw cells around the master's answers, checks and texts.

    Seeds stand in the checks. Otter's own `seed` option is not used: it writes the grader's seed into every cell
    of a submission.
    """
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

    minor = ".".join(map(str, sys.version_info[:2]))
    requirements = [line for line in requires("textsan") or [] if ";" not in line]
    if master.graded:  # what chapters import
        requirements += [line.partition(";")[0] for line in requires("textsan") if re.search(CHAPTERS_NEED, line)]
    head = f"""\
# ASSIGNMENT CONFIG
name: {master.name}
export_cell: false
tests: {{ok_format: false}}
python_version: '{minor}'
requirements: {requirements}
autograder_files: [textsan, textsan_book]"""
    cells = [new_raw_cell(head)]
    for cell in master.cells:
        kind = role(cell)
        if kind is None:
            shown = copy.deepcopy(cell)
            tags = {"tags": ["parameters"]} if "parameters" in cell.metadata.get("tags", []) else {}
            shown.metadata = {"textsan": {}, **tags}
            cells.append(shown)
        elif kind == "answer":
            question = cell.metadata["answer"]
            answer = new_code_cell(cell.source, metadata={"textsan": {"answer": question}})
            checks = [check for check in master.checks if check.question == question]
            tests = [new_code_cell(_otter_test(master, check, number)) for number, check in enumerate(checks)]
            parts = [*_block("SOLUTION", [answer]), *_block("TESTS", tests)]
            cells += _block("QUESTION", parts, f"\nname: {question}")
        elif kind == "text":
            question = cell.metadata["text"]
            prompt = new_markdown_cell("*Your answer here.*", metadata={"textsan": {"text": question}})
            asked = cells.pop()  # otter locks the first cell of a question: the one that asks
            parts = [asked, *_block("PROMPT", [prompt]), *_block("SOLUTION", [new_markdown_cell(cell.source)])]
            about = f"\nname: {question}\nmanual: true\npoints: {cell.metadata['points']}"
            cells += _block("QUESTION", parts, about)
    return new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))


def _block(kind: str, cells: list, about: str = "") -> list:
    from nbformat.v4 import new_raw_cell

    return [new_raw_cell(f"# BEGIN {kind}{about}"), *cells, new_raw_cell(f"# END {kind}")]


def _otter_test(master: Master, check: Check, number: int) -> str:
    names = check.names
    given = ", ".join([str(ANSWER_SECONDS), *(f"{name}={name}" for name in names)])
    body = [f"    with checks.within({given}):", *(f"        {line}" for line in check.code.splitlines())]
    if master.graded and check.hidden:  # of another run of the notebook
        hidden = [one for one in master.checks if one.hidden]
        calls, names = [one.code for one in hidden], []
        body = [f"    checks.again.passes({hidden.index(check)}, {calls!r}, {master.graded!r})"]
    about = f"points: {check.points}\nhidden: {str(check.hidden).lower()}"
    config = f'""" # BEGIN TEST CONFIG\n{about}\n""" # END TEST CONFIG'
    head = f"def test_{check.question}_{number}({', '.join(names)}):\n    from textsan_book.course import checks\n"
    return "\n".join([config, head, *body])


def build(master: Master, out: Path) -> None:
    """Write otter-grader's assignment of a master under `out`; no network is needed.

    It gets `student/NAME.zip` with the notebook for students, `autograder/NAME.zip` for `otter grade`, `otter run`
    and Gradescope, and `solution/NAME.ipynb` with solutions, all checks and rubrics.
    """
    import nbformat

    for kind in ("student", "autograder", "solution"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _copy_packages(work, whole=bool(master.graded))
        source = work / f"{master.name}.ipynb"
        nbformat.write(otter_source(master), source)
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")  # what otter imports warns
            from otter.assign import main as assign

            assign(str(source), str(work / "made"), no_pdfs=True, no_run_tests=True)
        with zipfile.ZipFile(out / "student" / f"{master.name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(work / "made" / "student" / source.name, source.name)
        shutil.copy(work / "made" / "autograder" / source.name, out / "solution")
        (archive,) = (work / "made" / "autograder").glob("*.zip")
        shutil.copy(archive, out / "autograder" / f"{master.name}.zip")


def _copy_packages(work: Path, whole: bool) -> None:
    """Put the code that checks need beside the notebook: the grader's container installs neither package.

    A chapter needs the whole of `textsan_book`.
    """
    import textsan
    import textsan_book

    unused = shutil.ignore_patterns("__pycache__", "*.safetensors", "*.xz")
    shutil.copytree(Path(textsan.__file__).parent, work / "textsan", ignore=unused)
    if whole:
        shutil.copytree(Path(textsan_book.__file__).parent, work / "textsan_book", ignore=unused)
        return
    for part in ("__init__.py", "course/__init__.py", "course/checks"):
        source, target = Path(textsan_book.__file__).parent / part, work / "textsan_book" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
