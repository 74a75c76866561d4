"""Sphinx extension: the directive `explorer`, which puts the explorer, or one view of it, into a page.

    ```{explorer}
    :view: small
    ```

Its data are made when the book is built; they and its scripts are loaded by the pages that show it, and no others.
Without scripts a reader sees one draw.
"""

import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from textsan_book.chapters import explorer as data

SCRIPTS = "data", "world", "mechanisms", "attacks", "sentence", "curves", "three", "page", "start"
VIEWS = "curves", "sentence", "small", "three", "whole"
PAGE = "book/pages/explorer"
_FOLDER = Path(__file__).parents[1] / "explorer"
_CLASS = 'class="textsan-explorer"'


class Explorer(SphinxDirective):
    """The explorer; `view` is "whole", the name of a view, or "small", a sentence without its rivals."""

    option_spec = {"view": lambda value: directives.choice(value, VIEWS)}

    def run(self):
        view, world = self.options.get("view", "whole"), data.material()
        whole = self.env.app.builder.get_relative_uri(self.env.docname, PAGE)
        without = f"{data.still(world)}<p>The explorer needs scripts; this is one draw of it.</p>"
        about = f"<p>{escape(data.about(world))}</p>" if view == "whole" else ""
        made = (
            f'<div {_CLASS} data-view="{view}" data-whole="{escape(whole)}"><noscript>{without}</noscript></div>'
        )
        return [nodes.raw("", made + about, format="html")]


def _write(app):
    if not _FOLDER.is_dir():  # a book without the scripts has no explorer
        return
    target = Path(app.outdir) / "_static" / "explorer"
    target.mkdir(parents=True, exist_ok=True)
    (target / "data.js").write_text(data.script(data.material()), encoding="ascii")
    for path in _FOLDER.iterdir():
        shutil.copy(path, target)


def _load(app, pagename, templatename, context, doctree):
    if _CLASS in context.get("body", ""):
        app.add_css_file("explorer/explorer.css")
        for name in SCRIPTS:
            app.add_js_file(f"explorer/{name}.js", loading_method="defer")


def setup(app):
    app.add_directive("explorer", Explorer)

    app.connect("builder-inited", _write)
    app.connect("html-page-context", _load)
