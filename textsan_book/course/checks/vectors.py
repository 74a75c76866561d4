"""Checks on vectors: is a keyword in the text that a vector stands for? Scores, and how they are judged."""

import numpy as np

from textsan_book.course.checks.saying import array, close, number


def auc_is_right(auc, *, seed: int) -> None:
    """The share of pairs (with, without) that the scores order rightly, ties as a half, pair by pair."""
    generator = np.random.default_rng([seed, 1])
    for n in (6, 25):
        scores = np.round(generator.normal(size=n), 1).tolist()
        has = [True, False, *(bool(flag) for flag in generator.random(n - 2) < 0.4)]
        wanted = _pairwise(np.array(scores), np.array(has))
        value = number(auc(scores, has), "auc(scores, has)")
        close(value, wanted, "count the pairs that are ordered rightly, ties as one half")


def auc_has_its_ends(auc, *, seed: int) -> None:
    """1 for a perfect order, 0 for the opposite, one half where all scores are alike."""
    has = [True, True, False, False, False]
    for scores, wanted in (([5, 4, 3, 2, 1], 1), ([1, 2, 3, 4, 5], 0), ([2, 2, 2, 2, 2], 0.5)):
        close(number(auc(scores, has), "auc"), wanted, f"scores {scores} order {wanted} of all pairs rightly")


def _planted(seed: int, stream: int, *, strength: float):
    """Vectors of texts with and without a keyword, in a space where some directions are much wider than others."""
    generator = np.random.default_rng([seed, stream])
    mixing = generator.normal(size=(12, 12)) * np.geomspace(8, 0.4, 12)
    keyword = generator.normal(size=12) * strength
    has = generator.random(400) < 0.4
    return generator.normal(size=(400, 12)) @ mixing.T + has[:, None] * keyword, has


def _pairwise(scores, has) -> float:
    with_, without = scores[has], scores[~has]
    return float((with_[:, None] > without).mean() + (with_[:, None] == without).mean() / 2)


def _auc_of(attack, seed: int, stream: int, strength: float) -> float:
    vectors, has = _planted(seed, stream, strength=strength)
    scores = array(attack(vectors[:200], has[:200].tolist(), vectors[200:]), (200,), "attack(known, has, others)")
    return _pairwise(scores, has[200:])


def keyword_is_found(attack, *, seed: int) -> None:
    """A keyword that moves vectors is found in texts that the attack has not seen."""
    for stream in (2, 3):
        area = _auc_of(attack, seed, stream, 2.0)
        assert area > 0.8, f"a planted keyword gives an AUC of {area:.2f}, 0.8 is wanted: learn from known texts"


def spread_is_used(attack, *, seed: int) -> None:
    """Directions in which all texts differ must count less: the difference of means alone does not do."""
    area = np.mean([_auc_of(attack, seed, stream, 0.8) for stream in (4, 5, 6)])
    assert area > 0.84, (
        f"a faint keyword gives an AUC of {area:.2f}: a direction in which texts differ anyway must count less"
    )


def nothing_is_not_found(attack, *, seed: int) -> None:
    """The AUC is about one half where the keyword does not move vectors: a blind baseline."""
    area = np.mean([_auc_of(attack, seed, stream, 0.0) for stream in range(7, 15)])
    assert abs(area - 0.5) < 0.07, f"without any trace of the keyword the AUC is {area:.2f}: what does it read?"
