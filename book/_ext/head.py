"""Sphinx extension: what a page says of itself to search engines and previews; a first page titled once."""

from html import escape

from docutils import nodes

_LENGTH = 200  # characters that previews show


def description(doctree: nodes.document) -> str:
    """The first paragraph that stands in a section itself, in plain text, cut after a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= _LENGTH else text[:_LENGTH].rsplit(" ", 1)[0] + " …"
    return ""


def _describe(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    title = app.env.titles[pagename].astext()
    said = {"og:type": "article", "og:site_name": app.config.html_title, "og:title": title}
    lines = [f'<meta property="{name}" content="{escape(text)}" />' for name, text in said.items()]
    if text := description(doctree):
        lines += [
            f'<meta name="description" content="{escape(text)}" />',
            f'<meta property="og:description" content="{escape(text)}" />',
        ]
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)
    if pagename == app.config.root_doc:
        context["docstitle"] = ""  # its own title is the book's, and would be followed by it


def _name_book(app, config):
    config.html_theme_options.setdefault("logo", {})["text"] = config.html_title


def setup(app):
    app.connect("config-inited", _name_book)
    app.connect("html-page-context", _describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
