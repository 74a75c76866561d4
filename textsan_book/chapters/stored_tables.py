"""The tables of `data/results`: where they are kept, and whether the code as it is would make them.

Beside a table stands its record, which names the modules that made it, each with its fingerprint.
"""

from pathlib import Path
from typing import NamedTuple

import yaml

from textsan.sweeps import provenance, sweep
from textsan_book.chapters.same_code import canonical


def store(folder: Path, table: Path, command: str) -> None:
    """Puts the table of a folder where it is kept, with its record and its hits beside it.

    Args:
        folder: that of `sweep.run`.
        table: a csv file.
        command: what made it.
    """
    folder, table = Path(folder), Path(table)
    sweep.write_whole(table, (folder / "results.csv").read_bytes())
    made = {"command": command} | yaml.safe_load((folder / "results.yml").read_text(encoding="utf-8"))
    sweep.write_whole(table.with_suffix(".yml"), yaml.safe_dump(made, sort_keys=False, width=110).encode())
    if (folder / "results.npz").is_file():
        sweep.write_whole(table.with_suffix(".npz"), (folder / "results.npz").read_bytes())


def table_changes(record: Path) -> list[str]:
    """What has changed since a stored table was made, by its record; empty if nothing has.

    Args:
        record: a yml file of `data/results`.

    Returns:
        paths of modules; or the one entry `provenance.UNRECORDED`.
    """
    modules = _said(record).get("modules")
    if modules is None:
        return [provenance.UNRECORDED]
    now = {label: canonical(provenance.fingerprint_now(label)) for label in modules}
    return [label for label, value in modules.items() if {now[label]} != set(map(canonical, value.split(" ")))]


def _said(record: Path) -> dict:
    return (yaml.safe_load(record.read_text(encoding="utf-8")) or {}) if Path(record).is_file() else {}


class TableState(NamedTuple):
    """Whether a stored table is what today's code makes.

    Attributes:
        verdict: "fresh", "stale", "made elsewhere" (by a machine or a program that is not at hand; its record
            names the commit) or "unrecorded".
        because: what changed, or what made it.
    """

    verdict: str
    because: str


def table_state(table: Path) -> TableState:
    """The verdict on a stored table, by the record beside it. Nothing is loaded and nothing is run.

    Args:
        table: a csv file.
    """
    record = Path(table).with_suffix(".yml")
    said, changes = _said(record), table_changes(record)
    if "made elsewhere" in said and changes:
        return TableState("made elsewhere", said["made elsewhere"])
    if changes == [provenance.UNRECORDED]:
        return TableState("unrecorded", "no record of the code that made it")
    gpus = sorted({one.split(", ", 3)[-1] for one in said.get("hardware", []) if "NVIDIA" in one})
    made = f"; made on {', '.join(gpus)}" if gpus else ""
    return TableState("stale" if changes else "fresh", ", ".join(changes) + made)
