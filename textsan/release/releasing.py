"""Release a file or a column, with the record of what was done and promised; `textsan sanitize` calls it, too."""

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textsan.base import checks
from textsan.base.plugins import blamed
from textsan.base.signatures import takes_parameters_of
from textsan.mechanisms import Mechanism
from textsan.mechanisms.make import recipe_of
from textsan.release import record
from textsan.release.files import sanitize_files
from textsan.release.formats import TEXT, Form, Objects, Record, encoding_of, fields_of, shown
from textsan.release.plan import File, plan
from textsan.release.shards import CHOSEN_ON, Counts, Job, Shard
from textsan.release.writing import Writing
from textsan.text.loading import GLOVE

if TYPE_CHECKING:
    import pandas as pd

_WARNING = "warning: "


def warn(line: str) -> None:
    """Warn of a line that is a warning; others are left out."""
    if line.startswith(_WARNING):
        warnings.warn(line.removeprefix(_WARNING), stacklevel=3)


def _unseen(unit: str) -> AbstractContextManager[Callable[[int, int | None], None]]:
    return nullcontext(lambda done, total: None)


def release_files(
    sources: Sequence[str | Path],
    target: str | Path,
    mechanism: Mechanism,
    *,
    fields: Sequence[str] = (),
    passed: Sequence[str] = (),
    dropped: Sequence[str] = (),
    kind: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    keep_case: bool = False,
    detokenize: bool = False,
    chosen_on: str | None = None,
    seed: int | None = None,
    embedding: str = GLOVE,
    workers: int = 1,
    scheduler: str | None = None,
    command: str = "textsan.release.release_files",
    tell: Callable[[str], Any] = warn,
    reporting: Callable[[str], AbstractContextManager[Callable[[int, int | None], Any]]] = _unseen,
) -> list[dict]:
    """Sanitize files, and write beside each what was done and promised, as `textsan sanitize` does.

    Args:
        sources: files, txt (a document a line), jsonl, csv or tsv, also as gz or xz, or parquet; "-" is standard
            input.
        target: a file, or a folder if there are several sources or it is one; "-" is standard output.
        mechanism: the sanitizer, of `make_mechanism` or of a registered class.
        fields: names of the fields or columns of text; none is "text".
        passed: those that are released as they are.
        dropped: those that are left out; each field needs one of the three.
        kind: "txt", "jsonl", "csv", "tsv" or "parquet"; None is what the files' endings say.
        delimiter: of a csv; None is a comma.
        encoding: of files without a byte order mark; None is UTF-8.
        keep_case: capital letters stay in their places, and tell what they tell.
        detokenize: spacing as people write; line breaks inside of a text stay.
        chosen_on: where epsilon comes from, "this" text (then nothing is promised), "other" text, or "fixed"
            before; None is not said.
        seed: repeats a run, and removes the guarantee; None is the only choice that protects anybody.
        embedding: name of the mechanism's word vectors, for the record.
        workers: processes.
        scheduler: address of a dask scheduler, whose workers are used instead.
        command: what was called, for the record.
        tell: called with each line for who holds the text: those that begin with "warning: ", before anything is
            released where that is known, and the summary of `textsan sanitize` at its end. `print` shows all.
        reporting: makes a context of a unit, "bytes" or "documents"; its function is called with those done, and
            all of them or None.

    Returns:
        the records, in the order of the sources.

    Raises:
        Unnamed: fields of which nobody said what becomes of them.
        ValueError: a file, a record or an option that does not fit; nothing private is quoted or written.
        FileNotFoundError: no such source.
        ConnectionError: the workers are gone; the same call goes on where they were.
    """
    files = plan([str(source) for source in sources], str(target), kind)
    kinds = {file.kind for file in files}
    for option, names in (("field", fields), ("pass", passed), ("drop", dropped)):
        fields_of(names, kinds, option)
    form = Form(tuple(fields) or TEXT.texts, tuple(passed), tuple(dropped), delimiter, encoding)
    job = _job(mechanism, seed, chosen_on, Writing(keep_case, detokenize))
    description = partial(record.description, job, embedding=embedding, form=form, command=command)
    records: list[dict] = []

    def describe(*done) -> dict:
        records.append(description(*done))
        return records[-1]

    with blamed(type(mechanism)):  # what a plugin says of itself is heard before anything is released
        description(files[0], Counts(), "")
        exposed, key = record.warnings(job), record.key(job)
    replaced = [file.target for file in files if file.target != "-" and Path(file.target).exists()]
    for warning in exposed:
        tell(_WARNING + warning)
    rows = "parquet" in kinds  # whose bytes are read in no order
    total = None if rows else sum(file.size for file in files) or None
    with reporting("documents" if rows else "bytes") as report:
        counts = sanitize_files(
            job,
            files,
            f"{str(target).rstrip('/')}.parts",
            form=form,
            key=key,
            workers=checks.whole("workers", workers, low=1),
            scheduler=scheduler,
            progress=lambda documents, position: report(documents if rows else position, total),
            describe=describe,
        )
    for file in files:
        if (source_encoding := encoding_of(file.source, encoding)) != "utf-8":
            tell(f"{shown(file.source)} is {source_encoding}, and what is written is utf-8")
    for doubt in record.doubts(counts):
        tell(_WARNING + doubt)
    if replaced:
        twice = "was there and is replaced; whoever has the earlier release too has two draws of it"
        tell(f"{_WARNING}{shown(replaced[0])} {twice}")
    for line in record.summary(job, files, form, counts):
        tell(line)
    return records


@takes_parameters_of(release_files, but=("command",))
def release_file(source: str | Path, target: str | Path, mechanism: Mechanism, **settings) -> dict:
    """Sanitize a file, and write beside it what was done and promised: `release_files` with one source.

    Args:
        source, target, mechanism, settings: as for `release_files`.

    Returns:
        the record.

    Raises:
        ValueError, FileNotFoundError, ConnectionError: as `release_files`.
    """
    return release_files([source], target, mechanism, command="textsan.release.release_file", **settings)[0]


def release_series(
    series: "pd.Series",
    mechanism: Mechanism,
    *,
    chosen_on: str | None = None,
    seed: int | None = None,
    embedding: str = GLOVE,
    tell: Callable[[str], Any] = warn,
) -> tuple["pd.Series", dict]:
    """Sanitize a column of texts, and describe what was done and promised.

    The texts are those that `textsan sanitize` writes of a jsonl file with the field "text", null where there is
    none; and so is the record. Its sha256 is that of this file.

    Args:
        series: of strings, each a document; None and NaN stay as they are.
        mechanism, chosen_on, seed, embedding, tell: as for `release_files`.

    Returns:
        the column, with index and name, and the record.

    Raises:
        ValueError: something else than a string, which is not quoted; or what `release_files` refuses.

    >>> import pandas as pd
    >>> from textsan import Embeddings, SanText
    >>> mechanism = SanText(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=99)
    >>> column, about = release_series(pd.Series(["A b", None], index=[7, 3]), mechanism)
    >>> column[7], about["documents"]
    ('a b', 2)
    """
    import pandas as pd

    if not isinstance(series, pd.Series):
        raise ValueError(f"series: {type(series).__name__} is no column; pass a pandas Series, table['text'] say")
    job, form = _job(mechanism, seed, chosen_on, Writing()), Form(passed=())
    texts = [None if missing else text for text, missing in zip(series.tolist(), series.isna(), strict=True)]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str | None):
            raise ValueError(f"series: text {number} is {type(text).__name__}, no string; pass a column of texts")
    for warning in record.warnings(job):
        tell(_WARNING + warning)
    records = [Record(number, json.dumps({"text": text}), "\n") for number, text in enumerate(texts, start=1)]
    content, counts = job.warm().sanitize(Shard("", 0, 0, Objects("series", form), "", records, None, 0))
    file, sha256 = File("a pandas Series", "-", "jsonl"), hashlib.sha256(content).hexdigest()
    for line in (*map(_WARNING.__add__, record.doubts(counts)), *record.summary(job, [file], form, counts)):
        tell(line)
    released = [json.loads(line)["text"] for line in content.decode().split("\n")[:-1]]
    values = [old if new is None else new for old, new in zip(series.tolist(), released, strict=True)]
    dtype = series.dtype if pd.api.types.is_string_dtype(series.dtype) else object
    command = "textsan.release.release_series"
    about = record.description(job, file, counts, sha256, embedding=embedding, form=form, command=command)
    return pd.Series(values, series.index, dtype=dtype, name=series.name), about


def _job(mechanism: Mechanism, seed: int | None, chosen_on: str | None, writing: Writing) -> Job:
    recipe_of(mechanism)  # what no record could name is refused before it draws
    seed = None if seed is None else checks.whole("seed", seed)
    return Job(mechanism, seed, writing, checks.choice("chosen_on", chosen_on, (None, *CHOSEN_ON)))
