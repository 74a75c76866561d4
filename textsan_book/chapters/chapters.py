"""Chapters: find one, read its cells and its parameters.

`book/x.md` is the text and is edited by hand; `notebooks/x.ipynb` is the same cells with what they printed,
written by `run` only. The chapters of the supplement are in a folder of each of the two.
"""

import ast
import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

from textsan.base import checks
from textsan.base.project import project_at
from textsan.text import corpora

SUPPLEMENT = "supplement"
_NUMBER = re.compile(r"(s?)(\d+)([a-z]?)-")


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
    """Find the folder at or above `start` (the current folder) that holds `_toc.yml` and `book/`."""
    root = project_at(start or Path.cwd())
    if root is None:
        raise FileNotFoundError("no book here: run this in the project's folder, the one that holds _toc.yml")
    return root


def chapters(root: Path) -> list[Chapter]:
    """List all chapters under `root`: the main text in reading order, what has no number, the supplement."""
    book = root / "book"
    main, aside = (
        sorted(str(path.relative_to(book).with_suffix("")) for path in folder.glob("*.md"))
        for folder in (book, book / SUPPLEMENT)
    )
    return [Chapter(root, name) for name in main + aside]


def number(name: str) -> str:
    """Read the number of a chapter from its name or page; "" where it has none.

    >>> number("06a-the-ladder"), number("notebooks/supplement/s09-names"), number("what-holds-up")
    ('6a', 'S9', '')
    """
    match = _NUMBER.match(name.rpartition("/")[2].lower())
    return f"{match[1].upper()}{int(match[2])}{match[3]}" if match else ""


def find(root: Path, wanted: str) -> Chapter:
    """Find the one chapter whose number (`3`, `03`, `S3`), name or start of name is `wanted`."""
    known = chapters(root)
    name = wanted.removesuffix(".md").removesuffix(".ipynb").removeprefix(f"{SUPPLEMENT}/")
    asked = number(f"{name}-") if _NUMBER.fullmatch(f"{name}-".lower()) else ""
    by_name = {chapter.name.removeprefix(f"{SUPPLEMENT}/"): chapter for chapter in known}
    matching = (
        [chapter for own, chapter in by_name.items() if own == name]
        or [chapter for own, chapter in by_name.items() if asked and number(own) == asked]
        or [chapter for own, chapter in by_name.items() if name and own.startswith(name)]
    )
    if len(matching) != 1:
        problem = "means more than one chapter" if matching else "is no chapter"
        names = ", ".join(chapter.name for chapter in matching or known)
        raise KeyError(f"chapter: {wanted!r} {problem}; choose from {names}")
    return matching[0]


def read_text(chapter: Chapter):
    """Read the chapter's cells without outputs; cell ids follow from the sources, so diffs stay small."""
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


def read_notebook(path: Path):
    """Read an executed notebook."""
    import nbformat

    return nbformat.read(path, as_version=4)


def content(notebook) -> list[tuple]:
    """Return kind, source, tags and figure settings of every cell, which a text and its notebook share."""
    return [
        (cell.cell_type, cell.source.rstrip(), sorted(cell.metadata.get("tags", [])), cell.metadata.get("mystnb"))
        for cell in notebook.cells
    ]


def parameters(chapter: Chapter) -> dict:
    """Read names and default values of the chapter's `parameters` cell: each line there is `name = literal`."""
    from papermill import inspect_notebook

    result = {}
    for name, parameter in inspect_notebook(read_text(chapter)).items():
        try:
            result[name] = ast.literal_eval(parameter["default"])
        except (SyntaxError, ValueError):
            line = f"{name} = {parameter['default']}"
            raise ValueError(
                f"{chapter.name}: parameters cell: {line!r} is not of the form name = literal"
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
    """Return the given parameters, with every value as the type of the chapter's default."""
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
    if "epsilon" in name:
        for epsilon in value if isinstance(value, list) else [value]:
            checks.number(name, epsilon, low=0, high=checks.LARGEST_EPSILON)


def check_size(chapter: Chapter, values: dict) -> None:
    """Refuse, before a kernel starts, more private and shadow sentences than the data set has."""
    both = parameters(chapter) | values
    if not {"dataset", "n_private", "n_shadow"} <= both.keys():
        return
    available, asked = len(corpora.load_dataset(both["dataset"])), both["n_private"] + both["n_shadow"]
    if asked > available:
        numbers = f"n_private {both['n_private']} and n_shadow {both['n_shadow']}"
        way = f"-p n_private {available // 3} -p n_shadow {available // 3}"
        raise ValueError(
            f"dataset: {both['dataset']!r} has {available} texts, fewer than {numbers}; pass {way}, say"
        )


def profile(chapter: Chapter, name: str) -> dict:
    """Read the chapter's parameters in `data/profiles/<name>.yml`; `quick` is the chapter's own defaults."""
    import yaml

    if name == "quick":
        return {}
    folder = chapter.root / "data" / "profiles"
    known = sorted(path.stem for path in folder.glob("*.yml"))
    if name not in known:
        raise KeyError(f"profile: {name!r} is unknown; choose from {', '.join(['quick', *known])}")
    return (yaml.safe_load((folder / f"{name}.yml").read_text(encoding="utf-8")) or {}).get(chapter.name, {})
