"""One figure style; points, lines and maps that look the same for the same thing in every chapter.

Theory is a thick line, measurement is points with an interval, joined by a thin line where they are of one thing,
chance is a dashed line; always in the same axes. What is drawn how is said once, in `looks`. Figures are vector
drawings whose text stays text; a page draws the ink in the colour of its theme, light or dark.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .looks import GREY, INK, look

# Beside black and white, which pages exchange in the dark: text on a coloured cell keeps its colour.
_ON_LIGHT, _ON_DARK = "#111111", "#fefefe"


def style() -> None:
    """Set the book's figure style; the first cell of a chapter calls it."""
    import matplotlib.pyplot as plt
    from IPython import get_ipython

    plt.rcParams.update(
        {
            "figure.figsize": (6.4, 3.6),
            "figure.constrained_layout.use": True,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.edgecolor": INK,
            "grid.color": GREY,
            "grid.alpha": 0.25,
            "lines.linewidth": 2.0,
            "legend.frameon": False,
            "legend.fontsize": 9,
            "font.size": 10,
            "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
            "svg.fonttype": "none",
            "svg.hashsalt": "textsan",
        }
    )
    if shell := get_ipython():  # a notebook stores figures as SVG that is the same on every run
        from matplotlib_inline.config import InlineBackend

        backend: Any = InlineBackend.instance(parent=shell)
        backend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None, "Creator": None}}
        backend.figure_formats = {"svg"}


def points(
    ax,
    x: Sequence,
    estimates: Sequence,
    *,
    label: str | None = None,
    joined: bool = False,
    **of,
):
    """Measured values with their 95 % intervals.

    Args:
        x: abscissae; where they are measured too, (value, low, high) each.
        estimates: (value, low, high) each.
        label: legend entry; without it the look's own, empty for none.
        joined: draw a thin line from each point to the next; for points of one thing, in the order of a parameter.
        of: mechanism, attack, role or series, whose look it is, see `looks.look`.
    """
    drawn = look(**of)
    x, across = _bars(x) if np.ndim(x) == 2 else (x, None)
    values, along = _bars(estimates)
    dash = drawn.marker == "_"
    return ax.errorbar(
        x,
        values,
        xerr=across,
        yerr=along,
        marker=drawn.marker or "o",
        color=drawn.colour,
        markersize=12 if dash else 6,  # a dash is seen on both sides of what lies on it
        markeredgewidth=2.0 if dash else 1.0,
        capsize=3,
        capthick=1.0,
        elinewidth=1.5,
        linewidth=1.0,
        linestyle=drawn.line if joined else "none",
        label=drawn.label if label is None else label,
    )


def _bars(estimates: Sequence) -> tuple[list[float], list[list[float]]]:
    """Values, and how far their bars reach below and above."""
    # A percentile interval can miss its own value by rounding; an error bar cannot be negative.
    below = [max(0.0, e[0] - e[1]) for e in estimates]
    above = [max(0.0, e[2] - e[0]) for e in estimates]
    return [e[0] for e in estimates], [below, above]


def measured(ax, rows, x: str, attacks: Sequence[str], *, apart: float = 0.0, label: str = "{}"):
    """The success of some attacks in a result table: points with intervals beside one another, joined for each.

    Args:
        ax: matplotlib axes; on a logarithmic one, set before, neighbours are apart by a factor.
        rows: as from `sweeps.tables.load_tables`.
        x: the column of the abscissae.
        attacks: names in the registry; one that has no row is left out.
        apart: how far the points of two attacks at the same x are from each other, or by which factor less one.
        label: legend entries, of the attack's own.
    """
    for number, name in enumerate(attacks):
        some = rows[rows["attack"] == name].sort_values(x)
        at, step = some[x].astype(float), number - (len(attacks) - 1) / 2  # half of them on either side of x
        at = at * (1 + apart) ** step if ax.get_xscale() == "log" else at + apart * step
        if len(some):
            values = some[["asr", "low", "high"]].to_numpy()
            points(ax, at, values, attack=name, label=label.format(look(attack=name).label), joined=True)


def legend(figure, *, columns: int = 4):
    """Draw one legend for all panels of a figure, below them, off the data; each label is shown once."""
    shown: dict[str, Any] = {}
    for ax in figure.axes:
        shown |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    return figure.legend(shown.values(), shown, loc="outside lower center", ncols=columns)


def theory(ax, x: Sequence[float], y: Sequence[float], *, label: str | None = None, **of):
    """An exact value or bound, drawn as a line.

    Args:
        label: legend entry; without it the look's own, empty for none.
        of: mechanism, attack, role (`chance` for chance levels) or series, whose look it is, see `looks.look`.
    """
    drawn = look(**of)
    return ax.plot(x, y, drawn.line, color=drawn.colour, label=drawn.label if label is None else label)


def channel_map(ax, rows, inputs: Sequence[str], outputs: Sequence[str]):
    """A small channel as a heat map with word labels and a colour bar, values in the cells; blank where zero.

    Args:
        rows: (n_in, n_out) probabilities.
    """
    rows = np.ma.masked_equal(rows, 0.0)
    image = ax.imshow(rows, cmap="cividis", vmin=0, aspect="auto")
    for (x, y), value in np.ma.ndenumerate(rows):
        colour = _ON_DARK if image.norm(value) < 0.5 else _ON_LIGHT
        ax.text(y, x, f"{value:.3f}", ha="center", va="center", size=9, color=colour)
    ax.set_xticks(range(len(outputs)), outputs, rotation=45, ha="right")
    ax.set_yticks(range(len(inputs)), inputs)
    ax.set_xlabel("output y")
    ax.set_ylabel("input x")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label="Pr(y | x)")
    return image


def heat_map(ax, frame, *, label: str, largest: float | None = None):
    """A data frame of numbers as a heat map, values in the cells; blank where empty, blue below zero, red above.

    Args:
        frame: one row and one column a label, names of index and columns for the axes.
        label: what the numbers are, on the colour bar.
        largest: where the colours end, the same for maps that are compared; None is the frame's own.
    """
    import seaborn

    signed = bool((frame.min() < 0).any())
    colours = {"cmap": "vlag", "center": 0} if signed else {"cmap": "cividis", "vmin": 0}
    values = {"annot": True, "fmt": ".2f", "annot_kws": {"size": 8}}
    seaborn.heatmap(frame, ax=ax, vmax=largest, cbar_kws={"label": label}, **values, **colours)
    for text in ax.texts:
        text.set_color(_ON_DARK if text.get_color() == "w" else _ON_LIGHT)
    ax.grid(False)
    ax.tick_params(length=0)
    return ax
