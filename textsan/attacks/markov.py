"""The exact contextual optimum for a Markov source: forward-backward over a whole sanitized sentence.

States are original words, transitions a `MarkovModel`, emissions the channel: Pr(x_i | y_1 .. y_n) are the
smoothing marginals of a hidden Markov model (Rabiner 1989), and their mode is the rule of Theorem 2 of Tong et
al. 2024.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from textsan import checks
from textsan.attacks.base import Attack
from textsan.attacks.forward_backward import Dense, Sparse, Transitions, smooth
from textsan.channel import Channel, map_blocks
from textsan.priors import MarkovModel

SPARSE_LIMIT = 1024  # candidates a position; above it, products with the whole transition matrix are cheaper
_COLUMNS = 256  # outputs whose candidates are computed before their number is looked at
_DENSE_ENTRIES = 1 << 24  # float64 of forward messages held at a time: 128 MiB
_SPARSE_SENTENCES = 128  # sentences of one length that are worked through together


class MarkovBayes(Attack):
    """Guesses the mode of Pr(x_i | y_1 .. y_n), the best rule there is if the sentences come from the model.

    A word that the channel cannot release was kept verbatim: an observed state, guessed to be itself. So is a
    word of `keep`, as far as no other word can have been replaced by it. An observed word that is no state of the
    model follows with its predecessor's backoff weight and tells nothing else.

    With a weight below 1 the transitions A(x, x') become A(x, x')^weight f(x')^(1 - weight), f the model's
    unigram frequencies: 1 trusts the model, 0 is the context-free attack with prior f. `fit` chooses it.

    Args:
        channel: Pr(y | x), known to the attacker.
        model: word language model with a state for every input of the channel; None leaves it to `fit`.
        weight: of the language model against unigram frequencies, in [0, 1].
        k: None is exact; else only the `k` best inputs of the context-free attack at each position.
        keep: words that the mechanism releases verbatim.

    Raises:
        ValueError: an input of the channel that is no state of the model, or a number out of range.

    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> model = MarkovModel.from_arrays(["a", "b", "the"], [0, 0, 1], [[0, 1, 0], [1, 0, 0], [0.75, 0.25, 0]])
    >>> MarkovBayes(channel, model).posterior(["the", "v", "u"])
    [{'the': 1.0}, {'a': 0.75, 'b': 0.25}, {'a': 0.25, 'b': 0.75}]
    """

    def __init__(
        self, channel: Channel, model: MarkovModel | None = None, *, weight: float = 1.0, k=None, keep=()
    ):
        self.channel, self.model = channel, model
        self.weight = checks.number("weight", weight, low=0, high=1)
        self.k = None if k is None else checks.whole("k", k, low=1)
        self.keep = frozenset(keep)
        self._tables: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        if model is not None:
            missing = [word for word in channel.inputs if word not in model.index]
            if missing:
                raise ValueError(
                    f"model: {missing[0]!r} is no state ({len(missing)} missing); fit it with words=inputs"
                )
            self._states = np.array([model.index[word] for word in channel.inputs], dtype=np.intp)
            self._kept = np.array([word in self.keep for word in channel.inputs])

    def fit(
        self,
        shadow_docs: Sequence[Sequence[str]],
        sanitized_docs: Sequence[Sequence[str]],
        *,
        weights: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
        folds: int = 5,
    ) -> "MarkovBayes":
        """Fits the language model on shadow sentences, and the weight to attacks on them.

        Each fold of the shadow sentences is attacked with a model of the other folds; the weight that
        reconstructs most words is kept (the smallest of equals), and the model is fitted on all of them.

        Args:
            shadow_docs: the attacker's own token lists, never attacked ones.
            sanitized_docs: the same, sanitized by the attacker with the mechanism under attack.
            weights: candidates.
            folds: parts of the shadow sentences, at least 2.

        Raises:
            ValueError: documents whose lengths disagree, or fewer of them than folds.
        """
        shadow = checks.documents("shadow_docs", shadow_docs)
        released = checks.documents("sanitized_docs", sanitized_docs)
        if [len(doc) for doc in shadow] != [len(doc) for doc in released]:
            raise ValueError("sanitized_docs: lengths differ from shadow_docs; sanitize the same documents")
        if len(shadow) < checks.whole("folds", folds, low=2):
            raise ValueError(f"shadow_docs: {len(shadow)} documents for {folds} folds; pass more documents")
        attackable = set(self.channel.inputs) - self.keep
        hits = np.zeros(len(weights))
        for part in np.array_split(np.arange(len(shadow)), folds):
            rest = shadow[: part[0]] + shadow[part[-1] + 1 :]
            held, seen = shadow[part[0] : part[-1] + 1], released[part[0] : part[-1] + 1]
            model = MarkovModel.fit(rest, words=self.channel.inputs)
            positions = [(d, i) for d, doc in enumerate(held) for i, x in enumerate(doc) if x in attackable]
            truths = [held[d][i] for d, i in positions]
            tables = {}
            for at, weight in enumerate(weights):
                attack = MarkovBayes(self.channel, model, weight=weight, k=self.k, keep=self.keep)
                attack._tables = tables
                guesses = attack.reconstruct(seen, positions)
                hits[at] += sum(guess == truth for guess, truth in zip(guesses, truths, strict=True))
        best = min(np.flatnonzero(hits == hits.max()), key=lambda at: weights[at])
        self.__init__(
            self.channel,
            MarkovModel.fit(shadow, words=self.channel.inputs),
            weight=weights[best],
            k=self.k,
            keep=self.keep,
        )
        return self

    def posterior(self, sanitized_doc: Sequence[str]) -> list[dict[str, float]]:
        """Pr(x_i | y_1 .. y_n) of every position: words with their probabilities, impossible ones left out.

        Args:
            sanitized_doc: tokens as the mechanism released them.

        Raises:
            ValueError: the model and the channel cannot have produced the document.
        """
        [doc] = checks.documents("sanitized_doc", [sanitized_doc])
        result: list[dict[str, float]] = []
        for _, states, posteriors in self._smooth([doc]):
            for word, state, posterior in zip(doc, states, posteriors, strict=True):
                i = np.flatnonzero(posterior[0])
                words = self._words(state[0, i], word)
                result.append(dict(zip(words, posterior[0, i].tolist(), strict=True)))
        return result

    def confidence(self, sanitized_docs: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """max_x Pr(x_i | y_1 .. y_n) of every position: the chance that the guess is right, if the model is.

        Args:
            sanitized_docs: token lists.
        """
        docs = checks.documents("sanitized_docs", sanitized_docs)
        result = [np.ones(len(doc)) for doc in docs]
        for numbers, _, posteriors in self._smooth(docs):
            for t, posterior in enumerate(posteriors):
                for d, value in zip(numbers, posterior.max(axis=1), strict=True):
                    result[d][t] = value
        return result

    def _guess(self, docs, positions):
        wanted = sorted({document for document, _ in positions})
        best = {}
        for numbers, states, posteriors in self._smooth([docs[d] for d in wanted]):
            for t, posterior in enumerate(posteriors):
                modes = np.take_along_axis(states[t], posterior.argmax(axis=1)[:, None], axis=1)[:, 0]
                for at, mode in zip(numbers, modes, strict=True):
                    best[wanted[at], t] = mode
        return [self._words([best[d, i]], docs[d][i])[0] for d, i in positions]

    def _words(self, states, released: str) -> list[str]:
        """Words of states; the one state that is no word of the model is what was released."""
        words = self.model.words
        return [words[state] if state < len(words) else released for state in states]

    def _smooth(self, docs: list[list]) -> Iterator[tuple[list[int], list[np.ndarray], list[np.ndarray]]]:
        """Batches of documents of one length: their numbers, and for each position states and posteriors."""
        if self.model is None:
            raise ValueError("model: none yet; pass one, or call fit(shadow_docs, sanitized_docs)")
        by_length = defaultdict(list)
        for number, doc in enumerate(docs):
            by_length[len(doc)].append(number)
        transitions = Transitions(self.model, self.weight)
        candidates = self._fill({token for doc in docs for token in doc})
        for length in sorted(by_length.keys() - {0}):
            numbers = by_length[length]
            size = _SPARSE_SENTENCES if candidates else max(1, _DENSE_ENTRIES // (length * (transitions.n + 1)))
            for at in range(0, len(numbers), size):
                part = numbers[at : at + size]
                columns = list(zip(*(docs[d] for d in part), strict=True))
                if candidates:
                    padded = [self._padded(column) for column in columns]
                    chain = Sparse(transitions, [p[0] for p in padded], [p[1] for p in padded])
                else:
                    chain = Dense(transitions, [self._emissions(column) for column in columns])
                yield part, chain.states, smooth(chain)

    def _observed(self, token) -> bool:
        """Whether a token is sure to be its own original; a tuple (word,) says so of any word."""
        return isinstance(token, tuple) or token not in self.channel.output_index

    def _state(self, token) -> int:
        return self.model.index.get(token[0] if isinstance(token, tuple) else token, len(self.model.words))

    def _fill(self, tokens: set) -> bool:
        """Completes the table of candidates and their emissions; False if there are too many to list."""
        new = sorted(token for token in tokens if not self._observed(token) and token not in self._tables)
        tables = []
        for at in range(0, len(new), _COLUMNS):
            for block in map_blocks(self._candidates, np.array(new[at : at + _COLUMNS], dtype=object)):
                tables += block
            if self.k is None and max(len(states) for states, _ in tables) > SPARSE_LIMIT:
                return False
        self._tables.update(zip(new, tables, strict=True))
        return True

    def _candidates(self, outputs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For some outputs the states that can have been released as them, with Pr(y | x) up to a factor."""
        outputs = outputs.tolist()
        if self.k is None:
            logs = self._log_columns(outputs)
            best = [np.flatnonzero(column > -np.inf) for column in logs]
            logs = [column[at] for column, at in zip(logs, best, strict=True)]
        else:
            with np.errstate(divide="ignore"):
                log_prior = np.log(self.model.unigram[self._states])
            log_prior[self._kept] = -np.inf
            numbers, scores = self.channel.best_inputs(log_prior, outputs, self.k)
            best = [at[score > -np.inf] for at, score in zip(numbers, scores, strict=True)]
            logs = [score[: len(at)] - log_prior[at] for at, score in zip(best, scores, strict=True)]
        tables = []
        for token, at, log_emission in zip(outputs, best, logs, strict=True):
            states = self._states[at]
            if token in self.keep or not len(at):  # what no input explains can only be its own original
                states, log_emission = np.append(states, self._state(token)), np.append(log_emission, 0.0)
            tables.append((states, np.exp(log_emission - log_emission.max())))
        return tables

    def _log_columns(self, outputs: list[str]) -> np.ndarray:
        logs = self.channel.log_columns(outputs)
        logs[:, self._kept] = -np.inf
        return logs

    def _padded(self, column) -> tuple[np.ndarray, np.ndarray]:
        """Candidates and emissions at one position of all sentences of a batch, filled up to one width."""
        tables = [
            (np.array([self._state(token)]), np.ones(1)) if self._observed(token) else self._tables[token]
            for token in column
        ]
        width = max(len(states) for states, _ in tables)
        states = np.full((len(tables), width), len(self.model.words), dtype=np.intp)
        emissions = np.zeros((len(tables), width))
        for row, (some, weights) in enumerate(tables):
            states[row, : len(some)], emissions[row, : len(some)] = some, weights
        return states, emissions

    def _emissions(self, column) -> np.ndarray:
        """Pr(y | .) over all states at one position of all sentences of a batch, up to a factor for each."""
        emissions = np.zeros((len(column), len(self.model.words) + 1))
        hidden = [row for row, token in enumerate(column) if not self._observed(token)]
        logs = self._log_columns([column[row] for row in hidden])
        best = logs.max(axis=1, keepdims=True)
        kept = np.array([column[row] in self.keep for row in hidden])
        best[kept | np.isneginf(best[:, 0])] = 0.0
        emissions[np.ix_(hidden, self._states)] = np.exp(logs - best)
        own = ~emissions.any(axis=1) | [token in self.keep for token in column]
        emissions[own, [self._state(token) for token in compress(column, own)]] = 1.0
        return emissions


class NeighbourBayes(Attack):
    """The optimum of an attacker who is also told the unsanitized neighbours of the word under attack.

    Given x_{i-1} and x_{i+1} nothing else in the sentence tells more of x_i under a Markov source, so that
    its success bounds that of `MarkovBayes` with the true model: the upper rung of the ladder.

    Args:
        attack: channel, model and weight, as of an attacker without this advantage.
        original_docs: the documents as they were before they were sanitized.

    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> model = MarkovModel.from_arrays("ab", initial=[0.5, 0.5], transition=[[0, 1], [1, 0]])
    >>> NeighbourBayes(MarkovBayes(channel, model), [["b", "a"]]).reconstruct([["u", "v"]], [(0, 0), (0, 1)])
    ['b', 'a']
    """

    def __init__(self, attack: MarkovBayes, original_docs: Sequence[Sequence[str]]):
        self.attack = attack
        self.original_docs = checks.documents("original_docs", original_docs)

    def confidence(self, sanitized_docs: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """max_x Pr(x_i | y_i, x_{i-1}, x_{i+1}) of every position.

        Args:
            sanitized_docs: token lists.
        """
        docs = checks.documents("sanitized_docs", sanitized_docs)
        positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
        windows = self._windows(docs, positions)
        values = [v[min(i, 1)] for v, (_, i) in zip(self.attack.confidence(windows), positions, strict=True)]
        return np.split(np.array(values), np.cumsum([len(doc) for doc in docs])[:-1])

    def _guess(self, docs, positions):
        places = [(window, min(i, 1)) for window, (_, i) in enumerate(positions)]
        return self.attack._guess(self._windows(docs, positions), places)

    def _windows(self, docs, positions) -> list[list]:
        """Sentences of up to three tokens: a released word between its original neighbours, marked as known."""
        if [len(doc) for doc in docs] != [len(doc) for doc in self.original_docs]:
            raise ValueError("sanitized_docs: lengths differ from original_docs; pass the same documents")
        windows = []
        for d, i in positions:
            known = [(word,) for word in self.original_docs[d]]
            windows.append([*known[max(i - 1, 0) : i], docs[d][i], *known[i + 1 : i + 2]])
        return windows
