"""Emissions of released words over the states of a language model: Pr(y | x).

The bridge from a channel to forward-backward: candidate states are listed where they are few, else rows are full.
"""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from textsan.attacks.base import filled
from textsan.attacks.forward_backward import Dense, Sparse, Transitions
from textsan.base.blocks import map_blocks
from textsan.channel import Channel
from textsan.priors import InterpolatedModel, MarkovModel

_SENTENCES = 128  # worked through together, at most
SPARSE_LIMIT = 1024  # candidates a position; above it, products with the whole transition matrix are cheaper
_COLUMNS = 256  # outputs whose candidates are computed before their number is looked at
_DENSE_ENTRIES = 1 << 24  # float64 of one batch of messages: 128 MiB
_PAIRS = 1 << 24  # of candidates that follow each other, in one batch: 128 MiB


class Emissions:
    """Pr(y | x) over the states of a model, for tokens that were released, or (as tuples (word,)) told."""

    def __init__(self, channel: Channel, model: MarkovModel | InterpolatedModel, k, attacked: frozenset):
        missing = [word for word in channel.inputs if word not in model.index]
        if missing:
            raise ValueError(
                f"model: {missing[0]!r} is no state ({len(missing)} such inputs); fit it with words=channel.inputs"
            )
        self.channel, self.model, self.k = channel, model, k
        self.n = len(model.words)
        self.states = np.array([model.index[word] for word in channel.inputs], dtype=np.intp)
        self.attacked = np.array([word in attacked for word in channel.inputs])
        # States that can stand at an attacked position: attacked words, and any word that is no input.
        self.attackable = np.ones(self.n + 1)
        self.attackable[self.states[~self.attacked]] = 0.0
        self._table: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def observed(self, token) -> bool:
        """Tell whether a token is sure to be its own original."""
        return isinstance(token, tuple) or token not in self.channel.output_index

    def state(self, token) -> int:
        """The state of a word; n, the unknown word, if it has none."""
        return self.model.index.get(token[0] if isinstance(token, tuple) else token, self.n)

    def tabulate(self, tokens: set) -> bool:
        """List the candidates of every token; return False if one has too many to list."""
        new = sorted(token for token in tokens if not self.observed(token) and token not in self._table)
        for at in range(0, len(new), _COLUMNS):
            part = new[at : at + _COLUMNS]
            blocks = map_blocks(self._candidates, np.array(part, dtype=object))
            listed = [candidates for block in blocks for candidates in block]
            if self.k is None and max(len(states) for states, _ in listed) > SPARSE_LIMIT:
                return False
            self._table.update(zip(part, listed, strict=True))
        return True

    def sentences(self, length: int, sparse: bool) -> int:
        """Count the sentences of up to some length whose messages fit into memory together."""
        if not sparse:
            return max(1, _DENSE_ENTRIES // (length * (self.n + 1)))
        widest = max((len(states) for states, _ in self._table.values()), default=1)
        return min(_SENTENCES, max(1, _PAIRS // widest**2))

    def chain(self, docs: list[list], a: Transitions | None) -> Sparse | Dense:
        """States and emissions of documents, the longest first; over candidates if transitions are given."""
        columns = [[doc[t] for doc in docs if len(doc) > t] for t in range(len(docs[0]))]
        if a is not None:
            states, emissions = zip(*(self._padded(column) for column in columns), strict=True)
            return Sparse(a, states, emissions)
        tokens = list(dict.fromkeys(token for doc in docs for token in doc))
        rows, place = self._rows(tokens), {token: row for row, token in enumerate(tokens)}
        return Dense([rows[[place[token] for token in column]] for column in columns])

    def _candidates(self, outputs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For some outputs the states that can have been released as them, with Pr(y | x) up to a factor."""
        outputs = outputs.tolist()
        candidates = []
        for token, (inputs, logs) in zip(outputs, self._listed(outputs), strict=True):
            states = self.states[inputs]
            if not len(states):  # what no input explains can only be its own original
                states, logs = np.array([self.state(token)]), np.zeros(1)
            candidates.append((states, np.exp(logs - logs.max())))
        return candidates

    def _listed(self, outputs: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Inputs with log Pr(y | x): all possible ones, or the `k` best of the attacked and of the others."""
        if self.k is None:
            columns = self.channel.log_columns(outputs)
            possible = [np.flatnonzero(column > -np.inf) for column in columns]
            return [(at, column[at]) for column, at in zip(columns, possible, strict=True)]
        with np.errstate(divide="ignore"):
            frequency = np.log(self.model.unigram[self.states])
        listed = [(np.empty(0, dtype=np.intp), np.empty(0))] * len(outputs)
        for group in (self.attacked, ~self.attacked):
            if group.any():
                best, joint = self.channel.best_inputs(np.where(group, frequency, -np.inf), outputs, self.k)
                for row, (at, score) in enumerate(zip(best, joint, strict=True)):
                    at, score = at[score > -np.inf], score[score > -np.inf]
                    inputs, logs = listed[row]
                    listed[row] = np.append(inputs, at), np.append(logs, score - frequency[at])
        return listed

    def _padded(self, column: Sequence) -> tuple[np.ndarray, np.ndarray]:
        """Candidates and emissions at one position of all sentences, filled up to one width."""
        table = [
            (np.array([self.state(token)]), np.ones(1)) if self.observed(token) else self._table[token]
            for token in column
        ]
        return filled(table, none=self.n, score=0.0)

    def _rows(self, tokens: list) -> np.ndarray:
        """Pr(y | .) up to a factor over all states, a row a token."""
        rows = np.zeros((len(tokens), self.n + 1))
        hidden = np.array([not self.observed(token) for token in tokens])
        logs = self.channel.log_columns(list(compress(tokens, hidden)))
        best = logs.max(axis=1, keepdims=True)
        best[np.isneginf(best[:, 0])] = 0.0
        rows[np.ix_(hidden, self.states)] = np.exp(logs - best)
        own = np.logical_not(rows.any(axis=1))
        rows[own, [self.state(token) for token in compress(tokens, own)]] = 1.0
        return rows
