"""Sphinx extension: the book as one page, for printing, shows what the book of many pages shows.

Sphinx takes what extensions know of HTML for a single page only if none of them names the single page by itself. A
page that is not printed is named by its title, as what it was called for leads nowhere.
"""

from pathlib import Path, PurePosixPath

from docutils import nodes

from textsan_book.chapters import reading_times


def _share(app):
    handlers = app.registry.translation_handlers
    handlers["singlehtml"] = {**handlers.get("html", {}), **handlers.get("singlehtml", {})}


def titled(root: Path, page: str) -> str | None:
    """Read the title of a page from its text."""
    path = reading_times.source(root, page)
    if not path.is_file():
        return None
    return next(iter(reading_times.sections(path.read_text(encoding="utf-8"))))


def _name(app, env, node, contnode):
    if app.builder.name != "singlehtml" or node["reftype"] != "doc":
        return None
    page, root = node["reftarget"].lstrip("/"), Path(app.srcdir)
    beside = str(PurePosixPath(node.get("refdoc", "")).parent / page)  # a chapter names another without its folder
    title = contnode.astext() if node["refexplicit"] else titled(root, page) or titled(root, beside)
    return nodes.emphasis("", title) if title else None


def setup(app):
    app.connect("builder-inited", _share)
    app.connect("missing-reference", _name)
