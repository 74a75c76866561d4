"""Mask token inference: a masked language model fills in the attacked position (Yue et al. 2021, section 5.3).

The released word is hidden from the model and used nowhere else: y and the channel are left out. What remains is
the context, and it is the sanitized one. The share of positions that the attack misses is what Yue et al. 2021 and
Chen et al. 2023 report as defence rate or privacy level.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from textsan.attacks.base import Attack, posterior_of_batches
from textsan.attacks.expected_embeddings import plain_batch
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.training_text import WINDOW, around
from textsan.models import encoders
from textsan.priors import NGrams

_AT_ONCE = 64  # positions a forward


class FillsBlanks(Protocol):
    """A reader that scores words for a blank."""

    words: list[str]
    """Those that can be answered."""

    def log_scores(self, docs: Sequence[Sequence[str]], indices: Sequence[int]) -> np.ndarray:
        """Compute log Pr(x | c) of each word at one position of each document, up to constants, (docs, words)."""


class MaskInference(Attack):
    """Guesses argmax_x Pr(x | c), c the sanitized sentence without the position itself."""

    def __init__(self, model: FillsBlanks):
        self.model = model

    @classmethod
    def against(cls, knowledge: Knowledge, *, public: bool = True, adapter: str | None = None) -> "MaskInference":
        """Make the attack with a public table of trigrams or an adapter; the channel is not used.

        Args:
            knowledge: the words to choose from; for an adapter also shadow text, for how frequent words are, and
                the resource "adapter".
            public: whether the table fills in, which needs no text of the attacker's own; else an adapter does.
            adapter: another context model, by name, where public is False.
        """
        if public and adapter:
            raise ValueError(f"adapter: {adapter!r} is not asked where the public table reads; pass public=False")
        if public:
            return cls(PublicReader(sorted(knowledge.candidates)))
        start = adapter or knowledge.resources.get("adapter")
        if start is None:
            raise ValueError("resources: no adapter is granted; pass adapter=, or resources={'adapter': ...}")
        return cls(MaskedReader(sorted(knowledge.candidates), knowledge.counts, start))

    _reads_with = "model"

    def _posteriors(self, docs, positions, k):
        order = sorted(range(len(positions)), key=lambda at: len(docs[positions[at][0]]))

        def batches():
            for start in range(0, len(order), _AT_ONCE):
                batch = order[start : start + _AT_ONCE]
                parts = [around(docs[d], i, WINDOW) for d, i in (positions[at] for at in batch)]
                yield batch, self.model.log_scores(*zip(*parts, strict=True))

        released = [docs[d][i] for d, i in positions]
        return posterior_of_batches(positions, released, self.model.words, batches(), k)


class PublicReader:
    """A public table of trigrams, read from both sides: Pr(x | c) of two words before x and two after it.

    It is proportional to q(x | l2 l1) q(r1 | l1 x) q(r2 | x r1), for two words l2 l1 before and r1 r2 after, where
    q is `textsan.priors.NGrams`. Factors whose last word the table does not know are left out.

    Attributes:
        words: those that can be answered, which the table knows.

    >>> reader = PublicReader(["york", "jersey", "film"])
    >>> reader.words[reader.log_scores([["the", "new", "?", "times"]], [2]).argmax()]
    'york'
    """

    name = "cmu-en-us"

    def __init__(self, words: Collection[str]):
        self._table, words = NGrams.load(), _distinct(words)
        self.words = [word for word in words if word in self._table]
        if not self.words:
            raise ValueError(f"words: the public table knows none of {len(words)}; pass English words")
        self._numbers = self._table.numbers(self.words)

    def log_scores(self, docs: Sequence[Sequence[str]], indices: Sequence[int]) -> np.ndarray:
        """Compute log Pr(x | c) of each word at one position of each document, up to constants, (docs, words)."""
        return np.array([self._scores(doc, index) for doc, index in zip(docs, indices, strict=True)])

    def _scores(self, doc: Sequence[str], index: int) -> np.ndarray:
        padded = ["<s>", "<s>", *doc, "</s>", "</s>"]
        around = self._table.numbers([*padded[index : index + 2], *padded[index + 3 : index + 5]]).tolist()
        x, (a, b, c, d) = self._numbers, (np.full(len(self.words), number) for number in around)
        grams = [(a, b, x)] + [(b, x, c)] * (around[2] >= 0) + [(x, c, d)] * (min(around[2:]) >= 0)
        return np.sum([self._table.log_probabilities(np.column_stack(gram)) for gram in grams], axis=0)


class MaskedReader:
    """An adapter's reader as a masked language model: Pr(x | c) proportional to Pr(x) exp <q_t, e(x)>.

    The slot of the attacked word holds a mask, the others the words as they were released. A reader estimates
    log Pr(c | x) - log Pr(c); how frequent words are, which a masked language model knows too, comes from counts.

    Args:
        counts: occurrences of words in public text; add-one smoothed they are Pr(x).
        adapter: a trained adapter, "without-rt" for example.
    """

    def __init__(self, words: Collection[str], counts: Mapping[str, int], adapter: str):
        import torch

        from textsan.models.context_model import Reader, load_adapter

        self.words = _distinct(words)
        self.reader = Reader()
        self.name = self.reader.name
        load_adapter(self.reader, adapter)
        self._log_prior = np.log([counts.get(word, 0) + 1 for word in self.words])
        with torch.no_grad():
            self._vectors = self.reader.vectors(self.words)

    @property
    def encoded(self) -> int:
        return self.reader.encoded

    def log_scores(self, docs: Sequence[Sequence[str]], indices: Sequence[int]) -> np.ndarray:
        """Compute log Pr(x | c) of each word at one position of each document, up to constants, (docs, words)."""
        import torch

        batch = plain_batch(self.reader, docs, list(enumerate(indices)), self._vectors)
        batch.slots[batch.where[:, 0], batch.where[:, 1]] = self.reader.masked
        with torch.no_grad():
            return self.reader(batch).double().cpu().numpy() + self._log_prior


class MaskedBert:
    """A masked language model of the registry, with one mask in the place of the whole attacked word.

    The released code of Tong et al. 2024 looks words up in BERT's list of pieces, so that cased and rare ones
    become unknown. Here every word goes through the tokenizer, which lower-cases it and cuts it into pieces. One
    mask is one piece, so that words of several pieces are never answered: as many masks as y has pieces would tell
    of y.

    Args:
        name: a registered model with a masked-language-model head; whose pieces are read, if there is a `model`.
        model: another one with such a head, of `textsan_book.studies.filling_blanks.masked_model` for example.

    Attributes:
        words: those that can be answered, of one piece each.
    """

    def __init__(self, words: Collection[str], name: str = "bert-base-uncased", model=None):
        self.name, self.encoded, self.device = name, 0, encoders.pick_device()
        self.model = (model or encoders.load_encoder(name, masked=True)).to(self.device)
        special = (encoders.CLS, encoders.SEP, encoders.MASK, encoders.UNKNOWN)
        *self._frame, unknown = (piece for [piece] in encoders.word_pieces(special, name))
        words = _distinct(words)
        pieces = dict(zip(words, encoders.word_pieces(words, name), strict=True))
        self.words = [word for word in words if len(pieces[word]) == 1 and pieces[word] != [unknown]]
        if not self.words:
            raise ValueError(f"words: none of {len(words)} is a single piece of {name}; pass others")
        self._answers = [pieces[word][0] for word in self.words]

    def log_scores(self, docs: Sequence[Sequence[str]], indices: Sequence[int]) -> np.ndarray:
        """Compute log Pr(x | c) of each word at one position of each document, up to constants, (docs, words)."""
        import torch

        sequences, masks = zip(*map(self._masked, docs, indices), strict=True)
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(sequence) for sequence in sequences], batch_first=True)
        attended = torch.arange(ids.shape[1]) < torch.tensor([[len(sequence)] for sequence in sequences])
        self.encoded += len(docs)
        with torch.no_grad():
            inputs = {"input_ids": ids.to(self.device), "attention_mask": attended.long().to(self.device)}
            logits = self.model(**inputs).logits.cpu()
        return logits[torch.arange(len(docs)), torch.tensor(masks)][:, self._answers].double().numpy()

    def _masked(self, doc: Sequence[str], index: int) -> tuple[list[int], int]:
        """Pieces of the sentence, a mask for the word, no more than the model can read; the place of the mask."""
        first, last, mask = self._frame
        words = encoders.word_pieces([*doc[:index], *doc[index + 1 :]], self.name) if len(doc) > 1 else []
        before, after = ([piece for word in side for piece in word] for side in (words[:index], words[index:]))
        room = (self.model.config.max_position_embeddings - 3) // 2
        before = before[max(0, len(before) - room) :]
        return [first, *before, mask, *after[:room], last], len(before) + 1


def _distinct(words: Collection[str]) -> list[str]:
    if not words:
        raise ValueError("words: none; pass the words that answers are chosen from")
    return list(dict.fromkeys(words))
