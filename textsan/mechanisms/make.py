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
    if isinstance(made, Mechanism) and not hasattr(made, "inputs"):
        raise TypeError(f"{type(made).__name__}.__init__ does not call super().__init__(words)")
    return made
