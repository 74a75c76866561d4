"""Departures of the released code of Tong et al. 2024 from its paper, to measure what each of them changes."""

from collections.abc import Collection, Sequence
from typing import Literal, Self

from textsan.attacks.contextual import SPAN, ContextualBayes
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.sentence_pairs import Pair
from textsan.attacks.training_text import around
from textsan.base import checks
from textsan.base.signatures import takes_parameters_of

DEPARTURES = ("fused", "dropped", "unsegmented")
LONG = 10  # letters


class ReleasedContextual(ContextualBayes):
    """The contextual attack as its released code runs it.

    - "fused": when attacking, the candidate stands between its neighbours without blanks, three words as one.
    - "dropped": words of 10 or more letters vanish from both sentences; in training the word in question too,
      but when attacking the candidate stays.
    - "unsegmented": the encoder is not told which sentence a piece is of.
    """

    def __init__(self, *others, departures: Collection[str] = DEPARTURES, **settings):
        super().__init__(*others, **settings)
        self.departures = {checks.choice("departures", name, DEPARTURES) for name in departures}
        self.detector.segments = "unsegmented" not in self.departures

    @classmethod
    @takes_parameters_of(ContextualBayes.against)
    def against(
        cls,
        knowledge: Knowledge,
        *,
        departure: Literal["all", "fused", "dropped", "unsegmented"] = "all",
        copies: int = 100,
        k: int = 10,
        span: int = SPAN,
        **training,
    ) -> Self:
        """Train the detector on shadow text.

        Args:
            departure: the only one, or "all" of them.
        """
        settings = {"k": k, "span": span, "departures": DEPARTURES if departure == "all" else [departure]}
        return cls._trained(knowledge, knowledge.counts, *knowledge.sanitized(copies), training, **settings)

    def training_pairs(self, *docs, **settings):
        pairs, labels = super().training_pairs(*docs, **settings)
        return [Pair(*map(self._kept, pair)) for pair in pairs], labels

    def attacked_pair(self, doc, index, word):
        near, at = around(doc, index, self.span)
        left, right = self._kept(near[:at]), self._kept(near[at + 1 :])
        if "fused" not in self.departures:
            return Pair(self._kept(near), (*left, word, *right))
        fused = "".join([*left[-1:], word, *right[:1]])
        return Pair(self._kept(near), (*left[:-1], fused, *right[1:]))

    def _kept(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(word for word in words if "dropped" not in self.departures or len(word) < LONG)
