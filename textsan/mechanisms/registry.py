"""The mechanisms by name.

A constructor is called with embeddings, the public vocabulary in order of frequency; with `counts`, word counts
of public text, if it takes them; and with its parameters by name. What it makes needs a channel, no more.

>>> MECHANISMS["santext"].load()
<class 'textsan.mechanisms.santext.SanText'>
"""

from textsan.base.registry import Entry, Registry

_HERE = "textsan.mechanisms"

# Seen on a white and on a dark page; where two share a colour, marker and line tell them apart (`plotting.looks`).
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
        Entry(
            "weighted santext",
            f"{_HERE}.weighted_santext:WeightedSanText",
            "SanText, weighted",
            "#0096e1",
            "*",
            line="-.",
        ),
        Entry(
            "optimal custext",
            f"{_HERE}.optimal_custext:OptimalCusText",
            "CusText, optimal",
            "#d22d1e",
            "d",
            line="-.",
        ),
        Entry(
            "optimal custext+",
            f"{_HERE}.optimal_custext:optimal_custext_plus",
            "CusText+, optimal",
            "#ff3ca5",
            "d",
            line="-.",
        ),
        Entry(
            "context-aware custext",
            f"{_HERE}.context_aware_custext:ContextAwareCusText",
            "CusText, context-aware",
            "#d22d1e",
            "D",
            line="--",
        ),
        Entry("spent", f"{_HERE}.spent:Spent", "Spent", "#1e780f", "+", line="--"),
        Entry("erasure", f"{_HERE}.erasure:Erasure", "Erasure", "#808080", "x", line="--"),
        Entry("clusant", f"{_HERE}.clusant:CluSanT", "CluSanT", "#d22d1e", "h", line=":"),
        Entry("1-diffractor", f"{_HERE}.diffractor:OneDiffractor", "1-Diffractor", "#1e780f", "2", line=":"),
        Entry("rantext", f"{_HERE}.rantext:RanText", "RANTEXT", "#b42d96", "3", line=":"),
        Entry(
            "budgeted santext",
            f"{_HERE}.budgeted:BudgetedSanText",
            "SanText, budgeted",
            "#0096e1",
            "4",
            line=":",
        ),
    ),
)
