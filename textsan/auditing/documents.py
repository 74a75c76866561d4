"""Measure what a release gives away of documents: how many words of each are named, and what its words give away.

The chance that the rule for single words names a word is exact, and words are drawn independently: so the number
of named words of a document has an exact law, whatever was drawn this time. Each function but that law returns a
part of the json; `audit.schema.json` says what its fields are.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from textsan.auditing.attacking import Attacker, Attacks, Hits
from textsan.auditing.material import Material
from textsan.evaluation import clustered_rate
from textsan.leakage import pointwise_leakage

HALF = 0.5
"""The share of its words from which on a document counts as read."""

_WORST = 10  # documents and words that are listed
_BINS = 10
_SHORT = 64  # words whose law is multiplied out one by one
_SHOWN, _READ = 40, 5  # tokens of the document that is shown, at most, and scored words, at least


def named_law(chances: np.ndarray) -> np.ndarray:
    """Compute Pr(0), Pr(1), .., Pr(n) words named, of n independent words with these chances.

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


def exposure(
    material: Material, chances: np.ndarray, hits: Mapping[Attacker, Hits], owners: np.ndarray | None = None
) -> dict[str, Any]:
    """Compute the expected exposure of each document, its distribution and tail, and the worst documents.

    Where `owners` has the first document of the same person for each document, exposure is that of persons.
    """
    owners = np.arange(len(material.docs)) if owners is None else owners
    documents, where = np.unique(owners[material.documents], return_inverse=True)
    sizes = np.bincount(where)
    shares = np.bincount(where, weights=chances) / sizes
    parts = np.split(chances[np.argsort(where, kind="stable")], np.cumsum(sizes)[:-1])
    read = [float(named_law(part)[int(np.ceil(HALF * len(part))) :].sum()) for part in parts]
    counts, edges = np.histogram(shares, bins=_BINS, range=(0.0, 1.0))
    order = np.lexsort((-sizes, -shares))[:_WORST]
    columns = (column[order].tolist() for column in (documents, sizes, shares))
    return {
        "documents": len(documents),
        "quantiles": _quantiles(shares),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        "read": float(np.mean(read)),
        "measured": [_measured(material, owners, *one) for one in hits.items() if one[0].told],
        "worst": [
            {"document": material.rows[document], "words": words, "named": share * words}
            for document, words, share in zip(*columns, strict=True)
        ],
    }


def _quantiles(values: np.ndarray) -> dict[str, float]:
    return {f"{q:g}": float(np.quantile(values, q)) for q in (0.5, 0.9, 0.99, 1.0)}


def _measured(material: Material, owners: np.ndarray, attacker: Attacker, made: Hits) -> dict[str, Any]:
    documents, where = np.unique(owners[material.documents[made.positions]], return_inverse=True)
    shares = np.bincount(where, weights=made.hits) / np.bincount(where)
    about = {"attack": attacker.name, "label": attacker.label, "owns": attacker.owns, "documents": len(documents)}
    return about | clustered_rate(shares >= HALF, documents)._asdict()


def composed(material: Material) -> dict[str, Any]:
    """Compute what the guarantee adds up to over the document with most scored words."""
    promise, words = material.mechanism.guarantee, int(np.bincount(material.documents).max())
    finite = bool(np.isfinite(promise.epsilon + promise.epsilon_0))
    total = None
    if not finite:
        says = "Nothing is promised for a word, and so nothing for a document."
    elif promise.per == "distance":
        says = f"Epsilon is per unit of distance: over {words:,} words it multiplies the sum of their distances."
    else:
        total = promise.document(words)
        says = (
            f"Over {words:,} words, the most of a document, epsilon adds up to {total:g}: a factor of e to the "
            f"{total:g} between two documents, where the promise is about each pair of their words."
        )
    epsilon = promise.epsilon if finite else None
    return {"definition": promise.definition, "epsilon": epsilon, "words": words, "total": total, "says": says}


def given_away(material: Material) -> dict[str, Any]:
    """Compute the pointwise leakage of the released words: the most by which each raises the chance of any guess.

    The factor of the original itself is 1 / Pr(original), and under plain epsilon-DP (no groups, no distance) none
    exceeds e to the epsilon.
    """
    channel = material.mechanism.channel
    outputs = [word for word in dict.fromkeys(material.outputs) if word in channel.output_index]
    leakage = dict(zip(outputs, pointwise_leakage(material.population, channel, outputs), strict=True))
    logs = np.array([leakage.get(word, np.nan) for word in material.outputs])
    if not np.isfinite(logs).any():
        return {"quantiles": {}, "words": []}
    pairs = {
        (y, x): float(np.exp(value))
        for y, x, value in zip(material.outputs, material.truths, logs, strict=True)
        if np.isfinite(value)
    }
    worst = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_WORST]
    return {
        "quantiles": _quantiles(np.exp(logs[np.isfinite(logs)])),
        "words": [{"released": y, "original": x, "factor": factor} for (y, x), factor in worst],
    }


def example(
    material: Material, first: Mapping[str, Any], hits: Mapping[Attacker, Hits], attacks: Mapping[str, Attacks]
) -> dict[str, Any]:
    """Return a document before, after, and as the strongest attack reads it: about as much of it as of all."""
    attacker = Attacker(first["attack"], True, first["owns"])
    made = hits[attacker]
    documents, where = np.unique(material.documents[made.positions], return_inverse=True)
    sizes = np.bincount(where)
    gaps = np.abs(np.bincount(where, weights=made.hits) / sizes - first["value"])
    lengths = np.array([len(material.docs[document]) for document in documents])
    document = int(documents[np.lexsort((lengths, gaps, lengths > _SHOWN, sizes < _READ))[0]])
    scored = [i for d, i in material.positions if d == document and i < _SHOWN]
    attack = attacks[attacker.owns].attack(attacker)
    return {
        "document": material.rows[document],
        "attack": first["label"],
        "before": material.docs[document][:_SHOWN],
        "after": list(material.released[document][:_SHOWN]),
        "scored": scored,
        "read": list(attack.reconstruct([material.released[document]], [(0, i) for i in scored])),
        "cut": len(material.docs[document]) > _SHOWN,
    }
