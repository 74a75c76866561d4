"""Figures: everything drawn in its look, and the same bytes on every run."""

import io
import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from textsan import plotting
from textsan.attacks.registry import ATTACKS

ENVIRONMENT = os.environ | {"MPLBACKEND": "agg"}


@pytest.fixture
def ax(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    with plt.rc_context():
        plotting.style()
        figure, axes = plt.subplots()
        yield axes
        plt.close(figure)


def svg(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def test_points_have_the_look_and_label_of_the_attack(ax):
    line = plotting.points(ax, [1], [(0.5, 0.4, 0.6)], attack="markov")[0]
    assert (line.get_color(), line.get_marker(), line.get_linestyle()) == (ATTACKS["markov"].colour, "^", "None")
    assert ax.get_legend_handles_labels()[1] == ["Markov"]


def test_interval_that_misses_its_value_is_drawn(ax):
    plotting.points(ax, [1], [(0.5, 0.5 + 1e-17, 0.5 - 1e-9)], role="published", label="")
    assert ax.get_legend_handles_labels()[1] == []


@pytest.mark.parametrize("draw", [plotting.points, plotting.theory])
def test_nothing_is_drawn_in_a_colour_of_chance(ax, draw):
    with pytest.raises(ValueError, match="^look: name a mechanism"):
        draw(ax, [1], [(0.5, 0.4, 0.6)], label="something")
    with pytest.raises(KeyError, match="attack: name 'Markov' is unknown; known: unchanged, context-free, "):
        draw(ax, [1], [(0.5, 0.4, 0.6)], attack="Markov")


def test_drawing_is_the_same_every_time_keeps_its_text_and_says_no_date(ax):
    plotting.theory(ax, [0, 1], [0, 1], attack="context-free bound")
    ax.set(xlabel="epsilon", ylabel="attack success rate")
    once = svg(ax.figure)
    assert once == svg(ax.figure)
    assert ">attack success rate</text>" in once and "<dc:date>" not in once and "Matplotlib" not in once


def test_a_chapter_of_matrices_loads_neither_pandas_nor_torch():
    program = """
import sys
from matplotlib import pyplot as plt
from textsan import plotting
plotting.style()
figure, ax = plt.subplots()
plotting.channel_map(ax, [[0.9, 0.1], [0.2, 0.8]], ["a", "b"], ["a", "b"])
plotting.theory(ax, [0, 1], [0, 1], mechanism="santext")
repr(plotting.table([{"a": 1.5}])), repr(plotting.reading(["a"], {"b": ["c"]}))
print(sorted({"pandas", "torch", "seaborn"} & {*sys.modules}))
"""
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_notebook_stores_one_small_svg_the_same_on_every_run(monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the kernel's own shows figures in the page
    start = "from matplotlib import pyplot as plt\nfrom textsan import plotting\nplotting.style()"
    draw = "plotting.theory(plt.subplots()[1], [0, 1], [0, 1], role='bound');"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (start, draw, draw)])
    NotebookClient(book, timeout=120).execute()
    shown = [[out.data for out in cell.outputs if "data" in out] for cell in book.cells[1:]]
    kinds = {kind for data in shown for one in data for kind in one}
    assert "image/svg+xml" in kinds and "image/png" not in kinds
    first, second = ([one["image/svg+xml"] for one in data if "image/svg+xml" in one] for data in shown)
    assert len(first) == 1 and first == second and len(first[0]) < 30_000
