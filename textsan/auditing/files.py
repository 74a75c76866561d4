"""Sanitizing files: text, jsonl or csv in, the same out, one pass, with a record of what was done.

Records keep their order and their number; in jsonl and csv the other fields pass through untouched, outside of any
guarantee. Text is lower-cased and tokenized, and tokens are joined with single blanks: original spacing and casing
are not restored.
"""

import csv
import hashlib
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from textsan.mechanisms import Mechanism
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import tokenize

FORMATS = ("txt", "jsonl", "csv")
_CHUNK = 100_000  # tokens sanitized at a time


class Counts(NamedTuple):
    """What passed through."""

    documents: int
    tokens: int
    longest: int


def sanitize_file(
    mechanism: Mechanism,
    source: str | Path,
    target: str | Path,
    *,
    kind: str,
    field: str = "text",
    seed: int | None = None,
    progress: Callable[[int, int], None] = lambda documents, position: None,
    describe: Callable[[Counts], dict] | None = None,
) -> Counts:
    """Sanitizes `source` into `target`, which appears whole or not at all; "-" is standard input or output.

    Args:
        mechanism: the sanitizer.
        source, target: paths.
        kind: "txt" (a document a line), "jsonl" or "csv" (with a header line).
        field: the text's field in jsonl and csv.
        seed: of the draws; None is operating-system entropy.
        progress: called with documents done and bytes read after every chunk.
        describe: makes the record written to `target`.json, from the counts.

    Raises:
        ValueError: a record that cannot be read; its line is numbered and never quoted, for it is private.
        FileNotFoundError: no such source.
    """
    record = None if str(target) == "-" else Path(f"{target}.json")
    if {path.resolve() for path in (Path(target), record) if path} & {Path(source).resolve()} and record:
        raise ValueError(f"target: {target} would overwrite the source; pass another path")
    with _reading(source, kind) as lines, _writing(target) as output, _writing(record) as beside:
        documents = tokens = longest = 0
        for chunk in _chunks(_records(kind, lines, output, field)):
            docs = [document for document, _ in chunk]
            released = mechanism.sanitize(docs, seed, first=documents)
            for (_, write), words in zip(chunk, released, strict=True):
                write(" ".join(words))
            documents += len(docs)
            tokens += sum(map(len, docs))
            longest = max(longest, *map(len, docs))
            progress(documents, _position(lines))
        counts = Counts(documents, tokens, longest)
        if describe and beside:
            json.dump(describe(counts), beside, indent=2, ensure_ascii=False)
            beside.write("\n")
    return counts


def description(mechanism: Mechanism, embedding: str, seed: int | None, counts: Counts) -> dict:
    """What was done and what is promised, for people and programs: a dict for json."""
    promise = mechanism.guarantee
    finite = math.isfinite(promise.epsilon + promise.epsilon_0)
    if promise.per == "distance":
        document = "the sum of the per-token bounds: epsilon times the summed distances, plus epsilon_0 a token"
    else:
        document = f"epsilon times the tokens that differ: {promise.document(counts.longest):g} for the longest"
    result = {
        "textsan": version("textsan"),
        "mechanism": type(mechanism).__name__,
        "parameters": _parameters(mechanism),
        "embedding": {
            "name": embedding,
            "words": len(mechanism.inputs),
            "sha256": mechanism.embeddings.sha256,
        },
        "guarantee": {
            "definition": promise.definition,
            "epsilon": promise.epsilon if finite else None,
            "epsilon_0": promise.epsilon_0 if math.isfinite(promise.epsilon_0) else None,
            "per_token": promise.which,
            "per_document": document if finite else "none",
            "outside": "; ".join([*promise.outside, "in jsonl and csv all other fields"]),
        },
        "documents": counts.documents,
        "tokens": counts.tokens,
        "longest_document": counts.longest,
        "tokenizer": "textsan.tokenize; tokens are joined with blanks",
    }
    if seed is not None:
        result["seed"] = seed
        result["warning"] = "the seed is known: whoever has it can undo the noise, and no guarantee holds"
    return result


def _parameters(mechanism: Mechanism) -> dict:
    """The arguments of the mechanism; words by their number and hash, its own vocabulary not once more."""
    values = {name: value for name, value in mechanism.parameters.items() if name not in ("embeddings", "device")}
    for name, value in values.items():
        if isinstance(value, frozenset):
            digest = hashlib.sha256("\n".join(sorted(value)).encode()).hexdigest()
            values[name] = {"words": len(value), "sha256": digest}
        elif isinstance(value, Embeddings):
            values[name] = {"words": len(value.words), "sha256": value.sha256}
        elif isinstance(value, float) and not math.isfinite(value):
            values[name] = None
    return values


def _records(kind, lines, output, field) -> Iterator[tuple[list[str], Callable[[str], None]]]:
    """Tokens of each record, and the function that writes the record with new text."""
    if kind == "txt":
        for line in lines:
            yield tokenize(line), lambda text: output.write(text + "\n")
    elif kind == "jsonl":
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _json_record(line, number, field, output)
    else:
        yield from _csv_records(lines, output, field)


def _json_record(line, number, field, output):
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"source: line {number} is no json ({error.msg}); pass one object a line") from None
    if not isinstance(record, dict) or not isinstance(record.get(field), str):
        raise ValueError(f"source: line {number} has no text in field {field!r}; pass --field NAME")

    def write(text):
        output.write(json.dumps(record | {field: text}, ensure_ascii=False) + "\n")

    return tokenize(record[field]), write


def _csv_records(lines, output, field):
    csv.field_size_limit(1 << 30)
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        if field not in header:
            # The names there are not quoted: without a header, they are the first line of the text.
            place = f"no column {field!r} among the {len(header)} of the first line"
            raise ValueError(f"source: {place}; pass --field NAME, or add a header")
        column = header.index(field)
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(header)
        for row in reader:
            if len(row) != len(header):
                place = f"line {reader.line_num} has {len(row)} columns"
                raise ValueError(f"source: {place}, the header {len(header)}; quote what holds commas")
            yield (
                tokenize(row[column]),
                lambda text, row=row: writer.writerow([*row[:column], text, *row[column + 1 :]]),
            )
    except csv.Error as error:
        raise ValueError(f"source: line {reader.line_num} is no csv ({error}); check its quotes") from None


def _chunks(records: Iterable) -> Iterator[list]:
    chunk, size = [], 0
    for record in records:
        chunk.append(record)
        size += len(record[0]) + 1
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@contextmanager
def _reading(path, kind):
    if str(path) == "-":
        yield sys.stdin
        return
    with open(path, encoding="utf-8-sig", newline="" if kind == "csv" else None) as file:
        try:
            yield file
        except UnicodeDecodeError as error:
            raise ValueError(f"source: {path} is not utf-8 ({error.reason}); convert it first") from None


@contextmanager
def _writing(path):
    """A file that gets its name when all went well; standard output for "-", nothing for None."""
    if path is None:
        yield None
    elif str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
    else:
        part = Path(f"{path}.{os.getpid()}.part")
        try:
            with open(part, "w", encoding="utf-8", newline="") as file:
                yield file
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def _position(lines) -> int:
    try:
        return lines.buffer.tell()
    except (AttributeError, io.UnsupportedOperation, OSError):
        return 0
