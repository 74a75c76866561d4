"""The span check of a causal language model of Llama's kind: whole sentences, in order (Petrov et al. 2024).

The first layer reads RMSNorm(W_w), without a position: the check gives the words of the batch. What the second
layer reads at position p depends on the pieces up to p only, so that sentences grow from the left: a piece is
right if it makes the second layer read something in its span.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from textsan.gradient_leakage.spans import Span, span

_LONGEST = 64  # pieces of a sentence


@dataclass(frozen=True)
class Growth:
    """Pieces whose embedding lies in the first span, sentences that pass the checks, and both gradients' ranks.

    Sentences are maximal sequences that pass in the second layer, the first piece included.
    """

    pieces: list[int]
    sentences: list[list[int]]
    ranks: tuple[int, int]


def language_gradient(model, sentences: Sequence[Sequence[int]], end: int) -> dict[str, torch.Tensor]:
    """Compute the gradient of the mean next-piece loss in query and value weights of the first two layers.

    The model has `model.layers[i].self_attn.q_proj` and `v_proj`. Sentences are piece numbers, the start piece
    first; `end`, the piece after each, is a target only.
    """
    weights = {
        f"{layer} {name}": getattr(model.model.layers[layer].self_attn, f"{name}_proj").weight
        for layer in (0, 1)
        for name in ("q", "v")
    }
    for weight in weights.values():
        weight.requires_grad_(True)
    losses, total = 0.0, sum(map(len, sentences))
    for row in sentences:
        logits = model(input_ids=torch.tensor([list(row)])).logits[0]
        losses = losses + F.cross_entropy(logits, torch.tensor([*row[1:], end]), reduction="sum") / total
    return dict(zip(weights, torch.autograd.grad(losses, list(weights.values())), strict=True))


def grow(model, gradient: dict[str, torch.Tensor], start: int) -> Growth:
    """Grow the sentences of a batch from `language_gradient`, with the model as it was then.

    Each sentence begins with the piece `start`, that comes nowhere else: to repeat it changes nothing that the
    second layer reads.
    """
    first, second = (_both(gradient, layer) for layer in (0, 1))
    dtype, layers = model.get_input_embeddings().weight.dtype, model.model.layers
    threshold = 1e4 * torch.finfo(dtype).eps  # largest residual that passes
    with torch.no_grad():
        read = layers[0].input_layernorm(model.get_input_embeddings().weight)
        pieces = torch.nonzero(first.residual(read) < threshold).flatten().tolist()
        sentences, prefixes, rest = [], [[start]], [piece for piece in pieces if piece != start]
        while prefixes:
            grown = []
            for prefix in prefixes:
                tried = [[*prefix, piece] for piece in rest] if len(prefix) < _LONGEST else []
                passed = _passing(model, second, tried, threshold)
                grown += passed
                if not passed:
                    sentences.append(prefix)
            prefixes = grown
    return Growth(pieces, sentences, (first.rank, second.rank))


def _both(gradient: dict[str, torch.Tensor], layer: int) -> Span:
    rows = [gradient[f"{layer} {name}"] for name in ("q", "v")]
    both = span(torch.cat([row / row.norm() for row in rows]))
    return Span(both.basis.to(rows[0].dtype), both.values)


def _passing(model, second: Span, tried: list[list[int]], threshold: float) -> list[list[int]]:
    """Keep the sequences of one length whose last piece makes the second layer read something in its span."""
    if not tried:
        return []
    ids = torch.tensor(tried)
    seen: list[torch.Tensor] = []
    handle = model.model.layers[1].input_layernorm.register_forward_hook(lambda *given: seen.append(given[-1]))
    try:
        kept, model.model.layers = model.model.layers, model.model.layers[:2]
        model.model(input_ids=ids, use_cache=False)
    finally:
        model.model.layers = kept
        handle.remove()
    off = second.residual(seen[0][:, -1])
    return [row for row, far in zip(tried, off.tolist(), strict=True) if far < threshold]
