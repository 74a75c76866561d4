"""Definitions of differential privacy as executable checks: each returns the tight parameter of a channel.

A channel satisfies a definition with parameter epsilon exactly if epsilon is at least the tight value: the claim
of a theorem lies above it, and anything smaller fails at the pair of words, and the output, that the value names.
Log-ratios below 1e-9 count as rounding.
"""

from collections.abc import Collection, Iterable

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.blocks import BLOCK, map_blocks
from textsan.channel import Channel
from textsan.channel.distances import ScaledDistances
from textsan.text.embeddings import Embeddings

_ROWS = 256  # rows of log probabilities compared with as many others at a time
_ROUNDING = 1e-9  # log-ratios below are no difference
_NEVER = -1e308  # stands for log 0, so that 0 against 0 is no difference and 0 against p is a huge one


class Tight(float):
    """A tight parameter: a float that knows where it is attained.

    Attributes:
        pair: the two inputs (words), the likelier first; in the order of the inputs, or one sensitive word twice,
            where an unprotected output gives them away; None where no pair differs, or nothing is promised.
        output: the output at which they differ most.
    """

    pair: tuple[str, str] | None
    output: str | None

    def __new__(cls, value: float, pair=None, output=None):
        self = super().__new__(cls, value)
        self.pair, self.output = pair, output
        return self

    def __repr__(self) -> str:
        where = f" at {self.output!r} from {self.pair[0]!r} against {self.pair[1]!r}" if self.pair else ""
        return f"{float(self):.6g}{where}"


def tight_epsilon(channel: Channel) -> Tight:
    """Smallest epsilon of epsilon-(L)DP: the largest log Pr(y | x) - log Pr(y | x') over all x, x', y.

    Infinite if an output has positive probability from one input and none from another. Exact; blocks of columns
    keep memory bounded for any channel.

    >>> channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["u", "v"])
    >>> tight_epsilon(channel)
    1.09861 at 'u' from 'a' against 'b'
    """
    return _widest_column(channel.exact("a tight epsilon"), np.arange(channel.shape[1]))


def tight_group_epsilon(channel: Channel, groups: Iterable[Collection[str]]) -> Tight:
    """Smallest epsilon of epsilon-DP where words that share a group are adjacent (Chen et al. 2023, section 3).

    Args:
        groups: collections of inputs, for example `CusText.group_words`.

    >>> channel = Channel.from_matrix([[1.0, 0.0], [0.0, 1.0]], inputs=["a", "b"], outputs=["u", "v"])
    >>> tight_group_epsilon(channel, [["a"], ["b"]]), tight_group_epsilon(channel, [["a", "b"]])
    (0, inf at 'u' from 'a' against 'b')
    """
    worst, channel = Tight(0.0), channel.exact("a tight epsilon")
    for group in groups:
        words = list(group)
        value, high, low, column = _widest(channel.log_rows(words))
        if value > worst:
            worst = Tight(value, (words[high], words[low]), channel.outputs[column])
    return worst


def tight_metric_epsilon(channel: Channel, distances, *, outputs: str = "all") -> Tight:
    """Smallest epsilon of epsilon-metric DP: the largest (log Pr(y | x) - log Pr(y | x')) / d(x, x').

    Infinite where two inputs at distance 0 differ, or where supports do.

    Args:
        distances: (n_in, n_in) array, or `Embeddings` whose Euclidean distances count.
        outputs: "all" compares all pairs at all outputs, at a cost of n_in^2 n_out. "own" looks at y = x only, at
            a cost of n_in^2: a lower bound for any channel, and exact where Pr(y | x) is proportional to
            exp(-scale d(x, y)) for the very metric d with all inputs among the outputs (SanText; TEM with
            min(d, gamma)), since d(x', y) - d(x, y) is largest at y = x by the triangle inequality.

    >>> channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["a", "b"])
    >>> tight_metric_epsilon(channel, [[0, 2], [2, 0]])
    0.549306 at 'a' from 'a' against 'b'
    """
    distance = _distance_blocks(distances, channel.exact("a tight epsilon"))
    if checks.choice("outputs", outputs, ("all", "own")) == "own":
        return _widest_own(channel, distance)
    return _widest_pair(channel, np.arange(channel.shape[1]), distance, 0.0)


def tight_uldp_epsilon(channel: Channel, sensitive: Collection[str], protected: Collection[str]) -> Tight:
    """Smallest epsilon of (V_S, V_P, epsilon)-utility-optimised LDP (Yue et al. 2021, appendix A.1).

    Infinite if an output outside of V_P can come from two inputs or from a sensitive one.

    Args:
        sensitive: V_S, the sensitive inputs.
        protected: V_P, the protected outputs.
    """
    columns = _columns(channel.exact("a tight epsilon"), protected)
    leak = _not_invertible(channel, sensitive, protected)
    return _widest_column(channel, columns) if leak is None else leak


def tight_umldp_epsilon(
    channel: Channel, distances, sensitive: Collection[str], protected: Collection[str], *, epsilon_0: float = 0.0
) -> Tight:
    """Smallest epsilon of (V_S, V_P, epsilon, epsilon_0)-utility-optimised metric DP (UMLDP).

    Yue et al. 2021, Definition 3: the largest (log Pr(y | x) - log Pr(y | x') - epsilon_0) / d(x, x') over y in
    V_P and all x, x', at least 0. Infinite if an output outside of V_P can come from two inputs or from a
    sensitive one. Costs n_in^2 |V_P|.

    Args:
        distances: (n_in, n_in) array, or `Embeddings` whose Euclidean distances count.
        sensitive, protected: as for `tight_uldp_epsilon`.
        epsilon_0: additive bound, for SanText+ ln(1 / p).
    """
    epsilon_0 = checks.number("epsilon_0", epsilon_0, low=0)
    columns, distance = _columns(channel.exact("a tight epsilon"), protected), _distance_blocks(distances, channel)
    leak = _not_invertible(channel, sensitive, protected)
    return _widest_pair(channel, columns, distance, epsilon_0) if leak is None else leak


def _widest(log_rows: np.ndarray) -> tuple[float, int, int, int]:
    """Largest difference within a column: value, its two rows, the column; -inf against -inf is none."""
    high, low = log_rows.max(axis=0), log_rows.min(axis=0)
    with np.errstate(invalid="ignore"):
        spread = np.where(high == -np.inf, 0.0, high - low)
    spread[spread < _ROUNDING] = 0.0
    column = int(spread.argmax())
    top = log_rows[:, column]
    return float(spread[column]), int(top.argmax()), int(top.argmin()), column


def _widest_column(channel: Channel, columns: np.ndarray) -> Tight:
    def block(part):
        value, high, low, column = _widest(channel.log_columns(part).T)
        return value, channel.inputs[high], channel.inputs[low], channel.outputs[part[column]]

    value, high, low, output = max(map_blocks(block, columns), key=lambda found: found[0])
    return Tight(value, (high, low), output) if value > 0 else Tight(0.0)


def _widest_pair(channel: Channel, columns: np.ndarray, distance, epsilon_0: float) -> Tight:
    """Largest (max_y |log ratio| - epsilon_0) / d over pairs of inputs, by the Chebyshev distance of rows."""
    worst, where = 0.0, None
    blocks = [np.arange(channel.shape[0])[at : at + _ROWS] for at in range(0, channel.shape[0], _ROWS)]
    for i, first in enumerate(blocks):
        rows = np.maximum(channel.log_rows(first)[:, columns], _NEVER)
        for second in blocks[i:]:
            others = np.maximum(channel.log_rows(second)[:, columns], _NEVER)
            columns_of = slice(second[0], second[-1] + 1)
            widest = scipy.spatial.distance.cdist(rows, others, "chebyshev")
            ratio = _rate(widest - epsilon_0, distance(first, columns_of))
            a, b = np.unravel_index(ratio.argmax(), ratio.shape)
            if ratio[a, b] > worst:
                worst, where = float(ratio[a, b]), (first[a], second[b])
    if where is None:
        return Tight(0.0)
    pair = channel.log_rows(np.array(where))[:, columns]
    _, high, low, column = _widest(pair)
    return Tight(
        worst, (channel.inputs[where[high]], channel.inputs[where[low]]), channel.outputs[columns[column]]
    )


def _widest_own(channel: Channel, distance) -> Tight:
    missing = [word for word in channel.inputs if word not in channel.output_index]
    if missing:
        raise ValueError(f"outputs: {missing[0]!r} is no output of the channel; pass outputs='all'")

    def block(rows):
        columns = channel.log_columns([channel.inputs[row] for row in rows])
        own = columns[np.arange(len(rows)), rows][:, None]
        difference = np.maximum(own, _NEVER) - np.maximum(columns, _NEVER, out=columns)
        ratio = _rate(np.abs(difference), distance(rows, slice(None)))
        a, b = np.unravel_index(ratio.argmax(), ratio.shape)
        x, other = channel.inputs[rows[a]], channel.inputs[b]
        return float(ratio[a, b]), (x, other) if difference[a, b] > 0 else (other, x), x

    value, pair, output = max(map_blocks(block, np.arange(channel.shape[0])), key=lambda found: found[0])
    return Tight(value, pair, output) if value > 0 else Tight(0.0)


def _rate(ratio: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Log-ratios per distance, in place; 0 / 0 is 0, and a lost support is infinite."""
    ratio[ratio < _ROUNDING] = 0.0
    ratio[ratio > 1e300] = np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio /= distance
    ratio[np.isnan(ratio)] = 0.0
    return ratio


def _distance_blocks(distances, channel: Channel):
    """d(rows, columns) as a function of row numbers and a range of inputs."""
    if isinstance(distances, Embeddings):
        vectors = distances.vectors[distances.rows(channel.inputs)]
        between = ScaledDistances(vectors, vectors, scale=1.0)
        return lambda rows, columns: between.block(rows, columns, height=max(len(rows), BLOCK))
    table = np.asarray(distances, dtype=np.float64)
    if table.shape != (channel.shape[0],) * 2:
        raise ValueError(f"distances: shape {table.shape}; pass one row and column an input, {channel.shape[0]}")
    if not (table >= 0).all():
        raise ValueError("distances: an entry is negative or missing; pass distances of at least 0")
    return lambda rows, columns: table[rows, columns]


def _columns(channel: Channel, words: Collection[str]) -> np.ndarray:
    unknown = [word for word in words if word not in channel.output_index]
    if unknown or not words:
        what = f"{unknown[0]!r} is no output of the channel" if unknown else "none"
        raise ValueError(f"protected: {what}; pass outputs of the channel")
    return np.array(sorted(channel.output_index[word] for word in words))


def _not_invertible(channel: Channel, sensitive, protected) -> Tight | None:
    """Part ii of Definition 3: an output outside of V_P comes from one input alone, which is not sensitive.

    One that no input reaches is no output.
    """
    inside, sensitive = set(protected), set(sensitive)
    outside = [word for word in channel.outputs if word not in inside]
    for part in (outside[at : at + _ROWS] for at in range(0, len(outside), _ROWS)):
        reached = channel.log_columns(part) > -np.inf
        for output, sources in zip(part, reached, strict=True):
            words = [channel.inputs[i] for i in np.flatnonzero(sources)[:2]]
            if len(words) > 1 or (words and words[0] in sensitive):
                return Tight(np.inf, (words[0], words[-1]), output)
    return None
