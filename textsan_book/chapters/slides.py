"""A slide for every chapter, for lecturers: its title, its main figure, and what it says in one minute.

A slide is an SVG file of 1600 by 900, made of what a chapter has stored; nothing is drawn anew. The figure is the
chapter's own beginning: its idea, or its main finding.
"""

import re
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import nbformat

from textsan_book.chapters import deposit

WIDE, HIGH = 1600, 900
_SVG = "image/svg+xml"
_MOST = 330  # characters of what is said below the figure
_BRIEF = re.compile(r"In one minute\.?\**(?:\n:class: tip\n)?\s*(.*?)(?:\n:::|\n\n|\Z)", re.DOTALL)
_OUTSIDE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>", re.DOTALL)
_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_SIZE = re.compile(r'\b(?:width|height)="[\d.]+pt"')
_SIGNS = {r"\varepsilon": "ε", r"\mid": "|", r"\le": "≤", r"\ge": "≥", r"\cdot": "·", r"\log": "log", "~": " "}


class Slide(NamedTuple):
    """What stands on a slide: name of the chapter, title, sentences, and its figure as SVG ("" if it has none)."""

    name: str
    title: str
    said: str
    figure: str


def plain(text: str) -> str:
    """MyST Markdown as plain words.

    >>> plain("At $\\\\varepsilon = 1$ *all* is read ({doc}`/notebooks/03-x`).")
    'At ε = 1 all is read.'
    >>> plain("As {cite:t}`tong2024x` say in {doc}`/notebooks/05-y`.")
    'As Tong et al. say in chapter 5.'
    """
    text = re.sub(r"\s*\((?:see )?\{[\w:]+\}`[^`]*`[^()]*\)|\s*\{cite:p\}`[^`]*`", "", text)
    text = re.sub(r"\{cite:t\}`([a-z]+)[^`]*`", lambda match: f"{match[1].title()} et al.", text)
    text = re.sub(r"\{doc\}`/notebooks/0?(\d+)-[^`]*`", r"chapter \1", text)
    text = re.sub(r"\{numref\}`[^`]*`", "the figure", text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*?) ?(?:<[^`]*>)?`", r"\1", text)
    for sign, shown in _SIGNS.items():
        text = text.replace(sign, shown)
    return " ".join(re.sub(r"[$*`\\{}]", "", text).split())


def brief(text: str, most: int = _MOST) -> str:
    """The sentences that stand below *In one minute*, as many as fit.

    Args:
        text: a chapter's Markdown.
        most: characters.
    """
    found = _BRIEF.search(text)
    said = ""
    for sentence in re.split(r"(?<=[.:?!]) ", plain(found[1])) if found else ():
        if said and len(said) + len(sentence) > most:
            break
        said = f"{said} {sentence}".strip()
    return re.sub(":$", ".", said)


def slide(notebook: Path) -> Slide:
    """What stands on the slide of a chapter.

    Args:
        notebook: the chapter as it is stored.
    """
    cells = nbformat.read(notebook, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    figures = []
    for cell in cells:
        drawn = ["".join(out["data"][_SVG]) for out in cell.get("outputs", []) if _SVG in out.get("data", {})]
        if "figure" in cell.metadata.get("mystnb", {}) and drawn:
            figures.append(drawn[0])
    title = re.search(r"^# (.*)$", text, re.MULTILINE)[1]
    return Slide(notebook.stem, plain(title), brief(text), figures[0] if figures else "")


def drawn(one: Slide) -> str:
    """A slide as SVG.

    Args:
        one: what stands on it.
    """
    number = one.name[:2]
    title = f"{int(number)}. {one.title}" if number.isdecimal() else one.title
    lines = wrap(one.said, 98)
    top, bottom = 130, HIGH - 40 - 40 * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" font-family="DejaVu Sans, sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>',
        f'<text x="60" y="85" font-size="48" font-weight="bold">{escape(title)}</text>',
    ]
    if one.figure:
        body = _OUTSIDE.sub("", one.figure).strip()
        wide, high = (float(side) for side in _BOX.search(body).groups())
        scale = min((WIDE - 120) / wide, (bottom - top - 30) / high)
        where = f'x="{(WIDE - scale * wide) / 2:.0f}" y="{top}" '
        where += f'width="{scale * wide:.0f}" height="{scale * high:.0f}"'
        parts.append(_SIZE.sub("", body, count=2).replace("<svg ", f"<svg {where} ", 1))
    for place, line in enumerate(lines):
        parts.append(f'<text x="60" y="{bottom + 40 * place + 20}" font-size="28">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def write(root: Path, folder: Path) -> list[Path]:
    """A file for every chapter, and all of them in one zip.

    Args:
        root: the project's folder.
        folder: where they are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        path = folder / f"{notebook.stem}.svg"
        path.write_text(drawn(slide(notebook)), encoding="utf-8")
        made.append(path)
    deposit.packed(folder / "textsan-slides.zip", {f"slides/{path.name}": path for path in made})
    return made


def sentences(root: Path) -> dict[str, str]:
    """What the page for instructors says of the slides, by name.

    Args:
        root: the project's folder.
    """
    links = []
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        number = notebook.stem[:2]
        label = number.lstrip("0") if number.isdecimal() else escape(slide(notebook).title)
        links.append(f'<a href="../../_static/slides/{notebook.stem}.svg">{label}</a>')
    return {"slides": ", ".join(links)}
