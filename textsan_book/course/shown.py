"""Write the page's example of a graded chapter: `python -m textsan_book.course.shown`."""

from pathlib import Path

from textsan_book.chapters.chapters import project_root
from textsan_book.course import verify
from textsan_book.course.checks import again
from textsan_book.course.master import Master, find, stripped

_PAGE = """\
Students get

```text
{cell}
```

One of them hands in

```text
{answer}
```

and is graded with
{given}:

```text
{points}
```
"""


def graded(master: Master) -> str:
    """Show the first wrong answer of a chapter in a student's cell, and what hidden checks give its notebook."""
    wrong = master.wrong[0]
    cells = verify.chapter_cells(master, solved=True)
    for cell in cells:
        if cell.metadata.get("textsan", {}).get("answer") == wrong.question:
            cell.source = wrong.source
    hidden = [check for check in master.checks if check.hidden]
    found, _ = again.run(cells, master.graded, [check.code for check in hidden])
    lines = [
        f"{check.question}: {0 if why else check.points} of {check.points} points{': ' if why else ''}{why}"
        for check, why in zip(hidden, found, strict=True)
    ]
    given = ", ".join(f"`{name} = {value!r}`" for name, value in master.graded.items())
    cell, points = stripped(master.answers[wrong.question]), "\n".join(lines)
    return _PAGE.format(cell=cell, answer=wrong.source, given=given, points=points)


if __name__ == "__main__":
    Path(project_root(), "book", "course", "graded.md").write_text(graded(find("c03")), encoding="utf-8")
