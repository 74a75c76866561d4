"""Sphinx extension: reading times, the short path through the book, and *In one minute* as one kind of box.

What is on the path stands in `book/short-path.yml`; times are of `textsan_book.chapters.reading_paths`. Nothing of
it stands in a chapter's text.
"""

from functools import cache
from pathlib import Path

from docutils import nodes

from textsan_book.chapters import reading_paths

_BRIEF = "In one minute"


@cache
def _stops(root: str) -> list[reading_paths.Stop]:
    return reading_paths.short_path(Path(root))


def _resolve(app, doctree, docname):
    if app.builder.format != "html" or not (section := next(doctree.findall(nodes.section), None)):
        return
    _box(doctree)
    source = reading_paths.source(Path(app.srcdir), docname)
    if docname.startswith("notebooks/") and source.is_file():
        section.insert(1, _times(app, docname, section))
    stops = _stops(app.srcdir)
    numbers = {stop.page: number for number, stop in enumerate(stops)}
    if (number := numbers.get(docname)) is not None and docname != app.config.root_doc:
        _last(section, stops[number]).append(_next(app, docname, stops, number))


def _box(section: nodes.Element) -> None:
    """The paragraph that begins with these words becomes a box, as in the chapters that have one."""
    for paragraph in [*section.findall(nodes.paragraph)]:
        inside = [node for node in paragraph.children if node.astext()]
        if inside and isinstance(inside[0], nodes.strong) and inside[0].astext().rstrip(".") == _BRIEF:
            rest = nodes.paragraph("", "", *inside[1:])
            title = nodes.title("", _BRIEF)
            paragraph.replace_self(nodes.admonition("", title, rest, classes=["tip"]))


def _times(app, docname: str, section: nodes.section) -> nodes.paragraph:
    """The line below a title: how long all of it takes, and how long what is on the short path."""
    whole = reading_paths.minutes(Path(app.srcdir), docname)
    line = nodes.paragraph("", f"{whole} minutes to read", classes=["reading-time"])
    stops = _stops(app.srcdir)
    for number, stop in enumerate(stops, 1):
        if stop.page != docname:
            continue
        line += nodes.Text(f" · ★ stop {number} of {len(stops)} on the ")
        line += _link(app, docname, "book/pages/short-path", "short path")
        if stop.headings:
            line += nodes.Text(f", {stop.minutes} minutes: the opening")
            for heading in stop.headings:
                part = _section(section, heading)
                line += nodes.Text(", ")
                line += nodes.reference("", heading, internal=True, refid=part["ids"][0])
    return line


def _section(section: nodes.section, heading: str) -> nodes.section:
    return next(one for one in section.findall(nodes.section) if one[0].astext().replace("\u2019", "'") == heading)


def _last(section: nodes.section, stop: reading_paths.Stop) -> nodes.section:
    return _section(section, stop.headings[-1]) if stop.headings else section


def _next(app, docname: str, stops: list[reading_paths.Stop], number: int) -> nodes.paragraph:
    line = nodes.paragraph("", "★ ", classes=["next-stop"])
    if number + 1 == len(stops):
        line += nodes.Text("This was the last stop of the short path; ")
        line += _link(app, docname, "book/pages/parts", "the book part by part")
        line += nodes.Text(" says what else there is.")
        return line
    line += nodes.Text("Next on the short path: ")
    line += _link(app, docname, stops[number + 1].page, stops[number + 1].title)
    line += nodes.Text(f", {stops[number + 1].minutes} minutes")
    return line


def _link(app, docname: str, page: str, text: str) -> nodes.reference:
    address = app.builder.get_relative_uri(docname, page)
    return nodes.reference("", text, internal=True, refuri=address)


def _mark(app, pagename, templatename, context, doctree):
    """Stars in the contents, and after the first page the first chapter."""
    stops = _stops(app.srcdir)
    own = 'nav.bd-links li.current.active > a[href="#"]'
    links = [
        own if stop.page == pagename else f'nav.bd-links a[href$="{Path(stop.page).name}.html"]' for stop in stops
    ]
    if links:
        style = ", ".join(f"{link}::after" for link in links)
        context["metatags"] = f'{context.get("metatags", "")}<style>{style} {{ content: "\\00a0★"; }}</style>'
    if pagename == app.config.root_doc and len(stops) > 1:
        first = stops[1].page
        address = app.builder.get_relative_uri(pagename, first)
        context["next"] = {"title": app.env.titles[first].astext(), "link": address}


def setup(app):
    app.connect("doctree-resolved", _resolve)
    app.connect("html-page-context", _mark, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
