"""What a chapter's run used, and whether that is still the same.

The key of a stored result is a list, kept in the notebook, of every file of the project that the run read
(imported modules, tables, registries), every folder that it listed, and every package that it worked with:

- a file counts by its fingerprint (`base.fingerprints`): Python by its syntax tree, any other file by its bytes;
- a folder counts by the names in it;
- a result table counts by the verdict on it, too: whether the code as it is makes it (`stored_tables`);
- a package counts by its version, if a module of the project that the run used, or a cell of the chapter, imports
  it by name, and the run did load it. What these packages import in turn, and what runs chapters, does not count;
- of the arithmetic the pinned variables count (see `base.kernels`), not what a processor made of them. Where they
  did not hold, `not_pinned` says so: it makes nothing stale, but the outputs are compared by interval everywhere.

A file that a library opens without Python (parquet, safetensors by name) is not seen: hand it the bytes. Packages
that the project pins in `constraints.txt` must have the pinned version as well as the recorded one.
"""

import ast
import functools
import hashlib
import re
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from importlib.util import source_from_cache
from pathlib import Path

from textsan.base import kernels
from textsan.base.fingerprints import code_fingerprint, fingerprint
from textsan_book.chapters.same_code import canonical
from textsan_book.chapters.stored_tables import table_state

_PACKAGE = Path(__file__).parents[1]
_INSTALLED = "textsan/", "textsan_book/"
_DIGITS = 16  # of a hash; enough against chance, short enough to read
# Never a chapter's input: what tools leave in the project's folder, and what ran the chapter.
_IGNORED = re.compile(
    r"(^|/)(\.[^/]*|__pycache__|[^/]*\.egg-info|_build|runs)(/|$)|^textsan_book/chapters/kernel/"
)
_FIGURES = "textsan_book/chapters/kernel/figure_data.py"


def cell_digest(source: str) -> str:
    """Hash of what a notebook's cell does, its layout and comments left out.

    Args:
        source: Python code, or commands of IPython, which count as they are written.

    >>> cell_digest("x = 1  # one") == cell_digest("x  =  (1)") != cell_digest("x = 2")
    True
    """
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return hashlib.sha256(source.encode()).hexdigest()[:_DIGITS]
    last = ast.unparse(body[-1]) if body and isinstance(body[-1], ast.Expr) else ""
    # What stands last is shown, strings too, unless a semicolon follows.
    content = code_fingerprint(source), last, source.rstrip().endswith(";")
    return hashlib.sha256(repr(content).encode()).hexdigest()[:_DIGITS]


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, changed: int, size: int) -> str:
    try:
        return canonical(fingerprint(path)[:_DIGITS])
    except SyntaxError:  # half edited: neither what it was nor anything that runs
        return "no Python"


def _digest(root: Path, label: str) -> str | None:
    """Hash of what a label of the list stands for now; None if it is gone."""
    path = root / label
    if not path.exists() and label.startswith(_INSTALLED):  # a project elsewhere that uses the installed package
        path = _PACKAGE.parent / label
    if label.endswith("/"):
        if not path.is_dir():
            return None
        names = sorted(p.name for p in path.iterdir() if not _IGNORED.search(p.name))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:_DIGITS]
    if not path.is_file():
        return None
    status = path.stat()
    return _file_digest(path, status.st_mtime_ns, status.st_size)


def _label(root: Path, path: Path) -> str | None:
    """A path as the list has it, relative to the project; None if it is no part of the project."""
    for folder in (root, _PACKAGE.parent):
        if path.is_relative_to(folder):
            label = path.relative_to(folder).as_posix()
            inside = folder == root or label.startswith(_INSTALLED)
            return label if inside and not _IGNORED.search(label) else None
    return None


def _imported(source: str) -> set[str]:
    """Top-level names that `source` imports, wherever in it; none if it is not plain Python."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.split(".")[0] for name in names}


def _version(package: str) -> str | None:
    """The installed version without its local part: a build for another device is the same version."""
    try:
        return metadata.version(package).split("+")[0]
    except metadata.PackageNotFoundError:
        return None


def _pins(root: Path) -> dict[str, str]:
    """Versions that the project's `constraints.txt` pins for every Python."""
    file = root / "constraints.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    found = (re.fullmatch(r"([\w.-]+)==([^\s;]+)", line.strip()) for line in lines)
    return {_plain(match[1]): match[2] for match in found if match}


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def of_run(
    root: Path, record: Iterable[str], cells: Iterable[str], started: int, not_pinned: str = ""
) -> dict[str, dict[str, str]]:
    """The list of what a run used.

    Args:
        root: the project's folder.
        record: lines that `kernel/sitecustomize.py` wrote.
        cells: sources of the chapter's code cells.
        started: when the run began, in nanoseconds; a file that was saved later is what the next run will use.
        not_pinned: what `kernels.held` says of the run.

    Returns:
        `files`: hash by path, `tables`: verdict by path, and `packages`: version by name, all sorted; `kernels`:
        the pinned variables; and `not_pinned`, if it is not empty.
    """
    libraries = [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    labels, loaded, written = [], set(), set()
    for line in record:
        verb, _, name = line.rstrip("\n").partition(" ")
        path = Path(name)
        if path.suffix == ".pyc" and path.parent.name == "__pycache__":
            path = Path(source_from_cache(name))
        for folder in libraries:
            if path.is_relative_to(folder):
                loaded.add(path.relative_to(folder).parts[0].split(".")[0] if path != folder else "")
                break
        else:
            if verb == "write":
                written.add(path)
            elif path not in written and (label := _label(root, path)):  # what it wrote itself is no input
                labels.append(f"{label}/" if verb == "list" else label)
    files = {label: digest for label in sorted(set(labels)) if (digest := _digest(root, label))}
    for label in files:
        if (root / label).is_file() and (root / label).stat().st_mtime_ns > started:
            files[label] = "saved while the chapter ran"
    sources = [_source(root, label) for label in files if label.endswith(".py")]
    names = set().union(*map(_imported, [*sources, *cells])) & loaded
    distributions = metadata.packages_distributions()
    packages = {package for name in names for package in distributions.get(name, [])}
    return {
        "files": files,
        "tables": _verdicts(root, files),
        "packages": {package: _version(package) for package in sorted(packages)},
        "kernels": dict(kernels.KERNELS[kernels.PINNED]),
    } | ({"not_pinned": not_pinned} if not_pinned else {})


def _verdicts(root: Path, labels: Iterable[str]) -> dict[str, str]:
    """The verdicts on the result tables among the files."""
    tables = [label for label in labels if label.startswith("data/results/") and label.endswith(".csv")]
    return {label: table_state(root / label).verdict for label in tables}


def new_verdicts(root: Path, recorded: dict[str, dict[str, str]]) -> dict[str, str]:
    """The result tables of a recorded list on which the verdict is another now: what it is.

    Args:
        root: the project's folder.
        recorded: what `of_run` returned.
    """
    before = recorded.get("tables", {})
    return {label: one for label, one in _verdicts(root, recorded["files"]).items() if one != before.get(label)}


def _source(root: Path, label: str) -> str:
    path = root / label if (root / label).is_file() else _PACKAGE.parent / label
    return path.read_text(encoding="utf-8")


def with_figures(root: Path, recorded: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The list of a run that showed figures: how their data is written decides what is stored of them.

    Args:
        root: the project's folder.
        recorded: the list, as from `of_run`.
    """
    files = dict(sorted((recorded["files"] | {_FIGURES: _digest(root, _FIGURES)}).items()))
    return recorded | {"files": files}


def changes(root: Path, recorded: dict[str, dict[str, str]]) -> list[str]:
    """What of a recorded list is no longer as it was, one entry each; empty if a run would use the same.

    Args:
        root: the project's folder.
        recorded: what `of_run` returned.
    """
    found = []
    for label, digest in recorded["files"].items():
        now = _digest(root, label)
        if now != digest:
            found.append(f"{label} is gone" if now is None else label)
    pins = _pins(root)
    for package, version in recorded["packages"].items():
        now = _version(package)
        if now == version:
            now = pins.get(_plain(package), version)
        if now != version:
            found.append(f"{package} {version} → {now or 'not installed'}")
    before, now = recorded.get("kernels", {}), kernels.KERNELS[kernels.PINNED]
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) != now.get(key):
            found.append(f"{key} {before.get(key, 'not pinned')} → {now.get(key, 'not pinned')}")
    return found


def made_as_pinned(recorded: dict[str, dict[str, str]]) -> bool:
    """Whether a run had the pinned kernels: another one that has them must show the same, digit by digit.

    Args:
        recorded: what `of_run` returned; empty of a notebook without a record.
    """
    return recorded.get("kernels") == kernels.KERNELS[kernels.PINNED] and not recorded.get("not_pinned")
