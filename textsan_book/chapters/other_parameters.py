"""A run with other parameters says so: at its top, at outputs that stay the same, and where a name is unknown.

Summary boxes, captions and the words between the cells are of the default run. `textsan run` writes this into the
notebook that it makes. Plain papermill cannot, so the kernel shows the banner below the cell that papermill puts
behind the chapter's own parameters, and refuses names that the chapter does not have.
"""

import ast
import os
import sys
from collections.abc import Mapping

from textsan_book.chapters import compare

INJECTED = "# Parameters\n"
"""First line that papermill writes in the cell of the parameters that it was given."""

MARKED = "TEXTSAN_MARKED"
"""The variable that is set where the notebook gets its banner after the run, so that the kernel shows none."""

SAME = "*As on the page:* this cell shows the same with the page's own parameters."


def banner(given: Mapping[str, object]) -> str:
    """Write a warning in Markdown for a run with other parameters than the defaults.

    >>> banner({"words": 5}).splitlines()[0]
    '> **This run has other parameters than the page:** `words = 5`.'
    """
    values = ", ".join(f"`{name} = {value!r}`" for name, value in given.items())
    return (
        f"> **This run has other parameters than the page:** {values}.\n"
        "> Summary box, captions and text describe the default run and may not hold here. Outputs that are "
        "computed from stored tables do not change with the parameters, or only in what is selected."
    )


def mark(notebook, given: Mapping[str, object], page=None) -> None:
    """Put the banner on top of an executed notebook, and a line before each output that is as on the page.

    Without parameters that differ nothing is done.
    """
    from nbformat.v4 import new_markdown_cell

    if not given:
        return
    stored = {cell.source: cell.outputs for cell in page.cells if cell.cell_type == "code"} if page else {}
    cells = [new_markdown_cell(banner(given))]
    for cell in notebook.cells:
        shown = cell.get("outputs") and stored.get(cell.source)
        if shown and not any(compare.output_differences(shown, cell.outputs, 0)):
            cells.append(new_markdown_cell(SAME))
        cells.append(cell)
    notebook.cells = cells


def watch() -> None:
    """Refuse, in a kernel, unknown names in papermill's cell of parameters, and show the banner below it."""
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
