"""The pictures of the front page, as SVG and HTML of the page and as one PNG for previews of links.

Drawn from what `front` has computed. They are about as wide as the column of a phone, so that their letters have
the same size there and on a desktop.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from textsan.plotting.looks import GREY, look
from textsan_book.chapters import front
from textsan_book.chapters.front import Budget, Setting

WIDTH = 390  # of a drawing, in pixels
_LEGIBLE = 0.06  # of a bar: a narrower segment has no number, which would lie over the one before
READ = {  # what a segment of a bar is called, and its colour: that of its attack everywhere in the book
    "unchanged": ("come out unchanged", GREY),
    "counted": ("read by counting words", look(attack="context-free").colour),
    "language": ("read with a small language model", look(attack="mixture").colour),
}
_LABELS = {"santext": (0.10, 0.10, "start"), "santext+": (0.66, 0.58, "end"), "custext": (0.45, 0.02, "start")}
_LABELS |= {"custext+": (0.62, 0.10, "start")}  # where a sanitizer's name stands, in shares of the axes


def bars(budgets: Sequence[Budget]) -> tuple[str, str]:
    """Of 100 protected words one bar an epsilon: unchanged, read by counting, with a language model, not read.

    Args:
        budgets: from `front.budgets`.

    Returns:
        the SVG, and in words what it shows.
    """
    left, wide, high = 46, 336, 30
    parts, said, y = [_text(left, 14, "of 100 protected words of a public list")], [], 26
    for one in budgets:
        shares = {"unchanged": one.unchanged, "counted": one.counted, "language": one.language}
        parts.append(_text(left - 6, y + 20, f"ε = {one.epsilon:g}", "end"))
        start = 0.0
        for name, share in shares.items():
            end = share.value
            parts.append(_rect(left + wide * start, y, wide * (end - start), high, READ[name][1]))
            if end - start > _LEGIBLE:
                parts.append(_text(left + wide * end - 4, y + 20, front.hundred(end), "end", ink(READ[name][1])))
            low, top = (left + wide * edge for edge in (share.low, share.high))
            parts.append(f'<path d="M{low:.1f} {y + high + 4}H{top:.1f}" stroke="currentColor" stroke-width="2"/>')
            start = end
        parts.append(_rect(left + wide * start, y, wide * (1 - start), high, None))
        parts.append(_text(left + wide - 6, y + 20, f"{front.hundred(1 - start)} not read", "end"))
        read = ", ".join(f"{front.ends(share)} {READ[name][0]}" for name, share in shares.items())
        said.append(f"ε = {one.epsilon:g}: {read}")
        y += high + 14
    for label, colour in [*READ.values(), ("not read by these attackers", None)]:
        parts.append(_rect(left, y + 2, 12, 12, colour))
        parts.append(_text(left + 20, y + 13, label))
        y += 19
    return _svg(y + 4, parts), f"Bars of 100 protected words of a public list. {'; '.join(said)}"


def dots(settings: Sequence[Setting], least: Sequence[Setting]) -> tuple[str, str]:
    """What is given away of a document against what a classifier keeps, a dot for each mechanism and epsilon.

    Args:
        settings: from `front.settings`.
        least: from `front.least_distance`; a cross each.

    Returns:
        the SVG, and in words what it shows.
    """

    def x(share: float) -> float:
        return 46 + 330 * share

    def y(share: float) -> float:
        return 222 - 206 * share

    parts = [
        f'<rect x="{x(0)}" y="{y(1)}" width="{x(0.5) - x(0)}" height="{y(0.5) - y(1)}" '
        f'fill="{GREY}" opacity=".15"/>'
    ]
    parts += [_text(x(0.03), y(0.9), "what one would like:"), _text(x(0.03), y(0.82), "no sanitizer is here")]
    for share in (0.0, 0.5, 1.0):
        lines = f"M{x(0)} {y(share)}H{x(1)}M{x(share)} {y(0)}V{y(1)}"
        parts.append(f'<path d="{lines}" stroke="currentColor" stroke-opacity=".25" fill="none"/>')
        parts.append(_text(x(0) - 6, y(share) + 5, front.hundred(share), "end"))
        parts.append(_text(x(share), y(0) + 18, front.hundred(share), "middle"))
    for name, label in front.SANITIZERS.items():
        colour = look(mechanism=name).colour
        mine = sorted((one for one in settings if one.mechanism == name), key=lambda one: one.epsilon)
        at = [f"{x(one.given):.1f} {y(max(one.kept.value, 0)):.1f}" for one in mine]
        parts.append(f'<path d="M{"L".join(at)}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for one, place in zip(mine, at, strict=True):
            title = (
                f"{label}, ε = {one.epsilon:g}: {front.hundred(one.given)} given away, {front.ends(one.kept)} kept"
            )
            where = place.split()
            circle = f'cx="{where[0]}" cy="{where[1]}" r="4" fill="{colour}"'
            parts.append(f"<circle {circle}><title>{escape(title)}</title></circle>")
        across, up, side = _LABELS[name]
        parts.append(_text(x(across), y(up), label, side, mark=colour))
    crosses = [(x(one.given), y(max(one.kept.value, 0)), one) for one in least]
    for across, up, one in crosses:
        title = f"least distance: {front.hundred(one.given)} given away, {front.ends(one.kept)} kept"
        path = f"M{across - 4:.1f} {up - 4:.1f}l8 8m0 -8l-8 8"
        parts.append(f'<path d="{path}" stroke="currentColor" stroke-width="2"><title>{title}</title></path>')
    parts += [_text(x(0.03), y(0.62), "× least distance,"), _text(x(0.03), y(0.54), "no promise")]
    parts.append(_text(x(0.5), 262, "given away, of 100 parts of a document", "middle"))
    turned = f'transform="translate(12,{y(0.5):.0f}) rotate(-90)" text-anchor="middle" fill="currentColor"'
    parts.append(f"<text {turned}>kept, of 100 parts of a task</text>")
    private = [one for one in settings if one.given < 0.5]
    said = f"{len(settings)} dots; of the {len(private)} with less than half given away none keeps half"
    said += f"; {len(least)} crosses of least distance: " + ", ".join(
        f"{front.hundred(one.given)} given away and {front.ends(one.kept)} kept" for one in least
    )
    return _svg(270, parts), said


def lines(marked: dict[str, list[tuple[str, str]]]) -> str:
    """A sentence as written, released and read back, the words that were read marked.

    Args:
        marked: from `front.reading`.
    """
    tags = {"": "{}", "kept": '<span class="kept">{}</span>', "same": "<b>{}</b>", "hit": "<mark>{}</mark>"}
    rows = []
    for label, words in marked.items():
        shown = " ".join(tags[kind].format(escape(word)) for word, kind in words)
        rows.append(f"<dt>{label}</dt><dd>{shown}</dd>")
    return f'<dl class="three-lines">{"".join(rows)}</dl>'


def squares(board) -> str:
    """A square for every published number, by what became of it.

    Args:
        board: from `front.published`.
    """
    order = ["differs", "undecided", "agrees", "trivial", "not compared"]
    groups = sorted(board.groupby("shown"), key=lambda one: order.index(one[0]))
    kinds = [(kind, rows) for kind, rows in groups]
    cells = "".join(f'<i class="{kind.replace(" ", "-")}"></i>' * len(rows) for kind, rows in kinds)
    easy = front.blind_guesses(board)
    names = {"differs": "differ", "agrees": f"agree ({easy} are blind guesses)"}
    names["trivial"] = "agree, but would with no effect as well"
    legend = "".join(
        f'<span><i class="{kind.replace(" ", "-")}"></i> {len(rows)} {names.get(kind, kind)}</span>'
        for kind, rows in kinds
    )
    said = ", ".join(f"{len(rows)} {names.get(kind, kind)}" for kind, rows in kinds)
    picture = f'<span class="squares" role="img" aria-label="{len(board)} squares: {said}">{cells}</span>'
    return f'{picture}<span class="legend">{legend}</span>'


def card(budgets: Sequence[Budget], title: str, path: Path) -> None:
    """The first picture with the book's title as a PNG of 1200 x 630 pixels, which previews of a link show.

    Args:
        budgets: from `front.budgets`.
        title: of the book.
        path: where it is written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.06, 0.84, title, fontsize=34, weight="bold")
    figure.text(0.06, 0.75, "Of 100 listed words that CusText+ protects", fontsize=20)
    ax = figure.add_axes((0.14, 0.22, 0.8, 0.48))
    for place, one in enumerate(reversed(budgets)):
        start = 0.0
        for name, share in (("unchanged", one.unchanged), ("counted", one.counted), ("language", one.language)):
            ax.barh(place, share.value - start, left=start, color=READ[name][1], height=0.62)
            where = {"ha": "right", "va": "center", "fontsize": 18, "color": ink(READ[name][1])}
            if share.value - start > _LEGIBLE:
                ax.text(share.value - 0.008, place, front.hundred(share.value), **where)
            start = share.value
        ax.barh(place, 1 - start, left=start, color="none", edgecolor=GREY, height=0.62)
    ax.set(xlim=(0, 1), yticks=range(len(budgets)), xticks=[])
    ax.set_yticklabels([f"ε = {one.epsilon:g}" for one in reversed(budgets)], fontsize=20)
    ax.set_frame_on(False)
    ax.tick_params(length=0)
    for place, (label, colour) in zip((0.14, 0.38, 0.65), READ.values(), strict=True):
        figure.text(place, 0.11, "■", color=colour, fontsize=20)
        figure.text(place + 0.022, 0.115, label, fontsize=15)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


PARTS: dict[str, Callable[[Path], str | tuple[str, str]]] = {
    "three lines": lambda root: lines(front.reading(root)),
    "of 100 words": lambda root: bars(front.budgets(root)),
    "given away": lambda root: dots(front.settings(root), front.least_distance(root)),
    "published numbers": lambda root: squares(front.published(root)),
}


def ink(colour: str) -> str:
    """Black or white, what can be read on a colour: the one of more contrast, by relative luminance.

    Args:
        colour: "#rrggbb".

    >>> ink("#ffff00"), ink("#0000ff")
    ('#000000', '#ffffff')
    """
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#ffffff"


def _svg(height: float, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" class="front">{"".join(parts)}</svg>'


def _rect(x: float, y: float, width: float, height: float, colour: str | None) -> str:
    inside = f'fill="{colour}"' if colour else 'fill="none" stroke="currentColor" stroke-opacity=".4"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" {inside}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "currentColor", mark: str = ""):
    """Text after a mark: letters of the mark's own colour would be hard to read on one of the two grounds."""
    given = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    before = f'<tspan fill="{mark}">■</tspan> ' if mark else ""
    return f"<text {given}>{before}{escape(text)}</text>"
