"""Look at a file before anything is released: how it is read, which fields it has, and what is in them.

No word of the text is kept, only shares and counts, and names of fields where they look like names.
"""

import codecs
import io
import json
import os
import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from textsan.auditing.any_release import PATTERN, Original
from textsan.release import parquet
from textsan.release.formats import (
    Form,
    Layout,
    Objects,
    Record,
    Table,
    are_names,
    ending_of,
    format_of,
    is_inside,
    marked,
    place_of,
    reading_records,
    start_of,
)
from textsan.release.shards import MISSING
from textsan.text.names import is_presidio_here
from textsan.text.vocabulary import tokenize

SIZE, ROWS, FOR_PRESIDIO = 1 << 24, 1_000, 50
"""Bytes whose encoding is looked at, records that are read, and cells of a column that Presidio reads, at most."""

_PACKED = b"PK\3\4", b"%PDF"  # beginnings of xlsx and docx, and of pdf
_PARQUET = b"PAR1"  # the beginning of parquet
_TABLES = (("tsv", "\t"), ("csv", "\t"), ("csv", ";"), ("csv", ","))  # what is rarer in a text is tried first
_FEW, _SHORT = 20, 4  # values of a category, and mean tokens of its cells and of personal ones, at most
_MOST, _HALF = 0.95, 0.5  # shares of the cells of a form, and of personal ones, that make the column one
_PERSONAL = ("name", "email", "phone", "id_number")
_NUMBER = re.compile(r"[+-]?\d[\d.,']*(?:e[+-]?\d+)?%?", re.IGNORECASE)
_TIME = re.compile(r"[T ,]+\d{1,2}:\d\d\S*$")
_LONG = 60  # characters of what is no number, date or id any more
_TITLE = re.compile(r"[^\W\d][\w ./()-]{0,29}")  # of a column of a table with numbers, dates or ids below


class Column(NamedTuple):
    """A column of a table, a field of jsonl, or the lines of a txt."""

    name: str
    kind: str  # text, category (few values), number, date, id or empty
    filled: float  # share of the cells that are neither blank nor a mark of a missing value
    values: int  # number of different ones
    repeated: bool  # whether one of them comes twice
    tokens: float  # mean number in a filled cell
    listed: float  # share of the tokens that are in the vocabulary
    found: dict[str, float]  # share of the filled cells with a name, an email address and so on
    presidio: dict[str, float] | None  # the same by Presidio, of the first cells; None where it is not installed
    readable: bool  # whether it can be sanitized: a text or null in each record, and no other column of its name


class Look(NamedTuple):
    """A file as it was found."""

    kind: str  # format
    delimiter: str | None  # of a csv; None is a comma
    encoding: str
    guessed: bool  # whether the encoding is a guess, which has to be passed
    named: bool  # whether the fields have names that look like names; those of a table are its first line
    rows: int  # records that were read
    whole: bool  # whether these are all
    columns: list[Column]  # in the order of the file

    @property
    def text(self) -> Column | None:
        """The column of text with most tokens in a cell; None where there is none that can be sanitized."""
        filled = [column.name for column in self.columns if column.filled]
        texts = [column for column in self.columns if column.kind == "text" and column.readable]
        texts = [column for column in texts if not any(is_inside(column.name, name) for name in filled)]
        return max(texts, key=lambda column: column.tokens, default=None)

    @property
    def dropped(self) -> list[str]:
        """All other columns; not the objects and lists that hold the text, which are empty without it."""
        text = self.text.name if self.text else ""
        names = [column.name for column in self.columns if column.name != text]
        return [name for name in dict.fromkeys(names) if not is_inside(text, name)]


def look(path: str, words: Container[str]) -> Look:
    """Look at the first records of a file, with the vocabulary."""
    place = place_of("FILE", path)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{place} does not exist, or is no file; pass a file, which commands can name")
    start = start_of(path, SIZE, "FILE")
    if start.startswith(_PARQUET):
        return _parquet(path, place, words)
    encoding, guessed = _encoding(start, place)
    first = next(filter(str.strip, io.StringIO(start.decode(encoding, "ignore"))), "")
    if not first:
        raise ValueError(f"{place} is empty; pass a text")
    if ending_of(path) == "json" and not _is_object(first):
        raise ValueError(f"{place} is json of several lines; write an object a line, and name it .jsonl")
    kind, layout, records, whole = _opened(path, first, encoding if guessed else None)
    if not records:
        raise ValueError(f"{place} holds no document below its header; pass a text")
    named, delimiter = True, None
    if isinstance(layout, Objects):
        fields = list(_fields([layout.values(record) for record in records]))
        named = are_names([name for name, *_ in fields])
    elif isinstance(layout, Table):
        rows, names = [list(record.content) for record in records], layout.header
        delimiter = layout.delimiter if layout.quoted and layout.delimiter != "," else None
        if not (named := _is_header(names, rows)):
            rows.insert(0, list(names))
        fields = [(name, [row[n] for row in rows], names.count(name) == 1) for n, name in enumerate(names)]
    else:
        fields = [("the lines", [str(record.content) for record in records], True)]
    columns = [_column(*field, words) for field in fields]
    if kind == "txt":
        columns = [columns[0]._replace(kind="text")]
    return Look(kind, delimiter, encoding.removesuffix("-sig"), guessed, named, len(records), whole, columns)


def _encoding(start: bytes, place: str) -> tuple[str, bool]:
    """Return the encoding of a file by how it starts, and whether it is a guess."""
    if mark := marked(start):
        return mark, False
    even, odd = (start[side::2].count(0) for side in (0, 1))
    if not len(start) % 2 and min(even, odd) <= max(even, odd) // 100 and max(even, odd) > len(start) // 20:
        return "utf-16-le" if odd else "utf-16-be", True
    if even or odd or start.startswith(_PACKED):
        raise ValueError(f"{place} is no text; what another program has (xlsx, docx), save as csv first")
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder(encoding)().decode(start, final=len(start) < SIZE)
            return encoding, encoding != "utf-8"
    raise ValueError(f"{place} is neither utf-8 nor cp1252; convert it to utf-8, with iconv say")


def _parquet(path: str, place: str, words: Container[str]) -> Look:
    schema, _ = parquet.opened(path, place)
    with reading_records(path, "parquet", Form(()), "FILE", schema.names) as (_, content, _):
        records, whole = list(islice(content, ROWS)), next(content, None) is None
    if not records:
        raise ValueError(f"{place} holds no row; pass a text")
    columns = [
        _column(name, [record.content[n] for record in records], parquet.is_text(schema.field(n).type), words)
        for n, name in enumerate(schema.names)
    ]
    return Look("parquet", None, "utf-8", False, are_names(schema.names), len(records), whole, columns)


def _opened(path: str, first: str, encoding: str | None) -> tuple[str, Layout, list[Record], bool]:
    """Read a file by its ending if that fits, else as its first line and its columns say.

    Returns:
        format, layout, first records, and whether these are all.
    """

    def read(kind: str, delimiter: str | None = None) -> tuple[str, Layout, list[Record], bool]:
        form = Form((), None if kind in ("csv", "tsv") else (), (), delimiter, encoding)
        with reading_records(path, kind, form, "FILE") as (layout, content, _):
            return kind, layout, list(islice(content, ROWS)), next(content, None) is None

    kind = format_of(path)
    if kind == "jsonl" or (kind in (None, "txt") and _is_object(first)):
        return read("jsonl")
    for table, delimiter in {"csv": _TABLES[1:], None: _TABLES}.get(kind, _TABLES[:2]):
        with suppress(ValueError):
            found = read(table, delimiter if table == "csv" else None)
            header = found[1].header if isinstance(found[1], Table) else ()
            sure = kind in ("csv", "tsv") or (found[2] and are_names(header))
            if len(header) > 1 and sure and not (table == "tsv" and any(name[:1] == '"' for name in header)):
                return found
    if kind != "csv":
        return read(kind or "txt")
    delimiter = max(",;\t", key=first.count)
    if delimiter not in first:  # of one column
        with suppress(ValueError):
            return read("csv")
        delimiter = "\t"  # there are commas in it
    return read("csv", delimiter)


def _is_object(line: str) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def _is_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line of a table has names: it is text otherwise, and private."""
    if all(_TITLE.fullmatch(name) and not _is_missing(name) for name in names):
        if any(_form([row[n] for row in rows]) not in ("text", "empty") for n in range(len(names))):
            return True
    again = any(name and name == cell for row in rows for name, cell in zip(names, row, strict=True))
    return any(names) and are_names(filter(None, names)) and not again


def _fields(records: Sequence[dict[str, list[Any]]]) -> Iterator[tuple[str, list[str], bool]]:
    """Return each field's name, its values as they would be written, and whether it can be sanitized."""
    for name in dict.fromkeys(name for record in records for name in record):
        lists = [record.get(name, []) for record in records]
        values = [value for some in lists for value in some or [None]]
        readable = all(isinstance(value, str | None) for value in values) and ("[]" in name or all(lists))
        cells = ["" if value in (None, [], {}) else value for value in values]
        yield name, [cell if isinstance(cell, str) else json.dumps(cell) for cell in cells], readable


def _column(name: str, cells: Sequence[str], readable: bool, words: Container[str]) -> Column:
    filled = [cell for cell in cells if not _is_missing(cell)]
    docs = list(map(tokenize, filled))
    tokens = [token for doc in docs for token in doc]
    timeless = [_TIME.sub("", cell) for cell in filled]
    found, kind, values = _found(timeless, "census"), _form(filled), len(set(filled))
    presidio = _found(filled[:FOR_PRESIDIO], "presidio") if is_presidio_here() else None
    length = len(tokens) / max(len(filled), 1)
    if length <= _SHORT and kind not in ("date", "empty"):
        if any(found.get(entity, 0) >= _HALF for entity in _PERSONAL):
            kind = "id"
        elif values <= min(_FEW, len(filled) / 2):
            kind = "category"
    listed = sum(token in words for token in tokens) / max(len(tokens), 1)
    share, repeated = len(filled) / len(cells), values < len(filled)
    return Column(name, kind, share, values, repeated, length, listed, found, presidio, readable)


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip().casefold() in MISSING


def _found(texts: Sequence[str], finder: str) -> dict[str, float]:
    """Return the share of texts with an entity of each kind, the largest first."""
    entities = Original(texts, finder=finder).entities
    counts = Counter(kind for kind, _ in dict.fromkeys((kind, d) for kind, d, _ in entities))
    return {kind: number / len(texts) for kind, number in counts.most_common()}


def _form(cells: Sequence[str]) -> str:
    """Return the form that nearly all cells have: number, date, id, or text; empty where none has anything."""
    forms = Counter(_form_of(cell.strip()) for cell in cells if not _is_missing(cell))
    if not forms:
        return "empty"
    kind, number = forms.most_common(1)[0]
    return kind if number >= _MOST * forms.total() else "text"


def _form_of(cell: str) -> str:
    if len(cell) > _LONG:
        return "text"
    if _NUMBER.fullmatch(cell):
        return "number"
    if whole := PATTERN.fullmatch(_TIME.sub("", cell)):
        return "date" if whole.lastgroup == "date" else "id"
    return "id" if re.fullmatch(r"\S*\d\S*", cell) else "text"
