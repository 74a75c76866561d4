"""A mechanism by its name: where sweeps, the command line and records of releases meet the registry."""

import hashlib
import inspect
import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path

from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.registry import MECHANISMS
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings


def make_mechanism(
    name: str, embeddings: Embeddings, /, *, counts: Mapping[str, int] | None = None, **parameters
) -> Mechanism:
    """Make a mechanism by its name.

    Args:
        embeddings: the public vocabulary, in order of frequency.
        counts: word counts of public text, for mechanisms that take them (santext+ calls rare words sensitive);
            None is the order of the vocabulary.
        parameters: the mechanism's own, by name.

    Raises:
        KeyError: unknown name.
        ValueError: a parameter that the mechanism does not have, or one that is missing.
        TypeError: what is registered under the name cannot be made: a parameter that nobody can give it, or a
            constructor that does not call that of `Mechanism`.

    >>> make_mechanism("santext+", Embeddings(["the", "cat"], [[0.0], [1.0]]), epsilon=2.0, w=0.5).sensitive
    frozenset({'cat'})
    """
    entry = MECHANISMS[name]
    known = entry.parameters()
    for parameter in parameters:
        if parameter not in known:
            has = ", ".join(sorted(known)) or "none"
            raise ValueError(
                f"{parameter}: {name} has no such parameter, annotated as a number, name or switch; it has {has}"
            )
    for parameter, one in known.items():
        if one.default is inspect.Parameter.empty and parameter not in parameters:
            raise ValueError(f"{parameter}: {name} needs one; pass --{parameter} or {parameter}=")
    make = entry.load()
    takes = list(inspect.signature(make).parameters.values())[1:]
    for one in takes:
        is_needed = one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        if is_needed and one.name not in (*known, "counts"):
            what = f"{one.name}: {name} needs one, and its annotation is no number, name or switch"
            raise TypeError(f"{what}; annotate it, as {one.name}: float, or give it a default")
    takes_counts = any(one.name == "counts" for one in takes)
    made = make(embeddings, **({"counts": counts} if takes_counts else {}), **parameters)
    if hasattr(made, "sanitize") and not hasattr(made, "inputs"):
        raise TypeError(f"{type(made).__name__}.__init__ does not call super().__init__(words)")
    return made


def recorded_parameters(mechanism: Mechanism, name: str, given: dict) -> dict:
    """Return the parameters for the record of a release: those of the registered name, given ones, and its own.

    Word lists are there by their number and hash, the vocabulary not once more.
    """
    known = {parameter: one.default for parameter, one in MECHANISMS[name].parameters().items()}
    values = known | given | mechanism.parameters
    return {
        parameter: _json_value(value)
        for parameter, value in values.items()
        if parameter not in ("embeddings", "device")
    }


def recorded_mechanism(record: str | Path | Mapping, words: Embeddings | None = None) -> Mechanism:
    """Make the mechanism of a release again, by the record beside it.

    Args:
        record: path of the json that `textsan sanitize` wrote, or what it holds.
        words: the public vocabulary, where it was a list of one's own; None loads the most frequent words of the
            vectors that the record names.

    Raises:
        KeyError: a mechanism that is not registered: load its plugin first.
        ValueError: no record, other words than the record's, or parameters that today's code does not have.

    >>> recorded_mechanism({"mechanism": "custext"})
    Traceback (most recent call last):
    ...
    ValueError: record: it has no 'parameters'; pass the json beside a released file
    """
    if not isinstance(record, Mapping):
        try:
            record = json.loads(Path(record).read_text(encoding="utf-8"))
        except ValueError:  # no json, or no text
            raise ValueError(f"record: {record} is no json; pass the one beside a released file") from None
    for key in ("mechanism", "parameters", "embedding"):
        if not isinstance(record, Mapping) or key not in record:
            raise ValueError(f"record: it has no {key!r}; pass the json beside a released file")
    name, recorded, vectors = record["mechanism"], record["parameters"], record["embedding"]
    if name not in MECHANISMS:
        known = ", ".join(MECHANISMS)
        raise KeyError(f"mechanism: {name!r} is not registered; load the plugin that has it; known: {known}")
    if words is None:
        words = load_embeddings(vectors["name"])
        words = words if words.sha256 == vectors["sha256"] else words.frequent(vectors["words"])
    if words.sha256 != vectors["sha256"]:
        frequent = f"the {vectors['words']:,} most frequent words of {vectors['name']}"
        raise ValueError(f"record: its vocabulary is not {frequent}; pass words=, the one it was made with")
    known = MECHANISMS[name].parameters()
    given = {parameter: value for parameter, value in recorded.items() if parameter in known}
    made = make_mechanism(name, words, **given)
    now = recorded_parameters(made, name, given)
    if differ := sorted(key for key in recorded.keys() | now.keys() if recorded.get(key) != now.get(key)):
        raise ValueError(
            f"record: {differ[0]} is not what {name} has now; use the version {record.get('textsan')}"
        )
    return made


def _json_value(value):
    """A parameter for json."""
    if isinstance(value, Embeddings):
        return {"words": len(value.words), "sha256": value.sha256}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Collection):
        digest = hashlib.sha256("\n".join(sorted(map(str, value))).encode()).hexdigest()
        return {"words": len(value), "sha256": digest}
    return type(value).__name__
