"""Run a chapter's notebook that was handed in with another corpus and seed, and check what it computes there."""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

CELL_SECONDS, RUN_SECONDS = 300, 900  # that one cell may take, and all of them
TRIED_SECONDS = 15  # that a source that is tried may take, and its check
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # else runs side by side wait for each other
_MARK, _OURS = "checks say: ", "from textsan_book.course.checks import again as _again\n_again."


def run(
    cells: Sequence,
    parameters: Mapping[str, object],
    calls: Sequence[str],
    tried: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> tuple[list[str], dict[str, list[str]]]:
    """Run cells in the current folder through papermill, up to the last answer, and check what they compute.

    A cell that fails leaves the others: the checks say what is missing. Cells with answers have in their metadata
    `textsan: {answer: NAME}`; calls read `checks.module.function(answer, seed=1)`. What is tried by answer, other
    sources with a call each, runs beside the notebook's own cell, in a copy of what there is before it. For each
    call why it failed, or nothing.
    """
    import nbformat

    again = nbformat.v4.new_notebook(cells=list(_cells(cells, calls, tried or {})))
    with tempfile.TemporaryDirectory() as out:
        given, done = Path(out, "given.ipynb"), Path(out, "done.ipynb")
        nbformat.write(again, given)
        command = [sys.executable, "-m", "papermill", str(given), str(done), "-y", json.dumps(dict(parameters))]
        command += ["-k", "python3", "-l", "python", "--no-progress-bar", "--execution-timeout", str(CELL_SECONDS)]
        try:
            limits = {"capture_output": True, "text": True, "timeout": RUN_SECONDS}
            said = subprocess.run(command, env=os.environ | _ONE_THREAD, **limits).stderr
            outputs = nbformat.read(done, as_version=4).cells[-1].outputs
            (line,) = [output.text for output in outputs if output.get("text", "").startswith(_MARK)]
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            why = str(error) if isinstance(error, subprocess.TimeoutExpired) else said.strip()
            raise RuntimeError(f"papermill: {why[-300:]}") from None
    return tuple(json.loads(line.removeprefix(_MARK)))


def _cells(cells, calls, tried):
    from nbformat.v4 import new_code_cell

    own = [cell.metadata.get("textsan", {}).get("answer") for cell in cells]
    last = max((place for place, name in enumerate(own) if name), default=-1)
    for cell, name in zip(cells[: last + 1], own, strict=False):
        if cell.cell_type != "code" or (not name and re.search(r"\bgrader\b", cell.source)):
            continue
        for source, call in tried.get(name, []):
            yield new_code_cell(f"{_OURS}beside(globals(), {name!r}, {source!r}, {call!r})")
        tags = [*cell.metadata.get("tags", []), "raises-exception"]
        yield new_code_cell(cell.source, metadata={"tags": tags})
    yield new_code_cell(f"{_OURS}report(globals(), {list(calls)!r})")


_beside: dict[str, list[str]] = {}


def beside(names: dict, answer: str, source: str, call: str) -> None:
    """Run a source in a copy of a notebook's names, and a check after it. Cells of `run` call it."""
    from textsan_book.course.checks import within

    copied = dict(names)
    try:
        with redirect_stdout(StringIO()), within(TRIED_SECONDS):
            exec(source, copied)
    except Exception:  # as in a cell: the check says what is missing
        pass
    _beside.setdefault(answer, []).append(failure(copied, call, TRIED_SECONDS))


def report(names: dict, calls: Sequence[str]) -> None:
    """Print why each check fails. The last cell of `run` calls it."""
    print(_MARK + json.dumps([[failure(names, call) for call in calls], _beside]))


def failure(names: Mapping, call: str, seconds: float = CELL_SECONDS) -> str:
    """Say why a check fails with the names of a notebook, or nothing."""
    from textsan_book.course import checks

    used = {node.id for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)}
    try:
        answers = {name: names.get(name) for name in used - {"checks"}}
        with warnings.catch_warnings(), checks.within(seconds, **answers):
            warnings.simplefilter("ignore")
            eval(call, answers | {"checks": checks})
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ""


@cache
def _handed_in(parameters: str, calls: tuple[str, ...]) -> list[str]:
    import nbformat

    (path,) = Path.cwd().glob("*.ipynb")
    return run(nbformat.read(path, as_version=4).cells, json.loads(parameters), calls)[0]


def passes(number: int, calls: Sequence[str], parameters: Mapping[str, object]) -> None:
    """Fail with what one of the hidden checks says of the notebook in this folder, run with these parameters.

    The notebook is run once for all of them.
    """
    why = _handed_in(json.dumps(dict(parameters)), tuple(calls))[number]
    assert not why, why
