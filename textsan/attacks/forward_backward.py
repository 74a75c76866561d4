"""Smoothing marginals of a hidden Markov model over words, for batches of sentences of one length.

With f_t the forward and b_t the backward messages, e_t the emissions of what was released at t, A the transitions,

    f_t = e_t * (A^T f_{t-1}),   b_t = A (e_{t+1} * b_{t+1}),   Pr(x_t | y_1 .. y_n) proportional to f_t * b_t

(Rabiner 1989, with messages rescaled at every step). A is sparse plus rank one, so a step costs the bigrams and
the states it visits: all of them (`Dense`), or a list of candidates for each position (`Sparse`).
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from textsan.priors import MarkovModel


class Transitions:
    """A(x, x')^weight f(x')^(1 - weight), f the unigram frequencies, again as sparse plus rank one.

    One state is added, number n, for words the model does not know: it follows x with x's backoff weight, and what
    follows it is drawn from the backoff.

    Args:
        model: n states.
        weight: in [0, 1]; 1 is the model itself, 0 is independent draws of f.
    """

    def __init__(self, model: MarkovModel, weight: float):
        n = len(model.words)
        self.n = n
        seen, leave, arrive, start = model.seen.copy(), model.backoff_weight, model.backoff, model.initial
        if weight != 1:
            rows, columns = np.repeat(np.arange(n), np.diff(seen.indptr)), seen.indices
            f, unseen = model.unigram ** (1 - weight), leave[rows] * arrive[columns]
            # Frequencies of 0 belong to words the model cannot reach.
            seen.data = f[columns] * np.maximum((seen.data + unseen) ** weight - unseen**weight, 0)
            leave, arrive, start = leave**weight, arrive**weight * f, start**weight * f
        seen.resize((n + 1, n + 1))
        self.seen, self.transposed = seen, sparse.csr_array(seen.T)
        self.leave, self.arrive, self.start = (np.append(part, 1.0) for part in (leave, arrive, start))


class Dense:
    """All states at every position.

    Args:
        transitions: A.
        emissions: for each position an array (sentences, n + 1).
    """

    def __init__(self, transitions: Transitions, emissions: Sequence[np.ndarray]):
        self.a, self.emissions = transitions, emissions
        self.states = [np.broadcast_to(np.arange(transitions.n + 1), e.shape) for e in emissions]

    def ahead(self, t: int, forward: np.ndarray) -> np.ndarray:
        """A^T f, from position t - 1 to t."""
        a = self.a
        return (a.transposed @ np.ascontiguousarray(forward.T)).T + np.outer(forward @ a.leave, a.arrive)

    def back(self, t: int, message: np.ndarray) -> np.ndarray:
        """A m, from position t to t - 1."""
        a = self.a
        return (a.seen @ np.ascontiguousarray(message.T)).T + np.outer(message @ a.arrive, a.leave)


class Sparse:
    """Candidate states at every position.

    Args:
        transitions: A.
        states: for each position an array (sentences, candidates), filled up with state n.
        emissions: likewise, 0 where filled up.
    """

    def __init__(self, transitions: Transitions, states: Sequence[np.ndarray], emissions: Sequence[np.ndarray]):
        self.a, self.states, self.emissions = transitions, states, emissions
        self._bigrams = [None] + [self._between(t) for t in range(1, len(states))]

    def _between(self, t: int):
        """The seen bigrams between candidates at t - 1 and at t: places in both and values."""
        seen, before, after = self.a.seen, self.states[t - 1], self.states[t]
        place = np.full((len(after), self.a.n + 1), -1, dtype=np.int32)
        np.put_along_axis(place, after, np.arange(after.size, dtype=np.int32).reshape(after.shape), axis=1)
        rows = before.ravel()
        counts = np.diff(seen.indptr)[rows]
        entries = np.repeat(seen.indptr[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        source = np.repeat(np.arange(rows.size), counts)
        target = place[source // before.shape[1], seen.indices[entries]]
        hit = target >= 0
        return source[hit], target[hit], seen.data[entries[hit]]

    def ahead(self, t: int, forward: np.ndarray) -> np.ndarray:
        """A^T f, from position t - 1 to t."""
        (source, target, values), before, after = self._bigrams[t], self.states[t - 1], self.states[t]
        seen = np.bincount(target, values * forward.ravel()[source], after.size).reshape(after.shape)
        return seen + (forward * self.a.leave[before]).sum(axis=1)[:, None] * self.a.arrive[after]

    def back(self, t: int, message: np.ndarray) -> np.ndarray:
        """A m, from position t to t - 1."""
        (source, target, values), before, after = self._bigrams[t], self.states[t - 1], self.states[t]
        seen = np.bincount(source, values * message.ravel()[target], before.size).reshape(before.shape)
        return seen + (message * self.a.arrive[after]).sum(axis=1)[:, None] * self.a.leave[before]


def smooth(chain: Dense | Sparse) -> list[np.ndarray]:
    """Pr(x_t | y_1 .. y_n) over the chain's states, for each position an array (sentences, states).

    Raises:
        ValueError: a sentence has probability zero.
    """
    emissions, forward = chain.emissions, []
    for t, emission in enumerate(emissions):
        arriving = chain.ahead(t, forward[-1]) if t else chain.a.start[chain.states[0]]
        forward.append(_normalised(emission * arriving))
    backward = np.ones_like(emissions[-1])
    for t in reversed(range(len(emissions))):
        if t < len(emissions) - 1:
            backward = _normalised(chain.back(t + 1, emissions[t + 1] * backward))
        forward[t] = _normalised(forward[t] * backward)
    return forward


def _normalised(messages: np.ndarray) -> np.ndarray:
    totals = messages.sum(axis=1, keepdims=True)
    if not (totals > 0).all():
        raise ValueError(
            "sanitized_docs: a sentence has probability 0 under model and channel; "
            "smooth the model (MarkovModel.fit does) or allow more candidates"
        )
    return messages / totals
