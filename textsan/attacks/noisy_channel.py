"""The noisy-channel attack: Pr(y | x) is known, so learn only what the context says of the original word.

The channel is token-wise, hence Pr(c | x, y) = Pr(c | x), and Tong et al. 2024, Theorem 2, reads

    Pr(x | y, c)  is proportional to  Pr(y | x) Pr(x) [Pr(c | x) / Pr(c)].

A `Reader` gives the bracket for all candidates of all positions of a sentence in one forward. It may see y too:
what y tells of x is in Pr(y | x). With `masked` it does not, at the price of a forward a position.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from textsan.attacks.base import Attack, Position
from textsan.attacks.expected_embeddings import ExpectedEmbeddings
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.markov import PUBLIC, MarkovBayes
from textsan.attacks.training_text import folds, held_out_split, paired, training_batches, windows, windows_to_read
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.priors import fit_bigrams

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5)
_FOLDS = 5
_FLOOR = 1e-9  # posterior of a candidate that the bigram model did not list


class NoisyChannel(Attack):
    """Guesses argmax_x log Pr(x | y) + w_r s(x, c) + w_b b(x, c) over the `k` best x of the context-free attack.

    s is the reader's estimate of log Pr(c | x) - log Pr(c). b, with `bigrams`, is that of a bigram model of the
    shadow text: log posterior of `MarkovBayes` minus log Pr(x | y). `fit` chooses the weights by success on shadow
    sentences that neither was fitted on; both 0 is the context-free attack.

    Args:
        adapter: a trained start of the reader, "without-rt" for example; the text it was trained on must not hold
            the text under attack. None starts from the bare encoder.
        bigrams: whether to mix in the bigram model.
        public: whether that is an `InterpolatedModel`, with the public n-gram table.
        masked: whether each position is read alone, its own slot hidden; `fit` trains with the slot shown.
        attacked: words that can stand at attacked positions; None is every input, kept ones among them.

    Attributes:
        reader: the `Reader`; `reader.encoded` counts the sentences it has read.
        weights: (w_r, w_b).
    """

    def __init__(
        self,
        channel: Channel,
        counts: Mapping[str, int],
        *,
        adapter: str | None,
        k: int = 20,
        bigrams: bool = True,
        public: bool = PUBLIC,
        masked: bool = False,
        attacked: Collection[str] | None = None,
    ):
        from textsan.models.context_model import Reader, load_adapter

        self.channel, self.k = channel, checks.whole("k", k, low=1)
        self.attacked = frozenset(channel.inputs if attacked is None else attacked)
        self.reader = Reader()
        if adapter is not None:
            load_adapter(self.reader, adapter)
        self.slots = ExpectedEmbeddings(channel, counts, self.reader, k=self.k, attacked=self.attacked)
        self.bigrams, self.public, self.masked = bigrams, public, masked
        self._markov: MarkovBayes | None = None
        self.weights = (1.0, 0.0)

    @classmethod
    def against(
        cls,
        knowledge: Knowledge,
        *,
        adapter: str | None = None,
        k: int = 20,
        copies: int = 4,
        epochs: float = 1.0,
        bigrams: bool = True,
        public: bool = PUBLIC,
    ) -> "NoisyChannel":
        """Make the attack, its reader trained on and its weights chosen by `copies` sanitizations of shadow text.

        Args:
            knowledge: a channel and shadow text; its resource "adapter" is where the reader starts.
            adapter: another start, by name.
        """
        start = adapter or knowledge.resources.get("adapter")
        given: dict[str, Any] = {"k": k, "bigrams": bigrams, "public": public, "attacked": knowledge.attacked}
        attack = cls(knowledge.channel, knowledge.counts, adapter=start, **given)
        return attack.fit(*knowledge.sanitized(copies), epochs=epochs, seed=knowledge.seed)

    _reads_with = "reader"

    @property
    def details(self) -> dict[str, float]:
        return {"encoded": self.reader.encoded, "reader_weight": self.weights[0], "bigram_weight": self.weights[1]}

    def fit(
        self,
        shadow_docs: Sequence[Sequence[str]],
        sanitized_docs: Sequence[Sequence[str]],
        *,
        epochs: float = 1.0,
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        held_out: float = 0.2,
        seed: int = 0,
    ) -> "NoisyChannel":
        """Go on training the reader on shadow sentences, and choose the weights on others of them.

        Args:
            epochs: passes over them; 0 leaves the reader as it is.
            held_out: share of the distinct shadow sentences that choose the weights.
        """
        from textsan.models.context_model import train

        shadow, released = paired(shadow_docs, sanitized_docs)
        learn, choose = held_out_split(shadow, checks.number("held_out", held_out, 0, 1), seed)
        parts = [(learn[d], a, b) for d, a, b in windows([len(shadow[d]) for d in learn])]
        order = training_batches([b - a for _, a, b in parts], batch_size, epochs, seed)

        def batch(step):
            chosen = [parts[i] for i in order[step]]
            originals = [shadow[d][a:b] for d, a, b in chosen]
            positions = self._attacked_positions(originals)
            truths = [originals[d][i] for d, i in positions]
            return self.slots.batch([released[d][a:b] for d, a, b in chosen], positions, truths)[0]

        train(self.reader, batch, steps=len(order), learning_rate=learning_rate, seed=seed)
        self.weights = self._choose_weights(shadow, released, choose, seed)
        self._fit_bigrams(shadow)
        return self

    def _attacked_positions(self, docs) -> list[Position]:
        return [(d, i) for d, doc in enumerate(docs) for i, word in enumerate(doc) if word in self.attacked]

    def _fit_bigrams(self, docs) -> None:
        if self.bigrams:
            distinct = [list(doc) for doc in dict.fromkeys(map(tuple, docs))]
            model = fit_bigrams(distinct, self.channel.inputs, self.public)
            self._markov = MarkovBayes(self.channel, model, k=self.k, attacked=self.attacked)

    def _choose_weights(self, shadow, released, choose, seed) -> tuple[float, float]:
        """The pair of most hits on some documents; the smallest of equals, which trusts the models least.

        What attacks a document is fitted on others: the bigram model on nearly all of them, as it will be in the
        end, the prior with the original word taken off its counts.
        """
        second = WEIGHTS if self.bigrams else (0.0,)
        pairs = sorted(((r, b) for r in WEIGHTS for b in second), key=sum)
        hits = np.zeros(len(pairs))
        for part in folds([shadow[d] for d in choose], _FOLDS if self.bigrams else 1, seed):
            attacked = [choose[i] for i in part]
            self._fit_bigrams([doc for d, doc in enumerate(shadow) if d not in set(attacked)])
            originals = [shadow[d] for d in attacked]
            positions = self._attacked_positions(originals)
            words = [originals[d][i] for d, i in positions]
            known, rows, base, read, bigram = self._factors([released[d] for d in attacked], positions, words)
            truth = np.array([self.channel.input_index[word] for word in words], dtype=np.intp)
            right, line = rows == truth[known][:, None], np.arange(len(rows))
            for at, (r, b) in enumerate(pairs):
                hits[at] += right[line, (base + r * read + b * bigram).argmax(axis=1)].sum()
        return pairs[int(hits.argmax())]

    def _factors(self, docs, positions, truths=None):
        """Find positions with candidates, (n,), and their rows, log Pr(x | y), s and b, (n, k) each.

        Where truths are given, docs are of the text that was counted, and Pr(x | y) leaves one out.
        """
        import torch

        found = []
        for read, at, places in windows_to_read(docs, positions, alone=self.masked):
            words = None if truths is None else [truths[place] for place in at]
            batch, known, table = self.slots.batch(read, places, words, np.full(len(places), self.masked))
            if len(known):
                with torch.no_grad():
                    factor = self.reader(batch).double().cpu().numpy()
                base = batch.log_prior.double().numpy()
                found.append((np.array(at)[known], self.slots.rows[table], base, factor))
        if not found:
            return (np.empty(0, dtype=np.intp),) + (np.empty((0, self.k)),) * 4
        known, rows, base, read = (np.concatenate(part) for part in zip(*found, strict=True))
        bigram = np.zeros_like(base)
        if self._markov is not None:
            bigram = self._bigram_factor(docs, [positions[at] for at in known], rows) - base
        return known, rows, base, np.where(base > -1e29, read, 0.0), np.where(base > -1e29, bigram, 0.0)

    def _bigram_factor(self, docs, positions, rows) -> np.ndarray:
        """log Pr(x_i | y_1 .. y_n) of the bigram model for the candidates of each position."""
        assert self._markov is not None
        posterior = {d: self._markov.posterior(docs[d]) for d in {d for d, _ in positions}}
        inputs = self.channel.inputs
        values = [
            [posterior[d][i].get(inputs[row], 0.0) for row in line]
            for (d, i), line in zip(positions, rows, strict=True)
        ]
        return np.log(np.maximum(np.array(values).reshape(rows.shape), _FLOOR))

    def _posteriors(self, docs, positions, k):
        from textsan.models.context_model import IMPOSSIBLE

        known, rows, base, read, bigram = self._factors(docs, positions)
        scores = base + self.weights[0] * read + self.weights[1] * bigram
        numbers = np.full((len(positions), self.slots.k), -1)
        logs = np.full(numbers.shape, -np.inf)
        numbers[known], logs[known] = rows, np.where(scores > IMPOSSIBLE / 10, scores, -np.inf)
        released = [docs[d][i] for d, i in positions]
        return Posterior.from_scores(positions, released, self.channel.inputs, numbers, logs, k)
