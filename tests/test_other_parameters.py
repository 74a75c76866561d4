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


def test_no_banner_where_nothing_differs_and_an_unknown_parameter_stops(tmp_path):
    assert "other parameters" not in shown(ran(tmp_path, epsilon=1.0))
    with pytest.raises(papermill.PapermillExecutionError, match="parameter: this chapter has no 'epsilonn'"):
        ran(tmp_path, epsilonn=2.0)


def test_marks_stand_before_outputs_that_are_as_on_the_page_and_the_banner_on_top():
    sources = ["rows = 3", "print(rows)", "print(epsilon)", "print('new')"]

    def ran_with(epsilon, number):
        texts = ["", "3\n", f"{epsilon}\n", "new\n"]
        outputs = [[new_output("stream", text=text)] if text else [] for text in texts]
        cells = [new_code_cell(one, outputs=shown) for one, shown in zip(sources, outputs, strict=True)]
        return new_notebook(cells=[new_markdown_cell("# A chapter"), *cells[:number]])

    notebook = ran_with(2.0, 4)
    other_parameters.mark(notebook, {"epsilon": 2.0}, ran_with(1.0, 3))
    above = [a.source for a, b in zip(notebook.cells, notebook.cells[1:], strict=False) if b.source == sources[1]]
    assert above == [other_parameters.SAME]
    assert [cell.source for cell in notebook.cells].count(other_parameters.SAME) == 1
    assert "`epsilon = 2.0`" in notebook.cells[0].source and notebook.cells[1].source == "# A chapter"
    notebook = ran_with(2.0, 4)
    other_parameters.mark(notebook, {"epsilon": 2.0})
    assert len(notebook.cells) == 6
