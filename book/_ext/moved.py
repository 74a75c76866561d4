"""Sphinx extension: the address that a page or an anchor had before leads to where it is now.

What moved stands in `book/moved.yml`. In place of a page that is no more a tiny one sends the reader on, with the
anchor of the address; without scripts a refresh or a link does, to the page. A page that is still there sends on
those who ask for an anchor that left it. An address that leads nowhere stops the build.
"""

import json
import re
from collections.abc import Callable, Collection
from html import escape
from pathlib import Path

import yaml
from sphinx.errors import ExtensionError

_SCRIPT = """<script>
(function () {{
  var moved = {moved}, anchor = location.hash.slice(1);
  var to = moved.hasOwnProperty(anchor) ? moved[anchor] : {others};
  if (to) location.replace(to);
}})();
</script>"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Moved: {title}</title>
<link rel="canonical" href="{canonical}">
{script}
<noscript><meta http-equiv="refresh" content="0; url={address}"></noscript>
</head>
<body><p>This page has moved: <a href="{address}">{title}</a></p></body>
</html>
"""


def addresses(root: Path) -> dict[str, dict[str, str]]:
    """Read for each old page the new `page#anchor` of its anchors; "" is the page itself, if it is no more."""
    path = root / "book" / "moved.yml"
    listed = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    by_page = {}
    for old, moved in listed.items():
        moved = {"to": moved} if isinstance(moved, str) else moved
        page = moved.get("to", old).partition("#")[0]
        anchors = {"": moved["to"]} if "to" in moved else {}
        for anchor, now in moved.get("anchors", {}).items():
            anchors[anchor] = now if "#" in now else f"{page}#{now}"
        by_page[old] = anchors
    return by_page


def script(anchors: dict[str, str], link: Callable[[str], str]) -> str:
    """Write the script of an old address."""
    moved = {anchor: link(now) for anchor, now in anchors.items()}
    whole = moved.get("", "").partition("#")[0]
    others = f"{json.dumps(whole + '#')} + anchor" if whole else "null"
    return _SCRIPT.format(moved=json.dumps(moved), others=others)


def _link(builder, old: str) -> Callable[[str], str]:
    def link(now: str) -> str:
        page, mark, anchor = now.partition("#")
        return builder.get_relative_uri(old, page) + mark + anchor

    return link


def faults(found: dict[str, dict[str, str]], pages: Collection[str], ids: Callable[[str], set[str]]) -> list[str]:
    """Check a list of old addresses; a line for each fault."""
    wrong = []
    for old, anchors in found.items():
        if ("" in anchors) == (old in pages):
            wrong.append(f"{old} is {'still a' if old in pages else 'no'} page of the book")
        for page, _, anchor in (now.partition("#") for now in anchors.values()):
            if page not in pages:
                wrong.append(f"{old}: there is no page {page}")
            elif anchor and anchor not in ids(page):
                wrong.append(f"{old}: there is no anchor {anchor} on {page}")
    return wrong


def _write(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    moves, folder, base = addresses(Path(app.srcdir)), Path(app.outdir), app.config.html_baseurl

    def ids(page):
        return {*re.findall(r'\bid="([^"]+)"', (folder / f"{page}.html").read_text(encoding="utf-8"))}

    if wrong := faults(moves, app.env.found_docs, ids):
        raise ExtensionError("book/moved.yml: " + "; ".join(wrong))
    for old, anchors in moves.items():
        if "" not in anchors:
            continue
        link, page = _link(app.builder, old), anchors[""].partition("#")[0]
        address, title = escape(link(anchors[""])), escape(app.env.titles[page].astext())
        canonical = escape(f"{base.rstrip('/')}/{page}.html" if base else link(page))
        text = _PAGE.format(title=title, canonical=canonical, address=address, script=script(anchors, link))
        (folder / old).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{old}.html").write_text(text, encoding="utf-8")


def _send_on(app, pagename, templatename, context, doctree):
    """The script of a page that is still there, when some of its anchors are elsewhere."""
    anchors = addresses(Path(app.srcdir)).get(pagename)
    if anchors and "" not in anchors:
        context["metatags"] = context.get("metatags", "") + script(anchors, _link(app.builder, pagename))


def setup(app):
    app.connect("html-page-context", _send_on)
    app.connect("build-finished", _write)
