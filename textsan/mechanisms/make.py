"""A mechanism by its name: where sweeps, the command line and records of releases meet the registry."""

import hashlib
import inspect
import json
import math
from collections.abc import Collection, Iterable, Mapping
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
        parameters: the mechanism's own, by name: numbers, names, switches, and lists of words.

    Raises:
        KeyError: unknown name.
        ValueError: a parameter that the mechanism does not have, or one that is missing.
        TypeError: what is registered under the name cannot be made: a parameter that nobody can give it, or a
            constructor that does not call that of `Mechanism`.

    >>> make_mechanism("santext+", Embeddings(["the", "cat"], [[0.0], [1.0]]), epsilon=2.0, w=0.5).sensitive
    frozenset({'cat'})
    """
    entry = MECHANISMS[name]
    lists = entry.word_lists()
    known = entry.parameters() | lists
    for parameter, value in parameters.items():
        if parameter not in known:
            has = ", ".join(sorted(known)) or "none"
            kinds = "annotated as a number, name, switch or list of words"
            raise ValueError(f"{parameter}: {name} has no such parameter, {kinds}; it has {has}")
        if parameter in lists and isinstance(value, Iterable) and not isinstance(value, str):
            parameters[parameter] = tuple(value)  # which can be read twice
    for parameter, one in known.items():
        if one.default is inspect.Parameter.empty and parameter not in parameters:
            raise ValueError(f"{parameter}: {name} needs one; pass --{parameter} or {parameter}=")
    make = entry.load()
    takes = list(inspect.signature(make).parameters.values())[1:]
    for one in takes:
        is_needed = one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        if is_needed and one.name not in (*known, "counts"):
            what = f"{one.name}: {name} needs one, and its annotation is no number, name, switch or list of words"
            raise TypeError(f"{what}; annotate it, as {one.name}: float, or give it a default")
    takes_counts = any(one.name == "counts" for one in takes)
    made = make(embeddings, **({"counts": counts} if takes_counts else {}), **parameters)
    if hasattr(made, "sanitize") and not hasattr(made, "inputs"):
        raise TypeError(f"{type(made).__name__}.__init__ does not call super().__init__(words)")
    if isinstance(made, Mechanism) and counts is None:  # of which no record could say what they are
        made.recipe = name, embeddings, parameters
    return made


def recipe_of(mechanism: Mechanism) -> tuple[str, Embeddings, dict]:
    """Return the name, the vocabulary and the parameters with which `make_mechanism` makes a mechanism.

    One that was made with counts is refused: no record could name what makes it again.

    >>> from textsan import CusText
    >>> recipe_of(CusText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon=1.0, k=2))[0]
    'custext'
    """
    if mechanism.recipe:
        return mechanism.recipe
    own = mechanism.parameters
    for name, entry in MECHANISMS.items():
        known = entry.parameters() | entry.word_lists()
        if entry.load() is type(mechanism) and own.keys() >= {*known, "embeddings"}:
            made = make_mechanism(name, own["embeddings"], **{parameter: own[parameter] for parameter in known})
            if made.recipe and made.parameters == own:
                return made.recipe
    what = f"mechanism: no name and parameters are known that make this {type(mechanism).__name__} again"
    raise ValueError(f"{what}; make it with make_mechanism(name, words, ...), without counts")


def recorded_parameters(mechanism: Mechanism, name: str, given: dict) -> dict:
    """Return the parameters for the record of a release: those of the registered name, given ones, and its own.

    Word lists are there by their number and hash, the vocabulary not once more. A list that was given has no hash,
    by which a short one could be guessed; but for `keep`, whose words are public where they are used.
    """
    entry = MECHANISMS[name]
    known = {parameter: one.default for parameter, one in entry.parameters().items()}
    values = known | given | mechanism.parameters
    private = {one for one in entry.word_lists() if one != "keep" and given.get(one) is not None}
    return {
        parameter: {"words": len(set(given[parameter]))} if parameter in private else _json_value(value)
        for parameter, value in values.items()
        if parameter not in ("embeddings", "device")
    }


def recorded_mechanism(
    record: str | Path | Mapping, words: Embeddings | Collection[str] | None = None, **lists: Collection[str]
) -> Mechanism:
    """Make the mechanism of a release again, by the record beside it.

    Args:
        record: path of the json that `textsan sanitize` wrote, or what it holds.
        words: the public vocabulary, or its words, where it was a list of one's own; None loads the most frequent
            words of the vectors that the record names.
        lists: the lists of words that it was given, `keep` say; of any but that one the record has the number
            alone, so that another list of as many words passes.

    Raises:
        KeyError: a mechanism that is not registered: load its plugin first.
        ValueError: no record, other words or lists than the record's, or parameters that today's code does not
            have.

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
    taken = "this one"
    if words is None:
        words = load_embeddings(vectors["name"])
        if words.sha256 != vectors["sha256"]:
            words = words.frequent(vectors["words"])
            taken = f"the {vectors['words']:,} most frequent words of {vectors['name']}"
    elif not isinstance(words, Embeddings):
        words = load_embeddings(vectors["name"]).restrict(words)
    if words.sha256 != vectors["sha256"]:
        way = "pass --vocabulary FILE, or words=, the one it was made with"
        raise ValueError(f"record: its vocabulary is not {taken}; {way}")
    entry = MECHANISMS[name]
    given = {parameter: value for parameter, value in recorded.items() if parameter in entry.parameters()} | lists
    made = make_mechanism(name, words, **given)
    now = recorded_parameters(made, name, given)
    if differ := sorted(key for key in recorded.keys() | now.keys() if recorded.get(key) != now.get(key)):
        way = f"use the version {record.get('textsan')}"
        if differ[0] in entry.word_lists():
            way = f"pass --{differ[0]} FILE, or {differ[0]}=, the list it was made with, or {way}"
        raise ValueError(f"record: {differ[0]} is not what {name} has now; {way}")
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
