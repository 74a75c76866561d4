"""Smoothing marginals of a hidden Markov model over words, for batches of sentences, the longest first.

With f_t the forward and b_t the backward messages, e_t the emissions of what was released at t, A the transitions,

    f_t = e_t * (A^T f_{t-1}),   b_t = A (e_{t+1} * b_{t+1}),   Pr(x_t | y_1 .. y_n) proportional to f_t * b_t

(Rabiner 1989, with messages rescaled at every step). A is sparse plus rank one, or two where two sources are
mixed, so a step costs the bigrams and the states it visits: all of them (`Dense`), or a list of candidates for
each position (`Sparse`). On a torch device (`OnDevice`) it is always all of them: sentences are the rows of one
matrix product. A position has a row for each sentence that reaches it.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from textsan.priors import InterpolatedModel, MarkovModel

_LONG = 4  # entries of a row for each candidate at the next position, above which pairs are looked up


class Transitions:
    """A(x, x')^weight f(x')^(1 - weight), f the unigram frequencies, again as sparse plus rank one.

    The weight is in [0, 1]: 1 is the model itself, the only one for an `InterpolatedModel`, 0 is independent draws
    of f. One state is added, number n, for words the model does not know: it follows x with x's backoff weight,
    and what follows it is drawn from the backoff. A is `seen` plus the sum of outer products of `leave` and
    `arrive`, which are (rank, n + 1).
    """

    def __init__(self, model: MarkovModel | InterpolatedModel, weight: float):
        n = len(model.words)
        self.n = n
        seen, leave, arrive, start = model.seen.copy(), model.backoff_weight, model.backoff, model.initial
        seen.sort_indices()
        if weight != 1:
            rows, columns = np.repeat(np.arange(n), np.diff(seen.indptr)), seen.indices
            f, unseen = model.unigram ** (1 - weight), leave[rows] * arrive[columns]
            # Frequencies of 0 belong to words the model cannot reach.
            seen.data = f[columns] * np.maximum((seen.data + unseen) ** weight - unseen**weight, 0)
            leave, arrive, start = leave**weight, arrive**weight * f, start**weight * f
        seen.resize((n + 1, n + 1))
        self.seen = seen
        self.leave, self.arrive = (
            np.pad(np.atleast_2d(part), ((0, 0), (0, 1)), constant_values=1.0) for part in (leave, arrive)
        )
        self.start = np.append(start, 1.0)
        self._moved: dict[str, TorchTransitions] = {}

    @cached_property
    def transposed(self) -> "scipy.sparse.csr_array":
        """`seen` by columns, for steps over all states."""
        return scipy.sparse.csr_array(self.seen.T)

    @cached_property
    def keys(self) -> np.ndarray:
        """Row and column of each entry of `seen` as one number, ascending."""
        return np.repeat(np.arange(self.n + 1), np.diff(self.seen.indptr)) * (self.n + 1) + self.seen.indices

    def on(self, device: str) -> "TorchTransitions":
        """Move the transitions to a torch device, once."""
        if device not in self._moved:
            self._moved[device] = TorchTransitions(self, device)
        return self._moved[device]


class TorchTransitions:
    """Hold `Transitions` as tensors on a torch device."""

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
    """All states at every position, of which each has emissions (sentences, n + 1)."""

    def __init__(self, emissions: Sequence):
        self.emissions = emissions
        self.states = [np.broadcast_to(np.arange(e.shape[1]), e.shape) for e in emissions]

    def start(self, a):
        """Pr(x_1) of the states at the first position."""
        return a.start[self.states[0]]

    def ahead(self, a, t: int, forward):
        """A^T f, from position t - 1 to t."""
        forward, pairs = forward[: len(self.emissions[t])], zip(a.leave, a.arrive, strict=True)
        return (a.transposed @ forward.T).T + sum((forward @ leave)[:, None] * arrive for leave, arrive in pairs)

    def back(self, a, t: int, message):
        """A m, from position t to t - 1."""
        pairs = zip(a.leave, a.arrive, strict=True)
        return (a.seen @ message.T).T + sum((message @ arrive)[:, None] * leave for leave, arrive in pairs)


class Sparse:
    """Candidate states at every position, (sentences, candidates) each, filled up with state n and emissions of 0.

    Of the transitions it is made with only matters where the entries of their sparse part are.
    """

    def __init__(self, a: Transitions, states: Sequence[np.ndarray], emissions: Sequence[np.ndarray]):
        self.states, self.emissions, self._transitions = states, emissions, a

    @cached_property
    def _bigrams(self) -> list:
        pairs = pairwise(self.states)
        return [None, *(_between(self._transitions, before[: len(after)], after) for before, after in pairs)]

    def start(self, a: Transitions) -> np.ndarray:
        """Pr(x_1) of the states at the first position."""
        return a.start[self.states[0]]

    def ahead(self, a: Transitions, t: int, forward: np.ndarray) -> np.ndarray:
        """A^T f, from position t - 1 to t."""
        (entries, source, target), after = self._bigrams[t], self.states[t]
        before, forward = self.states[t - 1][: len(after)], forward[: len(after)]
        seen = np.bincount(target, a.seen.data[entries] * forward.ravel()[source], after.size).reshape(after.shape)
        for leave, arrive in zip(a.leave, a.arrive, strict=True):
            seen = seen + (forward * leave[before]).sum(axis=1)[:, None] * arrive[after]
        return seen

    def back(self, a: Transitions, t: int, message: np.ndarray) -> np.ndarray:
        """A m, from position t to t - 1."""
        (entries, source, target), after = self._bigrams[t], self.states[t]
        before = self.states[t - 1][: len(after)]
        seen = np.bincount(source, a.seen.data[entries] * message.ravel()[target], before.size).reshape(
            before.shape
        )
        for leave, arrive in zip(a.leave, a.arrive, strict=True):
            seen = seen + (message * arrive[after]).sum(axis=1)[:, None] * leave[before]
        return seen


class OnDevice(Dense):
    """All states at every position, as tensors; what is no candidate has emission 0."""

    def __init__(self, chain: Dense | Sparse, transitions: TorchTransitions):
        import torch

        self._chain, self.transitions = chain, transitions
        self.emissions: list = []
        for states, emission in zip(chain.states, chain.emissions, strict=True):
            full = np.zeros((len(emission), len(transitions.start)))
            line, place = np.nonzero(emission)
            full[line, states[line, place]] = emission[line, place]
            self.emissions.append(torch.as_tensor(full, device=transitions.device))

    def start(self, a):
        """Pr(x_1) of all states."""
        return a.start

    def listed(self, posteriors: Sequence) -> list[np.ndarray]:
        """Posteriors over all states as those over the chain's own, where it has a candidate."""
        return [
            np.where(emission > 0, np.take_along_axis(found.cpu().numpy(), states, axis=1), 0.0)
            for found, states, emission in zip(posteriors, self._chain.states, self._chain.emissions, strict=True)
        ]


def _between(a: Transitions, before: np.ndarray, after: np.ndarray):
    """Entries of `a.seen` from a candidate to one at the next position, and the flat places of both."""
    seen, rows, width = a.seen, before.ravel(), before.shape[1]
    counts = np.diff(seen.indptr)[rows]
    if counts.sum() > _LONG * rows.size * after.shape[1]:  # sooner found pair by pair
        order = np.argsort(after, axis=1)  # entries come in the order of columns, either way
        ordered = np.take_along_axis(after, order, axis=1)
        wanted = before[:, :, None] * seen.shape[1] + ordered[:, None, :]
        entries = np.minimum(np.searchsorted(a.keys, wanted), len(a.keys) - 1)
        line, source, target = np.nonzero(a.keys[entries] == wanted)
        flat = line * width + source, line * after.shape[1] + order[line, target]
        return entries[line, source, target], *flat
    place = np.full((len(after), seen.shape[1]), -1, dtype=np.intp)
    np.put_along_axis(place, after, np.arange(after.size).reshape(after.shape), axis=1)
    entries = np.repeat(seen.indptr[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    source = np.repeat(np.arange(rows.size), counts)
    target = place[source // width, seen.indices[entries]]
    hit = target >= 0
    return entries[hit], source[hit], target[hit]


def smooth(chain: Dense | Sparse, transitions: Transitions, device: str | None = None) -> list[np.ndarray]:
    """Compute Pr(x_t | y_1 .. y_n) over the chain's states: an array (sentences there, states) a position."""
    if device is None:
        return _messages(chain, transitions)
    moved = OnDevice(chain, transitions.on(device))
    return moved.listed(_messages(moved, moved.transitions))


def _messages(chain: Dense | Sparse | OnDevice, transitions: Any) -> list:
    """Smooth over the states of the chain, as arrays or tensors."""
    forward: list = []
    emissions = chain.emissions
    for t, emission in enumerate(emissions):
        arriving = chain.ahead(transitions, t, forward[-1]) if t else chain.start(transitions)
        forward.append(_normalised(emission * arriving))
    backward: Any = 1.0
    for t in reversed(range(len(emissions))):
        if t < len(emissions) - 1:
            further = _normalised(chain.back(transitions, t + 1, emissions[t + 1] * backward))
            backward = 0 * emissions[t] + 1  # of sentences that end here
            backward[: len(further)] = further
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
