"""An encoder prepared for noise: it has learnt to predict original words from sanitized text.

Yue et al. 2021, section 5.4, call that sanitization-aware pretraining. Its objective, the likelihood of original
words given sanitized ones, is that of the attacker's reader in `textsan.models.context_model`. So a trained
adapter of that reader is such a model, and this module reads sentences with it for a task.
"""

from types import SimpleNamespace

import numpy as np

from textsan.attacks.expected_embeddings import ExpectedEmbeddings


class PreparedReader:
    """Reads words through a `Reader`; stands for both `pieces` and `model` of the frozen protocol.

    Args:
        reader: with an adapter, or bare.
        slots: what the channel says of each released word: its slot holds the mean vector under Pr(x | y). None
            shows every word as it stands, of a learner who does not know the channel.

    Attributes:
        longest: words of a text, its two ends included.
    """

    first, last, longest = 0, 1, 128

    def __init__(self, reader, slots: ExpectedEmbeddings | None = None):
        self.reader, self.slots = reader, slots
        self.encoder, self.config, self.device = reader.name, reader.encoder.config, reader.table.device
        self._number: dict[str, int] = {}
        self._table = [reader.first, reader.last]

    def of(self, docs) -> list[list[int]]:
        """The number of each word's vector."""
        import torch

        new = [word for word in dict.fromkeys(w for doc in docs for w in doc) if word not in self._number]
        if new:
            with torch.no_grad():
                self._table += list(self._vectors(new))
            self._number |= zip(new, range(len(self._table) - len(new), len(self._table)), strict=True)
        return [[self._number[word] for word in doc] for doc in docs]

    def _vectors(self, words: list[str]):
        if self.slots is None:
            return self.reader.vectors(words)
        self.slots.add(words)
        return self.slots.means[np.array([self.slots.number[word] for word in words])]

    def __call__(self, input_ids, attention_mask):
        """The last layer over the vectors of these numbers."""
        import torch

        read = torch.stack(self._table)[input_ids]
        hidden = self.reader.encoder(inputs_embeds=read, attention_mask=attention_mask).last_hidden_state
        return SimpleNamespace(last_hidden_state=hidden)
