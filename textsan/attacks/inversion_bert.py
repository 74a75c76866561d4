"""Inversion BERT: a model of pairs alone, and the counting that its published variant amounts to.

Kugler et al. 2021 train a sequence model on aligned pairs to turn encodings back into words, one output a
position. The released code of Tong et al. 2024 trains a classifier for each released word y instead, with y as its
only and constant input: the best constant answer is the most frequent original of y in the pairs.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from textsan.attacks.base import Attack, filled, posterior_of_batches
from textsan.attacks.expected_embeddings import plain_batch
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.training_text import paired, training_batches, windows, windows_to_read
from textsan.channel import Posterior
from textsan.models import encoders

_SHARPNESS = 10.0  # of the softmax; a few hundred steps at the usual rates do not get there by themselves


class InversionBert(Attack):
    """Reads a sanitized sentence once and names the original of every word, as it learnt from pairs.

    Each released word is one slot, the mean input embedding e(y) of its pieces. With q_t made by a head of what
    the encoder puts out at slot t, the word x scores

        10 [<q_t, e(x)> + g cos(e(y_t), e(x)) + b(x)],

    a softmax over `words` tied to the input embeddings. At first g is 1 and b is 0, so that training starts near
    embedding inversion, which answers y, and learns where to leave it. Neither channel nor prior is given: what it
    knows of either is in the pairs.

    Args:
        words: what answers are chosen from, the public vocabulary of attacked words.
        encoder: a registered encoder; its linear layers learn updates of low rank.
    """

    def __init__(self, words: Collection[str], *, encoder: str = encoders.ENCODER, seed: int = 0):
        import torch

        from textsan.models.context_model import Reader

        self.words = list(dict.fromkeys(words))
        if not self.words:
            raise ValueError("words: none; pass the words that answers are chosen from")
        self._number = {word: number for number, word in enumerate(self.words)}
        self.reader = Reader(encoder=encoder, seed=seed)
        with torch.no_grad():
            vectors = self.reader.vectors(self.words)
        self.reader.gain = torch.nn.Parameter(vectors.new_ones(()))
        self.reader.bias = torch.nn.Parameter(vectors.new_zeros(len(self.words)))
        self._candidates, self._directions = _SHARPNESS * vectors, torch.nn.functional.normalize(vectors, dim=1)

    def fit(
        self,
        shadow_docs: Sequence[Sequence[str]],
        sanitized_docs: Sequence[Sequence[str]],
        *,
        epochs: float = 3.0,
        learning_rate: float = 2e-3,
        batch_size: int = 32,
        seed: int = 0,
    ) -> "InversionBert":
        """Maximise the likelihood of the original words among `words`, given the sanitized sentence."""
        from textsan.models.context_model import train

        shadow, released = paired(shadow_docs, sanitized_docs)
        parts = [
            (d, a, b)
            for d, a, b in windows(list(map(len, shadow)))
            if not self._number.keys().isdisjoint(shadow[d][a:b])
        ]
        if not parts:
            raise ValueError("shadow_docs: none of the words to choose from; pass text of the same vocabulary")
        order = training_batches([b - a for _, a, b in parts], batch_size, epochs, seed)

        def batch(step):
            chosen = [parts[i] for i in order[step]]
            originals = [shadow[d][a:b] for d, a, b in chosen]
            places = [(n, i) for n, doc in enumerate(originals) for i, x in enumerate(doc) if x in self._number]
            truth = [self._number[originals[n][i]] for n, i in places]
            return self._batch([released[d][a:b] for d, a, b in chosen], places, truth)

        train(self.reader, batch, steps=len(order), learning_rate=learning_rate, seed=seed)
        return self

    def _batch(self, docs, places, truth=None):
        """A batch whose log prior is what is learnt besides the reader: g times the likeness to y, and b."""
        import torch

        batch = plain_batch(self.reader, docs, places, self._candidates, truth=truth)
        own = torch.nn.functional.normalize(batch.slots[batch.where[:, 0], batch.where[:, 1]], dim=1)
        beside = self.reader.gain * (own @ self._directions.T) + self.reader.bias
        return batch._replace(log_prior=_SHARPNESS * beside)

    @classmethod
    def against(cls, knowledge: Knowledge, *, copies: int = 3, epochs: float = 3.0) -> "InversionBert":
        """Train the attack on `copies` sanitizations of shadow text by a mechanism that the attacker may run."""
        attack = cls(sorted(knowledge.candidates), seed=knowledge.seed)
        return attack.fit(*knowledge.sanitized(copies), epochs=epochs, seed=knowledge.seed)

    _reads_with = "reader"

    def _posteriors(self, docs, positions, k):
        import torch

        def batches():
            for read, at, places in windows_to_read(docs, positions):
                with torch.no_grad():
                    batch = self._batch(read, places)
                    scores = (self.reader(batch) + batch.log_prior).double().cpu().numpy()
                yield at, scores

        released = [docs[d][i] for d, i in positions]
        return posterior_of_batches(positions, released, self.words, batches(), k)


class EmpiricalInversion(Attack):
    """Guesses the most frequent original of y in the shadow pairs, argmax_x N(x, y); ties go to the first seen.

    That is what one classifier for each y can learn whose input is y alone: its cross entropy is least at
    N(x, y) / N(y). N(x, y) / copies tends to N(x) Pr(y | x), so that with many sanitizations of the shadow text
    the attack becomes `ContextFreeBayes` with `alpha_inverse=0`. A y that occurs in no pair is guessed to be
    itself; the released code counts it as a miss, and `table` tells which words these are.

    Attributes:
        originals: of each y that was seen the originals with N(x, y), the most frequent first.

    >>> attack = EmpiricalInversion().fit([["a", "b", "b"]], [["u", "u", "u"]])
    >>> attack.reconstruct([["u", "v"]], [(0, 0), (0, 1)])
    ['b', 'v']
    """

    def __init__(self, *, attacked: Collection[str] | None = None):
        self.attacked = None if attacked is None else frozenset(attacked)
        self.originals: dict[str, list[tuple[str, int]]] = {}

    @classmethod
    def against(cls, knowledge: Knowledge, *, copies: int = 100) -> "EmpiricalInversion":
        """Make the attack of `copies` sanitizations of shadow text by a mechanism that the attacker may run."""
        return cls(attacked=knowledge.candidates).fit(*knowledge.sanitized(copies))

    @property
    def table(self) -> dict[str, str]:
        """The answer for each y that was seen."""
        return {y: words[0][0] for y, words in self.originals.items()}

    def fit(
        self, shadow_docs: Sequence[Sequence[str]], sanitized_docs: Sequence[Sequence[str]]
    ) -> "EmpiricalInversion":
        """Count the pairs of shadow documents and of the same, sanitized with the mechanism under attack."""
        counts: dict[str, Counter] = {}
        for doc, released in zip(*paired(shadow_docs, sanitized_docs), strict=True):
            for x, y in zip(doc, released, strict=True):
                if self.attacked is None or x in self.attacked:
                    counts.setdefault(y, Counter())[x] += 1
        self.originals = {y: originals.most_common() for y, originals in counts.items()}
        return self

    def _posteriors(self, docs, positions, k):
        released = [docs[d][i] for d, i in positions]
        listed = [self.originals.get(y, [])[:k] for y in released]
        words = list(dict.fromkeys(x for line in listed for x, _ in line))
        number = {word: at for at, word in enumerate(words)}
        lines = []
        for y, line in zip(released, listed, strict=True):
            total = sum(n for _, n in self.originals.get(y, []))
            lines.append(([number[x] for x, _ in line], [np.log(n / total) for _, n in line]))
        return Posterior(positions, words, *filled(lines), released=released)
