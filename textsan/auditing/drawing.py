"""Draw the pictures of a report: plain svg, whose colours the page's style gives, for light, dark and paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

_SIDE, _GAP = 14, 3  # of a square of a hundred
_LEFT, _WIDTH, _RIGHT, _ROW = 190, 300, 20, 24  # of a chart: room for names, for shares from 0 to 1, and a row
_HEIGHT = 120  # of a histogram


def squares(kinds: Sequence[tuple], alt: str) -> Markup:
    """Draw a hundred squares; the shares with the largest rests are rounded up, until there are a hundred.

    Each kind begins with the class of its squares and its share; the shares add up to one. `alt` is the drawing in
    words.
    """
    numbers = [int(100 * share) for _, share, *_ in kinds]
    rests = [number - 100 * share for number, (_, share, *_) in zip(numbers, kinds, strict=True)]
    for at in sorted(range(len(kinds)), key=rests.__getitem__)[: 100 - sum(numbers)]:
        numbers[at] += 1
    classes = [kind for (kind, *_), number in zip(kinds, numbers, strict=True) for _ in range(number)]
    size = 10 * (_SIDE + _GAP) - _GAP
    drawn = []
    for number, kind in enumerate(classes):
        x, y = (number % 10) * (_SIDE + _GAP), (number // 10) * (_SIDE + _GAP)
        drawn.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="2"/>')
    return _svg(size, size, alt, drawn, "squares")


def shares(
    rows: Sequence[tuple[str, Mapping[str, float], str]], lines: Sequence[tuple[str, float]], alt: str
) -> Markup:
    """Draw rows (name, share with low and high, class), and lines (name, share) across them."""
    top = 18 * len(lines) + 8
    bottom = top + _ROW * len(rows)
    drawn, names = [], []  # names lie above all lines, so that none is crossed
    for number, (name, share) in enumerate(lines):
        x, y = _at(share), 12 + 18 * number
        anchor, step = ("end", -5) if share > 0.6 else ("start", 5)
        drawn.append(f'<line class="bound" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{bottom}"/>')
        names.append(_text(name, f"{x + step:.1f}", y, anchor, "bound"))
    drawn += names
    for number, (name, row, kind) in enumerate(rows):
        y = top + _ROW * number + _ROW / 2
        low, high, value = (_at(row[key]) for key in ("low", "high", "value"))
        drawn.append(_text(name, _LEFT - 10, y + 4, "end"))
        drawn.append(f'<line class="{kind}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<circle class="{kind}" cx="{value:.1f}" cy="{y}" r="4.5"/>')
    return _svg(_LEFT + _WIDTH + _RIGHT, bottom + 22, alt, drawn + _axis(bottom), "chart")


def histogram(counts: Sequence[int], alt: str) -> Markup:
    """Draw how many documents have each share of their words named, in equal steps from 0 to 1."""
    most, width = max([*counts, 1]), _WIDTH / len(counts)
    drawn = []
    for number, count in enumerate(counts):
        height = (_HEIGHT - 20) * count / most
        x, y = _LEFT + number * width, _HEIGHT - height
        size = f'width="{width - 2:.1f}" height="{height:.1f}"'
        drawn.append(f'<rect class="named" x="{x + 1:.1f}" y="{y:.1f}" {size}/>')
        if count:
            drawn.append(_text(f"{count:,}", f"{x + width / 2:.1f}", f"{y - 4:.1f}", "middle", "small"))
    drawn.append(_text("documents", _LEFT - 10, _HEIGHT - 4, "end"))
    return _svg(_LEFT + _WIDTH + _RIGHT, _HEIGHT + 22, alt, drawn + _axis(_HEIGHT), "chart")


def attacks(rows: Sequence[Mapping[str, Any]], exact: Mapping[str, float]) -> Markup:
    """Draw the success of each attack on all words, of `words.rates`, with what is exact and promised."""
    drawn = []
    for row in rows:
        if row["group"] == "all":
            kind = "told" if row["told"] else "untold"
            name = row["label"] if row["told"] else "positions unknown"
            drawn.append((f"{name}, public" if row["owns"] == "public" else name, row, kind))
    lines = [
        ("one word, at most", exact["promised"]),
        ("one word, exact", exact["own"]),
        ("blind guess", exact["blind"]),
    ]
    return shares(drawn, lines, "Share of words that each attack recovers, with its interval")


def linkage(linked: Mapping[str, Any]) -> Markup:
    """Draw main, control and baseline of linkage."""
    alone = dict.fromkeys(("value", "low", "high"), linked["length"])
    rows = [("released", linked["main"], "told")]
    rows += [("never released", linked["control"], "untold")] if linked["control"] else []
    rows += [("length alone", alone, "untold")]
    return shares(rows, [], "Share of documents that are linked, released, never released, and by length alone")


def _at(share: float) -> float:
    return _LEFT + _WIDTH * share


def _text(name: str, x: float | str, y: float | str, anchor: str, kind: str = "") -> str:
    style = f'class="{kind}" ' if kind else ""
    return f'<text {style}x="{x}" y="{y}" text-anchor="{anchor}">{escape(name)}</text>'


def _axis(y: float) -> list[str]:
    drawn = [f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}"/>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn.append(f'<line class="axis" x1="{_at(share)}" x2="{_at(share)}" y1="{y}" y2="{y + 4}"/>')
        drawn.append(_text(str(round(100 * share)), _at(share), y + 17, "middle", "small"))
    return drawn


def _svg(width: float, height: float, alt: str, drawn: Sequence[str], kind: str) -> Markup:
    head = f'<svg class="{kind}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(alt)}">'
    return Markup(head + "".join(drawn) + "</svg>")
