"""Embedding inversion: the word whose vector is nearest to the released one (a baseline of Tong et al. 2024)."""

import numpy as np

from textsan.attacks.base import Attack
from textsan.attacks.knowledge import Knowledge
from textsan.base.blocks import map_blocks
from textsan.text.embeddings import Embeddings, euclidean


class EmbeddingInversion(Attack):
    """Guesses argmin_x d(x, y), d the Euclidean distance of word vectors; ties go to the earlier word.

    The released word is a candidate, at distance 0, so that the attack answers y itself: its success rate is the
    share of words that the mechanism left unchanged. With `exclude_itself` it answers the nearest other word,
    right only where the word was replaced. A word without a vector is guessed to be itself.

    Args:
        exclude_itself: whether y is barred as an answer.

    >>> line = Embeddings(["a", "b", "c"], [[0.0], [1.0], [5.0]])
    >>> EmbeddingInversion(line, exclude_itself=True).reconstruct([["a", "c"]], [(0, 0), (0, 1)])
    ['b', 'b']
    """

    def __init__(self, embeddings: Embeddings, exclude_itself: bool = False):
        if exclude_itself and len(embeddings) < 2:
            raise ValueError("embeddings: 1 word, and itself is excluded; pass at least two words")
        self.embeddings, self.exclude_itself = embeddings, exclude_itself

    @classmethod
    def against(cls, knowledge: Knowledge, *, exclude_itself: bool = False) -> "EmbeddingInversion":
        """Make the attack with the public word vectors: the resource "embeddings", or those of the mechanism."""
        vectors = knowledge.resources.get("embeddings") or getattr(knowledge.mechanism, "embeddings", None)
        if vectors is None:
            raise ValueError("resources: this attack needs word vectors; pass resources={'embeddings': ...}")
        return cls(vectors, exclude_itself)

    def _guess(self, docs, positions):
        words, vectors = self.embeddings.words, self.embeddings.vectors
        released = [docs[document][index] for document, index in positions]
        seen = [word for word in dict.fromkeys(released) if word in self.embeddings]

        def block(rows):
            distances = euclidean(vectors[rows], vectors)
            # A word is its own nearest, whatever duplicates it has; or the farthest, where it is barred.
            distances[np.arange(len(rows)), rows] = np.inf if self.exclude_itself else -1.0
            return distances.argmin(axis=1)

        nearest = (row for part in map_blocks(block, self.embeddings.rows(seen)) for row in part)
        guess = {word: words[row] for word, row in zip(seen, nearest, strict=True)}
        return [guess.get(word, word) for word in released]
