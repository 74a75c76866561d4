"""What a release gives away of documents: how many words of each are named, and what its words give away.

The chance that the rule for single words names a word is exact, and words are drawn independently: so the number
of named words of a document has an exact law, whatever was drawn this time.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from textsan.attacks import ATTACKS
from textsan.auditing.attacking import Asked, Hits
from textsan.auditing.material import Material
from textsan.evaluation import clustered_rate
from textsan.leakage import pointwise_leakage

HALF = 0.5
"""The share of its words from which on a document counts as read."""

_WORST = 10  # documents and words that are listed
_BINS = 10
_SHORT = 64  # words whose law is multiplied out one by one


def named_law(chances: np.ndarray) -> np.ndarray:
    """The law of how many of some words are named: Pr(0), Pr(1), .., Pr(n), of independent ones.

    Args:
        chances: (n,) of each.

    >>> named_law(np.array([0.5, 0.5]))
    array([0.25, 0.5 , 0.25])
    """
    if len(chances) > _SHORT:
        half = len(chances) // 2
        law = scipy.signal.fftconvolve(named_law(chances[:half]), named_law(chances[half:]))
        return np.clip(law, 0.0, 1.0)
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law


def exposure(material: Material, chances: np.ndarray, hits: Mapping[Asked, Hits]) -> dict[str, Any]:
    """The expected exposure of each document, its distribution and tail, and the worst documents.

    Args:
        material: what is audited.
        chances: of `words.chances`.
        hits: of `attacking.hits`.

    Returns:
        for json: `documents` with a scored word; `quantiles` and `histogram` of the share of a document's words
        that the rule names in expectation; `read`, the share of documents of which it names at least half, in
        expectation; `measured`, the same share as attacks that are told found it on their documents, by name with
        its interval; `worst`, documents by number (from 0) with their words and expected named ones.
    """
    documents, where = np.unique(material.documents, return_inverse=True)
    sizes = np.bincount(where)
    shares = np.bincount(where, weights=chances) / sizes
    parts = np.split(chances, np.cumsum(sizes)[:-1])  # positions stand in the order of their documents
    read = [float(named_law(part)[int(np.ceil(HALF * len(part))) :].sum()) for part in parts]
    counts, edges = np.histogram(shares, bins=_BINS, range=(0.0, 1.0))
    expected = shares * sizes
    order = np.lexsort((-sizes, -shares))[:_WORST]
    return {
        "documents": len(documents),
        "quantiles": {f"{q:g}": float(np.quantile(shares, q)) for q in (0.5, 0.9, 0.99, 1.0)},
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        "read": float(np.mean(read)),
        "measured": [_measured(material, asked, found) for asked, found in hits.items() if asked.told],
        "worst": [
            {"document": int(documents[at]), "words": int(sizes[at]), "named": float(expected[at])} for at in order
        ],
    }


def _measured(material: Material, asked: Asked, found: Hits) -> dict[str, Any]:
    documents, where = np.unique(material.documents[found.positions], return_inverse=True)
    shares = np.bincount(where, weights=found.hits) / np.bincount(where)
    rate = clustered_rate(shares >= HALF, documents)
    about = {"attack": asked.name, "label": ATTACKS[asked.name].label, "documents": len(documents)}
    return about | {"value": rate.value, "low": rate.low, "high": rate.high}


def composed(material: Material) -> dict[str, Any]:
    """What the guarantee adds up to over the document with most scored words.

    Args:
        material: what is audited.

    Returns:
        for json: `definition`, `epsilon` of a word (null where nothing is promised), `words` of that document,
        `total`, epsilon for all of them (null where it is per distance, or nothing is promised), and `says`.
    """
    promise, words = material.mechanism.guarantee, int(np.bincount(material.documents).max())
    finite = bool(np.isfinite(promise.epsilon + promise.epsilon_0))
    if not finite:
        total, says = None, "Nothing is promised for a word, and so nothing for a document."
    elif promise.per == "distance":
        total = None
        says = f"Epsilon is per unit of distance: over {words:,} words it multiplies the sum of their distances."
    else:
        total = promise.document(words)
        says = (
            f"Over {words:,} words it adds up to {total:g}: a factor of e to the {total:g} between two documents, "
            "where the promise is about each pair of their words."
        )
    epsilon = promise.epsilon if finite else None
    return {"definition": promise.definition, "epsilon": epsilon, "words": words, "total": total, "says": says}


def given_away(material: Material) -> dict[str, Any]:
    """Pointwise leakage of the released words: the factor by which each raises the chance of some guess, at most.

    Args:
        material: what is audited.

    Returns:
        for json: `quantiles` of the factor over the scored positions, and `words`: those that gave most away, as
        released and original with their factor; the original's own factor is 1 / Pr(original), and under plain
        epsilon-DP (no groups, no distance) no factor exceeds e to the epsilon.
    """
    channel = material.mechanism.channel
    outputs = [word for word in dict.fromkeys(material.came) if word in channel.output_index]
    leak = dict(zip(outputs, pointwise_leakage(material.population, channel, outputs), strict=True))
    of = np.array([leak.get(word, np.nan) for word in material.came])
    factors = np.exp(of[np.isfinite(of)])
    if not len(factors):
        return {"quantiles": {}, "words": []}
    pairs = {
        (y, x): float(np.exp(value))
        for y, x, value in zip(material.came, material.truths, of, strict=True)
        if np.isfinite(value)
    }
    best = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_WORST]
    return {
        "quantiles": {f"{q:g}": float(np.quantile(factors, q)) for q in (0.5, 0.9, 0.99, 1.0)},
        "words": [{"released": y, "original": x, "factor": factor} for (y, x), factor in best],
    }
