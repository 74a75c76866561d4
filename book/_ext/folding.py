"""Sphinx extension: imports, parameters and the code of figures, tables and checks are folded, without tags.

A fold keeps the code in place, one click away, and says in a line what it holds.
"""

import ast

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_AXES = {"ax", "axes"}


def summary(source: str, tags: list[str], draws: bool) -> str | None:
    """Name the fold of a code cell; None for a cell that stays open."""
    statements = ast.parse(source).body
    if "parameters" in tags:
        names = [line.targets[0].id for line in statements if isinstance(line, ast.Assign)]
        return f"Parameters: {', '.join(names)}"
    if statements and all(_is_setup(statement) for statement in statements):
        return "Imports"
    if draws or (statements and all(_is_drawing_function(statement) for statement in statements)):
        return "Code of the figure"
    if statements and (all(map(_is_check, statements)) or _finds(statements)):
        return "Code of the check"
    if statements and not any(map(_defines, statements)):
        if _makes_table(statements[-1]):
            return "Code of the table"
        if _fills_rows(statements[-1]):
            return "Rows of what follows"
    return None


def _is_setup(statement: ast.stmt) -> bool:
    is_usual = ast.unparse(statement) in ("plotting.style()", "data = textsan.project_data()")
    return is_usual or isinstance(statement, ast.Import | ast.ImportFrom)


def _is_check(statement: ast.stmt) -> bool:
    """An assertion, a finding, or what is printed of them; a loop over such, with values named for them."""
    if isinstance(statement, ast.For):
        named = [one for one in statement.body if isinstance(one, ast.Assign)]
        checks = [one for one in statement.body if one not in named]
        asks = any("print" != _called(check) for check in checks)
        return asks and all(map(_is_check, checks)) and len(named) <= len(checks)
    return isinstance(statement, ast.Assert) or _called(statement) in ("print", "finding")


def _called(statement: ast.stmt) -> str:
    """The function that a statement calls for its effect alone, "" if it is none."""
    calls = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return ast.unparse(statement.value.func) if calls else ""


def _finds(statements: list[ast.stmt]) -> bool:
    """Findings, and no more values than are named for them: what makes much is looked at for itself."""
    named = [one for one in statements if not _is_check(one)]
    plain = all(isinstance(one, ast.Assign) for one in named) and 2 * len(named) <= len(statements)
    return plain and "finding" in map(_called, statements)


def _fills_rows(statement: ast.stmt) -> bool:
    """A loop that ends with a row for the table, or the figure, of a next cell."""
    return isinstance(statement, ast.For) and _called(statement.body[-1]).endswith(".append")


def _makes_table(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.IfExp):
        statement = ast.Expr(statement.value.body)
    return _called(statement) in ("plotting.table", "plotting.matrix")


def _defines(statement: ast.stmt) -> bool:
    """A function is what a chapter teaches: it stays open."""
    return isinstance(statement, ast.FunctionDef | ast.ClassDef)


def _is_drawing_function(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and bool(_AXES & {arg.arg for arg in statement.args.args[:1]})


class FoldCells(SphinxPostTransform):
    """Mark the cells that `summary` names, before myst-nb folds what is marked."""

    default_priority = 150  # myst-nb chooses outputs at 4 and folds at 199
    formats = ("html",)

    def run(self, **kwargs):
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") != "cell_code" or cell.get("hide_mode"):
                continue
            if not cell.children or cell[0].get("nb_element") != "cell_code_source":
                continue
            draws = any(True for _ in cell.findall(nodes.image))
            name = summary(cell[0].astext(), cell["cell_metadata"].get("tags", []), draws)
            if name:
                cell["hide_mode"] = "input"
                cell["prompt_show"] = cell["prompt_hide"] = name


def setup(app):
    app.add_post_transform(FoldCells)
