"""One figure style, one colour a mechanism, one marker an attack.

Theory is a line, measurement is points with an interval, chance is a dashed line; always in the same axes.
"""

from collections.abc import Mapping, Sequence

# Okabe and Ito's palette, safe for colour-blind readers.
COLOURS = {
    "Random": "#999999",
    "SanText": "#0072B2",
    "SanText+": "#56B4E9",
    "CusText": "#D55E00",
    "CusText+": "#E69F00",
    "FBDD": "#009E73",
    "Mahalanobis": "#CC79A7",
    "Vickrey": "#7B3294",
    "TEM": "#5B4B00",
}
MARKERS = {
    "unchanged": "_",
    "context-free": "o",
    "contextual": "s",
    "density ratio": "D",
    "Markov": "^",
    "noisy channel": "v",
    "mix": "*",
    "embedding inversion": "x",
    "inversion BERT": "P",
    "mask inference": "X",
}


def style() -> None:
    """Set the book's figure style; the first cell of a chapter calls it."""
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "lines.linewidth": 2.0,
            "legend.frameon": False,
            "font.size": 10,
            "svg.hashsalt": "textsan",
        }
    )


def points(ax, x: Sequence[float], estimates: Sequence, *, label: str, attack: str = "", mechanism: str = ""):
    """Measured values with their 95 % intervals.

    Args:
        ax: matplotlib axes.
        x: abscissae.
        estimates: (value, low, high) each.
        label: legend entry.
        attack, mechanism: keys of `MARKERS` and `COLOURS`.
    """
    values = [e[0] for e in estimates]
    # A percentile interval can miss its own value by rounding; an error bar cannot be negative.
    below = [max(0.0, e[0] - e[1]) for e in estimates]
    above = [max(0.0, e[2] - e[0]) for e in estimates]
    return ax.errorbar(
        x,
        values,
        yerr=[below, above],
        fmt=MARKERS.get(attack, "o"),
        color=COLOURS.get(mechanism),
        markersize=6,
        capsize=3,
        linestyle="none",
        label=label,
    )


def theory(ax, x: Sequence[float], y: Sequence[float], *, label: str, mechanism: str = "", dashed: bool = False):
    """An exact value or bound, drawn as a line; `dashed` for chance levels."""
    style = "--" if dashed else "-"
    return ax.plot(x, y, style, color=COLOURS.get(mechanism), label=label)


def channel_map(ax, rows, inputs: Sequence[str], outputs: Sequence[str]):
    """A channel, or a part of one, as a heat map with word labels and a colour bar."""
    image = ax.imshow(rows, cmap="cividis", vmin=0, aspect="auto")
    ax.set_xticks(range(len(outputs)), outputs, rotation=45, ha="right")
    ax.set_yticks(range(len(inputs)), inputs)
    ax.set_xlabel("output y")
    ax.set_ylabel("input x")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label="Pr(y | x)")
    return image


def reading(truth: Sequence[str], lines: Mapping[str, Sequence[str]]):
    """Sentences under one another, the words that equal `truth` at their position marked.

    Args:
        truth: the original words.
        lines: label and words of each sentence, all as long as `truth`.
    """
    import html

    from IPython.display import HTML

    def marked(words):
        pairs = zip(truth, words, strict=True)
        return " ".join(f"<b><u>{html.escape(w)}</u></b>" if t == w else html.escape(w) for t, w in pairs)

    rows = "".join(
        f"<tr><th style='text-align:left;white-space:nowrap;vertical-align:top'>{html.escape(label)}</th>"
        f"<td style='text-align:left'>{marked(words)}</td></tr>"
        for label, words in lines.items()
    )
    return HTML(f"<table>{rows}</table>")


def table(rows: Sequence[Mapping]):
    """Rows as a data frame of text, the first column as its index: four digits, estimates as value [low, high].

    Args:
        rows: one mapping from column to value a row, all with the same columns.
    """
    import pandas as pd

    def text(value):
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    frame = pd.DataFrame([{column: text(value) for column, value in row.items()} for row in rows])
    return frame.set_index(frame.columns[0])
