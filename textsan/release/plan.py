"""Plan which file goes where, and in which format, before anything is read."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from textsan.release.formats import check_parquet, ending_of, format_of, is_readable, no_format, shown


class File(NamedTuple):
    """A file to sanitize."""

    source: str  # path; "-" is standard input
    target: str  # path; "-" is standard output
    kind: str  # its format, one of `FORMATS`

    @property
    def record(self) -> Path | None:
        """Name the file of the record of what was done; None beside standard output."""
        return None if self.target == "-" else Path(f"{self.target}.json")

    @property
    def size(self) -> int:
        """Bytes of the source; 0 where that is not known."""
        return os.path.getsize(self.source) if os.path.isfile(self.source) else 0

    @property
    def version(self) -> tuple[int, int] | None:
        """Tell the source of now from one that has been changed, where it is read twice; None where it is not."""
        if self.kind != "parquet":
            return None
        now = os.stat(self.source)
        return now.st_mtime_ns, now.st_size


def plan(sources: Sequence[str], target: str, kind: str | None = None) -> list[File]:
    """Plan the format and the target of each source; "-" is standard input or output.

    The target is a folder, which is made, if there are several sources or it is one; the format of all files is
    `kind`, or what their endings say.

    >>> plan(["-"], "safe.CSV.gz")
    [File(source='-', target='safe.CSV.gz', kind='csv')]
    """
    is_folder = len(sources) > 1 or target.endswith("/") or os.path.isdir(target)
    if is_folder and (target == "-" or "-" in sources):
        raise ValueError("INPUT: - goes with one INPUT and one OUTPUT that is no folder")
    for source in sources:
        if source != "-" and not is_readable(source):
            raise FileNotFoundError(f"INPUT: {shown(source)} does not exist, or is no file; pass a file or -")
    targets = [os.path.join(target, os.path.basename(source)) for source in sources] if is_folder else [target]
    if not os.path.isdir(parent := os.path.dirname(target.rstrip("/")) or "."):
        raise FileNotFoundError(f"OUTPUT: the folder {shown(parent)} does not exist; make it first")
    files = [File(source, to, kind or _kind(source, to)) for source, to in zip(sources, targets, strict=True)]
    for file in files:
        if file.kind == "parquet":
            check_parquet("INPUT", file.source)
            check_parquet("OUTPUT", file.target)
    outputs = [path for file in files if file.record for path in (Path(file.target), file.record)]
    for path in outputs:
        check_target("OUTPUT", path)
    written = [path.resolve() for path in outputs]
    if twice := [path.name for path, times in Counter(written).items() if times > 1]:
        raise ValueError(f"OUTPUT: two files would be {shown(twice[0])}; sanitize them into different folders")
    for file in files:
        if file.source != "-" and Path(file.source).resolve() in written:
            raise ValueError(f"OUTPUT: {shown(target)} would overwrite the source; pass another path")
    return files


def check_target(what: str, path: str | Path) -> None:
    """Refuse a name that a link, a pipe, a device or a folder has, or whose folder nothing can be written into."""
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        kind = "a link" if os.path.islink(path) else "a folder" if os.path.isdir(path) else "a pipe or a device"
        way = "pass - for standard output, or another path" if what == "OUTPUT" else "pass another path"
        raise ValueError(f"{what}: {shown(path)} is {kind} and would be replaced; {way}")
    folder = os.path.dirname(path) or "."
    if os.path.isdir(folder) and not os.access(folder, os.W_OK):
        raise ValueError(f"{what}: nothing can be written into the folder {shown(folder)}; pass another path")


def _kind(source: str, target: str) -> str:
    if format_of(target) is None and (ending := ending_of(target)):
        way = "pass another one, or --format (tables are read and written as csv, tsv or parquet)"
        raise ValueError(f"OUTPUT: the ending .{ending} of {shown(target)} says no format; {way}")
    if source == "-":
        return format_of(target) or "txt"
    kind = format_of(source)
    if kind is None:
        raise no_format("INPUT", source)
    if format_of(target) not in (kind, None):
        raise ValueError(
            f"OUTPUT: {shown(target)} says {format_of(target)}, and INPUT is {kind}; formats are not converted"
        )
    return kind
