"""Collect the texts of submissions, which a person grades: one Markdown file a student."""

from collections.abc import Sequence
from pathlib import Path


def answers(notebook) -> dict[str, str]:
    """Collect the answers of a submission to the questions that a person grades, in order.

    An answer is its cell with all cells that the student added below it; outputs and figures stay in the notebook.
    """
    by_question: dict[str, list[str]] = {}
    question = None
    for cell in notebook.cells:
        ours = cell.metadata.get("textsan")
        if ours is not None or cell.metadata.get("deletable") is False:
            question = (ours or {}).get("text")
        if question:
            code = cell.cell_type == "code"
            by_question.setdefault(question, []).append(f"```python\n{cell.source}\n```" if code else cell.source)
    return {question: "\n\n".join(parts) for question, parts in by_question.items()}


def collect(paths: Sequence[Path], out: Path) -> list[str]:
    """Write the texts of each submission, notebooks or folders of them, to a Markdown file of its name.

    Returned is a line for each submission that could not be read, or holds none of the cells for texts.
    """
    broken = []
    out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        inside = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        for file in inside:
            name = "-".join((file.relative_to(path) if path.is_dir() else Path(file.name)).with_suffix("").parts)
            try:
                texts = _read(file)
            except ValueError as error:
                broken.append(str(error))
                continue
            parts = [f"# {name}", *(f"## {question}\n\n{text}" for question, text in texts.items())]
            (out / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return broken


def _read(file: Path) -> dict[str, str]:
    import nbformat

    try:
        texts = answers(nbformat.read(file, as_version=4))
    except Exception as error:  # whatever a student handed in costs nobody else a file
        raise ValueError(f"{file}: no notebook ({' '.join(str(error).split())[:100]})") from None
    if not texts:
        raise ValueError(f"{file}: it holds no cell for a text: open it by hand")
    return texts
