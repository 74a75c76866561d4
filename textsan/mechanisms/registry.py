"""The mechanisms by name.

A constructor is called with embeddings, the public vocabulary in order of frequency; with `counts`, word counts
of public text, if it takes them; and with its parameters by name. What it makes needs a channel, no more.

>>> MECHANISMS["santext"].load()
<class 'textsan.mechanisms.santext.SanText'>
"""

from textsan.base.registry import Entry, Registry


def _entry(name: str, where: str, label: str, colour: str, marker: str, line: str = "-") -> Entry:
    return Entry(name, f"textsan.mechanisms.{where}", label, colour, marker, line=line)


_OPTIMAL, _AWARE = "optimal_custext", "context_aware_custext:ContextAwareCusText"
# Seen on a white and on a dark page; where two share a colour, marker and line tell them apart (`plotting.looks`).
MECHANISMS = Registry(
    "mechanism",
    (
        _entry("random", "random:Random", "Random", "#808080", "_", ":"),
        _entry("santext", "santext:SanText", "SanText", "#0096e1", "o"),
        _entry("santext+", "santext:santext_plus", "SanText+", "#695ac3", "s", "--"),
        _entry("custext", "custext:CusText", "CusText", "#d22d1e", "^"),
        _entry("custext+", "custext:custext_plus", "CusText+", "#ff3ca5", "v", "--"),
        _entry("released custext+", "custext:released_custext_plus", "CusText+, released", "#ff3ca5", "1", ":"),
        _entry("fbdd", "fbdd:FBDD", "FBDD", "#969600", "D"),
        _entry("mahalanobis", "mahalanobis:Mahalanobis", "Mahalanobis", "#b42d96", "P", "-."),
        _entry("vickrey", "vickrey:Vickrey", "Vickrey", "#b400ff", "X", "--"),
        _entry("tem", "tem:TEM", "TEM", "#1e780f", "p", "-."),
        _entry("weighted santext", "weighted_santext:WeightedSanText", "SanText, weighted", "#0096e1", "*", "-."),
        _entry("optimal custext", f"{_OPTIMAL}:OptimalCusText", "CusText, optimal", "#d22d1e", "d", "-."),
        _entry("optimal custext+", f"{_OPTIMAL}:optimal_custext_plus", "CusText+, optimal", "#ff3ca5", "d", "-."),
        _entry("context-aware custext", _AWARE, "CusText, context-aware", "#d22d1e", "D", "--"),
        _entry("spent", "spent:Spent", "Spent", "#1e780f", "+", "--"),
        _entry("erasure", "erasure:Erasure", "Erasure", "#808080", "x", "--"),
        _entry("clusant", "clusant:CluSanT", "CluSanT", "#d22d1e", "h", ":"),
        _entry("1-diffractor", "diffractor:OneDiffractor", "1-Diffractor", "#1e780f", "2", ":"),
        _entry("rantext", "rantext:RanText", "RANTEXT", "#b42d96", "3", ":"),
        _entry("memoized", "memoized:memoized", "Memoized", "#d22d1e", "8", ":"),
        _entry("budgeted santext", "budgeted:BudgetedSanText", "SanText, budgeted", "#0096e1", "4", ":"),
    ),
)
