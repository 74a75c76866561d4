"""The context-free Bayesian attack and, with the true prior, its bound (Tong et al. 2024, Theorem 1, Eq. 10)."""

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np

from textsan.attacks.base import Attack
from textsan.attacks.knowledge import Knowledge, Truth
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.channel.posterior import tabulate
from textsan.priors import Prior, good_turing


class ContextFreeBayes(Attack):
    """Guesses argmax_x Pr(y | x) (counts[x] / alpha + alpha_inverse), alpha the total of the counts.

    With counts of a shadow corpus this is the practical attack; with the counts of the attacked text itself and
    `alpha_inverse=0` it is the rule of the Context-free ASR bound (Definition 1), optimal by Theorem 1. A released
    word that no word of positive prior explains is guessed to be itself. Ties go to the earlier input.

    Args:
        channel: Pr(y | x), known to the attacker; a word that is kept has the row of the identity.
        counts: occurrences of words in the reference text, not empty; or a `Prior` without mass elsewhere.
        alpha_inverse: constant of at least 0 added to each frequency; None is 1 / alpha, add-one smoothing.
        attacked: words that can stand at attacked positions; None is every input of the channel.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["a", "b"])
    >>> ContextFreeBayes(channel, {"a": 9, "b": 1}).reconstruct([["b"]], [(0, 0)])
    ['a']
    """

    def __init__(
        self,
        channel: Channel,
        counts: Mapping[str, int] | Prior,
        alpha_inverse: float | None = None,
        *,
        attacked: Collection[str] | None = None,
    ):
        if isinstance(counts, Prior) and alpha_inverse is not None:
            raise ValueError("alpha_inverse: a prior takes no constant; leave it out, or pass counts")
        prior = counts if isinstance(counts, Prior) else Prior.from_counts(counts, channel.inputs, alpha_inverse)
        self.channel, self.prior = channel, prior
        with np.errstate(divide="ignore"):
            self.log_prior = np.log(channel.prior_array(prior))
        if attacked is not None:
            self.log_prior[[word not in attacked for word in channel.inputs]] = -np.inf

    @classmethod
    def against(cls, knowledge: Knowledge, *, multiple: float = 1.0) -> "ContextFreeBayes":
        """Make the practical attack, with a prior from shadow counts, or the one that is granted.

        Args:
            multiple: the constant added to shadow frequencies, in units of the paper's 1 / alpha (its Table 4);
                it is 1 where a prior is granted, to which no constant is added.
        """
        if knowledge.prior is not None and multiple != 1:
            raise ValueError(
                f"multiple: {multiple!r}, but a prior that is granted takes no constant; leave it out"
            )
        constant = multiple / sum(knowledge.counts.values()) if knowledge.prior is None else None
        return cls(knowledge.channel, knowledge.unigram(constant), attacked=knowledge.attacked)

    @classmethod
    def unseen(
        cls, knowledge: Knowledge, *, split: Literal["evenly", "publicly"] = "evenly"
    ) -> "ContextFreeBayes":
        """Make the attack with Good and Turing's mass for the words that the shadow text lacks.

        An attack that does not beat it has learnt nothing about language.

        Args:
            split: how the mass is split among unseen words: evenly, or by the resource "frequencies".
        """
        checks.choice("split", split, ("evenly", "publicly"))
        frequencies = knowledge.resources.get("frequencies") if split == "publicly" else None
        if split == "publicly" and frequencies is None:
            raise ValueError("resources: no public frequencies are granted; pass resources={'frequencies': ...}")
        channel, candidates = knowledge.channel, knowledge.candidates
        words = [word for word in channel.inputs if word in candidates]
        prior = good_turing(knowledge.documents, words, frequencies).aligned(channel.inputs)
        return cls(channel, Prior(channel.inputs, prior), attacked=knowledge.attacked)

    @classmethod
    def ranked(cls, knowledge: Knowledge) -> "ContextFreeBayes":
        """Weigh each word by one over its rank in a public list, the resource "embeddings"; no text is needed.

        What a language model finds beyond it needs more than to know which words are common (Zipf's law).
        """
        listed = knowledge.resources.get("embeddings")
        if listed is None:
            raise ValueError("resources: no public list of words is granted; pass resources={'embeddings': ...}")
        inputs = knowledge.channel.inputs
        ranks = np.array([listed.index.get(word, len(listed)) for word in inputs]) + 1
        return cls(knowledge.channel, Prior(inputs, 1 / ranks / (1 / ranks).sum()), attacked=knowledge.attacked)

    @classmethod
    def bound(cls, knowledge: Knowledge, truth: Truth) -> "ContextFreeBayes":
        """The rule of Definition 1: the true prior, under which no context-free rule is better in expectation."""
        return cls(knowledge.channel, truth.counts, alpha_inverse=0)

    def tabulated(self, k: int = 1, outputs: Collection[str] | None = None) -> Posterior:
        """Compute Pr(x | y) of `k` candidates of released words, or of all outputs, under the attack's prior."""
        return tabulate(self.channel, self.log_prior, k, None if outputs is None else list(outputs))

    def _guess(self, docs, positions):
        numbers, logs, released = self.candidates_at(docs, positions, 1)
        return Posterior(positions, self.channel.inputs, numbers, logs, released=released).mode()

    def _posteriors(self, docs, positions, k):
        numbers, scores, released = self.candidates_at(docs, positions, k or len(self.channel.inputs), joint=False)
        return Posterior(positions, self.channel.inputs, numbers, scores, released=released)

    def candidates_at(
        self, docs, positions, k: int, *, joint: bool = True
    ) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """List the `k` likeliest inputs at each position.

        Args:
            joint: whether logs are of Pr(x, y), which needs no sum, or of Pr(x | y).

        Returns:
            numbers of inputs (n, k), -1 for none; logs (n, k), -inf for none; the n released words.
        """
        released = [docs[document][index] for document, index in positions]
        seen = [word for word in dict.fromkeys(released) if word in self.channel.output_index]
        table = self.tabulated(k, seen)
        at = {word: row for row, word in enumerate(seen)}
        rows = np.array([at.get(word, len(seen)) for word in released], dtype=np.intp)
        # One more row, for words that the channel cannot have released: they are their own originals.
        logs = table.log_weights if joint else table.log_probabilities
        numbers = np.pad(table.numbers, ((0, 1), (0, 0)), constant_values=-1)[rows]
        return numbers, np.pad(logs, ((0, 1), (0, 0)), constant_values=-np.inf)[rows], released
