"""Erasure: a coin and a full stop, the baseline that any mechanism must beat."""

from functools import cached_property

import numpy as np
import scipy

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov
from textsan.privacy import Guarantee
from textsan.text.embeddings import Embeddings

STOP = "."


class Erasure(Mechanism):
    """Keep a word with probability q, and write "." otherwise.

    It promises nothing: who sees a word knows that it was there. Its Bayes vulnerability is q + (1 - q) max_x
    Pr(x), if "." is no word of the text.

    Args:
        embeddings: the vocabulary; the vectors are not used.
        q: probability from 0 to 1 that a word is kept.
        oov: what becomes of words outside of the vocabulary: "uniform" writes "." for them, "keep" releases them,
            "error" refuses them.

    >>> Erasure(Embeddings(["a", "b"], [[0.0], [2.0]]), q=0.75).channel.matrix()
    array([[0.75, 0.  , 0.25],
           [0.  , 0.75, 0.25]])
    """

    def __init__(self, embeddings: Embeddings, q: float = 0.5, *, oov: Oov = "uniform"):
        super().__init__(checks.has_words("embeddings", embeddings).words, oov=oov)
        self.embeddings = embeddings
        self.q = checks.number("q", q, 0, 1)

    @cached_property
    def channel(self) -> Channel:
        outputs = self.inputs if STOP in self._index else [*self.inputs, STOP]
        n, stop = len(self.inputs), outputs.index(STOP)
        rows, columns = np.tile(np.arange(n), 2), np.append(np.arange(n), np.full(n, stop))
        entries = np.append(np.full(n, self.q), np.full(n, 1 - self.q))
        matrix = scipy.sparse.coo_array((entries, (rows, columns)), shape=(n, len(outputs)))
        return Channel.from_sparse(matrix.tocsr(), self.inputs, outputs)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee("none", np.inf, None, ("a released word was certainly in the text", *self._outside()))

    @property
    def exposed(self) -> tuple[str, ...]:
        kept = (f"every word, released unchanged with probability {self.q:g}",) if self.q else ()
        return *super().exposed, *kept

    def _uniform_words(self):
        return [STOP]
