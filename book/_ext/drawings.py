"""Sphinx extension: SVG pictures become part of the page, so that they follow its theme, light or dark.

A picture that is a file of its own cannot see the page's colours. Here black becomes the colour of the page's text
and white that of the page itself; every other colour stays. Captions, numbers and alternative texts are as for any
picture.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_THEMED = {"#000000": "currentColor", "#ffffff": "var(--pst-color-background)"}
_COLOUR = re.compile(r"(?<=[ :\"])(#000000|#ffffff)\b", re.IGNORECASE)
_OUTSIDE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL)  # in a page it would be for all of the page
_WIDTH = re.compile(r'\bwidth="([\d.]+)pt"')
_SHRINK = 0.6  # of the size it was drawn in, a drawing can still be read; narrower pages scroll it
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')


def inline(svg: str, alt: str, prefix: str) -> str:
    """Turn an SVG file's text into an element of a page, in the page's colours.

    The prefix is put before its ids, which must differ between the pictures of a page; `alt` is what those read
    who do not see it.
    """
    body = _STYLE.sub("", _OUTSIDE.sub("", svg)).strip()
    body = _NAMED.sub(rf"\g<1>{prefix}-", body)
    body = _COLOUR.sub(lambda match: _THEMED[match[1].lower()], body)
    # A shape without a fill is black: said once, for all of them.
    attributes = f'role="img" aria-label="{html.escape(alt)}" fill="currentColor" stroke-linejoin="round"'
    if width := _WIDTH.search(body):
        attributes += f' style="min-width: {_SHRINK * float(width[1]):.0f}pt"'
    return body.replace("<svg ", f"<svg {attributes} ", 1)


class InlineDrawings(SphinxPostTransform):
    """Replace every SVG picture by itself."""

    default_priority = 160  # after `folding` has looked for pictures
    formats = ("html",)

    def run(self, **kwargs):
        pictures = [node for node in self.document.findall(nodes.image) if node["uri"].endswith(".svg")]
        for number, picture in enumerate(pictures, 1):
            svg = Path(self.app.srcdir, picture["uri"]).read_text(encoding="utf-8")
            shown = inline(svg, picture.get("alt", ""), f"drawing-{number}")
            picture.replace_self(nodes.raw("", f'<div class="drawing">{shown}</div>\n', format="html"))


def setup(app):

    app.add_post_transform(InlineDrawings)
