"""Classes of context: what the groups of a word's neighbours tell of it, in a few questions."""

from collections.abc import Iterable, Sequence

import numpy as np

_ASKED = 40  # groups, the most frequent ones of neighbours, that a question may be about
_SHRUNK = 100.0  # tokens of the prior that are added to those of a class


def context_classes(
    docs: Iterable[Sequence[str]], index: dict[str, int], groups: Sequence[np.ndarray], tables, classes: int
) -> np.ndarray:
    """Pr(x, class) of a vocabulary for classes of context that help the guess most, (classes, V).

    A question is whether the word before, or the word after, is of one group. Which groups those are every
    attacker on CusText knows, whatever epsilon: a released word tells its group. Classes are split one question at
    a time, by that which raises the success sum_k sum_y max_x Pr(x, k) P(y | x) most. A class's words are those of
    public text there, with a hundred tokens of the prior. Groups are disjoint row numbers, which have all words;
    a split is good for their tables P(y | x), (len(group), len(group)).

    >>> docs, index = [["a", "x"], ["b", "y"]] * 99, {word: i for i, word in enumerate("abxy")}
    >>> groups = [np.array([0]), np.array([1]), np.array([2, 3])]
    >>> context_classes(docs, index, groups, [np.eye(1), np.eye(1), np.full((2, 2), 0.5)], 2).shape
    (2, 4)
    """
    of_group = np.empty(len(index), dtype=np.intp)
    for number, group in enumerate(groups):
        of_group[group] = number
    none = len(groups)  # the group of a neighbour that is not there, or unknown
    rows = [[index.get(word.lower(), -1) for word in doc] for doc in docs if len(doc)] or [[-1]]
    word, before, after = (np.concatenate(part) for part in zip(*map(_neighbours, rows), strict=True))
    seen = word >= 0
    word = word[seen]
    sides = [np.where(side[seen] >= 0, of_group[side[seen]], none) for side in (before, after)]
    prior = np.bincount(word, minlength=len(index)) + 1.0
    prior /= prior.sum()
    if not len(word):  # the text says nothing of this vocabulary
        return prior[None]

    def joint(tokens):
        counts = np.bincount(word[tokens], minlength=len(index))
        return len(tokens) / len(word) * (counts + _SHRUNK * prior) / (len(tokens) + _SHRUNK)

    def success(weights):
        pairs = zip(groups, tables, strict=True)
        return sum((weights[group][:, None] * table).max(axis=0).sum() for group, table in pairs)

    parts = [np.arange(len(word))]
    best: list[tuple[float, np.ndarray]] = [_best_question(parts[0], sides, joint, success)]
    while len(parts) < classes:
        split = max(range(len(parts)), key=lambda part: best[part][0])
        gain, yes = best[split]
        if gain <= 0:
            break
        whole = parts.pop(split)
        best.pop(split)
        for part in (whole[yes], whole[~yes]):
            parts.append(part)
            best.append(_best_question(part, sides, joint, success))
    return np.array([joint(part) for part in parts])


def _best_question(tokens, sides, joint, success) -> tuple[float, np.ndarray]:
    """By how much the best question about some tokens raises success, and which of them it is true of."""
    found, whole = (0.0, np.ones(len(tokens), dtype=bool)), success(joint(tokens))
    for side in sides:
        frequent = np.argsort(-np.bincount(side[tokens]), kind="stable")[:_ASKED]
        for group in frequent:
            yes = side[tokens] == group
            if yes.any() and not yes.all():
                gain = success(joint(tokens[yes])) + success(joint(tokens[~yes])) - whole
                if gain > found[0]:
                    found = gain, yes
    return found


def _neighbours(rows: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Each word of a document with those before and after it; -1 is none."""
    return rows, [-1, *rows[:-1]], [*rows[1:], -1]
