"""What a reader can check here and how long it takes, and the files that archives ask for: all from the records.

Four levels: read, recompute from the stored hits, execute the chapters again, make the tables again. Their times
are those that the records of `data/checked.yml` and `data/results` name, on the machines that they name.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import yaml

ZENODO, CODECHECK = ".zenodo.json", "codecheck.yml"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


def _yaml(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


def _tables(root: Path) -> Iterator[tuple[Path, dict]]:
    for path in sorted((root / "data" / "results").glob("*.csv")):
        record = path.with_suffix(".yml")
        yield path, _yaml(record) if record.is_file() else {}


def levels(root: Path) -> str:
    """What can be checked, a row a level, as a table of Markdown.

    Args:
        root: the project's folder.
    """
    checked = _yaml(root / "data" / "checked.yml")
    seconds = [one["seconds"] for one in checked["chapters"].values()]
    tables = [*_tables(root)]
    timed = [record["seconds"] for _, record in tables if isinstance(record.get("seconds"), int | float)]
    hits = [path for path, _ in tables if path.with_suffix(".npz").is_file()]
    rows = [
        ("Read the pages", "nothing; they open from a file", "this book"),
        (
            f"Recompute a difference from what each attack hit ({len(hits)} tables have their hits)",
            "seconds a table, no text and no model",
            "README.md, *Recompute a difference*",
        ),
        (
            f"Execute the {len(seconds)} chapters again and compare every output",
            f"{sum(seconds) / 60:.0f} minutes of one core at a time ({checked['processor']}); the longest takes "
            f"{max(seconds):.0f} seconds",
            "`make test`, `textsan check`",
        ),
        (
            f"Make the {len(tables)} tables again",
            f"{sum(timed) / 3600:.0f} hours by the records of {len(timed)} of them; half take less than "
            f"{sorted(timed)[len(timed) // 2] / 60:.0f} minutes each",
            "`textsan sweep data/sweeps/NAME.yml`, in the first line of each record",
        ),
    ]
    lines = ["| what | how long, and with what | how |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def dearest(root: Path, most: int = 10) -> str:
    """The tables that took longest, as a table of Markdown.

    Args:
        root: the project's folder.
        most: how many.
    """
    timed = [(record["seconds"], path, record) for path, record in _tables(root) if record.get("seconds")]
    lines = ["| table | hours | made by |", "|---|---|---|"]
    for seconds, path, record in sorted(timed, key=lambda one: -one[0])[:most]:
        lines.append(f"| `{path.name}` | {seconds / 3600:.1f} | `{record.get('command', '')}` |")
    return "\n".join(lines)


def zenodo(root: Path) -> str:
    """The text of `.zenodo.json`, from `CITATION.cff`.

    Args:
        root: the project's folder.
    """
    cff = _yaml(root / "CITATION.cff")
    said = {
        "title": cff["title"],
        "description": " ".join(cff["abstract"].split()),
        "version": cff["version"],
        "upload_type": "software",
        "license": cff["license"],
        "creators": [
            {"name": one.get("name") or f"{one['family-names']}, {one['given-names']}"} for one in cff["authors"]
        ],
        "keywords": cff["keywords"],
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def codecheck(root: Path) -> str:
    """The text of `codecheck.yml`: each table with the command that makes it, and what it is.

    Args:
        root: the project's folder.
    """
    cff = _yaml(root / "CITATION.cff")
    manifest = [
        {"file": str(path.relative_to(root)), "comment": record.get("command", "made elsewhere; see its record")}
        for path, record in _tables(root)
    ]
    said = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": cff["title"], "authors": cff["authors"]},
        "manifest": manifest,
    }
    head = "# Written by python -m textsan_book.chapters.deposit, from CITATION.cff and data/results.\n"
    return head + yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=110)


def write(root: Path) -> None:
    """Writes the two files of archives.

    Args:
        root: the project's folder.
    """
    (root / ZENODO).write_text(zenodo(root), encoding="utf-8")
    (root / CODECHECK).write_text(codecheck(root), encoding="utf-8")


def packed(path: Path, files: Mapping[str, Path]) -> Path:
    """A zip that is the same whenever it is made of the same files.

    Args:
        path: of the zip.
        files: by the name that they have in it.

    Returns:
        the path.
    """
    with ZipFile(path, "w") as archive:
        for name, file in sorted(files.items()):
            archive.writestr(ZipInfo(name, _EPOCH), file.read_bytes(), ZIP_DEFLATED)
    return path


def archives(root: Path, folder: Path) -> list[Path]:
    """Two zips for readers: the notebooks, and the tables with their records and hits.

    Args:
        root: the project's folder.
        folder: where they are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, inside in (("notebooks", root / "notebooks"), ("tables", root / "data" / "results")):
        found = [one for one in inside.rglob("*") if one.is_file() and ".ipynb_checkpoints" not in one.parts]
        files = {f"{name}/{file.relative_to(inside)}": file for file in found}
        made.append(packed(folder / f"textsan-{name}.zip", files))
    return made


def sentences(root: Path) -> dict[str, str]:
    """What the page on checking says, by name.

    Args:
        root: the project's folder.
    """
    return {"levels": levels(root), "dearest": dearest(root)}


if __name__ == "__main__":
    write(Path.cwd())
