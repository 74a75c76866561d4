"""Cut files into shards, and sanitize these here, in other processes or on other machines.

The draws of a document depend on its number alone, and shards are cut by their size: whoever sanitizes them, the
text is the same. A few are held at a time, however long the file is.
"""

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from itertools import islice
from typing import NamedTuple

from textsan.base import cluster, orphans
from textsan.base.plugins import PluginImports, blamed
from textsan.mechanisms import Mechanism
from textsan.mechanisms.base import UnknownWord
from textsan.release.formats import (
    Columns,
    Document,
    Form,
    Layout,
    Record,
    Unnamed,
    compress,
    compression_of,
    reading_records,
    unnamed,
)
from textsan.release.plan import File
from textsan.release.writing import Writing

_SIZE = 1 << 19  # characters of a shard: about 100,000 tokens
MISSING = {"nan", "null", "none", "n/a", "na", "<na>"}  # what programs write in place of a text


@dataclass(frozen=True)
class Counts:
    """The counts of documents and tokens that were sanitized."""

    documents: int = 0
    tokens: int = 0
    longest: int = 0  # tokens of the longest document
    changed: int = 0  # tokens that were released as another word
    unknown: int = 0  # tokens outside of the vocabulary
    missing: int = 0  # documents with a text by which tables mark that there is none, "NaN" say

    def __add__(self, other: "Counts") -> "Counts":
        total = Counts(*map(sum, zip(astuple(self), astuple(other), strict=True)))
        return replace(total, longest=max(self.longest, other.longest))


class Shard(NamedTuple):
    """Some records of a file."""

    name: str  # of its records, and of all that decides what becomes of them but the draws
    file: int  # number of the file
    first: int  # number of its first document, among those of all files
    layout: Layout  # of a record's text
    head: str  # what stands before its records
    records: list[Record]  # as they were read
    compression: str | None  # of the file that is written
    position: int  # bytes of all files that have been read


class Sanitized(NamedTuple):
    """A shard's text, sanitized, as bytes of its file; and what passed through."""

    content: bytes
    counts: Counts


CHOSEN_ON = ("this", "other", "fixed")
"""Sources of an epsilon: this very text, other text, or a decision before any text was seen."""


@dataclass(frozen=True)
class Job:
    """The mechanism and the settings with which each shard is sanitized."""

    mechanism: Mechanism
    seed: int | None = None  # of the draws; None is operating-system entropy
    writing: Writing = Writing()  # how released words become text
    chosen_on: str | None = None  # one of `CHOSEN_ON`; None is not said. Workers need it not

    def __reduce__(self):
        return _job_of, (PluginImports(), self.mechanism, self.seed, self.writing)

    def sanitize(self, shard: Shard) -> Sanitized:
        """Sanitize a shard; the texts of a record are one document, and errors give its line's number alone."""
        with blamed(type(self.mechanism), private=True):
            return self._sanitized(shard)

    def warm(self) -> "Job":
        """Compute what all draws share, so that workers are sent it, and return the job."""
        with blamed(type(self.mechanism)):
            self.mechanism.sanitize([self.mechanism.inputs[:1]], seed=0)
        return self

    def _sanitized(self, shard: Shard) -> Sanitized:
        documents = _opened(shard)
        tokens = [[self.writing.tokens(text) for text in document.texts] for document in documents]
        words = [[word for text in texts for word in text.words] for texts in tokens]
        try:
            released = self.mechanism.sanitize(words, self.seed, first=shard.first)
        except UnknownWord as error:
            at = next(record.line for record, doc in zip(shard.records, words, strict=True) if error.word in doc)
            line = "row" if isinstance(shard.layout, Columns) else "line"
            what = f"{shard.layout.place}: {line} {at} has a word outside of the vocabulary"
            raise ValueError(f"{what}; pass --oov uniform, or a larger vocabulary") from None
        rows = []
        for document, doc, texts in zip(documents, released, tokens, strict=True):
            rest = iter(doc)
            written = [self.writing.text(list(islice(rest, len(text.words))), text) for text in texts]
            rows.append(document.replaced(written))
        pairs = [
            pair for before, after in zip(words, released, strict=True) for pair in zip(before, after, strict=True)
        ]
        known = {word: self.mechanism.knows(word) for word in {before for before, _ in pairs}}
        counts = Counts(
            len(documents),
            len(pairs),
            max(map(len, words), default=0),
            sum(before != after for before, after in pairs),
            sum(not known[before] for before, _ in pairs),
            sum(any(text.strip().casefold() in MISSING for text in document.texts) for document in documents),
        )
        # A lone surrogate, which only json can hold, is written as the escape that it was.
        content = (shard.head + "".join(rows)).encode("utf-8", "backslashreplace")
        return Sanitized(compress(content, shard.compression), counts)


def _opened(shard: Shard) -> list[Document]:
    """The documents of a shard; of fields that nobody named, one error has all that its records have."""
    documents: list[Document] = []
    names: dict[str, None] = {}
    for record in shard.records:
        try:
            documents.append(shard.layout.open(record))
        except Unnamed as error:
            if not error.names:
                raise
            names |= dict.fromkeys(error.names)
    if names:
        raise unnamed(shard.layout.place, "field", list(names), safe=True)
    return documents


def _job_of(needed: PluginImports, *parts) -> Job:
    """A job in another process, which has imported the plugins that its mechanism is of."""
    return Job(*parts)


def cut(files: Iterable[File], form: Form, key: str) -> Iterator[Shard]:
    """Cut files into shards, in order; each file has at least one, and documents are numbered through all of them.

    `key` is that of all else that decides what becomes of a document: it goes into the names.
    """
    first = before = 0
    for number, file in enumerate(files):
        with reading_records(file.source, file.kind, form) as (layout, content, position):
            head = layout.head
            for part in _parts(content):
                name, compression = _name(key, file, layout, first, part), compression_of(file.target)
                yield Shard(name, number, first, layout, head, part, compression, before + position())
                first, head = first + len(part), ""
            before += position()


def completed(
    job: Job, shards: Iterable[Shard], workers: int = 1, scheduler: str | None = None
) -> Iterator[tuple[Shard, Sanitized]]:
    """Sanitize shards, and yield them in their order; they are taken only as fast as they are done.

    Processes of this machine do the work, or the workers of a dask scheduler. Where a worker was killed, or no
    scheduler answers, that is a ConnectionError.
    """
    if scheduler is None and workers == 1:
        job.warm()  # a plugin's mistake is told here, where no text is read
        for shard in shards:
            yield shard, job.sanitize(shard)
        return
    with _cluster(job, scheduler) if scheduler else _processes(job, workers) as (submit, result, width):
        waiting: deque = deque()
        for shard in shards:
            waiting.append((shard, submit(shard)))
            if len(waiting) >= 2 * width():
                shard, future = waiting.popleft()
                yield shard, result(future)
        for shard, future in waiting:
            yield shard, result(future)


def _parts(content: Iterator[Record]) -> Iterator[list[Record]]:
    part: list[Record] = []
    size, is_first = 0, True
    for record in content:
        part.append(record)
        cells = [record.content] if isinstance(record.content, str) else record.content
        size += sum(map(len, cells)) + 1
        if size >= _SIZE:
            yield part
            part, size, is_first = [], 0, False
    if part or is_first:
        yield part


def _name(key: str, file: File, layout: Layout, first: int, part: list[Record]) -> str:
    """A hash of what decides the text of a shard."""
    digest = hashlib.sha256(repr((key, file.kind, compression_of(file.target), layout, first)).encode())
    for record in part:
        digest.update(json.dumps([record.content, record.end]).encode())
    return digest.hexdigest()


_job: Job  # of a worker process, which is sent it once and not with every shard


def _begin(job: Job, parent: int) -> None:
    global _job
    _job = job
    orphans.end_with(parent)


def _continue(shard: Shard) -> Sanitized:
    return _job.sanitize(shard)


@contextmanager
def _processes(job: Job, workers: int):
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(workers, timeout=60, initializer=_begin, initargs=(job.warm(), os.getpid()))

    def result(future):
        try:
            return future.result()
        except BrokenProcessPool:
            raise ConnectionError(
                "workers: one was killed (out of memory?); the same command with fewer goes on where this one was"
            ) from None

    def submit(shard):
        try:
            return pool.submit(_continue, shard)
        except BrokenProcessPool as error:  # what was done before is still to be fetched
            broken: Future = Future()
            broken.set_exception(error)
            return broken

    try:
        yield submit, result, lambda: workers
    finally:
        pool.shutdown(kill_workers=True)


@contextmanager
def _cluster(job: Job, scheduler: str):
    with cluster.connect(scheduler) as client:
        from distributed import KilledWorker

        try:
            client.wait_for_workers(1, timeout=cluster.PATIENCE)
        except TimeoutError:
            raise ConnectionError("scheduler: it has no workers; start some") from None
        held = client.scatter(job.warm(), broadcast=True, hash=False)

        def result(future):
            try:
                cluster.finished(client, [future])
                return future.result()
            except KilledWorker:
                lost = "scheduler: a worker was killed (out of memory?)"
            except CancelledError:
                lost = "scheduler: it is gone"
            except ConnectionError as error:
                lost = str(error)
            raise ConnectionError(f"{lost}; {cluster.AGAIN}")

        yield (
            lambda shard: client.submit(Job.sanitize, held, shard, pure=False),
            result,
            lambda: max(2, sum(client.nthreads().values())),
        )
