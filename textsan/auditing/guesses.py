"""Anybody's guesses, a large language model's say, scored on the positions that our attacks are scored on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textsan.attacks import ATTACKS
from textsan.auditing.attacking import Asked, Hits
from textsan.auditing.material import Material
from textsan.auditing.words import as_row
from textsan.evaluation import clustered_rate


def scored(
    material: Material, guesses: Sequence[tuple[int, int, str]], hits: Mapping[Asked, Hits]
) -> dict[str, Any]:
    """The success of guesses, and of each attack on the same positions.

    Args:
        material: what is audited.
        guesses: document, index of the word in it, both from 0, and the guessed word; a position once.
        hits: of `attacking.hits`.

    Returns:
        for json: `given` guesses, those `elsewhere`, at positions that are not scored, their success with its
        interval, and the rows of `attacks` on the same positions, with how many of these each attacked.

    Raises:
        ValueError: a position twice, one outside of the text, or none that is scored.
    """
    number = {position: at for at, position in enumerate(material.positions)}
    answers: dict[int, str] = {}
    met: set[tuple[int, int]] = set()
    for line, (document, index, word) in enumerate(guesses, start=1):
        if not (0 <= document < len(material.docs) and 0 <= index < len(material.docs[document])):
            what = f"number {line} is at ({document}, {index}), outside of the text"
            raise ValueError(f"guesses: {what}; document and index count from 0")
        if (document, index) in met:
            raise ValueError(f"guesses: number {line} is the second at ({document}, {index}); pass one a position")
        met.add((document, index))
        if (document, index) in number:
            answers[number[document, index]] = word.lower()
    if not answers:
        raise ValueError(
            "guesses: none is at a scored position, a protected word; check how documents are numbered"
        )
    places = np.array(sorted(answers), dtype=np.intp)
    right = np.array([answers[at] == material.truths[at] for at in places.tolist()])
    rows = []
    for asked, found in hits.items():
        inside = np.isin(found.positions, places)
        if inside.any():
            rate = clustered_rate(found.hits[inside], material.documents[found.positions[inside]])
            about = {"attack": asked.name, "label": ATTACKS[asked.name].label, "told": asked.told}
            rows.append(about | {"words": int(inside.sum())} | as_row(rate))
    mine = clustered_rate(right, material.documents[places])
    about = {"given": len(guesses), "elsewhere": len(guesses) - len(answers), "words": len(answers)}
    return about | as_row(mine) | {"attacks": rows}
