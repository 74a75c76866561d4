"""Fingerprints: what a file says, so that results can tell whether what made them has changed."""

import ast
import hashlib
from pathlib import Path

from textsan.base.assets import file_sha256


def fingerprint(path: str | Path) -> str:
    """sha256 of what a file says: of Python its syntax tree without docstrings, of everything else its bytes.

    Comments, docstrings, blank lines and line breaks of Python do not count, nor does the version of Python that
    reads it. Annotations do: registries read from them which parameters there are, and of what kind.

    Args:
        path: a file; one that ends in .py is Python.

    Raises:
        FileNotFoundError: there is none.
        SyntaxError: Python that does not parse.

    >>> len(fingerprint(__file__))
    64
    """
    if Path(path).suffix == ".py":
        return code_fingerprint(Path(path).read_bytes(), str(path))
    return file_sha256(Path(path))


def code_fingerprint(source: str | bytes, name: str = "<source>") -> str:
    """The same of Python that is in no file; `name` is what a SyntaxError calls it."""
    return hashlib.sha256(_tree(ast.parse(source, filename=name)).encode()).hexdigest()


def _tree(node) -> str:
    # Not ast.dump: which empty fields it leaves out depends on the version of Python.
    if isinstance(node, list):
        return f"[{' '.join(_tree(item) for item in node if not _is_docstring(item))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = (f"{name}={_tree(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({' '.join(fields)})"


def _is_docstring(node) -> bool:
    """Whether a statement is a string and nothing else: of modules, functions and classes, and below names."""
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
