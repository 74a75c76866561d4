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


class explorer(nodes.General, nodes.Element):
    """The explorer; `view` is "whole", the name of a view, or "small", a sentence without its rivals."""


class Explorer(SphinxDirective):
    option_spec = {"view": lambda value: directives.choice(value, VIEWS)}

    def run(self):
        return [explorer(view=self.options.get("view", "whole"))]


def _visit(translator, node):
    world = data.material()
    whole = translator.builder.get_relative_uri(translator.builder.current_docname, PAGE)
    translator.body.append(
        f'<div class="textsan-explorer" data-view="{node["view"]}" data-whole="{escape(whole)}">'
        f"<noscript>{data.still(world)}<p>The explorer needs scripts; this is one draw of it.</p></noscript></div>"
    )
    if node["view"] == "whole":
        translator.body.append(f"<p>{escape(data.about(world))}</p>")


def _depart(translator, node):
    pass


def _write(app):
    if not _FOLDER.is_dir():  # a book without the scripts has no explorer
        return
    target = Path(app.outdir) / "_static" / "explorer"
    target.mkdir(parents=True, exist_ok=True)
    (target / "data.js").write_text(data.script(data.material()), encoding="ascii")
    for path in _FOLDER.iterdir():
        shutil.copy(path, target)


def _load(app, pagename, templatename, context, doctree):
    if doctree is not None and any(True for _ in doctree.findall(explorer)):
        app.add_css_file("explorer/explorer.css")
        for name in SCRIPTS:
            app.add_js_file(f"explorer/{name}.js", loading_method="defer")


def setup(app):
    app.add_directive("explorer", Explorer)
    app.add_node(explorer, html=(_visit, _depart))
    app.connect("builder-inited", _write)
    app.connect("html-page-context", _load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
