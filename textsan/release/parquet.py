"""Read the rows of a parquet file, and write them anew: other texts, and all other columns as they are.

Arrow's reader and writer (arro3) do both, a batch of rows at a time. Their errors are not quoted. What a file says
of itself beside its columns (pandas' attributes, say) is not written: nobody said that it may be released.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from arro3.core import DataType, RecordBatch, Schema

_GROUP = 1 << 17  # rows that are held, compressed, until they are written


def opened(path: str | Path, place: str) -> tuple["Schema", Iterator["RecordBatch"]]:
    """Return the columns of a file, `place` in errors, and its rows in batches."""
    from arro3.io import read_parquet

    with _whole(place), open(path, "rb") as file:
        start, end = file.read(4), file.seek(0, 2)
        file.seek(max(end - 8, 0))
        size, mark = int.from_bytes(file.read(4), "little"), file.read(4)
        if not start == mark == b"PAR1" or size > end - 12:  # else the reader panics, in lines of its own
            raise Exception
        reader = read_parquet(Path(path))

    def batches():
        while True:
            with _whole(place):
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    return reader.schema, batches()


@contextmanager
def _whole(place: str) -> Iterator[None]:
    """Say in one line what the reader cannot read; its errors have no class, or are panics of Rust."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{place} is no whole parquet file, or an encrypted one; write it anew") from None


def is_text(kind: "DataType") -> bool:
    """Return whether a column of this type holds strings."""
    from arro3.core import DataType

    return any(is_one(kind) for is_one in (DataType.is_string, DataType.is_large_string, DataType.is_string_view))


def write_texts(
    lines: Iterator[bytes], output: BinaryIO, source: str, place: str, columns: Sequence[int], kept: Sequence[int]
) -> None:
    """Write the rows of a file with other texts, a json list for each row; null stays null.

    Columns are given by their numbers: those of text, and those that are written.
    """
    from arro3.core import Array, RecordBatch, Schema

    schema, batches = opened(source, place)
    fields = [schema.field(column) for column in kept]
    stripped = [field.remove_metadata() for field in fields]  # it may say what the text was: json, say
    both = zip(kept, fields, stripped, strict=True)
    written = Schema([bare if column in columns else field for column, field, bare in both])

    def rows():
        for batch in batches:
            texts = [json.loads(line) for line in islice(lines, batch.num_rows)]
            arrays = {column: batch.column(column) for column in kept}
            for number, column in enumerate(columns):
                there = zip(arrays[column].to_pylist(), texts, strict=True)
                new = [None if old is None else row[number] for old, row in there]
                arrays[column] = Array(new, schema.field(column).type)
            yield RecordBatch.from_arrays([*arrays.values()], schema=written)

    _write(written, rows(), output)


def part(path: str | Path, place: str, wanted: Callable[[int], bool]) -> bytes:
    """Return a file of the rows of a file whose numbers, from 0, are wanted; nothing of the others is in it."""
    from arro3.core import Array, DataType

    schema, batches = opened(path, place)

    def rows():
        first = 0
        for batch in batches:
            numbers = [number for number in range(batch.num_rows) if wanted(first + number)]
            yield batch.take(Array(numbers, DataType.uint32()))
            first += batch.num_rows

    output = BytesIO()
    _write(schema, rows(), output)
    return output.getvalue()


def _write(schema: "Schema", batches: Iterable["RecordBatch"], output: BinaryIO) -> None:
    """Write batches of rows as a file, whose bytes depend on nothing else; what the batches raise is raised."""
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    failed: list[BaseException] = []

    def watched():  # arrow tells of an error no more than its text
        try:
            yield from batches
        except BaseException as error:
            failed.append(error)
            raise

    try:
        stream = RecordBatchReader.from_batches(schema.remove_metadata(), watched())
        write_parquet(stream, output, compression="snappy", max_row_group_size=_GROUP)
    except BaseException:
        if failed:
            raise failed[0] from None
        output.flush()  # a full disk says so again, in Python's words
        raise
