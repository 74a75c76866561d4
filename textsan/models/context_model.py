"""The context reader: one forward reads a sanitized sentence and weighs the candidates of all its positions.

Slot t of the input is what y_t says alone, the mean of word vectors under Pr(x | y_t). The encoder mixes slots, a
head turns what comes out at t into a query q_t, and with e(x) the mean input embedding of the pieces of x

    Pr(x_t | y_1 .. y_n)  is proportional to  Pr(x_t | y_t) exp <q_t, e(x_t)>.

Trained by the likelihood of original words, <q_t, e(x)> is thus an estimate of log Pr(c | x) up to a constant: the
channel and the prior stand outside of it and need not be learnt. The head is tied to the input embeddings and
has no vocabulary of its own. torch is imported here; nothing imports this module before a reader is needed.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load
from torch import nn

from textsan.models import encoders

RANK = 16
IMPOSSIBLE = -1e30  # finite, so that 0 * IMPOSSIBLE and its gradient are numbers


class Batch(NamedTuple):
    """Sentences of sanitized text, and the slots of them that are read.

    Attributes:
        slots: (sentences, length, d) vectors, padded.
        lengths: (sentences,).
        where: (n, 2) sentence and slot of each position to read.
        candidates: (n, K, d) vectors of candidate words; (K, d) where all positions have the same ones.
        log_prior: (n, K) log Pr(x | y) of each, IMPOSSIBLE where there is none; or what broadcasts to it.
        truth: (n,) place of the original word among the candidates, -1 where it is not one; None if unknown.
    """

    slots: torch.Tensor
    lengths: torch.Tensor
    where: torch.Tensor
    candidates: torch.Tensor
    log_prior: torch.Tensor
    truth: torch.Tensor | None = None

    def to(self, device) -> "Batch":
        """Move the batch to a torch device."""
        return Batch(*(None if part is None else part.to(device) for part in self))


class _LowRank(nn.Module):
    """A frozen linear layer plus a trained update of low rank (Hu et al. 2022)."""

    # Not peft: the same outputs to the bit, steps no faster, two packages of 11 MB and 0.2 s of import more.

    def __init__(self, linear: nn.Linear, rank: int):
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + (x @ self.down.T) @ self.up.T


class Reader(nn.Module):
    """An encoder with low-rank updates on every linear layer, and a head; everything else stays frozen.

    Args:
        rank: of the updates; 16 makes 0.8 million trained numbers in all for the default encoder.
    """

    def __init__(self, rank: int = RANK, encoder: str = encoders.ENCODER, seed: int = 0):
        super().__init__()
        self.name = encoder
        with encoders.seeded(seed):
            self.encoder = encoders.load_encoder(encoder).requires_grad_(False)
            for layer in self.encoder.encoder.layer:
                parents = (layer.attention.self, layer.attention.output, layer.intermediate, layer.output)
                for parent in parents:
                    for name, child in list(parent.named_children()):
                        if isinstance(child, nn.Linear):
                            setattr(parent, name, _LowRank(child, rank))
            width = self.encoder.config.hidden_size
            self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        nn.init.constant_(self.head[-1].weight, 0.1)  # a fresh reader says little: s(x) starts near 0
        self.to(encoders.pick_device())
        self.table = self.encoder.embeddings.word_embeddings.weight
        special = encoders.word_vectors([encoders.CLS, encoders.SEP, encoders.MASK], self.table, encoder)
        self.first, self.last, self.masked = special
        self.encoded = 0  # sentences read so far, in training too
        self.eval()

    def vectors(self, words: Iterable[str]) -> torch.Tensor:
        """e(x) of each word, (len(words), d)."""
        return encoders.word_vectors(words, self.table, self.name)

    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that are not the encoder's own, by name."""
        return {name: value for name, value in self.named_parameters() if value.requires_grad}

    def forward(self, batch: Batch) -> torch.Tensor:
        """s(x) of every candidate of every position, (n, K)."""
        batch, device = batch.to(self.table.device), self.table.device
        n, length, _ = batch.slots.shape
        self.encoded += n
        framed = torch.cat([self.first.expand(n, 1, -1), batch.slots, self.first.expand(n, 1, -1)], dim=1)
        framed[torch.arange(n, device=device), batch.lengths + 1] = self.last
        attended = torch.arange(length + 2, device=device) < batch.lengths[:, None] + 2
        hidden = self.encoder(inputs_embeds=framed, attention_mask=attended.long()).last_hidden_state
        queries = self.head(hidden[batch.where[:, 0], batch.where[:, 1] + 1])
        if batch.candidates.ndim == 2:
            return queries @ batch.candidates.T
        return torch.einsum("nd,nkd->nk", queries, batch.candidates)


def load_adapter(reader: Reader, name: str, folder: Path = encoders.ADAPTERS) -> dict:
    """Put an adapter's weights, by name, into a `Reader` of its rank and encoder, and return its recipe."""
    recipe_file, file = folder / f"{name}.json", folder / f"{name}.safetensors"
    if not (recipe_file.is_file() and file.is_file()):
        known = ", ".join(sorted(path.stem for path in folder.glob("*.safetensors")))
        raise KeyError(f"adapter: {name!r} is unknown; known: {known or 'none'}")
    recipe, content = json.loads(recipe_file.read_text(encoding="utf8")), file.read_bytes()
    if hashlib.sha256(content).hexdigest() != recipe["sha256"]:
        raise ValueError(f"adapter: {file.name} does not have the sha256 of its recipe; restore both")
    weights, trained = load(content), reader.trained()
    stored, wanted = ({key: value.shape for key, value in part.items()} for part in (weights, trained))
    if stored != wanted:
        raise ValueError(f"adapter: {name!r} has rank {recipe['rank']} and belongs to {recipe['encoder']}")
    for key, value in weights.items():
        trained[key].data.copy_(value)
    return recipe


def train(
    reader: Reader,
    batches: Callable[[int], Batch],
    *,
    steps: int,
    learning_rate: float,
    seed: int,
    state: dict | None = None,
    after: Callable[[int, float, torch.optim.Optimizer], None] | None = None,
) -> None:
    """Maximise the likelihood of original words with AdamW; the rate rises for 5 % of the steps, then falls to 0.

    What step number i does depends on `seed` and i alone, so that a run can be taken up where it was left.

    Args:
        reader: changed in place, left in evaluation mode.
        state: to take up: {"step": steps done, "moments": the optimizer's state by parameter number}.
        after: called after each step with its number, loss in nats a position and the optimizer.
    """
    parameters = list(reader.trained().values())
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.01)
    first = 0
    if state is not None:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state["moments"]})
        first = state["step"]
    reader.train()
    for step in range(first, steps):
        # Not transformers' linear schedule, whose first step has rate 0: stored adapters were trained by this one.
        warm = min(1.0, (step + 1) / (0.05 * steps))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * warm * (1 - step / steps)
        batch = batches(step).to(reader.table.device)
        assert batch.truth is not None  # what is learnt from
        known = batch.truth >= 0
        with encoders.seeded(seed * 1_000_003 + step):
            scores = (reader(batch) + batch.log_prior)[known]
        loss = nn.functional.cross_entropy(scores, batch.truth[known], reduction="sum") / known.sum().clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        if after:
            after(step, float(loss.detach()), optimizer)
    reader.eval()
