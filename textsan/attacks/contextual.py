"""The contextual Bayesian attack and, with the true prior, its K-ASR bound (Tong et al. 2024, Eq. 11-12)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from textsan.attacks.base import Attack
from textsan.attacks.context_free import ContextFreeBayes
from textsan.attacks.gate import Gate, gate
from textsan.attacks.knowledge import Knowledge, Truth
from textsan.attacks.sentence_pairs import Pair, PairClassifier
from textsan.attacks.training_text import around, paired, whole_sentences
from textsan.base import checks
from textsan.base.signatures import takes_parameters_of
from textsan.channel import Channel, Posterior
from textsan.models import encoders

_BOUND_FIRST = 1 << 48  # number of the first document that a bound sanitizes
SPAN = 100  # words; longer than a sentence
STEPS = 3000  # of training; then the learning rate has fallen to a thousandth
WIDENING = ((1, 0.4), (3, 0.1), (5, 0.15), (None, 0.35))  # words that are shown (None is all), share of the pairs
GRANTED = ("targets", "batch_size", "seed", "checkpoint")  # settings of a training that no experiment asks for


class ContextualBayes(Attack):
    """Guesses argmax of Pr(x | y) h(f(c, y), f(c, x)) over the `k` best x of the context-free attack.

    h is the probability a detector gives that c is the sanitized context of x and y. Trained on shadow text this
    is the practical attack. With counts of the attacked text, `alpha_inverse=0` and a detector trained on further
    sanitizations of the attacked sentences it is the Contextual K-ASR bound (Definition 2; Appendix F.1).

    Args:
        k: candidates a position, the paper's K.
        span: words that the detector reads, those around the position; the paper's reads the sentence.
        encoder: a registered encoder; the paper's is bert-base-uncased.

    Attributes:
        detector: the `PairClassifier`; `detector.encoded` counts the pairs it has read.
    """

    def __init__(
        self,
        channel: Channel,
        counts: Mapping[str, int],
        *,
        k: int = 10,
        alpha_inverse: float | None = None,
        attacked: Collection[str] | None = None,
        span: int = SPAN,
        encoder: str = encoders.ENCODER,
        seed: int = 0,
    ):
        self.span = checks.whole("span", span, low=1)
        self.channel, self.k = channel, min(checks.whole("k", k, low=1), len(channel.inputs))
        self.attacked = frozenset(channel.inputs if attacked is None else attacked)
        self.counts, self.alpha_inverse = counts, alpha_inverse
        self.bayes = ContextFreeBayes(channel, counts, alpha_inverse, attacked=attacked)
        self.detector = PairClassifier(encoder, seed=seed)

    _reads_with = "detector"

    def fit(
        self,
        shadow_docs: Sequence[Sequence[str]],
        sanitized_docs: Sequence[Sequence[str]],
        *,
        targets: Collection[str] | None = None,
        pairs: int | None = None,
        widen: bool = False,
        epochs: float = 3.0,
        steps: int | None = STEPS,
        learning_rate: float = 5e-5,
        batch_size: int = 32,
        seed: int = 0,
        checkpoint: Path | None = None,
    ) -> Self:
        """Train the detector; the defaults are the paper's, but for the limit on steps.

        Args:
            shadow_docs: the attacker's own token lists, each as often as it was sanitized (the paper: 100 times).
            sanitized_docs: the same, sanitized by the attacker with the mechanism under attack.
            targets: released words that are under attack, the paper's Gamma; None is all.
            pairs: how many pairs to train on at most, drawn at random; None is all.
            widen: whether some of the pairs are shown first, as words alone or with little context (`WIDENING`). A
                small encoder that was never trained to compare two texts soon learns it on short ones, and stays
                at chance on sentences for thousands of steps.
            learning_rate: of Adam, which falls to a tenth every 1,000 steps.
            checkpoint: as for `PairClassifier.train`.
        """
        parts, done = [], 0.0
        for span, share in WIDENING if widen else ((None, 1.0),):
            made, labels = self.training_pairs(
                shadow_docs, sanitized_docs, targets=targets, pairs=pairs, span=span, seed=seed
            )
            part = slice(round(done * len(made)), round((done + share) * len(made)))
            parts.append((made[part], labels[part]))
            done += share
        limits: dict[str, Any] = {"epochs": epochs, "steps": steps, "learning_rate": learning_rate}
        self.detector.train(parts, **limits, batch_size=batch_size, seed=seed, checkpoint=checkpoint)
        return self

    @classmethod
    @takes_parameters_of(fit, but=GRANTED)
    def against(
        cls, knowledge: Knowledge, *, k: int = 10, copies: int = 100, span: int = SPAN, **training
    ) -> Self:
        """Train the practical attack's detector on `copies` sanitizations of shadow text; others as for `fit`."""
        docs, released = knowledge.sanitized(copies)
        return cls._trained(knowledge, knowledge.counts, docs, released, training, k=k, span=span)

    @classmethod
    @takes_parameters_of(fit, but=GRANTED)
    def bound(
        cls,
        knowledge: Knowledge,
        truth: Truth,
        *,
        k: int = 10,
        copies: int = 30,
        span: int = SPAN,
        departure: Literal["attacked pairs"] | None = None,
        **training,
    ) -> Self:
        """Compute the K-ASR bound (Definition 2): the true prior, a detector of `copies` further sanitizations.

        Args:
            departure: "attacked pairs" trains on the very text that is attacked, as the released code for CusText+
                does.
        """
        checks.choice("departure", departure, (None, "attacked pairs"))
        docs, released = truth.docs, truth.released
        if not departure:
            # Draws that neither the owner nor the attacker has made: both number documents from far below.
            further = replace(knowledge, prior=None, shadow=truth.docs, first=_BOUND_FIRST)
            docs, released = further.sanitized(copies)
        return cls._trained(knowledge, truth.counts, docs, released, training, k=k, span=span, alpha_inverse=0)

    @classmethod
    def _trained(cls, knowledge: Knowledge, counts, docs, released, training: dict, **settings) -> Self:
        attack = cls(knowledge.channel, counts, attacked=knowledge.attacked, seed=knowledge.seed, **settings)
        granted: dict[str, Any] = {
            "targets": knowledge.targets,
            "checkpoint": knowledge.resources.get("checkpoint"),
        }
        return attack.fit(docs, released, **granted, seed=knowledge.seed, **training)

    def training_pairs(
        self,
        shadow_docs,
        sanitized_docs,
        *,
        targets: Collection[str] | None = None,
        pairs: int | None = None,
        span: int | None = None,
        seed: int = 0,
    ) -> tuple[list[Pair], list[int]]:
        """Make two pairs a position (steps 1 and 2), one of each label, those of one position side by side.

        If the context-free guess is right it is the pair labelled 1, and the second most likely word is labelled
        0; else the guess is labelled 0 and the original word 1. Where no other word explains what was released,
        there is no pair labelled 0.
        """
        shadow, released = paired(shadow_docs, sanitized_docs)
        items = self._items(shadow, released, targets=targets, pairs=pairs, counted=True, seed=seed)
        made = [self.pair(released[item.document], item.place, item.word, span) for item in items]
        return made, [item.label for item in items]

    def _items(self, shadow, released, *, targets, pairs: int | None, counted: bool, seed) -> list["_Item"]:
        """Choose positions and candidates for pairs; `counted` if the documents are those that were counted."""
        places = [
            (d, i)
            for d, doc in enumerate(shadow)
            for i, x in enumerate(doc)
            if x in self.attacked
            and released[d][i] in self.channel.output_index
            and (targets is None or released[d][i] in targets)
        ]
        generator = np.random.default_rng(seed)
        if pairs is not None and 2 * len(places) > pairs:
            places = [places[at] for at in np.sort(generator.permutation(len(places))[: max(1, pairs // 2)])]
        if not places:
            raise ValueError("shadow_docs: no released word to learn from; pass more documents or other targets")
        truths = [shadow[d][i] for d, i in places]
        chosen = self._choose(truths, [released[d][i] for d, i in places], counted, generator)
        return [
            _Item(d, i, word, label)
            for (d, i), words in zip(places, zip(*chosen, strict=True), strict=True)
            for label, word in zip((1, 0), words, strict=True)
            if word is not None
        ]

    def _choose(self, truths, released, counted: bool, generator) -> tuple[list, list]:
        """The words labelled 1 and 0 at each position; None where there is none."""
        inputs, wrong = self.channel.inputs, []
        for truth, line in zip(truths, self._candidates(released)[0], strict=True):
            others = [inputs[x] for x in line if x >= 0 and inputs[x] != truth]
            wrong.append(others[0] if others else None)
        return truths, wrong

    def _candidates(self, released, k: int = 2, *, joint: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the `k` best candidates of each released word, and their logs."""
        places = [(0, i) for i in range(len(released))]
        return self.bayes.candidates_at([released], places, k, joint=joint)[:2]

    def gate(self, docs, sanitized_docs, *, targets=None, pairs: int = 3000, seed: int = 0) -> Gate:
        """Test whether the detector has learnt context, and how accurate it is (the paper's Fig. 3).

        Released words are drawn at random, and all pairs of each are made, until there are enough: pairs of one
        released word are what can be compared.

        Args:
            docs: token lists, none of them shadow text, each as often as it was sanitized.
            targets: released words that may be drawn; None is all.
        """
        docs, released = paired(docs, sanitized_docs)
        items = self._items(docs, released, targets=targets, pairs=None, counted=False, seed=seed)
        of: dict[str, list[_Item]] = {}
        for item in items:
            of.setdefault(released[item.document][item.place], []).append(item)
        words = np.random.default_rng(seed).permutation(sorted(of)).tolist()
        enough = np.searchsorted(np.cumsum([len(of[y]) for y in words]), pairs) + 1
        drawn = [(y, item) for y in words[:enough] for item in of[y]]
        number: dict = {}
        used, at = np.unique([item.document for _, item in drawn], return_inverse=True)
        sentences = whole_sentences([docs[d] for d in used])[at]
        return gate(
            [item.label for _, item in drawn],
            self.detector.log_odds([self.attacked_pair(released[i.document], i.place, i.word) for _, i in drawn]),
            self._blind([y for y, _ in drawn], [item.word for _, item in drawn]),
            [number.setdefault((y, item.word), len(number)) for y, item in drawn],
            sentences,
        )

    def _blind(self, released: Sequence[str], candidates: Sequence[str]) -> np.ndarray:
        """Log odds of label 1 of the best rule that sees no context, if the attack's prior is right.

        With a and b the chances of the two likeliest words: a / (1 - a) for the first, b / a for the second, and
        certainty for every other word, which is only ever labelled 1.
        """
        numbers, logs = self._candidates(released, joint=False)
        log_a, log_b = np.pad(logs, ((0, 0), (0, 1)), constant_values=-np.inf)[:, :2].T
        with np.errstate(divide="ignore"):
            first = log_a - np.log(-np.expm1(np.minimum(log_a, 0.0)))
        match = numbers == np.array([self.channel.input_index[x] for x in candidates])[:, None]
        odds = np.column_stack([first, log_b - log_a])[:, : match.shape[1]]
        return np.where(match.any(axis=1), odds[np.arange(len(odds)), match.argmax(axis=1)], np.inf)

    def _posteriors(self, docs, positions, k):
        numbers, scores, released = self.bayes.candidates_at(docs, positions, self.k)
        # A position with one candidate needs no reading.
        read = (numbers >= 0) & ((numbers >= 0).sum(axis=1, keepdims=True) > 1)
        places = [(*positions[at], self.channel.inputs[numbers[at, j]]) for at, j in np.argwhere(read)]
        pairs = [self.attacked_pair(docs[document], index, word) for document, index, word in places]
        if pairs:
            scores[read] += self._log_context(pairs)
        return Posterior.from_scores(positions, released, self.channel.inputs, numbers, scores, k)

    def pair(self, doc: Sequence[str], index: int, word: str, span: int | None = None) -> Pair:
        """f(c, y) and f(c, x') for a position of a sanitized document, `span` words around it."""
        near, at = around(doc, index, span or self.span)
        return Pair(tuple(near), (*near[:at], word, *near[at + 1 :]))

    def attacked_pair(self, doc: Sequence[str], index: int, word: str) -> Pair:
        """Return the pair of a position that is attacked."""
        return self.pair(doc, index, word)

    def _log_context(self, pairs: Sequence[Pair]) -> np.ndarray:
        """log h, which the paper puts in the place of log Pr(c | x, y)."""
        return -np.logaddexp(0.0, -self.detector.log_odds(pairs))


class _Item(NamedTuple):
    """A candidate for a position, and whether it is the original word."""

    document: int
    place: int
    word: str
    label: int
