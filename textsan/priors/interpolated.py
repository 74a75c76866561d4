"""Bigrams of an attacker's own text, mixed at every step with those of a public table."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress, pairwise
from typing import Union

import numpy as np
import scipy

from textsan.base import checks
from textsan.priors.markov import MarkovModel
from textsan.priors.ngrams import NGrams
from textsan.text.sources import phrase_sources

_FOLDS = 5
_STEPS = 100  # of expectation-maximisation, for one number


class InterpolatedModel:
    """A Markov source q(x' | x) = (1 - w) own(x' | x) + w public(x' | x), and likewise for the first word.

    public gives the words that the table knows the mass that own gives them after x, shared out as the table does;
    a word that the table does not know keeps what own gives it. So q sums to one.

    Args:
        own: a source.
        table: the table's pairs over the same words, as from `NGrams.source`.
        share: w, in [0, 1].

    Attributes:
        words, initial, seen, unigram: as of a `MarkovModel`; `seen` may be negative.
        backoff_weight, backoff: (2, n); what `seen` leaves is the sum of two products, own and public.

    >>> own = MarkovModel.from_arrays(["the", "cat"], [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    >>> InterpolatedModel(own, NGrams.load().source(own.words), 0.5).transition().round(2)
    array([[0.72, 0.28],
           [0.7 , 0.3 ]])
    """

    def __init__(self, own: MarkovModel, table: MarkovModel, share: float):
        self.words, self.share = own.words, checks.number("share", share, low=0, high=1)
        known = (table.unigram > 0).astype(np.float64)
        mass = share * _mass(own, known)
        kept = 1 - share * known
        self.seen = scipy.sparse.csr_array(
            own.seen @ scipy.sparse.diags_array(kept) + scipy.sparse.diags_array(mass) @ table.seen
        )
        self.backoff_weight = np.stack([own.backoff_weight, mass * table.backoff_weight])
        self.backoff = np.stack([own.backoff * kept, table.backoff])
        self.initial = own.initial * kept + share * (own.initial @ known) * table.initial
        self.unigram = own.unigram * kept + share * (own.unigram @ known) * table.unigram

    def __repr__(self) -> str:
        return f"InterpolatedModel({len(self.words)} words, {self.seen.nnz} bigrams, {self.share:.2f} public)"

    @cached_property
    def index(self) -> dict[str, int]:
        """Number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def transition(self) -> np.ndarray:
        """q as a dense matrix (n, n), for small models."""
        return self.seen.toarray() + self.backoff_weight.T @ self.backoff

    @classmethod
    def fit(
        cls, corpus: Iterable[Sequence[str]], words: Iterable[str] = ()
    ) -> Union["InterpolatedModel", MarkovModel]:
        """Interpolate Kneser-Ney bigrams of a corpus with the public table, w by deleted interpolation.

        w makes held-out sentences likeliest (Jelinek and Mercer 1980): each of five parts of the corpus, phrases
        of a sentence together, is scored by bigrams of the other parts. Without a corpus w is 1, own uniform.

        Returns:
            the model; the corpus's bigrams alone where the table knows none of the words.
        """
        docs = [doc for doc in checks.documents("corpus", list(corpus)) if doc]
        listed = list(dict.fromkeys([*words, *(word for doc in docs for word in doc)]))
        table, n = NGrams.load(), len(listed)
        if not docs:
            even = np.full(n, 1 / max(n, 1))
            own = MarkovModel(listed, even, scipy.sparse.csr_array((n, n)), np.ones(n), even, even)
            return cls(own, table.source(listed), 1.0)
        own = MarkovModel.fit(docs, words=listed)
        if not any(word in table for word in listed):
            return own
        source = table.source(listed)
        return cls(own, source, _held_out_share(docs, own, source))


def fit_bigrams(
    corpus: Iterable[Sequence[str]], words: Iterable[str], public: bool
) -> MarkovModel | InterpolatedModel:
    """Fit the bigrams of some text, with the public table (`InterpolatedModel.fit`) or without it."""
    return InterpolatedModel.fit(corpus, words) if public else MarkovModel.fit(corpus, words)


def _held_out_share(docs: Sequence[Sequence[str]], own: MarkovModel, table: MarkovModel) -> float:
    """The w under which held-out words are likeliest; one half where there is nothing to hold out."""
    sentence = np.unique(phrase_sources(docs), return_inverse=True)[1]
    scored, known = [], (table.unigram > 0).astype(np.float64)
    for part in np.array_split(np.arange(sentence.max() + 1), _FOLDS):
        held = np.isin(sentence, part)
        if held.any() and not held.all():
            other = MarkovModel.fit(list(compress(docs, ~held)), words=own.words)
            numbers = [[-1, *(own.index[word] for word in doc)] for doc in compress(docs, held)]
            pairs = np.array([pair for doc in numbers for pair in pairwise(doc)])
            mine, (before, after) = _chances(other, pairs), pairs.T
            mass = np.where(before < 0, other.initial @ known, _mass(other, known)[before])
            # As in the model with share 1: the table's words by the table, the others as they were.
            scored.append([mine, np.where(known[after] > 0, mass * _chances(table, pairs), mine)])
    share = 0.5
    if scored:
        mine, public = np.concatenate(scored, axis=1)
        for _ in range(_STEPS):
            share = float(np.mean(share * public / ((1 - share) * mine + share * public)))
    return share


def _mass(own: MarkovModel, known: np.ndarray) -> np.ndarray:
    """The mass of words that the table knows after each word, (n,)."""
    return own.seen @ known + own.backoff_weight * (own.backoff @ known)


def _chances(model: MarkovModel, pairs: np.ndarray) -> np.ndarray:
    """Pr(x' | x) of some pairs (x, x'), (n, 2), or Pr(x') as a first word where x is -1."""
    before, after = pairs.T
    listed = np.asarray(scipy.sparse.csr_matrix(model.seen)[before, after]).ravel()
    following = listed + model.backoff_weight[before] * model.backoff[after]
    return np.where(before < 0, model.initial[after], following)
