"""Pictures of ideas where they enter the book: who sees what, Bayes' rule, a trellis, linkage, a frontier, a span.

As in `concepts`, what is drawn is computed from what is given: probabilities, likelihoods and distances are those
of a channel, of vectors or of matrices, never a sketch of them. The one drawing without numbers is `lanes`.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

import numpy as np

from textsan.plotting.looks import GREY, INK, look

READ, WRONG = look(series=0).colour, look(series=1).colour  # what is found, what is not or must not pass


class Lane(NamedTuple):
    """One thing that may be released: its name, what stays with the owner, what leaves, what is known besides."""

    name: str
    kept: str
    leaves: str
    known: str


def lanes(ax, rows: Sequence[Lane]) -> None:
    """Draw a lane for each thing that is released, from the owner to the attacker: who sees what.

    >>> import matplotlib.pyplot as plt
    >>> lanes(plt.subplots()[1], [Lane("words", "a good film", "a bad plot", "the channel")])
    """
    heads = ("stays with the owner", "leaves, and is seen", "is known besides")
    for column, head in enumerate(heads):
        ax.text(column + 0.5, 0.1, head, ha="center", va="bottom", color=GREY if column == 0 else INK, size=9)
    for number, row in enumerate(rows):
        y = -number - 0.5
        ax.text(-0.08, y, row.name, ha="right", va="center", weight="bold")
        for column, text in enumerate((row.kept, row.leaves, row.known)):
            edge = {0: GREY, 1: WRONG, 2: INK}[column]
            box = {"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": edge}
            box |= {"linestyle": "--" if column == 0 else "-"}
            ax.text(column + 0.5, y, fill(text, 21), ha="center", va="center", size=8.5, bbox=box)
        ax.annotate("", (1.1, y), (0.9, y), arrowprops={"arrowstyle": "->", "color": WRONG})
    ax.set(xlim=(-0.5, 2.95), ylim=(-len(rows), 0.35))
    ax.axis("off")


def bayes(axes, prior: Sequence[float], channel, words: Sequence[str], seen: int, name: str) -> np.ndarray:
    """Draw Bayes' rule for the released word number `seen`, and return the posterior of the originals.

    Prior, times the channel's column, is in proportion the posterior: three axes share their vertical one.
    """
    before, table = np.asarray(prior, dtype=float), np.asarray(channel, dtype=float)
    if table.ndim != 2 or len(table) != len(before) or len(words) != len(before):
        raise ValueError(f"channel: shape {table.shape} for {len(before)} probabilities and {len(words)} words")
    joint = before * table[:, seen]
    if not joint.sum():
        raise ValueError(f"seen: output {seen} is released for no word of the prior")
    after = joint / joint.sum()
    best, rows = int(after.argmax()), np.arange(len(words))
    titles = ("prior Pr(x)", f"×  Pr({name} | x)", f"∝  Pr(x | {name})")
    for ax, values, title in zip(axes, (before, table[:, seen], after), titles, strict=True):
        colours = [READ if ax is axes[2] and row == best else GREY for row in rows]
        ax.barh(rows, values, color=colours, height=0.6)
        for row, value in zip(rows, values, strict=True):
            ax.text(value + 0.03, row, f"{value:.2f}", va="center", size=9)
        ax.set(xlim=(0, 1.25), xticks=[], yticks=rows, yticklabels=words)
        ax.set_title(title, size=10)
        ax.set_ylim(len(words) - 0.4, -0.6)
        ax.grid(visible=False)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
    for ax in axes[1:]:
        ax.tick_params(labelleft=False)
    axes[2].text(0.03, best + 0.36, "best guess", va="top", size=9, color=READ)
    return after


def trellis(ax, initial, transition, emission, seen: Sequence[int], words, outputs) -> np.ndarray:
    """Draw a sentence read by forward-backward, dots Pr(x_t | y), lines Pr(x_t, x_{t+1} | y); return the dots."""
    A, P = np.asarray(transition, dtype=float), np.asarray(emission, dtype=float)
    forward, backward = [np.asarray(initial, dtype=float) * P[:, seen[0]]], [np.ones(len(A))]
    for y in seen[1:]:
        forward.append(P[:, y] * (forward[-1] @ A))
    for y in reversed(seen[1:]):
        backward.insert(0, A @ (P[:, y] * backward[0]))
    likelihood = forward[-1].sum()
    marginals = np.array(forward) * np.array(backward) / likelihood
    best = marginals.argmax(axis=1)
    for t, y in enumerate(seen[1:]):
        pairs = forward[t][:, None] * A * (P[:, y] * backward[t + 1]) / likelihood
        for x, following in np.ndindex(*pairs.shape):
            ax.plot([t, t + 1], [x, following], color=GREY, linewidth=14 * pairs[x, following], zorder=1)
    for t, row in enumerate(marginals):
        colours = [READ if x == best[t] else GREY for x in range(len(row))]
        ax.scatter(np.full(len(row), t), np.arange(len(row)), s=700 * row + 4, c=colours, zorder=2)
        for x, share in enumerate(row):
            if share >= 0.1:
                paper = {"facecolor": "#ffffff", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
                ax.text(t + 0.1, x - 0.22, f"{share:.2f}", va="center", size=9, bbox=paper)
    ax.set(xlim=(-0.5, len(seen) - 0.5), ylim=(len(A) - 0.5, -0.6), yticks=range(len(A)), yticklabels=words)
    ax.set_xticks(range(len(seen)), [f"released\n{outputs[y]}" for y in seen])
    ax.set_ylabel("original word")
    ax.grid(visible=False)
    return marginals


def matching(ax, documents: Sequence[Sequence[str]], scores, released: Sequence[str]) -> int:
    """Draw what each released word says for each candidate, and the sum; return and frame the one of the largest.

    Scores are log Pr(y_t | d_t) / Pr(y_t), in nats, (documents, words); all documents are as long as the release.
    """
    table = np.asarray(scores, dtype=float)
    if table.shape != (len(documents), len(released)):
        raise ValueError(f"scores: shape {table.shape} for {len(documents)} documents of {len(released)} words")
    sums, width = table.sum(axis=1), len(released)
    best, largest = int(sums.argmax()), np.abs(table).max()
    for t, word in enumerate(released):
        ax.text(t + 0.5, 0.75, word, ha="center", va="center", weight="bold", size=9)
    ax.text(-0.1, 0.75, "released", ha="right", va="center", size=9)
    ax.text(width + 0.75, 0.75, "sum", ha="center", va="center", size=9)
    for number, document in enumerate(documents):
        for t, word in enumerate(document):
            score = table[number, t]
            shade = {"alpha": 0.7 * abs(score) / largest, "facecolor": READ if score > 0 else WRONG}
            ax.add_patch(_cell(t, -number, shade))
            ax.text(t + 0.5, -number, word, ha="center", va="center", size=9)
        weight = "bold" if number == best else "normal"
        total = f"{sums[number]:+.1f}".replace("-", "−")
        ax.text(width + 0.75, -number, total, ha="center", va="center", size=9, weight=weight)
    top, bottom, end = -best + 0.46, -best - 0.46, width + 1.3
    ax.plot([0, end, end, 0, 0], [top, top, bottom, bottom, top], color=INK, linewidth=1.5)
    ax.set(xlim=(-1.2, width + 1.4), ylim=(-len(documents) + 0.4, 1.1))
    ax.axis("off")
    return best


def _cell(column: int, y: float, shade: dict):
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.03, y - 0.42), 0.94, 0.84, linewidth=0, **shade)


def above(ax, clouds, line, certificate) -> None:
    """Draw loss against disclosure of channels: every one lies above the frontier, and above a straight line.

    Channels and the frontier's points are (success of the best guess, expected distance); the certificate is a
    line below all channels: its value at success 0, and its fall for each unit of success.
    """
    x, y = np.transpose(clouds)
    ax.plot(x, y, ".", color=READ, markersize=3, alpha=0.5, label="channels drawn at random", zorder=1)
    across, least = np.transpose(line)
    ax.fill_between(across, least, 0, color=GREY, alpha=0.25, linewidth=0)
    ax.plot(across, least, color=INK, label="frontier: the least distance")
    ends = across[[0, -1]]
    ax.plot(ends, certificate[0] - certificate[1] * ends, ":", color=WRONG, label="a line below every channel")
    ax.text(across[0] + 0.03 * np.ptp(across), 0.06 * max(y), "no channel is here", va="bottom", size=9)
    ax.set(xlim=tuple(ends), ylim=(0, 1.05 * max(y)))
    ax.set(xlabel="given away: success of the best guess", ylabel="lost: expected distance")


def read_back(axes, vector: Sequence[float], posterior: Sequence[float], values: Sequence[str], true: int) -> None:
    """Draw a vector as the strip of its numbers, and what an attacker reads in it: a probability a value.

    >>> import matplotlib.pyplot as plt
    >>> read_back(plt.subplots(2)[1], [0.1, -0.2], [0.3, 0.7], ["Jan", "Feb"], 1)
    """
    strip, bars = axes
    numbers = np.asarray(vector, dtype=float)
    largest = np.abs(numbers).max()
    strip.imshow(numbers[None], cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest")
    strip.set(xticks=[], yticks=[])
    strip.set_title(f"what is released: a vector of {len(numbers)} numbers", size=10)
    places = np.arange(len(values))
    colours = [READ if place == true else GREY for place in places]
    bars.bar(places, posterior, color=colours, width=0.7)
    bars.axhline(1 / len(values), linestyle="--", color=GREY, linewidth=1.2)
    bars.set_xticks(places, values)
    bars.set_title("what is read in it; the true value in colour, a blind guess dashed", size=10)
    bars.set(ylabel="probability")
    for ax in axes:
        ax.grid(visible=False)


def span(ax, inputs, rows, candidates, names: Sequence[str]) -> np.ndarray:
    """Draw the plane that the rows of a gradient span in three dimensions, and return candidates' distances to it.

    `inputs` (2, 3) are the two vectors that the layer has read.
    """
    matrix = np.asarray(rows, dtype=float)
    _, sizes, basis = np.linalg.svd(matrix)
    if (sizes > 1e-9 * sizes[0]).sum() != 2:
        raise ValueError("rows: they span no plane; take two independent inputs")
    basis = basis[:2]
    points = np.asarray(candidates, dtype=float)
    landed = points @ basis.T @ basis
    away = np.linalg.norm(points - landed, axis=1)
    normal = np.cross(*basis)
    # Looked at from the side: the plane is foreshortened, what stands out of it points upwards.
    view = np.array([basis[0] + 0.35 * basis[1], 0.35 * basis[1] + 0.94 * normal])
    reach = 1.15 * max(np.abs(matrix @ basis.T).max(), np.abs(landed @ basis.T).max())
    corners = reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ basis @ view.T
    ax.fill(*corners.T, color=GREY, alpha=0.2, linewidth=0)
    ax.plot(*(matrix @ view.T).T, ".", color=GREY, label="rows of the gradient")
    for number, vector in enumerate(np.asarray(inputs, dtype=float) @ view.T):
        ax.annotate("", vector, (0, 0), arrowprops={"arrowstyle": "->", "color": INK})
        ax.annotate(f"x{number + 1}", vector, xytext=(4, 4), textcoords="offset points", style="italic")
    for name, point, foot, distance in zip(names, points @ view.T, landed @ view.T, away, strict=True):
        colour = READ if distance < 1e-9 * reach else WRONG
        ax.plot(*np.transpose([foot, point]), ":", color=colour, linewidth=1.5)
        ax.plot(*point, "o" if colour == READ else "X", color=colour, markersize=8)
        note = f"{name}: passes" if colour == READ else f"{name}: {distance:.2f} away"
        ax.annotate(note, point, xytext=(7, -12 if colour == READ else 4), textcoords="offset points", size=9)
    ax.axis("off")
    return np.where(away < 1e-12, 0.0, away)
