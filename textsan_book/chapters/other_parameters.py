"""A run with other parameters says so: at its top, at outputs of stored tables, and where a name is unknown.

Summary boxes, captions and the words between the cells are of the default run. `textsan run` writes this into the
notebook that it makes. Plain papermill cannot, so the kernel shows the banner below the cell that papermill puts
behind the chapter's own parameters, and refuses names that the chapter does not have.
"""

import ast
import os
import sys
from collections.abc import Mapping, Sequence

INJECTED = "# Parameters\n"
"""First line that papermill writes in the cell of the parameters that it was given."""

MARKED = "TEXTSAN_MARKED"
"""The variable that is set where the notebook gets its banner after the run, so that the kernel shows none."""

STORED = (
    "*From stored tables:* what this cell shows is computed from files of `data/`, which have settings of their "
    "own. The parameters of this run select from them at most."
)
_READERS = {"project_data", "load_tables", "load_hits"}


def banner(given: Mapping[str, object]) -> str:
    """Return a warning in Markdown for a run with other parameters.

    Args:
        given: the parameters that differ from the defaults, with their values.

    >>> banner({"words": 5}).splitlines()[0]
    '> **This run has other parameters than the page:** `words = 5`.'
    """
    values = ", ".join(f"`{name} = {value!r}`" for name, value in given.items())
    return (
        f"> **This run has other parameters than the page:** {values}.\n"
        "> Summary box, captions and text describe the default run and may not hold here. Outputs that are "
        "computed from stored tables do not change with the parameters, or only in what is selected."
    )


def stored_cells(sources: Sequence[str]) -> list[bool]:
    """Tell for each code cell whether it shows something that is computed from a stored table.

    A name is of a table if a statement that reads `data/`, or uses such a name, binds it or calls a method of it.

    Args:
        sources: of the code cells, in order.

    >>> stored_cells(["rows = load_tables(folder, 'a.csv')", "print(3)", "best = rows.max()", "print(best)"])
    [True, False, True, True]
    """
    flags, stored, modules = [], set(), set()
    for source in sources:
        shows = False
        for statement in _statements(source):
            nodes = list(ast.walk(statement))
            if isinstance(statement, ast.Import | ast.ImportFrom):
                modules |= {(name.asname or name.name).partition(".")[0] for name in statement.names}
                continue
            names = [node for node in nodes if isinstance(node, ast.Name)]
            inner = _inner(nodes)
            used = {node_of_name.id for node_of_name in names if isinstance(node_of_name.ctx, ast.Load)} - inner
            attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
            bound = {node_of_name.id for node_of_name in names if isinstance(node_of_name.ctx, ast.Store)} - inner
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                bound = {statement.name}
            if used & stored or (used | attributes) & _READERS:
                stored |= (bound | _changed(statement)) - modules
                shows |= not isinstance(statement, ast.FunctionDef | ast.ClassDef)
            else:
                stored -= bound
        flags.append(shows)
    return flags


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a magic of IPython
        return []


def _inner(nodes: Sequence[ast.AST]) -> set[str]:
    """Names of a statement that are bound inside it alone: arguments, and what comprehensions run over."""
    inner = {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, ast.comprehension):
            inner |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
        if isinstance(node, ast.FunctionDef):
            inside = (name for name in ast.walk(node) if isinstance(name, ast.Name))
            inner |= {name.id for name in inside if isinstance(name.ctx, ast.Store)}
    return inner


def _changed(statement: ast.stmt) -> set[str]:
    """The objects whose methods a statement calls for what they do, or one of whose places it fills."""
    nodes = list(ast.walk(statement))
    calls = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    places = [node for node in nodes if isinstance(node, ast.Subscript | ast.Attribute)]
    filled = [node for node in places if isinstance(node.ctx, ast.Store)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    return {root for node in (*methods, *filled) if (root := _root(node))}


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def mark(notebook, given: Mapping[str, object]) -> None:
    """Put the banner on top of an executed notebook, and a line before each output of a stored table.

    Args:
        notebook: as nbformat reads it; it is changed.
        given: the parameters that differ from the defaults; if there are none, nothing is done.
    """
    from nbformat.v4 import new_markdown_cell

    if not given:
        return
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stored = {
        id(cell)
        for cell, is_stored in zip(code, stored_cells([cell.source for cell in code]), strict=True)
        if is_stored
    }
    cells = [new_markdown_cell(banner(given))]
    for cell in notebook.cells:
        if id(cell) in stored and cell.outputs:
            cells.append(new_markdown_cell(STORED))
        cells.append(cell)
    notebook.cells = cells


def watch() -> None:
    """In a kernel, refuse unknown names in papermill's cell of parameters and show the banner below it."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not shell:
        return

    others = {}

    def checked(lines: list[str]) -> list[str]:
        if lines and lines[0] == INJECTED:
            given = _given("".join(lines))
            for name in given:
                if name not in shell.user_ns:
                    raise ValueError(f"parameter: this chapter has no {name!r}; its cell of parameters has all")
            others.update({name: value for name, value in given.items() if value != shell.user_ns[name]})
        return lines

    def said(result) -> None:
        from IPython.display import Markdown, display

        if others and MARKED not in os.environ:
            display(Markdown(banner(others)))
        others.clear()

    shell.input_transformers_cleanup.append(checked)
    shell.events.register("post_run_cell", said)


def _given(source: str) -> dict[str, object]:
    """The names and values of papermill's cell, each a line `name = literal`."""
    given = {}
    for line in ast.parse(source).body:
        if isinstance(line, ast.Assign):
            try:
                given[ast.unparse(line.targets[0])] = ast.literal_eval(line.value)
            except ValueError:  # float('nan')
                given[ast.unparse(line.targets[0])] = ast.unparse(line.value)
    return given
