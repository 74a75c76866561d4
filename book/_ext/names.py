"""Sphinx extension: what a screen reader says of a button is what stands on it.

The theme and the folds of cells name their buttons twice, once in words that are shown and once in others.
"""

import re
from pathlib import Path

_TWICE = re.compile(
    r'(<div) role="list"(?= class="citation-list")'  # its entries are no items of a list
    r'|(<summary)\s+aria-label="Toggle hidden content"'
    r'|(<button class="[^"]*(?:search-button-field|theme-switch-button)[^"]*"[^>]*?)\s+aria-label="[^"]*"'
)


def once(page: str) -> str:
    """The text of a page without the second names.

    >>> once('<summary aria-label="Toggle hidden content">Imports</summary>')
    '<summary>Imports</summary>'
    """
    return _TWICE.sub(lambda match: match[1] or match[2] or match[3], page)


def _rename(app, exception):
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            if (named := once(text)) != text:
                path.write_text(named, encoding="utf-8")


def setup(app):
    app.connect("build-finished", _rename)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
