"""A laboratory: text from a source that is known, where the best attack is known too, and with it every regret.

The source is a Markov model of a real corpus. It is fitted anew wherever it is needed: the corpus is pinned by its
hash and the fit has no randomness, so its parameters are those of the corpus.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from textsan.attacks import MarkovBayes
from textsan.evaluation import Estimate, sensitive_positions, words_at
from textsan.mechanisms import Mechanism
from textsan.priors import MarkovModel
from textsan.text.vocabulary import count_words
from textsan_book.studies.hierarchy import conditional_expectation, word_prior


def corpus_source(docs: Iterable[Sequence[str]], words: Iterable[str]) -> MarkovModel:
    """Fit the Markov source of a corpus over some of its words; the others are deleted from it first."""
    words = set(words)
    return MarkovModel.fit([word for word in doc if word in words] for doc in docs)


def frequent_words(docs: Iterable[Sequence[str]], words: Iterable[str], n: int) -> list[str]:
    """Select the `n` of `words` that occur most often in documents, ties in the order of `words`.

    >>> frequent_words([["a", "b", "b", "the"]], ["a", "b", "c"], 2)
    ['b', 'a']
    """
    counts = count_words(docs)
    return sorted(words, key=lambda word: -counts[word])[:n]


class KnownSource:
    """Private and shadow sentences from a known source, sanitized, and what every guess is worth.

    Given the released sentence, a guess g at position i is right with probability Pr(x_i = g | y_1 .. y_n), which
    is known here. So attacks are scored by that instead of by hits, which are the same on average but noisier.
    Attacked are all inputs of the mechanism, whose words are those of the source but for words it keeps, and never
    draws for others. Without a length of sentences it is that of those that the source was fitted on.
    """

    def __init__(
        self, source: MarkovModel, mechanism: Mechanism, *, n_private: int, n_shadow: int, seed, length=None
    ):
        generator = np.random.default_rng(seed)
        self.source, self.mechanism = source, mechanism
        self.docs = source.sample(n_private, generator, length)
        self.shadow = source.sample(n_shadow, generator, length)
        self.released = mechanism.sanitize(self.docs, generator)
        self.shadow_released = mechanism.sanitize(self.shadow, generator)
        self.positions = sensitive_positions(self.docs, set(mechanism.inputs) - mechanism.keep)
        self.truths = words_at(self.docs, self.positions)
        inputs = frozenset(mechanism.inputs) - mechanism.keep
        self.best = MarkovBayes(mechanism.channel, source, attacked=inputs)
        self._posteriors = [self.best.posterior(doc) for doc in self.released]

    def optimum(self) -> Estimate:
        """Compute the success rate of the best attack on these released sentences, given them."""
        return conditional_expectation(self.best.confidence(self.released), self.positions)

    def value(self, guesses: Sequence[str]) -> Estimate:
        """Compute the success rate of guesses, one a position, given the released sentences."""
        return self.average(self._worth(guesses))

    def regret(self, guesses: Sequence[str]) -> Estimate:
        """Compute `optimum` minus `value`, position by position: 0 for the best attack, and never less for any."""
        confidence = self.best.confidence(self.released)
        lost = np.array([confidence[d][i] for d, i in self.positions]) - self._worth(guesses)
        return self.average(np.where(abs(lost) > 1e-12, lost, 0.0))  # the two differ by rounding

    def chances(self, *, context: bool = True) -> np.ndarray:
        """Compute the probability of each candidate for an attacked word, (positions, candidates).

        Row by row Pr(x_i = x | y_1 .. y_n) of the words x that are possible, the largest Pr(x | y_i) first, then
        zeros. The sum of the first K is the chance that the word is among them, their largest that of the best
        guess among them. Without context it is Pr(x | y_i), what the released word alone says, in the same order.
        """
        channel = self.mechanism.channel
        alone = channel.posterior(word_prior(self.source, channel.inputs), k=len(channel.inputs))
        possible = (alone.numbers >= 0).any(axis=0)
        numbers, of_word = alone.numbers[:, possible], np.exp(alone.log_probabilities[:, possible])
        rows = [channel.output_index[self.released[d][i]] for d, i in self.positions]
        if not context:
            return of_word[rows]
        probabilities = np.zeros((len(rows), numbers.shape[1]))
        for at, ((d, i), row) in enumerate(zip(self.positions, rows, strict=True)):
            given = self._posteriors[d][i]
            probabilities[at] = [given.get(channel.inputs[x], 0.0) if x >= 0 else 0.0 for x in numbers[row]]
        return probabilities

    def average(self, values: Sequence[float]) -> Estimate:
        """Average what is expected at each position, with the interval of independent sentences."""
        by_sentence = [np.zeros(len(doc)) for doc in self.docs]
        for (d, i), value in zip(self.positions, values, strict=True):
            by_sentence[d][i] = value
        return conditional_expectation(by_sentence, self.positions)

    def _worth(self, guesses: Sequence[str]) -> np.ndarray:
        at = zip(self.positions, guesses, strict=True)
        return np.array([self._posteriors[d][i].get(guess, 0.0) for (d, i), guess in at])
