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


class Shown(SphinxDirective):
    """A report, or a part of it."""

    required_arguments = 1
    option_spec = {"view": lambda value: directives.choice(value, ("whole", "outcome", "thumbnail"))}

    def run(self):
        name, view = self.arguments[0], self.options.get("view", "whole")
        content = reports.read(Path(self.env.srcdir), name)
        address = f"{'../' * self.env.docname.count('/')}{_TARGET}/{name}"
        title = escape(f"Report of an audit: {content['decision']['verdict']}")
        made = f'<iframe class="report" src="{address}-annotated.html" title="{title}" loading="lazy"></iframe>'
        if view != "whole":
            made = reports.outcome(content, small=view == "thumbnail")
        if view != "thumbnail":
            made += f'<p><a href="{address}.html">Open the whole report</a></p>'
        return [nodes.raw("", f'<div class="front-part">{made}</div>', format="html")]


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

    app.connect("builder-inited", _write)
