"""Departures of the released code of Tong et al. 2024 from its paper, to measure what each of them changes."""

from collections.abc import Collection, Sequence
from typing import Literal

from textsan.attacks.contextual import SPAN, STEPS, ContextualBayes
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.sentence_pairs import Pair
from textsan.attacks.training_text import around
from textsan.base import checks

DEPARTURES = ("fused", "dropped", "unsegmented")
LONG = 10  # letters


class ReleasedContextual(ContextualBayes):
    """The contextual attack as its released code runs it.

    - "fused": when attacking, the candidate stands between its neighbours without blanks, three words as one.
    - "dropped": words of 10 or more letters vanish from both sentences; in training the word in question too,
      but when attacking the candidate stays.
    - "unsegmented": the encoder is not told which sentence a piece is of.

    Args:
        departures: any of these.
        others: as for `ContextualBayes`.
    """

    def __init__(self, *others, departures: Collection[str] = DEPARTURES, **settings):
        super().__init__(*others, **settings)
        self.departures = {checks.choice("departures", name, DEPARTURES) for name in departures}
        self.detector.segments = "unsegmented" not in self.departures

    @classmethod
    def against(
        cls,
        knowledge: Knowledge,
        *,
        departure: Literal["all", "fused", "dropped", "unsegmented"] = "all",
        k: int = 10,
        copies: int = 100,
        pairs: int | None = None,
        epochs: float = 3.0,
        steps: int | None = STEPS,
        span: int = SPAN,
        widen: bool = False,
        learning_rate: float = 5e-5,
    ) -> "ReleasedContextual":
        """The attack, its detector trained on shadow text.

        Args:
            departure: the only one, or "all" of them.
            knowledge, k, copies, pairs, epochs, steps, span, widen, learning_rate: as of
                `ContextualBayes.against`.
        """
        names = DEPARTURES if departure == "all" else [departure]
        given = {"k": k, "span": span, "attacked": knowledge.attacked, "seed": knowledge.seed}
        training = {"pairs": pairs, "epochs": epochs, "steps": steps, "widen": widen}
        attack = cls(knowledge.channel, knowledge.counts, departures=names, **given)
        return attack._fit_for(knowledge, *knowledge.sanitized(copies), learning_rate=learning_rate, **training)

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
