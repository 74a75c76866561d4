"""Sphinx extension: tables of results name mechanisms, data sets and papers as readers do, not by keys.

A chapter's own code has the keys. Where a cell of a table is one, or two with "minus" between them, the page shows
what figures show.
"""

import re

from docutils import nodes

from textsan.mechanisms import MECHANISMS

DATASETS = {"ag_news": "AG News", "sst2": "SST-2", "qnli": "QNLI", "stsb": "STS-B", "cola": "CoLA"}
PAPERS = {"Pooler 2023": "Li et al. 2023", "Pan 2020": "Pan et al. 2020", "Tong 2024": "Tong et al. 2024"}
WORDS = {"random", "spent", "erasure"}
_CELL = re.compile(r"(<t[dh][^>]*>)([^<]+)(?=</t[dh]>)")
_BETWEEN = re.compile(r"( minus | and |, )")


def labels() -> dict[str, str]:
    """What is shown for each key; those that are words stay, since a table of words may hold them."""
    return {name: one.label for name, one in MECHANISMS.items() if name not in WORDS} | DATASETS | PAPERS


def shown(table: str) -> str:
    """The HTML of a table with names in the place of keys.

    >>> shown("<tr><th>santext minus santext+</th><td>ag_news, sst2</td><td>random draws</td></tr>")
    '<tr><th>SanText minus SanText+</th><td>AG News, SST-2</td><td>random draws</td></tr>'
    """
    known = labels()

    def named(match: re.Match) -> str:
        parts = _BETWEEN.split(match[2])
        if not all(part in known for part in parts[::2]):
            return match[0]
        return match[1] + "".join(known.get(part, part) for part in parts)

    return _CELL.sub(named, table)


def _rename(app, doctree, docname):
    for node in doctree.findall(nodes.raw):
        text = node.astext()
        if 'class="results"' in text:
            node.children = [nodes.Text(shown(text))]


def setup(app):
    app.connect("doctree-resolved", _rename)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
