"""Sphinx extension: a figure that a chapter has stored, on another page.

`{stored-figure} notebooks/NAME figure-name` shows the picture with its caption and leads to where it was made.
"""

from pathlib import Path

import nbformat
from docutils import nodes
from drawings import drawing, inline
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

_SVG = "image/svg+xml"


class StoredFigure(SphinxDirective):
    """A picture from a stored notebook."""

    required_arguments = 2

    def run(self):
        page, name = self.arguments
        path = Path(self.env.srcdir, f"{page}.ipynb")
        self.env.note_dependency(str(path))
        svg, caption, alt = stored(path, name)
        address = self.env.app.builder.get_relative_uri(self.env.docname, page)
        picture = drawing(svg=inline(svg, alt, name))
        link = nodes.reference("", "where it is made", internal=True, refuri=f"{address}#{name}")
        said = nodes.paragraph("", f"{caption.rstrip('.')} (", link, nodes.Text(")."), classes=["caption"])
        return [nodes.container("", picture, said, classes=["stored"])]


def stored(path: Path, name: str) -> tuple[str, str, str]:
    """SVG, caption and alternative text of a notebook's figure.

    Args:
        path: of the notebook.
        name: of the figure.

    Raises:
        ExtensionError: there is no such figure.
    """
    for cell in nbformat.read(path, as_version=4).cells:
        told = cell.metadata.get("mystnb", {})
        pictures = [out["data"][_SVG] for out in cell.get("outputs", []) if _SVG in out.get("data", {})]
        if told.get("figure", {}).get("name") == name and pictures:
            return "".join(pictures[0]), told["figure"]["caption"], told.get("image", {}).get("alt", "")
    raise ExtensionError(f"stored-figure: {path.name} has no figure {name}")


def setup(app):
    app.add_directive("stored-figure", StoredFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
