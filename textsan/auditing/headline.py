"""The figures that a report begins with: all of one comparison, so all of the same words.

Some attacks are made on all documents and some on a sample. Which attack is strongest is seen where all of them
were made; what came through unchanged, and what a blind guess names, is counted where that attack was made.
"""

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from textsan.attacks import ATTACKS
from textsan.auditing.attacking import Asked, Hits
from textsan.auditing.material import Material
from textsan.auditing.words import as_row
from textsan.evaluation import clustered_rate


def headline(material: Material, hits: Mapping[Asked, Hits]) -> dict[str, Any]:
    """The strongest attack that is told, and beside it, on the same words, what needs no attack.

    Args:
        material: what was attacked.
        hits: of `attacking.hits`, "unchanged" among them.

    Returns:
        for json: attack, label, documents, words, value, low, high; `unchanged`, the share that came through; and
        `blind`, the share of the most frequent of these words.
    """
    told = {asked: found for asked, found in hits.items() if asked.told}
    common = reduce(np.intersect1d, [found.positions for found in told.values()])
    best = max(told, key=lambda asked: _on(told[asked], common).mean())
    positions, where = told[best].positions, material.documents[told[best].positions]
    most = Counter(material.truths[at] for at in positions).most_common(1)[0][1]
    return {
        "attack": best.name,
        "label": ATTACKS[best.name].label,
        "documents": len(np.unique(where)),
        "words": len(positions),
        **as_row(clustered_rate(told[best].hits, where)),
        "unchanged": float(_on(told[Asked("unchanged", True)], positions).mean()),
        "blind": most / len(positions),
    }


def _on(found: Hits, positions: np.ndarray) -> np.ndarray:
    """The hits at some positions."""
    return found.hits[np.isin(found.positions, positions)]
