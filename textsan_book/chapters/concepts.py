"""Pictures of ideas: how probability flows through a channel, words in groups, the cells of nearest words.

What is drawn is computed: every picture shows the channel or the vectors that it is given, never a sketch of them.
"""

from collections.abc import Sequence

import numpy as np

from textsan.plotting.looks import GREY, look


def flow(ax, prior: Sequence[float], channel, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Draw probability on its way through a channel: a band from x to y is as wide as Pr(x) Pr(y | x).

    Words stand from top to bottom.
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
    """Project points on the plane that keeps most of their spread (their two principal components), (n, 2)."""
    centred = np.asarray(vectors, dtype=float) - np.mean(vectors, axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def grouped(ax, at: np.ndarray, words: Sequence[str], groups: Sequence[Sequence[int]]) -> None:
    """Draw words in a plane; each group has a colour, and lines from its first word, that it was made around."""
    for number, group in enumerate(groups):
        drawn = look(series=number)
        for other in group[1:]:
            ax.plot(*at[[group[0], other]].T, color=drawn.colour, linestyle="-", linewidth=1.2)
        ax.plot(*at[list(group)].T, drawn.marker, color=drawn.colour, label=f"group {number + 1}")
    _named(ax, at, words)


def cells(ax, at: np.ndarray, words: Sequence[str], landed: np.ndarray) -> None:
    """Draw the Voronoi cell of each word of a plane, and points (m, 2) that landed there in its colour."""
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
