"""The mechanisms by name.

A constructor is called with embeddings, the public vocabulary in order of frequency; with `counts`, word counts
of public text, if it takes them; and with its parameters by name. What it makes needs a channel, no more.

>>> MECHANISMS["santext"].load()
<class 'textsan.mechanisms.santext.SanText'>
"""

import inspect
from collections.abc import Mapping

from textsan.mechanisms.base import Mechanism
from textsan.text.embeddings import Embeddings
from textsan.text.registry import Entry, Registry

_HERE = "textsan.mechanisms"

# Seen on a white and on a dark page; where two share a colour, marker and line tell them apart (`report.looks`).
MECHANISMS = Registry(
    "mechanism",
    (
        Entry("random", f"{_HERE}.random:Random", "Random", "#808080", "_", line=":"),
        Entry("santext", f"{_HERE}.santext:SanText", "SanText", "#0096e1", "o"),
        Entry("santext+", f"{_HERE}.santext:santext_plus", "SanText+", "#695ac3", "s", line="--"),
        Entry("custext", f"{_HERE}.custext:CusText", "CusText", "#d22d1e", "^"),
        Entry("custext+", f"{_HERE}.custext:custext_plus", "CusText+", "#ff3ca5", "v", line="--"),
        Entry(
            "released custext+",
            f"{_HERE}.custext:released_custext_plus",
            "CusText+, released",
            "#ff3ca5",
            "1",
            line=":",
        ),
        Entry("fbdd", f"{_HERE}.fbdd:FBDD", "FBDD", "#969600", "D"),
        Entry("mahalanobis", f"{_HERE}.mahalanobis:Mahalanobis", "Mahalanobis", "#b42d96", "P", line="-."),
        Entry("vickrey", f"{_HERE}.vickrey:Vickrey", "Vickrey", "#b400ff", "X", line="--"),
        Entry("tem", f"{_HERE}.tem:TEM", "TEM", "#1e780f", "p", line="-."),
    ),
)


def make_mechanism(
    name: str, embeddings: Embeddings, *, counts: Mapping[str, int] | None = None, **parameters
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
            raise ValueError(
                f"{parameter}: {name} has no such parameter; it has {', '.join(sorted(known)) or 'none'}"
            )
    for parameter, one in known.items():
        if one.default is inspect.Parameter.empty and parameter not in parameters:
            raise ValueError(f"{parameter}: {name} needs one; pass --{parameter} or {parameter}=")
    make = entry.load()
    takes_counts = "counts" in inspect.signature(make).parameters
    return make(embeddings, **({"counts": counts} if takes_counts else {}), **parameters)
