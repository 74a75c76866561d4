"""Sphinx extension: the reading time below a chapter's title, and *In one minute* as one kind of box."""

from pathlib import Path

from docutils import nodes

from textsan_book.chapters import reading_times

_BRIEF = "In one minute"


def _resolve(app, doctree, docname):
    if app.builder.format != "html" or not (section := next(doctree.findall(nodes.section), None)):
        return
    _box(doctree)
    root = Path(app.srcdir)
    if docname.startswith("notebooks/") and reading_times.source(root, docname).is_file():
        line = f"{reading_times.minutes(root, docname)} minutes to read"
        section.insert(1, nodes.paragraph("", line, classes=["reading-time"]))


def _box(section: nodes.Element) -> None:
    """The paragraph that begins with these words becomes a box, as in the chapters that have one."""
    for paragraph in [*section.findall(nodes.paragraph)]:
        inside = [node for node in paragraph.children if node.astext()]
        if inside and isinstance(inside[0], nodes.strong) and inside[0].astext().rstrip(".") == _BRIEF:
            rest = nodes.paragraph("", "", *inside[1:])
            title = nodes.title("", _BRIEF)
            paragraph.replace_self(nodes.admonition("", title, rest, classes=["tip"]))


def setup(app):
    app.connect("doctree-resolved", _resolve)
