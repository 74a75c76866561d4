"""An attacker's knowledge under a threat model, and, apart from it, the truth that only bounds and scores see."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.evaluation import words_at
from textsan.mechanisms import ChannelMechanism, Mechanism
from textsan.priors import MarkovModel, Prior
from textsan.text.vocabulary import count_words


@dataclass(frozen=True)
class Knowledge:
    """The knowledge that a threat model grants to an attacker.

    Make one of a channel, or `Knowledge.of` a mechanism, which fills in what follows from it. Words that are kept
    have the rows of the identity in `channel`, so that no attack takes a kept word for a replaced one.

    Args:
        channel: Pr(y | x) of the mechanism; public, as in all five papers.
        shadow: token lists of the attacker's own, never the attacked ones.
        prior: what the attacker believes, instead of shadow text: a `Prior`, or a `MarkovModel` of sentences.
        kept: words that the mechanism releases verbatim.
        attacked: inputs of the channel that can stand at attacked positions, if the attacker is told; None is
            every input. Tong et al. 2024 tell: their candidates are the sensitive words.
        targets: released words under attack, the Gamma of Tong et al. 2024; None is all.
        mechanism: what the attacker may run on shadow text; None draws from the channel, and words that are no
            inputs stay as they are.
        seed: of what the attacker draws.
        first: number of the attacker's first document; an owner of the same seed who numbers from 0 drew others.
        resources: public things by name: "adapter", a context model trained on public text, for example.

    Raises:
        ValueError: `attacked` holds no input of the channel, a set of words or shadow text is one string, or a
            prior is granted beside shadow text.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["a", "b"])
    >>> Knowledge(channel, shadow=[["a"] * 9 + ["b"]]).unigram().probabilities.round(2)
    array([0.83, 0.17])
    """

    channel: Channel
    shadow: Sequence[Sequence[str]] | None = None
    prior: Prior | MarkovModel | None = None
    kept: Collection[str] = ()
    attacked: Collection[str] | None = None
    targets: Collection[str] | None = None
    mechanism: Mechanism | None = None
    seed: int = 0
    first: int = 1 << 32
    resources: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        put = object.__setattr__  # frozen: set once, here
        for name in ("kept", "attacked"):
            if isinstance(getattr(self, name), str):
                raise ValueError(f"{name}: {getattr(self, name)!r} is one string; pass a set of words")
        put(self, "channel", self.channel.keeping(self.kept))
        put(self, "kept", frozenset(self.kept) | self.channel.kept)
        if self.shadow is not None and self.prior is not None:
            raise ValueError("prior: granted beside shadow text, and attacks would differ in which they believe")
        if self.shadow is not None:
            put(self, "shadow", checks.documents("shadow", self.shadow))
        if self.attacked is not None:
            put(self, "attacked", frozenset(self.attacked) & self.channel.input_index.keys())
            if not self.attacked:
                raise ValueError("attacked: none of the words is an input of the channel; pass words it sanitizes")

    @classmethod
    def of(cls, mechanism: Mechanism, **granted) -> "Knowledge":
        """Grant a mechanism: its channel, the words it keeps, and that the attacker may run it.

        Args:
            granted: further fields: shadow, attacked (`mechanism.protected`, where the attacker is told), seed.

        >>> from textsan import CusText, Embeddings
        >>> two = Embeddings(["the", "cat"], [[0.0], [1.0]])
        >>> Knowledge.of(CusText(two, 1.0, k=2, keep=["the"])).channel.rows(["the"])
        array([[1., 0.]])
        """
        return cls(mechanism.channel, kept=mechanism.keep, mechanism=mechanism, **granted)

    def __repr__(self) -> str:
        """Without the text, which is long and may be private to the attacker."""
        granted = [repr(self.channel)]
        granted += [] if self.shadow is None else [f"{len(self.shadow)} shadow documents"]
        granted += [repr(self.prior)] * (self.prior is not None)
        granted += [f"{len(self.kept)} kept words"] * bool(self.kept)
        granted += [f"{len(self.candidates)} words under attack"] * (self.attacked is not None)
        granted += sorted(self.resources)
        return f"Knowledge({', '.join(granted)})"

    @cached_property
    def counts(self) -> Counter:
        """Occurrences of words in the shadow text."""
        return count_words(self.documents)

    def unigram(self, alpha_inverse: float | None = None) -> Prior:
        """Pr(x) over the channel's inputs, from the prior if one is granted, else from shadow counts.

        Args:
            alpha_inverse: constant added to each frequency of the shadow text; None is add-one smoothing.
        """
        if isinstance(self.prior, MarkovModel):
            model = self.prior
            known = [model.index.get(word, -1) for word in self.channel.inputs]
            weights = np.where(np.array(known) >= 0, model.unigram[known], 0.0)
            if not weights.any():
                raise ValueError(
                    "prior: the model has no word that is an input of the channel; fit it with words="
                )
            return Prior(self.channel.inputs, weights / weights.sum())
        if self.prior is not None:
            return Prior(self.channel.inputs, self.channel.prior_array(self.prior))
        return Prior.from_counts(self.counts, self.channel.inputs, alpha_inverse)

    def sanitized(self, copies: int = 1) -> tuple[list[Sequence[str]], list[list[str]]]:
        """Return the shadow documents `copies` times over, and as often sanitized by the attacker."""
        docs = list(self.documents) * checks.whole("copies", copies, low=1)
        mechanism = self.mechanism or ChannelMechanism(self.channel, keep=self.kept, oov="keep")
        return docs, mechanism.sanitize(docs, seed=self.seed, first=self.first)

    @cached_property
    def candidates(self) -> frozenset[str]:
        """The inputs of the channel that can stand at attacked positions."""
        inputs = frozenset(self.channel.inputs)
        return inputs if self.attacked is None else inputs.intersection(self.attacked)

    @cached_property
    def scored(self) -> frozenset[str]:
        """The candidates that hits are counted over: those at attacked positions, whoever is told where they are.

        Who is not told knows from the mechanism, which is public, what it protects.
        """
        if self.attacked is not None:
            return self.candidates
        return (
            self.candidates & self.mechanism.protected if self.mechanism else self.candidates.difference(self.kept)
        )

    @property
    def documents(self) -> Sequence[Sequence[str]]:
        """The shadow text, for attacks that cannot do without: an error where there is none."""
        if self.shadow is None or not any(self.shadow):
            raise ValueError("shadow: this attack learns from the attacker's own text; pass shadow=")
        return self.shadow


@dataclass(frozen=True)
class Truth:
    """The sanitized text: for bounds and scores alone.

    Args:
        docs: the private token lists.
        released: what became of them.
        positions: those under attack.
        population: all positions that could be; `positions` are drawn from them.
    """

    docs: Sequence[Sequence[str]]
    released: Sequence[Sequence[str]]
    positions: Sequence[tuple[int, int]]
    population: Sequence[tuple[int, int]]

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Truth({len(self.docs)} documents, {len(self.positions)} positions)"

    @cached_property
    def words(self) -> list[str]:
        """The original words at the attacked positions."""
        return words_at(self.docs, self.positions)

    @cached_property
    def counts(self) -> Counter:
        """Count words at positions that could be attacked: the true prior, for bounds only.

        The prior of the attacked words themselves would know each one that is scored, and bound too high.
        """
        return count_words([words_at(self.docs, self.population)])

    def prior(self, words: Iterable[str]) -> Prior:
        """The true prior over some words, a channel's inputs."""
        return Prior.from_counts(self.counts, words, alpha_inverse=0)
