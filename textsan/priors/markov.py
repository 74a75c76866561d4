"""A word language model of the first order: the prior of an attacker who reads whole sentences.

Pr(x_1 .. x_n) = initial[x_1] prod_t A[x_{t-1}, x_t], and A = seen + backoff_weight (x) backoff: a sparse matrix of
what seen bigrams get beyond the backoff, plus rank one. A product with A costs the seen bigrams and the
vocabulary, never its square.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy

from textsan.base import checks

_HORIZON = 100  # positions over which `from_arrays` averages the word frequencies


class MarkovModel:
    """A Markov source of words. Build one with `from_arrays` or `fit`.

    Attributes:
        words: the states, n of them.
        initial: (n,) Pr(x_1).
        seen: (n, n) sparse; what A has beyond the backoff.
        backoff_weight: (n,) mass that each row leaves to the backoff.
        backoff: (n,) distribution that unseen bigrams share.
        unigram: (n,) frequency of each word at a random position.
        lengths: lengths of the sentences the model was fitted on, if any.

    >>> MarkovModel.from_arrays("ab", initial=[1, 0], transition=[[0, 1], [1, 0]]).sample(1, seed=0, length=3)
    [['a', 'b', 'a']]
    """

    def __init__(self, words, initial, seen, backoff_weight, backoff, unigram, lengths=()):
        self.words = list(words)
        self.initial, self.seen = initial, seen
        self.backoff_weight, self.backoff, self.unigram = backoff_weight, backoff, unigram
        self.lengths = np.asarray(lengths, dtype=np.intp)

    def __repr__(self) -> str:
        return f"MarkovModel({len(self.words)} words, {self.seen.nnz} bigrams)"

    @cached_property
    def index(self) -> dict[str, int]:
        """Number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    @classmethod
    def from_arrays(cls, words: Iterable[str], initial, transition, unigram=None) -> "MarkovModel":
        """Make a source with known parameters.

        Args:
            initial: (n,) probabilities of the first word.
            transition: (n, n) matrix, dense or sparse; row x is Pr(. | x).
            unigram: (n,) word frequencies; None averages over the first 100 positions of a sentence.
        """
        words, initial = list(words), np.array(initial, dtype=np.float64)
        seen = scipy.sparse.csr_array(transition, dtype=np.float64)
        n = len(words)
        if len(set(words)) != n:
            raise ValueError("words: a word occurs more than once; pass distinct words")
        if initial.shape != (n,) or seen.shape != (n, n):
            raise ValueError(f"transition: shapes {initial.shape} and {seen.shape} do not fit {n} words")
        for name, values, sums in (
            ("initial", initial, initial.sum()),
            ("transition", seen.data, seen.sum(axis=1)),
        ):
            if not (values >= 0).all() or not (np.abs(sums - 1) <= 1e-9).all():
                raise ValueError(f"{name}: pass probabilities of at least 0 whose rows sum to 1")
        seen.eliminate_zeros()
        model = cls(words, initial, seen, np.zeros(n), np.full(n, 1 / n), None)
        if unigram is None:
            marginals = list(model.marginals(_HORIZON))
            unigram = np.mean(marginals, axis=0)
            if abs(unigram.sum() - 1) > 1e-9:  # a hundred steps of rows that are rounded
                unigram /= unigram.sum()
        model.unigram = np.array(unigram, dtype=np.float64)
        is_one = abs(model.unigram.sum() - 1) <= 1e-9 and (model.unigram >= 0).all()
        if model.unigram.shape != (n,) or not is_one:
            raise ValueError(f"unigram: pass {n} probabilities that sum to 1")
        return model

    @classmethod
    def fit(cls, corpus: Iterable[Sequence[str]], words: Iterable[str] = ()) -> "MarkovModel":
        """Interpolated Kneser-Ney bigrams (Ney, Essen and Kneser 1994; Chen and Goodman 1999, Section 2.7).

        Pr(x' | x) = max(c(x, x') - D, 0) / c(x, .) + D N(x, .) / c(x, .) u(x'), where N counts distinct bigrams,
        u is the same formula one order down, over numbers of distinct left neighbours and with uniform
        backoff, and D = (n_1 + 1/2) / (n_1 + 2 n_2 + 1) from the numbers of items seen once and twice (published
        is n_1 / (n_1 + 2 n_2), which may be 0 or 1). The start of a sentence counts as a left neighbour; its row
        is `initial`. `unigram` is add-one smoothed.

        Args:
            words: further words that need a state whether seen or not: a channel's inputs, say.
        """
        docs = [doc for doc in checks.documents("corpus", list(corpus)) if doc]
        if not docs:
            raise ValueError("corpus: empty; fit on at least one token")
        index: dict[str, int] = {word: i for i, word in enumerate(dict.fromkeys(words))}
        numbered = [[index.setdefault(word, len(index)) for word in doc] for doc in docs]
        n = len(index)
        pairs = np.array([pair for doc in numbered for pair in pairwise((n, *doc))])  # state n: sentence start
        counts = scipy.sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(n + 1, n)).tocsr()
        rows, columns = counts.nonzero()
        left = np.bincount(columns, minlength=n)
        discount = _discount(left)
        backoff = np.maximum(left - discount, 0) / left.sum()
        backoff += discount * np.count_nonzero(left) / left.sum() / n
        totals, kinds = counts.sum(axis=1), np.diff(counts.indptr)
        discount = _discount(counts.data)
        counts.data = (counts.data - discount) / totals[rows]
        weight = np.where(totals > 0, discount * kinds / np.maximum(totals, 1), 1.0)
        initial = counts[[n]].toarray()[0] + weight[n] * backoff
        unigram = np.bincount(pairs[:, 1], minlength=n) + 1.0
        lengths = [len(doc) for doc in docs]
        return cls(index, initial, counts[:n], weight[:n], backoff, unigram / unigram.sum(), lengths)

    def ahead(self, weights: np.ndarray) -> np.ndarray:
        """`weights` @ A, for row vectors of shape (m, n) or (n,): one step forward."""
        return (self.seen.T @ weights.T).T + (weights @ self.backoff_weight)[..., None] * self.backoff

    def marginals(self, length: int):
        """Yield Pr(x_t) for t = 1 .. `length`, each (n,)."""
        marginal = self.initial
        for _ in range(length):
            yield marginal
            marginal = self.ahead(marginal)

    def transition(self) -> np.ndarray:
        """A as a dense matrix (n, n), for small models."""
        return self.seen.toarray() + np.outer(self.backoff_weight, self.backoff)

    def sample(self, n_sentences: int, seed, length: int | None = None) -> list[list[str]]:
        """Draw sentences from the source.

        Args:
            length: tokens a sentence; None draws lengths from those the model was fitted on.
        """
        generator = np.random.default_rng(seed)
        if length is None and not len(self.lengths):
            raise ValueError("length: this source was not fitted on sentences; pass a number of tokens")
        lengths = generator.choice(self.lengths, n_sentences) if length is None else np.full(n_sentences, length)
        drawn = np.zeros((n_sentences, max(lengths, default=0)), dtype=np.intp)
        for t in range(drawn.shape[1]):
            live = np.flatnonzero(lengths > t)
            uniforms = generator.random((2, len(live)))
            if t == 0:
                drawn[live, t] = _invert(np.cumsum(self.initial), uniforms[0])
            else:
                drawn[live, t] = self._step(drawn[live, t - 1], *uniforms)
        return [[self.words[i] for i in row[:n]] for row, n in zip(drawn, lengths, strict=True)]

    def _step(self, states: np.ndarray, uniforms: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The next word: of the seen bigrams if `uniforms` falls into their mass, else of the backoff."""
        first, last = self.seen.indptr[states], self.seen.indptr[states + 1]
        ends = np.cumsum(self.seen.data)
        before = np.concatenate([[0.0], ends])[first]
        # Rows without backoff have mass 1 up to rounding; they never leave it.
        mass = np.where(self.backoff_weight[states] > 0, 1 - self.backoff_weight[states], np.inf)
        entry = np.clip(np.searchsorted(ends, before + uniforms, side="right"), first, np.maximum(last - 1, first))
        entry = np.minimum(entry, max(len(ends) - 1, 0))
        seen = self.seen.indices[entry] if len(ends) else states
        return np.where(uniforms < mass, seen, _invert(np.cumsum(self.backoff), others))


def _discount(counts: np.ndarray) -> float:
    """n_1 / (n_1 + 2 n_2), kept inside (0, 1) where the corpus is too small to tell."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return (once + 0.5) / (once + 2 * twice + 1)


def _invert(cumulative: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    found = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return np.minimum(found, len(cumulative) - 1)
