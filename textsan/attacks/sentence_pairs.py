"""A classifier of sentence pairs: is a word the original of a released one, given the rest of the sentence?

The input is <f(c, y), f(c, x')>, the sanitized sentence and the same sentence with x' in the place of y (Tong et
al. 2024, section 4.3), the output the pooled state of an encoder through a linear layer.
"""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textsan.attacks.training_text import training_batches
from textsan.models import checkpoints, encoders

KEPT_EVERY = 100  # steps between two states of a training that are written down
_DECAY_EVERY = 1000  # steps, after which the learning rate is a tenth
_AT_ONCE = 128  # pairs a forward, when nothing is learnt


class Pair(NamedTuple):
    """f(c, y) and f(c, x'), token by token.

    >>> Pair(("a", "b"), ("a", "c")).guess
    ('a', 'c')
    """

    released: tuple[str, ...]
    guess: tuple[str, ...]


class PairClassifier:
    """An encoder with two classes on its pooled output; `encoded` counts the pairs it has read, in training too.

    Unless `segments` is False it is told which sequence a piece is of.
    """

    def __init__(self, encoder: str = encoders.ENCODER, *, seed: int = 0):
        self.name, self.encoded, self.segments = encoder, 0, True
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
        steps: int | None = None,
        learning_rate: float,
        batch_size: int,
        seed: int,
        checkpoint: Path | None = None,
    ) -> None:
        """Minimise cross entropy with Adam, on one part of pairs and labels after the other.

        The learning rate falls to a tenth every 1,000 steps. What a step does depends on the seed and its
        number alone, so that a training that was killed ends as it would have: the checkpoint keeps the state
        every `KEPT_EVERY` steps, and a training of the same pairs and settings takes it up. `steps` is of all at
        most.
        """
        import torch

        settings: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
        settings |= {"decay_every": _DECAY_EVERY, "seed": seed, "encoder": self.name, "segments": self.segments}
        read: list[tuple] = []
        order: list[list[int]] = []
        for pairs, labels in parts:
            encoded = self._encode(pairs)
            batches = training_batches([len(ids) for ids, _ in encoded], batch_size, epochs, [seed, len(order)])
            order += [(len(read) + batch).tolist() for batch in batches]
            read += [(*one, label) for one, label in zip(encoded, labels, strict=True)]
        order = order[:steps]
        this = hashlib.sha256(repr((settings, read)).encode()).hexdigest()
        weights = dict(self.model.named_parameters())
        # Unless it is fused, half of the time is the optimizer's own.
        optimizer = torch.optim.Adam(weights.values(), lr=learning_rate, fused=True)
        first = 0
        if state := checkpoints.load(checkpoint, weights, this):
            optimizer.load_state_dict(optimizer.state_dict() | {"state": state["moments"]})
            first = state["step"]
        self.model.train()
        for step, some in enumerate(order[first:], first):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * 0.1 ** (step // _DECAY_EVERY)
            with encoders.seeded(seed * 1_000_003 + step):
                logits = self._forward([read[i][:2] for i in some])
            labels = torch.tensor([read[i][2] for i in some], device=self.device)
            loss = torch.nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if checkpoint and ((step + 1) % KEPT_EVERY == 0 or step + 1 == len(order)):
                checkpoints.save(checkpoint, weights, optimizer, step + 1, this)
        self.encoded += sum(map(len, order[:first]))  # by the training that was killed
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
            kinds[row, second : len(sequence)] = self.segments
            attended[row, : len(sequence)] = 1
        self.encoded += len(sequences)
        inputs = {"input_ids": ids, "token_type_ids": kinds, "attention_mask": attended}
        return self.model(**{name: value.to(self.device) for name, value in inputs.items()}).logits
