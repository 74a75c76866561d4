"""Victims: an encoder with pooler and classifier, whose gradient a client shares.

A sentence's *feature* is what the encoder says at [CLS]; the logits are classifier(activation(pooler(feature))).
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from textsan.base import checks
from textsan.models import encoders

ACTIVATIONS: dict[str, Callable] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "selu": torch.selu,
    "cube plus square": lambda x: x**3 + x**2,
}
"""Tanh is BERT's own; Li et al. 2023 put SELU or x^3 + x^2 in its place."""


class Victim(nn.Module):
    """The model that server and client share.

    Args:
        encoder: a transformers BERT encoder; its own pooler is dropped.
        pooler, classifier: linear layers.
        activation: a key of `ACTIVATIONS`.
        name: the registered encoder, for its tokenizer.

    Attributes:
        recovered: d', how many coordinates of a feature the widened part of the pooler reads; 0 without one.
    """

    def __init__(
        self, encoder, pooler: nn.Linear, classifier: nn.Linear, activation: str, name: str = encoders.ENCODER
    ):
        super().__init__()
        self.activation = checks.choice("activation", activation, ACTIVATIONS)
        encoder.pooler, self.name, self.recovered = None, name, 0
        self.encoder, self.pooler, self.classifier = encoder, pooler, classifier
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0

    @property
    def words(self) -> torch.Tensor:
        """The word embeddings, (pieces, d)."""
        return self.encoder.embeddings.word_embeddings.weight

    @property
    def special(self) -> dict[str, int]:
        """Numbers of the pieces [CLS], [SEP] and [PAD]."""
        tokenizer = encoders.load_tokenizer(self.name)
        return {piece: tokenizer.token_to_id(piece) for piece in ("[CLS]", "[SEP]", "[PAD]")}

    def features(self, embedded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Compute the features, the encoder's output at [CLS], (B, d).

        Args:
            embedded: word embeddings of the pieces, (B, length, d), before position and LayerNorm.
            mask: (B, length), 1 where there is a piece.
        """
        # As transformers would make it, without a number from the CPU: a GPU's recording of a step allows none.
        hidden = (1 - mask[:, None, None, :].to(embedded.dtype)) * torch.finfo(embedded.dtype).min
        return self.encoder(inputs_embeds=embedded, attention_mask=hidden).last_hidden_state[:, 0]

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Compute the logits of features, (B, classes)."""
        return self.classifier(ACTIVATIONS[self.activation](self.pooler(features)))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits of sentences given as piece numbers, (B, classes)."""
        return self.logits(self.features(self.words[ids], mask))

    def encode(self, texts: Sequence[str], longest: int = 48) -> tuple[torch.Tensor, torch.Tensor]:
        """Return piece numbers with [CLS] and [SEP], `longest` at most, padded, and the mask."""
        special, tokenizer = self.special, encoders.load_tokenizer(self.name)
        pieces = [tokenizer.encode(text, add_special_tokens=False).ids[: longest - 2] for text in texts]
        rows = [torch.tensor([special["[CLS]"], *row, special["[SEP]"]]) for row in pieces]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=special["[PAD]"])
        mask = nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        return ids, mask

    def decode(self, ids: Sequence[int], special: bool = False) -> str:
        """The text of pieces, without [CLS], [SEP] and [PAD] unless `special`.

        >>> load_victim(layers=1).decode([101, 2204, 2143, 102, 0])  # doctest: +SKIP
        'good film'
        """
        own = self.special
        dropped = {own["[PAD]"]} if special else {*own.values()}
        kept = [int(i) for i in ids if int(i) not in dropped]
        return encoders.load_tokenizer(self.name).decode(kept, skip_special_tokens=False)


def load_victim(
    name: str = encoders.ENCODER, *, layers: int | None = None, classes: int = 2, seed: int = 0
) -> Victim:
    """Load a registered encoder, or its first layers, with a fresh pooler (tanh) and classifier, without dropout.

    >>> load_victim(layers=2).pooler.weight.shape  # doctest: +SKIP
    torch.Size([384, 384])
    """
    encoder = encoders.load_encoder(name)
    encoder.set_attn_implementation("eager")  # the fused one has no second derivative
    d, depth = encoder.config.hidden_size, len(encoder.encoder.layer)
    if layers is not None:
        if checks.whole("layers", layers, 1) > depth:
            raise ValueError(f"layers: {layers} of an encoder of {depth}; pass at most {depth}")
        encoder.encoder.layer = encoder.encoder.layer[:layers]
    with encoders.seeded(seed):
        head = _fresh_head(d, classes, encoder.config.initializer_range)
    return Victim(encoder, *head, "tanh", name).eval()


def _fresh_head(width: int, classes: int, deviation: float) -> tuple[nn.Linear, nn.Linear]:
    pooler, classifier = nn.Linear(width, width), nn.Linear(width, checks.whole("classes", classes, 2))
    for layer in (pooler, classifier):
        nn.init.normal_(layer.weight, std=deviation)
        nn.init.zeros_(layer.bias)
    return pooler, classifier


def small_victim(*, width: int = 64, layers: int = 2, classes: int = 2, seed: int = 0) -> Victim:
    """Make a victim of a width, a multiple of 4, that is attacked in seconds: fresh weights, the default's pieces.

    Its word embeddings are those of the default encoder in `width` random orthogonal directions, scaled to BERT's
    usual size; all else is drawn.

    >>> small_victim().words.shape  # doctest: +SKIP
    torch.Size([30522, 64])
    """
    from transformers import BertConfig, BertModel

    table = encoders.load_encoder().get_input_embeddings().weight.detach()
    sizes: dict[str, Any] = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4}
    sizes |= {"intermediate_size": 4 * width, "vocab_size": len(table), "initializer_range": 0.1}
    with encoders.seeded(seed):
        encoder = BertModel(BertConfig(**sizes, attn_implementation="eager"))
        turned = table @ torch.linalg.qr(torch.randn(table.shape[1], width))[0]
        encoder.embeddings.word_embeddings.weight.data = turned / turned.std() * 0.1
        encoder.embeddings.LayerNorm.bias.data.normal_(std=0.1)  # a trained one is not zero
        head = _fresh_head(width, classes, 0.1)
    return Victim(encoder, *head, "tanh").eval()


def widened(
    victim: Victim, activation: str, *, width: int = 30_522, recovered: int = 100, seed: int = 0
) -> Victim:
    """Make the victim that the attack of Li et al. 2023 (section 4.2) asks for; a copy, the encoder shared.

    Below the pooler's own rows are m = width - d fresh ones, normal in the first `recovered` coordinates and
    zero in the others; class i of the classifier weighs each of them by i / m.

    Args:
        activation: in place of tanh, a key of `ACTIVATIONS`.
        width: outputs of the pooler; the paper's is the size of the vocabulary.
        recovered: d' of the paper, from 1 to the encoder's width.
    """
    (inner, d), classes = victim.pooler.weight.shape, len(victim.classifier.bias)
    m = checks.whole("width", width, inner + 1) - inner
    recovered = int(checks.number("recovered", recovered, 1, d))
    pooler, classifier = nn.Linear(d, width), nn.Linear(width, classes)
    rows = torch.randn(m, recovered, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        for fresh, old in ((pooler, victim.pooler), (classifier, victim.classifier)):
            fresh.weight.zero_()
            fresh.bias.zero_()
            fresh.weight[: old.weight.shape[0], : old.weight.shape[1]] = old.weight
            fresh.bias[: len(old.bias)] = old.bias
        pooler.weight[inner:, :recovered] = rows
        classifier.weight[:, inner:] = torch.arange(classes)[:, None] / m
    wide = Victim(victim.encoder, pooler, classifier, activation, victim.name).eval().to(victim.words.dtype)
    wide.recovered = recovered
    return wide


def labels_of(records: Sequence) -> list[int]:
    """Classes of the records of a binary data set: its 0 and 1, or whether a sentiment score is above 0.

    >>> from textsan.text.corpora import Record
    >>> labels_of([Record("good", 1.5), Record("bad", -0.5)])
    [1, 0]
    """
    return [int(float(record.label) > 0) for record in records]


def fine_tune(
    victim: Victim,
    records: Sequence,
    *,
    epochs: float = 2,
    batch: int = 32,
    learning_rate: float = 5e-5,
    seed: int = 0,
    change: Callable | None = None,
) -> Victim:
    """Train a victim on labelled sentences with AdamW, word and position embeddings frozen; changed in place.

    It stays in evaluation mode, without dropout, as the shared gradient is made; the rate falls linearly to 0;
    `change` is done to the gradient of each step, a defence as for `make_case`.
    """
    labels, texts = labels_of(records), [record.text for record in records]
    shared = {name: value for name, value in victim.named_parameters() if is_shared(name)}
    optimizer = torch.optim.AdamW(shared.values(), lr=learning_rate)
    generator, steps = torch.Generator().manual_seed(seed), max(1, round(epochs * len(texts) / batch))
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    order: list[int] = []
    for step in range(steps):
        if len(order) < batch:
            order += torch.randperm(len(texts), generator=generator).tolist()
        some, order = order[:batch], order[batch:]
        ids, mask = victim.encode([texts[i] for i in some])
        step_labels = torch.tensor([labels[i] for i in some])
        ids, mask, step_labels = (part.to(victim.words.device) for part in (ids, mask, step_labels))
        grads = gradient(victim, ids, mask, step_labels)
        if change is not None:
            grads = change(grads, victim, ids, mask, step_labels, seed + step)
        for name, value in shared.items():
            value.grad = grads[name]
        optimizer.step()
        schedule.step()
    return victim


def accuracy(victim: Victim, records: Sequence, batch: int = 64) -> list[bool]:
    """Tell whether the victim is right, of each labelled record, a batch at a time."""
    labels, hits = labels_of(records), []
    with torch.no_grad():
        for at in range(0, len(records), batch):
            ids, mask = victim.encode([record.text for record in records[at : at + batch]])
            hits += (victim(ids, mask).argmax(1) == torch.tensor(labels[at : at + batch])).tolist()
    return hits


def is_shared(name: str) -> bool:
    """Tell whether the gradient of a parameter is sent: all but those of word and position embeddings.

    >>> is_shared("encoder.embeddings.word_embeddings.weight"), is_shared("pooler.weight")
    (False, True)
    """
    return "word_embeddings" not in name and "position_embeddings" not in name


def loss(victim: Victim, embedded: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of a batch given by its word embeddings."""
    return F.cross_entropy(victim.logits(victim.features(embedded, mask)), labels)


def gradient(
    victim: Victim, ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compute the gradient of the mean loss in every shared parameter, by name; ids and mask are (B, length)."""
    names, parameters = zip(*((n, p) for n, p in victim.named_parameters() if is_shared(n)), strict=True)
    batch_loss = loss(victim, victim.words.detach()[ids], mask, labels)
    return dict(zip(names, torch.autograd.grad(batch_loss, parameters), strict=True))
