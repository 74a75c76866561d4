"""The record of a sanitized file, for people and programs: what was done, with what, and what is promised.

`record.schema.json` beside this module says what each of its fields is. What nobody can read off the released text
stays out of it: how many words were changed, and how many were unknown, is of the private text, and in the summary
alone, which is for who holds that text.
"""

import inspect
import json
import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from textsan.base.docstrings import meaning
from textsan.base.fingerprints import fingerprint
from textsan.mechanisms import MECHANISMS
from textsan.mechanisms.make import recorded_parameters
from textsan.privacy import Guarantee
from textsan.release.plan import File
from textsan.release.shards import NAMES, Counts, Job
from textsan.text.embeddings import Embeddings

SCHEMA = Path(__file__).with_name("record.schema.json")

_UNKNOWN = 0.4  # share of tokens from which on a text is hardly one of the vocabulary's language
_SEEDED = "the seed is known: whoever has it can undo the noise, and no guarantee holds"


def description(
    job: Job,
    file: File,
    counts: Counts,
    *,
    mechanism: str,
    given: dict,
    embedding: str,
    words: Embeddings,
    field: str,
    command: str,
) -> dict:
    """The record of a file: a dict for json.

    Args:
        job: what was done.
        file: what it was done to.
        counts: what passed through.
        mechanism: its name in the registry, as the user wrote it.
        given: the parameters that the user wrote.
        embedding: name of the word vectors.
        words: the public vocabulary.
        field: of the text.
        command: the command line.
    """
    values = recorded_parameters(job.mechanism, mechanism, given)
    make = MECHANISMS[mechanism].load()
    result = {
        "textsan": version("textsan"),
        "command": command,
        "input": file.source,
        "format": file.kind,
        "field": None if file.kind == "txt" else field,
        "untouched": list(counts.others),
        "mechanism": mechanism,
        "parameters": values,
        "meanings": {name: meaning(make, name) for name in values},
        "embedding": {"name": embedding, "words": len(words), "sha256": words.sha256},
        "guarantee": _described(_promise(job), job, file, counts),
        "documents": counts.documents,
        "tokens": counts.tokens,
        "longest_document": counts.longest,
        "tokenizer": "textsan.tokenize",
        "writing": str(job.writing),
        "warnings": list(warnings(job)),
    }
    if job.seed is None:
        return result
    unseeded = _described(job.mechanism.guarantee, job, file, counts)
    return result | {"seed": job.seed, "guarantee_without_seed": unseeded}


def key(job: Job, mechanism: str, given: dict, words: Embeddings) -> str:
    """All but the text that decides what a run makes: one that was stopped goes on only if this is the same.

    Args:
        job: what is done.
        mechanism, given, words: as for `description`.
    """
    code = fingerprint(inspect.getfile(type(job.mechanism)))
    made = [mechanism, recorded_parameters(job.mechanism, mechanism, given), words.sha256, code]
    return json.dumps([version("textsan"), *made, job.seed, str(job.writing)])


def warnings(job: Job) -> Sequence[str]:
    """What a user should know before anything is released, a line each."""
    seeded = (_SEEDED,) if job.seed is not None else ()
    return *seeded, *(f"not protected: {clause}" for clause in (*job.mechanism.exposed, *job.writing.exposed))


def doubts(counts: Counts) -> list[str]:
    """What is odd in what passed through, a line each: for who holds the text, never for the record.

    Args:
        counts: of all files.
    """
    unknown, missing = counts.unknown / max(counts.tokens, 1), counts.missing / max(counts.documents, 1)
    said = []
    if unknown > _UNKNOWN:
        said.append(
            f"{unknown:.1%} of the tokens are outside of the vocabulary: another language, or another field?"
        )
    if missing:
        said.append(
            f"{missing:.1%} of the documents say only that there is no text (NaN, null), and are sanitized"
        )
    return said


def summary(job: Job, files: Sequence[File], counts: Counts) -> list[str]:
    """What was done, in five lines: for who holds the text, as two of them count its words.

    Args:
        job, files: what was done, and to what.
        counts: what passed through, of all files.
    """
    share = {
        count: f"{count:,} tokens ({count / max(counts.tokens, 1):.1%})"
        for count in (counts.changed, counts.unknown)
    }
    fate = {"uniform": "replaced by uniform draws", "keep": "released as they are", "error": "none is let through"}
    promise = _promise(job)
    if job.seed is not None:
        promised = f"nothing; {_SEEDED}"
    elif promise.definition == "none":
        promised = "nothing"
    else:
        unit = " per unit of distance" if promise.per == "distance" else ""
        promised = f"{promise.definition}, epsilon {promise.epsilon:g}{unit} for each token: {promise.which}"
    return [
        f"documents          {counts.documents:,}, of {counts.tokens:,} tokens",
        f"changed            {share[counts.changed]}",
        f"out of vocabulary  {share[counts.unknown]}, {fate[job.mechanism.oov]}",
        f"not touched        {'; '.join(_untouched(files[0], counts)) or 'nothing'}",
        f"promised           {promised}",
    ]


def _promise(job: Job) -> Guarantee:
    """What holds of a run: nothing where the seed is known."""
    promise = job.mechanism.guarantee
    return promise if job.seed is None else Guarantee("none", math.inf, None, (_SEEDED, *promise.outside))


def _described(promise: Guarantee, job: Job, file: File, counts: Counts) -> dict:
    return {
        "definition": promise.definition,
        "epsilon": _finite(promise.epsilon),
        "epsilon_0": _finite(promise.epsilon_0),
        "per_token": promise.which,
        "per_document": _per_document(promise, counts),
        "outside": "; ".join([*promise.outside, *job.writing.exposed, *_untouched(file, counts)]),
    }


def _per_document(promise: Guarantee, counts: Counts) -> str:
    if not math.isfinite(promise.epsilon + promise.epsilon_0):
        return "none"
    if promise.per == "distance":
        return "the sum of the per-token bounds: epsilon times the summed distances, plus epsilon_0 a token"
    return f"epsilon times the tokens that differ: {promise.document(counts.longest):g} for the longest"


def _untouched(file: File, counts: Counts) -> tuple[str, ...]:
    if not counts.others:
        return ()
    what = "fields" if file.kind == "jsonl" else "columns"
    more = " and maybe more" if len(counts.others) == NAMES else ""
    return (f"the {what} {', '.join(counts.others)}{more}, released as they are",)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
