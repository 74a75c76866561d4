"""Departures of the released code of Tong et al. 2024 from its paper, to measure what each of them changes."""

from collections.abc import Collection

from textsan.attacks.contextual import ContextualBayes
from textsan.attacks.sentence_pairs import Pair
from textsan.text import checks

DEPARTURES = ("fused", "dropped")
LONG = 10  # letters


class ReleasedContextual(ContextualBayes):
    """The contextual attack as its released code runs it.

    "fused": when attacking, the candidate stands between its neighbours without blanks, three words as one.
    "dropped": in training, words of 10 or more letters vanish from both sentences, the word in question too.

    Args:
        departures: any of these.
        others: as for `ContextualBayes`.
    """

    def __init__(self, *others, departures: Collection[str] = DEPARTURES, **settings):
        super().__init__(*others, **settings)
        self.departures = {checks.choice("departures", name, DEPARTURES) for name in departures}

    def training_pairs(self, *docs, **settings):
        pairs, labels = super().training_pairs(*docs, **settings)
        if "dropped" in self.departures:
            pairs = [Pair(*(tuple(word for word in part if len(word) < LONG) for part in pair)) for pair in pairs]
        return pairs, labels

    def attacked_pair(self, doc, index, word):
        if "fused" not in self.departures:
            return self.pair(doc, index, word)
        near, at = self._near(doc, index, self.span)
        left, right = near[max(0, at - 1) : at], near[at + 1 : at + 2]
        fused = "".join([*left, word, *right])
        return Pair(near, (*near[: at - len(left)], fused, *near[at + 1 + len(right) :]))
