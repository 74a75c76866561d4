"""Displays of a chapter that are no figure: tables and sentences, HTML on a page and aligned text elsewhere."""

import html
import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral, Real

from textsan.evaluation import Estimate

_NOTHING = "–"
_INTERVAL = re.compile(r" (\[.*\])$")
_LARGE = 1e7  # numbers from here on are written by their exponent
_MOST = 6  # decimals: smaller numbers are written by their exponent too
_LONG = 20  # rows; the page scrolls longer tables under their headings
_escaped = partial(html.escape, quote=False)


class Table:
    """A table of formatted text; `table` makes it, a notebook shows it."""

    def __init__(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], caption: str = ""
    ):
        self.columns, self.rows, self.numeric, self.caption = columns, rows, numeric, caption

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        rule = ["-" * width for width in widths]
        sides = [str.rjust if number else str.ljust for number in self.numeric]
        lines = [
            "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
            for row in (self.columns, rule, *self.rows)
        ]
        return "\n".join([self.caption, *lines] if self.caption else lines)

    def _repr_html_(self) -> str:
        headings = [_cell(*pair, "th", "col") for pair in zip(self.columns, self.numeric, strict=True)]
        body = []
        for row in self.rows:
            first, *rest = zip(row, self.numeric, strict=True)
            body.append(f"<tr>{_cell(*first, 'th', 'row')}{''.join(_cell(*pair, 'td') for pair in rest)}</tr>")
        parts = [
            '<table class="results">',
            f"<caption>{_escaped(self.caption)}</caption>" if self.caption else "",
            f"<thead>\n<tr>{''.join(headings)}</tr>\n</thead>",
            "<tbody>",
            *body,
            "</tbody>\n</table>",
        ]
        if len(self.rows) > _LONG:  # who scrolls by keyboard hears where they are
            name = html.escape(self.caption or "table")
            parts.insert(0, f'<div class="long-table" role="region" tabindex="0" aria-label="{name}">')
            parts.append("</div>")
        return "\n".join(filter(None, parts))


def _cell(text: str, number: bool, tag: str, scope: str = "") -> str:
    opening = tag + (f' scope="{scope}"' if scope else "") + (' class="number"' if number else "")
    text = _escaped(text)
    if number:  # where the page is narrow, the line breaks between value and interval, nowhere else
        text = _INTERVAL.sub(r' <span class="interval">\1</span>', text)
    return f"<{opening}>{text}</{tag}>"


def table(rows: Sequence[Mapping], *, caption: str = "") -> Table:
    """Show rows under one line of headings, every column with the same number of decimals.

    Numbers are right-aligned; an `Estimate` is one cell, value [low, high]; what is missing is a dash. The first
    column names the row.

    Args:
        rows: one mapping from heading to value a row, or a pandas data frame (a named index becomes columns).

    >>> table([{"ε": 1.0, "rate": Estimate(0.25, 0.2, 0.3)}, {"ε": 0.5, "rate": Estimate(0.125, 0.1, 0.15)}])
      ε                  rate
    ---  --------------------
    1.0  0.250 [0.200, 0.300]
    0.5  0.125 [0.100, 0.150]
    """
    rows = _records(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if not columns:
        raise ValueError("rows: there are none; say in a sentence what is missing instead of an empty table")
    values = [[row.get(column) for row in rows] for column in columns]
    lines = zip(*map(_formatted, values), strict=True)
    return Table([*map(str, columns)], [*lines], [*map(_is_numeric, values)], caption)


def matrix(
    numbers: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    corner: str = "x",
    caption: str = "",
) -> Table:
    """Show a matrix as a table, each row under its word, and the corner as the heading of these.

    >>> matrix([[0.75, 0.25], [0.5, 0.5]], ["a", "b"], ["u", "v"])
    x     u     v
    -  ----  ----
    a  0.75  0.25
    b  0.50  0.50
    """
    lines = [(word, *row) for word, row in zip(rows, numbers, strict=True)]
    if any(len(line) != 1 + len(columns) for line in lines):
        raise ValueError(f"numbers: a row has not {len(columns)} of them, one for each of columns")
    values = [[line[at] for line in lines] for at in range(1 + len(columns))]
    shown = zip(*map(_formatted, values), strict=True)
    return Table([corner, *columns], [*shown], [*map(_is_numeric, values)], caption)


def _records(rows) -> list[Mapping]:
    """The rows of a sequence or, without importing pandas for those who do not use it, of a data frame."""
    if not hasattr(rows, "to_dict"):
        return list(rows)
    frame = rows.to_frame() if rows.ndim == 1 else rows
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    columns = [" ".join(filter(None, map(str, c))) if isinstance(c, tuple) else c for c in frame.columns]
    return [dict(zip(columns, line, strict=True)) for line in frame.itertuples(index=False, name=None)]


def _is_missing(value) -> bool:
    # pandas has more than one kind of nothing; none of them equals itself.
    return value is None or value == "" or bool(not isinstance(value, str | tuple | list) and value != value)


def _is_number(value) -> bool:
    return isinstance(value, Estimate) or (isinstance(value, Real) and not isinstance(value, bool))


def _is_numeric(values: Sequence) -> bool:
    there = [value for value in values if not _is_missing(value)]
    return bool(there) and all(map(_is_number, there))


def _formatted(values: Sequence) -> list[str]:
    """A column's cells as text, with shared decimals if all that is there are numbers."""
    if not _is_numeric(values):
        return [_text(value) for value in values]
    there = [value for value in values if not _is_missing(value)]
    decimals = _decimals(there)
    grouped = any(isinstance(value, Integral) and abs(int(value)) >= 10_000 for value in there)
    return [_text(value, decimals, grouped) for value in values]


def _text(value, decimals: int | None = None, grouped: bool = False) -> str:
    """One cell: a number with these decimals or its own, a whole one by thousands if `grouped`."""
    if _is_missing(value):
        return _NOTHING
    if isinstance(value, str):
        return value
    if type(value).__name__ == "bool":  # Python's or numpy's
        return "yes" if value else "no"
    if decimals is None:
        decimals = _decimals([value] if _is_number(value) else [])
    if isinstance(value, Estimate):
        return "{} [{}, {}]".format(*(_number(end, decimals) for end in value))
    if isinstance(value, Integral) and not decimals:
        return f"{value:,}" if grouped else str(value)
    if _is_number(value):
        vanishes = 0 < abs(value) < 0.5 * 10**-decimals
        return f"{value:.2g}" if vanishes else _number(value, decimals)
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)


def _number(value: float, decimals: int) -> str:
    """A number with fixed decimals, a very large one by its exponent."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= _LARGE:
        return f"{value:.3g}"
    text = f"{value:.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")  # no negative zero


def _decimals(values: Sequence) -> int:
    """Decimals that all of `values` get: four digits for the largest, three if it is small, no idle zeros.

    Rates with intervals stand beside one another in a row: from 0.01 on they get three decimals in every column.

    >>> _decimals([0.986, 1.0]), _decimals([1.0, 2.0]), _decimals([0.5, 12.3456]), _decimals([0.0123])
    (3, 0, 2, 4)
    """
    estimated = any(isinstance(value, Estimate) for value in values)
    numbers = [end for value in values for end in (value if isinstance(value, Estimate) else (value,))]
    finite = [float(end) for end in numbers if math.isfinite(end) and abs(end) < _LARGE]
    largest = max(map(abs, finite), default=0.0)
    if largest == 0:
        return 3 if estimated else 0
    digits = math.floor(math.log10(largest))
    small = largest < (0.01 if estimated else 0.1)
    decimals = min(2 - digits, _MOST) if small else max(0, 3 - max(digits, 0))
    if not estimated:
        while decimals and all(f"{end:.{decimals}f}".endswith("0") for end in finite):
            decimals -= 1
    return decimals


class Reading:
    """Sentences under one another, each word with whether it is right; `reading` makes it, a notebook shows it."""

    def __init__(self, lines: Mapping[str, Sequence[tuple[str, bool]]]):
        self.lines = lines

    def __repr__(self) -> str:
        width = max(map(len, self.lines), default=0)
        return "\n".join(
            f"{label.ljust(width)}  " + " ".join(f"[{word}]" if same else word for word, same in words)
            for label, words in self.lines.items()
        )

    def _repr_html_(self) -> str:
        rows = []
        for label, words in self.lines.items():
            marked = (f"<mark>{_escaped(word)}</mark>" if same else _escaped(word) for word, same in words)
            rows.append(f'<tr><th scope="row">{_escaped(label)}</th><td>{" ".join(marked)}</td></tr>')
        return "\n".join(['<table class="reading">', *rows, "</table>"])


def reading(truth: Sequence[str], lines: Mapping[str, Sequence[str]]) -> Reading:
    """Show sentences under one another, the words that equal `truth` at their position marked.

    >>> reading(["good", "film"], {"released": ["good", "dog"], "guessed": ["a", "film"]})
    released  [good] dog
    guessed   a [film]
    """
    marked = {}
    for label, words in lines.items():
        if len(words) != len(truth):
            raise ValueError(f"lines: {label!r} has {len(words)} words, the original {len(truth)}")
        marked[label] = [(word, word == true) for word, true in zip(words, truth, strict=True)]
    return Reading(marked)
