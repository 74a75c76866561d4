"""A keyword erased from released vectors: who still reads it, who reads others, what the vectors are good for.

Three parts with no sentence in two of them: the service fits the eraser on its own, attacker and analyst learn on
theirs what the service releases of them, and the third is released. So nothing is fitted to what is measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache

import numpy as np

from textsan.embedding_leakage.erasure import Eraser, NullspaceProjection
from textsan.embedding_leakage.keyword import present
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.models.sentence_vectors import sentence_vectors
from textsan.text.corpora import load_dataset, normalised, private_and_shadow
from textsan_book.studies.experiments import columns, takes_settings
from textsan_book.studies.vector_defences import Part, attacked, is_positive, used
from textsan_book.studies.vectors import View

HEADS = ("linear", "mlp")
"""The attackers: erasing promises something of the one, and nothing of the other."""


def parts(dataset: str, keywords: Sequence[str], n: int, service: int, *, seed: int, **view) -> tuple[Part, ...]:
    """Draw the released sentences, those of attacker and analyst, and the service's own.

    Sentences that hold one of the keywords are all taken, others as far as there is room: `n` for the first part
    and for the second, `service` for the third, on some of which erasers are fitted. `view` is that of
    `sentence_vectors`.
    """
    records = list({normalised(record.text): record for record in load_dataset(dataset, split="all")}.values())
    holds = np.any([present([record.text for record in records], word) for word in keywords], axis=0)
    order = np.random.default_rng(seed).permutation(len(records))
    chosen = [records[i] for i in sorted(order, key=lambda i: not holds[i])[: 2 * n + service]]
    attacked, rest = private_and_shadow(chosen, n, n + service, seed)
    own, third = private_and_shadow(rest, n, service, seed)
    every = [*attacked, *own, *third]
    vectors = _vectors(tuple(record.text for record in every), **view)
    ends = np.split(vectors, [n, 2 * n])
    return tuple(Part(*pair) for pair in zip((attacked, own, third), ends, strict=True))


@lru_cache(maxsize=3)
def _vectors(texts: tuple[str, ...], **view) -> np.ndarray:
    """Encode sentences, once for all cells that share them: what is erased changes none.

    A whole list is remembered, and no single sentence: which sentences share a batch decides the last digits of a
    vector, so that a cell's numbers would hang on the cells that a process made before.
    """
    return sentence_vectors(texts, **view)


def eraser(service: Part, keywords: Sequence[str]) -> Eraser:
    """Fit the eraser of all keywords together to the service's own sentences."""
    return Eraser.fit(service.vectors, np.stack([present(service.texts, word) for word in keywords], axis=1))


@takes_settings
def erasures(
    view: View, *, dataset: str, erased: str, asked: str, n: int, service: int, fitted: int, seed: int
) -> list[dict]:
    """Measure keyword attacks and a sentiment task on vectors from which keywords were erased.

    Keywords `erased`, maybe none, and `asked`, by which the sentences are chosen, have blanks between. The eraser
    is fitted on the first `fitted` of the service's sentences; both other parts are the same whatever that is.
    Rows have in how many of the fitted sentences the keyword is, area and balanced accuracy of the attack,
    accuracy of the analyst and what it is over that on plain vectors, and how far vectors were moved: the mean
    square of the change over their variance.
    """
    plain = parts(dataset, asked.split(), n, service, seed=seed, **asdict(view))
    of = Part(*(column[:fitted] for column in plain[2]))
    change_of = eraser(of, erased.split()) if erased else lambda vectors: vectors
    rows = _rows(plain, change_of, erased.split(), asked.split(), seed)
    return [row | {"fitted_positives": int(present(of.texts, row["keyword"]).sum())} for row in rows]


@takes_settings
def projections(
    view: View, *, dataset: str, erased: str, rounds: int, asked: str, n: int, fitted: int, seed: int
) -> list[dict]:
    """Measure the same where keywords are taken out by so many rounds of iterative nullspace projection.

    All `fitted` sentences of the service are used. Rows also have how many dimensions were taken out.
    """
    plain = parts(dataset, asked.split(), n, fitted, seed=seed, **asdict(view))
    concept = np.stack([present(plain[2].texts, word) for word in erased.split()], axis=1)
    projection = NullspaceProjection.fit(plain[2].vectors, concept, rounds)
    rows = _rows(plain, projection, erased.split(), asked.split(), seed)
    return [row | {"dimensions": projection.dimensions} for row in rows]


def _rows(
    plain: Sequence[Part],
    change_of: Callable[[np.ndarray], np.ndarray],
    erased: Sequence[str],
    asked: Sequence[str],
    seed: int,
) -> list[dict]:
    """Attack and use of the first two parts, changed in this way."""
    released, own = (part._replace(vectors=change_of(part.vectors)) for part in plain[:2])
    right, before = used(released, own, is_positive), used(*plain[:2], is_positive)
    vectors, each = plain[0].vectors, range(len(right))
    moved = np.square(released.vectors - vectors).sum() / np.square(vectors - vectors.mean(axis=0)).sum()
    same = {"moved": float(moved), **columns(clustered_rate(right, each), "utility_")}
    same |= columns(clustered_difference(right.astype(float) - before, each), "over_plain_")
    rows = []
    for word in asked:
        for head in HEADS:
            score = attacked(released, own, word, head, seed=seed)
            row = {"keyword": word, "head": head, "is_erased": word in erased, "positives": score.positives}
            rows.append(row | columns(score.auc) | columns(score.balanced, "balanced_") | same)
    return rows
