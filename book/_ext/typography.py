"""Sphinx extension: names and numbers of result tables as readers write them; no line ends within a number.

Chapters, their tables and what they print are plain text that can be computed with; this is how a page sets it.
Keys of mechanisms, data sets and papers become the names that figures show; a hyphen becomes a minus, an exponent
a power.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from textsan.mechanisms import MECHANISMS

DATASETS = {"ag_news": "AG News", "sst2": "SST-2", "qnli": "QNLI", "stsb": "STS-B", "cola": "CoLA"}
PAPERS = {"Li 2023": "Li et al. 2023", "Pan 2020": "Pan et al. 2020", "Tong 2024": "Tong et al. 2024"}
WORDS = {"random", "spent", "erasure"}  # keys that are words stay, since a table of words may hold them
_NAMED = re.compile(r"(<t[dh][^>]*>)([^<]+)(?=</t[dh]>)")
_BETWEEN = re.compile(r"( minus | and |, )")
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
    """Rewrite prose so that no line ends between a letter and its value, or a number and its per cent.

    >>> unbroken("at ε = 4, 95 % of them").replace(chr(160), "_")
    'at ε_=_4, 95_% of them'
    """
    return _PERCENT.sub(_SPACE, _RELATION.sub(rf"{_SPACE}\1{_SPACE}", text))


def named(table: str) -> str:
    """Put names in the place of keys in a table's HTML, also where several stand in a cell.

    >>> named("<tr><th>santext minus santext+</th><td>ag_news, sst2</td><td>random draws</td></tr>")
    '<tr><th>SanText minus SanText+</th><td>AG News, SST-2</td><td>random draws</td></tr>'
    """
    known = {name: entry.label for name, entry in MECHANISMS.items() if name not in WORDS} | DATASETS | PAPERS

    def cell(match: re.Match) -> str:
        parts = _BETWEEN.split(match[2])
        if not all(part in known for part in parts[::2]):
            return match[0]
        return match[1] + "".join(known.get(part, part) for part in parts)

    return _NAMED.sub(cell, table)


def aligned(table: str) -> str:
    """Make a column of numbers in a table's HTML one, whether its cells were numbers or text.

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
    return any(written) and all(
        is_number or text in _NO_NUMBER for is_number, text in zip(written, column, strict=True)
    )


def numbers(table: str) -> str:
    """Set the numbers of a table's HTML: a minus is no hyphen, an exponent stands above.

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
                output.children = [nodes.Text(unbroken(numbers(aligned(named(output.astext())))))]


def _inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def setup(app):
    app.add_post_transform(SetNumbers)
