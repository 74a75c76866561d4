"""Sphinx extension: the book as one page, for printing, shows what the book of many pages shows.

Sphinx takes what extensions know of HTML for a single page only if none of them names the single page by itself.
"""


def _share(app):
    handlers = app.registry.translation_handlers
    handlers["singlehtml"] = {**handlers.get("html", {}), **handlers.get("singlehtml", {})}


def setup(app):
    app.connect("builder-inited", _share)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
