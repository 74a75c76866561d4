"""Sphinx extension: what a screen reader says of a button is what stands on it.

The theme and the folds of cells name their buttons twice, once in words that are shown and once in others; what
opens a part of the contents has no name, and the pictures on the button of light and dark have one each.
"""

import re
from pathlib import Path

_TWICE = re.compile(
    r'(<div) role="list"(?= class="citation-list")'  # its entries are no items of a list
    r'|(<button class="[^"]*search-button-field[^"]*"[^>]*?)\s+aria-label="[^"]*"'
)
_FOLD = re.compile(
    r'<summary aria-label="Toggle hidden content">(\s*<p class="collapsed admonition-title">([^<]*)</p>)'
)
_OPENER = re.compile(r'(href="[^"]*">([^<]*)</a><details[^>]*><summary)(?=><span class="toctree-toggle")')
_PICTURE = re.compile(r'(<i class="theme-switch [^>]*?)\s+title="[^"]*"')


def once(page: str) -> str:
    """Take the second names from a page; a fold is named by what stands on it.

    >>> once('<summary aria-label="Toggle hidden content"><p class="collapsed admonition-title">Imports</p>')
    '<summary aria-label="Imports"><p class="collapsed admonition-title">Imports</p>'
    >>> once('<a href="p.html">Parts</a><details><summary><span class="toctree-toggle">')
    '<a href="p.html">Parts</a><details><summary aria-label="Pages of Parts"><span class="toctree-toggle">'
    """
    page = _OPENER.sub(r'\1 aria-label="Pages of \2"', page)
    page = _PICTURE.sub(r"\1", page)
    page = _FOLD.sub(r'<summary aria-label="\2">\1', page)
    return _TWICE.sub(lambda match: match[1] or match[2], page)


def _rename(app, exception):
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            if (named := once(text)) != text:
                path.write_text(named, encoding="utf-8")


def setup(app):
    app.connect("build-finished", _rename)
