"""Compare what two executed notebooks show, output by output; their code may differ.

Words must agree exactly, integers too. A number printed with a point or an exponent may differ by one unit of its
last printed digit, which is what another processor's rounding does. A figure is compared by its drawn data where
both notebooks hold it (see `figures`), by its pixels otherwise. Two tags of a cell change the rule: `trained`, an
estimate printed as `value [low, high]` may move within the stored interval; `varies`, the cell is not compared.

    python -m textsan.book.compare OLD.ipynb NEW.ipynb      # or two folders of notebooks
"""

import base64
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path

FIGURE_DATA = "text/x-figure-data"
# Full-precision prints: the last of sixteen digits is rounding on any processor.
_RELATIVE = Decimal("1e-9")
_DECIMAL = r"[-+−]?(?:\d*\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)"
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
        self.words.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


def html_text(html: str) -> str:
    """The words of `html`, without tags and styles.

    >>> html_text("<style>td {color: red}</style><tr><td>santext</td><td>0.5</td></tr>")
    'santext 0.5'
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
        data = output["data"]
        for kind, value in sorted(data.items()):
            if kind.startswith("image/") and FIGURE_DATA in data:
                continue
            text = json.dumps(value, sort_keys=True) if kind.endswith("json") else value
            parts[f"output {number}, {kind}"] = html_text(text) if kind == "text/html" else text
    return parts


def _pieces(text: str, pattern: re.Pattern) -> list[tuple[str, tuple[str, ...]]]:
    """`text` as words, each run of them with the numbers that follow it; white space beside a number is layout."""
    pieces, end = [], 0
    for match in pattern.finditer(text):
        pieces.append((" ".join(text[end : match.start()].split()), match.groups()))
        end = match.end()
    return [*pieces, (" ".join(text[end:].split()), ())]


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


def _same_piece(stored: tuple, new: tuple) -> bool:
    if stored[0] != new[0] or len(stored[1]) != len(new[1]):
        return False
    if len(stored[1]) == 3:
        return same_estimate(stored[1], new[1])
    return all(map(same_number, stored[1], new[1]))


def text_difference(stored: str, new: str, trained: bool = False) -> tuple[str, str] | None:
    """Where two texts first differ: a little of both around the place, or None if they agree.

    Args:
        stored, new: the texts.
        trained: estimates, printed as `value [low, high]`, may move within their intervals.

    >>> text_difference("CusText 0.345 of 116 words", "CusText 0.355 of 116 words")
    ('CusText 0.345 of 116 words', 'CusText 0.355 of 116 words')
    """
    if trained:
        # Estimates first, so that what lies between them is compared as any other text.
        a, b = _pieces(stored, _INTERVAL), _pieces(new, _INTERVAL)
        for one, other in zip_longest(a, b, fillvalue=("", ())):
            if words := text_difference(one[0], other[0]):
                return words
            if not _same_piece(("", one[1]), ("", other[1])):
                return f"{one[0][-_CONTEXT:]} {_estimate(one[1])}", f"{other[0][-_CONTEXT:]} {_estimate(other[1])}"
        return None
    a, b = _pieces(stored, _NUMBER), _pieces(new, _NUMBER)
    pairs = zip_longest(a, b, fillvalue=("", ()))
    first = next((i for i, (one, other) in enumerate(pairs) if not _same_piece(one, other)), None)
    if first is None:
        return None
    return _around(a, first, b), _around(b, first, a)


def _estimate(numbers: tuple[str, ...]) -> str:
    return "{} [{}, {}]".format(*numbers) if numbers else "no estimate"


def _around(pieces: list, at: int, others: list) -> str:
    """A little of the text around the piece with number `at`, from where its words differ from the others'."""
    words = pieces[at][0] if at < len(pieces) else ""
    other = others[at][0] if at < len(others) else ""
    agree = len(os.path.commonprefix([words, other]))
    before = " ".join(" ".join([piece[0], *piece[1]]) for piece in pieces[max(0, at - 3) : at])
    after = " ".join(" ".join([piece[0], *piece[1]]) for piece in pieces[at + 1 : at + 4])
    middle = " ".join([words[agree:], *(pieces[at][1] if at < len(pieces) else ())])
    return f"{f'{before} {words[:agree]}'[-_CONTEXT:]}{middle} {after[:_CONTEXT]}"[: 4 * _CONTEXT].strip()


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


def output_differences(stored: Sequence, new: Sequence, cell: int, trained: bool = False) -> Iterator[Difference]:
    """Every part of one cell's outputs that differs.

    Args:
        stored, new: the outputs.
        cell: the code cell's number.
        trained: estimates may move within their intervals.
    """
    old, now = shown(stored), shown(new)
    if any(FIGURE_DATA in part for part in {*old} ^ {*now}):  # only one of them holds data: look at the pictures
        old, now = (shown(_without_data(outputs)) for outputs in (stored, new))
    for part in dict.fromkeys([*old, *now]):
        a, b = old.get(part), now.get(part)
        if a is None or b is None:
            yield Difference(cell, part, *(text if text is None else text[: 2 * _CONTEXT] for text in (a, b)))
        elif found := picture_difference(a, b) if part.endswith("image/png") else text_difference(a, b, trained):
            yield Difference(cell, part, *found)


def _without_data(outputs: Sequence) -> list:
    return [
        {**output, "data": {kind: value for kind, value in output["data"].items() if kind != FIGURE_DATA}}
        if "data" in output
        else output
        for output in outputs
    ]


def differences(stored, new) -> list[Difference]:
    """Everything that two executed notebooks show differently, cell by cell; cells tagged `varies` are left out.

    Args:
        stored: the notebook whose tags and intervals hold.
        new: the other one; it has the same code cells, whatever is in them.
    """
    a, b = ([cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (stored, new))
    found = []
    if len(a) != len(b):
        found.append(Difference(min(len(a), len(b)) + 1, "cells", f"{len(a)} cells", f"{len(b)} cells"))
    for number, (old, now) in enumerate(zip(a, b, strict=False), 1):
        tags = old.metadata.get("tags", [])
        if "varies" not in tags:
            found += output_differences(old.outputs, now.outputs, number, "trained" in tags)
    return found


def main(old: Path, new: Path) -> int:
    """Print what differs between two notebooks, or between those of two folders; the number of differences."""
    import nbformat

    names = [""] if old.is_file() else sorted({path.name for side in (old, new) for path in side.glob("*.ipynb")})
    total = 0
    for name in names:
        sides = old / name, new / name
        missing = [side for side in sides if not side.is_file()]
        found = [f"{side} is missing" for side in missing] or differences(
            *(nbformat.read(side, as_version=4) for side in sides)
        )
        for difference in found:
            print(f"{name or old.name}: {difference}")
        total += len(found)
    print(f"{len(names)} notebooks, {total} differences")
    return total


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m textsan.book.compare OLD NEW   (two notebooks, or two folders of them)")
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])) > 0)
