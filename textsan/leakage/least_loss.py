"""The frontier of one word: the least expected distance at which a best guess succeeds no more often than wanted.

Among all channels with Bayes vulnerability V(X | Y) <= v, whatever made them, how small can the expected distance
of what is released from what was there be? With capacities u_y = max_x Pr(x) Pr(y | x), whose sum is V, the words
stop competing: each is spent on its nearest outputs up to their capacity. So the programme of n^2 unknowns (Shokri
et al. 2012) is one of n, convex, whose subgradient comes with the fill; and any distances t_x prove for *every*
channel

    expected distance >= sum_x Pr(x) t_x - V max_y s_y,      s_y = sum_x (t_x - d(x, y))_+,

one straight line that holds at every V. The answer is therefore an interval with a proof at its lower end, and a
channel at its upper end. That channel has no epsilon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from textsan.base import checks
from textsan.channel import Channel
from textsan.channel.distances import ScaledDistances
from textsan.leakage.sorted_outputs import SortedOutputs
from textsan.mechanisms.given_channel import ChannelMechanism
from textsan.priors import Prior
from textsan.privacy.sharp_bounds import prior_probabilities
from textsan.text.embeddings import Embeddings

ERASED = "⊥"
"""The symbol of a word that is erased."""

_LARGEST = 5000  # words of a table of distances
_EXACT = 60  # words up to which the programme of all unknowns is solved
_LOOK = 25  # rounds after which an average is tried
_FLOOR = 1e-9  # least capacity of an output, of the mean
_SHARES = 1.0, 0.3, 0.1, 0.03, 0.01  # capacities, of the mean, below which outputs are left out
_CRUMB = 5e-4  # of the loss, that this may cost
_LIMITS = 0.97, 1.0, 1.03  # of the excess that a certificate may have, of that which the capacities pay for


@dataclass(frozen=True)
class Frontier:
    """The least expected distance at a success rate, between two ends.

    Attributes:
        success: the largest Bayes vulnerability that was allowed.
        lower: no channel with that vulnerability has a smaller expected distance: the certificate.
        upper: the expected distance of `channel`.
        channel: Pr(y | x), V(X | Y) <= success. Nearly a clustering: words have outputs that others lack, so that
            no epsilon holds, and context opens it more than it does channels that spread.
        blind: the success rate of the best blind guess, below which there is no channel.
        lines: (k, 2) certificates: a - b V is below the expected distance of every channel.
        points: (k, 2) vulnerability and expected distance of channels that were found, ascending.
    """

    success: float
    lower: float
    upper: float
    channel: Channel
    blind: float
    lines: np.ndarray
    points: np.ndarray

    def __repr__(self) -> str:
        return f"Frontier(V <= {self.success:g}: least loss in [{self.lower:.6g}, {self.upper:.6g}], no epsilon)"

    def least_loss(self, success):
        """Compute the least loss of every channel of a vulnerability V(X | Y): the largest of the lines there.

        It is true at any vulnerability, sharp near those for which the frontier was computed, and infinite below
        the blind guess, where there is no channel.

        >>> frontier([0.5, 0.5], [[0, 1], [1, 0]], success=0.75).least_loss(1.0)
        0.0
        """
        asked = np.asarray(success, dtype=np.float64)
        loss = (self.lines[:, 0] - self.lines[:, 1] * asked[..., None]).max(axis=-1)
        loss = np.where(asked < self.blind - 1e-12, np.inf, loss)
        return loss if asked.ndim else float(loss)

    def attained_loss(self, success):
        """Compute the loss of some channel of a vulnerability V(X | Y): two that were found, mixed.

        It is infinite below the least vulnerability that was found.

        >>> round(frontier([0.5, 0.5], [[0, 1], [1, 0]], success=0.75).attained_loss(0.75), 3)
        0.25
        """
        asked = np.asarray(success, dtype=np.float64)
        vulnerability, lost = self.points.T
        loss = np.where(asked < vulnerability[0] - 1e-12, np.inf, np.interp(asked, vulnerability, lost))
        return loss if asked.ndim else float(loss)

    @property
    def mechanism(self) -> ChannelMechanism:
        """`channel` as a mechanism, to sanitize, attack and link with; it promises nothing."""
        return ChannelMechanism(self.channel)


def frontier(
    prior,
    vectors,
    success: float,
    *,
    also: Sequence[float] = (),
    erasure: float | None = None,
    gap: float = 0.005,
    rounds: int = 800,
) -> Frontier:
    """Compute the least expected distance over all channels with V(X | Y) <= success: Delta(v).

    Multiplicative updates of the capacities; the certificate is the mean of the distances t on the way, repaired.
    Twenty thousand words take a minute or two and a gigabyte.

    Args:
        vectors: `Embeddings`, whose Euclidean distances count, inputs and outputs alike; (n, d) vectors in the
            order of the prior; or (n, n) distances d(x, y), at least 0, of at most 5,000 words.
        success: the largest V(X | Y), from the blind guess max_x Pr(x) to 1.
        also: further success rates that get certificates and points: some eight draw the whole frontier.
        erasure: distance that an erased word counts for; None erases none.
        gap: relative difference of the two ends at which to stop.
        rounds: updates of the capacities, at most.

    Raises:
        ValueError: a success rate below the blind guess, or so near that of a flat prior of more than 500 words
            that the outputs listed for a word have too little capacity; distances that are negative or missing.

    >>> found = frontier([0.5, 0.25, 0.25], [[0, 1, 2], [1, 0, 1], [2, 1, 0]], success=0.75)
    >>> found.lower <= 0.25 <= found.upper + 1e-12, found.channel.shape[0]
    (True, 3)
    """
    words, p, distances = _world(prior, vectors)
    blind = float(p.max())
    asked = [checks.number("success", one, 0, 1) for one in (success, *also)]
    if min(asked) < blind - 1e-12:
        raise ValueError(
            f"success: {min(asked):g} is below the blind guess; no channel has less than {blind:.6g}; pass more"
        )
    gap, rounds = checks.number("gap", gap, low=0), checks.whole("rounds", rounds, low=1)
    outputs = list(words)
    if erasure is not None:
        erasure, of_words = checks.number("erasure", erasure, low=0), distances
        outputs = [*words, ERASED]

        def distances(rows):
            return np.column_stack([of_words(rows), np.full(len(rows), erasure)])

    lists = SortedOutputs(p, distances, len(outputs))
    unbounded, free = _channel(lists, _nearest(lists))  # every word on its nearest output
    lines, points, found = [(free[1], 0.0)], [free], {}
    for v in sorted(set(asked)):
        if v < free[0]:
            capacity, line = _solve(lists, max(v, blind), gap, rounds)
            matrix, point = _channel(lists, capacity)
            lines.append(line)
            points.append(point)
            found[v] = matrix, point[1]
    matrix, upper = found.get(asked[0], (unbounded, free[1]))
    reached = np.flatnonzero(np.bincount(matrix.indices, minlength=len(outputs)))
    channel = Channel.from_sparse(matrix[:, reached], words, [outputs[y] for y in reached])
    certificates = np.array(lines)
    lower = min(float((certificates[:, 0] - certificates[:, 1] * asked[0]).max()), upper)
    return Frontier(asked[0], lower, upper, channel, blind, certificates, np.array(sorted(points)))


# --- the problem ------------------------------------------------------------------------------------------------


def _world(prior, vectors):
    """Words, their probabilities, and a function from row numbers to distances from them to all words."""
    if isinstance(vectors, Embeddings):
        words = vectors.words
        p = prior.aligned(words) if isinstance(prior, Prior) else checks.probabilities("prior", prior, len(words))
        return words, p, _euclidean(vectors.vectors)
    table, p = np.asarray(vectors, dtype=np.float64), prior_probabilities(prior)
    words = prior.words if isinstance(prior, Prior) else [str(i) for i in range(len(p))]
    if table.ndim != 2 or len(table) != len(p):
        raise ValueError(
            f"vectors: shape {table.shape} does not fit a prior of {len(p)} words; pass a row a word or Embeddings"
        )
    if table.shape[0] != table.shape[1]:
        if not np.isfinite(table).all():
            raise ValueError("vectors: a number is missing or not finite; repair it")
        return words, p, _euclidean(table)
    if len(table) > _LARGEST:
        raise ValueError(
            f"vectors: a table of {len(table):,} words; pass Embeddings, or at most {_LARGEST:,} words"
        )
    if not (np.isfinite(table) & (table >= 0)).all():
        x, y = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
        raise ValueError(
            f"vectors: the distance in row {x}, column {y} is {table[x, y]}; pass numbers of at least 0"
        )
    return words, p, lambda rows: table[rows]


def _euclidean(vectors):
    between = ScaledDistances(vectors, vectors, scale=1.0)
    return lambda rows: between.block(rows, height=max(len(rows), 1))


def _nearest(lists: SortedOutputs) -> np.ndarray:
    """Capacities with which every word is spent on its nearest output."""
    capacity = np.zeros(lists.outputs)
    for word, p in enumerate(lists.probabilities):
        nearest = lists.of(word)[0][0]
        capacity[nearest] = max(capacity[nearest], p)
    return capacity


# --- capacities -------------------------------------------------------------------------------------------------


def _solve(lists: SortedOutputs, v: float, gap: float, rounds: int) -> tuple[np.ndarray, tuple[float, float]]:
    """Capacities that sum to v and the line of a certificate, within `gap` of each other if `rounds` suffice."""
    if len(lists.probabilities) <= _EXACT:
        return _solve_exactly(lists, v)
    n, floor = lists.outputs, _FLOOR * v / lists.outputs
    capacity = np.full(n, floor)
    capacity[: len(lists.probabilities)] += lists.probabilities
    capacity *= v / capacity.sum()
    mean, middle, weight = np.zeros(len(lists.probabilities)), np.zeros(n), 0.0
    upper, best, line = np.inf, capacity, (0.0, 0.0)
    look = _LOOK
    for k in range(1, rounds + 1):
        loss, last = lists.fill(capacity)
        excess = lists.excess(last)
        if loss < upper:
            upper, best = loss, capacity
        mean = (weight * mean + k * last) / (weight + k)
        middle = (weight * middle + k * capacity) / (weight + k)
        weight += k
        if k == look or k == rounds:
            look *= 2
            loss = lists.fill(middle)[0]
            if loss < upper:
                upper, best = loss, middle.copy()
            line = max(line, _certificate(lists, mean, best, v), key=lambda one: one[0] - one[1] * v)
            if upper - (line[0] - line[1] * v) <= max(gap - _CRUMB, 0.0) * upper:
                break
        paid = float(capacity @ excess) / v
        capacity = capacity * np.exp(np.clip((excess - paid) / paid, -5.0, 5.0) / np.sqrt(k))
        capacity = np.maximum(capacity, floor)
        capacity *= v / capacity.sum()
    return _without_crumbs(lists, best, v), line


def _without_crumbs(lists: SortedOutputs, capacity: np.ndarray, v: float) -> np.ndarray:
    """Capacities without what the updates have left to outputs that nobody needs, if that costs nothing much."""
    most = (1 + _CRUMB) * lists.fill(capacity)[0]
    for share in _SHARES:
        few = np.where(capacity < share * v / len(capacity), 0.0, capacity)
        few *= v / few.sum()
        try:
            if lists.fill(few)[0] <= most:
                return few
        except ValueError:  # some word has no other output on its list
            continue
    return capacity


def _solve_exactly(lists: SortedOutputs, v: float) -> tuple[np.ndarray, tuple[float, float]]:
    """Solve the linear programme of all pairs; the line is computed anew from the dual point."""
    p, m = lists.probabilities, lists.outputs
    n, size = len(p), len(p) * m
    far = np.empty((n, m))
    for word in range(n):
        numbers, far_of = lists.of(word)
        far[word, numbers] = far_of
    each, output = scipy.sparse.eye_array(size), np.tile(np.arange(m), n)
    most = scipy.sparse.csr_array((np.ones(size), (np.arange(size), output)), shape=(size, m))
    budget = scipy.sparse.csr_array(np.append(np.zeros(size), np.ones(m))[None])
    limits = scipy.sparse.vstack([scipy.sparse.hstack([each, -most]), budget]).tocsr()
    sums = scipy.sparse.csr_array(
        (np.ones(size), (np.repeat(np.arange(n), m), np.arange(size))), shape=(n, size + m)
    )
    given = {"A_ub": limits, "b_ub": np.append(np.zeros(size), v), "A_eq": sums, "b_eq": p}
    found = scipy.optimize.linprog(np.append(far.ravel(), np.zeros(m)), **given, method="highs")
    if not found.success:
        raise ValueError(f"success: HiGHS, the solver, finds no channel ({found.message})")
    t = found.eqlin.marginals
    capacity = np.maximum(found.x[size:], 0.0)
    capacity *= min(1.0, v / capacity.sum())
    short = max(float((p.max() - capacity.sum()) / m), 0.0)  # what the solver's tolerance has left out
    line = float(p @ t), float(np.maximum(t[:, None] - far, 0.0).sum(axis=0).max())
    return capacity + short, line


def _certificate(lists: SortedOutputs, last: np.ndarray, capacity: np.ndarray, v: float) -> tuple[float, float]:
    """The best line a - b v, as (a, b), that comes of distances t by repair.

    The largest excess is charged at all of v: one output that is near too many words costs as much as if all were.
    So t is lowered for the rarest words near such an output, then raised for each word, frequent ones in front,
    until an output near it is at the limit. t stays within the reach of the lists, which makes the line one for
    all outputs.
    """
    within = np.minimum(last, lists.reach)
    paid = float(capacity @ lists.excess(within)) / v
    lines = [_repaired(lists, within, factor * paid) for factor in _LIMITS]
    return max(lines, key=lambda line: line[0] - line[1] * v)


def _repaired(lists: SortedOutputs, last: np.ndarray, limit: float) -> tuple[float, float]:
    p, t, excess = lists.probabilities, last.copy(), lists.excess(last)
    words, distances, starts = lists.within(t)
    above = np.flatnonzero(excess > limit)
    for y in above[np.argsort(-excess[above])]:
        near, far = words[starts[y] : starts[y + 1]], distances[starts[y] : starts[y + 1]]
        for i in np.argsort(p[near], kind="stable"):
            if excess[y] <= limit:
                break
            x = near[i]
            if t[x] > far[i]:
                _move(lists, x, t, max(far[i], t[x] - (excess[y] - limit)), excess)
    for x in np.argsort(-p, kind="stable"):
        numbers, far = lists.of(x)
        # t_x may rise to where the first of the outputs nearer than that is at the limit
        most = np.minimum.accumulate(limit - excess[numbers] + np.maximum(t[x], far))
        stop = np.flatnonzero(most <= np.append(far[1:], np.inf))[0]
        highest = min(max(most[stop], far[stop]), lists.reach[x])
        if highest > t[x]:
            _move(lists, x, t, highest, excess)
    excess = lists.whole_excess(t)
    return float(p @ t), float(excess.max())


def _move(lists: SortedOutputs, x: int, t: np.ndarray, to: float, excess: np.ndarray) -> None:
    """Move t_x, and the excess of the outputs near x with it."""
    numbers, far = lists.of(x)
    near = slice(0, np.searchsorted(far, max(t[x], to)))
    excess[numbers[near]] += np.maximum(to - far[near], 0.0) - np.maximum(t[x] - far[near], 0.0)
    t[x] = to


def _channel(lists: SortedOutputs, capacity: np.ndarray):
    """The fill as a sparse matrix of all words and outputs, and its vulnerability and expected distance."""
    p, loss = lists.probabilities, 0.0
    rows, columns, entries, top = [], [], [], np.zeros(lists.outputs)
    for word in np.argsort(-p, kind="stable"):
        if p[word] > 0:
            numbers, spent, cost = lists.spend(word, capacity)
            top[numbers] = np.maximum(top[numbers], spent)
            loss += cost
        else:  # it never occurs: the nearest output that is used, as those of positive words are known by now
            numbers = lists.of(word)[0]
            near = numbers[top[numbers] > 0][:1]
            numbers, spent = near if len(near) else np.array([top.argmax()]), np.ones(1)
        rows.append(np.full(len(numbers), word))
        columns.append(numbers)
        entries.append(spent / spent.sum())
    shape = len(p), lists.outputs
    matrix = scipy.sparse.coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    )
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    return matrix, (float(top.sum()), loss)
