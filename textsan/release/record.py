"""Describe a sanitized file, for people and programs: what was done, with what, and what is promised.

`record.schema.json` beside this module says what each of its fields is. What nobody can read off the released text
stays out of it: how many words were changed, and how many were unknown, is of the private text, and in the summary
alone, which is for who holds that text.
"""

import inspect
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from textsan.base.assets import file_sha256
from textsan.base.docstrings import meaning
from textsan.mechanisms import MECHANISMS
from textsan.mechanisms.make import recipe_of, recorded_parameters
from textsan.privacy import Guarantee
from textsan.release.formats import Form, shown
from textsan.release.plan import File
from textsan.release.shards import Counts, Job

TOKENIZER, TOKENIZER_V1 = "textsan.tokenize 2", "textsan.tokenize"
"""The rules by which text is cut: those of `textsan.tokenize`, and those of 0.2.0, `textsan.text.tokenize_v1`."""

SCHEMA = Path(__file__).with_name("record.schema.json")

_UNKNOWN = 0.4  # share of tokens from which on a text is hardly one of the vocabulary's language
_SEEDED = "the seed is known: whoever has it can undo the noise, and no guarantee holds"
_CHOSEN = "epsilon was chosen on this text and tells of it, and no guarantee holds"
_NOT_SAID = "an epsilon that was chosen on this text, if it was: --chosen-on was not passed"


def description(
    job: Job, file: File, counts: Counts, sha256: str, *, embedding: str, form: Form, command: str
) -> dict:
    """Return the record of a released file with this sha256: a dict for json; `embedding` names the vectors."""
    mechanism, words, given = recipe_of(job.mechanism)
    values = recorded_parameters(job.mechanism, mechanism, given)
    make = MECHANISMS[mechanism].load()
    result = {
        "textsan": version("textsan"),
        "command": shown(command),
        "input": shown(file.source),
        "sha256": sha256,
        "format": file.kind,
        "delimiter": form.delimiter,
        "fields": None if file.kind == "txt" else list(form.texts),
        "untouched": list(_passed(file, form)),
        "dropped": [] if file.kind == "txt" else list(form.dropped),
        "mechanism": mechanism,
        "chosen_on": job.chosen_on,
        "parameters": values,
        "meanings": {name: meaning(make, name) for name in values},
        "embedding": {"name": embedding, "words": len(words), "sha256": words.sha256},
        "guarantee": _described(_promise(job), job, file, form, counts),
        "documents": counts.documents,
        "tokens": counts.tokens,
        "longest_document": counts.longest,
        "tokenizer": TOKENIZER,
        "writing": str(job.writing),
        "warnings": list(warnings(job)),
    }
    if job.seed is None:
        return result
    unseeded = _described(_promise(replace(job, seed=None)), job, file, form, counts)
    return result | {"seed": job.seed, "guarantee_without_seed": unseeded}


def key(job: Job) -> str:
    """Return all but the text that decides what a run makes: one that was stopped goes on if it is the same."""
    mechanism, words, given = recipe_of(job.mechanism)
    lists = [sorted(given.get(name) or ()) for name in MECHANISMS[mechanism].word_lists()]
    code = file_sha256(Path(inspect.getfile(type(job.mechanism))))
    made = [mechanism, recorded_parameters(job.mechanism, mechanism, given), words.sha256, code]
    return json.dumps([version("textsan"), *made, lists, job.seed, str(job.writing)])


def warnings(job: Job) -> Sequence[str]:
    """Return what a user should know before anything is released, a line each."""
    exposed = (*job.mechanism.exposed, *job.writing.exposed)
    return *_broken(job), *(f"not protected: {clause}" for clause in exposed)


def doubts(counts: Counts) -> list[str]:
    """Return what is odd in the counts of all files, a line each: for who holds the text, never for the record."""
    unknown, missing = counts.unknown / max(counts.tokens, 1), counts.missing / max(counts.documents, 1)
    lines = []
    if unknown > _UNKNOWN:
        lines.append(
            f"{unknown:.1%} of the tokens are outside of the vocabulary: another language, or another field?"
        )
    if missing:
        lines.append(
            f"{missing:.1%} of the documents say only that there is no text (NaN, null), and are sanitized"
        )
    return lines


def summary(job: Job, files: Sequence[File], form: Form, counts: Counts) -> list[str]:
    """Return what was done, in five lines: for who holds the text, as two of them count its words."""
    share = {
        count: f"{count:,} tokens ({count / max(counts.tokens, 1):.1%})"
        for count in (counts.changed, counts.unknown)
    }
    fate = {"uniform": "replaced by uniform draws", "keep": "released as they are", "error": "none is let through"}
    promise = _promise(job)
    if broken := _broken(job):
        promised = f"nothing; {'; '.join(broken)}"
    elif promise.definition == "none":
        promised = "nothing"
    else:
        unit = " per unit of distance" if promise.per == "distance" else ""
        each = "token" if _scope(promise) is None else "word, at all its places together"
        promised = f"{promise.definition}, epsilon {promise.epsilon:g}{unit} for each {each}: {promise.which}"
    table = next((file for file in files if file.kind != "txt"), files[0])
    left_out = f"; left out: {', '.join(form.dropped)}" if form.dropped else ""
    return [
        f"documents          {counts.documents:,}, of {counts.tokens:,} tokens",
        f"changed            {share[counts.changed]}",
        f"out of vocabulary  {share[counts.unknown]}, {fate[job.mechanism.oov]}",
        f"not touched        {'; '.join(_untouched(table, form)) or 'nothing'}{left_out}",
        f"promised           {promised}",
    ]


def _promise(job: Job) -> Guarantee:
    """The guarantee of a run: none where the seed is known, or epsilon is a function of the text."""
    promise = job.mechanism.guarantee
    if broken := _broken(job):
        return Guarantee("none", math.inf, None, (*broken, *promise.outside))
    if job.chosen_on is None and promise.definition != "none":
        return replace(promise, outside=(*promise.outside, _NOT_SAID))
    return promise


def _broken(job: Job) -> tuple[str, ...]:
    """The reasons why no guarantee holds of a run, a clause each; empty where it does."""
    return (_SEEDED,) * (job.seed is not None) + (_CHOSEN,) * (job.chosen_on == "this")


def _described(promise: Guarantee, job: Job, file: File, form: Form, counts: Counts) -> dict:
    return {
        "definition": promise.definition,
        "epsilon": _finite(promise.epsilon),
        "epsilon_0": _finite(promise.epsilon_0),
        "per_token": promise.which,
        "per_document": _per_document(promise, counts),
        "outside": "; ".join([*promise.outside, *job.writing.exposed, *_untouched(file, form)]),
    }


def _per_document(promise: Guarantee, counts: Counts) -> str:
    if not math.isfinite(promise.epsilon + promise.epsilon_0):
        return "none"
    if scope := _scope(promise):
        return f"none for places that differ; for words of a {scope} that are renamed, the sum of their bounds"
    if promise.per == "distance":
        return "the sum of the per-token bounds: epsilon times the summed distances, plus epsilon_0 a token"
    return f"epsilon times the tokens that differ: {promise.document(counts.longest):g} for the longest"


def _scope(promise: Guarantee) -> str | None:
    """Return where a word has one draw for all its places; None where each place has its own."""
    return None if promise.adjacency is None else promise.adjacency.scope


def _passed(file: File, form: Form) -> tuple[str, ...]:
    return () if file.kind == "txt" else form.passed or ()


def _untouched(file: File, form: Form) -> tuple[str, ...]:
    if not (names := _passed(file, form)):
        return ()
    what = "fields" if file.kind == "jsonl" else "columns"
    inside = tuple(f"{name}{mark}" for name in names for mark in ".[")
    but = " but for the text in them" if any(text.startswith(inside) for text in form.texts) else ""
    return (f"the {what} {', '.join(names)}, released as they are{but}",)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
