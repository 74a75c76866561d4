"""Scores of recovered sentences: ROUGE, and exact recovery of pieces."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from textsan.gradient_leakage.cases import Case

ROUGES = ("rouge1", "rouge2", "rougeL")


def rouge(reference: str, recovered: str) -> dict[str, float]:
    """Compute F-measures of ROUGE-1, ROUGE-2 and ROUGE-L, from 0 to 1, by `rouge-score` without stemming.

    >>> round(rouge("a good film", "good film")["rouge1"], 3)
    0.8
    """
    from rouge_score.rouge_scorer import RougeScorer

    found = RougeScorer(list(ROUGES)).score(reference, recovered)
    return {name: found[name].fmeasure for name in ROUGES}


def oracle_match(references: Sequence[str], recovered: Sequence[str]) -> list[int]:
    """Assign a recovered sentence to each of as many references, with the largest sum of ROUGE-1.

    An oracle, as in LAMP: only who has the references can make it, and no attacker can.

    >>> oracle_match(["a film", "no dog"], ["dog", "film"])
    [1, 0]
    """
    table = np.array([[rouge(one, other)["rouge1"] for other in recovered] for one in references])
    return linear_sum_assignment(-table)[1].tolist()


def score(case: Case, sentences: Sequence[Sequence[int]]) -> list[dict]:
    """Score what an attack recovered of a case, one row a sentence.

    Returns:
        rows with `rouge1`, `rouge2`, `rougeL` (without special pieces: the number), `rouge1 with specials` and so
        on (as LAMP's code counts: [CLS] and [SEP] are part of both, so that a five-word sentence that is entirely
        wrong scores 0.286), `exact` (share of pieces at their positions, special ones apart), `reference`
        and `recovered`.
    """
    victim, truth = case.shared.victim, case.sentences
    match = oracle_match(case.texts, [victim.decode(one) for one in sentences])
    rows = []
    for reference, which in zip(truth, match, strict=True):
        found = list(sentences[which])
        texts = victim.decode(reference), victim.decode(found)
        with_special = (victim.decode(one, special=True) for one in (reference, found))
        row: dict[str, Any] = dict(rouge(*texts))
        row |= {f"{name} with specials": value for name, value in rouge(*with_special).items()}
        hits = [piece == other for piece, other in zip(reference[1:-1], found[1:-1], strict=False)]
        exact = sum(hits) / max(len(reference) - 2, 1)
        row |= {"exact": exact, "reference": texts[0], "recovered": texts[1]}
        rows.append(row)
    return rows
