"""Chapters: find one, read its parameters, execute it, and say whether its stored result is still good.

`book/x.md` is the text and is edited by hand; `notebooks/x.ipynb` is the same cells with what they printed and
is only ever written here, as a whole, after every cell has run. Which text, code and tables a result came from is
kept in the notebook as a hash, so a fresh clone knows what is fresh; file times are never looked at.
"""

import ast
import hashlib
import math
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from textsan.text import checks, corpora

# What a chapter sees of its surroundings: stable hashes, and no progress bars, whose speeds would be stored.
KERNEL_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TQDM_DISABLE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Imported into a kernel, tqdm.auto asks for widgets that a static page has no use for.
    "PYTHONWARNINGS": "ignore:IProgress not found",
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait actively starve whatever else runs on two cores
}
# Modules that only run chapters; every other module may change what a chapter prints.
_TOOLING = {"book", "cli"}
_PACKAGE = Path(__file__).parents[1]


class ChapterError(RuntimeError):
    """A chapter did not run to its end; the message holds the failing cell and its traceback."""


@dataclass(frozen=True)
class Chapter:
    """One chapter of the project in folder `root`, e.g. `Chapter(root, "02-a-sanitizer-is-a-channel")`."""

    root: Path
    name: str

    @property
    def text(self) -> Path:
        return self.root / "book" / f"{self.name}.md"

    @property
    def notebook(self) -> Path:
        return self.root / "notebooks" / f"{self.name}.ipynb"


def project_root(start: Path | None = None) -> Path:
    """The folder at or above `start` (the current folder) that holds the book's `_toc.yml`.

    Raises:
        FileNotFoundError: there is none.
    """
    start = Path(start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "_toc.yml").is_file() and (folder / "book").is_dir():
            return folder
    raise FileNotFoundError("no book here: run this in the project's folder, the one that holds _toc.yml")


def chapters(root: Path) -> list[Chapter]:
    """All chapters under `root`, in reading order."""
    return [Chapter(root, name) for name in sorted(path.stem for path in (root / "book").glob("*.md"))]


def find(root: Path, wanted: str) -> Chapter:
    """The one chapter whose number (`3`, `03`), name or start of name is `wanted`.

    Raises:
        KeyError: no chapter, or more than one, is meant.
    """
    known = chapters(root)
    prefix = f"{int(wanted):02d}-" if wanted.isdecimal() else wanted.removesuffix(".md").removesuffix(".ipynb")
    exact = [chapter for chapter in known if chapter.name == prefix]
    found = exact or [chapter for chapter in known if prefix and chapter.name.startswith(prefix)]
    if len(found) != 1:
        problem = "means more than one chapter" if found else "is no chapter"
        names = ", ".join(chapter.name for chapter in found or known)
        raise KeyError(f"chapter: {wanted!r} {problem}; choose from {names}")
    return found[0]


def read_text(chapter: Chapter):
    """The chapter's cells as a notebook without outputs; cell ids follow from the sources, so diffs stay small."""
    import jupytext

    notebook = jupytext.read(chapter.text, fmt="md:myst")
    seen: set[str] = set()
    for cell in notebook.cells:
        identity, copy = hashlib.sha256(cell.source.encode()).hexdigest()[:8], 0
        while (cell_id := f"{identity}-{copy}") in seen:
            copy += 1
        seen.add(cell_id)
        cell["id"] = cell_id
    return notebook


def content(notebook) -> list[tuple]:
    """What must agree between a text and its notebook: kind, source, tags and figure settings of every cell."""
    return [
        (cell.cell_type, cell.source.rstrip(), sorted(cell.metadata.get("tags", [])), cell.metadata.get("mystnb"))
        for cell in notebook.cells
    ]


def parameters(chapter: Chapter) -> dict:
    """Names and default values of the chapter's `parameters` cell: each line there is `name = literal`.

    Raises:
        ValueError: a default that is no literal.
    """
    result = {}
    for cell in read_text(chapter).cells:
        if "parameters" not in cell.metadata.get("tags", []):
            continue
        for line in ast.parse(cell.source).body:
            try:
                result[line.targets[0].id] = ast.literal_eval(line.value)
            except (AttributeError, ValueError):
                raise ValueError(
                    f"{chapter.name}: parameters cell: {ast.unparse(line)!r} is not of the form name = literal"
                ) from None
    return result


def _convert(value, default):
    """`value`, from the command line or a profile, as the type of `default`; ValueError says what is wanted."""
    if isinstance(default, (list, tuple)):
        items = value.strip("[]() ").split(",") if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise ValueError("a list, as in 1,2,4")
        inner = default[0] if default else ""
        return [_convert(item.strip() if isinstance(item, str) else item, inner) for item in items]
    if isinstance(default, bool):
        if str(value).lower() not in ("true", "false"):
            raise ValueError("true or false")
        return str(value).lower() == "true"
    if isinstance(default, (int, float)):
        kind, wanted = (int, "a whole number") if isinstance(default, int) else (float, "a number")
        try:
            number = kind(value)
        except (TypeError, ValueError):
            raise ValueError(wanted) from None
        if isinstance(value, bool) or math.isnan(number) or (not isinstance(value, str) and number != value):
            raise ValueError(wanted)
        return number
    if default is not None and type(value) is not type(default):
        raise ValueError(f"a {type(default).__name__}")
    return value


def checked_parameters(chapter: Chapter, given: dict) -> dict:
    """`given`, with every value as the type of the chapter's default.

    Raises:
        KeyError: a name the chapter does not have.
        ValueError: a value of another type than the default.
    """
    known = parameters(chapter)
    result = {}
    for name, value in given.items():
        if name not in known:
            names = ", ".join(f"{name} ({default!r})" for name, default in known.items()) or "none"
            raise KeyError(f"parameter: {chapter.name} has no {name!r}; its parameters are {names}")
        try:
            result[name] = _convert(value, known[name])
        except ValueError as error:
            raise ValueError(
                f"parameter {name}: {value!r} does not fit its default {known[name]!r}; pass {error}"
            ) from None
        _check_meaning(name, result[name])
    return result


def _check_meaning(name: str, value) -> None:
    """Refuse, before a kernel starts, values of the parameters that mean the same in every chapter."""
    if name == "dataset" and value not in corpora.known():
        raise KeyError(corpora.unknown(value))
    if name in ("epsilon", "epsilons"):
        for epsilon in value if isinstance(value, list) else [value]:
            checks.number(name, epsilon, low=0)


def profile(chapter: Chapter, name: str) -> dict:
    """The chapter's parameters in `data/profiles/<name>.yml`; `quick` is the chapter's own defaults.

    Raises:
        KeyError: there is no such profile.
    """
    import yaml

    if name == "quick":
        return {}
    folder = chapter.root / "data" / "profiles"
    known = sorted(path.stem for path in folder.glob("*.yml"))
    if name not in known:
        raise KeyError(f"profile: {name!r} is unknown; choose from {', '.join(['quick', *known])}")
    return (yaml.safe_load((folder / f"{name}.yml").read_text(encoding="utf-8")) or {}).get(chapter.name, {})


def key(chapter: Chapter) -> str:
    """sha256 over all that a chapter's result depends on: text, package, registry, result tables, models."""
    data = chapter.root / "data"
    files = {f"package/{path.relative_to(_PACKAGE).as_posix()}": path for path in _PACKAGE.rglob("*.py")}
    files = {label: path for label, path in files.items() if label.split("/")[1] not in _TOOLING}
    stored = [chapter.text, data / "registry.toml", *data.glob("results/**/*"), *data.glob("models/**/*")]
    files |= {path.relative_to(chapter.root).as_posix(): path for path in stored if path.is_file()}
    digest = hashlib.sha256()
    for label, path in sorted(files.items()):
        digest.update(f"{label} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def is_fresh(chapter: Chapter) -> bool:
    """Whether the stored notebook holds this text's cells and came from what the chapter now depends on."""
    import nbformat

    if not chapter.notebook.is_file():
        return False
    notebook = nbformat.read(chapter.notebook, as_version=4)
    fresh = notebook.metadata.get("textsan", {}).get("key") == key(chapter)
    return fresh and content(notebook) == content(read_text(chapter))


@contextmanager
def _kernel_environment():
    before = {name: os.environ.get(name) for name in KERNEL_ENVIRONMENT}
    os.environ.update(KERNEL_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _run_file(chapter: Chapter, label: dict) -> Path:
    suffix = re.sub(r"[^\w.=+-]+", "_", "".join(f"-{name}={value}" for name, value in label.items()))
    if len(suffix) > 100:
        suffix = f"{suffix[:80]}-{hashlib.sha256(suffix.encode()).hexdigest()[:8]}"
    folder = chapter.root / "runs"
    folder.mkdir(exist_ok=True)
    return folder / f"{chapter.name}{suffix}.ipynb"


def run(chapter: Chapter, given: dict | None = None, profile_name: str = "quick") -> Path:
    """Execute a chapter with other parameters into `runs/`; sources are never written.

    Args:
        chapter: the chapter.
        given: parameter values by name; they win over the profile's.
        profile_name: `quick`, or a file of `data/profiles`.

    Returns:
        Path of the executed notebook.

    Raises:
        KeyError, ValueError: unknown parameter or profile, or a value of the wrong type.
        ChapterError: a cell failed; what had run is kept in `runs/`.
    """
    from nbclient.exceptions import DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    given = given or {}
    values = checked_parameters(chapter, {**profile(chapter, profile_name), **given})
    label = given if profile_name == "quick" else {"profile": profile_name, **given}
    output = _run_file(chapter, label)
    where = output.relative_to(chapter.root)
    (chapter.root / "notebooks").mkdir(exist_ok=True)
    try:
        with _kernel_environment():
            execute_notebook(
                read_text(chapter),
                output,
                values,
                kernel_name="python3",
                cwd=chapter.notebook.parent,  # where nbval and Jupyter run it too
                progress_bar={"desc": chapter.name, "disable": False},
                extra_arguments=["--log-level=ERROR"],  # else each kernel warns that its sockets are plain
            )
    except PapermillExecutionError as error:
        trace = "\n".join(error.traceback)
        raise ChapterError(
            f"{chapter.name}: cell {error.exec_count} failed\n\n{error.source}\n\n{trace}\n\nkept: {where}"
        ) from None
    except DeadKernelError:
        raise ChapterError(f"{chapter.name}: its kernel died (out of memory?); kept: {where}") from None
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
            if outputs and output.output_type == "stream" == outputs[-1].output_type:
                if output.name == outputs[-1].name:  # how prints are cut into messages is chance
                    outputs[-1].text += output.text
                    continue
            outputs.append(output)
        if cell.cell_type == "code":
            cell.outputs = outputs
    return notebook


def refresh(chapter: Chapter) -> None:
    """Execute a chapter with its defaults and store it as `notebooks/<name>.ipynb`, whole or not at all.

    Raises:
        ChapterError: a cell failed; the stored notebook is as it was.
    """
    import nbformat

    before = key(chapter)  # a file saved while the chapter runs leaves the result stale
    executed = run(chapter)
    notebook = _normalise(nbformat.read(executed, as_version=4))
    notebook.metadata["textsan"] = {"key": before}
    partial = chapter.notebook.with_suffix(".part")
    nbformat.write(notebook, partial)
    os.replace(partial, chapter.notebook)
    executed.unlink()
