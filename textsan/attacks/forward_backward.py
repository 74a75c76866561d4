"""Smoothing marginals of a hidden Markov model over words, for batches of sentences of one length.

With f_t the forward and b_t the backward messages, e_t the emissions of what was released at t, A the transitions,

    f_t = e_t * (A^T f_{t-1}),   b_t = A (e_{t+1} * b_{t+1}),   Pr(x_t | y_1 .. y_n) proportional to f_t * b_t

(Rabiner 1989, with messages rescaled at every step). A is sparse plus rank one, so a step costs the bigrams and
the states it visits: all of them (`Dense`), or a list of candidates for each position (`Sparse`). On a torch
device (`OnDevice`) it is always all of them: sentences of one length are the rows of one matrix product.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

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
        self.seen, self.transposed = seen, scipy.sparse.csr_array(seen.T)
        self.leave, self.arrive, self.start = (np.append(part, 1.0) for part in (leave, arrive, start))
        self._moved: dict[str, TorchTransitions] = {}

    def on(self, device: str) -> "TorchTransitions":
        """The same on a torch device, moved there once."""
        if device not in self._moved:
            self._moved[device] = TorchTransitions(self, device)
        return self._moved[device]


class TorchTransitions:
    """`Transitions` as tensors.

    Args:
        a: those to move.
        device: a torch device.
    """

    def __init__(self, a: Transitions, device: str):
        import torch

        def moved(matrix):
            entries = matrix.tocoo()
            places = np.stack([entries.row, entries.col]).astype(np.int64)
            given = {"dtype": torch.float64, "device": device, "check_invariants": False}
            return torch.sparse_coo_tensor(places, entries.data, entries.shape, **given).coalesce()

        self.device = device
        self.seen, self.transposed = moved(a.seen), moved(a.transposed)
        vectors = (a.leave, a.arrive, a.start)
        self.leave, self.arrive, self.start = (torch.as_tensor(part, device=device) for part in vectors)


class Dense:
    """All states at every position.

    Args:
        emissions: for each position an array (sentences, n + 1).
    """

    def __init__(self, emissions: Sequence[np.ndarray]):
        self.emissions = emissions
        self.states = [np.broadcast_to(np.arange(e.shape[1]), e.shape) for e in emissions]

    def start(self, a: Transitions) -> np.ndarray:
        """Pr(x_1) of the states at the first position."""
        return a.start[self.states[0]]

    def ahead(self, a: Transitions, t: int, forward: np.ndarray) -> np.ndarray:
        """A^T f, from position t - 1 to t."""
        return (a.transposed @ np.ascontiguousarray(forward.T)).T + np.outer(forward @ a.leave, a.arrive)

    def back(self, a: Transitions, t: int, message: np.ndarray) -> np.ndarray:
        """A m, from position t to t - 1."""
        return (a.seen @ np.ascontiguousarray(message.T)).T + np.outer(message @ a.arrive, a.leave)


class Sparse:
    """Candidate states at every position.

    Args:
        seen: sparse part of the transitions at any weight; only where its entries are matters here.
        states: for each position an array (sentences, candidates), filled up with state n.
        emissions: likewise, 0 where filled up.
    """

    def __init__(
        self, seen: "scipy.sparse.csr_array", states: Sequence[np.ndarray], emissions: Sequence[np.ndarray]
    ):
        self.states, self.emissions, self._seen = states, emissions, seen

    @cached_property
    def _bigrams(self) -> list:
        return [None, *(_between(self._seen, *pair) for pair in pairwise(self.states))]

    def start(self, a: Transitions) -> np.ndarray:
        """Pr(x_1) of the states at the first position."""
        return a.start[self.states[0]]

    def ahead(self, a: Transitions, t: int, forward: np.ndarray) -> np.ndarray:
        """A^T f, from position t - 1 to t."""
        (entries, source, target), before, after = self._bigrams[t], self.states[t - 1], self.states[t]
        seen = np.bincount(target, a.seen.data[entries] * forward.ravel()[source], after.size).reshape(after.shape)
        return seen + (forward * a.leave[before]).sum(axis=1)[:, None] * a.arrive[after]

    def back(self, a: Transitions, t: int, message: np.ndarray) -> np.ndarray:
        """A m, from position t to t - 1."""
        (entries, source, target), before, after = self._bigrams[t], self.states[t - 1], self.states[t]
        seen = np.bincount(source, a.seen.data[entries] * message.ravel()[target], before.size).reshape(
            before.shape
        )
        return seen + (message * a.arrive[after]).sum(axis=1)[:, None] * a.leave[before]


class OnDevice:
    """All states at every position, as tensors; what is no candidate has emission 0.

    Args:
        chain: states and emissions.
        transitions: on the device.
    """

    def __init__(self, chain: Dense | Sparse, transitions: TorchTransitions):
        import torch

        self._torch, self._chain, self.transitions = torch, chain, transitions
        self.emissions = []
        for states, emission in zip(chain.states, chain.emissions, strict=True):
            full = np.zeros((len(emission), len(transitions.start)))
            line, place = np.nonzero(emission)
            full[line, states[line, place]] = emission[line, place]
            self.emissions.append(torch.as_tensor(full, device=transitions.device))

    def start(self, a: TorchTransitions):
        """Pr(x_1) of all states."""
        return a.start

    def ahead(self, a: TorchTransitions, t: int, forward):
        """A^T f, from position t - 1 to t."""
        return (a.transposed @ forward.T).T + self._torch.outer(forward @ a.leave, a.arrive)

    def back(self, a: TorchTransitions, t: int, message):
        """A m, from position t to t - 1."""
        return (a.seen @ message.T).T + self._torch.outer(message @ a.arrive, a.leave)

    def listed(self, posteriors: Sequence) -> list[np.ndarray]:
        """Posteriors over all states as those over the chain's own, where it has a candidate."""
        return [
            np.where(emission > 0, np.take_along_axis(found.cpu().numpy(), states, axis=1), 0.0)
            for found, states, emission in zip(posteriors, self._chain.states, self._chain.emissions, strict=True)
        ]


def _between(seen: "scipy.sparse.csr_array", before: np.ndarray, after: np.ndarray):
    """Entries of `seen` that lead from a candidate to one at the next position, and their flat places in both."""
    place = np.full((len(after), seen.shape[1]), -1, dtype=np.intp)
    np.put_along_axis(place, after, np.arange(after.size).reshape(after.shape), axis=1)
    rows = before.ravel()
    counts = np.diff(seen.indptr)[rows]
    entries = np.repeat(seen.indptr[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    source = np.repeat(np.arange(rows.size), counts)
    target = place[source // before.shape[1], seen.indices[entries]]
    hit = target >= 0
    return entries[hit], source[hit], target[hit]


def smooth(chain: Dense | Sparse, transitions: Transitions, device: str | None = None) -> list[np.ndarray]:
    """Pr(x_t | y_1 .. y_n) over the chain's states, for each position an array (sentences, states).

    Args:
        chain: states and emissions.
        transitions: A.
        device: None is NumPy; else a torch device.

    Raises:
        ValueError: a sentence has probability zero.
    """
    if device is None:
        return _messages(chain, transitions)
    moved = OnDevice(chain, transitions.on(device))
    return moved.listed(_messages(moved, moved.transitions))


def _messages(chain: Dense | Sparse | OnDevice, transitions: Any) -> list:
    """The same over whatever states the chain has, as arrays or tensors."""
    forward: list = []
    emissions = chain.emissions
    for t, emission in enumerate(emissions):
        arriving = chain.ahead(transitions, t, forward[-1]) if t else chain.start(transitions)
        forward.append(_normalised(emission * arriving))
    backward: Any = 1.0
    for t in reversed(range(len(emissions))):
        if t < len(emissions) - 1:
            backward = _normalised(chain.back(transitions, t + 1, emissions[t + 1] * backward))
        forward[t] = _normalised(forward[t] * backward)
    return forward


def _normalised(messages):
    totals = messages.sum(axis=1, keepdims=True)
    if not (totals > 0).all():
        raise ValueError(
            "sanitized_docs: a sentence has probability 0 under model and channel; "
            "smooth the model (MarkovModel.fit does) or allow more candidates"
        )
    return messages / totals
