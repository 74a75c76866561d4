"""What follows from cells that vary: names, from cell to cell, as Python binds, changes and reads them."""

import ast
import dis
from collections.abc import Iterator, Sequence
from types import CodeType


def shown_in_vain(cells: Sequence) -> Iterator[tuple[int, list[str]]]:
    """Cells that are compared although they show what a cell with the tag `varies` has made.

    Names are followed, not what they hold: another name of a list that a varying cell fills is not found.

    Args:
        cells: the code cells of a notebook, with their outputs.

    Yields:
        The cell's number, and the names that vary.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    varying: set[str] = set()
    modules: set[str] = set()
    for number, cell in enumerate(cells, 1):
        tree = ast.parse(TransformerManager().transform_cell(cell.source))  # its magics as Python
        read, bound = _flow(compile(tree, f"cell {number}", "exec"))
        modules |= _imported(tree)
        found = sorted(read & varying)
        tagged = "varies" in cell.metadata.get("tags", [])
        varying = varying | ((bound | _changed(tree)) - modules) if tagged or found else varying - bound
        if found and not tagged and cell.outputs:
            yield number, found


def _flow(code: CodeType) -> tuple[set[str], set[str]]:
    """The names that a cell reads before it binds them, within its functions too; and those that it binds."""
    read, bound = set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            bound.add(step.argval)
        elif step.opname == "LOAD_NAME" and step.argval not in bound:
            read.add(step.argval)
    for inner in _within(code):
        loads = {
            step.argval for step in dis.get_instructions(inner) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        }
        read |= loads - bound
    return read, bound


def _within(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _within(one)


def _imported(tree: ast.Module) -> set[str]:
    lines = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(one.asname or one.name).partition(".")[0] for line in lines for one in line.names}


def _changed(tree: ast.Module) -> set[str]:
    """Names whose items or attributes are set, or a method of which is called for its effect alone."""
    places: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            places.append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            places.append(node.value.func)
    return {name for place in places if (name := _base(place))}


def _base(place: ast.AST) -> str:
    """`rows` of `rows[0].some.append`; "" of a plain name, which is no part of anything."""
    inside = False
    while isinstance(place, ast.Subscript | ast.Attribute):
        place, inside = place.value, True
    return place.id if inside and isinstance(place, ast.Name) else ""
