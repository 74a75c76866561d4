"""Wrong answers that a program makes of a right one: an operator, constant, index or argument is changed."""

import ast
import copy
from typing import NamedTuple

import numpy as np

from textsan_book.course.master import BEGIN, END, Master


def _both_ways(pairs: str) -> dict[str, str]:
    before, after = pairs.split()[::2], pairs.split()[1::2]
    return dict(zip(before + after, after + before, strict=True))


_OPERATORS = {"Pow": "Mult", "FloorDiv": "Mult", "Mod": "FloorDiv"}
_OPERATORS |= _both_ways("Add Sub Mult Div Lt GtE Gt LtE Eq NotEq In NotIn And Or BitAnd BitOr")
_BOUNDARIES = _both_ways("Lt LtE Gt GtE")
_NAMES = _both_ways("max min argmax argmin any all log exp maximum minimum cumsum cumprod")


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
    match node:
        case ast.Constant(value=bool(before)):
            node.value = not before
            return f"{before} becomes {node.value}"
        case ast.Constant(value=int(before) | float(before)):
            node.value = before + 1 if variant == 0 else before - 1
            return f"{before} becomes {node.value}"
        case ast.Compare(ops=[before, *_]):
            name = type(before).__name__
            after = _OPERATORS.get(name, name) if variant == 0 else _BOUNDARIES.get(name)
            node.ops[0] = getattr(ast, after)() if after else before
            return after and f"{name} becomes {after}"
    return _change_once(node) if variant == 0 else None


def _change_once(node) -> str | None:
    match node:
        case ast.BinOp(op=before) | ast.BoolOp(op=before) | ast.AugAssign(op=before):
            name = type(before).__name__
            after = _OPERATORS.get(name)
            node.op = getattr(ast, after)() if after else before
            return after and f"{name} becomes {after}"
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
            return "a minus is lost"
        case ast.Attribute(attr=before) if before in _NAMES:
            node.attr = _NAMES[before]
            return f"{before} becomes {node.attr}"
        case ast.Name(id=before) if before in _NAMES:
            node.id = _NAMES[before]
            return f"{before} becomes {node.id}"
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
            return "the two sides of an if are exchanged"
        case ast.comprehension(ifs=[_, *_]):
            node.ifs = []
            return "the condition of a comprehension is lost"
        case ast.Call(args=[_, _, *_]):
            node.args[:2] = node.args[1::-1]
            return "two arguments are exchanged"
        case ast.Call(args=[], func=ast.Attribute(attr=gone)):
            node.func, node.args = ast.Name("list" if gone == "split" else "str", ast.Load()), [node.func.value]
            return f"{gone}() is lost"
        case ast.Subscript(slice=ast.Name() | ast.Constant()):
            node.slice = ast.BinOp(node.slice, ast.Sub(), ast.Constant(1))
            return "an index is one too small"
    return None
