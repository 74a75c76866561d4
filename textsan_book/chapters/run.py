"""Execute a chapter, store what it shows, and tell whether it must be executed again.

`notebooks/x.ipynb` is only ever written here, as a whole, after every cell has run. Its metadata hold the sha256
of its code cells and of each file of `data/` that it read; where one differs, the chapter is executed again.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from textsan.base import assets, extras, kernels
from textsan_book.chapters import compare, other_parameters
from textsan_book.chapters.chapters import (
    Chapter,
    check_size,
    checked_parameters,
    content,
    parameters,
    profile,
    read_notebook,
    read_text,
)
from textsan_book.chapters.findings import DEFAULTS

# What a chapter sees of its surroundings: stable hashes, and no progress bars, whose speeds would be stored.
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TQDM_DISABLE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Imported into a kernel, tqdm.auto asks for widgets that a static page has no use for.
    "PYTHONWARNINGS": "ignore:IProgress not found",
}
_KERNEL_CONFIGURATION = """\
c.InteractiveShellApp.extensions = ["figure_data"]
c.HistoryManager.enabled = False
"""


class ChapterError(RuntimeError):
    """A chapter did not run to its end; the message holds the failing cell and its traceback."""


@contextmanager
def surroundings(defaults: bool = False, arithmetic: str = kernels.PINNED) -> Iterator[dict[str, str]]:
    """Make the environment of kernels that run chapters, the reader's own IPython settings left out.

    They store the data of figures (`kernel/figure_data.py`) and write every file that they and their children read
    to the file that the variable `TEXTSAN_RECORD` names (`kernel/sitecustomize.py`). With `defaults` what a
    chapter finds must be found.
    """
    inside = str(Path(__file__).with_name("kernel"))
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        configuration = Path(folder, "profile_default", "ipython_kernel_config.py")
        configuration.parent.mkdir()
        configuration.write_text(_KERNEL_CONFIGURATION, encoding="utf-8")
        yield {
            **os.environ,
            **kernels.variables(arithmetic),
            **_ENVIRONMENT,
            **({DEFAULTS: "1", "CUDA_VISIBLE_DEVICES": ""} if defaults else {}),  # a GPU has kernels of its own
            "IPYTHONDIR": folder,
            "PYTHONPATH": os.pathsep.join(filter(None, [inside, os.environ.get("PYTHONPATH")])),
            "TEXTSAN_RECORD": str(Path(folder, "record")),
            other_parameters.MARKED: "1",
        }


def not_pinned() -> str:
    """Name the parts of a chapter's arithmetic that this machine does not pin: see `textsan.base.kernels.held`."""
    command = [sys.executable, "-c", "from textsan.base import kernels; print(kernels.held())"]
    environment = os.environ | kernels.variables()
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def _run_file(chapter: Chapter, label: dict) -> Path:
    suffix = re.sub(r"[^\w.=+-]+", "_", "".join(f"-{name}={value}" for name, value in label.items()))
    if len(suffix) > 100:
        suffix = f"{suffix[:80]}-{hashlib.sha256(suffix.encode()).hexdigest()[:8]}"
    file = chapter.root / "runs" / f"{chapter.name}{suffix}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _execute(chapter: Chapter, values: dict, output: Path) -> list[str]:
    """Execute a chapter into a file, which has what ran if a cell fails, and return the paths of files read."""
    from nbclient.exceptions import DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    where = output.relative_to(chapter.root)
    chapter.notebook.parent.mkdir(parents=True, exist_ok=True)
    try:
        with surroundings(defaults=not values) as variables, mock.patch.dict(os.environ, variables):
            execute_notebook(
                read_text(chapter),
                output,
                values,
                kernel_name="python3",
                cwd=chapter.notebook.parent,  # where nbval and Jupyter run it too
                progress_bar={"desc": chapter.name, "disable": False},
                extra_arguments=["--log-level=ERROR"],  # else each kernel warns that its sockets are plain
            )
            record = Path(variables["TEXTSAN_RECORD"]).read_text(encoding="utf-8", errors="surrogateescape")
    except PapermillExecutionError as error:
        trace, absent = "\n".join(error.traceback), re.match("No module named '(.+)'", error.evalue or "")
        if absent:  # of an extra, mostly: say which
            trace += f"\n\n{extras.missing(ModuleNotFoundError(error.evalue, name=absent[1]))}"
        raise ChapterError(
            f"{chapter.name}: cell {error.exec_count} failed\n\n{error.source}\n\n{trace}\n\nkept: {where}"
        ) from None
    except DeadKernelError:
        raise ChapterError(f"{chapter.name}: its kernel died (out of memory?); kept: {where}") from None
    return record.splitlines()


def run(chapter: Chapter, given: dict | None = None, profile_name: str = "quick") -> Path:
    """Execute a chapter with other parameters into `runs/`, with a banner; sources are never written.

    Given values win over the profile's. What had run is kept in `runs/` if a cell fails.
    """
    import nbformat

    given = given or {}
    values = checked_parameters(chapter, {**profile(chapter, profile_name), **given})
    if values:
        check_size(chapter, values)
    label = given if profile_name == "quick" else {"profile": profile_name, **given}
    output, defaults = _run_file(chapter, label), parameters(chapter)
    try:
        _execute(chapter, values, output)
    finally:
        others = {name: value for name, value in values.items() if value != defaults[name]}
        if others and output.is_file():
            notebook, *page = (read_notebook(path) for path in (output, chapter.notebook) if path.is_file())
            other_parameters.mark(notebook, others, *page)
            nbformat.write(notebook, output)
    return output


def _normalise(notebook):
    """Keep cells, outputs and counts; drop run times, paths and versions, which differ from run to run."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    }
    for cell in notebook.cells:
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        outputs = []
        for output in cell.get("outputs", []):
            # How prints are cut into messages is chance.
            if outputs and output.get("name") and output.get("name") == outputs[-1].get("name"):
                outputs[-1].text += output.text
            else:
                outputs.append(output)
        if cell.cell_type == "code":
            cell.outputs = outputs
    return notebook


def _code(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _take_outputs(notebook, stored, *, but_pictures: bool = False) -> None:
    """Give the code cells of `notebook` what those of `stored` show; maybe but for those that show a picture."""
    for cell, old in zip(_code(notebook), _code(stored), strict=True):
        if not (but_pictures and any(_is_picture(output) for output in cell.outputs)):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count


def _is_picture(output) -> bool:
    return any(kind.startswith("image/") for kind in output.get("data", {}))


def _shows_the_same(stored, notebook) -> bool:
    """Tell if two notebooks compare equal, and show every part in the same media types."""
    before, now = ([list(compare.shown(cell.outputs)) for cell in _code(half)] for half in (stored, notebook))
    return before == now and not compare.differences(stored, notebook)


def _write(chapter: Chapter, notebook) -> None:
    """Store a notebook, whole or not at all; a file that would stay as it is is left alone."""
    import nbformat

    text = nbformat.writes(notebook) + "\n"
    if chapter.notebook.is_file() and chapter.notebook.read_text(encoding="utf-8") == text:
        return
    partial = chapter.notebook.with_suffix(".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, chapter.notebook)


def refresh(chapter: Chapter, pictures: bool = False) -> bool:
    """Execute a chapter with its defaults, store its notebook, and tell if what it shows has changed.

    Outputs that compare equal to the stored ones are not replaced, so that an execution that confirms a notebook
    leaves it as it is. `pictures` are stored as they are drawn now; otherwise only where the cells or the tables
    are others. If a cell fails the stored notebook is as it was.
    """
    executed = _run_file(chapter, {})
    read = _execute(chapter, {}, executed)
    notebook = _normalise(read_notebook(executed))
    made = {"cells": cells_digest(notebook), "tables": tables(chapter.root, read)}
    if unpinned := not_pinned():
        made["not_pinned"] = unpinned
    stored = read_notebook(chapter.notebook) if chapter.notebook.is_file() else None
    same = stored is not None and _shows_the_same(stored, notebook)
    if same:
        _take_outputs(notebook, stored, but_pictures=pictures or stored.metadata.get("textsan") != made)
    notebook.metadata["textsan"] = made
    _write(chapter, notebook)
    executed.unlink()
    return not same


def cells_digest(notebook) -> str:
    """Hash a notebook's code cells, as they are written."""
    return hashlib.sha256(json.dumps([cell.source for cell in _code(notebook)]).encode()).hexdigest()


def tables(root: Path, read: Iterable[str]) -> dict[str, str]:
    """Hash the files of `data/` among those that a run read, by their place in the project."""
    data = root / "data"
    paths = {path for path in map(Path, read) if path.is_relative_to(data) and path.is_file()}
    return {path.relative_to(root).as_posix(): assets.file_sha256(path) for path in sorted(paths)}


def renew_text(chapter: Chapter) -> None:
    """Store the chapter's present text around the outputs that it has."""
    stored, notebook = read_notebook(chapter.notebook), _normalise(read_text(chapter))
    _take_outputs(notebook, stored)
    notebook.metadata["textsan"] = stored.metadata["textsan"]
    _write(chapter, notebook)


def stale_because(chapter: Chapter) -> list[str]:
    """List why the chapter must be executed again: its text, if code cells differ, and tables that do.

    The words around the code are no reason; see `text_changed`.
    """
    if not chapter.notebook.is_file():
        return ["never executed"]
    made = read_notebook(chapter.notebook).metadata.get("textsan", {})
    text = chapter.text.relative_to(chapter.root).as_posix()
    reasons = [] if made.get("cells") == cells_digest(read_text(chapter)) else [text]
    return reasons + other_tables(chapter)


def other_tables(chapter: Chapter) -> list[str]:
    """List the files of `data/` that the stored run read and that have another content now, or are gone."""
    made = read_notebook(chapter.notebook).metadata.get("textsan", {}).get("tables", {})
    now = tables(chapter.root, [str(chapter.root / name) for name in made])
    return [name for name, digest in made.items() if now.get(name) != digest]


def text_changed(chapter: Chapter) -> bool:
    """Tell if the stored notebook has other cells than the text, be it words, layout or tags."""
    return content(read_notebook(chapter.notebook)) != content(read_text(chapter))
