"""Formats of files: a document a line (txt), an object a line (jsonl), or a table (csv, tsv); plain, gz or xz.

A layout says where the text of a record is and puts another one in its place; all else of the record passes as it
is. Errors give a line's number and do not quote it: it is private; of a table's first line they may name columns.
"""

import csv
import gzip
import io
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

FORMATS = ("txt", "jsonl", "csv", "tsv")
COMPRESSIONS = ("gz", "xz")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_NAME = re.compile(r"[^\W\d][\w.-]{0,29}")  # one word; anything longer may be of the text
_NAMED = 12  # columns that an error names, at most


def format_of(path: str | Path) -> str | None:
    """The format that a file's ending says, in any case and compressed or not; None for any other ending.

    >>> format_of("REVIEWS.CSV"), format_of("reviews.tsv.gz"), format_of("reviews.docx")
    ('csv', 'tsv', None)
    """
    ending = ending_of(path)
    return ending if ending in FORMATS else None


def ending_of(path: str | Path) -> str:
    """What stands after the last dot of a file's name, before .gz or .xz, in lower case; "" if nothing does.

    >>> ending_of("REVIEWS.CSV"), ending_of("reviews.docx.gz"), ending_of("reviews")
    ('csv', 'docx', '')
    """
    name = str(path).lower()
    if (packed := compression_of(path)) is not None:
        name = name.removesuffix(f".{packed}")
    return Path(name).suffix.removeprefix(".")


def compression_of(path: str | Path) -> str | None:
    """ "gz", "xz" or None, as a file's ending says."""
    ending = Path(str(path).lower()).suffix.removeprefix(".")
    return ending if ending in COMPRESSIONS else None


def compress(content: bytes, compression: str | None) -> bytes:
    """Content as a member of a gz or xz file, which consists of any number of them.

    Args:
        content: of any length.
        compression: one of `COMPRESSIONS`, or None.
    """
    if compression == "gz":
        return gzip.compress(content, compresslevel=6, mtime=0)
    return lzma.compress(content) if compression == "xz" else content


class Document(NamedTuple):
    """What a record holds.

    Attributes:
        text: what is to be sanitized.
        replaced: the record with another text in its place, as it is written.
        others: names of the fields that pass as they are.
    """

    text: str
    replaced: Callable[[str], str]
    others: tuple[str, ...]


class Record(NamedTuple):
    """One record as it was read: the number of its first line, and that line, or the cells of a table's row."""

    line: int
    content: str | list[str]


@dataclass(frozen=True)
class Lines:
    """txt: a document a line.

    Args:
        place: the file, in errors.
    """

    place: str
    head: str = ""

    def open(self, record: Record) -> Document:
        """The document of a record."""
        assert isinstance(record.content, str)
        return Document(record.content.removesuffix("\n"), lambda text: text + "\n", ())


@dataclass(frozen=True)
class Objects:
    """jsonl: a json object a line.

    Args:
        place: the file, in errors.
        field: of the text.
    """

    place: str
    field: str
    head: str = ""

    def open(self, record: Record) -> Document:
        """The document of a record; a null in the field stays one, as an empty cell of a table does.

        Raises:
            ValueError: the line is no object with a text in the field.
        """
        assert isinstance(record.content, str)
        try:
            content = json.loads(record.content)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{self.place}: line {record.line} is no json ({error.msg}); pass one object a line"
            ) from None
        if not isinstance(content, dict) or not isinstance(content.get(self.field, self), str | None):
            raise ValueError(
                f"{self.place}: line {record.line} has no text in field {self.field!r}; pass --field NAME"
            )

        text = content[self.field]

        def replaced(released):
            return json.dumps(content | {self.field: text and released}, ensure_ascii=False) + "\n"

        return Document(text or "", replaced, tuple(name for name in content if name != self.field))


@dataclass(frozen=True)
class Table:
    """csv and tsv: a table with a header.

    Args:
        place: the file, in errors.
        header: names of the columns.
        column: number of that of the text.
        delimiter: between columns.
    """

    place: str
    header: tuple[str, ...]
    column: int
    delimiter: str

    @property
    def head(self) -> str:
        """The header as it is written."""
        return self._written(self.header)

    def open(self, record: Record) -> Document:
        """The document of a record."""
        row, column = record.content, self.column
        others = self.header[:column] + self.header[column + 1 :]
        return Document(row[column], lambda text: self._written([*row[:column], text, *row[column + 1 :]]), others)

    def _written(self, row) -> str:
        line = io.StringIO()
        # A cell with a lone carriage return is quoted only where the line's end has one.
        csv.writer(line, delimiter=self.delimiter, lineterminator="\r\n").writerow(row)
        return line.getvalue().removesuffix("\r\n") + "\n"


Layout = Lines | Objects | Table


@contextmanager
def reading(path: str | Path, kind: str) -> Iterator[tuple[io.TextIOWrapper, Callable[[], int]]]:
    """The lines of a file, decompressed, and a function that says how many of its bytes have been read.

    Args:
        path: of the file; "-" is standard input.
        kind: one of `FORMATS`.

    Raises:
        ValueError: it is not utf-8, or damaged.
        FileNotFoundError: there is none.
    """
    newline = "" if kind in _DELIMITERS else None
    if str(path) == "-":
        lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline=newline)
        try:
            yield lines, lambda: 0
        except UnicodeDecodeError as error:
            raise ValueError(f"source: standard input is not utf-8 ({error.reason}); convert it first") from None
        finally:
            lines.detach()
        return
    with open(path, "rb") as file:
        openers: dict[str | None, Callable[..., Any]] = {"gz": gzip.open, "xz": lzma.open}
        opened = openers.get(compression_of(path))
        content = opened(file) if opened else file
        try:
            yield io.TextIOWrapper(content, encoding="utf-8-sig", newline=newline), file.tell
        except UnicodeDecodeError as error:
            raise ValueError(f"source: {path} is not utf-8 ({error.reason}); convert it first") from None
        except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
            packed = compression_of(path)
            raise ValueError(f"source: {path} is no whole {packed} file ({error}); make it anew") from None


def records(lines: Iterator[str], kind: str, field: str, place: str) -> tuple[Layout, Iterator[Record]]:
    """The layout of a file and its records.

    Args:
        lines: of `reading`.
        kind: one of `FORMATS`.
        field: name of the field or column of the text.
        place: the file, in errors.

    Raises:
        ValueError: no such column; and from the iterator, a row that does not fit.
    """
    if kind == "txt":
        return Lines(place), (Record(number, line) for number, line in enumerate(lines, start=1))
    if kind == "jsonl":
        numbered = enumerate(lines, start=1)
        return Objects(place, field), (Record(number, line) for number, line in numbered if line.strip())
    csv.field_size_limit(1 << 30)
    rows = csv.reader(lines, strict=True, delimiter=_DELIMITERS[kind])
    header = next(_rows(rows, place), None)
    if header is None:
        raise ValueError(f"{place}: it is empty; pass a table with a header")
    if field not in header:
        found = f"no column {field!r} among the {len(header)} of the first line"
        raise ValueError(f"{place}: {found}; {_meant(header, field)}")
    if header.count(field) > 1:
        raise ValueError(f"{place}: {header.count(field)} columns are named {field!r}; rename all but one")
    return Table(place, tuple(header), header.index(field), _DELIMITERS[kind]), _table(rows, place, len(header))


def _table(rows, place: str, width: int) -> Iterator[Record]:
    line = rows.line_num + 1
    for row in _rows(rows, place):
        if len(row) != width:
            what = f"line {rows.line_num} has {len(row)} columns"
            fewer = f"fewer than the {width} of the header; fill it up with empty ones"
            more = f"the header {width}; quote what holds the delimiter"
            raise ValueError(f"{place}: {what}, {fewer if len(row) < width else more}")
        yield Record(line, row)
        line = rows.line_num + 1


def _meant(header: list[str], field: str) -> str:
    """The way out where there is no such column.

    Without a header the first line is text, which may be private: the columns are named where all look like names.
    """
    if near := [name for name in header if name.strip().casefold() == field.strip().casefold()]:
        return f"did you mean {near[0]!r}?"
    if len(header) == 1 and "\t" in header[0]:
        return "it has tabs, which --format tsv takes for delimiters"
    if len(header) == 1 and ";" in header[0]:
        return "it has semicolons: if they are its delimiters, put commas in their place"
    if not header or not all(map(_NAME.fullmatch, header)):
        return "pass --field NAME or --format, or add a header"
    more = f" and {len(header) - _NAMED} more" if len(header) > _NAMED else ""
    return f"pass one of {', '.join(header[:_NAMED])}{more} as --field"


def _rows(rows, place: str) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(f"{place}: line {rows.line_num} is no csv ({error}); check its quotes") from None
