"""A channel: one row-stochastic matrix Pr(y | x) over words, in three storages.

`dense` holds the matrix, `sparse` the non-zero entries of each row, `exponential` only word vectors, from which
rows and columns are computed on demand: Pr(y | x) proportional to exp(-scale * d(x, y)). All of them answer in
natural logarithms and float64, for a block of rows, for a block of columns, or with a draw.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.blocks import map_blocks
from textsan.base.listed import Listed
from textsan.channel.accelerator import TorchJoint
from textsan.channel.exponential import Exponential
from textsan.channel.posterior import Posterior, tabulate
from textsan.channel.storage import Dense, Sparse

DENSE_LIMIT = 1 << 28  # entries: 2 GiB of float64; above it `matrix()` refuses


class Channel:
    """Pr(y | x) for x in `inputs` and y in `outputs`.

    Build one with `from_matrix`, `from_sparse` or `exponential`; mechanisms do.

    >>> channel = Channel.from_matrix([[0.75, 0.25], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> channel.rows(["b"])
    array([[0.5, 0.5]])
    """

    draws: int | None = None
    """Draws a row that the channel is estimated from; None where its entries are exact."""
    kept: frozenset[str] = frozenset()
    """Words that `keeping` made rows of the identity for."""

    def __init__(self, inputs: Iterable[str], outputs: Iterable[str], storage):
        self.inputs, self.outputs, self._storage = list(inputs), list(outputs), storage
        lists = ("inputs", self.inputs), ("outputs", self.outputs)
        for (name, words), size in zip(lists, storage.shape, strict=True):
            if len(words) != size:
                raise ValueError(f"{name}: {len(words)} words for {size} rows or columns; pass one a line")
            if len(set(words)) != len(words):
                raise ValueError(f"{name}: a word occurs more than once; pass distinct words")

    @classmethod
    def from_matrix(cls, matrix, inputs: Iterable[str], outputs: Iterable[str]) -> "Channel":
        """Make a channel from its dense matrix, shape (n_in, n_out), rows summing to one within 1e-9."""
        matrix = np.array(matrix, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"matrix: {matrix.ndim} dimensions; pass a table of rows Pr(. | x)")
        _check_rows(matrix.min(initial=0.0), matrix.sum(axis=1))
        with np.errstate(divide="ignore"):
            return cls(inputs, outputs, Dense(np.log(matrix)))

    @classmethod
    def from_sparse(cls, matrix, inputs: Iterable[str], outputs: Iterable[str]) -> "Channel":
        """Make a channel from a scipy sparse matrix of probabilities, shape (n_in, n_out)."""
        matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        _check_rows(matrix.data.min(initial=0.0), matrix.sum(axis=1))
        return cls(inputs, outputs, Sparse(matrix))

    @classmethod
    def estimated(cls, counts, draws: int, inputs: Iterable[str], outputs: Iterable[str]) -> "Channel":
        """Make a channel of frequencies, counted in `draws` draws of each input.

        A word that was never drawn has frequency 0 and may still have a positive probability: no epsilon can be
        read off this channel, and what needs exact entries refuses it. `interval` says how far off one may be.

        Args:
            counts: (n_in, n_out) numbers of draws, dense or scipy sparse; rows sum to `draws`.

        >>> Channel.estimated([[3, 1]], 4, inputs=["a"], outputs=["u", "v"])
        Channel(1 inputs, 2 outputs, sparse, estimated from 4 draws a row)
        """
        draws = checks.whole("draws", draws, low=1)
        channel = cls.from_sparse(scipy.sparse.csr_array(counts, dtype=np.float64) / draws, inputs, outputs)
        channel.draws = draws
        return channel

    @classmethod
    def exponential(
        cls,
        inputs,
        outputs,
        input_vectors,
        output_vectors,
        scale: float,
        *,
        cutoff=np.inf,
        stay=None,
        device="cpu",
    ) -> "Channel":
        """Pr(y | x) = stay_x [y = x] + (1 - stay_x) exp(-scale min(d(x, y), cutoff)) / Z_x, d Euclidean.

        Args:
            output_vectors: (m, d), the vectors of the first m outputs; later outputs are reached by staying only.
            scale: inverse temperature, at least 0 (SanText: epsilon / 2).
            cutoff: distance beyond which all outputs weigh the same.
            stay: (n_in,) probabilities of releasing x itself; None is 0 everywhere.
            device: where sums and columns are computed: "cpu", "cuda", or "auto" for a GPU where there is one. The
                results agree within rounding.
        """
        inputs, outputs = list(inputs), list(outputs)
        scale = checks.number("scale", scale, low=0)
        if not cutoff >= 0:
            raise ValueError(f"cutoff: {cutoff!r} is out of range; pass a number of at least 0")
        if not (np.isfinite(input_vectors).all() and np.isfinite(output_vectors).all()):
            raise ValueError("vectors: a number is missing or not finite; pass finite numbers")
        position = {word: j for j, word in enumerate(outputs)}
        own = np.array([position.get(word, -1) for word in inputs], dtype=np.intp)
        stay = np.zeros(len(inputs)) if stay is None else np.asarray(stay, dtype=np.float64)
        if not ((stay >= 0) & (stay <= 1)).all():
            raise ValueError("stay: an entry is no probability; pass numbers from 0 to 1")
        if (own[stay > 0] < 0).any():
            raise ValueError("stay: a word that may stay is not among the outputs; add it")
        storage = Exponential(input_vectors, output_vectors, len(outputs), scale, cutoff, stay, own, device)
        return cls(inputs, outputs, storage)

    def __repr__(self) -> str:
        kind = type(self._storage).__name__.lower()
        how = f", estimated from {self.draws} draws a row" if self.draws else ""
        return f"Channel({len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind}{how})"

    @property
    def shape(self) -> tuple[int, int]:
        """(number of inputs, number of outputs)."""
        return self._storage.shape

    @cached_property
    def input_index(self) -> dict[str, int]:
        """Row of each input word."""
        return {word: i for i, word in enumerate(self.inputs)}

    @cached_property
    def output_index(self) -> dict[str, int]:
        """Column of each output word."""
        return {word: j for j, word in enumerate(self.outputs)}

    def log_rows(self, inputs: Listed) -> np.ndarray:
        """log Pr(. | x) for some inputs (words or row numbers), shape (len(inputs), n_out)."""
        return self._storage.log_rows(_numbers(inputs, self.input_index, "inputs"))

    def rows(self, inputs: Listed) -> np.ndarray:
        """Pr(. | x) for some inputs (words or row numbers), shape (len(inputs), n_out)."""
        return np.exp(self.log_rows(inputs))

    def log_columns(self, outputs: Listed) -> np.ndarray:
        """log Pr(y | .) for some outputs (words or column numbers), shape (len(outputs), n_in)."""
        return self._storage.log_columns(_numbers(outputs, self.output_index, "outputs"))

    def matrix(self) -> np.ndarray:
        """The whole channel, dense float64 (n_in, n_out), of at most `DENSE_LIMIT` entries."""
        if np.prod(self.shape) > DENSE_LIMIT:
            raise ValueError(
                f"channel: {self.shape[0]} x {self.shape[1]} entries are above the limit of {DENSE_LIMIT}; "
                "use rows() or log_columns() in blocks"
            )
        return self.rows(np.arange(self.shape[0]))

    def exact(self, what: str) -> "Channel":
        """Return this channel, for a computation that needs exact entries; an error, which names it, otherwise."""
        if self.draws:
            raise ValueError(
                f"channel: {what} needs exact entries, and these are estimated from {self.draws} draws a row; "
                "use interval(), or bracket it"
            )
        return self

    def interval(self, x: str, y: str, confidence: float = 0.95) -> tuple[float, float]:
        """The Clopper-Pearson interval of Pr(y | x); where entries are exact, the entry twice.

        >>> channel = Channel.estimated([[0, 10]], 10, inputs=["a"], outputs=["u", "v"])
        >>> tuple(round(end, 3) for end in channel.interval("a", "u"))
        (0.0, 0.308)
        """
        frequency = float(self.rows([x])[0, self.output_index[y]])
        if not self.draws or x in self.kept:
            return frequency, frequency
        result = scipy.stats.binomtest(round(frequency * self.draws), self.draws)
        interval = result.proportion_ci(confidence, method="exact")
        return float(interval.low), float(interval.high)

    def keeping(self, words: Iterable[str]) -> "Channel":
        """Make the channel that releases some words verbatim: their rows are those of the identity.

        So plain Bayes is right about them by itself: a released "the" is nearly always a kept "the", even where
        another word may become "the", too. Words of which the channel knows nothing stay unknown.

        >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["the", "a"], outputs=["the", "a"])
        >>> channel.keeping(["the"]).matrix()
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        known = self.input_index.keys() | self.output_index.keys()
        kept = [word for word in dict.fromkeys(words) if word in known and word not in self.kept]
        if not kept:
            return self
        inputs = self.inputs + [word for word in kept if word not in self.input_index]
        outputs = self.outputs + [word for word in kept if word not in self.output_index]
        row, column = ({word: i for i, word in enumerate(part)} for part in (inputs, outputs))
        rows, columns = (np.array([index[word] for word in kept], dtype=np.intp) for index in (row, column))
        storage = self._storage.keeping(rows, columns, (len(inputs), len(outputs)))
        channel = Channel(inputs, outputs, storage)
        channel.draws, channel.kept = self.draws, self.kept | frozenset(kept)
        return channel

    def restrict(self, words: Iterable[str]) -> "Channel":
        """The rows of some inputs alone, over all outputs."""
        words = list(words)
        if words == self.inputs:
            return self
        channel = Channel(words, self.outputs, self._storage.restrict(_numbers(words, self.input_index, "inputs")))
        channel.draws, channel.kept = self.draws, self.kept & frozenset(words)
        return channel

    def prior_array(self, prior) -> np.ndarray:
        """Return Pr(x) in the order of the inputs, (n_in,), from a `Prior` or (n_in,) probabilities."""
        if hasattr(prior, "aligned"):
            return prior.aligned(self.inputs)
        return checks.probabilities("prior", prior, len(self.inputs))

    def posterior(
        self, prior, k: int = 10, outputs: Sequence[str] | None = None, *, device: str | None = None
    ) -> Posterior:
        """Pr(x | y), proportional to Pr(x) Pr(y | x): the `k` likeliest inputs of each released word.

        Args:
            k: candidates a released word, at least 1.
            device: a torch device, "cpu" or "cuda", or "auto" for a GPU where there is one, which gives the same
                within rounding; None is NumPy.

        >>> channel = Channel.from_matrix([[0.5, 0.5], [1.0, 0.0]], inputs=["a", "b"], outputs=["u", "v"])
        >>> posterior = channel.posterior([0.5, 0.5], k=1)
        >>> posterior.mode(), posterior.coverage()
        (['b', 'a'], 0.75)
        """
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.prior_array(prior))
        return tabulate(self, log_prior, checks.whole("k", k, low=1), outputs, device)

    def log_marginal(
        self, log_prior: np.ndarray, outputs: Listed | None = None, device: str | None = None
    ) -> np.ndarray:
        """log sum_x Pr(x) Pr(y | x) of some outputs (words or column numbers), (n outputs,)."""
        columns = np.arange(self.shape[1]) if outputs is None else _numbers(outputs, self.output_index, "outputs")
        if device is not None:
            return TorchJoint(self._storage, log_prior, device).log_marginal(columns)

        def block(part):
            joint = self._storage.log_columns(part)
            joint += log_prior
            best = joint.max(axis=1)
            finite = np.where(best > -np.inf, best, 0.0)
            with np.errstate(divide="ignore"):
                return np.log(np.exp(joint - finite[:, None]).sum(axis=1)) + finite

        return np.concatenate([np.empty(0), *map_blocks(block, columns)])

    def sample(self, inputs: Listed, uniforms: np.ndarray) -> np.ndarray:
        """Draw outputs by inversion of uniforms (n,) in [0, 1): column numbers, a function of each pair alone."""
        numbers = _numbers(inputs, self.input_index, "inputs")
        return self._storage.sample(numbers, np.asarray(uniforms, dtype=np.float64))

    def best_inputs(
        self, log_prior: np.ndarray, outputs: Listed | None = None, k: int = 1, device: str | None = None
    ):
        """Find the `k` inputs of largest Pr(x) Pr(y | x) for each output, best first, ties by row.

        Which of those tied at place k are kept is open, unless the channel is sparse. `log_prior` is -inf for
        impossible inputs; row numbers and log joint probabilities are (n outputs, k), k at most n_in.
        """
        columns = np.arange(self.shape[1]) if outputs is None else _numbers(outputs, self.output_index, "outputs")
        k = min(k, self.shape[0])
        if device is not None:
            return TorchJoint(self._storage, log_prior, device).best_inputs(columns, k)
        return self._storage.best_inputs(log_prior, columns, k)


def _numbers(words: Listed, index: dict[str, int], name: str) -> np.ndarray:
    if len(words) and isinstance(words[0], str):
        unknown = [word for word in words if word not in index]
        if unknown:
            raise KeyError(f"{name}: {unknown[0]!r} is not a word of the channel ({len(index)} {name})")
        words = [index[word] for word in words]
    return np.asarray(words, dtype=np.intp)


def _check_rows(smallest: float, sums: np.ndarray) -> None:
    if not smallest >= 0:  # also catches NaN
        raise ValueError(f"matrix: an entry is {smallest}; probabilities are at least 0")
    off = np.abs(sums - 1.0)
    if not (off <= 1e-9).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise ValueError(f"matrix: row {worst} sums to {sums[worst]:.12g}; normalise the rows to 1")
