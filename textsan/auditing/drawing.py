"""The drawings of a report: plain svg, whose colours the page's style gives, for light, dark and paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

_SIDE, _GAP = 14, 3  # of a square of a hundred
_LEFT, _WIDTH, _RIGHT, _ROW = 150, 300, 20, 24  # of a chart: room for names, for shares from 0 to 1, and a row
_HEIGHT = 120  # of a histogram


def hundred(named: float, through: float, alt: str) -> Markup:
    """A hundred squares: those that came through unchanged, those that are named besides, and the others.

    Args:
        named: share that is named, those that came through included.
        through: share that came through.
        alt: what the drawing says, in words.
    """
    first, second = round(100 * min(through, named)), round(100 * named)
    size = 10 * (_SIDE + _GAP) - _GAP
    squares = []
    for number in range(100):
        kind = "through" if number < first else "named" if number < second else "rest"
        x, y = (number % 10) * (_SIDE + _GAP), (number // 10) * (_SIDE + _GAP)
        squares.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="2"/>')
    return _svg(size, size, alt, squares, "squares")


def shares(
    rows: Sequence[tuple[str, Mapping[str, float], str]], lines: Sequence[tuple[str, float]], alt: str
) -> Markup:
    """Shares with their intervals, a row each, and lines across them.

    Args:
        rows: name, value with low and high, and class of each.
        lines: name and share.
        alt: what the drawing says, in words.
    """
    top = 18 * len(lines) + 8
    bottom = top + _ROW * len(rows)
    drawn, names = [], []  # names lie above all lines, so that none is crossed
    for number, (name, share) in enumerate(lines):
        x, y = _at(share), 12 + 18 * number
        anchor, step = ("end", -5) if share > 0.6 else ("start", 5)
        drawn.append(f'<line class="bound" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{bottom}"/>')
        names.append(
            f'<text class="bound" x="{x + step:.1f}" y="{y}" text-anchor="{anchor}">{escape(name)}</text>'
        )
    drawn += names
    for number, (name, row, kind) in enumerate(rows):
        y = top + _ROW * number + _ROW / 2
        low, high, value = (_at(row[key]) for key in ("low", "high", "value"))
        drawn.append(f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        drawn.append(f'<line class="{kind}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<circle class="{kind}" cx="{value:.1f}" cy="{y}" r="4.5"/>')
    return _svg(_LEFT + _WIDTH + _RIGHT, bottom + 22, alt, drawn + _axis(bottom), "chart")


def histogram(counts: Sequence[int], alt: str) -> Markup:
    """How many documents have each share of their words named, in equal steps from 0 to 1.

    Args:
        counts: documents of each step.
        alt: what the drawing says, in words.
    """
    most, width = max([*counts, 1]), _WIDTH / len(counts)
    drawn = []
    for number, count in enumerate(counts):
        height = (_HEIGHT - 20) * count / most
        x = _LEFT + number * width
        drawn.append(
            f'<rect class="named" x="{x + 1:.1f}" y="{_HEIGHT - height:.1f}" width="{width - 2:.1f}" '
            f'height="{height:.1f}"/>'
        )
        if count:
            middle = x + width / 2
            place = f'x="{middle:.1f}" y="{_HEIGHT - height - 4:.1f}" text-anchor="middle"'
            drawn.append(f'<text class="small" {place}>{count:,}</text>')
    drawn.append(f'<text x="{_LEFT - 10}" y="{_HEIGHT - 4}" text-anchor="end">documents</text>')
    return _svg(_LEFT + _WIDTH + _RIGHT, _HEIGHT + 22, alt, drawn + _axis(_HEIGHT), "chart")


def attacks(rows: Sequence[Mapping[str, Any]], exact: Mapping[str, float]) -> Markup:
    """The success of each attack on all words, told and not told, with what is exact and promised.

    Args:
        rows: of `words.rates`.
        exact: of `words.exact`.
    """
    drawn = []
    for row in rows:
        if row["group"] == "all":
            kind = "told" if row["told"] else "untold"
            name = row["label"] if row["told"] else "not told"
            drawn.append((name, row, kind))
    lines = [
        ("promised at most", exact["promised"]),
        ("one word, exact", exact["own"]),
        ("blind guess", exact["blind"]),
    ]
    return shares(drawn, lines, "Share of words that each attack names, with its interval")


def linkage(found: Mapping[str, Any]) -> Markup:
    """Main, control and baseline of linkage.

    Args:
        found: of `linking.linked`.
    """
    alone = dict.fromkeys(("value", "low", "high"), found["length"])
    rows = [("released", found["main"], "told")]
    rows += [("never released", found["control"], "untold")] if found["control"] else []
    rows += [("length alone", alone, "untold")]
    return shares(rows, [], "Share of documents that are linked, released, never released, and by length alone")


def _at(share: float) -> float:
    return _LEFT + _WIDTH * share


def _axis(y: float) -> list[str]:
    drawn = [f'<line class="axis" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}"/>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn.append(f'<line class="axis" x1="{_at(share)}" x2="{_at(share)}" y1="{y}" y2="{y + 4}"/>')
        drawn.append(
            f'<text class="small" x="{_at(share)}" y="{y + 17}" text-anchor="middle">{round(100 * share)}</text>'
        )
    return drawn


def _svg(width: float, height: float, alt: str, drawn: Sequence[str], kind: str) -> Markup:
    head = f'<svg class="{kind}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(alt)}">'
    return Markup(head + "".join(drawn) + "</svg>")
