"""Read the files of an audit: texts with a class each, a release with its record, somebody's guesses.

Formats are those of `textsan.release.formats`. Errors give a line's number and never quote it.
"""

import csv
import dataclasses
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textsan.auditing.material import tokens_of
from textsan.auditing.wording import many
from textsan.base.assets import file_sha256
from textsan.base.cache import write_whole
from textsan.mechanisms import Mechanism, recorded_mechanism
from textsan.release import parquet
from textsan.release.formats import (
    TEXT,
    Form,
    Objects,
    Record,
    Table,
    format_of,
    is_readable,
    no_format,
    place_of,
    reading,
    reading_records,
    shown,
)
from textsan.release.plan import check_target
from textsan.release.record import TOKENIZER, TOKENIZER_V1
from textsan.release.writing import Writing
from textsan.text import corpora as text_corpora

_WHOLE = 5  # words of a text that another column is said to hold, at least


class Texts(NamedTuple):
    """The content of a file: its texts, several fields of one being lines, and what else was asked for of each."""

    texts: list[str]
    labels: list[str | None] | None = None
    groups: list[str | None] | None = None
    beside: tuple[str, ...] = ()
    keys: list[str | None] | None = None


class Released(NamedTuple):
    """A release that was made before."""

    documents: list[list[str]]
    mechanism: Mechanism
    record: Mapping[str, Any]
    form: Form

    def cut_alike(self, texts: Sequence[str]) -> list:
        """Return the original texts such that they are cut into words by the rules of the release."""
        rules = self.record.get("tokenizer")
        if rules == TOKENIZER:
            return list(texts)
        if rules == TOKENIZER_V1:
            return [text_corpora.Record(text) for text in texts]
        raise ValueError(f"record: tokenizer {rules!r} is unknown; audit with the version that made the release")


def kind_of(path: str, kind: str | None, what: str) -> str:
    """Return the format of a file: `kind` where it is given, else by its ending; standard input, "-", is text."""
    if path == "-":
        return kind or "txt"
    if not is_readable(path):
        raise FileNotFoundError(f"{what}: {shown(path)} does not exist, or is no file; pass a file or -")
    known = kind or format_of(path)
    if known is None:
        raise no_format(what, path)
    return known


def read_texts(
    path: str,
    kind: str,
    form: Form = TEXT,
    *,
    label: str | None = None,
    group: str | None = None,
    key: str | None = None,
    what: str = "INPUT",
    quotes: bool = True,
) -> Texts:
    """Read the texts of a file, "-" being standard input, and of each record its label, its group and its key.

    The form says which fields of jsonl and tables are text, and how the file is read; `what` names the argument in
    errors, which may name columns with `quotes` only: a table without a header has text there.
    """
    asked = {"label": label, "group": group, "key": key}
    fields = {option: name for option, name in asked.items() if name is not None}
    for option, name in fields.items():
        if kind == "txt":
            raise ValueError(f"{option}: txt has no field {name!r}; pass jsonl, csv or tsv")
    place = place_of(what, path)
    texts: list[str] = []
    beside: tuple[str, ...] = ()
    values: dict[str, list[str | None]] = {option: [] for option in fields}
    try:
        with reading_records(path, kind, form, what, fields.values()) as (layout, content, _):
            columns = {option: _column(layout, option, name, place) for option, name in fields.items()}
            for record in content:
                beside = beside if texts else _beside(layout, record, form)
                texts.append("\n".join(layout.open(record).texts))
                for option, name in fields.items():
                    values[option].append(_value(layout, record, columns[option], name))
    except ValueError as error:
        if quotes or kind == "parquet" or "no column" not in str(error):
            raise
        raise ValueError(
            f"{place}: no such column in the first line; pass --field NAME, or add a header"
        ) from None
    if not texts:
        raise ValueError(f"{place}: it holds no document; pass a text")
    return Texts(texts, values.get("label"), values.get("group"), beside, values.get("key"))


def refuse_copies(path: str, kind: str, form: Form, beside: Iterable[str], texts: Sequence[str]) -> None:
    """Refuse a release with texts of INPUT, of five words or more, in a column beside the released text."""
    parts = (tokens_of(part) for text in texts for part in {text, *text.split("\n")})
    known = {tuple(words) for words in parts if len(words) >= _WHOLE}
    for number, name in enumerate(beside, 1):
        alone = dataclasses.replace(form, texts=(name,), passed=None, dropped=())
        try:
            column = read_texts(path, kind, alone, what="released", quotes=False).texts
        except ValueError:  # it holds no text: numbers, or objects
            continue
        if found := sum(tuple(tokens_of(text)) in known for text in column):
            where = f"column {number} beside the text of {shown(path)}"
            raise ValueError(f"released: {where} holds texts of INPUT, in {many(found, 'row')}; drop it")


def read_shadow(path: str | None, form: Form, *, quotes: bool) -> list[str] | None:
    """Read text that an attacker may own; None where no file is named."""
    if path is None:
        return None
    return read_texts(path, kind_of(path, None, "shadow"), form, what="shadow", quotes=quotes).texts


def check_output(output: str | Path, sources: Iterable[str | Path | None], what: str = "output") -> None:
    """Check that a file can be written, and replaces no source and nothing but a regular file."""
    if not Path(output).parent.is_dir():
        raise FileNotFoundError(f"{what}: the folder {Path(output).parent} does not exist; make it first")
    check_target(what, output)
    for source in sources:
        if source and Path(source).resolve() == Path(output).resolve():
            raise ValueError(f"{what}: {output} would overwrite {source}; pass another path")


def check_parts(path: str, kind: str, prefix: str) -> dict[str, Path]:
    """Return the files, named by a prefix, for the rows of a file; none exists, and standard input has none.

    >>> print(*check_parts("notes.csv", "csv", "notes").values())
    notes-held-back.csv notes-to-release.csv
    """
    if path == "-":
        raise ValueError("write-split: standard input cannot be read twice; pass a file as INPUT")
    targets = {part: Path(f"{prefix}-{part}.{kind}") for part in ("held-back", "to-release")}
    for target in targets.values():
        if target.exists():
            raise ValueError(f"write-split: {target} exists; remove it, or pass another PREFIX")
        check_output(target, (), "write-split")
    return targets


def write_parts(path: str, kind: str, form: Form, held: Iterable[int], targets: Mapping[str, Path]) -> None:
    """Write the rows that must not be released, by their numbers from 0, and the others into two private files."""
    back = frozenset(held)
    if kind == "parquet":
        place = place_of("INPUT", path)
        write_whole(targets["held-back"], parquet.part(path, place, back.__contains__))
        write_whole(targets["to-release"], parquet.part(path, place, lambda number: number not in back))
        return
    with reading_records(path, kind, form) as (layout, content, _):
        parts: dict[str, list[str]] = {part: [layout.head] for part in targets}
        for number, record in enumerate(content):
            document = layout.open(record)
            parts["held-back" if number in back else "to-release"].append(document.replaced(document.texts))
    for part, target in targets.items():
        write_private(target, "".join(parts[part]))


def write_private(path: str | Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    write_whole(Path(path), text.encode("utf-8", "backslashreplace"))


def read_release(
    path: str,
    kind: str,
    record: str,
    form: Form | None = None,
    *,
    words: Collection[str] | None = None,
    lists: Mapping[str, Collection[str]] | None = None,
    quotes: bool = True,
) -> Released:
    """Read a release that was made before, and what made it, by the record beside it.

    A form of None is the record's; `words` are the vocabulary, if it was a list, and `lists` those of words that
    the mechanism was given. Refused are another file than the record's, a release that cannot be compared word by
    word, and one whose mechanism today's code does not make.
    """
    if not os.path.isfile(record):
        raise FileNotFoundError(
            f"record: {shown(record)} does not exist; pass --record, the json that sanitize wrote"
        )
    way = "that sanitize wrote beside the release"
    try:
        about = json.loads(Path(record).read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"record: {shown(record)} is no json; pass the one {way}") from None
    if not isinstance(about, dict):
        raise ValueError(f"record: {shown(record)} is no record; pass the json {way}")
    writing = str(about.get("writing", ""))
    if Writing(detokenize=True).__str__().split(", ")[1] in writing:
        what = "it was released with --detokenize, and its words cannot be told apart again"
        raise ValueError(f"released: {what}; sanitize without it, or audit a rehearsal with --mechanism")
    if "sha256" in about and about["sha256"] != file_sha256(Path(path)):
        what = f"{shown(path)} is not the file that {shown(record)} is the record of (its sha256 is another)"
        raise ValueError(f"released: {what}; pass both as sanitize wrote them")
    try:
        form = _form(about) if form is None else dataclasses.replace(form, encoding=None)
        mechanism = recorded_mechanism(about, words, **(lists or {}))
    except (TypeError, AttributeError, OverflowError):  # a field is of another kind, a list for a number say
        what = "a field of it is not of the kind that sanitize writes"
        raise ValueError(f"record: {shown(record)}: {what}; pass the json as it was written") from None
    texts = read_texts(path, kind, form, what="released", quotes=quotes).texts
    cased = "case carried" in writing
    return Released([(text.lower() if cased else text).split() for text in texts], mechanism, about, form)


def _form(about: Mapping[str, Any]) -> Form:
    """The form of a release by its record; records of version 0.2.0 have one field."""
    fields, delimiter = about.get("fields") or [about.get("field") or "text"], about.get("delimiter")
    if not isinstance(delimiter, str | None) or not all(isinstance(name, str) for name in fields):
        raise TypeError("fields")
    return Form(tuple(fields), delimiter=delimiter)


def read_guesses(path: str) -> list[tuple[int, int, str]]:
    """Read guesses of a jsonl or csv file with document, index and word; both numbers count from 0."""
    kind, place, guesses = kind_of(path, None, "guesses"), f"guesses: {shown(path)}", []
    if kind not in ("jsonl", "csv"):
        raise ValueError(f"{place} is {kind}; pass jsonl or csv, with document, index and word")
    with reading(path, what="guesses") as (lines, _):
        for number, row in enumerate(_rows(lines, kind, place), start=1):
            try:
                document, index, word = row["document"], row["index"], row["word"]
                numbers = int(document), int(index)
            except (KeyError, TypeError, ValueError, OverflowError):
                what = f"{place}: number {number} has no document, index and word, two numbers and a word"
                raise ValueError(f"{what}; they count from 0") from None
            if not isinstance(word, str):
                raise ValueError(f"{place}: number {number} has no word; pass one, or leave the line out")
            guesses.append((*numbers, word))
    return guesses


def _rows(lines: Iterator[str], kind: str, place: str) -> Iterator[Mapping[str, Any]]:
    if kind == "csv":
        try:
            yield from csv.DictReader(lines, strict=True)
        except csv.Error as error:
            raise ValueError(f"{place} is no csv ({error}); check its quotes") from None
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise ValueError(f"{place}: line {number} is no json; pass one object a line") from None


def _column(layout, option: str, name: str, place: str) -> int:
    if not isinstance(layout, Table):
        return -1
    if (columns := layout.header.count(name)) != 1:
        raise ValueError(f"{place}: {columns} columns are named {name!r}; pass another --{option}")
    return layout.header.index(name)


def _beside(layout, record: Record, form: Form) -> tuple[str, ...]:
    """Names of what stands beside the text: of an object, fields in which no text lies, however deep."""
    names = layout.header if isinstance(layout, Table) else ()
    if isinstance(layout, Objects):
        names = layout.read(record)
    text = {re.split(r"[.\[]", name)[0] for name in form.texts} | set(form.texts)
    return tuple(name for name in names if name not in text)


def _value(layout, record: Record, column: int, name: str) -> str | None:
    if isinstance(layout, Objects):
        value = layout.read(record).get(name)
        return None if value is None else str(value)
    cells: Sequence[str] = record.content
    return cells[column] or None
