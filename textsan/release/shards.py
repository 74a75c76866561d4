"""Shards: a file cut into parts that are sanitized apart, here, in other processes or on other machines.

The draws of a document depend on its number alone, and shards are cut by their size: whoever sanitizes them, the
text is the same. A few are held at a time, however long the file is.
"""

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from textsan.base import cluster
from textsan.base.plugins import Needed, blamed
from textsan.mechanisms import Mechanism
from textsan.mechanisms.base import UnknownWord
from textsan.release.formats import Layout, Record, compress, compression_of, reading, records
from textsan.release.plan import File
from textsan.release.writing import Writing

_SIZE = 1 << 19  # characters of a shard: about 100,000 tokens
NAMES = 1000  # names of other fields that are kept, at most: memory does not grow with the input
_MISSING = {"nan", "null", "none", "n/a", "na", "<na>"}  # what programs write in place of a text


@dataclass(frozen=True)
class Counts:
    """What passed through.

    Attributes:
        documents, tokens: how many.
        longest: tokens of the longest document.
        changed: tokens that were released as another word.
        unknown: tokens outside of the vocabulary.
        others: names of the fields that passed as they are; the first thousand of them.
        missing: documents whose whole text is a word by which tables mark that there is none, "NaN" say.
    """

    documents: int = 0
    tokens: int = 0
    longest: int = 0
    changed: int = 0
    unknown: int = 0
    others: tuple[str, ...] = ()
    missing: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.documents + other.documents,
            self.tokens + other.tokens,
            max(self.longest, other.longest),
            self.changed + other.changed,
            self.unknown + other.unknown,
            tuple(dict.fromkeys(self.others + other.others))[:NAMES],
            self.missing + other.missing,
        )


class Shard(NamedTuple):
    """Some records of a file.

    Attributes:
        name: of its records, and of all that decides what becomes of them but the draws.
        file: number of the file.
        first: number of its first document, among those of all files.
        layout: where the text of a record is.
        head: what stands before its records.
        records: as they were read.
        compression: of the file that is written.
        position: bytes of all files that have been read.
    """

    name: str
    file: int
    first: int
    layout: Layout
    head: str
    records: list[Record]
    compression: str | None
    position: int


class Sanitized(NamedTuple):
    """A shard's text, sanitized, as bytes of its file; and what passed through."""

    content: bytes
    counts: Counts


@dataclass(frozen=True)
class Job:
    """What is done to each shard.

    Args:
        mechanism: the sanitizer.
        seed: of the draws; None is operating-system entropy.
        writing: how released words become text.
    """

    mechanism: Mechanism
    seed: int | None = None
    writing: Writing = Writing()

    def __reduce__(self):
        return _job_of, (Needed(), self.mechanism, self.seed, self.writing)

    def sanitize(self, shard: Shard) -> Sanitized:
        """A shard sanitized.

        Raises:
            ValueError: a record without a text, or with a word that is refused; the line has its number alone. Or
                the mechanism is a plugin's, and its code fails.
        """
        with blamed(type(self.mechanism), private=True):
            return self._sanitized(shard)

    def warm(self) -> "Job":
        """The job, its mechanism with all that draws share: computed once, and sent along."""
        with blamed(type(self.mechanism)):
            self.mechanism.sanitize([self.mechanism.inputs[:1]], seed=0)
        return self

    def _sanitized(self, shard: Shard) -> Sanitized:
        documents = [shard.layout.open(record) for record in shard.records]
        tokens = [self.writing.tokens(document.text) for document in documents]
        words = [one.words for one in tokens]
        try:
            released = self.mechanism.sanitize(words, self.seed, first=shard.first)
        except UnknownWord as error:
            line = next(record.line for record, doc in zip(shard.records, words, strict=True) if error.word in doc)
            raise ValueError(
                f"{shard.layout.place}: line {line} has a word outside of the vocabulary; "
                "pass --oov uniform, or a larger vocabulary"
            ) from None
        texts = [
            document.replaced(self.writing.text(doc, one))
            for document, doc, one in zip(documents, released, tokens, strict=True)
        ]
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
            missing=sum(document.text.strip().casefold() in _MISSING for document in documents),
        )
        for others in dict.fromkeys(document.others for document in documents):
            counts += Counts(others=others)
        # A lone surrogate, which only json can hold, is written as the escape that it was.
        content = (shard.head + "".join(texts)).encode("utf-8", "backslashreplace")
        return Sanitized(compress(content, shard.compression), counts)


def _job_of(needed: Needed, *parts) -> Job:
    """A job in another process, which has imported the plugins that its mechanism is of."""
    return Job(*parts)


def cut(files: Iterable[File], field: str, key: str) -> Iterator[Shard]:
    """The shards of files, in order; each file has at least one.

    Args:
        files: documents are numbered through all of them.
        field: of the text.
        key: of all else that decides what becomes of a document, for the names.

    Raises:
        ValueError, FileNotFoundError: a file that cannot be read.
    """
    first = before = 0
    for number, file in enumerate(files):
        place = "source: standard input" if file.source == "-" else f"source: {file.source}"
        with reading(file.source, file.kind) as (lines, position):
            layout, content = records(lines, file.kind, field, place)
            head = layout.head
            for part in _parts(content):
                name = _name(key, file, layout, first, part)
                yield Shard(
                    name, number, first, layout, head, part, compression_of(file.target), before + position()
                )
                first, head = first + len(part), ""
            before += position()


def completed(
    job: Job, shards: Iterable[Shard], workers: int = 1, scheduler: str | None = None
) -> Iterator[tuple[Shard, Sanitized]]:
    """Shards as they are done, in their order.

    Args:
        job: what is done to each.
        shards: taken only as fast as they are done.
        workers: processes of this machine.
        scheduler: address of a dask scheduler, whose workers are used instead.

    Raises:
        ValueError: see `Job.sanitize`; or dask is asked for and not installed.
        ConnectionError: a worker was killed, or no scheduler answers.
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
    size, some = 0, False
    for record in content:
        part.append(record)
        cells = [record.content] if isinstance(record.content, str) else record.content
        size += sum(map(len, cells)) + 1
        if size >= _SIZE:
            yield part
            part, size, some = [], 0, True
    if part or not some:
        yield part


def _name(key: str, file: File, layout: Layout, first: int, part: list[Record]) -> str:
    """A hash of what decides the text of a shard."""
    digest = hashlib.sha256(repr((key, file.kind, compression_of(file.target), layout, first)).encode())
    for record in part:
        digest.update(json.dumps(record.content).encode())
    return digest.hexdigest()


# --- who does it --------------------------------------------------------------------------------------------

_job: Job  # of a worker process, which is sent it once and not with every shard


def _begin(job: Job) -> None:
    global _job
    _job = job


def _continue(shard: Shard) -> Sanitized:
    return _job.sanitize(shard)


@contextmanager
def _processes(job: Job, workers: int):
    from joblib.externals.loky import ProcessPoolExecutor

    # Workers end after a minute without work: nobody else ends them if this process is killed.
    pool = ProcessPoolExecutor(workers, timeout=60, initializer=_begin, initargs=(job.warm(),))

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
            raise ConnectionError(f"{lost}; the same command goes on where this one was")

        yield (
            lambda shard: client.submit(Job.sanitize, held, shard, pure=False),
            result,
            lambda: max(2, sum(client.nthreads().values())),
        )
