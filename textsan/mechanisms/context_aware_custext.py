"""Context-aware CusText: the optimum within groups that does not pay for distance with what neighbours tell."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from textsan.base import checks
from textsan.mechanisms.base import Oov
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.optimal_custext import OptimalCusText
from textsan.text.corpora import load_dataset
from textsan.text.embeddings import Embeddings

_ASKED = 40  # groups, the most frequent ones of neighbours, that a question may be about
_SHRUNK = 100.0  # tokens of the prior that are added to those of a class


class ContextAwareCusText(OptimalCusText):
    """Optimal within CusText's groups, with the success of a guess that knows a class of the neighbours bounded.

    The promise is CusText's, epsilon-DP of two words of one group. Beside it the linear programme bounds
    sum_k sum_y max_x Pr(x, k) P(y | x), the success of the best guess of an attacker who knows which of some
    classes k the unsanitized neighbours are in (`context_classes`, from public text). *That binds attackers who
    know at most the class*, under the public source. One who knows a finer context may succeed more often: with
    neighbours C, not more than the bound plus the mean total variation between Pr(x | C) and Pr(x | k).

    Args:
        embeddings, epsilon, k, similarity, keep, oov, numbers: as for `OptimalCusText`.
        docs: public text, token lists; None takes `public`.
        public: data set whose training text is public.
        classes: of context, at least 1.
        success: the largest success of the guess that knows the class; None is what it has under CusText of the
            same epsilon.

    Raises:
        ValueError: an argument out of range, or a success rate below what groups and classes alone give away.

    >>> words, docs = Embeddings(list("abxy"), [[0.0], [1.0], [9.0], [8.0]]), [["a", "x"], ["b", "y"]] * 99
    >>> ContextAwareCusText(words, 1.0, docs=docs, k=2).guarantee.definition
    'DP within groups'
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        docs: Iterable[Sequence[str]] | None = None,
        public: str = "prose",
        classes: int = 6,
        k: int = 20,
        similarity: Literal["euclidean", "cosine"] = "euclidean",
        success: float | None = None,
        keep: Iterable[str] = (),
        oov: Oov = "uniform",
        numbers: Literal["keep", "jitter"] | None = None,
    ):
        given: dict[str, Any] = {"k": k, "similarity": similarity, "success": success}
        super().__init__(embeddings, epsilon, keep=keep, oov=oov, numbers=numbers, **given)
        self.docs = None if docs is None else checks.documents("docs", docs)
        self.public, self.classes = public, checks.whole("classes", classes, low=1)

    @cached_property
    def joints(self) -> np.ndarray:
        """Pr(x, class) of the words that are not kept, (classes, V), summing to one."""
        docs = self.docs
        if docs is None:
            docs = [record.tokens for record in load_dataset(self.public, split="train")]
        joints = context_classes(docs, self._index, self.groups, self._custext_tables, self.classes)
        joints = joints * np.array([word not in self.keep for word in self.inputs])
        return joints / joints.sum() if joints.sum() > 0 else joints

    @cached_property
    def prior(self) -> np.ndarray:
        """The public prior, (V,): that of the classes together."""
        return self.joints.sum(axis=0)

    @property
    def _allowed(self) -> float:
        """The success that was asked for, or that under CusText."""
        if self.success is not None:
            return self.success
        return self._taken(np.concatenate([table.ravel() for table in self._custext_tables]))[0]

    @cached_property
    def _custext_tables(self) -> list[np.ndarray]:
        """CusText's tables of the same groups and epsilon."""
        given: dict[str, Any] = {"k": self.k, "similarity": self.similarity}
        custext = CusText(self.embeddings, self.epsilon, **given).channel
        words = [[self.inputs[word] for word in group] for group in self.groups]
        return [custext.rows(of)[:, group] for of, group in zip(words, self.groups, strict=True)]


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
