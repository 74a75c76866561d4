"""A case: a client's batch, and what of it the server sees. Attacks get `Shared`; only scores see the rest."""

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from textsan.gradient_leakage.victims import ACTIVATIONS, Victim, gradient, is_shared, labels_of


@dataclass(frozen=True)
class Shared:
    """The server's knowledge: all that an attack may use.

    Attributes:
        victim: the model, its weights included.
        gradient: of the mean loss of the batch, by parameter; none for word and position embeddings.
        labels: classes of the sentences, (B,); assumed known, as in LAMP.
        lengths: pieces of each sentence, [CLS] and [SEP] included; assumed known, as in LAMP.
    """

    victim: Victim
    gradient: dict[str, torch.Tensor]
    labels: torch.Tensor
    lengths: tuple[int, ...]

    @property
    def mask(self) -> torch.Tensor:
        """(B, longest), 1 where a sentence has a piece."""
        rows = torch.arange(max(self.lengths)) < torch.tensor(self.lengths)[:, None]
        return rows.long().to(self.labels.device)

    def to(self, device) -> "Shared":
        """Copy it to a torch device; the victim stays where it is."""
        if self.labels.device == torch.device(device):
            return self
        gradient = {name: one.to(device) for name, one in self.gradient.items()}
        return Shared(copy.deepcopy(self.victim).to(device), gradient, self.labels.to(device), self.lengths)


@dataclass(frozen=True)
class Case:
    """A batch of a client, what is shared of it, and the truth.

    Attributes:
        shared: for attacks.
        ids: piece numbers, padded, (B, longest); for scores.
        mask: 1 where there is a piece.
        features: what the pooler read, (B, d).
    """

    shared: Shared
    ids: torch.Tensor
    mask: torch.Tensor
    features: torch.Tensor

    @property
    def sentences(self) -> list[list[int]]:
        """Piece numbers of each sentence, special ones included."""
        return [row[keep.bool()].tolist() for row, keep in zip(self.ids, self.mask, strict=True)]

    @property
    def texts(self) -> list[str]:
        """The sentences that attacks are after, as the tokenizer writes them back."""
        return [self.shared.victim.decode(row) for row in self.sentences]


class _Pooled(nn.Module):
    """A victim as a module, which is what opacus hooks."""

    def __init__(self, victim: Victim):
        super().__init__()
        self.encoder, self.pooler, self.classifier = victim.encoder, victim.pooler, victim.classifier
        self.activation = ACTIVATIONS[victim.activation]

    def forward(self, embedded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        position = torch.arange(embedded.shape[1], device=embedded.device).expand(len(embedded), -1)
        hidden = self.encoder(
            inputs_embeds=embedded,
            attention_mask=mask,
            position_ids=position,
            token_type_ids=torch.zeros_like(position),
        ).last_hidden_state
        return self.classifier(self.activation(self.pooler(hidden[:, 0])))


def sentence_gradients(
    victim: Victim, embedded: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compute the gradient of each sentence's loss, (B, ...) by parameter, from word embeddings (B, length, d)."""
    from opacus.grad_sample import GradSampleModule

    frozen = {name: one.requires_grad for name, one in victim.named_parameters()}
    for name, one in victim.named_parameters():
        one.requires_grad_(is_shared(name))
    module = GradSampleModule(_Pooled(victim), batch_first=True, loss_reduction="sum", strict=False).train()
    try:
        with torch.enable_grad(), warnings.catch_warnings():
            # The type embeddings read whole numbers, which have no gradient: torch warns, opacus knows.
            warnings.filterwarnings("ignore", message="Full backward hook is firing")
            embedded = embedded.detach().requires_grad_(True)
            F.cross_entropy(module(embedded, mask), labels, reduction="sum").backward()
        return {name: one.grad_sample for name, one in victim.named_parameters() if is_shared(name)}
    finally:
        module.remove_hooks()
        victim.eval()
        for name, one in victim.named_parameters():
            one.requires_grad_(frozen[name])
            one.grad = one.grad_sample = None


def make_case(
    victim: Victim, texts: Sequence[str], labels: Sequence[int], *, defence: Callable | None = None, seed: int = 0
) -> Case:
    """Make a client's step: the gradient of one batch, as it is sent.

    Args:
        victim: the shared model; its number type is that of the gradient.
        defence: what the client does to the gradient first, see `textsan.gradient_leakage.defences`.

    >>> make_case(victim, ["good film"], [1]).shared.lengths  # doctest: +SKIP
    (4,)
    """
    if not len(texts) or len(texts) != len(labels):
        raise ValueError(f"labels: {len(labels)} for {len(texts)} texts; pass one a text, and at least one")
    ids, mask = victim.encode(texts)
    classes = torch.tensor(list(labels))
    shared = gradient(victim, ids, mask, classes)
    if defence is not None:
        shared = defence(shared, victim, ids, mask, classes, seed)
    with torch.no_grad():
        features = victim.features(victim.words[ids], mask)
    return Case(Shared(victim, shared, classes, tuple(mask.sum(1).tolist())), ids, mask, features)


def batches(
    records: Sequence, size: int, count: int, *, seed: int = 0, longest: int | None = None
) -> list[tuple[list[str], list[int]]]:
    """Draw `count` disjoint batches of `size` records with labels at random, of at most `longest` words each."""
    known = [one for one in records if one.tokens and (longest is None or len(one.tokens) <= longest)]
    if len(known) < size * count:
        raise ValueError(f"count: {count} batches of {size} from {len(known)} sentences; ask for fewer")
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(seed)).tolist()
    parts = [[known[i] for i in order[at * size : (at + 1) * size]] for at in range(count)]
    return [([one.text for one in part], labels_of(part)) for part in parts]
