"""A table of released words before their context is read: mean vectors and candidates."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import scipy

from textsan.attacks.base import Position
from textsan.attacks.context_free import ContextFreeBayes
from textsan.channel import Channel
from textsan.channel.posterior import tabulate


class ExpectedEmbeddings:
    """Vectors and candidates of released words, and batches of documents for a reader.

    The slot of a released word y holds the mean of the vectors of `k` words under Pr(x | y), with add-one smoothed
    counts for a prior: over sensitive words at attacked positions, over all inputs of the channel elsewhere. That
    of a word kept verbatim, which stands at no attacked position, holds its own vector.
    """

    def __init__(
        self,
        channel: Channel,
        counts: Mapping[str, int],
        reader,
        *,
        k: int,
        attacked: Collection[str] | None = None,
    ):
        import torch

        self.channel, self.reader, self.k = channel, reader, min(k, len(channel.inputs))
        self.counts = np.array([counts.get(word, 0) for word in channel.inputs], dtype=np.float64)
        self.log_prior = ContextFreeBayes(channel, counts).log_prior
        self.log_secret = ContextFreeBayes(channel, counts, attacked=attacked).log_prior
        with torch.no_grad():
            self.vectors = reader.vectors(channel.inputs)
        self.number: dict[str, int] = {}
        self.means = self.vectors.new_empty((0, self.vectors.shape[1]))  # away from attacked positions
        self.secret_means = self.means
        self.rows = np.empty((0, self.k), dtype=np.intp)  # of candidates, best first; -1 where there are none
        self.log_posterior = np.empty((0, self.k))  # of each, among them

    def add(self, words: Collection[str]) -> None:
        """Complete the table."""
        import torch

        new = sorted(set(words) - self.number.keys())
        if not new:
            return
        first = len(self.number)
        self.number.update((word, first + i) for i, word in enumerate(new))
        drawn = np.array([word in self.channel.output_index for word in new])
        outputs = [word for word, one in zip(new, drawn, strict=True) if one]
        rows, log_posterior = self._posterior(self.log_secret, outputs)
        others = rows, log_posterior
        if (self.log_secret != self.log_prior).any():
            others = self._posterior(self.log_prior, outputs)
        with torch.no_grad():
            own = self.reader.vectors(new)
        mixed = drawn & np.array([word not in self.channel.kept for word in new])
        self.means = torch.cat([self.means, self._mean(own, *others, drawn, mixed)])
        self.secret_means = torch.cat([self.secret_means, self._mean(own, rows, log_posterior, drawn, drawn)])
        self.rows = np.pad(self.rows, ((0, len(new)), (0, 0)), constant_values=-1)
        self.log_posterior = np.pad(self.log_posterior, ((0, len(new)), (0, 0)))
        at = first + np.flatnonzero(drawn)
        self.rows[at], self.log_posterior[at] = rows, log_posterior

    def _posterior(self, log_prior, outputs: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """The `k` best inputs of each output, and log Pr(x | y) among them; -1 where nothing explains it."""
        from textsan.models.context_model import IMPOSSIBLE

        best = tabulate(self.channel, log_prior, self.k, outputs)
        joint, explained = best.log_weights.copy(), best.numbers[:, 0] >= 0
        joint[explained] -= scipy.special.logsumexp(joint[explained], axis=1, keepdims=True)
        # A word that is impossible has a row like the others, and no weight; only where all are is there none.
        rows = np.where(explained[:, None], np.maximum(best.numbers, 0), -1)
        return rows, np.maximum(joint, IMPOSSIBLE)

    def _mean(self, own, rows, log_posterior, drawn, mixed):
        """Mean vectors of words; their own where they are not `mixed`, or not explained."""
        import torch

        explained = mixed[drawn] & (rows[:, 0] >= 0)
        weights = torch.from_numpy(np.exp(log_posterior[explained])).to(own)
        means = own.clone()
        at = torch.from_numpy(np.flatnonzero(drawn)[explained])
        means[at] = torch.einsum("nk,nkd->nd", weights, self.vectors[rows[explained]])
        return means

    def batch(
        self,
        docs: Sequence[Sequence[str]],
        positions: Sequence[Position],
        truths: Sequence[str] | None = None,
        masked: np.ndarray | None = None,
    ):
        """Make a `Batch` of documents and the attacked positions in them; `masked` ones show a mask in their slot.

        Positions whose released word no sensitive word explains are left out. Where truths are given the prior is
        that of the *other* text: of the original word's count one is taken off, in its posterior and in the slot's
        mean. Else a reader would learn to trust counts that held its answers.

        Returns the batch, numbers of the positions in it, (n,), and their rows of the table, (n,).
        """
        import torch

        from textsan.models.context_model import IMPOSSIBLE, Batch

        self.add({word for doc in docs for word in doc})
        lengths = np.array([len(doc) for doc in docs])
        numbers = np.zeros((len(docs), lengths.max()), dtype=np.intp)
        for row, doc in zip(numbers, docs, strict=True):
            row[: len(doc)] = [self.number[word] for word in doc]
        where = np.array(positions, dtype=np.intp).reshape(-1, 2)
        table = numbers[where[:, 0], where[:, 1]]
        known = np.flatnonzero(self.rows[table, 0] >= 0)
        where, table = where[known], table[known]
        slots, log_posterior = self.means[torch.from_numpy(numbers)], self.log_posterior[table]
        secret, truth = self.secret_means[torch.from_numpy(table)], None
        if truths is not None:
            true = np.array([self.channel.input_index.get(truths[i], -2) for i in known.tolist()], dtype=np.intp)
            match = (self.rows[table] == true[:, None]) & (log_posterior > IMPOSSIBLE)
            truth = np.where(match.any(axis=1), match.argmax(axis=1), -1)
            self._leave_one_out(secret, log_posterior, truth, true)
            truth = torch.from_numpy(truth)
        if masked is not None:
            secret[torch.from_numpy(masked[known])] = self.reader.masked
        slots[where[:, 0], where[:, 1]] = secret
        candidates, log_prior = self.vectors[torch.from_numpy(self.rows[table])], torch.from_numpy(log_posterior)
        shape = torch.from_numpy(lengths), torch.from_numpy(where)
        return Batch(slots, *shape, candidates, log_prior.float(), truth), known, table

    def _leave_one_out(self, means, log_posterior, truth, true) -> None:
        """Take one off the count of each original word, in place: n + 1 becomes n where it was counted."""
        import torch

        at = np.flatnonzero((truth >= 0) & (self.counts[true] > 0))
        share = 1 / (self.counts[true[at]] + 1)  # of the word's prior that goes
        lost = torch.from_numpy(share * np.exp(log_posterior[at, truth[at]])).to(means)[:, None]
        place = torch.from_numpy(at)
        means[place] = (means[place] - lost * self.vectors[true[at]]) / (1 - lost)
        log_posterior[at, truth[at]] += np.log1p(-share)


def plain_batch(reader, docs: Sequence[Sequence[str]], positions: Sequence[Position], candidates, *, truth=None):
    """Make a `Batch` that shows each word as it stands, of an attacker who does not know the channel.

    Candidates are (K, d) vectors of the words to choose from, the same everywhere; truths their numbers, (n,).
    """
    import torch

    from textsan.models.context_model import Batch

    number = {word: at for at, word in enumerate(dict.fromkeys(word for doc in docs for word in doc))}
    lengths = torch.tensor([len(doc) for doc in docs])
    numbers = torch.zeros(len(docs), int(lengths.max()), dtype=torch.long)
    for row, doc in zip(numbers, docs, strict=True):
        row[: len(doc)] = torch.tensor([number[word] for word in doc])
    where = torch.tensor(positions).reshape(-1, 2)
    truth = None if truth is None else torch.tensor(truth)
    with torch.no_grad():
        slots = reader.vectors(number)[numbers]
    return Batch(slots, lengths, where, candidates, torch.zeros(()), truth)
