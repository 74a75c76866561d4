"""The one cache of results that take long to compute: arrays on disk, named by all that they depend on.

The name is a hash of the inputs, of the code that computes (a module and every module of the project that it
imports) and of the arithmetic (processor, kernels, versions, GPU). So no change of code can go unnoticed behind a
result of older code. With TEXTSAN_RECOMPUTE=1 nothing is read or written.
"""

import ast
import hashlib
import importlib
import importlib.util
import io
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from textsan.base import assets, kernels

_OWN = ("textsan", "textsan_book")  # packages whose code is followed; of the others the version counts
_OTHERS = ("numpy", "scipy", "scikit-learn", "torch", "transformers")

Arrays = Mapping[str, np.ndarray]


def arrays(kind: str, inputs: Iterable, compute: Callable[[], Arrays], *, code: str) -> Arrays:
    """Return the arrays kept of these inputs and this code, or compute and keep them.

    Args:
        kind: a folder of the cache.
        inputs: arrays and values that the result is a function of; a value counts by its repr.
        compute: makes the arrays, by name; what it raises is raised, and nothing is kept.
        code: name of the module that computes.

    >>> arrays("examples", [3], lambda: {"n": np.arange(3)}, code="textsan.base.checks")["n"]
    array([0, 1, 2])
    """
    file = place(kind, inputs, code=code)
    kept = read(file)
    if kept is None:
        kept = compute()
        write(file, kept)
    return kept


def place(kind: str, inputs: Iterable, *, code: str) -> Path:
    """Return the file of these inputs, this code and this arithmetic, whether it is there or not."""
    digest = hashlib.sha256()
    for part in (code_of(code), arithmetic(), *inputs):
        content = _bytes(part)
        digest.update(f"{len(content)}:".encode() + content)
    name = digest.hexdigest()
    return assets.cache_folder() / "computed" / kind / name[:2] / f"{name}.npz"


def _bytes(part) -> bytes:
    if isinstance(part, np.ndarray):
        return f"{part.dtype.str}{part.shape}".encode() + np.ascontiguousarray(part).tobytes()
    return repr(part).encode("utf8", "surrogatepass")


def read(file: Path) -> Arrays | None:
    """Return what is kept in a file of `place`; None where nothing is, or where TEXTSAN_RECOMPUTE is set."""
    if not _is_on() or not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}


def write(file: Path, made: Arrays) -> None:
    """Keep arrays in a file of `place`, all of it or none, also if two processes write it."""
    if not _is_on():
        return
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{name: np.asarray(value) for name, value in made.items()})
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, buffer.getvalue())


def write_whole(path: Path, content: bytes) -> None:
    """Write the whole file or none of it, also if two processes do at a time; only its owner can read it."""
    part = NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".part", delete=False)
    try:
        with part:
            part.write(content)
        os.replace(part.name, path)
    finally:
        Path(part.name).unlink(missing_ok=True)  # the disk was full, say


def _is_on() -> bool:
    return os.environ.get("TEXTSAN_RECOMPUTE", "") in ("", "0")


@cache
def arithmetic() -> str:
    """Return what a number's last digits depend on besides code: processor, kernels, versions, GPU."""
    torch = sys.modules.get("torch")  # what has not loaded it computes without
    gpu = [torch.cuda.get_device_name()] if torch and torch.cuda.is_available() else []
    return ", ".join([platform.machine(), *filter(None, [kernels.held()]), *versions(_OTHERS), *gpu])


def versions(packages: Iterable[str]) -> list[str]:
    """Return name and version of each of some packages that is installed.

    >>> versions(["nowhere"])
    []
    """
    found = []
    for name in packages:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return found


@cache
def code_of(module: str) -> str:
    """Return a sha256 of a module's code and of all the project's modules that it imports, directly or not.

    Imports inside of functions count; comments and docstrings do not.

    >>> len(code_of("textsan.base.cache"))
    64
    """
    waiting, sources = [module], {}
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name in sources or file is None:
            continue
        tree = ast.parse(file.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                waiting += [node.module, *(_origin(node.module, alias.name) for alias in node.names)]
            if isinstance(body := getattr(node, "body", None), list):
                body[:] = [
                    statement
                    for statement in body
                    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
                ]
        sources[name] = ast.dump(tree)
    return hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()


def _origin(package: str, name: str) -> str:
    """Return the module that defines a package's name: packages load theirs when they are asked."""
    if package.partition(".")[0] not in _OWN or _file(f"{package}.{name}"):
        return f"{package}.{name}"
    return getattr(getattr(importlib.import_module(package), name, None), "__module__", None) or package


def _file(module: str) -> Path | None:
    """Return the file of a module of the project; None for others, and for what is no module."""
    if module.partition(".")[0] not in _OWN:
        return None
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name inside of a module
        return None
    return Path(found.origin) if found and found.origin else None
