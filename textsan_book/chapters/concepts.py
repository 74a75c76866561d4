"""Pictures of ideas: how probability flows through a channel, words in groups, the cells of nearest words.

What is drawn is computed: every picture shows the channel or the vectors that it is given, never a sketch of them.
"""

from collections.abc import Sequence

import numpy as np

from textsan.plotting.looks import GREY, look


def flow(ax, prior: Sequence[float], channel, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Probability on its way through a channel: a band from x to y is as wide as Pr(x) Pr(y | x).

    Args:
        ax: matplotlib axes; all its decoration is taken off.
        prior: Pr(x), as many as there are inputs; they sum to 1.
        channel: Pr(y | x), shape (inputs, outputs), rows sum to 1.
        inputs, outputs: names of its rows and columns, from top to bottom.

    Raises:
        ValueError: shapes do not fit.

    >>> import matplotlib.pyplot as plt
    >>> flow(plt.subplots()[1], [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], ["good", "bad"], ["good", "bad"])
    """
    joint = np.asarray(prior, dtype=float)[:, None] * np.asarray(channel, dtype=float)
    if joint.shape != (len(inputs), len(outputs)):
        raise ValueError(f"channel: {joint.shape[0]} x {joint.shape[1]} for {len(inputs)} x {len(outputs)} names")
    gap = 0.06  # between two words of one side
    left, right = _tops(joint.sum(axis=1), gap), _tops(joint.sum(axis=0), gap)
    across = np.linspace(0, 1, 50)
    bend = across**2 * (3 - 2 * across)
    from_left, from_right = left.copy(), right.copy()
    for i in range(len(inputs)):
        for j in range(len(outputs)):
            top = from_left[i] + (from_right[j] - from_left[i]) * bend
            colour = look(series=i).colour
            ax.fill_between(across, top, top - joint[i, j], color=colour, alpha=0.55, linewidth=0)
            from_left[i] -= joint[i, j]
            from_right[j] -= joint[i, j]
    for names, tops, shares, x, side in (
        (inputs, left, joint.sum(axis=1), -0.02, "right"),
        (outputs, right, joint.sum(axis=0), 1.02, "left"),
    ):
        for name, top, share in zip(names, tops, shares, strict=True):
            ax.text(x, top - share / 2, f"{name}  {share:.2f}", ha=side, va="center")
    ax.set(xlim=(-0.3, 1.3))
    ax.axis("off")


def _tops(shares: np.ndarray, gap: float) -> np.ndarray:
    """The upper ends of stacked bars with gaps between them, from the top down."""
    return -np.concatenate([[0], np.cumsum(shares[:-1] + gap)])


def plane(vectors) -> np.ndarray:
    """Points in the plane that keeps most of their spread (their two principal components), shape (n, 2).

    Three points lose nothing.

    >>> bool(np.isclose(np.linalg.norm(np.diff(plane([[0, 0, 0], [3, 0, 4], [0, 1, 0]]), axis=0)[0]), 5))
    True
    """
    centred = np.asarray(vectors, dtype=float) - np.mean(vectors, axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def grouped(ax, at: np.ndarray, words: Sequence[str], groups: Sequence[Sequence[int]]) -> None:
    """Words in a plane; each group has a colour, and lines from the word that it was made around.

    Args:
        ax: matplotlib axes.
        at: places of the words, shape (n, 2).
        words: n of them.
        groups: indices of words; the first of a group is the one whose neighbours the others are.
    """
    for number, group in enumerate(groups):
        drawn = look(series=number)
        for other in group[1:]:
            ax.plot(*at[[group[0], other]].T, color=drawn.colour, linestyle="-", linewidth=1.2)
        ax.plot(*at[list(group)].T, drawn.marker, color=drawn.colour, label=f"group {number + 1}")
    _named(ax, at, words)


def cells(ax, at: np.ndarray, words: Sequence[str], landed: np.ndarray) -> None:
    """The part of a plane that is nearest to each word, its Voronoi cell, and points that landed there.

    Args:
        ax: matplotlib axes.
        at: places of the words, shape (n, 2).
        words: n of them.
        landed: points, shape (m, 2), each drawn in the colour of its nearest word.
    """
    reach = np.abs(np.concatenate([at, landed])).max() * 1.05
    line = np.linspace(-reach, reach, 300)
    grid = np.stack(np.meshgrid(line, line), axis=-1)
    owner = _nearest(grid, at)
    for number in range(len(at)):
        colour, mine = look(series=number).colour, landed[_nearest(landed, at) == number]
        ax.contour(line, line, owner == number, levels=[0.5], colors=GREY, linewidths=1)
        ax.plot(*mine.T, ".", color=colour, markersize=3, alpha=0.6)
        ax.plot(*at[number], "o", color=colour, markersize=9)
    _named(ax, at, words)
    ax.set(aspect="equal")


def _nearest(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[..., None, :] - at, axis=-1).argmin(axis=-1)


def _named(ax, at: np.ndarray, words: Sequence[str]) -> None:
    for place, word in zip(at, words, strict=True):
        ax.annotate(word, place, xytext=(7, 5), textcoords="offset points", fontweight="bold")
    ax.margins(0.15)
    ax.set(xticks=[], yticks=[])
    ax.grid(visible=False)
