"""Context-aware CusText: the optimum within groups that does not pay for distance with what neighbours tell."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from textsan.base import checks
from textsan.mechanisms.base import Oov
from textsan.mechanisms.context_classes import context_classes
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.optimal_custext import OptimalCusText
from textsan.text.corpora import load_dataset
from textsan.text.embeddings import Embeddings


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
