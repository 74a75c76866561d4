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

# Colours: Okabe and Ito's palette and three more, safe for colour-blind readers.
MECHANISMS = Registry(
    "mechanism",
    (
        Entry("random", f"{_HERE}.random:Random", "Random", "#999999", "o"),
        Entry("santext", f"{_HERE}.santext:SanText", "SanText", "#0072B2", "s"),
        Entry("santext+", f"{_HERE}.santext:santext_plus", "SanText+", "#56B4E9", "D"),
        Entry("custext", f"{_HERE}.custext:CusText", "CusText", "#D55E00", "^"),
        Entry("custext+", f"{_HERE}.custext:custext_plus", "CusText+", "#E69F00", "v"),
        Entry("released custext+", f"{_HERE}.custext:released_custext_plus", "CusText+, released", "#E69F00", "<"),
        Entry("fbdd", f"{_HERE}.fbdd:FBDD", "FBDD", "#009E73", "P"),
        Entry("mahalanobis", f"{_HERE}.mahalanobis:Mahalanobis", "Mahalanobis", "#CC79A7", "X"),
        Entry("vickrey", f"{_HERE}.vickrey:Vickrey", "Vickrey", "#7B3294", "*"),
        Entry("tem", f"{_HERE}.tem:TEM", "TEM", "#5B4B00", ">"),
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
