"""Wrong answers that a program makes of a right one: an operator, constant, index or argument is changed."""

import ast
import copy
from typing import NamedTuple

import numpy as np

from textsan_book.course.master import BEGIN, END, Master

_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_BOUNDARIES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_NAMES = {"max": "min", "argmax": "argmin", "any": "all", "log": "exp", "maximum": "minimum", "cumsum": "cumprod"}
_NAMES |= {after: before for before, after in _NAMES.items()}


class Mutant(NamedTuple):
    """A changed solution, and what was changed."""

    question: str
    change: str
    source: str


def mutants(master: Master, count: int = 10) -> list[Mutant]:
    """Draw mutants of a master's solutions, at most so many, each with other code."""
    made = [mutant for question, source in master.answers.items() for mutant in _of(question, source)]
    picked = np.random.default_rng(0).permutation(len(made))[:count]
    return [made[number] for number in sorted(picked)]


def _of(question: str, source: str) -> list[Mutant]:
    tree = ast.parse(source)
    seen, found = {ast.unparse(tree)}, []
    inside = _solution_lines(source)
    for number, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", None) or getattr(getattr(node, "iter", None), "lineno", None)
        if line in inside:
            for variant in (one for one in range(2) if _change(copy.deepcopy(node), one)):
                changed = copy.deepcopy(tree)
                target = list(ast.walk(changed))[number]
                change = _change(target, variant)
                text = ast.unparse(changed)
                if text not in seen:
                    seen.add(text)
                    found.append(Mutant(question, f"line {line}: {change}", text))
    return found


def _solution_lines(source: str) -> set[int]:
    inside, lines = False, set()
    for number, line in enumerate(source.splitlines(), start=1):
        inside = (inside or line.strip() == BEGIN) and line.strip() != END
        if inside:
            lines.add(number)
    return lines


def _change(node, variant: int) -> str | None:
    """Change a node in place; says how, or None where there is nothing to change."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and variant == 0:
        return _swap(node, "op")
    if isinstance(node, ast.Compare) and variant == 0:
        before = node.ops[0]
        node.ops[0] = _OPERATORS.get(type(before), type(before))()
        return f"{type(before).__name__} becomes {type(node.ops[0]).__name__}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and variant == 0:
        node.op = ast.UAdd()
        return "a minus is lost"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
        return f"{not node.value} becomes {node.value}"
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        before = node.value
        node.value = before + 1 if variant == 0 else before - 1
        return f"{before} becomes {node.value}"
    if isinstance(node, ast.Attribute) and node.attr in _NAMES and variant == 0:
        node.attr = _NAMES[node.attr]
        return f"{_NAMES[node.attr]} becomes {node.attr}"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], tuple(_BOUNDARIES)):
        before = node.ops[0]
        node.ops[0] = _BOUNDARIES[type(before)]()
        return f"{type(before).__name__} becomes {type(node.ops[0]).__name__}"
    if isinstance(node, ast.IfExp) and variant == 0:
        node.body, node.orelse = node.orelse, node.body
        return "the two sides of an if are exchanged"
    if isinstance(node, ast.comprehension) and node.ifs and variant == 0:
        node.ifs = []
        return "the condition of a comprehension is lost"
    if isinstance(node, ast.Call) and variant == 0 and len(node.args) > 1:
        node.args[:2] = node.args[1::-1]
        return "two arguments are exchanged"
    if isinstance(node, ast.Call) and variant == 0 and not node.args and isinstance(node.func, ast.Attribute):
        gone = node.func.attr
        node.func, node.args = ast.Name("list" if gone == "split" else "str", ast.Load()), [node.func.value]
        return f"{gone}() is lost"
    if isinstance(node, ast.Subscript) and variant == 0 and isinstance(node.slice, (ast.Name, ast.Constant)):
        node.slice = ast.BinOp(node.slice, ast.Sub(), ast.Constant(1))
        return "an index is one too small"
    if isinstance(node, ast.Name) and node.id in _NAMES and variant == 0:
        node.id = _NAMES[node.id]
        return f"{_NAMES[node.id]} becomes {node.id}"
    return None


def _swap(node, field: str) -> str | None:
    before = getattr(node, field)
    after = _OPERATORS.get(type(before))
    if after is None:
        return None
    setattr(node, field, after())
    return f"{type(before).__name__} becomes {after.__name__}"
