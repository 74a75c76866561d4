"""The exact contextual optimum for a Markov source: forward-backward over a whole sanitized sentence.

States are original words, transitions a `MarkovModel`, emissions the channel: Pr(x_i | y_1 .. y_n) are the
smoothing marginals of a hidden Markov model (Rabiner 1989), and their mode is the rule of Theorem 2 of Tong et
al. 2024.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import compress

import numpy as np

from textsan.attacks.base import Attack, Position, filled
from textsan.attacks.emissions import Emissions
from textsan.attacks.forward_backward import Transitions, smooth
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.training_text import paired, whole_sentences
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.channel.accelerator import choose_device
from textsan.priors import InterpolatedModel, MarkovModel, fit_bigrams

_WEIGHTS, _FOLDS = (0.0, 0.25, 0.5, 0.75, 1.0), 5  # that `fit` tries, and on how many parts

PUBLIC = True
"""True if attacks mix the public n-gram table into their bigrams unless they are asked otherwise."""


class MarkovBayes(Attack):
    """Guesses the mode of Pr(x_i | y_1 .. y_n), the best rule there is if the sentences come from the model.

    A word that the channel cannot release was kept verbatim: an observed state, guessed to be itself. An observed
    word that is no state of the model follows with its predecessor's backoff weight and tells nothing else.

    With a weight below 1 the transitions A(x, x') become A(x, x')^weight f(x')^(1 - weight), f the model's
    unigram frequencies: 1 trusts the model, 0 is the context-free attack with prior f. `fit` chooses it.

    Args:
        model: word language model with a state for every input of the channel; None leaves it to `fit`.
        weight: of the language model against unigram frequencies, in [0, 1]; 1 for an `InterpolatedModel`.
        k: None is exact; else each position has as states the `k` inputs that are best without context (and
            the `k` best of those that are not sensitive, where there are such).
        device: where messages are computed: None is NumPy; else a torch device, as of `Channel.posterior`.

    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> model = MarkovModel.from_arrays(["a", "b", "the"], [0, 0, 1], [[0, 1, 0], [1, 0, 0], [0.75, 0.25, 0]])
    >>> MarkovBayes(channel, model).posterior(["the", "v", "u"])
    [{'the': 1.0}, {'a': 0.75, 'b': 0.25}, {'a': 0.25, 'b': 0.75}]
    """

    def __init__(
        self,
        channel: Channel,
        model: MarkovModel | InterpolatedModel | None = None,
        *,
        weight: float = 1.0,
        k: int | None = None,
        attacked: Collection[str] | None = None,
        device: str | None = None,
    ):
        self.channel, self.model = channel, model
        self.device = None if device is None else choose_device(device)
        self.weight = checks.number("weight", weight, low=0, high=1)
        self.k = None if k is None else checks.whole("k", k, low=1)
        self.attacked = frozenset(channel.inputs if attacked is None else attacked)
        if isinstance(model, InterpolatedModel) and self.weight != 1:
            raise ValueError(f"weight: {weight!r} with an InterpolatedModel, which has none; pass 1")
        if model is not None:
            self._use(model)

    @classmethod
    def against(cls, knowledge: Knowledge, *, k: int | None = None, public: bool = PUBLIC) -> "MarkovBayes":
        """Make the attack with the model that is granted, or with one fitted on shadow text."""
        if isinstance(knowledge.prior, MarkovModel):
            return cls(knowledge.channel, knowledge.prior, k=k, attacked=knowledge.attacked)
        attack = cls(knowledge.channel, k=k, attacked=knowledge.attacked)
        return attack.fit(*knowledge.sanitized(), public=public)

    @classmethod
    def alone(cls, knowledge: Knowledge, *, k: int | None = None) -> "MarkovBayes":
        """Make the attack with the public n-gram table and no text of the attacker's own, whatever is granted."""
        model = InterpolatedModel.fit((), knowledge.channel.inputs)
        return cls(knowledge.channel, model, k=k, attacked=knowledge.attacked)

    @property
    def setting(self) -> tuple[bool, float]:
        """The choice of `fit`: whether the public table is in the model, and the weight."""
        return isinstance(self.model, InterpolatedModel), self.weight

    @property
    def details(self) -> dict[str, float]:
        return {"public_share": self.model.share} if isinstance(self.model, InterpolatedModel) else {}

    def _use(self, model: MarkovModel | InterpolatedModel) -> None:
        self.model = model
        self._transitions: dict = {}
        self._emissions = Emissions(self.channel, model, self.k, self.attacked)

    def fit(
        self,
        shadow_docs: Sequence[Sequence[str]],
        sanitized_docs: Sequence[Sequence[str]],
        *,
        public: bool = PUBLIC,
    ) -> "MarkovBayes":
        """Fit the language model on shadow sentences, and the weight to attacks on them.

        Each of five folds of the shadow sentences, phrases of one together, is attacked with a model of the other
        folds. Of the weights 0, 1/4, .., 1 whose hits are within a standard error of the most hits the smallest is
        kept, so that context is used only where it is seen to pay. With `public`, an `InterpolatedModel` of the
        other folds is tried after weight 1: it is kept if all weights miss more than that of its hits. Then the
        model is fitted on all folds.
        """
        shadow, released = paired(shadow_docs, sanitized_docs)
        sentence = whole_sentences(shadow)
        number = len(set(sentence))
        if number < _FOLDS:
            raise ValueError(f"shadow_docs: {number} sentences for {_FOLDS} folds; pass more documents")
        kinds = [(False, _WEIGHTS), (True, (1.0,))][: 1 + public]
        right: dict[tuple[bool, float], list[bool]] = {(kind, w): [] for kind, weights in kinds for w in weights}
        for part in np.array_split(np.arange(number), _FOLDS):
            inside = np.isin(sentence, part)
            held = list(compress(shadow, inside))
            positions = [(d, i) for d, doc in enumerate(held) for i, x in enumerate(doc) if x in self.attacked]
            for kind, weights in kinds:
                self._use(fit_bigrams(compress(shadow, ~inside), self.channel.inputs, kind))
                guessed = self._guesses(list(compress(released, inside)), positions, weights)
                for weight, guesses in zip(weights, guessed, strict=True):
                    hits = [guess == held[d][i] for guess, (d, i) in zip(guesses, positions, strict=True)]
                    right[kind, weight] += hits
        kind, self.weight = list(right)[_smallest_of_the_best(np.array(list(right.values())))]
        self._use(fit_bigrams(shadow, self.channel.inputs, kind))
        return self

    def posterior(self, sanitized_doc: Sequence[str]) -> list[dict[str, float]]:
        """Pr(x_i | y_1 .. y_n) of every position: words with their probabilities, impossible ones left out.

        Of positions that may or may not be under attack: unlike `posteriors` it does not use which words can be.
        """
        [doc] = checks.documents("sanitized_doc", [sanitized_doc])
        result: list[dict[str, float]] = []
        for _, states, [posteriors] in self._smooth([doc], [self.weight]):
            for released, state, posterior in zip(doc, states, posteriors, strict=True):
                i = np.flatnonzero(posterior[0])
                words = [self._word(number, released) for number in state[0, i]]
                result.append(dict(zip(words, posterior[0, i].tolist(), strict=True)))
        return result

    def confidence(self, sanitized_docs: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Pr(x_i = guess | y_1 .. y_n) of every position: the chance that the guess is right, if the model is.

        It is 0 where no word that can stand at an attacked position explains what was released.
        """
        docs = checks.documents("sanitized_docs", sanitized_docs)
        result = [np.ones(len(doc)) for doc in docs]
        for numbers, states, [posteriors] in self._smooth(docs, [self.weight]):
            for t, posterior in enumerate(posteriors):
                allowed = posterior * self._emissions.attackable[states[t]]
                for d, value in zip(numbers, allowed.max(axis=1), strict=False):
                    result[d][t] = value
        return result

    def _guess(self, docs, positions):
        [guesses] = self._guesses(docs, positions, [self.weight])
        return guesses

    def _posteriors(self, docs, positions, k):
        wanted = sorted({document for document, _ in positions})
        rows: dict[Position, tuple[np.ndarray, np.ndarray]] = {}
        for numbers, states, [posteriors] in self._smooth([docs[d] for d in wanted], [self.weight]):
            for t, posterior in enumerate(posteriors):
                allowed = posterior * self._emissions.attackable[states[t]]
                best = np.argsort(-allowed, axis=1, kind="stable")[:, :k]
                for at, state, mass, order in zip(numbers, states[t], allowed, best, strict=False):
                    rows[wanted[at], t] = state[order], mass[order] / max(mass.sum(), 1e-300)
        lines = []
        for state, weights in (rows[position] for position in positions):
            # The state that is no word of the model stands for the released word itself, as none at all does.
            known = (weights > 0) & (state < self._emissions.n)
            lines.append((state[known], np.log(weights[known])))
        released = [docs[d][i] for d, i in positions]
        return Posterior(positions, self._emissions.model.words, *filled(lines), released=released)

    def _guesses(self, docs, positions, weights: Sequence[float]) -> list[list[str]]:
        """Guesses at each weight; the mode among words that can stand at an attacked position."""
        wanted = sorted({document for document, _ in positions})
        best: list[dict] = [{} for _ in weights]
        for numbers, states, by_weight in self._smooth([docs[d] for d in wanted], weights):
            for found, posteriors in zip(best, by_weight, strict=True):
                for t, posterior in enumerate(posteriors):
                    allowed = posterior * self._emissions.attackable[states[t]]
                    modes = np.take_along_axis(states[t], allowed.argmax(axis=1)[:, None], axis=1)[:, 0]
                    modes[~allowed.any(axis=1)] = self._emissions.n
                    found.update(((wanted[at], t), mode) for at, mode in zip(numbers, modes, strict=False))
        return [[self._word(found[d, i], docs[d][i]) for d, i in positions] for found in best]

    def _word(self, state: int, released: str) -> str:
        """The word of a state; the one state that is no word of the model is what was released."""
        return self._emissions.model.words[state] if state < self._emissions.n else released

    def _smooth(self, docs: list[list], weights: Sequence[float]) -> Iterator[tuple[list[int], Sequence, list]]:
        """Batches of documents, the longest first: numbers, states of a position, its posteriors at each weight.

        A position has a row for each document that reaches it.
        """
        if self.model is None:
            raise ValueError("model: none yet; pass one, or call fit(shadow_docs, sanitized_docs)")
        for weight in weights:
            if weight not in self._transitions:
                self._transitions[weight] = Transitions(self.model, weight)
        transitions = [self._transitions[weight] for weight in weights]
        sparse = self._emissions.tabulate({token for doc in docs for token in doc})
        numbers = sorted((d for d, doc in enumerate(docs) if doc), key=lambda d: -len(docs[d]))
        while numbers:
            # On a device messages are over all states.
            size = self._emissions.sentences(len(docs[numbers[0]]), sparse and self.device is None)
            part, numbers = numbers[:size], numbers[size:]
            chain = self._emissions.chain([docs[d] for d in part], transitions[0] if sparse else None)
            yield part, chain.states, [smooth(chain, a, self.device) for a in transitions]


def _smallest_of_the_best(right: np.ndarray) -> int:
    """The first row that misses the most hits by no more than the standard error of the difference."""
    most = right[right.sum(axis=1).argmax()]
    lost = most.sum() - right.sum(axis=1)
    return int(np.argmax(lost <= np.sqrt((right != most).sum(axis=1))))
