"""The code behind a result: which modules its numbers came from, and which of them have changed since.

Nothing is run for it. From the definitions that make a cell of a sweep (its mechanism, its attack or task, the
problem, the scores) every name is followed to where it is defined, through imports, those inside of functions too,
and through the lazy doors of packages. What a definition does not mention is not followed; a module that is
reached counts as a whole.
"""

import ast
import hashlib
import importlib
import importlib.util
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import joblib
import yaml

from textsan.attacks import ATTACKS
from textsan.base import kernels
from textsan.base.fingerprints import fingerprint
from textsan.base.project import project_data
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import studies
from textsan.utility import TASKS

UNRECORDED = "code that is not recorded"
EVERYTHING = "*"
_NO_FILE = "no file"  # code of a notebook, say: it cannot be told from other code, so that it is never the same
_ROOTS = (("textsan.sweeps.problems", "prepare"), ("textsan.evaluation", EVERYTHING))
# Tables that name every constructor: a cell uses one entry of each, and starts from that.
_TABLES = {"MECHANISMS": MECHANISMS, "ATTACKS": ATTACKS, "TASKS": TASKS}

Code = dict[str, str]  # fingerprints by path


def hardware() -> str:
    """The processor, its cores, what is not as pinned, and the GPU that models run on, where torch has been used.

    See `textsan.base.kernels.held` for the pins.

    >>> hardware().split(", ")[1].endswith("cores")
    True
    """
    torch = sys.modules.get("torch")  # not loaded for this line alone: it takes a second
    gpus = [torch.cuda.get_device_name()] if torch and torch.cuda.is_available() else []
    return ", ".join([platform.machine(), f"{joblib.cpu_count()} cores", *filter(None, [kernels.held()]), *gpus])


def code_of(cell: Mapping) -> Code:
    """The modules that make a cell, each with its fingerprint as this process first saw it, and files it reads.

    Args:
        cell: one of `textsan.sweeps.specification.read_spec`.
    """
    if "experiment" in cell:
        experiment = studies.known()[cell["experiment"]]
        root = experiment.module, cell["experiment"]
        return code_from([root, *_by_name(root, cell, experiment.reads)]) | _read(experiment.reads)
    code, vectors = code_from(_ROOTS + tuple(_constructors(cell))), Path(cell.get("embeddings", ""))
    return code | ({f"word vectors {vectors}": _fingerprint(vectors)} if vectors.is_file() else {})


def _read(patterns: Iterable[str]) -> Code:
    """Files of `data/` by their place in the project, each with its fingerprint."""
    files = _files(patterns)
    return {f"data/{path.relative_to(project_data()).as_posix()}": _fingerprint(path) for path in files}


def _files(patterns: Iterable[str]) -> list[Path]:
    """Those of `data/` that a pattern has, but for those that one after a ! has."""
    wanted, left = ([one for one in patterns if one.startswith("!") is without] for without in (False, True))
    out = {path for pattern in left for path in project_data().glob(pattern[1:])}
    return [path for pattern in wanted for path in sorted(project_data().glob(pattern)) if path not in out]


def _by_name(root: tuple[str, str], cell: Mapping, reads: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What an experiment makes by a name: one of its arguments, of its module, or of a specification it reads."""
    specifications = [path for path in _files(reads) if path.suffix == ".yml"]
    file = _file(root[0])
    assert file is not None  # the module of an experiment
    nodes = ast.walk(ast.parse(file.read_bytes()))
    said = {*cell.values()} | {node.value for node in nodes if isinstance(node, ast.Constant)}
    said |= {
        word for path in specifications for word in _strings(yaml.safe_load(path.read_text(encoding="utf-8")))
    }
    for table, known in _TABLES.items():
        if table in _closure((root,))[1]:
            yield from sorted(known[name].origin for name in known if name in said)


def _strings(value) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
    elif isinstance(value, str):
        yield value


def _constructors(cell: Mapping) -> Iterator[tuple[str, str]]:
    for known, part in ((MECHANISMS, "defence"), (ATTACKS, "attack"), (TASKS, "task")):
        if part not in cell:
            continue
        entry = known[cell[part]["name"]]
        yield entry.origin
        if entry.plugin:
            yield entry.plugin, EVERYTHING


def code_from(roots: Iterable[tuple[str, str]]) -> Code:
    """The modules that definitions lead to, each with its fingerprint.

    Other packages than those of the roots are not entered.

    Args:
        roots: pairs of a module and a name in it, or EVERYTHING.

    >>> sorted(code_from([("textsan.base.randomness", "streams")]))
    ['textsan/base/randomness.py']
    """
    return {label: _fingerprint(path) for label, path in _closure(tuple(roots))[0]}


def changed(recorded: Code | None, now: Code) -> list[str]:
    """The paths whose code differs, or the one entry UNRECORDED.

    >>> changed({"a.py": "1", "b.py": "2"}, {"b.py": "3", "c.py": "4"})
    ['a.py', 'b.py', 'c.py']
    """
    if recorded is None:
        return [UNRECORDED]
    return sorted(p for p in recorded | now if recorded.get(p) != now.get(p) or now[p] == _NO_FILE)


def describe(codes: Iterable[Code | None]) -> dict:
    """`code` and `modules` of a table's record: one key of everything that made its cells, and what that was."""
    codes = list(codes)
    known = [code for code in codes if code is not None]
    if not codes or len(known) < len(codes):
        return {"code": "not recorded"}
    found: dict[str, set[str]] = {}
    for code in known:
        for path, value in code.items():
            found.setdefault(path, set()).add(value)
    modules = {path: " ".join(sorted(values)) for path, values in sorted(found.items())}
    return {"code": hashlib.sha256(repr(modules).encode()).hexdigest()[:16], "modules": modules}


# --- following names --------------------------------------------------------------------------------------------


@dataclass
class _Source:
    """One module: what it imports under which names, what it defines, what it always does, its lazy door."""

    label: str
    path: Path | None
    is_package: bool = False
    imported: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    defined: dict[str, list[ast.AST]] = field(default_factory=dict)
    always: list[ast.AST] = field(default_factory=list)
    door: dict[str, str] = field(default_factory=dict)


@cache
def _closure(roots: tuple[tuple[str, str], ...]) -> tuple[list[tuple[str, Path | None]], set[str]]:
    """The modules, and which of `_TABLES` are reached."""
    tops = {"textsan"} | {module.partition(".")[0] for module, _ in roots}
    waiting, seen, tables = list(roots), set(), set()
    while waiting:
        module, name = pair = waiting.pop()
        if name in _TABLES:
            tables.add(name)
        if pair in seen or name in _TABLES:
            continue
        seen.add(pair)
        source = _source(module)
        names = [name]
        if name not in source.defined and name not in source.imported:  # everything, or made in some other way
            names = [*source.defined, *source.imported]
            waiting += [(f"{module}.{inside}", known) for known, inside in source.door.items()]
        nodes = source.always + [node for one in names for node in source.defined.get(one, [])]
        chains = {chain for node in nodes for chain in _chains(node)} | {(one,) for one in names}
        for head, *rest in chains:
            if head in source.defined:
                waiting.append((module, head))
            for target in source.imported.get(head, []):
                if target[0] in tops:
                    waiting.append(_where(*target, *rest))
    sources = {module: _source(module) for module, _ in seen}
    return sorted((source.label, source.path) for source in sources.values() if not source.door), tables


def _where(*parts: str) -> tuple[str, str]:
    """Module and name that a dotted path leads to: into packages and through their doors."""
    module, *rest = parts
    while rest and _source(module).is_package:
        inside = _source(module).door.get(rest[0])
        if _file(f"{module}.{rest[0]}"):
            module = f"{module}.{rest.pop(0)}"
        elif inside:
            module = f"{module}.{inside}"
        else:
            break
    return module, rest[0] if rest else EVERYTHING


def _chains(node: ast.AST) -> Iterator[tuple[str, ...]]:
    """Names and dotted names that a piece of code mentions, each at its longest."""
    dotted, base = [], node
    while isinstance(base, ast.Attribute):
        dotted.append(base.attr)
        base = base.value
    if isinstance(base, ast.Name):
        yield (base.id, *reversed(dotted))
        return
    for child in ast.iter_child_nodes(base):
        yield from _chains(child)


@cache
def _source(module: str) -> _Source:
    path = _file(module)
    if path is None:
        return _Source(module, None)
    above = len(module.split(".")) - (path.name != "__init__.py")
    source = _Source(path.relative_to(path.parents[above]).as_posix(), path, path.name == "__init__.py")
    tree = ast.parse(path.read_bytes(), filename=str(path))
    package = module if source.is_package else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = alias.name if alias.asname else alias.name.partition(".")[0]
                source.imported.setdefault(alias.asname or target, []).append(tuple(target.split(".")))
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                target = (*origin.split("."), alias.name)
                source.imported.setdefault(alias.asname or alias.name, []).append(target)
    for node in tree.body:
        names = _bound(node)
        for name in names:
            source.defined.setdefault(name, []).append(node)
        if "__getattr__" in names and isinstance(node, ast.Assign):
            stub = ast.parse(path.with_suffix(".pyi").read_bytes())
            passed = [one for one in stub.body if isinstance(one, ast.ImportFrom) and one.module]
            source.door = {alias.name: str(one.module) for one in passed for alias in one.names}
        elif not names and not isinstance(node, ast.Import | ast.ImportFrom):
            source.always.append(node)
    return source


def _bound(node: ast.AST) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = [part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]
    return names if isinstance(node, ast.Assign | ast.AnnAssign) else []


@cache
def _file(module: str) -> Path | None:
    """The file of a module; None if it has none, as a notebook."""
    top, *rest = module.split(".")
    own = _top(top)
    if own is None or not rest:
        return own if own and own.is_file() else None
    folder = own.parent.joinpath(*rest)
    found = [path for path in (folder / "__init__.py", folder.with_suffix(".py")) if path.is_file()]
    return found[0] if found else None


def _top(name: str) -> Path | None:
    """The file of a top-level module, or what it would be in a folder without one; None of a notebook."""
    module = importlib.import_module(name)
    if own := getattr(module, "__file__", None):
        return Path(own)
    return Path(next(iter(module.__path__)), "__init__.py") if hasattr(module, "__path__") else None


def fingerprint_now(label: str) -> str:
    """What a path of a record has for a fingerprint now; "no file" where it is gone.

    >>> fingerprint_now("textsan/nowhere.py")
    'no file'
    """
    return _fingerprint(_path(label))


def _path(label: str) -> Path | None:
    """The file that a label stands for; None of a plugin that has not been imported."""
    if label.startswith("data/"):
        return project_data() / label.removeprefix("data/")
    try:
        own = _top(label.partition("/")[0].removesuffix(".py"))
    except ModuleNotFoundError:
        return None
    return own and own.parents[own.name == "__init__.py"] / label


@cache
def _fingerprint(path: Path | None) -> str:
    return fingerprint(path)[:16] if path and path.is_file() else _NO_FILE
