"""The record beside each table of `data/results`: what made it, and the sha256 by which its files are known."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml

from textsan.base.assets import file_sha256
from textsan.base.cache import write_whole
from textsan.base.project import project_data


def store(folder: Path, table: Path, command: str, specification: Path) -> None:
    """Put the table of a sweep, from its folder, where it is kept, with its record and its hits beside it."""
    folder, table = Path(folder), Path(table)
    for suffix in (".csv", ".npz"):
        if (made := folder / f"results{suffix}").is_file():
            shutil.copyfile(made, table.with_suffix(suffix))
    found = yaml.safe_load((folder / "results.yml").read_text(encoding="utf-8"))
    write(table, {"command": command, "specification": specification_sha256(specification)} | found)


def specification_sha256(path: Path) -> str:
    """Hash what a specification asks for: a comment is no part of it."""
    asked = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def write(table: Path, made: Mapping) -> None:
    """Write the record of a table: what made it, the commit, and the sha256 of the table and of its hits."""
    head = {key: made[key] for key in ("command", "specification") if key in made}
    files = {"csv": table, "hits": table.with_suffix(".npz")}
    hashes = {key: file_sha256(file) for key, file in files.items() if file.is_file()}
    text = yaml.safe_dump(head | {"commit": _commit()} | hashes | {**made}, sort_keys=False, width=110)
    write_whole(table.with_suffix(".yml"), text.encode())


def _commit() -> str:
    """The commit that is checked out where the tables are; with a + where files differ from it."""
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    return subprocess.run(command, cwd=project_data(), capture_output=True, text=True).stdout.strip() or "unknown"
