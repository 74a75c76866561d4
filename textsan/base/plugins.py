"""Plugins: modules of one's own that make mechanisms and attacks known, imported before a name is looked up.

A plugin is a file `my_module.py`, or a module that can be imported, "package.module". Packages name theirs as
entry points of the group `textsan.plugins`; these need no asking for.

    from textsan import Channel
    from textsan.mechanisms import MECHANISMS, Mechanism

    class Mine(Mechanism): ...

    MECHANISMS.register("mine", Mine)
"""

import functools
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from textsan.base import extras
from textsan.base.fingerprints import code_fingerprint, fingerprint

GROUP = "textsan.plugins"
_loaded: dict[str, str] = {}  # by path or name: the fingerprint of what was imported
_importing: list[str] = []  # names of the modules that are being imported, innermost last
_asked_packages = False


def load_plugin(name: str | Path) -> None:
    """Imports a plugin; what it registers is known from then on, in the workers of a sweep too.

    Args:
        name: path of a file that ends in .py, or the dotted name of a module.

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
    elif _is_file(name) and _loaded[name] != fingerprint(name):
        raise ValueError(f"plugin: {name} has changed since this process imported it; start it anew")


def loaded() -> dict[str, str]:
    """What this process has imported and another one must: fingerprints by path or name."""
    return dict(_loaded)


def load_same(plugins: Mapping[str, str]) -> None:
    """In a worker: imports what `loaded` told of another process, in the same state.

    Raises:
        ValueError: the plugin has changed meanwhile, or this process has another version that cannot be replaced.
    """
    for name, code in plugins.items():
        if _loaded.get(name) != code and (_is_file(name) or name not in _loaded):
            _load(name)
        if _loaded[name] != code:
            raise ValueError(
                f"plugin: {name} is not what it was where this began; start it, and its workers, anew"
            )


class Needed:
    """What is pickled before an object that plugins may have made: whoever reads both imports the plugins first.

    >>> import pickle
    >>> isinstance(pickle.loads(pickle.dumps(Needed())), Needed)
    True
    """

    def __reduce__(self):
        return _needed, (loaded(),)


def _needed(plugins: Mapping[str, str]) -> Needed:
    load_same(plugins)
    return Needed()


def load_installed() -> None:
    """Imports the plugins of installed packages, once; registries do before a name is looked up."""
    global _asked_packages
    if _asked_packages:
        return
    _asked_packages = True
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        with _named(point.module):
            point.load()


def importing() -> str | None:
    """The module of the plugin that is being imported, if one is."""
    return _importing[-1] if _importing else None


@contextmanager
def blamed(constructor: Callable, private: bool = False) -> Iterator[None]:
    """Whatever goes wrong in code of a plugin becomes one line that names its file and line.

    Args:
        constructor: what the plugin registered, or a class of it; nothing becomes of errors of this package's own.
        private: it reads text that nobody may see; of an error in its lines the kind alone is said.

    Raises:
        ValueError: what went wrong, and in which line of the plugin; of an error that arose elsewhere because of
            it, where the constructor begins.
    """
    try:
        yield
    except Exception as error:
        while isinstance(constructor, functools.partial):
            constructor = constructor.func
        file = getattr(sys.modules.get(constructor.__module__), "__file__", None)
        if file is None or constructor.__module__.partition(".")[0] == "textsan":
            raise
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        if not lines and isinstance(error, ValueError | OSError):  # of what the user gave
            raise
        line = lines[-1] if lines else inspect.getsourcelines(constructor)[1]
        if private:  # its message may hold a word
            said = f"{type(error).__name__} in code of the plugin; what it says is left out, it may quote the text"
            raise ValueError(f"{said} ({Path(file).name}:{line})") from None
        raise ValueError(f"{_said(error)} ({Path(file).name}:{line})") from error


def _said(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return extras.missing(error)
    said = " ".join(str(error).split())
    return said if isinstance(error, ValueError) else f"{type(error).__name__}: {said}"


@contextmanager
def _named(module: str) -> Iterator[None]:
    _importing.append(module)
    try:
        yield
    finally:
        _importing.pop()


def _is_file(name: str) -> bool:
    return name.endswith(".py")


def _load(name: str) -> None:
    if _is_file(name):
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
    _loaded[name] = fingerprint(file)


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
    try:
        code, program = code_fingerprint(source, str(path)), compile(source, path, "exec")
    except SyntaxError as error:
        raise ValueError(f"plugin: {path}, line {error.lineno}: {error.msg}") from None
    # Run from what was read, not from a cached file: what is recorded is what runs.
    sys.modules[path.stem] = module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        with _named(path.stem):
            exec(program, vars(module))
    except Exception as error:  # of code that is not ours, whatever it is
        del sys.modules[path.stem]
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"plugin: {path}, line {lines[-1] if lines else 1}: {what}") from error
    _loaded[str(path)] = code
