"""Runs with other parameters: the banner, the marks of stored tables, and names that a chapter does not have."""

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from textsan_book.chapters import other_parameters

CODE = ["import numpy as np\nimport textsan_book", "epsilon = 1.0  # a parameter\nwords = 5", "print(epsilon)"]


def ran(tmp_path, **given):
    cells = [new_code_cell(source) for source in CODE]
    cells[1].metadata["tags"] = ["parameters"]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), tmp_path / "chapter.ipynb")
    return papermill.execute_notebook(
        tmp_path / "chapter.ipynb", tmp_path / "out.ipynb", given, kernel_name="python3", progress_bar=False
    )


def shown(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("text") or output["data"].get("text/markdown", "") for output in outputs)


def test_plain_papermill_shows_the_banner_below_other_parameters(tmp_path):
    text = shown(ran(tmp_path, epsilon=2.0, words=5))
    assert "other parameters than the page:** `epsilon = 2.0`.\n" in text and "2.0\n" in text


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0}])
def test_no_banner_where_nothing_differs(tmp_path, given):
    assert "other parameters" not in shown(ran(tmp_path, **given))


def test_plain_papermill_with_an_unknown_parameter_stops(tmp_path):
    with pytest.raises(papermill.PapermillExecutionError, match="parameter: this chapter has no 'epsilonn'"):
        ran(tmp_path, epsilonn=2.0)


def test_marks_stand_before_outputs_of_stored_tables_and_the_banner_on_top():
    cells = [new_markdown_cell("# A chapter")]
    sources = [
        "import textsan\nfrom textsan.sweeps import tables\nrows = 3",
        "stored = tables.load_tables(textsan.project_data() / 'results', 'a.csv')",  # shows nothing
        "print(rows)",
        "def mean(rows):\n    return rows.mean()\n\n\nprint(mean(3))",
        "best = {name: one.max() for name, one in stored.groupby('name')}\nprint(best)",
        "lines = []\nfor one in stored.itertuples():\n    lines.append(one)",
        "print(lines)",
        "best = 3\nprint(best)",
        "%matplotlib inline",
    ]
    cells += [
        new_code_cell(one, outputs=[new_output("stream", text="x")] if "print" in one else []) for one in sources
    ]
    notebook = new_notebook(cells=cells)
    other_parameters.mark(notebook, {"epsilon": 2.0})
    before = [a.source for a, b in zip(notebook.cells, notebook.cells[1:], strict=False) if b.source in sources]
    marked = [source for source, above in zip(sources, before, strict=True) if above == other_parameters.STORED]
    assert marked == [sources[4], sources[6]]
    assert "`epsilon = 2.0`" in notebook.cells[0].source and notebook.cells[1].source == "# A chapter"


def test_a_run_without_other_parameters_stays_as_it_is():
    notebook = new_notebook(cells=[new_code_cell("rows = load_tables('a.csv')\nprint(rows)")])
    other_parameters.mark(notebook, {})
    assert len(notebook.cells) == 1


def test_figures_drawn_of_a_table_are_of_it():
    sources = ["rows = load_hits(path)", "figure, ax = plt.subplots()", "ax.plot(rows)", "ax.legend()", "print(2)"]
    found = other_parameters.stored_cells(["import matplotlib.pyplot as plt", *sources])
    assert found == [False, True, False, True, True, False]
