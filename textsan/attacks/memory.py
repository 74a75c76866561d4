"""Memory of a shadow text that holds copies of the private one: the word between the same two neighbours.

A baseline, not a language model. What an attack gains over it is more than memory of single places.
"""

from itertools import compress
from typing import Any

import numpy as np
import scipy

from textsan.attacks.base import Attack, posterior_of_batches
from textsan.attacks.knowledge import Knowledge
from textsan.base import checks
from textsan.base.blocks import BLOCK, map_blocks
from textsan.channel import Channel
from textsan.priors import Prior

_EDGE = ("edge",)  # the neighbour of a first or last word: no word, and every attacker sees it


class Memory(Attack):
    """Guesses argmax_x Pr(y | x) m(x), where m looks for the place under attack in the shadow text.

    It is Bayes' rule for a source that copies. A word with its two neighbours is one of the T places (l, x, r) of
    the shadow text with probability `copied`; else the word is independent, and its neighbours are those of a
    shadow place with probability `copied`, else independent too. Neighbours are sanitized like any word, so

        m(x) = copied M(x) + (1 - copied) p(x) [copied sum_x' M(x') + (1 - copied) p(l') p(r')],
        M(x) = 1/T sum over places (l, x, r) of Pr(l' | l) Pr(r' | r),

    with l' and r' the released neighbours, p the context-free prior and p(l') = sum_l p(l) Pr(l' | l). A neighbour
    that the mechanism keeps must be the same, one that it replaces must be possible. Where no place of the shadow
    text fits, and everywhere if `copied` is 0, the guess is that of the context-free attack; if `copied` is 1 and
    no place fits, it is the released word. Where neighbours fit by chance it can be worse.

    Args:
        prior: Pr(x) over the channel's inputs.
        copied: in [0, 1]; one half is no opinion on whether anything is copied.

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
        if not any(docs):
            raise ValueError("shadow: no token to remember; pass at least one")
        places = [place for doc in docs for place in zip([_EDGE, *doc], doc, [*doc[1:], _EDGE], strict=False)]
        # Inputs have their numbers; after them comes what the channel cannot replace: edges and unknown words.
        self._number: dict[Any, int] = dict(channel.input_index)
        numbers = [[self._number.setdefault(token, len(self._number)) for token in place] for place in places]
        self._left, words, self._right = np.array(numbers).T
        shape = len(self._number), len(places)
        self._words = scipy.sparse.csr_array((np.ones(len(places)), (words, np.arange(len(places)))), shape=shape)

    @classmethod
    def against(cls, knowledge: Knowledge, *, copied: float = 0.5) -> "Memory":
        """Make the attack with the knowledge's shadow text, and its context-free prior."""
        prior = knowledge.unigram()
        return cls(knowledge.channel, knowledge.documents, prior, copied=copied, attacked=knowledge.attacked)

    def _posteriors(self, docs, positions, k):
        padded = [[_EDGE, *doc, _EDGE] for doc in docs]
        places = np.empty(len(positions), dtype=object)
        places[:] = [tuple(padded[d][i : i + 3]) for d, i in positions]
        blocks = enumerate(map_blocks(self._scores, places))
        batches = ((range(b * BLOCK, b * BLOCK + len(scores)), scores) for b, scores in blocks)
        return posterior_of_batches(positions, [y for _, y, _ in places], self.channel.inputs, batches, k)

    def _scores(self, places) -> np.ndarray:
        """log Pr(y | x) m(x) of every input at some released places (l', y, r'), up to a constant each."""
        left, released, right = zip(*places, strict=True)
        before, alone = self._likely(left, self._left)
        after, also_alone = self._likely(right, self._right)
        likely = before * after / len(self._left)
        copies = (self._words @ likely.T).T[:, : len(self._prior)]
        around = self.copied * likely.sum(axis=1) + (1 - self.copied) * alone * also_alone
        around[around == 0] = 1.0  # neighbours that nothing explains tell nothing
        word = self.copied * copies + (1 - self.copied) * self._prior * around[:, None]
        hidden = np.array([y in self.channel.output_index for y in released])
        scores = np.full(word.shape, -np.inf)
        scores[hidden] = self.channel.log_columns(list(compress(released, hidden)))
        with np.errstate(divide="ignore"):
            return scores + np.where(self._attackable, np.log(word), -np.inf)

    def _likely(self, released, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pr(l' | l) of n released neighbours at those of all places, (n, T), and p(l'), up to a factor of l'."""
        tokens, n = list(dict.fromkeys(released)), len(self._prior)
        rows, alone = np.zeros((len(tokens), len(self._number))), np.empty(len(tokens))
        hidden = np.array([token in self.channel.output_index for token in tokens])
        logs = self.channel.log_columns(list(compress(tokens, hidden)))
        best = logs.max(axis=1, keepdims=True, initial=-np.inf)
        rows[hidden, :n] = np.exp(logs - np.where(best > -np.inf, best, 0.0))
        alone[hidden] = rows[hidden, :n] @ self._prior
        for row in np.flatnonzero(~hidden):  # what the channel cannot release is its own original
            own = self._number.get(tokens[row], -1)
            alone[row] = (1 + (places == own).sum()) / len(places)
            if own >= 0:
                rows[row, own] = 1.0
        order = {token: row for row, token in enumerate(tokens)}
        chosen = [order[token] for token in released]
        return rows[:, places][chosen], alone[chosen]
