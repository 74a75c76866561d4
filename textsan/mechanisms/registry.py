"""The mechanisms by name.

A constructor is called with embeddings, the public vocabulary in order of frequency; with `counts`, word counts
of public text, if it takes them; and with its parameters by name. What it makes needs a channel, no more.

>>> MECHANISMS["santext"].load()
<class 'textsan.mechanisms.santext.SanText'>
"""

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
