"""Which file goes where, and in which format: settled before anything is read."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from textsan.release.formats import FORMATS, ending_of, format_of


class File(NamedTuple):
    """A file to sanitize.

    Attributes:
        source, target: paths; "-" is standard input or output.
        kind: its format, one of `FORMATS`.
    """

    source: str
    target: str
    kind: str

    @property
    def record(self) -> Path | None:
        """Where the record of what was done goes; None beside standard output."""
        return None if self.target == "-" else Path(f"{self.target}.json")

    @property
    def size(self) -> int:
        """Bytes of the source; 0 where that is not known."""
        return 0 if self.source == "-" else os.path.getsize(self.source)


def plan(sources: Sequence[str], target: str, kind: str | None = None) -> list[File]:
    """What each source is, and where it goes.

    Args:
        sources: files; "-" is standard input.
        target: a file; a folder, which is made, if there are several sources or it is one; "-" is standard output.
        kind: format of all files; None is what their endings say.

    Raises:
        ValueError: an ending that says nothing, two formats at once, or a file that would overwrite another one.
        FileNotFoundError: no such source, or no folder to write into.

    >>> plan(["-"], "safe.CSV.gz")
    [File(source='-', target='safe.CSV.gz', kind='csv')]
    """
    is_folder = len(sources) > 1 or target.endswith("/") or os.path.isdir(target)
    if is_folder and (target == "-" or "-" in sources):
        raise ValueError("INPUT: - goes with one INPUT and one OUTPUT that is no folder")
    for source in sources:
        if source != "-" and not os.path.isfile(source):
            raise FileNotFoundError(f"INPUT: {source} does not exist, or is no file; pass a file or -")
    targets = [os.path.join(target, os.path.basename(source)) for source in sources] if is_folder else [target]
    if not os.path.isdir(parent := os.path.dirname(target.rstrip("/")) or "."):
        raise FileNotFoundError(f"OUTPUT: the folder {parent} does not exist; make it first")
    files = [File(source, one, kind or _kind(source, one)) for source, one in zip(sources, targets, strict=True)]
    written = [path.resolve() for file in files if file.record for path in (Path(file.target), file.record)]
    if twice := [path.name for path, times in Counter(written).items() if times > 1]:
        raise ValueError(f"OUTPUT: two files would be {twice[0]}; sanitize them into different folders")
    for file in files:
        if file.source != "-" and Path(file.source).resolve() in written:
            raise ValueError(f"OUTPUT: {target} would overwrite the source; pass another path")
    return files


def _kind(source: str, target: str) -> str:
    known = f"pass --format {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    if format_of(target) is None and (ending := ending_of(target)):
        raise ValueError(f"OUTPUT: the ending .{ending} of {target} says no format; pass another one, or --format")
    if source == "-":
        return format_of(target) or "txt"
    kind = format_of(source)
    if kind is None:
        raise ValueError(f"INPUT: the ending of {os.path.basename(source)} says no format; {known}")
    if format_of(target) not in (kind, None):
        raise ValueError(
            f"OUTPUT: {target} says {format_of(target)}, and INPUT is {kind}; formats are not converted"
        )
    return kind
