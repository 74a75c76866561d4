"""Sphinx extension: the directive `report`, which shows an example of an audit's report.

    ```{report} not-kept
    :view: whole
    ```

Views are "whole", the report itself with numbers at the places that the page explains; "outcome", its verdict
and squares with a link to it; "thumbnail", the same without legend or link. Reports are in `_static/reports`.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from textsan.auditing.report import Report
from textsan_book.chapters import reports

_TARGET = "_static/reports"


class report(nodes.General, nodes.Element):
    """An example by its `name`; `view` is "whole", "outcome" or "thumbnail"."""


class Shown(SphinxDirective):
    """A report, or a part of it."""

    required_arguments = 1
    option_spec = {"view": lambda value: directives.choice(value, ("whole", "outcome", "thumbnail"))}

    def run(self):
        return [report(name=self.arguments[0], view=self.options.get("view", "whole"))]


def _visit(translator, node):
    name, builder = node["name"], translator.builder
    content = reports.read(Path(builder.srcdir), name)
    depth = builder.get_target_uri(builder.current_docname).count("/")
    folder = f"{'../' * depth}{_TARGET}"
    title = escape(f"Report of an audit: {content['decision']['verdict']}")
    link = f'<p><a href="{folder}/{name}.html">Open the whole report</a></p>'
    if node["view"] == "whole":
        source = f"{folder}/{name}-annotated.html"
        made = f'<iframe class="report" src="{source}" title="{title}" loading="lazy"></iframe>{link}'
    else:
        made = reports.outcome(content, small=node["view"] == "thumbnail")
        made += link if node["view"] == "outcome" else ""
    translator.body.append(f'<div class="front-part">{made}</div>')
    raise nodes.SkipNode


def _skip(translator, node):
    raise nodes.SkipNode


def _write(app):
    root = Path(app.srcdir)
    if app.builder.format != "html" or not (root / reports.FOLDER).is_dir():
        return
    target = Path(app.outdir, _TARGET)
    target.mkdir(parents=True, exist_ok=True)
    for name in reports.EXAMPLES:
        content = reports.read(root, name)
        (target / f"{name}.html").write_text(Report(content).html(), encoding="utf-8")
        (target / f"{name}-annotated.html").write_text(reports.annotated(content), encoding="utf-8")


def setup(app):
    app.add_directive("report", Shown)
    app.add_node(report, html=(_visit, None), latex=(_skip, None), text=(_skip, None))
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
