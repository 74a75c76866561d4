"""Read and write files: a document a line (txt), an object a line (jsonl), or a table (csv, tsv, parquet).

All but parquet may be compressed (gz, xz).
A layout finds the texts of a record, puts others in their place, and leaves out what is to be dropped. Errors give
a line's or row's number and never quote the line, which is private; they may name columns and fields.
"""

import codecs
import csv
import gzip
import io
import json
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textsan.release import parquet

FORMATS = ("txt", "jsonl", "csv", "tsv", "parquet")
COMPRESSIONS = ("gz", "xz")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NAME = re.compile(r"[^\W\d][\w.-]{0,29}")  # one word; anything longer may be of the text
_NAMED = 12  # columns that an error names, at most
_DEPTH = 100  # objects and lists within each other


def format_of(path: str | Path) -> str | None:
    """Return the format of a file by its ending, in any case and compressed or not; None for any other ending.

    >>> format_of("REVIEWS.CSV"), format_of("reviews.tsv.gz"), format_of("reviews.docx")
    ('csv', 'tsv', None)
    """
    ending = ending_of(path)
    return ending if ending in FORMATS else None


def ending_of(path: str | Path) -> str:
    """Return the ending of a file's name before .gz or .xz, in lower case and without the dot.

    >>> ending_of("REVIEWS.CSV"), ending_of("reviews.docx.gz"), ending_of("reviews")
    ('csv', 'docx', '')
    """
    name = str(path).lower()
    if (packed := compression_of(path)) is not None:
        name = name.removesuffix(f".{packed}")
    return Path(name).suffix.removeprefix(".")


def no_format(what: str, path: str | Path) -> ValueError:
    """Return the error of a file, given as the argument `what`, whose ending says no format."""
    known = f"pass --format {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    else_ = "; what another program has (xlsx, docx), save as csv first"
    return ValueError(f"{what}: the ending of {shown(os.path.basename(path))} says no format; {known}{else_}")


def compression_of(path: str | Path) -> str | None:
    """Return "gz", "xz" or None, by a file's ending."""
    ending = Path(str(path).lower()).suffix.removeprefix(".")
    return ending if ending in COMPRESSIONS else None


def compress(content: bytes, compression: str | None) -> bytes:
    """Return content as a member of a gz or xz file, which consists of any number of them."""
    if compression == "gz":
        return gzip.compress(content, compresslevel=6, mtime=0)
    return lzma.compress(content) if compression == "xz" else content


@dataclass(frozen=True)
class Form:
    """The settings with which a file is read: what becomes of the fields of its records, delimiter and encoding.

    In jsonl a name reaches into objects and lists: "customer.name", "turns[].text". In a table it is a column's.

    Args:
        texts: names of the fields of text.
        passed: names of those that are released as they are, with all that is in them; None is all others.
        dropped: names of those that are left out.
        delimiter: between the columns of a csv; None is a comma.
        encoding: of a file without a byte order mark, which else decides; None is UTF-8.

    Raises:
        ValueError: a name that is given twice, a text inside of what is dropped, or an unknown encoding.

    >>> Form(("note",), passed=("ward",), dropped=("note",))
    Traceback (most recent call last):
    ...
    ValueError: drop: 'note' has another option too; name it once
    """

    texts: tuple[str, ...] = ("text",)
    passed: tuple[str, ...] | None = None
    dropped: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self):
        named: set[str] = set()
        for option, name in self.named:
            if name in named:
                raise ValueError(f"{option}: {name!r} has another option too; name it once")
            named.add(name)
        for name in self.texts:
            if outer := next((drop for drop in self.dropped if is_inside(name, drop)), None):
                raise ValueError(f"drop: {outer!r} holds the text {name!r}; drop its other fields by name")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise ValueError(f"delimiter: {self.delimiter!r} is no delimiter; pass one character, or tab")
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding or "utf-8")
        except (LookupError, ValueError):
            raise ValueError(f"encoding: {self.encoding!r} is unknown; pass cp1252 or utf-16, say") from None

    @property
    def named(self) -> list[tuple[str, str]]:
        """The option of each field that has one, and its name."""
        by_option = {"field": self.texts, "pass": self.passed or (), "drop": self.dropped}
        return [(option, name) for option, names in by_option.items() for name in names]


def fields_of(given: Sequence[str], kinds: Collection[str], option: str = "field") -> tuple[str, ...]:
    """Return the names that an option gives, where one of the files has fields; text lines have none."""
    if given and set(kinds) == {"txt"}:
        way = "leave it out, or pass --format jsonl, csv, tsv or parquet"
        raise ValueError(f"{option}: txt has no field {given[0]!r}; {way}")
    return tuple(given)


def is_inside(name: str, outer: str) -> bool:
    """Return whether a field is in an object or list of another name, as "turns[].text" is in "turns"."""
    return name.startswith((f"{outer}.", f"{outer}["))


TEXT = Form()
"""The form of a file whose text is in the field "text", which others are beside."""


class Unnamed(ValueError):
    """Raised for fields without an option that says what becomes of them; they have no names if one is private."""

    def __init__(self, message: str, names: tuple[str, ...]):
        super().__init__(message, names)
        self.names = names

    def __str__(self) -> str:
        return self.args[0]


class Document(NamedTuple):
    """The texts of a record that are to be sanitized."""

    texts: tuple[str, ...]  # in the record's order
    replaced: Callable[[Sequence[str]], str]  # returns the record with other texts, as it is written; called once


class Record(NamedTuple):
    """A record as it was read."""

    line: int  # number of its first line
    content: str | list[str]  # that line, or the cells of a table's row
    end: str  # the line break after it; empty where the file ends


@dataclass(frozen=True)
class Lines:
    """The layout of txt: a document a line."""

    place: str  # the file, in errors
    head: str = ""

    def open(self, record: Record) -> Document:
        """Return the document of a record."""
        assert isinstance(record.content, str)
        return Document((record.content,), lambda texts: texts[0] + record.end)


@dataclass(frozen=True)
class Objects:
    """The layout of jsonl: a json object a line."""

    place: str  # the file, in errors
    form: Form
    head: str = ""

    def open(self, record: Record) -> Document:
        """Return the document of a record; null in a field of text stays so, as an empty cell of a table does."""
        content, walk = self._walked(record)
        for name in self.form.texts:
            if name not in walk.found and "[]" not in name:
                what = f"{self.place}: line {record.line} has no text in field {name!r}"
                raise ValueError(f"{what}; pass --field NAME")
        if walk.unnamed:
            raise unnamed(self.place, "field", list(walk.unnamed), safe=are_names(walk.unnamed))
        slots = walk.slots

        def replaced(texts):
            for (container, key), text in zip(slots, texts, strict=True):
                if container[key] is not None:
                    container[key] = text
            return json.dumps(content, ensure_ascii=False) + record.end

        return Document(tuple(container[key] or "" for container, key in slots), replaced)

    def values(self, record: Record) -> dict[str, list[Any]]:
        """Return the values of each field that the form does not name; all items of a list have one name."""
        return self._walked(record)[1].unnamed

    def _walked(self, record: Record) -> tuple[dict[str, Any], "_Walk"]:
        content, walk = self.read(record), _Walk(self.form)
        place = f"{self.place}: line {record.line}"
        try:
            walk.into(content, "", passed=self.form.passed is None)
        except _NoText as error:
            name, value = error.args
            held, inside = "", "NAME"
            if isinstance(value, dict | list):
                held = ", which is an object" if isinstance(value, dict) else ", which is a list"
                inside = f"{name}.NAME" if isinstance(value, dict) else f"{name}[].NAME"
            raise ValueError(f"{place} has no text in field {name!r}{held}; pass --field {inside}") from None
        except _NoJson as error:
            raise ValueError(f"{place} cannot be read ({error}); flatten it") from None
        return content, walk

    def read(self, record: Record) -> dict[str, Any]:
        """Return the object of a record."""
        assert isinstance(record.content, str)
        try:
            content = json.loads(
                record.content, parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_once
            )
        except json.JSONDecodeError as error:
            why = error.msg
        except RecursionError:
            why = _DEEP
        except ValueError as error:
            why = str(error) if isinstance(error, _NoJson) else "a number has too many digits"
        else:
            if isinstance(content, dict):
                return content
            raise ValueError(f"{self.place}: line {record.line} is no object; pass one object a line")
        raise ValueError(f"{self.place}: line {record.line} is no json ({why}); pass one object a line")


_DEEP = "it is nested too deeply"


class _NoText(Exception):
    pass


class _NoJson(ValueError):
    pass


def _finite(literal: str) -> float:
    if abs(value := float(literal)) == float("inf"):
        raise _NoJson("a number is too large for a float: write it as a string")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(content := dict(pairs)) < len(pairs):
        raise _NoJson("a name occurs twice in an object: leave one of the two")
    return content


def _no_constant(literal: str):
    raise _NoJson(f"{literal} is no number of json: write null")


class _Walk:
    """Sort the leaves of a json object into texts, those that are dropped, and those that nobody named."""

    def __init__(self, form: Form):
        self.form = form
        self.slots: list[tuple[Any, Any]] = []
        self.found: set[str] = set()
        self.unnamed: dict[str, list[Any]] = {}

    def into(self, value, path: str, *, passed: bool, depth: int = 0) -> None:
        """Visit what is in an object or list of this name (path), and remove what is dropped."""
        if depth > _DEPTH:
            raise _NoJson(_DEEP)
        inside: list[tuple[Any, Any]] = list(value.items() if isinstance(value, dict) else enumerate(value))
        for key, item in inside:
            name = f"{path}[]" if isinstance(value, list) else f"{path}.{key}" if path else key
            if name in self.form.texts:
                if not isinstance(item, str | None):
                    raise _NoText(name, item)
                self.slots.append((value, key))
                self.found.add(name)
            elif name in self.form.dropped:
                value.clear() if isinstance(value, list) else value.pop(key)  # all of a list have one name
            else:
                free = passed or name in (self.form.passed or ())
                if isinstance(item, dict | list) and item:
                    self.into(item, name, passed=free, depth=depth + 1)
                elif item in (None, [], {}) and (held := [t for t in self.form.texts if is_inside(t, name)]):
                    self.found |= {*held} if item is None else set()  # null in place of an object stays null
                elif not free:
                    self.unnamed.setdefault(name, []).append(item)


@dataclass(frozen=True)
class Table:
    """The layout of csv and tsv: a table with a header. A tsv is never quoted: each of its lines is a record."""

    place: str  # the file, in errors
    header: tuple[str, ...]  # names of the columns
    columns: tuple[int, ...]  # numbers of those of text
    kept: tuple[int, ...]  # numbers of those that are written
    delimiter: str
    quoted: bool  # cells may be
    end: str  # line break after the header

    @property
    def head(self) -> str:
        """The header as it is written."""
        return self._written(self.header, self.end)

    def open(self, record: Record) -> Document:
        """Return the document of a record."""
        row = list(record.content)

        def replaced(texts):
            for column, text in zip(self.columns, texts, strict=True):
                row[column] = text
            return self._written(row, record.end)

        return Document(tuple(row[column] for column in self.columns), replaced)

    def _written(self, row: Sequence[str], end: str) -> str:
        row = [row[column] for column in self.kept]
        if not self.quoted:
            return self.delimiter.join(row) + end
        line = io.StringIO()
        # A cell with a lone carriage return is quoted only where the line's end has one.
        csv.writer(line, delimiter=self.delimiter, lineterminator="\r\n").writerow(row)
        return line.getvalue().removesuffix("\r\n") + end


@dataclass(frozen=True)
class Columns(Table):
    """The layout of parquet; of a row its texts alone are written, as a json list (see `parquet.write_texts`)."""

    @property
    def head(self) -> str:
        """Nothing: a list needs none."""
        return ""

    def _written(self, row: Sequence[str], end: str) -> str:
        return json.dumps([row[column] for column in self.columns]) + end


Layout = Lines | Objects | Table


class Numbered:
    """An iterator over the lines of a file, with their line breaks, that knows the last one's number and break.

    It refuses a character of number 0, which text has in another encoding.
    """

    def __init__(self, lines: Iterator[str], place: str):
        self._lines, self._place = lines, place
        self.number, self.end = 0, ""

    def __iter__(self) -> "Numbered":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self.end = line[len(line.rstrip("\r\n")) :]
        if "\0" in line:
            what = f"{self._place}: line {self.number} has a character of number 0 (NUL)"
            raise ValueError(f"{what}; remove it, or pass --encoding utf-16 if it is that")
        return line


@contextmanager
def reading(
    path: str | Path, encoding: str | None = None, what: str = "source"
) -> Iterator[tuple[Numbered, Callable[[], int]]]:
    """Open a file: its lines, decompressed, and a function that returns how many of its bytes have been read.

    The path "-" is standard input; `encoding` is that of a file without a byte order mark, None UTF-8; `what` is
    the argument in errors.
    """
    place = place_of(what, path)
    if str(path) == "-":
        with _decoded(sys.stdin.buffer, encoding, place) as lines:
            yield lines, lambda: 0
        return
    with open(path, "rb") as file, _whole(path, place), _decoded(_unpacked(file, path), encoding, place) as lines:
        yield lines, file.tell if file.seekable() else lambda: 0


@contextmanager
def _whole(path: str | Path, place: str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError):  # their messages quote bytes of the file
        raise ValueError(f"{place} is no whole {compression_of(path)} file; make it anew") from None


def start_of(path: str | Path, size: int, what: str = "source") -> bytes:
    """Return the first bytes of a file, decompressed, as many as `size`; fewer where it ends."""
    with open(path, "rb") as file, _whole(path, place_of(what, path)):
        return _unpacked(file, path).read(size)


@contextmanager
def reading_records(
    path: str | Path, kind: str, form: Form, what: str = "source", beside: Collection[str] = ()
) -> Iterator[tuple["Layout", Iterator[Record], Callable[[], int]]]:
    """Open a file: its layout, its records, and a function that returns how many of its bytes have been read.

    `beside` names columns that are looked at next to the texts; of parquet, all others are empty in the records.
    """
    if kind == "parquet":
        check_parquet(what, path)
        yield *_rows(path, form, place_of(what, path), beside), lambda: 0
        return
    with reading(path, form.encoding, what) as (lines, position):
        yield *records(lines, kind, form, place_of(what, path)), position


def check_parquet(what: str, path: str | Path) -> None:
    """Refuse to read parquet from a pipe, or to write it there, and to compress it again."""
    if str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        raise ValueError(f"{what}: parquet is not read or written in one go; pass a file, and no pipe")
    if packed := compression_of(path):
        raise ValueError(f"{what}: parquet is compressed in itself; pass {shown(path)} without .{packed}")


def place_of(what: str, path: str | Path) -> str:
    """Return how errors name a file that is given as the argument `what`."""
    return f"{what}: standard input" if str(path) == "-" else f"{what}: {shown(path)}"


def _unpacked(file, path: str | Path):
    openers: dict[str | None, Callable[..., Any]] = {"gz": gzip.open, "xz": lzma.open}
    opened = openers.get(compression_of(path))
    return opened(file) if opened else file


def encoding_of(path: str | Path, encoding: str | None = None) -> str:
    """Return the encoding of a file by its byte order mark, else the given one, else utf-8.

    A pipe is not looked at, as it can be read once.
    """
    if str(path) == "-" or not os.path.isfile(path):
        return encoding or "utf-8"
    with open(path, "rb") as file:
        return (marked(_unpacked(file, path).read(4)) or encoding or "utf-8").removesuffix("-sig")


def marked(start: bytes) -> str | None:
    """Return the encoding that a byte order mark at the start of a file says; None without one."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


@contextmanager
def _decoded(content, encoding: str | None, place: str) -> Iterator[Numbered]:
    start = b""
    while len(start) < 4 and (more := content.read1(4 - len(start))):  # a pipe may give less than a mark at once
        start += more
    known = marked(start) or encoding or "utf-8"
    raw = io.BufferedReader(_Rest(start, content), 1 << 16)
    lines = Numbered(io.TextIOWrapper(raw, encoding=known, newline=""), place)
    try:
        yield lines
    except UnicodeError as error:
        line, why = lines.number + 1, ""
        if isinstance(error, UnicodeDecodeError):  # others quote
            before = error.object[: error.start].decode(known, "ignore")
            line, why = line + before.count("\n"), f" ({error.reason})"
        what = f"{place} is not {known.removesuffix('-sig')} in line {line}{why}"
        raise ValueError(f"{what}; pass --encoding with the right one, cp1252 say") from None


class _Rest(io.RawIOBase):
    """A stream whose beginning has been read."""

    def __init__(self, start: bytes, content):
        self._start, self._content = start, content

    def readable(self) -> bool:
        return True

    def readinto(self, target) -> int:
        read = self._start or self._content.read1(len(target))
        read, self._start = read[: len(target)], read[len(target) :] if self._start else b""
        target[: len(read)] = read
        return len(read)


def is_readable(path: str | Path) -> bool:
    """Return whether a path is a file or a pipe, which can be read once."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


def shown(path: str | bytes | Path) -> str:
    r"""Return a path as UTF-8 has it, whatever the locale; bytes that are none as escapes.

    >>> shown("caf\udcc3\udca9"), shown("b\udcff.txt")
    ('café', 'b\\xff.txt')
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def records(lines: Numbered, kind: str, form: Form, place: str) -> tuple[Layout, Iterator[Record]]:
    """Return the layout of a file, one of `FORMATS` but parquet, and its records, from its lines."""
    if form.delimiter and kind != "csv":
        raise ValueError(f"delimiter: {kind} has none of its own; leave it out, or pass --format csv")
    if kind == "txt":
        return Lines(place), (Record(lines.number, line.rstrip("\r\n"), lines.end) for line in lines)
    if kind == "jsonl":
        return Objects(place, form), (Record(lines.number, line, lines.end) for line in lines if line.strip())
    csv.field_size_limit(1 << 30)
    delimiter, quoted = form.delimiter or {"csv": ",", "tsv": "\t"}[kind], kind == "csv"
    rows = _quoted(lines, delimiter, place) if quoted else (line.rstrip("\r\n").split(delimiter) for line in lines)
    header = next(rows, None)
    if header is None:
        raise ValueError(f"{place}: it is empty; pass a table with a header")
    columns, kept = _columns(header, kind, form, place, delimiter)
    layout = Table(place, tuple(header), columns, kept, delimiter, quoted, lines.end)
    return layout, _table(rows, lines, place, len(header))


def _rows(path: str | Path, form: Form, place: str, beside: Collection[str]) -> tuple[Layout, Iterator[Record]]:
    """The layout of a parquet file and its rows; null, in a text or not, is an empty cell, as it is in a csv."""
    for option in ("delimiter", "encoding"):
        if getattr(form, option):
            raise ValueError(f"{option}: parquet has none of its own; leave it out")
    schema, batches = parquet.opened(path, place)
    header = schema.names
    for name in form.texts:
        if name in header and not parquet.is_text(schema.field(name).type):
            raise ValueError(
                f"{place}: column {name!r} holds no strings; pass another --field, or write it as them"
            )
    columns, kept = _columns(header, "parquet", form, place)
    read = [name in form.texts or name in beside for name in header]

    def rows() -> Iterator[Record]:
        first = 1
        for batch in batches:
            empty = [None] * batch.num_rows
            cells = [batch.column(column).to_pylist() if it else empty for column, it in enumerate(read)]
            for number, row in enumerate(zip(*cells, strict=True), start=first):
                yield Record(number, ["" if cell is None or cell != cell else str(cell) for cell in row], "\n")
            first += batch.num_rows

    return Columns(place, tuple(header), columns, kept, "", quoted=False, end=""), rows()


def _columns(
    header: list[str], kind: str, form: Form, place: str, delimiter: str = ""
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of a table's columns of text, and of those that are written."""
    for option, name in form.named:
        if name not in header:
            what = f"no column {name!r} among the {len(header)}{' of the first line' * (kind != 'parquet')}"
            raise ValueError(f"{place}: {what}; {_meant(header, name, option, kind, delimiter)}")
    for name in form.texts:
        if header.count(name) > 1:
            raise ValueError(f"{place}: {header.count(name)} columns are named {name!r}; rename all but one")
    named = {name for _, name in form.named}
    if form.passed is not None and (others := [name for name in header if name not in named]):
        raise unnamed(place, "column", others, safe="".join(others).isprintable())
    columns = tuple(column for column, name in enumerate(header) if name in form.texts)
    kept = tuple(column for column, name in enumerate(header) if name not in form.dropped)
    return columns, kept


def unnamed(place: str, what: str, names: Sequence[str], *, safe: bool) -> Unnamed:
    """Return the error of fields or columns (`what`) that have no option; where it is `safe` it names them."""
    if safe:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        what = f"the {what}{'s' * (len(names) > 1)} {', '.join(map(repr, names[:_NAMED]))}{more}"
    else:
        what = f"{len(names)} {what}s"
    message = f"{place}: nobody said what becomes of {what}"
    ways = "pass --field (to sanitize), --drop (to leave out) or --pass (to release as it is) with each"
    return Unnamed(f"{message}; {ways}", tuple(dict.fromkeys(names)) if safe else ())


def are_names(paths: Iterable[str]) -> bool:
    """Return whether fields or columns look like names, each part of a path a word; anything else may be text."""
    return all(_NAME.fullmatch(part) for path in paths for part in path.replace("[]", "").split("."))


def _quoted(lines: Numbered, delimiter: str, place: str) -> Iterator[list[str]]:
    rows = csv.reader(lines, strict=True, delimiter=delimiter)
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(f"{place}: line {lines.number} is no csv ({error}); check its quotes") from None


def _table(rows: Iterator[list[str]], lines: Numbered, place: str, width: int) -> Iterator[Record]:
    first = lines.number + 1
    for row in rows:
        if len(row) != width:
            what = f"line {lines.number} has {len(row)} columns"
            fewer = f"fewer than the {width} of the header; fill it up with empty ones"
            more = f"the header {width}; quote what holds the delimiter"
            raise ValueError(f"{place}: {what}, {fewer if len(row) < width else more}")
        yield Record(first, row, lines.end)
        first = lines.number + 1


def _meant(header: list[str], name: str, option: str, kind: str, delimiter: str) -> str:
    """The way out where there is no such column.

    Without a header the first line is text, which may be private: the columns are named where all look like names.
    """
    if near := [column for column in header if column.strip().casefold() == name.strip().casefold()]:
        return f"did you mean {near[0]!r}?"
    if len(header) == 1 and "\t" in header[0]:
        return "it has tabs, which --format tsv takes for delimiters"
    if len(header) == 1 and ";" in header[0] and kind == "csv" and delimiter != ";":
        return "it has semicolons: if they are its delimiters, pass --delimiter ';'"
    if kind == "tsv" and any(column.startswith('"') for column in header):
        return "a tsv has no quoted cells: if this one has, pass --format csv --delimiter tab"
    if not header or (kind != "parquet" and not all(map(_NAME.fullmatch, header))):
        return f"pass --{option} NAME or --format, or add a header"
    more = f" and {len(header) - _NAMED} more" if len(header) > _NAMED else ""
    return f"pass one of {', '.join(header[:_NAMED])}{more} as --{option}"
