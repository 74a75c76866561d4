"""The pictures of the front page, as SVG and HTML of the page and as one PNG for previews of links.

Drawn from what `front` has computed. They are about as wide as the column of a phone, so that their letters have
the same size there and on a desktop.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from textsan.plotting.looks import GREY, look
from textsan_book.judging import front
from textsan_book.judging.front import PATH, Budget, Claim, Line, Setting
from textsan_book.judging.stored import called

WIDTH = 390  # of a drawing, in pixels
_LEGIBLE = 0.06  # of a bar: a narrower segment has no number, which would lie over the one before
READ = {  # of a segment of a bar its name, its colour, that of its attack, and a colour that can be read on it
    "unchanged": ("released unchanged", GREY, "#000000"),
    "counted": ("recovered by counting words", look(attack="context-free").colour, "#ffffff"),
    "language": ("with a language model", look(attack="mixture").colour, "#ffffff"),
}
SHOWN = 4
"""The epsilon of the card before anybody chooses another."""
_WRITTEN = {  # at some of its settings: the words, and how far from the point, to the right and down, they stand
    2: ("ε = 1, 2", -4, -52, "middle"),
    3: ("ε = 3", 2, -12, "middle"),
    4: ("ε = 4", 10, 5, "start"),
    5: ("ε = 5", -9, 0, "end"),
    10: ("ε = 10", 6, 18, "middle"),
}
_WIDEST = 0.25  # margin of a claim that has room in the drawing; what is beyond stands at its edge
_KINDS = {"holds": "reproduced", "does not hold": "refuted", "undecided": "open", "no verdict": "open"}
_VERDICTS = {  # colour and mark
    "reproduced": ("#0096e1", '<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}"/>'),
    "refuted": ("#d22d1e", '<path d="M{x:.1f} {y}m-4 -4h8v8h-8z" fill="{colour}"/>'),
    "open": (GREY, '<circle cx="{x:.1f}" cy="{y}" r="3" fill="none" stroke="{colour}" stroke-width="1.5"/>'),
}


def tradeoff(settings: Sequence[Setting]) -> tuple[str, str]:
    """Draw disclosure of a document against what a classifier keeps: an SVG, and in words what it shows."""

    def x(share: float) -> float:
        return 46 + 320 * share

    def y(share: float) -> float:
        return 252 - 236 * max(share, 0)

    corner = f'x="{x(0)}" y="{y(1)}" width="{x(0.5) - x(0)}" height="{y(0.5) - y(1)}"'
    parts = [f'<rect {corner} fill="{GREY}" opacity=".15"/>']
    parts += [_text(x(0.25), y(0.78), "private and useful:", "middle"), _text(x(0.25), y(0.71), "empty", "middle")]
    for share in (0.0, 0.5, 1.0):
        grid = f"M{x(0)} {y(share)}H{x(1)}M{x(share)} {y(0)}V{y(1)}"
        parts.append(f'<path d="{grid}" stroke="currentColor" stroke-opacity=".25" fill="none"/>')
        parts.append(_text(x(0) - 6, y(share) + 5, front.percent(share), "end"))
        parts.append(_text(x(share), y(0) + 18, f"{front.percent(share)} %", "middle"))
    path = sorted((one for one in settings if one.mechanism == PATH), key=lambda one: one.epsilon)
    others = [one for one in settings if one.mechanism != PATH]
    parts += [_dot(x(one.disclosed), y(one.kept.value), one, GREY, 3.5) for one in others]
    colour = look(mechanism=PATH).colour
    points = [f"{x(one.disclosed):.1f} {y(one.kept.value):.1f}" for one in path]
    parts.append(f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for one in path:
        across = x(one.disclosed)
        ends = f"M{across:.1f} {y(one.kept.low):.1f}V{y(one.kept.high):.1f}"
        parts.append(f'<path d="{ends}" stroke="{colour}" stroke-opacity=".5"/>')
        parts.append(_dot(across, y(one.kept.value), one, colour, 5))
        if one.epsilon in _WRITTEN:
            name, right, down, side = _WRITTEN[one.epsilon]
            parts.append(_text(across + right, y(one.kept.value) + down, name, side, weight="bold"))
    parts.append(_text(x(0.5), 290, "disclosed words of a document", "middle"))
    turned = f'transform="translate(12,{y(0.5):.0f}) rotate(-90)" text-anchor="middle" fill="currentColor"'
    parts.append(f"<text {turned}>kept of a task, %</text>")
    label, names = called(PATH), ", ".join(map(called, ("santext+", "custext", "custext+")))
    parts.append(_text(46, 312, f"{label}, with 95 % intervals", mark=colour))
    parts.append(_text(46, 330, names, mark=GREY))
    private = [one.kept.value for one in settings if one.disclosed < 0.5]
    described = (
        f"{len(settings)} settings; of the {len(private)} that disclose less than half none keeps more than "
    )
    described += f"{front.percent(max(private))} %. The path of {label}: "
    return _svg(338, parts), described + "; ".join(f"ε = {one.epsilon:g}: {one}" for one in path)


def forest(claims: Sequence[Claim]) -> tuple[str, str]:
    """Draw by how much each claim of the papers is met: an SVG, and in words what it shows."""
    left, right, row = 14, WIDTH - 14, 10
    middle, scale = (left + right) / 2, (right - left) / 2 / _WIDEST

    def x(margin: float) -> float:
        return middle + scale * min(max(margin, -_WIDEST), _WIDEST)

    drawn, height = [], 8
    for paper in dict.fromkeys(claim.paper for claim in claims):
        mine = [claim for claim in claims if claim.paper == paper]
        drawn.append(_text(left, height + 13, paper, weight="bold"))
        height += 20
        for claim in sorted(mine, key=lambda claim: -claim.margin.value):
            kind, place, margin = _KINDS[claim.verdict], height + row / 2, claim.margin
            colour, shape = _VERDICTS[kind]
            title = escape(f"{claim.claim}: {kind}; {_points(margin)}")
            ends = f"M{x(margin.low):.1f} {place}H{x(margin.high):.1f}"
            mark = shape.format(x=x(margin.value), y=place, colour=colour)
            line = f'<path d="{ends}" stroke="{colour}" stroke-width="1.5"/>'
            drawn.append(f"<g><title>{title}</title>{line}{mark}</g>")
            height += row
        height += 6
    axis = [f'<path d="M{middle} 4V{height}" stroke="currentColor" stroke-opacity=".6"/>']
    for margin, written in ((-20, "−20"), (0, "0"), (20, "+20")):
        axis.append(_text(x(margin / 100), height + 16, written, "middle"))
    axis.append(_text(left, height + 34, "← less than claimed"))
    axis.append(_text(right, height + 34, "as claimed, or more →", "end"))
    for place, (kind, (colour, shape)) in zip((left + 6, left + 130, left + 236), _VERDICTS.items(), strict=True):
        axis.append(shape.format(x=place, y=height + 51, colour=colour) + _text(place + 10, height + 55, kind))
    counts = Counter(_KINDS[claim.verdict] for claim in claims)
    listed = ", ".join(f"{counts[kind]} {kind}" for kind in _VERDICTS)
    return _svg(height + 64, [*axis, *drawn]), f"{len(claims)} claims with an interval: {listed}"


def _points(margin) -> str:
    """A margin in points, with its interval."""
    value, low, high = (f"{100 * share:+.1f}" for share in margin)
    return f"{value} [{low}, {high}] points from what it needs"


def _dot(x: float, y: float, setting: Setting, colour: str, radius: float) -> str:
    title = escape(f"{setting.name}: {setting}")
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"><title>{title}</title></circle>'


def lines(readings: Mapping[float, Mapping[str, Line]]) -> str:
    """Write a sentence as written, released and read back, with a button an epsilon; no script is needed."""
    tags = {"": "{}", "kept": '<span class="kept">{}</span>', "same": "<b>{}</b>", "hit": "<mark>{}</mark>"}
    buttons, views = [], []
    for number, (epsilon, marked) in enumerate(readings.items()):
        chosen = " checked" if epsilon == SHOWN else ""
        name = f"card-epsilon-{number}"
        buttons.append(f'<input type="radio" name="card-epsilon" id="{name}"{chosen}>')
        buttons.append(f'<label for="{name}">ε = {epsilon:g}</label>')
        rows = []
        for label, words in marked.items():
            shown = " ".join(tags[kind].format(escape(word)) for word, kind in words)
            rows.append(f"<dt>{label}</dt><dd>{shown}</dd>")
        found, hidden = front.recovered(marked)
        counter = f"<p><strong>{found} of {hidden} hidden words recovered</strong> at ε = {epsilon:g}</p>"
        shown = f'<dl class="three-lines">{"".join(rows)}</dl>{counter}'
        views.append(f'<div class="view view-{number}">{shown}</div>')
    listed = f"<fieldset><legend>Privacy parameter</legend>{''.join(buttons)}</fieldset>"
    return f'<div class="release-card">{listed}{"".join(views)}</div>'


def squares(board) -> str:
    """Draw a square for every published number, by what became of it."""
    names = {"differs": "differ", "undecided": "undecided"}
    names |= {"agrees": f"agree ({front.blind_guesses(board)} are blind guesses)"}
    names |= {"trivial": "agree, but would with no effect as well", "not compared": "not compared"}
    numbers = {kind: n for kind in names if (n := int((board.shown == kind).sum()))}
    marks = {kind: f'<i class="{kind.replace(" ", "-")}"></i>' for kind in numbers}
    cells = "".join(marks[kind] * n for kind, n in numbers.items())
    legend = "".join(f"<span>{marks[kind]} {n} {names[kind]}</span>" for kind, n in numbers.items())
    counts = ", ".join(f"{n} {names[kind]}" for kind, n in numbers.items())
    picture = f'<span class="squares" role="img" aria-label="{len(board)} squares: {counts}">{cells}</span>'
    return f'{picture}<span class="legend">{legend}</span>'


def card(budgets: Sequence[Budget], title: str, path: Path) -> None:
    """Draw the first picture with the book's title as a PNG of 1200 x 630 pixels, for previews of a link."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.06, 0.84, title, fontsize=34, weight="bold")
    figure.text(0.06, 0.75, "Of 100 listed words that CusText+ protects", fontsize=20)
    ax = figure.add_axes((0.14, 0.22, 0.8, 0.48))
    for place, budget in enumerate(reversed(budgets)):
        start = 0.0
        for name in READ:
            share = getattr(budget, name)
            ax.barh(place, share.value - start, left=start, color=READ[name][1], height=0.62)
            where = {"ha": "right", "va": "center", "fontsize": 18, "color": READ[name][2]}
            if share.value - start > _LEGIBLE:
                ax.text(share.value - 0.008, place, front.percent(share.value), **where)
            start = share.value
        ax.barh(place, 1 - start, left=start, color="none", edgecolor=GREY, height=0.62)
    ax.set(xlim=(0, 1), yticks=range(len(budgets)), xticks=[])
    ax.set_yticklabels([f"ε = {budget.epsilon:g}" for budget in reversed(budgets)], fontsize=20)
    ax.set_frame_on(False)
    ax.tick_params(length=0)
    for place, (label, colour, _) in zip((0.14, 0.38, 0.65), READ.values(), strict=True):
        figure.text(place, 0.11, "■", color=colour, fontsize=20)
        figure.text(place + 0.022, 0.115, label, fontsize=15)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


PARTS: dict[str, Callable[[Path], str | tuple[str, str]]] = {
    "three lines": lambda root: lines(front.readings(root)),
    "trade-off": lambda _: tradeoff(front.settings()),
    "claims": lambda _: forest(front.claims()),
    "published numbers": lambda _: squares(front.published()),
}


def _svg(height: float, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" class="front">{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, anchor: str = "start", mark: str = "", weight: str = "normal"):
    """Text after a mark: letters of the mark's own colour would be hard to read on one of the two grounds."""
    given = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" font-weight="{weight}"'
    before = f'<tspan fill="{mark}">■</tspan> ' if mark else ""
    return f"<text {given}>{before}{escape(text)}</text>"
