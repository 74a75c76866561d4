"""The outputs of each word, nearest first, as far as they matter: what the frontier fills and certifies with.

A table of all distances of 20,000 words is 3 GB. A word whose probability is small is spent on its nearest outputs
or on those with much capacity, so that a list of these does; how far it reaches is kept, since a certificate is
one for all outputs as long as it asks nothing beyond. Lists are read from their front, as far as a word has been
spent so far.
"""

from collections.abc import Callable

import numpy as np

from textsan.base.blocks import BLOCK, map_blocks

_FIRST = 32  # outputs of a list that are looked at to begin with
_ROUNDING = 1e-12  # of a word's probability: capacities that sum to it may lack so much
_NEAREST = 250  # outputs on each list because they are near, and as many because they are frequent


class SortedOutputs:
    """For each word of a prior, outputs in ascending order of their distance.

    The likeliest words have all outputs on their lists; of a longer vocabulary the others have the likeliest words
    and their own nearest, and `reach`, (n,), is the distance below which a word's list has all outputs.
    `distances` gives those of some row numbers to all outputs, of which the first n are the words and the others
    symbols that every list has.
    """

    def __init__(self, probabilities: np.ndarray, distances: Callable, outputs: int):
        self.probabilities, self.outputs = probabilities, outputs
        n = len(probabilities)
        frequent = np.sort(np.argsort(-probabilities, kind="stable")[:_NEAREST])
        common = np.concatenate([frequent, np.arange(n, outputs)])
        whole = outputs <= len(common) + _NEAREST
        full = np.arange(n) if whole else frequent
        short = np.setdiff1d(np.arange(n), full)
        self.reach = np.full(n, np.inf)

        def all_of(rows):
            table = distances(rows)
            order = np.argsort(table, axis=1, kind="stable")
            return order.astype(np.int32), np.take_along_axis(table, order, axis=1)

        def near(rows):
            table = distances(rows)
            of_common = table[:, common]
            table[:, common] = np.inf  # they are on the list anyhow
            nearest = np.argpartition(table, _NEAREST - 1, axis=1)[:, :_NEAREST]
            nearest.sort(axis=1)
            far = np.take_along_axis(table, nearest, axis=1)
            self.reach[rows] = far.max(axis=1)
            found = np.hstack([np.broadcast_to(common, (len(rows), len(common))), nearest])
            far = np.hstack([of_common, far])
            order = np.argsort(far, axis=1, kind="stable")
            found = np.take_along_axis(found, order, axis=1).astype(np.int32)
            return found, np.take_along_axis(far, order, axis=1)

        self._tables = [
            (rows, *map(np.concatenate, zip(*map_blocks(make, rows), strict=True)))
            for rows, make in ((full, all_of), (short, near))
            if len(rows)
        ]
        self._place = np.empty((n, 2), dtype=np.intp)  # which table, which of its rows
        for number, (rows, _, _) in enumerate(self._tables):
            self._place[rows] = np.column_stack([np.full(len(rows), number), np.arange(len(rows))])
        self._depth = np.full(n, _FIRST)
        self._fronts = self._cut()

    def of(self, word: int) -> tuple[np.ndarray, np.ndarray]:
        """The list of one word: numbers of outputs, and their distances, ascending."""
        table, row = self._place[word]
        _, numbers, far = self._tables[table]
        return numbers[row], far[row]

    def fill(self, capacity: np.ndarray) -> tuple[float, np.ndarray]:
        """Spend each word's probability on its nearest outputs, at most their capacity (m,) on each.

        Return the expected distance, and (n,) the distance of the last output that each word is spent on.
        """
        while True:
            loss, last, deeper = 0.0, np.empty(len(self._depth)), []
            for rows, numbers, far in self._fronts:
                room = capacity[numbers]
                up_to = np.cumsum(room, axis=1)
                p = self.probabilities[rows]
                deeper.append(rows[up_to[:, -1] < p * (1 - _ROUNDING)])
                spent = np.clip(p[:, None] - (up_to - room), 0.0, room)
                loss += float(np.einsum("ij,ij->", spent, far))
                # the last output is the one with which the sum reaches p
                count = np.minimum((up_to < p[:, None]).sum(axis=1), numbers.shape[1] - 1)
                last[rows] = far[np.arange(len(rows)), count]
            lacking = np.concatenate(deeper)
            if not len(lacking):
                return loss, last
            widths = np.array([self.of(word)[0].size for word in lacking])
            if (self._depth[lacking] >= widths).any():
                raise ValueError("capacity: too little near a word; give every output some")
            self._depth[lacking] = np.minimum(2 * self._depth[lacking], widths)
            self._fronts = self._cut()

    def spend(self, word: int, capacity: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """One word's fill: outputs, the probability on each, which sums to the word's, and what it costs."""
        numbers, far = self.of(word)
        room, p = capacity[numbers], self.probabilities[word]
        before = np.cumsum(room) - room
        used = max(int((before < p).sum()), 1)
        spent = np.minimum(room[:used], p - before[:used])
        spent[-1] = max(p - spent[:-1].sum(), 0.0)  # rounding may leave less than nothing
        return numbers[:used], spent, float(spent @ far[:used])

    def excess(self, last: np.ndarray) -> np.ndarray:
        """Compute s_y = sum_x (t_x - d(x, y))_+ of every output, (m,), for t within what a fill has returned."""
        total = np.zeros(self.outputs)
        for rows, numbers, far in self._fronts:
            over = last[rows, None] - far
            np.maximum(over, 0.0, out=over)
            total += np.bincount(numbers.ravel(), over.ravel(), self.outputs)
        return total

    def whole_excess(self, last: np.ndarray) -> np.ndarray:
        """Compute the excess of any distances t within the reach of the lists, of all outputs."""
        total = np.zeros(self.outputs)
        for rows, numbers, far in self._tables:
            for at in range(0, len(rows), BLOCK * 16):
                part = slice(at, at + BLOCK * 16)
                over = np.maximum(last[rows[part], None] - far[part], 0.0)
                total += np.bincount(numbers[part].ravel(), over.ravel(), self.outputs)
        return total

    def within(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs with d(x, y) < t_x by output: words, distances, and where those of each output begin, (m + 1,)."""
        words, outputs, distances = [], [], []
        for rows, numbers, far in self._fronts:
            i, j = np.nonzero(far < last[rows, None])
            words.append(rows[i])
            outputs.append(numbers[i, j])
            distances.append(far[i, j])
        word, output, distance = (np.concatenate(part) for part in (words, outputs, distances))
        order = np.argsort(output, kind="stable")
        starts = np.searchsorted(output[order], np.arange(self.outputs + 1))
        return word[order], distance[order], starts

    def _cut(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The fronts of the lists, those of one depth together."""
        fronts = []
        for rows, numbers, far in self._tables:
            for depth in np.unique(self._depth[rows]):
                mine = np.flatnonzero(self._depth[rows] == depth)
                fronts.append((rows[mine], numbers[mine, :depth], far[mine, :depth]))
        return fronts
