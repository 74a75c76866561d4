"""Files of an audit: texts with a class each, a release with its record, somebody's guesses.

Formats are those of `textsan.release.formats`. Errors give a line's number and never quote it.
"""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textsan.mechanisms import Mechanism
from textsan.release.formats import FORMATS, Document, Objects, Record, Table, format_of, reading, records
from textsan.release.writing import Writing


class Texts(NamedTuple):
    """What a file holds.

    Attributes:
        texts: of its records, in their order.
        labels: a class a record; None where none was asked for.
    """

    texts: list[str]
    labels: list[str | None] | None


class Released(NamedTuple):
    """A release that was made before.

    Attributes:
        documents: its token lists.
        mechanism: what made it, by its record.
        record: what stands beside it.
    """

    documents: list[list[str]]
    mechanism: Mechanism
    record: Mapping[str, Any]


def kind_of(path: str, kind: str | None, what: str) -> str:
    """The format of a file: what is asked for, else what its ending says.

    Args:
        path: of the file; "-" is standard input, text unless asked for otherwise.
        kind: asked for; None is nothing.
        what: the argument, in errors.

    Raises:
        FileNotFoundError: no such file.
        ValueError: an ending that says nothing.
    """
    if path == "-":
        return kind or "txt"
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{what}: {path} does not exist, or is no file; pass a file or -")
    found = kind or format_of(path)
    if found is None:
        known = f"pass --format {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise ValueError(f"{what}: the ending of {os.path.basename(path)} says no format; {known}")
    return found


def read_texts(
    path: str,
    kind: str,
    field: str = "text",
    *,
    label: str | None = None,
    what: str = "INPUT",
    quotes: bool = True,
) -> Texts:
    """The texts of a file.

    Args:
        path: of the file; "-" is standard input.
        kind: one of `FORMATS`.
        field: of the text, in jsonl and tables.
        label: field of the class; None is none.
        what: the argument, in errors.
        quotes: whether an error may name columns: a table without a header has text there.

    Raises:
        ValueError, FileNotFoundError: a file that cannot be read.
    """
    if label is not None and kind == "txt":
        raise ValueError(f"label: txt has no field {label!r}; pass jsonl, csv or tsv")
    place = f"{what}: standard input" if path == "-" else f"{what}: {path}"
    texts, labels = [], []
    try:
        with reading(path, kind) as (lines, _):
            layout, content = records(lines, kind, field, place)
            column = _column(layout, label, place)
            for record in content:
                document: Document = layout.open(record)
                texts.append(document.text)
                if label is not None:
                    labels.append(_label(layout, record, column, label))
    except ValueError as error:
        if quotes or "no column" not in str(error):
            raise
        raise ValueError(
            f"{place}: no such column in the first line; pass --field NAME, or add a header"
        ) from None
    if not texts:
        raise ValueError(f"{place}: it holds no document; pass a text")
    return Texts(texts, labels if label is not None else None)


def read_release(path: str, kind: str, record: str, field: str | None, *, quotes: bool = True) -> Released:
    """A release that was made before, and what made it.

    Args:
        path: of the released file.
        kind: its format.
        record: path of the record beside it.
        field: of the text; None is the record's.
        quotes: as for `read_texts`.

    Raises:
        FileNotFoundError: no record.
        ValueError: a release that cannot be compared word by word, or whose mechanism today's code does not make.
    """
    if not os.path.isfile(record):
        raise FileNotFoundError(f"record: {record} does not exist; pass --record, the json that sanitize wrote")
    try:
        about = json.loads(Path(record).read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(
            f"record: {record} is no json; pass the one that sanitize wrote beside the release"
        ) from None
    if not isinstance(about, dict):
        raise ValueError(f"record: {record} is no record; pass the json that sanitize wrote beside the release")
    writing = str(about.get("writing", ""))
    if Writing(detokenize=True).__str__().split(", ")[1] in writing:
        what = "it was released with --detokenize, and its words cannot be told apart again"
        raise ValueError(f"released: {what}; sanitize without it, or audit a rehearsal with --mechanism")
    its = field or about.get("field") or "text"
    try:
        if not isinstance(its, str):
            raise TypeError(its)
        mechanism = Mechanism.from_record(about)
    except (TypeError, AttributeError, OverflowError):  # a field is of another kind, a list for a number say
        what = "a field of it is not of the kind that sanitize writes"
        raise ValueError(f"record: {record}: {what}; pass the json as it was written") from None
    found = read_texts(path, kind, its, what="released", quotes=quotes)
    cased = "case carried" in writing
    return Released([(text.lower() if cased else text).split() for text in found.texts], mechanism, about)


def read_guesses(path: str) -> list[tuple[int, int, str]]:
    """Guesses of a jsonl or csv file with document, index and word; both numbers count from 0.

    Args:
        path: of the file.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a line without the three, or with numbers that are none.
    """
    kind, found = kind_of(path, None, "guesses"), []
    if kind not in ("jsonl", "csv"):
        raise ValueError(f"guesses: {path} is {kind}; pass jsonl or csv, with document, index and word")
    with reading(path, kind) as (lines, _):
        for number, row in enumerate(_rows(lines, kind, path), start=1):
            try:
                document, index, word = row["document"], row["index"], row["word"]
                numbers = int(document), int(index)
            except (KeyError, TypeError, ValueError, OverflowError):
                what = f"guesses: {path}: number {number} has no document, index and word, two numbers and a word"
                raise ValueError(f"{what}; they count from 0") from None
            if not isinstance(word, str):
                raise ValueError(f"guesses: {path}: number {number} has no word; pass one, or leave the line out")
            found.append((*numbers, word))
    return found


def _rows(lines: Iterator[str], kind: str, path: str) -> Iterator[Mapping[str, Any]]:
    if kind == "csv":
        try:
            yield from csv.DictReader(lines, strict=True)
        except csv.Error as error:
            raise ValueError(f"guesses: {path} is no csv ({error}); check its quotes") from None
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError:
                raise ValueError(f"guesses: {path}: line {number} is no json; pass one object a line") from None


def _column(layout, label: str | None, place: str) -> int:
    if label is None or not isinstance(layout, Table):
        return -1
    if layout.header.count(label) != 1:
        raise ValueError(
            f"{place}: {layout.header.count(label)} columns are named {label!r}; pass another --label"
        )
    return layout.header.index(label)


def _label(layout, record: Record, column: int, label: str) -> str | None:
    if isinstance(layout, Objects):
        assert isinstance(record.content, str)
        value = json.loads(record.content).get(label)
        return None if value is None else str(value)
    cells: Sequence[str] = record.content
    return cells[column] or None
