"""A log-linear mixture of all that an attacker has: channel, frequencies, bigrams, reader, language model.

    log score(x) = w_1 log Pr(y | x) + w_2 log Pr(x) + w_3 b(x) + w_4 p(x) + w_5 s(x) + w_6 l(x)

where Pr(x) leaves a share to unseen words, s is a reader's estimate of log Pr(c | x) up to a constant, and b, p
and l are what a bigram model, one with the public n-gram table in it and a language model add to the context-free
posterior: log Pr(x | y_1 .. y_n) of each minus log Pr(x | y). The weights make original words of shadow sentences
likeliest (a conditional logit), sentences whose own words are in none of the counts, bigrams and readers that
attack them. They are fitted on protected words alone, as hits are counted. Who is not told which positions are
attacked has kept words among the candidates, too: a kept word that was released is nearly always itself, and would
say of the weights only how sure that is.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from textsan.attacks.base import Attack, Position
from textsan.attacks.context_free import ContextFreeBayes
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.language_model import BEAM, COUNTS, TEMPERATURE, LanguageModelBayes, unseen_prior
from textsan.attacks.markov import PUBLIC, MarkovBayes
from textsan.attacks.training_text import folds, held_out_split, whole_sentences
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.models.causal import CAUSAL
from textsan.priors import LanguageModel, MarkovModel, NGrams, Prior, fit_bigrams
from textsan.text.vocabulary import count_words

STATED = {"channel": 1.0, "frequencies": 1.0, "bigrams": 0.3, "public": 0.8, "reader": 0.5, "language": 0.6}
"""Weights for those who cannot fit any, and where those that are fitted start from."""

_SPREAD = 0.5  # standard deviation of the normal prior of each weight around the stated one
_FOLDS = 2
_ENOUGH = 10  # whole sentences of shadow text; with fewer the weights are the stated ones
_FLOOR = np.log(1e-6)  # log posterior of a candidate that a part does not list


class Mixture(Attack):
    """Guesses the word of the largest log-linear score, over the `k` likeliest words of each released one.

    Args:
        prior: Pr(x), with a share for unseen words.
        bigrams: an attack with a bigram model; None leaves it out, like the next three.
        public: an attack with an `InterpolatedModel`.
        reader: a `NoisyChannel`, whose reader is used.
        language: a `LanguageModelBayes`.
        weights: of the parts by name; those that are missing are the stated ones.
        attacked: words that can stand at attacked positions; None is every input, kept ones among them.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["a", "b"])
    >>> Mixture(channel, Prior(["a", "b"], [0.9, 0.1])).reconstruct([["b"]], [(0, 0)])
    ['a']
    """

    def __init__(
        self,
        channel: Channel,
        prior: Prior,
        *,
        bigrams: MarkovBayes | None = None,
        public: MarkovBayes | None = None,
        reader=None,
        language: LanguageModelBayes | None = None,
        weights: Mapping[str, float] | None = None,
        k: int = 20,
        attacked: Collection[str] | None = None,
    ):
        self.channel, self.k = channel, checks.whole("k", k, low=1)
        self.attacked = frozenset(channel.inputs if attacked is None else attacked)
        self._free = ContextFreeBayes(channel, prior, attacked=self.attacked)
        self._contexts = {"bigrams": bigrams, "public": public, "reader": reader, "language": language}
        self._contexts = {name: part for name, part in self._contexts.items() if part is not None}
        given = dict(weights or {})
        names = ("channel", "frequencies", *self._contexts)
        if unknown := given.keys() - STATED.keys():
            raise ValueError(f"weights: {sorted(unknown)[0]!r} is no part; known: {', '.join(STATED)}")
        self.weights = {name: checks.number(name, given.get(name, STATED[name])) for name in names}

    @classmethod
    def against(
        cls,
        knowledge: Knowledge,
        *,
        bigrams: bool = True,
        public: bool = PUBLIC,
        reader: bool = True,
        language: bool = True,
        model: str = CAUSAL,
        beam: int = BEAM,
        k: int = 20,
        sentences: int = 60,
    ) -> "Mixture":
        """Make the attack, its weights fitted on shadow sentences; with too few of them the stated ones.

        Args:
            knowledge: a channel and, for weights and for bigrams, shadow text; its resources "adapter", where the
                reader starts, and "language model", one that is loaded already.
            bigrams, public, reader, language: which parts to use.
            sentences: shadow sentences that the weights are fitted on.
        """
        checks.whole("sentences", sentences, low=1)
        reader = reader and bool(knowledge.resources.get("adapter"))
        parts = {"bigrams": bigrams, "public": public, "reader": reader}
        source = None
        if language:
            source = knowledge.resources.get("language model") or LanguageModel.named(model)
        make = _Maker(cls, knowledge, parts, source, beam, k)
        attack = make(knowledge.shadow or ())
        if len(set(whole_sentences(knowledge.shadow or ()))) >= _ENOUGH:
            attack.weights = make.fit(sentences)
        return attack

    @classmethod
    def without(
        cls, knowledge: Knowledge, *, public: bool = PUBLIC, k: int = 20, sentences: int = 60
    ) -> "Mixture":
        """Make the attack without its language model, else as `against`: the difference is what that one adds."""
        return cls.against(knowledge, public=public, language=False, k=k, sentences=sentences)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self._contexts.values() for name in part.models))

    @property
    def details(self) -> dict[str, float]:
        weights = {f"{name}_weight": weight for name, weight in self.weights.items()}
        language = self._contexts.get("language")
        return weights | (dict(language.details) if language else {})

    def factors(self, docs: Sequence[Sequence[str]], positions: Sequence[Position]) -> "Factors":
        """Score the candidates of each position by each part."""
        numbers, joint, _ = self._free.candidates_at(docs, positions, min(self.k, len(self.channel.inputs)))
        possible = (numbers >= 0) & (joint > -np.inf)
        numbers = np.where(possible, numbers, -1)
        frequencies = np.where(possible, self._free.log_prior[numbers], 0.0)
        channel = np.where(possible, joint - frequencies, -np.inf)
        values = {"channel": channel, "frequencies": frequencies}
        total = scipy.special.logsumexp(np.where(possible, joint, -1e30), axis=1, keepdims=True)
        free = np.where(possible, joint - total, 0.0)
        for name, part in self._contexts.items():
            if name == "reader":
                said = _reader(part, docs, positions, numbers)
            elif name == "language":
                listed = part.read(docs, positions)
                read = np.array([len(some) > 0 for some, _ in listed], dtype=bool)[:, None]
                # Who is not told where attacked words stand takes a kept word for itself, and reads nothing there.
                said = np.where(read, _aligned(listed, numbers) - free, 0.0)
            else:
                said = _bigrams(part, docs, positions, numbers) - free
            values[name] = np.where(possible, said, 0.0)
        return Factors(numbers, values)

    def _posteriors(self, docs, positions, k):
        found = self.factors(docs, positions)
        released = [docs[d][i] for d, i in positions]
        scores = found.scores(self.weights)
        return Posterior.from_scores(positions, released, self.channel.inputs, found.numbers, scores, k)


class Factors(NamedTuple):
    """Scores that parts give the candidates of n positions.

    Attributes:
        numbers: (n, k) inputs of the channel, -1 for none.
        values: for each part log factors, (n, k).
    """

    numbers: np.ndarray
    values: dict[str, np.ndarray]

    def scores(self, weights: Mapping[str, float]) -> np.ndarray:
        """The weighted sum, -inf where there is no candidate."""
        total = sum(
            weight * np.where(self.numbers >= 0, self.values[name], 0.0) for name, weight in weights.items()
        )
        return np.where(self.numbers >= 0, total, -np.inf)


def fit_weights(factors: Sequence[Factors], truths: Sequence[np.ndarray]) -> dict[str, float]:
    """Fit the weights that make original words likeliest: a conditional logit, its normal prior around `STATED`.

    Truths are (n,) numbers of the original words; where one is no candidate the position tells nothing.
    """
    names = list(factors[0].values)
    stated = np.array([STATED[name] for name in names])
    parts = []
    for found, true in zip(factors, truths, strict=True):
        match = (found.numbers == np.asarray(true)[:, None]) & (found.numbers >= 0)
        known = match.any(axis=1)
        values = np.stack([found.values[name][known] for name in names], axis=2)
        possible = found.numbers[known] >= 0
        parts.append((np.where(possible[:, :, None], values, 0.0), possible, match[known].argmax(axis=1)))

    def loss(weights):
        total = ((weights - stated) ** 2).sum() / (2 * _SPREAD**2)
        slope = (weights - stated) / _SPREAD**2
        for values, possible, right in parts:
            logs = scipy.special.log_softmax(np.where(possible, values @ weights, -1e30), axis=1)
            line = np.arange(len(right))
            total -= logs[line, right].sum()
            slope = slope + np.einsum("nk,nkf->f", np.exp(logs), values) - values[line, right].sum(axis=0)
        return total, slope

    found = scipy.optimize.minimize(loss, stated, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(names))
    return dict(zip(names, found.x.tolist(), strict=True))


class _Maker:
    """Mixtures of one threat model whose counts and bigrams come from some of the shadow documents."""

    def __init__(self, kind, knowledge: Knowledge, parts: Mapping[str, bool], source, beam: int, k: int):
        self.kind, self.knowledge, self.parts = kind, knowledge, parts
        self.source, self.beam, self.k = source, beam, k
        self.attacked = knowledge.candidates

    def __call__(self, docs: Sequence[Sequence[str]]) -> Mixture:
        """A mixture that has seen these documents, with stated weights."""
        channel, granted = self.knowledge.channel, self.knowledge.prior
        shared: dict[str, Any] = {"attacked": self.attacked, "k": self.k}
        informed = granted is not None or any(docs)
        prior = unseen_prior(self.knowledge, docs)
        model = granted if isinstance(granted, MarkovModel) else None
        if model is None and self.parts["bigrams"] and any(docs):
            model = MarkovModel.fit(docs, words=channel.inputs)
        bigrams = public = reader = language = None
        if self.parts["bigrams"] and model is not None:
            bigrams = MarkovBayes(channel, model, weight=_BIGRAMS, **shared)
        if self.parts["public"] and granted is None and any(word in NGrams.load() for word in channel.inputs):
            public = MarkovBayes(channel, fit_bigrams(docs, channel.inputs, public=True), **shared)
        if self.parts["reader"] and any(docs):
            from textsan.attacks.noisy_channel import NoisyChannel

            adapter = self.knowledge.resources["adapter"]
            reader = NoisyChannel(channel, count_words(docs), adapter=adapter, bigrams=False, **shared)
        if self.source is not None:
            searched: dict[str, Any] = {"beam": self.beam, "mass": 0.99} | shared
            searched |= {"temperature": TEMPERATURE, "counts": COUNTS} if informed else {}
            language = LanguageModelBayes(channel, self.source, prior=prior, **searched)
        contexts = {"bigrams": bigrams, "public": public, "reader": reader, "language": language}
        return self.kind(channel, prior, **contexts, **shared)

    def fit(self, sentences: int) -> dict[str, float]:
        """Weights from so many shadow sentences, attacked by what has seen neither them nor their phrases."""
        shadow, released = self.knowledge.sanitized()
        channel, scored = self.knowledge.channel, self.knowledge.scored
        is_scored = np.array([word in scored for word in channel.inputs])
        share = min(1.0, sentences / len(shadow))
        chosen = list(range(len(shadow)))
        if share < 0.9:
            chosen = held_out_split(shadow, share, self.knowledge.seed)[1]
        factors, truths = [], []
        for part in folds([shadow[d] for d in chosen], _FOLDS, self.knowledge.seed):
            attacked = [chosen[i] for i in part]
            own = set(whole_sentences(shadow)[attacked])
            others = [doc for doc, s in zip(shadow, whole_sentences(shadow), strict=True) if s not in own]
            originals = [shadow[d] for d in attacked]
            positions = [(d, i) for d, doc in enumerate(originals) for i, x in enumerate(doc) if x in scored]
            if not positions or not any(others):
                continue
            numbers, values = self(others).factors([released[d] for d in attacked], positions)
            factors.append(Factors(np.where(is_scored[numbers], numbers, -1), values))
            truths.append(np.array([channel.input_index[originals[d][i]] for d, i in positions]))
        return fit_weights(factors, truths) if factors else dict(self(shadow).weights)


_BIGRAMS = 0.75  # of the bigram model against unigram frequencies, within its forward-backward


def _bigrams(attack: MarkovBayes, docs, positions, numbers) -> np.ndarray:
    """log Pr(x_i | y_1 .. y_n) of the candidates, (n, k)."""
    found = attack.posteriors(docs, positions, k=numbers.shape[1])
    assert attack.model is not None  # or it had no posteriors
    index, words = attack.channel.input_index, attack.model.words
    listed = [
        (np.array([index.get(words[s], -2) for s in line[line >= 0]], dtype=np.intp), logs[line >= 0])
        for line, logs in zip(found.numbers, found.log_probabilities, strict=True)
    ]
    return _aligned(listed, numbers)


def _reader(attack, docs, positions, numbers) -> np.ndarray:
    """s(x, c) of the candidates, 0 where the reader does not list one."""
    known, rows, _, read, _ = attack._factors(docs, positions)
    result = np.zeros(numbers.shape)
    listed = [(row, values) for row, values in zip(rows, read, strict=True)]
    if len(known):
        result[known] = _aligned(listed, numbers[known], floor=-np.inf)
    return np.where(np.isfinite(result), result, 0.0)


def _aligned(
    listed: Sequence[tuple[np.ndarray, np.ndarray]], numbers: np.ndarray, floor: float = _FLOOR
) -> np.ndarray:
    """Values in the order of `numbers`, at least `floor`."""
    result = np.full(numbers.shape, floor)
    for line, (some, values) in enumerate(listed):
        if len(some):
            match = numbers[line][:, None] == some
            there = match.any(axis=1)
            result[line, there] = np.maximum(values[match[there].argmax(axis=1)], floor)
    return result
