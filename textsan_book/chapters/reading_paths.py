"""How long a page takes to read, and the short path through the book.

The words of a page are those outside code; each cell costs the time of some words more, for what it shows. The
path is a list of stops in `book/short-path.yml`, each a page with the headings that are read of it. The parts of
the book are in `book/parts.yml`, each with its question and its chapters.
"""

import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import yaml

WORDS_A_MINUTE = 150  # of technical prose that is read, not skimmed
WORDS_A_CELL = 40  # in place of what a cell shows
APPENDIX = "Appendix"  # how the parts of `_toc.yml` begin that are none of the main text
_FENCE = re.compile(r"^(```+|:::+)")
_HEADING = re.compile(r"^##? (.*)$")
_OPTION = re.compile(r"^:[\w-]+:|^\+\+\+|^---$|^\(.*\)=$")


class Stop(NamedTuple):
    """A stop of the short path: a page, its title, the headings that are read (none: all), its minutes."""

    page: str
    title: str
    headings: tuple[str, ...]
    minutes: int


def source(root: Path, page: str) -> Path:
    """The text of a page of the book: a chapter's under `book/`, any other page's its own.

    Args:
        root: the project's folder.
        page: as in `_toc.yml`.
    """
    folder, _, name = page.rpartition("/")
    return root / ("book" if folder == "notebooks" else folder) / f"{name}.md"


def sections(text: str) -> dict[str, int]:
    """Words under each heading of a page, in its order; what stands before the second one is under its title.

    Args:
        text: of the page, MyST Markdown.

    >>> sections("# A title\\n\\nTwo words\\n\\n```{code-cell}\\nx = 1\\n```\\n\\n## A part\\n\\nMore.")
    {'A title': 42, 'A part': 1}
    """
    body = text.split("\n---\n", 1)[1] if text.startswith("---\n") else text
    found: dict[str, int] = {}
    name, code = "", False
    for line in body.splitlines():
        if code:
            code = line.strip() != "```"
        elif line.startswith(("```{code-cell}", "```python", "```bash")):
            code = True
            found[name] += WORDS_A_CELL
        elif heading := _HEADING.match(line):
            name = heading[1]
            found[name] = 0
        elif name and not (_FENCE.match(line) or _OPTION.match(line)):
            found[name] += len(re.findall(r"\w[\w'’.-]*", line))
    return found


def minutes(root: Path, page: str, headings: Collection[str] = ()) -> int:
    """Minutes that a page takes to read, or some of its sections with what stands before them.

    Args:
        root: the project's folder.
        page: as in `_toc.yml`.
        headings: of its sections; all by default.

    Raises:
        KeyError: there is no such section.
    """
    words = sections(source(root, page).read_text(encoding="utf-8"))
    for heading in headings:
        if heading not in words:
            raise KeyError(f"headings: {page} has no section {heading!r}; it has {', '.join(words)}")
    title = next(iter(words))
    read = [title, *headings] if headings else [*words]
    return max(1, math.ceil(sum(words[one] for one in read) / WORDS_A_MINUTE))


def short_path(root: Path) -> list[Stop]:
    """The stops of the short path, in their order.

    Args:
        root: the project's folder.
    """
    path = root / "book" / "short-path.yml"
    if not path.is_file():
        return []
    stops = []
    for one in yaml.safe_load(path.read_text(encoding="utf-8")):
        page, headings = one["page"], tuple(one.get("sections", ()))
        words = sections(source(root, page).read_text(encoding="utf-8"))
        stops.append(Stop(page, next(iter(words)), headings, minutes(root, page, headings)))
    return stops


def numbered(root: Path) -> dict[int, tuple[str, bool]]:
    """Pages of the chapters by number, each with whether it is in the appendix.

    Args:
        root: the project's folder.
    """
    found = {}
    for part in yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]:
        for one in part["chapters"]:
            if match := re.match(r"notebooks/(\d+)-", one["file"]):
                found[int(match[1])] = one["file"], part["caption"].startswith(APPENDIX)
    return found


def parts(root: Path) -> dict[str, str]:
    """What pages say of the book's parts, by name: for each a list of its chapters, and a table of all.

    Args:
        root: the project's folder.
    """
    path = root / "book" / "parts.yml"
    if not path.is_file():
        return {}
    pages, said = numbered(root), {}
    rows = ["| part | its question | to read |", "|---|---|---|"]
    total = 0
    for part in yaml.safe_load(path.read_text(encoding="utf-8")):
        lists: dict[bool, list[str]] = {False: [], True: []}
        times = {False: 0, True: 0}
        for number in part["chapters"]:
            page, aside = pages[number]
            took = minutes(root, page)
            lists[aside].append(f"- Chapter {number}, {{doc}}`/{page}`, {took}\N{NO-BREAK SPACE}min")
            times[aside] += took
        heads = {False: "In the main text:", True: "In the appendix:"}
        blocks = ["\n".join([heads[aside], "", *lines]) for aside, lines in lists.items() if lines]
        said[part["page"].replace("part-", "chapters_").replace("-", "_")] = "\n\n".join(blocks)
        spans = {"main text": times[False], "appendix": times[True]}
        read = ", ".join(f"{name} {took}\N{NO-BREAK SPACE}min" for name, took in spans.items() if took)
        rows.append(f"| {{doc}}`/book/pages/{part['page']}` | {part['question']} | {read} |")
        total += times[False]
    return {**said, "parts": "\n".join(rows), "minutes_main": f"{total / 60:.0f} hours"}


def sentences(root: Path) -> dict[str, str]:
    """What pages say of reading times, by name.

    Args:
        root: the project's folder.
    """
    stops = short_path(root)
    if not stops:
        return {}
    pages = sorted((root / "book").glob("[0-9]*.md"))
    whole = sum(minutes(root, f"notebooks/{path.stem}") for path in pages)
    rows = [
        f"{number}. {{doc}}`/{one.page}`, {one.minutes}\N{NO-BREAK SPACE}min: {_parts(one)}"
        for number, one in enumerate(stops, 1)
    ]
    return {
        "minutes_path": f"{sum(one.minutes for one in stops)} minutes",
        "minutes_decide": f"{minutes(root, 'notebooks/from-a-csv-to-a-report')} minutes",
        "minutes_book": f"{whole / 60:.0f} hours",
        "stops": "\n".join(rows),
        **parts(root),
    }


def _parts(stop: Stop) -> str:
    return "; ".join(["the opening", *(f"*{one}*" for one in stop.headings)]) if stop.headings else "all of it"
