"""Few-shot inversion: which words a text has, from its vector and a few leaked pairs of text and vector.

A ridge map from vectors to bags of words, after ALGEN (Chen et al. 2025), who align vectors with the input of a
generator by least squares on a handful of leaked pairs. The map here stops at words; it makes no sentences.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage import heads
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.text.vocabulary import tokenize_v1

PENALTIES = tuple(10.0**power for power in range(0, 6))
"""Ridge penalties, of which leave-one-out error on the leaked pairs chooses."""


def bag(text: str, ignored: Collection[str] = ()) -> set[str]:
    """Return a text's words in lower case, those without a letter and ignored ones left out.

    >>> sorted(bag("The cat, the dog", {"the"}))
    ['cat', 'dog']
    """
    words = {word.lower() for word in tokenize_v1(text)}
    return {word for word in words if word not in ignored and any(map(str.isalpha, word))}


class WordInversion:
    """Guesses the words of a text: those whose ridge score is the largest."""

    def __init__(self, words: Sequence[str], standard: heads.Standard, model):
        self.words, self.standard, self.model = tuple(words), standard, model

    @classmethod
    def against(
        cls, knowledge: VectorKnowledge, *, leak: int | None = None, ignored: Collection[str] = ()
    ) -> "WordInversion":
        """Fit the attack on vectors of the first `leak` of the attacker's texts, at least 2, by default all."""
        from sklearn.linear_model import RidgeCV

        texts = knowledge.texts()
        leak = len(texts) if leak is None else checks.whole("leak", leak, low=2)
        if leak > len(texts):
            raise ValueError(f"leak: {leak} of {len(texts)} texts; pass fewer")
        bags = [bag(text, ignored) for text in texts[:leak]]
        counts = Counter(word for words in bags for word in words)
        # Not by the alphabet: where scores tie, the frequent word is guessed.
        words = sorted(counts, key=lambda word: (-counts[word], word))
        if not words:
            raise ValueError("ignored: no word is left in the leaked texts; ignore fewer")
        number = {word: at for at, word in enumerate(words)}
        truth = np.zeros((leak, len(words)))
        for row, some in zip(truth, bags, strict=True):
            row[[number[word] for word in some]] = 1
        vectors = knowledge.ask(texts[:leak])
        standard = heads.Standard(vectors)
        return cls(words, standard, RidgeCV(alphas=PENALTIES).fit(standard(vectors), truth))

    def guess(self, vectors: np.ndarray, k: int = 5) -> list[list[str]]:
        """Guess the k likeliest words of each text from released vectors (n, d), best first."""
        scores = self.model.predict(self.standard(np.asarray(vectors)))
        best = np.argsort(-scores, axis=1, kind="stable")[:, : checks.whole("k", k, low=1)]
        return [[self.words[i] for i in row] for row in best]

    def blind(self, n: int, k: int = 5) -> list[list[str]]:
        """Return the k words that are in most leaked texts, n times: the guess without a vector."""
        return [list(self.words[:k])] * n


def recovered(guesses: Sequence[Sequence[str]], texts: Sequence[str], ignored: Collection[str] = ()) -> np.ndarray:
    """Compute the share of each text's words that were guessed, (n,); nan for a text without words.

    >>> recovered([["cat", "cow"]], ["the cat, the dog"], {"the"}).tolist()
    [0.5]
    """
    shares = []
    for words, text in zip(guesses, texts, strict=True):
        there = bag(text, ignored)
        shares.append(len(there & set(words)) / len(there) if there else np.nan)
    return np.array(shares)
