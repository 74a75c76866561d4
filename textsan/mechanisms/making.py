"""A mechanism by its name: where sweeps and the command line meet the registry."""

import inspect
from collections.abc import Mapping

from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.registry import MECHANISMS
from textsan.text.embeddings import Embeddings


def make_mechanism(
    name: str, embeddings: Embeddings, /, *, counts: Mapping[str, int] | None = None, **parameters
) -> Mechanism:
    """A mechanism by its name.

    Args:
        name: a key of `MECHANISMS`.
        embeddings: the public vocabulary, in order of frequency.
        counts: word counts of public text, for mechanisms that take them (santext+ calls rare words sensitive);
            None is the order of the vocabulary.
        parameters: the mechanism's own, by name.

    Raises:
        KeyError: unknown name.
        ValueError: a parameter that the mechanism does not have, or one that is missing.

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
    takes_counts = "counts" in inspect.signature(make).parameters
    return make(embeddings, **({"counts": counts} if takes_counts else {}), **parameters)
