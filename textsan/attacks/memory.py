"""What a shadow text gives away that holds copies of the private one: the word between the same two neighbours.

A baseline, not a language model. What an attack gains over it is more than memory of single places.
"""

import numpy as np
import scipy

from textsan.attacks.base import Attack
from textsan.attacks.knowledge import Knowledge
from textsan.channel import Channel, Posterior
from textsan.priors import Prior
from textsan.text import checks
from textsan.text.blocks import map_blocks

_EDGE = ("edge",)  # the neighbour of a first or last word: no word, and every attacker sees it


class Memory(Attack):
    """Guesses argmax_x Pr(y | x) m(x), where m looks for the place under attack in the shadow text.

    The source that it is optimal for copies: a word with its two neighbours is one of the T places (l, x, r) of the
    shadow text with probability `copied`; else the word is an independent one, and its neighbours are those of a
    shadow place with probability `copied`, else independent too. Neighbours are sanitized like any word, so

        m(x) = copied M(x) + (1 - copied) p(x) [copied sum_x' M(x') + (1 - copied) p(l') p(r')],
        M(x) = 1/T sum over places (l, x, r) of Pr(l' | l) Pr(r' | r),

    l' and r' the neighbours as released, p the context-free prior, p(l') = sum_l p(l) Pr(l' | l). A neighbour that
    the mechanism keeps must be the same, one that it replaces must be possible. With `copied` 0 it is the
    context-free attack, and so is its answer wherever no place of the shadow text is possible. It can do worse
    than that where neighbours agree by chance.

    Args:
        channel: Pr(y | x), known to the attacker; a word that is kept has the row of the identity.
        shadow: the attacker's own token lists.
        prior: Pr(x) over the channel's inputs.
        copied: in [0, 1]; one half does not know whether anything is copied.
        attacked: words that can stand at attacked positions; None is every input of the channel.

    Raises:
        ValueError: no token in `shadow`, or `copied` out of range.

    >>> flat = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["good", "bad"], outputs=["good", "bad"])
    >>> attack = Memory(flat, [["a", "bad", "film"]], Prior(["good", "bad"], [0.6, 0.4]))
    >>> attack.reconstruct([["a", "good", "film"], ["the", "good", "film"]], [(0, 1), (1, 1)])
    ['bad', 'good']
    """

    def __init__(self, channel: Channel, shadow, prior: Prior, *, copied: float = 0.5, attacked=None):
        self.channel, self.prior = channel, prior
        self.copied = checks.number("copied", copied, low=0, high=1)
        self._prior = prior.aligned(channel.inputs)
        self._attackable = np.array([attacked is None or word in attacked for word in channel.inputs])
        docs = checks.documents("shadow", shadow)
        words = [word for doc in docs for word in doc]
        if not words:
            raise ValueError("shadow: no token to remember; pass at least one")
        # Inputs have their number, and after them comes what the channel cannot replace: edges, unknown words.
        self._number = dict(channel.input_index)
        left, word, right = (
            np.array([self._number.setdefault(token, len(self._number)) for token in tokens])
            for tokens in (
                [token for doc in docs for token in [_EDGE, *doc][: len(doc)]],
                words,
                [token for doc in docs for token in [*doc, _EDGE][1:]],
            )
        )
        shape = len(self._number), len(words)
        self._left, self._right = left, right
        self._words = scipy.sparse.csr_array((np.ones(len(words)), (word, np.arange(len(words)))), shape=shape)

    @classmethod
    def against(cls, knowledge: Knowledge, *, copied: float = 0.5) -> "Memory":
        """The attack with the knowledge's shadow text, and its context-free prior.

        Args:
            knowledge: a channel and shadow text.
            copied: as for the constructor.
        """
        given = {"copied": copied, "attacked": knowledge.attacked}
        return cls(knowledge.channel, knowledge.documents, knowledge.unigram(), **given)

    def _posteriors(self, docs, positions, k):
        padded = [[_EDGE, *doc, _EDGE] for doc in docs]
        places = np.array([tuple(padded[d][i : i + 3]) for d, i in positions] + [None], dtype=object)[:-1]
        k = len(self.channel.inputs) if k is None else k
        found = list(map_blocks(lambda part: self._best(part, k), places))
        numbers, logs = (np.concatenate(part) for part in zip(*found, strict=True)) if found else np.empty((2, 0, 0))
        released = [docs[d][i] for d, i in positions]
        return Posterior(positions, self.channel.inputs, numbers, logs, released=released)

    def _best(self, places, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The `k` best inputs at some places (l', y, r'), and log Pr(x | l', y, r')."""
        left, released, right = zip(*places, strict=True)
        (before, alone_before), (after, alone_after) = self._likely(left, self._left), self._likely(right, self._right)
        total = len(self._left)
        likely = before * after / total
        copies = (self._words @ likely.T).T[:, : len(self._prior)]
        around = self.copied * likely.sum(axis=1) + (1 - self.copied) * alone_before * alone_after
        around[around == 0] = 1.0  # neighbours that nothing explains tell nothing
        word = self.copied * copies + (1 - self.copied) * self._prior * around[:, None]
        scores = np.full(word.shape, -np.inf)
        seen = np.array([y in self.channel.output_index for y in released])
        with np.errstate(divide="ignore"):
            scores[seen] = self.channel.log_columns([y for y in released if y in self.channel.output_index])
            scores += np.where(self._attackable, np.log(word), -np.inf)
        best = Posterior.from_scores(range(len(places)), released, self.channel.inputs, np.arange(word.shape[1]), scores, k)
        return best.numbers, best.log_probabilities

    def _likely(self, released, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pr(l' | l) of released neighbours at the neighbours of all places, (n, T), and p(l'), up to a factor each."""
        distinct = list(dict.fromkeys(released))
        rows, alone = np.zeros((len(distinct), len(self._number))), np.empty(len(distinct))
        hidden = np.array([token in self.channel.output_index for token in distinct])
        logs = self.channel.log_columns([token for token in distinct if token in self.channel.output_index])
        best = logs.max(axis=1, keepdims=True, initial=-np.inf)
        rows[hidden, : len(self._prior)] = np.exp(logs - np.where(best > -np.inf, best, 0.0))
        alone[hidden] = rows[hidden, : len(self._prior)] @ self._prior
        for at in np.flatnonzero(~hidden):  # its own original
            number = self._number.get(distinct[at], -1)
            if number >= 0:
                rows[at, number] = 1.0
            alone[at] = (1 + (places == number).sum()) / len(places)
        order = {token: at for at, token in enumerate(distinct)}
        chosen = [order[token] for token in released]
        return rows[:, places][chosen], alone[chosen]
