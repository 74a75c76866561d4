"""Sanitize files: text, jsonl or tables in, the same out, with a record of what was done.

Records keep their order and their number; in jsonl and tables the fields that are passed stand outside of any
guarantee (numbers of json as Python reads and writes them, of equal keys the last). Files are done in shards, and
what is done of a run that was stopped lies in a folder beside the target until the same run goes on: a shard that
lies there is not done again. A text and its record get their names together, and no text has another one's record.
"""

import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from textsan.base.assets import file_sha256
from textsan.release import parquet
from textsan.release.formats import TEXT, Columns, Form, Layout, shown
from textsan.release.plan import File
from textsan.release.shards import Counts, Job, Sanitized, Shard, completed, cut


def sanitize_files(
    job: Job,
    files: Sequence[File],
    parts: str | Path,
    *,
    form: Form = TEXT,
    key: str = "",
    workers: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] = lambda documents, position: None,
    describe: Callable[[File, Counts, str], dict] | None = None,
) -> Counts:
    """Sanitize files, whose targets appear whole or not at all; standard output gets each shard when it is done.

    `parts` is the folder of the shards that are done. It is removed at the end; if a run is killed, it stays, and
    the run of the same `key` goes on there. `progress` is called with documents done and bytes read after every
    shard; `describe`, with a file, its counts and the sha256 of its bytes, makes the record that is written beside
    it. Of input that cannot be read (ValueError) nothing of this run is left but what went to standard output;
    where the workers are gone (ConnectionError) what they did is kept.
    """
    if [file.target for file in files] == ["-"]:
        total, sha256 = _stream(completed(job, cut(files, form, key), workers, scheduler), progress)
        if describe:
            describe(files[0], total, sha256)
        return total
    with _held(Path(parts)) as held:
        names: list[list[str]] = [[] for _ in files]
        layouts: dict[int, Layout] = {}
        versions = [file.version for file in files]

        def missing() -> Iterator[Shard]:
            for shard in cut(files, form, key):
                names[shard.file].append(shard.name)
                layouts[shard.file] = shard.layout
                if not held.has(shard.name):
                    yield shard

        for shard, done in completed(job, missing(), workers, scheduler):
            held.put(shard.name, done)
            progress(shard.first + done.counts.documents, shard.position)
        total = Counts()
        for number, (file, shards) in enumerate(zip(files, names, strict=True)):
            counts = sum(map(held.counts, shards), Counts())
            total += counts
            target = Path(file.target)
            target.parent.mkdir(exist_ok=True)
            write = partial(_write, file, versions[number], layouts[number])
            held.assemble(shards, target, write, describe and partial(describe, file, counts))
    return total


def _write(file: File, version, layout: Layout, lines: Iterator[bytes], output: BinaryIO) -> None:
    """Write the lines of all shards of a file; of parquet, the file's rows with their texts."""
    if not isinstance(layout, Columns):
        for line in lines:
            output.write(line)
        return
    try:
        parquet.write_texts(lines, output, file.source, layout.place, layout.columns, layout.kept)
    finally:  # whatever else went wrong, this is why
        if file.version != version:
            raise ValueError(f"{layout.place} was changed while it was read; run the same command again")


def _stream(done: Iterator[tuple[Shard, Sanitized]], progress) -> tuple[Counts, str]:
    total, digest, output = Counts(), hashlib.sha256(), sys.stdout.buffer
    sys.stdout.flush()
    for shard, sanitized in done:
        output.write(sanitized.content)
        digest.update(sanitized.content)
        total += sanitized.counts
        progress(total.documents, shard.position)
    output.flush()
    return total, digest.hexdigest()


class _Parts:
    """A folder of sanitized shards: a file each, a line of counts before the text."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._put: set[Path] = set()

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def put(self, name: str, done: Sanitized) -> None:
        self._put.add(self._path(name))
        with self._staged(self._path(name)) as file:
            file.write(json.dumps(asdict(done.counts)).encode() + b"\n" + done.content)

    def counts(self, name: str) -> Counts:
        with open(self._path(name), "rb") as file:
            return Counts(**json.loads(file.readline()))

    def assemble(
        self,
        names: list[str],
        target: Path,
        write: Callable[[Iterator[bytes], BinaryIO], None],
        describe: Callable[[str], dict] | None,
    ) -> None:
        """Write a target from the lines of its shards, and the record beside it.

        Both are staged; then the earlier record goes, the text comes, and its record: whoever is stopped in
        between leaves a text without a record, never one with the record of another.
        """
        beside = target.with_name(f"{target.name}.json")
        with (
            self._staged(beside) if describe else nullcontext(io.BytesIO()) as record,
            self._staged(target) as output,
        ):
            write(self._lines(names), output)
            if describe:
                output.flush()
                sha256 = file_sha256(Path(output.name))
                text = json.dumps(describe(sha256), indent=2, ensure_ascii=False) + "\n"
                record.write(text.encode())
                for file in (record, output):  # what is full is full before the earlier record goes
                    file.flush()
                beside.unlink(missing_ok=True)

    def _lines(self, names: list[str]) -> Iterator[bytes]:
        for name in names:
            with open(self._path(name), "rb") as file:
                file.readline()  # its counts
                yield from file

    def clear(self, *, put: bool = False) -> None:
        """Remove all shards, or those alone that this run put; and the folder, if nothing else is in it."""
        shards = self._put if put else self.folder.glob("*.shard")
        for path in [*shards, *self.folder.glob("*.part"), self.folder / ".lock"]:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.shard"

    @contextmanager
    def _staged(self, path: Path):
        """A file beside the shards that gets its name when all is written."""
        part = self.folder / f"{path.name}.part"
        try:
            with open(part, "wb") as file:
                yield file
            os.replace(part, path)
        except OSError as error:  # a disk that is full does not say of which file
            if error.filename is None and error.errno is not None:
                raise OSError(error.errno, error.strerror, str(path)) from None
            raise


@contextmanager
def _held(folder: Path) -> Iterator[_Parts]:
    """The folder of finished shards, for one run at a time.

    Success leaves nothing of it, bad input what was there before, and whatever else what is done, if anything is.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ValueError(f"OUTPUT: {shown(folder)} cannot be made ({error.strerror}); pass another path") from None
    held = _Parts(folder)
    try:
        with FileLock(folder / ".lock", timeout=0):
            try:
                yield held
            except (ValueError, FileNotFoundError):
                held.clear(put=True)
                raise
            except BaseException:
                if not any(folder.glob("*.shard")):
                    held.clear()
                raise
            held.clear()
    except Timeout:
        raise ValueError(
            f"OUTPUT: another run is writing to {shown(folder)}; wait for it, or pass another"
        ) from None
