"""The exponential storage of a channel: only vectors are held; rows, columns and draws are computed from them.

A draw needs a whole row, but only its sum and one entry. So rows are first summed in parts; a uniform variate
selects a part, and only the weights of that part are computed again. The sums of up to `WHOLE` words are computed
for all of them at once and kept; as d(x, y) = d(y, x), half of the distances do. Those of a larger vocabulary are
computed for the words that are drawn from. Which of the two it is depends on the channel alone, never on the text.
"""

from functools import cached_property
from threading import Lock, local

import numpy as np

from textsan.base.blocks import BLOCK, map_blocks, map_jobs
from textsan.channel.accelerator import TorchDistances, choose_device
from textsan.channel.distances import TILE, ScaledDistances
from textsan.channel.storage import best_by_blocks

WHOLE = 20_000  # inputs and outputs up to which all partial sums are computed and kept; parts are blocks then
_PARTS = 400  # parts of a row, at most
_HEIGHT = 256  # draws within one part resolved at a time
_ONE_THREAD = Lock()  # not one a channel, so that mechanisms can be sent to other processes


class Exponential:
    """exp(-scale min(d, cutoff)) / Z_x over the first `m` outputs, mixed with staying put."""

    def __init__(self, input_vectors, output_vectors, n_out, scale, cutoff, stay, own, device):
        self.shape = (len(input_vectors), n_out)
        self.stay, self.own = stay, own
        self._rows = ScaledDistances(input_vectors, output_vectors, scale, cutoff)
        self._mirror = output_vectors, input_vectors, scale, cutoff
        self._device = choose_device(device)
        self._m = len(output_vectors)
        self._part = BLOCK * -(-self._m // (BLOCK * _PARTS))  # outputs in a part: whole blocks
        self._is_whole = max(self.shape[0], self._m) <= WHOLE

    # --- rows and columns ---------------------------------------------------------------------------------------

    def log_rows(self, rows):
        log_rows = np.full((len(rows), self.shape[1]), -np.inf)
        log_stay, log_move = self._log_stay_move
        for at in range(0, len(rows), BLOCK):
            part = rows[at : at + BLOCK]
            scaled = self._rows.block(part)
            scaled -= scaled.min(axis=1, keepdims=True)
            normaliser = np.log(np.exp(-scaled).sum(axis=1)) - log_move[part]
            log_rows[at : at + BLOCK, : self._m] = -scaled - normaliser[:, None]
        i = np.flatnonzero(self.stay[rows] > 0)
        own = self.own[rows[i]]
        log_rows[i, own] = np.logaddexp(log_rows[i, own], log_stay[rows[i]])
        return log_rows

    def log_columns(self, columns):
        log_columns = np.empty((len(columns), self.shape[0]))
        log_stay, log_move = self._log_stay_move
        offset = log_move - self.log_normaliser
        for at in range(0, len(columns), BLOCK):
            part, piece = columns[at : at + BLOCK], log_columns[at : at + BLOCK]
            drawn = part < self._m
            self._columns.block(np.where(drawn, part, 0), out=piece)
            np.subtract(offset, piece, out=piece)
            piece[~drawn] = -np.inf
        owner = self._owner[columns]
        i = np.flatnonzero(owner >= 0)
        log_columns[i, owner[i]] = np.logaddexp(log_columns[i, owner[i]], log_stay[owner[i]])
        return log_columns

    def columns_on(self, device):
        import torch

        def moved(array):
            return torch.as_tensor(array, device=device)

        outputs, inputs, scale, cutoff = self._mirror
        rows, distances = (
            TorchDistances(*pair, scale, cutoff, device) for pair in ((inputs, outputs), (outputs, inputs))
        )
        numbers = np.arange(self.shape[0])
        sums = [rows.sums(numbers[at : at + _HEIGHT], self._m) for at in range(0, len(numbers), _HEIGHT)]
        normaliser = np.concatenate([np.log(total[:, 0]) - least for total, least in sums])
        log_stay, log_move = map(moved, self._log_stay_move)
        offset, owner = log_move - moved(normaliser), moved(self._owner)

        def columns(numbers):
            numbers = moved(numbers)
            drawn = numbers < self._m
            logs = offset - distances.scaled(torch.where(drawn, numbers, 0))
            logs[~drawn] = -torch.inf
            i = torch.nonzero(owner[numbers] >= 0)[:, 0]
            own = owner[numbers[i]]
            logs[i, own] = torch.logaddexp(logs[i, own], log_stay[own])
            return logs

        return columns

    def best_inputs(self, log_prior, columns, k):
        possible = np.flatnonzero(log_prior > -np.inf)
        if not k <= len(possible) < len(log_prior):
            return best_by_blocks(self.log_columns, log_prior, columns, k)
        # The words of one text are few of a large vocabulary: the rows of the others need not be looked at.
        few = self.restrict(possible)
        few._log_normaliser = self.log_normaliser[possible]
        best, joint = best_by_blocks(few.log_columns, log_prior[possible], columns, k)
        return possible[best], joint

    @property
    def log_normaliser(self) -> np.ndarray:
        """log Z_x of every input, (n_in,), computed once."""
        with _ONE_THREAD:
            return self._log_normaliser

    @cached_property
    def _log_normaliser(self):
        if self._is_whole:
            sums, least = self._all_sums
            return np.log(sums.sum(axis=1)) - least
        parts = map_blocks(self._summing(), np.arange(self.shape[0]))
        return np.concatenate([np.log(sums.sum(axis=1)) - least for sums, least in parts])

    @cached_property
    def _columns(self):
        """The distances seen from the outputs."""
        if self._device != "cpu":
            return TorchDistances(*self._mirror, self._device)
        return ScaledDistances(*self._mirror)

    @cached_property
    def _log_stay_move(self):
        with np.errstate(divide="ignore"):
            return np.log(self.stay), np.log1p(-self.stay)

    @cached_property
    def _owner(self):
        """The input that may stay at each output, or -1."""
        owner = np.full(self.shape[1], -1)
        staying = np.flatnonzero(self.stay > 0)
        owner[self.own[staying]] = staying
        return owner

    def keeping(self, rows, columns, shape):
        """A word that is kept stays with probability 1; one without a row gets one, its vector that of row 0."""
        vectors = np.vstack([self._mirror[1], np.repeat(self._mirror[1][:1], shape[0] - self.shape[0], axis=0)])
        stay, own = np.zeros(shape[0]), np.full(shape[0], -1, dtype=np.intp)
        stay[: self.shape[0]], own[: self.shape[0]] = self.stay, self.own
        stay[rows], own[rows] = 1.0, columns
        outputs, _, scale, cutoff = self._mirror
        return Exponential(vectors, outputs, shape[1], scale, cutoff, stay, own, self._device)

    def restrict(self, rows):
        outputs, inputs, scale, cutoff = self._mirror
        stay, own = self.stay[rows], self.own[rows]
        return Exponential(
            np.asarray(inputs)[rows], outputs, self.shape[1], scale, cutoff, stay, own, self._device
        )

    # --- draws --------------------------------------------------------------------------------------------------

    def sample(self, rows, uniforms):
        drawn = np.empty(len(rows), dtype=np.intp)
        stay = uniforms < self.stay[rows]
        drawn[stay] = self.own[rows[stay]]
        moving = np.flatnonzero(~stay)
        if not len(moving):
            return drawn
        chance = self.stay[rows[moving]]
        left = (uniforms[moving] - chance) / (1.0 - chance)
        words, line = np.unique(rows[moving], return_inverse=True)
        sums, least = self._sums(words)
        cumulative = np.cumsum(sums, axis=1)
        target = left * cumulative[line, -1]
        part = np.empty(len(moving), dtype=np.intp)
        for at in range(0, len(moving), BLOCK * 16):
            some = slice(at, at + BLOCK * 16)
            part[some] = _first_above(cumulative[line[some]], target[some])
        target -= np.where(part > 0, cumulative[line, part - 1], 0.0)

        def within(tokens):
            """Entries of one part, for draws that fell into it."""
            number, words_of = part[tokens[0]], line[tokens]
            columns = slice(number * self._part, min((number + 1) * self._part, self._m))
            scaled = self._rows.block(words[words_of], columns, height=_HEIGHT)
            np.subtract(least[words_of][:, None], scaled, out=scaled)
            weights = np.cumsum(np.exp(scaled, out=scaled), axis=1)
            drawn[moving[tokens]] = columns.start + _first_above(weights, target[tokens])

        order = np.argsort(part, kind="stable")
        ends = np.flatnonzero(np.diff(part[order], append=-1)) + 1
        runs = np.split(order, ends[:-1])
        list(map_jobs(within, (run[at : at + _HEIGHT] for run in runs for at in range(0, len(run), _HEIGHT))))
        return drawn

    def _sums(self, rows):
        """Sums of exp(least - scaled distance) over each part, (len(rows), parts), and least, (len(rows),)."""
        if self._is_whole:
            with _ONE_THREAD:
                sums, least = self._all_sums
            return sums[rows], least[rows]
        sums, least = zip(*map_blocks(self._summing(), rows), strict=True)
        return np.concatenate(sums), np.concatenate(least)

    def _summing(self):
        """`_sums` of at most BLOCK rows, as a function with memory of its own for every thread."""
        if self._device != "cpu":
            outputs, inputs, scale, cutoff = self._mirror
            distances = TorchDistances(inputs, outputs, scale, cutoff, self._device)
            return lambda rows: distances.sums(rows, self._part)
        space = local()
        starts = np.arange(0, self._m, self._part)

        def block(rows):
            if not hasattr(space, "scaled"):
                space.scaled = np.empty((BLOCK, self._m))
            scaled = self._rows.block(rows, out=space.scaled[: len(rows)])
            least = scaled.min(axis=1)
            for at in range(0, self._m, TILE):
                piece = scaled[:, at : at + TILE]
                np.subtract(least[:, None], piece, out=piece)
                np.exp(piece, out=piece)
            return np.add.reduceat(scaled, starts, axis=1), least

        return block

    @cached_property
    def _all_sums(self):
        """`_sums` of all inputs; those that are outputs too need half of the distances."""
        sums, least = np.empty((self.shape[0], -(-self._m // self._part))), np.zeros(self.shape[0])
        twins = self._twins if self._device == "cpu" else None
        others = np.arange(self.shape[0])
        if twins is not None:
            self._sum_symmetric(sums, twins)
            others = np.setdiff1d(others, twins)
        for at, part in zip(range(0, len(others), BLOCK), map_blocks(self._summing(), others), strict=True):
            sums[others[at : at + BLOCK]], least[others[at : at + BLOCK]] = part
        return sums, least

    @cached_property
    def _twins(self):
        """The inputs that are the first m outputs, in their order, if these have the same vectors; else None."""
        twins = np.full(self._m, -1)
        inside = (self.own >= 0) & (self.own < self._m)
        twins[self.own[inside]] = np.flatnonzero(inside)
        outputs, inputs = (np.asarray(vectors) for vectors in self._mirror[:2])
        return twins if (twins >= 0).all() and np.array_equal(inputs[twins], outputs) else None

    def _sum_symmetric(self, sums, twins):
        """Strips of 64 rows from the diagonal on: their own sums, and by d(x, y) = d(y, x) those of later rows."""

        def strip(at):
            rows = twins[at : at + BLOCK]
            for left in range(at, self._m, TILE):
                right = min(left + TILE, self._m)
                weights = self._rows.block(rows, slice(left, right))
                np.negative(weights, out=weights)
                np.exp(weights, out=weights)
                parts = np.arange(0, right - left, BLOCK)
                sums[rows, left // BLOCK : left // BLOCK + len(parts)] = np.add.reduceat(weights, parts, axis=1)
                later = max(left, at + BLOCK)
                sums[twins[later:right], at // BLOCK] = weights[:, later - left :].sum(axis=0)

        list(map_jobs(strip, range(0, self._m, BLOCK)))


def _first_above(cumulative: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """In each row the first index above the target, or of the last value: an entry of positive weight."""
    last = cumulative[:, -1:]
    above = (cumulative <= targets[:, None]).sum(axis=1)
    return np.minimum(above, (cumulative < last).sum(axis=1))
