"""The project that a program belongs to: the folder of the book, its committed tables and its sweeps."""

from pathlib import Path

_CHECKOUT = Path(__file__).parents[2]


def project_at(start: Path) -> Path | None:
    """Return the folder at or above `start` that holds `_toc.yml` and `book/`, None if there is none."""
    start = Path(start).resolve()
    folders = (folder for folder in (start, *start.parents) if (folder / "_toc.yml").is_file())
    return next((folder for folder in folders if (folder / "book").is_dir()), None)


def project_data() -> Path:
    """Return the folder `data/` of the project: published numbers, result tables, sweeps.

    It is that of the project at or above the current folder, else of the checkout that the package was imported
    from, so that a chapter runs in any folder.

    >>> import textsan
    >>> (textsan.project_data() / "paper_numbers.csv").is_file()
    True
    """
    for root in (project_at(Path.cwd()), _CHECKOUT if (_CHECKOUT / "book").is_dir() else None):
        if root and (root / "data").is_dir():
            return root / "data"
    where = f"neither at or above {Path.cwd()} nor beside the installed package"
    raise FileNotFoundError(f"project: no tables of the book {where}; run this in a clone of the project")
