"""The data set "prose": sentences of this book, which no model can have read whose weights are older than it.

The file is made once and frozen, since pages are rewritten:
`python -m textsan_book.studies.prose textsan/data/prose.jsonl.xz`.
"""

import json
import lzma
import re
import sys
from collections.abc import Iterator

from textsan_book.chapters.chapters import project_root

_FENCE = re.compile(r"^(`{3,}|:{3,})(.*)$")
_PROSE = re.compile(r"\{(admonition|prf:\w+|tip|note|exercise|solution)")  # boxes whose text is prose
_NO_PROSE = re.compile(r"^\s*([:*|#>(]|\d+\.|\$\$|- |\*\*)")  # lists, tables, headings, options of boxes
_MARKS = re.compile(r"[$`{}\[\]|<>=\\_*#@]|https?:")
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SHORTEST, _LONGEST = 5, 60  # words


def paragraphs(page: str) -> Iterator[str]:
    """Paragraphs of a page without code, formulas on lines of their own, lists, tables and headings.

    >>> list(paragraphs("# A\\n\\nOne sentence\\nhere.\\n\\n```{code-cell}\\nx = 1\\n```"))
    ['One sentence here.']
    """
    lines, open_fences = [], []
    for line in re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL).splitlines():
        if fence := _FENCE.match(line):
            mark, what = fence[1], fence[2].strip()
            if open_fences and not what and len(mark) >= len(open_fences[-1][0]):
                open_fences.pop()
            else:
                open_fences.append((mark, what))
            lines.append("")
        elif all(_PROSE.match(what) for _, what in open_fences):
            lines.append("" if _NO_PROSE.match(line) else line)
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        if block.strip():
            yield " ".join(block.split())


def sentences(page: str) -> Iterator[tuple[int, str]]:
    """Sentences without mark-up, of 5 to 60 words, each with the number of its paragraph.

    >>> list(sentences("This is a whole sentence here. This one has $x$ in it.\\n\\nToo short."))
    [(0, 'This is a whole sentence here.')]
    """
    for number, paragraph in enumerate(paragraphs(page)):
        for sentence in _ENDS.split(paragraph):
            whole = re.fullmatch(r"[A-Z].*[.!?]", sentence) and not _MARKS.search(sentence)
            if whole and _SHORTEST <= len(sentence.split()) <= _LONGEST:
                yield number, sentence


def main(target: str) -> None:
    """Writes the sentences of all pages of this project, each once, with its page and paragraph as source."""
    found: dict[str, str] = {}
    root = project_root()
    for path in sorted(
        path for folder in ("", "supplement/", "pages/") for path in root.glob(f"book/{folder}*.md")
    ):
        for number, sentence in sentences(path.read_text(encoding="utf-8")):
            found.setdefault(sentence, f"{path.stem}:{number}")
    with lzma.open(target, "wt", encoding="utf-8", newline="\n") as file:
        for text, source in found.items():
            file.write(json.dumps({"text": text, "part_of": source}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
