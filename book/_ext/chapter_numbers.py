"""Sphinx extension: the number of a chapter is that of its file, wherever it stands in the contents.

The supplement has S1, S2, …; its theorems and figures are numbered likewise. On a page without a number, figures
and exercises begin with 1.
"""

from functools import wraps

from docutils import nodes
from sphinx.environment.collectors.toctree import TocTreeCollector

from textsan_book.chapters import chapters


def by_file(env) -> None:
    """Put the number of the file in the place of the one that follows from the contents."""
    for page, numbers in env.toc_secnumbers.items():
        if not (number := page.startswith("notebooks/") and chapters.number(page)):
            continue
        for anchor, given in numbers.items():
            numbers[anchor] = (number, *given[1:]) if given else given
        for node in (env.titles[page], *env.tocs[page].findall(nodes.reference)):
            if given := node.get("secnumber"):
                node["secnumber"] = (number, *given[1:])


def by_page(env) -> None:
    """Number what stands on a page without a number from 1; Sphinx counts it through all such pages."""
    for kinds in env.toc_fignumbers.values():
        for anchors in kinds.values():
            if all(len(number) == 1 for number in anchors.values()):
                anchors.update({anchor: (place,) for place, anchor in enumerate(anchors, 1)})


def setup(app):
    # Sections have their numbers when figures get theirs, which begin with them.
    numbered = TocTreeCollector.assign_figure_numbers

    if not hasattr(numbered, "__wrapped__"):

        @wraps(numbered)
        def of_sections(self, env):
            by_file(env)
            rewritten = numbered(self, env)
            by_page(env)
            return rewritten

        TocTreeCollector.assign_figure_numbers = of_sections
