"""Compare what two executed notebooks show, output by output; their code may differ.

Words must agree exactly, integers too. A number printed with a point or an exponent may differ by one unit of its
last printed digit, which is what another processor's rounding does. A figure is compared by its drawn data where
both notebooks hold it (see `kernel/figure_data.py`), by its pixels otherwise. A cell with the tag `varies` is not
compared. Where other kernels run than those that made the stored notebook (see `textsan.base.kernels`), estimates
printed as `value [low, high]` are compared by interval: they may move within the stored one.
"""

import base64
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html.parser import HTMLParser
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
# A tenth of a colour's range; anti-aliasing on one machine is exact, a moved line is not.
_PIXEL = 25
_CONTEXT = 40


@dataclass(frozen=True)
class Difference:
    """One part of a cell's output that two notebooks show differently; None is a part that is missing."""

    cell: int
    part: str
    stored: str | None
    new: str | None

    def __str__(self) -> str:
        def quoted(text):
            return "nothing" if text is None else repr(text)

        return f"cell {self.cell}, {self.part}: stored {quoted(self.stored)}, now {quoted(self.new)}"


class _Text(HTMLParser):
    """The words of a page, those of different elements apart."""

    def __init__(self):
        super().__init__()
        self.words, self.hidden = [], False

    def handle_starttag(self, tag, attrs):
        self.hidden = tag in ("style", "script")
        self.words.append(" ")

    def handle_endtag(self, tag):
        self.hidden = False
        # Where one cell of a table ends another begins, an empty one too.
        self.words.append(" | " if tag in ("td", "th") else " ")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


def html_text(html: str) -> str:
    """The words of `html`, without tags and styles.

    >>> html_text("<style>td {color: red}</style><tr><td>santext</td><td>0.5</td></tr>")
    'santext | 0.5 |'
    """
    reader = _Text()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.words).split())


def shown(outputs: Sequence) -> dict[str, str]:
    """What a cell shows, by part: its streams, then every representation of every other output.

    Args:
        outputs: the outputs of a code cell as nbformat has them.

    Returns:
        Text of each part; pictures as base64, and left out where the figure's data is there.
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
    """Whether two printed numbers agree within one unit of the last digit.

    >>> same_number("0.345", "0.346"), same_number("0.345", "0.347")
    (True, False)
    """
    a, b = _decimal(stored), _decimal(new)
    return abs(a - b) <= max(_unit(stored, new), _RELATIVE * abs(a))


def same_estimate(stored: Sequence[str], new: Sequence[str]) -> bool:
    """Whether an estimate lies in the stored interval, and its interval around the stored estimate.

    Each end may move by the stored interval's width, which a sound change of the last bits never does.

    Args:
        stored, new: value, low and high as they are printed.

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
    """Where two texts first differ: a little of both around the place, or None if they agree.

    Args:
        stored, new: the texts.
        by_interval: estimates, printed as `value [low, high]`, may move within their intervals.

    >>> text_difference("CusText 0.345 of 116 words", "CusText 0.355 of 116 words")
    ('CusText 0.345 of 116 words', 'CusText 0.355 of 116 words')
    """
    a, b = (_pieces(text, _INTERVAL if by_interval else _NUMBER) for text in (stored, new))
    for one, other in zip(a, b, strict=False):  # the last piece of the shorter has no numbers, the other's has
        if not (_same_words(one.words, other.words, by_interval) and _same_numbers(one.numbers, other.numbers)):
            return _where(stored, one.place, new, other.place)
    return None


def moved_estimates(stored: str, new: str) -> Iterator[tuple[str, str]]:
    """Estimates that differ and lie in their intervals: a little of both texts around each.

    Args:
        stored, new: the texts.

    >>> list(moved_estimates("of 20: 0.50 [0.45, 0.55]", "of 20: 0.53 [0.48, 0.58]"))
    [('of 20: 0.50 [0.45, 0.55]', 'of 20: 0.53 [0.48, 0.58]')]
    """
    a, b = (_pieces(text, _INTERVAL) for text in (stored, new))
    for one, other in zip(a, b, strict=False):
        texts = stored[one.place], new[other.place]
        if text_difference(*texts) and not text_difference(*texts, by_interval=True):
            yield _where(stored, one.place, new, other.place)


def _where(stored: str, place: slice, new: str, other: slice) -> tuple[str, str]:
    agree = len(os.path.commonprefix([stored[place], new[other]]))
    return _around(stored, place, agree), _around(new, other, agree)


def _around(text: str, place: slice, agree: int) -> str:
    """A little of `text`, from before the place where it differs to after it."""
    start = place.start + agree
    shown = text[max(0, start - _CONTEXT) : min(max(start, place.stop), start + _CONTEXT) + _CONTEXT]
    return " ".join(shown.split())


def _pixels(png: str):
    import matplotlib.image
    import numpy as np

    values = matplotlib.image.imread(io.BytesIO(base64.b64decode(png)), format="png")
    return np.round(values * 255).astype(int)


def picture_difference(stored: str, new: str) -> tuple[str, str] | None:
    """How two pictures, as base64 of PNG files, differ in size or pixels, or None if they agree."""
    if stored.strip() == new.strip():
        return None
    a, b = _pixels(stored), _pixels(new)
    if a.shape != b.shape:
        return tuple(f"a picture of {p.shape[1]} x {p.shape[0]} pixels" for p in (a, b))
    changed = int((abs(a - b).max(axis=2) > _PIXEL).sum())
    return ("a picture", f"one with {changed} other pixels") if changed else None


def output_differences(
    stored: Sequence, new: Sequence, cell: int, by_interval: bool = False
) -> Iterator[Difference]:
    """Every part of one cell's outputs that differs.

    Args:
        stored, new: the outputs.
        cell: the code cell's number.
        by_interval: estimates may move within their intervals.
    """
    old, now = shown(stored), shown(new)
    if any(FIGURE_DATA in part for part in {*old} ^ {*now}):  # only one of them holds data: look at the pictures
        old, now = (shown(_without_data(outputs)) for outputs in (stored, new))
    for part in dict.fromkeys([*old, *now]):
        a, b = old.get(part), now.get(part)
        if a is None or b is None:
            yield Difference(cell, part, *(text if text is None else text[: 2 * _CONTEXT] for text in (a, b)))
            continue
        found = picture_difference(a, b) if part.endswith("image/png") else text_difference(a, b, by_interval)
        if found:
            yield Difference(cell, part, *found)


def moves(stored: Sequence, new: Sequence, cell: int) -> Iterator[Difference]:
    """Every estimate of one cell's outputs that differs, and lies in its interval.

    Args:
        stored, new: the outputs.
        cell: the code cell's number.
    """
    old, now = shown(stored), shown(new)
    for part in old:
        if part in now and not part.endswith("image/png"):
            yield from (Difference(cell, part, *found) for found in moved_estimates(old[part], now[part]))


def _without_data(outputs: Sequence) -> list:
    return [{**output, "metadata": {}} for output in outputs]


def differences(stored, new, by_interval: bool = False) -> list[Difference]:
    """Everything that two executed notebooks show differently, cell by cell; cells tagged `varies` are left out.

    Args:
        stored: the notebook whose tags and intervals hold.
        new: the other one; it has the same code cells, whatever is in them.
        by_interval: estimates may move within their intervals.
    """
    a, b = ([cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (stored, new))
    found = []
    if len(a) != len(b):
        found.append(Difference(min(len(a), len(b)) + 1, "cells", f"{len(a)} cells", f"{len(b)} cells"))
    for number, (old, now) in enumerate(zip(a, b, strict=False), 1):
        if "varies" not in old.metadata.get("tags", []):
            found += output_differences(old.outputs, now.outputs, number, by_interval)
    return found
