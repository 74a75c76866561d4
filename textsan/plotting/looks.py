"""One look for one thing: label, colour, marker and line of every mechanism, attack and role in a figure.

Mechanisms and attacks have theirs in the registries, with all else that is known by their names, and every colour
there is one of `PALETTE`. A colour has one meaning: no mechanism shares one with an attack, but for grey, which is
the floor of both (pure noise, erasure; the words that came out unchanged). Variants of one idea share its colour;
marker and line tell them apart. All have a contrast of at least 3:1 both on white and on the dark page, and stay
apart within their kind for colour-blind readers as far as so narrow a band of brightness allows. Black is ink, for
bounds: the pages draw it in the colour of their text, light or dark.
"""

from dataclasses import dataclass

from textsan.attacks.registry import ATTACKS
from textsan.mechanisms.registry import MECHANISMS

INK, GREY = "#000000", "#808080"
BLUE, INDIGO, RED, PINK = "#0096e1", "#695ac3", "#d22d1e", "#ff3ca5"
GREEN, OLIVE, VIOLET, MAGENTA = "#1e780f", "#969600", "#b400ff", "#b42d96"
# What each colour means: a family of mechanisms, or of attacks.
PALETTE = {
    INK: "bounds, and what others published",
    GREY: "floors: pure noise, erasure, words that came out unchanged, the best blind guess",
    BLUE: "SanText",
    INDIGO: "SanText+",
    RED: "CusText, and other groups of words",
    PINK: "CusText+",
    OLIVE: "FBDD",
    MAGENTA: "Mahalanobis; RANTEXT",
    VIOLET: "Vickrey",
    GREEN: "TEM; mechanisms of ranks",
    "#965a00": "counts of words, read with the channel: the context-free attack",
    "#5a6969": "the same, with the mass of words that were not seen",
    "#c31e5a": "a trained detector: the contextual attack",
    "#969669": "counts of pairs (original, released): empirical inversion",
    "#875a96": "a network trained on such pairs: inversion BERT",
    "#c378b4": "a masked model that has not seen the channel: mask inference",
    "#96783c": "the nearest vector: embedding inversion",
    "#b400c3": "copies: memory",
    "#5aa500": "counts of words that follow words: Markov",
    "#d23cd2": "a masked model and the channel: noisy channel",
    "#4b78ff": "a causal language model: alone, or prompted",
    "#3c4bff": "all of these together: the mixture",
}


@dataclass(frozen=True)
class Look:
    """Colour, marker and line of one thing, wherever it is drawn."""

    label: str
    colour: str
    marker: str
    line: str = "-"


# What stands beside mechanisms and attacks: ceilings, floors, and what others say.
ROLES = {
    "bound": Look("bound", INK, "", "-"),
    "chance": Look("best blind guess", GREY, "", "--"),
    "claim": Look("claimed", GREY, "", ":"),
    "published": Look("published", INK, "*", ":"),
}
# What is neither, in its order: values of a parameter, corpora, rules.
_DRAWN = zip((BLUE, RED, GREEN, VIOLET, OLIVE, PINK), "os^DvP", ("-", "--", "-.", ":", "-", "--"), strict=True)
SERIES = tuple(Look(f"series {number}", *drawn) for number, drawn in enumerate(_DRAWN))


def look(mechanism: str = "", attack: str = "", role: str = "", series: int | None = None) -> Look:
    """The look of a mechanism, an attack, a role or a numbered series.

    Name one of them, or a mechanism with an attack on it: colour and line are then the mechanism's, the marker the
    attack's.

    Args:
        mechanism, attack: names in the registries.
        role: a key of `ROLES`.
        series: number of a thing that is none of these, from 0.

    >>> look(attack="markov").colour == look("santext", "markov").colour
    False
    >>> look("santext", "markov").marker
    '^'
    """
    if sum((bool(mechanism or attack), bool(role), series is not None)) != 1:
        raise ValueError("look: name a mechanism, an attack (or both), or a role, or a series")
    if series is not None:
        if not 0 <= series < len(SERIES):
            raise ValueError(f"series: {series} is not one of 0 to {len(SERIES) - 1}; split the figure")
        return SERIES[series]
    if role:
        if role not in ROLES:
            raise KeyError(f"role: name {role!r} is unknown; known: {', '.join(ROLES)}")
        return ROLES[role]
    if not (mechanism and attack):
        entry = MECHANISMS[mechanism] if mechanism else ATTACKS[attack]
        return Look(entry.label, entry.colour, entry.marker, entry.line)
    on, drawn = MECHANISMS[mechanism], ATTACKS[attack]
    return Look(f"{drawn.label} on {on.label}", on.colour, drawn.marker, on.line)
