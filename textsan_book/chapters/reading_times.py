"""Reading times of pages: the words outside code, and for the output of each cell the time of some words more."""

import math
import re
from pathlib import Path

WORDS_A_MINUTE = 150  # of technical prose that is read, not skimmed
WORDS_A_CELL = 40  # in place of the output of a cell
_FENCE = re.compile(r"^(```+|:::+)")
_HEADING = re.compile(r"^##? (.*)$")
_OPTION = re.compile(r"^:[\w-]+:|^\+\+\+|^---$|^\(.*\)=$")


def source(root: Path, page: str) -> Path:
    """Return the text of a page of the book: a chapter's under `book/`, any other page's its own."""
    return root / (f"book/{page.removeprefix('notebooks/')}.md" if page.startswith("notebooks/") else f"{page}.md")


def sections(text: str) -> dict[str, int]:
    """Count words under each heading of a page; what stands before the second one is under its title.

    >>> sections("# A title\\n\\nTwo words\\n\\n```{code-cell}\\nx = 1\\n```\\n\\n## A part\\n\\nMore.")
    {'A title': 42, 'A part': 1}
    """
    body = text.split("\n---\n", 1)[1] if text.startswith("---\n") else text
    words: dict[str, int] = {}
    name, code = "", False
    for line in body.splitlines():
        if code:
            code = line.strip() != "```"
        elif line.startswith(("```{code-cell}", "```python", "```bash")):
            code = True
            words[name] += WORDS_A_CELL
        elif heading := _HEADING.match(line):
            name = heading[1]
            words[name] = 0
        elif name and not (_FENCE.match(line) or _OPTION.match(line)):
            words[name] += len(re.findall(r"\w[\w'’.-]*", line))
    return words


def minutes(root: Path, page: str) -> int:
    """Count the minutes that a page takes to read."""
    words = sum(sections(source(root, page).read_text(encoding="utf-8")).values())
    return max(1, math.ceil(words / WORDS_A_MINUTE))
