"""Sphinx extension: the front page's sentences and pictures, computed at the build; a PNG and two zips.

`{{ name }}` in a page is a sentence of `textsan_book.judging.front`, and the directive `{front} name` a part of
`textsan_book.judging.front_pictures`; with `:link:` the part leads to a page.
"""

import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from textsan_book.judging import front, front_pictures

CARD = "card.png"  # below _static
VERDICTS = "notebooks/what-holds-up"


class Part(SphinxDirective):
    """A picture or a few lines, computed from the tables."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"link": directives.unchanged}

    def run(self):
        made = front_pictures.PARTS[self.arguments[0]](Path(self.env.srcdir))
        if isinstance(made, tuple):
            svg, label = made
            made = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
        if page := self.options.get("link"):
            address = self.env.app.builder.get_relative_uri(self.env.docname, page)
            made = f'<a class="squares" href="{address}">{made}</a>'
        return [nodes.raw("", f'<div class="front-part">{made}</div>', format="html")]


def _fill(app, docname, source):
    source[0] = front.fill(source[0], Path(app.srcdir))


def _show_squares(app, doctree, docname):
    """On the page of verdicts, above its tables: how many numbers were compared, a square each."""
    root = Path(app.srcdir)
    if docname != VERDICTS or not (root / "data" / "results" / "scoreboard.csv").is_file():
        return
    section = next(doctree.findall(nodes.section))
    made = f'<div class="front-part">{front_pictures.PARTS["published numbers"](root)}</div>'
    summary = nodes.paragraph("", front.of_the_papers())
    place = next(number for number, child in enumerate(section.children) if isinstance(child, nodes.section))
    section.insert(place, [nodes.raw("", made, format="html"), summary])


def _write(app, exception):
    root = Path(app.srcdir)
    if exception is None and (root / "data" / "results" / "mixture.csv").is_file():
        static = Path(app.outdir, "_static")
        front_pictures.card(front.budgets(), app.config.html_title, static / CARD)
        for name, base, folder in (("notebooks", root, "notebooks"), ("tables", root / "data", "results")):
            shutil.make_archive(str(static / f"textsan-{name}"), "zip", base, folder)


def setup(app):
    app.add_directive("front", Part)
    app.connect("source-read", _fill)
    app.connect("doctree-resolved", _show_squares)
    app.connect("build-finished", _write)
