"""Plugins: modules of a user's own that make mechanisms and attacks known, imported before a name is looked up.

A plugin is a file `my_module.py`, or a module that can be imported, "package.module". Packages name theirs as
entry points of the group `textsan.plugins`; these need no asking for.

    from textsan import Channel
    from textsan.mechanisms import MECHANISMS, Mechanism

    class Mine(Mechanism): ...

    MECHANISMS.register("mine", Mine)
"""

import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from textsan.base import extras
from textsan.base.assets import file_sha256

GROUP = "textsan.plugins"
_loaded: dict[str, str] = {}  # by path or name: the sha256 of what was imported
_importing: list[str] = []  # names of the modules that are being imported, innermost last
_has_asked_packages = False


def load_plugin(name: str | Path) -> None:
    """Import a plugin; what it registers is known from then on, in the workers of a sweep too.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no such module; a file that is no Python, whose name is no name of a module or that of another
            one; or a plugin that has changed since this process imported it.

    >>> load_plugin("nowhere")
    Traceback (most recent call last):
    ValueError: plugin: there is no module 'nowhere'; pass one that can be imported, or a path that ends in .py
    """
    name = str(Path(name).resolve()) if str(name).endswith(".py") else str(name)
    if name not in _loaded:
        _load(name)
    elif name.endswith(".py") and _loaded[name] != file_sha256(Path(name)):
        raise ValueError(f"plugin: {name} has changed since this process imported it; start it anew")


def loaded() -> dict[str, str]:
    """Return the sha256 of each plugin that this process has imported, by path or name."""
    return dict(_loaded)


def load_same(plugins: Mapping[str, str]) -> None:
    """Import, in a worker, the plugins of another process, in the same state."""
    for name, code in plugins.items():
        if _loaded.get(name) != code and (name.endswith(".py") or name not in _loaded):
            _load(name)
        if _loaded[name] != code:
            raise ValueError(
                f"plugin: {name} is not what it was where this began; start it, and its workers, anew"
            )


class PluginImports:
    """Import plugins in the worker before it unpickles the objects that they define, which come after this one.

    Pickling plugins by value instead would fail where one of their functions is cached by `functools`.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(PluginImports()))
    """

    def __reduce__(self):
        return load_same, (loaded(),)


def load_installed() -> None:
    """Import the plugins of installed packages, once; registries do before a name is looked up."""
    global _has_asked_packages
    if _has_asked_packages:
        return
    _has_asked_packages = True
    for point in entry_points(group=GROUP):
        with _named(point.module):
            point.load()


def importing() -> str | None:
    """Return the module of the plugin that is being imported, if one is."""
    return _importing[-1] if _importing else None


@contextmanager
def blamed(constructor: Callable, private: bool = False) -> Iterator[None]:
    """Turn an error in code of a plugin into one line that names its file and line.

    Args:
        constructor: what the plugin registered, or a class of it; errors of this package's own stay as they are.
        private: it reads text that nobody may see: of an error in its lines the kind alone is named.
    """
    try:
        yield
    except Exception as error:
        while isinstance(constructor, functools.partial):
            constructor = constructor.func
        file = getattr(sys.modules.get(constructor.__module__), "__file__", None)
        if file is None or constructor.__module__.partition(".")[0] == "textsan":
            raise
        line = _line_in(file, error)
        if line is None and isinstance(error, ValueError | OSError):  # of what the user gave
            raise
        place = f"({Path(file).name}:{line or inspect.getsourcelines(constructor)[1]})"
        if private:  # its message may hold a word
            kind = f"{type(error).__name__} in code of the plugin"
            raise ValueError(f"{kind}; what it says is left out, it may quote the text {place}") from None
        message = " ".join(str(error).split())
        if isinstance(error, ModuleNotFoundError):
            message = extras.missing(error)
        elif not isinstance(error, ValueError):
            message = f"{type(error).__name__}: {message}"
        raise ValueError(f"{message} {place}") from error


def _line_in(file: str, error: Exception) -> int | None:
    """Return the innermost line of a file in the traceback of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)


@contextmanager
def _named(module: str) -> Iterator[None]:
    _importing.append(module)
    try:
        yield
    finally:
        _importing.pop()


def _load(name: str) -> None:
    if name.endswith(".py"):
        _load_file(Path(name))
        return
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"plugin: {name!r} is no name of a module; pass one, or a path that ends in .py")
    try:
        with _named(name):
            module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # something that the plugin needs
            raise
        ways = "pass one that can be imported, or a path that ends in .py"
        raise ValueError(f"plugin: there is no module {name!r}; {ways}") from None
    file = getattr(module, "__file__", None)
    if file is None:
        what = "a folder without an __init__.py" if hasattr(module, "__path__") else "built into Python"
        raise ValueError(f"plugin: {name!r} is {what}; name a module that registers something")
    _loaded[name] = file_sha256(Path(file))


def _load_file(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"plugin: {path} does not exist; pass a file or a module")
    if not path.stem.isidentifier():
        raise ValueError(f"plugin: {path.name} is no name of a module; use letters, digits and _")
    other = sys.modules.get(path.stem) or importlib.util.find_spec(path.stem)
    where = getattr(other, "__file__", getattr(other, "origin", None))
    if other and (where is None or Path(where).resolve() != path):
        raise ValueError(f"plugin: {path.name} has the name of another module, {path.stem}; rename it")
    source = path.read_bytes()
    # Run from what was read, not from a cached file: what is recorded is what runs.
    sys.modules[path.stem] = module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        with _named(path.stem):
            exec(compile(source, path, "exec"), vars(module))
    except Exception as error:  # of code that is not ours, whatever it is
        del sys.modules[path.stem]
        line, message = _line_in(str(path), error) or 1, f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError) and error.filename == str(path):
            line, message = error.lineno, error.msg
        raise ValueError(f"plugin: {path}, line {line}: {message}") from error
    _loaded[str(path)] = hashlib.sha256(source).hexdigest()
