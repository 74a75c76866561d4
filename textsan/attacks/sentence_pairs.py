"""A classifier of sentence pairs: is a word the original of a released one, given the rest of the sentence?

The input is <f(c, y), f(c, x')>, the sanitized sentence and the same sentence with x' in the place of y (Tong et
al. 2024, section 4.3), the output the pooled state of an encoder through a linear layer.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from textsan.attacks.shadow import batches_by_length
from textsan.models import encoders

_AT_ONCE = 128  # pairs a forward, when nothing is learnt


class Pair(NamedTuple):
    """f(c, y) and f(c, x'), token by token.

    >>> Pair(("a", "b"), ("a", "c")).guess
    ('a', 'c')
    """

    released: tuple[str, ...]
    guess: tuple[str, ...]


class PairClassifier:
    """An encoder with two classes on its pooled output.

    Args:
        encoder: a registered encoder.
        seed: of the fresh linear layer.

    Attributes:
        encoded: pairs the encoder has read so far, in training too.
    """

    def __init__(self, encoder: str = encoders.ENCODER, *, seed: int = 0):
        self.name, self.encoded = encoder, 0
        self.device = encoders.pick_device()
        with encoders.seeded(seed):
            self.model = encoders.load_encoder(encoder, classes=2).to(self.device)
        self._pieces: dict[str, list[int]] = {}
        first, last = encoders.word_pieces([encoders.CLS, encoders.SEP], encoder)
        self._first, self._last = first, last

    def train(
        self,
        parts: Sequence[tuple[Sequence[Pair], Sequence[int]]],
        *,
        epochs: float,
        learning_rate: float,
        decay_every: int,
        batch_size: int,
        seed: int,
    ) -> None:
        """Minimises cross entropy with Adam, on one part of pairs and labels after the other.

        The learning rate falls to a tenth every `decay_every` steps.
        """
        import torch

        parameters = list(self.model.parameters())
        optimizer = torch.optim.Adam(parameters, lr=learning_rate, fused=True)  # else half of the time is its own
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, decay_every, 0.1)
        generator = np.random.default_rng(seed)
        self.model.train()
        with encoders.seeded(seed):
            for pairs, labels in parts:
                sequences, labels = self._encode(pairs), torch.tensor(labels, device=self.device)
                steps, order = int(np.ceil(epochs * len(pairs) / batch_size)), []
                while len(order) < steps:
                    order += batches_by_length([len(ids) for ids, _ in sequences], batch_size, generator)
                for some in order[:steps]:
                    logits = self._forward([sequences[i] for i in some])
                    loss = torch.nn.functional.cross_entropy(logits, labels[some])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    schedule.step()
        self.model.eval()

    def log_odds(self, pairs: Sequence[Pair]) -> np.ndarray:
        """log h / (1 - h) of each pair, (len(pairs),); equal pairs are encoded once."""
        import torch

        distinct = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
        sequences = self._encode(distinct)
        order = np.argsort([len(ids) for ids, _ in sequences], kind="stable")
        odds = np.empty(len(order))
        with torch.inference_mode():
            for at in range(0, len(order), _AT_ONCE):
                part = order[at : at + _AT_ONCE]
                logits = self._forward([sequences[i] for i in part]).double()
                odds[part] = (logits[:, 1] - logits[:, 0]).cpu().numpy()
        return odds[[distinct[pair] for pair in pairs]]

    def _encode(self, pairs: Collection[Pair]) -> list[tuple[list[int], int]]:
        """Piece numbers of each pair, and where its second sequence starts."""
        new = sorted({word for pair in pairs for sentence in pair for word in sentence} - self._pieces.keys())
        self._pieces.update(zip(new, encoders.word_pieces(new, self.name), strict=True))
        result = []
        for pair in pairs:
            one, two = ([piece for word in sentence for piece in self._pieces[word]] for sentence in pair)
            result.append((self._first + one + self._last + two + self._last, len(one) + 2))
        return result

    def _forward(self, sequences):
        import torch

        limit = self.model.config.max_position_embeddings
        ids = torch.zeros(len(sequences), min(limit, max(len(s) for s, _ in sequences)), dtype=torch.long)
        kinds, attended = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, (sequence, second) in enumerate(sequences):
            sequence = sequence[:limit]
            ids[row, : len(sequence)] = torch.tensor(sequence)
            kinds[row, second : len(sequence)] = 1
            attended[row, : len(sequence)] = 1
        self.encoded += len(sequences)
        inputs = {"input_ids": ids, "token_type_ids": kinds, "attention_mask": attended}
        with encoders.half_precision(self.device):
            logits = self.model(**{name: value.to(self.device) for name, value in inputs.items()}).logits
        return logits.float()
