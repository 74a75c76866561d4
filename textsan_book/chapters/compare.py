"""Compare what two executed notebooks show, output by output; their code may differ.

Words must agree exactly, integers too. A number printed with a point or an exponent may differ by one unit of its
last printed digit, which is what another processor's rounding does. A figure is compared by its drawn data (see
`kernel/figure_data.py`), to a thousandth of what its axis spans. A cell with the tag `varies` is not compared.
Where other kernels run than those that made the stored notebook (see `textsan.base.kernels`), estimates printed as
`value [low, high]` are compared by interval: they may move within the stored one.
"""

import itertools
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

FIGURE_DATA = "figure-data"  # the key in an output's metadata
BY_INTERVAL = "TEXTSAN_BY_INTERVAL"  # the variable of a run whose estimates are compared so
# Full-precision prints: the last of sixteen digits is rounding on any processor.
_RELATIVE = Decimal("1e-12")
_DECIMAL = r"[-+−]?(?:\d*\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)"
_RULE = re.compile(r"--+")
_ANY = rf"(?:{_DECIMAL}|[-+−]?\d+)"
# No part of a word, of a version or of a longer number.
_NUMBER = re.compile(rf"(?<![\w.])({_DECIMAL})(?!\.?\d)")
_INTERVAL = re.compile(rf"(?<![\w.])({_ANY})%?\s*\[({_ANY})%?,\s*({_ANY})%?\]")
_CONTEXT = 40


@dataclass(frozen=True)
class Difference:
    """One part of a cell's output that two notebooks show differently; None is a part that is missing."""

    cell: int
    part: str
    stored: str | None
    new: str | None

    def __str__(self) -> str:
        stored, new = ("nothing" if text is None else repr(text) for text in (self.stored, self.new))
        return f"cell {self.cell}, {self.part}: stored {stored}, now {new}"


def html_text(html: str) -> str:
    """Read the words of `html`, without tags and styles.

    >>> html_text("<style>td {color: red}</style><tr><td>santext</td><td>0.5</td></tr>")
    'santext | 0.5 |'
    """
    from bs4 import BeautifulSoup

    page = BeautifulSoup(html, "html.parser")
    for hidden in page(["style", "script"]):
        hidden.decompose()
    for cell in page(["td", "th"]):  # where one ends another begins, an empty one too
        cell.append(" | ")
    return " ".join(page.get_text(" ").split())


def shown(outputs: Sequence) -> dict[str, str]:
    """Collect the parts of a cell's outputs: its streams, then every representation of every other output.

    Pictures are base64, and left out where the figure's data is there.
    """
    parts: dict[str, str] = {}
    number = 0
    for output in outputs:
        if output["output_type"] == "stream":  # how prints are cut into messages is chance
            parts[output["name"]] = parts.get(output["name"], "") + output["text"]
            continue
        number += 1
        if output["output_type"] == "error":
            parts[f"output {number}, error"] = f"{output['ename']}: {output['evalue']}"
            continue
        if drawn := output.get("metadata", {}).get(FIGURE_DATA):
            parts[f"output {number}, {FIGURE_DATA}"] = "\n".join(drawn)
            pictures = sorted(kind for kind in output["data"] if kind.startswith("image/"))
            parts[f"output {number}, pictures"] = " ".join(pictures) or "none"
        for kind, value in sorted(output["data"].items()):
            if kind.startswith("image/") and drawn:
                continue
            text = json.dumps(value, sort_keys=True) if kind.endswith("json") else value
            parts[f"output {number}, {kind}"] = html_text(text) if kind == "text/html" else text
    return parts


class _Piece(NamedTuple):
    """A run of words and the numbers after it: one, the three of an estimate, or none at the end of the text."""

    words: str
    numbers: tuple[str, ...]
    place: slice


def _pieces(text: str, pattern: re.Pattern) -> list[_Piece]:
    """`text` cut at the numbers that `pattern` finds; white space and the rules of a table are layout."""
    pieces, start = [], 0
    for match in pattern.finditer(text):
        pieces.append(_Piece(_words(text[start : match.start()]), match.groups(), slice(start, match.end())))
        start = match.end()
    return [*pieces, _Piece(_words(text[start:]), (), slice(start, len(text)))]


def _words(text: str) -> str:
    """`text` with one blank between words, and rules, which are as long as a column is wide, of one length."""
    return " ".join(_RULE.sub("--", text).split())


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


def _unit(*texts: str) -> Decimal:
    """One unit of the last printed digit, of the number printed with most."""
    return min(Decimal(1).scaleb(_decimal(text).as_tuple().exponent) for text in texts)


def same_number(stored: str, new: str) -> bool:
    """Tell if two printed numbers agree within one unit of the last digit.

    >>> same_number("0.345", "0.346"), same_number("0.345", "0.347")
    (True, False)
    """
    a, b = _decimal(stored), _decimal(new)
    return abs(a - b) <= max(_unit(stored, new), _RELATIVE * abs(a))


def same_estimate(stored: Sequence[str], new: Sequence[str]) -> bool:
    """Tell if an estimate lies in the stored interval, and its interval around the stored estimate.

    Each end may move by the stored interval's width, which a sound change of the last bits never does. Printed are
    value, low and high.

    >>> same_estimate(["0.50", "0.45", "0.55"], ["0.53", "0.48", "0.58"])
    True
    >>> same_estimate(["0.50", "0.45", "0.55"], ["0.60", "0.55", "0.65"])
    False
    """
    unit = _unit(*stored, *new)
    value, low, high = (_decimal(text) for text in stored)
    now, now_low, now_high = (_decimal(text) for text in new)
    inside = low - unit <= now <= high + unit and now_low - unit <= value <= now_high + unit
    return inside and max(abs(now_low - low), abs(now_high - high)) <= high - low + unit


def _same_numbers(stored: Sequence[str], new: Sequence[str]) -> bool:
    if len(stored) != len(new):
        return False
    return same_estimate(stored, new) if len(stored) == 3 else all(map(same_number, stored, new))


def _same_words(stored: str, new: str, by_interval: bool) -> bool:
    """Between estimates, words may hold plain numbers; between numbers they are words."""
    return text_difference(stored, new) is None if by_interval else stored == new


def text_difference(stored: str, new: str, by_interval: bool = False) -> tuple[str, str] | None:
    """Quote both texts around the place where they first differ, or None if they agree.

    >>> text_difference("CusText 0.345 of 116 words", "CusText 0.355 of 116 words")
    ('CusText 0.345 of 116 words', 'CusText 0.355 of 116 words')
    """
    a, b = (_pieces(text, _INTERVAL if by_interval else _NUMBER) for text in (stored, new))
    for piece, other in zip(a, b, strict=False):  # the last piece of the shorter has no numbers, the other's has
        if not (
            _same_words(piece.words, other.words, by_interval) and _same_numbers(piece.numbers, other.numbers)
        ):
            return _where(stored, piece.place, new, other.place)
    return None


def moved_estimates(stored: str, new: str) -> Iterator[tuple[str, str]]:
    """Quote both texts around each estimate that differs and lies in its interval.

    >>> list(moved_estimates("of 20: 0.50 [0.45, 0.55]", "of 20: 0.53 [0.48, 0.58]"))
    [('of 20: 0.50 [0.45, 0.55]', 'of 20: 0.53 [0.48, 0.58]')]
    """
    a, b = (_pieces(text, _INTERVAL) for text in (stored, new))
    for piece, other in zip(a, b, strict=False):
        texts = stored[piece.place], new[other.place]
        if text_difference(*texts) and not text_difference(*texts, by_interval=True):
            yield _where(stored, piece.place, new, other.place)


def _where(stored: str, place: slice, new: str, other: slice) -> tuple[str, str]:
    agree = len(os.path.commonprefix([stored[place], new[other]]))
    return _around(stored, place, agree), _around(new, other, agree)


def _around(text: str, place: slice, agree: int) -> str:
    """A little of `text`, from before the place where it differs to after it."""
    start = place.start + agree
    shown = text[max(0, start - _CONTEXT) : min(max(start, place.stop), start + _CONTEXT) + _CONTEXT]
    return " ".join(shown.split())


_DRAWN = r"(?<![\w.])[-+]?(?:\d\.\d{3}e[-+]\d+|nan|inf)"  # a number of figure data; means have more digits
_DRAWN_ROW = re.compile(rf"{_DRAWN}(?: {_DRAWN})*")
_TOKEN = re.compile(r"\S+")
_COORDINATE = rf"({_DRAWN})(?: \[({_DRAWN}), ({_DRAWN})\])?"
_DRAWN_ESTIMATE = re.compile(f"{_COORDINATE}: {_COORDINATE}")
_SCALES = re.compile(r" x (?:'[^']*'|\"[^\"]*\") (\w+) .* y (?:'[^']*'|\"[^\"]*\") (\w+) ")


def figure_difference(stored: str, new: str, by_interval: bool = False) -> tuple[str, str] | None:
    """Name the place where two figures, an artist a line, differ by more than a thousandth of an axis's span."""
    a, b = stored.split("\n"), new.split("\n")
    if len(a) != len(b):
        return text_difference(stored, new, by_interval)
    starts = [at for at, line in enumerate(a) if line.startswith("axes ")] + [len(a)]
    blocks = [slice(*ends) for ends in itertools.pairwise([0, *starts])]
    for block in blocks:
        spans = _spans(a[block])
        for one, other in zip(a[block], b[block], strict=True):
            difference = text_difference(one, other, by_interval)
            if difference and not _draw_the_same(one, other, spans):
                return difference
    return None


def _coordinates(line: str) -> Iterator[tuple[slice, str]]:
    """The numbers of an artist: their places, and whether each is an x, a y or another value."""
    if line.startswith("error bars"):
        for match in _DRAWN_ESTIMATE.finditer(line):
            yield from ((slice(*match.span(n)), "xxxyyy"[n - 1]) for n in range(1, 7) if match[n])
        return
    for row in _DRAWN_ROW.finditer(line):
        numbers = [slice(*match.span()) for match in _TOKEN.finditer(line, *row.span())]
        yield from zip(numbers, "xy" if len(numbers) == 2 else "v" * len(numbers), strict=True)


def _spans(artists: Sequence[str]) -> dict[str, tuple[float, bool]]:
    """The extent of the artists of one pair of axes along x and y, and whether it is in decades."""
    scales = _SCALES.search(artists[0]) if artists else None
    values: dict[str, list[float]] = {"x": [], "y": []}
    for line in artists[1:]:
        for place, kind in _coordinates(line):
            if kind in values and math.isfinite(value := float(line[place])):
                values[kind].append(value)
    spans = {}
    for kind, numbers in values.items():
        is_log = scales is not None and scales["xy".index(kind) + 1] == "log"
        numbers = [math.log10(number) for number in numbers if number > 0] if is_log else numbers
        spans[kind] = max(numbers, default=0.0) - min(numbers, default=0.0), is_log
    return spans


def _draw_the_same(stored: str, new: str, spans: Mapping[str, tuple[float, bool]]) -> bool:
    ours, theirs = list(_coordinates(stored)), list(_coordinates(new))
    if re.sub(_DRAWN, "#", stored) != re.sub(_DRAWN, "#", new) or len(ours) != len(theirs):
        return False
    others = [float(stored[place]) for place, kind in ours if kind == "v"]
    spans = {**spans, "v": (max(others, default=0.0) - min(others, default=0.0), False)}
    pairs = zip(ours, theirs, strict=True)
    return all(
        _near(stored[place_of_ours], new[other], *spans[kind]) for (place_of_ours, kind), (other, _) in pairs
    )


def _near(stored: str, new: str, span: float, is_log: bool) -> bool:
    a, b = float(stored), float(new)
    if stored == new or not (math.isfinite(a) and math.isfinite(b)):
        return stored == new
    if is_log and min(a, b) > 0:
        a, b = math.log10(a), math.log10(b)
    return same_number(stored, new) or abs(a - b) <= span / 1000


def output_differences(
    stored: Sequence, new: Sequence, cell: int, by_interval: bool = False
) -> Iterator[Difference]:
    """List every part of one cell's outputs that differs."""
    old, now = shown(stored), shown(new)
    for part in dict.fromkeys([*old, *now]):
        a, b = old.get(part), now.get(part)
        if a is None or b is None:
            yield Difference(cell, part, *(text if text is None else text[: 2 * _CONTEXT] for text in (a, b)))
            continue
        compared = figure_difference if part.endswith(FIGURE_DATA) else text_difference
        if difference := compared(a, b, by_interval):
            yield Difference(cell, part, *difference)


def moves(stored: Sequence, new: Sequence, cell: int) -> Iterator[Difference]:
    """List every estimate of one cell's outputs that differs, and lies in its interval."""
    old, now = shown(stored), shown(new)
    for part in old:
        if part in now:
            yield from (Difference(cell, part, *texts) for texts in moved_estimates(old[part], now[part]))


def differences(stored, new, by_interval: bool = False) -> list[Difference]:
    """List what two executed notebooks show differently, cell by cell, but for cells tagged `varies`.

    Tags and intervals are those of the stored one; code may differ.
    """
    a, b = ([cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (stored, new))
    all_differences = []
    if len(a) != len(b):
        all_differences.append(Difference(min(len(a), len(b)) + 1, "cells", f"{len(a)} cells", f"{len(b)} cells"))
    for number, (old, now) in enumerate(zip(a, b, strict=False), 1):
        if "varies" not in old.metadata.get("tags", []):
            all_differences += output_differences(old.outputs, now.outputs, number, by_interval)
    return all_differences
