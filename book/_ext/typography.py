"""Sphinx extension: minus signs, powers of ten, columns of numbers; no line ends between a number and its own.

Chapters, their tables and what they print are plain text that can be computed with; this is how a page sets it.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_SPACE = "\N{NO-BREAK SPACE}"
_RELATION = re.compile(r"(?<=[^\W\d_]) ([=≤≥<>]) (?=[\d.−-])")  # ε = 4
_PERCENT = re.compile(r"(?<=\d) (?=%)")
_NUMBERS = re.compile(r'(?<=class="number">)[^<]*(?:<span class="interval">[^<]*)?')
_MINUS = re.compile(r"(?<![\w.)])-(?=[\d.∞])")
_POWER = re.compile(r"(\d)e([+-])0*(\d+)")
_CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</\1>", re.DOTALL)
_ONE = r"[<>≤≥+−-]? ?\d[\d.,]*(?:e[+-]\d+)?(?: ?%)?"
_WRITTEN = re.compile(rf"{_ONE}(?:(?: to | of | / ){_ONE})*")  # what a chapter has written as text
_NO_NUMBER = ("–", "none", "all")  # what may stand among numbers
_AS_WRITTEN = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def unbroken(text: str) -> str:
    """Prose in which no line ends between a letter and its value, or a number and its per cent.

    >>> unbroken("at ε = 4, 95 % of them").replace(chr(160), "_")
    'at ε_=_4, 95_% of them'
    """
    return _PERCENT.sub(_SPACE, _RELATION.sub(rf"{_SPACE}\1{_SPACE}", text))


def aligned(table: str) -> str:
    """A table's HTML in which a column of numbers is one, whether its cells were numbers or text.

    >>> aligned('<tr><th>a</th><th>b</th></tr>\\n<tr><th>x</th><td>12 %</td></tr>')
    '<tr><th>a</th><th class="number">b</th></tr>\\n<tr><th>x</th><td class="number">12 %</td></tr>'
    """
    rows = [_CELL.findall(row) for row in table.split("<tr>")[1:]]
    columns = [[text for _, _, text in column] for column in zip(*rows[1:], strict=False)]
    of_numbers = [_of_numbers(column) for column in columns]
    before, *parts = table.split("<tr>")

    def row(part: str) -> str:
        at = iter(of_numbers)

        def cell(found: re.Match) -> str:
            more = ' class="number"' if next(at, False) and "class=" not in found[2] else ""
            return f"<{found[1]}{found[2]}{more}>{found[3]}</{found[1]}>"

        return _CELL.sub(cell, part)

    return "<tr>".join([before, *map(row, parts)])


def _of_numbers(column: list[str]) -> bool:
    written = [bool(_WRITTEN.fullmatch(text)) for text in column]
    return any(written) and all(one or text in _NO_NUMBER for one, text in zip(written, column, strict=True))


def numbers(table: str) -> str:
    """A table's HTML with its numbers as they are set: a minus is no hyphen, an exponent stands above.

    >>> numbers('<td class="number">-0.1 <span class="interval">[-0.2, 0.0]</span></td><td>a -1</td>')
    '<td class="number">−0.1 <span class="interval">[−0.2, 0.0]</span></td><td>a -1</td>'
    >>> numbers('<td class="number">5.1e-42</td>').replace(chr(160), "_")
    '<td class="number">5.1_·_10<sup>−42</sup></td>'
    """
    return _NUMBERS.sub(lambda found: _POWER.sub(_power, _MINUS.sub("−", found[0])), table)


def _power(found: re.Match) -> str:
    sign = "−" if found[2] == "-" else ""
    return f"{found[1]}{_SPACE}·{_SPACE}10<sup>{sign}{found[3]}</sup>"


class SetNumbers(SphinxPostTransform):
    """Set the numbers of prose and of tables."""

    default_priority = 300  # when myst-nb has chosen among a cell's outputs
    formats = ("html",)

    def run(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            if not _inside(text, _AS_WRITTEN) and (now := unbroken(text)) != text:
                text.parent.replace(text, nodes.Text(now))
        for output in list(self.document.findall(nodes.raw)):
            if 'class="results"' in output.astext():
                output.children = [nodes.Text(unbroken(numbers(aligned(output.astext()))))]


def _inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def setup(app):
    app.add_post_transform(SetNumbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
