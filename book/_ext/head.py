"""Sphinx extension: what a page says of itself to search engines and previews; a first page titled once.

Two addresses of `_config.yml` are empty until there is something at them. That of the repository brings its links
and the buttons that open a chapter where it can run; that of the pages, the picture that a preview shows.
"""

from html import escape

from docutils import nodes

_LENGTH = 200  # characters that previews show


def description(doctree: nodes.document) -> str:
    """Find the first paragraph that stands in a section itself, in plain text, cut after a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section) and "reading-time" not in paragraph["classes"]:
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= _LENGTH else text[:_LENGTH].rsplit(" ", 1)[0] + " …"
    return ""


def _describe(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    title = app.env.titles[pagename].astext()
    properties = {"og:type": "article", "og:site_name": app.config.html_title, "og:title": title}
    lines = [f'<meta property="{name}" content="{escape(text)}" />' for name, text in properties.items()]
    if text := description(doctree):
        lines += [
            f'<meta name="description" content="{escape(text)}" />',
            f'<meta property="og:description" content="{escape(text)}" />',
        ]
    if app.config.html_baseurl:
        card = f"{app.config.html_baseurl.rstrip('/')}/_static/card.png"
        lines += [f'<meta property="og:image" content="{card}" />']
        lines += ['<meta name="twitter:card" content="summary_large_image" />']
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)
    if pagename == app.config.root_doc:
        context["docstitle"] = ""  # its own title is the book's, and would be followed by it


def _set_options(app, config):
    options = config.html_theme_options
    options.setdefault("logo", {})["text"] = config.html_title
    if options.get("repository_url"):
        options |= {"use_repository_button": True, "use_issues_button": True, "path_to_docs": ""}
        services = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
        options["launch_buttons"] = {"notebook_interface": "jupyterlab"} | services


def setup(app):
    app.connect("config-inited", _set_options, priority=900)
    app.connect("html-page-context", _describe)
