"""Gradients that are not written out: what each layer reads, and the slopes of the loss in what it says.

The gradient of a linear layer's weight is the sum over tokens of slope times input. Its inner products need those
two factors only, a few numbers a token, and not the matrix (Goodfellow 2015, arXiv:1510.01799).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from textsan.gradient_leakage.victims import Victim


@dataclass(frozen=True)
class Factors:
    """The gradient of a parameter for each of n batches; or, stacked, of p parameters of one shape.

    Attributes:
        slopes: of the loss in what the layer says, (n, tokens, out) or (p, n, tokens, out).
        inputs: of a linear layer's weight, (n, tokens, in) or (p, n, tokens, in): the gradient is the sum over
            tokens of slope times input. None for a vector: it is the sum of the slopes.
    """

    slopes: torch.Tensor
    inputs: torch.Tensor | None = None

    def __getitem__(self, batches: slice) -> "Factors":
        return Factors(self.slopes[batches], None if self.inputs is None else self.inputs[batches])

    def dense(self) -> torch.Tensor:
        """The gradients written out, (n, out, in) or (n, out), after p.

        >>> Factors(torch.tensor([[[3.0], [4.0]]]), torch.tensor([[[1.0], [0.5]]])).dense().tolist()
        [[[5.0]]]
        """
        return self.slopes.sum(-2) if self.inputs is None else self.slopes.mT @ self.inputs

    def squared(self) -> torch.Tensor:
        """Squared norm of each gradient, (n,) or (p, n).

        >>> Factors(torch.tensor([[[3.0], [4.0]]]), torch.tensor([[[1.0], [0.5]]])).squared().tolist()
        [25.0]
        """
        if self.inputs is None:
            return self.slopes.sum(-2).pow(2).sum(-1)
        products = (self.slopes @ self.slopes.mT) * (self.inputs @ self.inputs.mT)
        return products.sum((-2, -1)).clamp(min=0)  # rounding can leave zero a little below

    def dot(self, other: torch.Tensor) -> torch.Tensor:
        """Inner product of each gradient with one of the parameter's shape, written out, (n,) or (p, n).

        >>> one = Factors(torch.tensor([[[3.0], [4.0]]]), torch.tensor([[[1.0], [0.5]]]))
        >>> one.dot(torch.tensor([[2.0]])).tolist()
        [10.0]
        """
        if self.inputs is None:
            return (self.slopes.sum(-2) @ other.unsqueeze(-1)).squeeze(-1)
        turned = (self.slopes.flatten(-3, -2) @ other).view_as(self.inputs)
        return (turned * self.inputs).sum((-2, -1))


def stacked(factors: Sequence[Factors]) -> Factors:
    """Factors of p parameters of one shape as one, p first."""
    inputs = None if factors[0].inputs is None else torch.stack([part.inputs for part in factors])
    return Factors(torch.stack([part.slopes for part in factors]), inputs)


def joined(batch: Sequence[dict[str, Factors]]) -> dict[str, Factors]:
    """Combine the factors of a batch's sentences, for n batches or the same in all, to those of the mean."""
    if len(batch) == 1:
        return batch[0]
    n = max(len(one.slopes) for sentence in batch for one in sentence.values())

    def side(parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([part.expand(n, -1, -1) for part in parts], dim=1)

    found = {}
    for name, first in batch[0].items():
        slopes = side([sentence[name].slopes for sentence in batch]) / len(batch)
        inputs = None if first.inputs is None else side([sentence[name].inputs for sentence in batch])
        found[name] = Factors(slopes, inputs)
    return found


def sentence_factors(
    victim: Victim,
    embedded: torch.Tensor,
    mask: torch.Tensor,
    labels: torch.Tensor,
    *,
    differentiable: bool = False,
) -> tuple[dict[str, Factors], torch.Tensor]:
    """Compute each sentence's gradient in every shared parameter, in factors; and the features, (n, d)."""
    seen: dict[str, tuple[nn.Module, torch.Tensor, torch.Tensor]] = {}

    def keep(name: str):
        def hook(module, inputs, output):
            seen[name] = module, inputs[0], output

        return hook

    kinds = (nn.Linear, nn.LayerNorm)
    types = "encoder.embeddings.token_type_embeddings"
    hooks = [
        module.register_forward_hook(keep(name))
        for name, module in victim.named_modules()
        if isinstance(module, kinds) or name == types
    ]
    try:
        with torch.enable_grad():
            features = victim.features(embedded, mask)
            total = F.cross_entropy(victim.logits(features), labels, reduction="sum")
            outputs = [output for _, _, output in seen.values()]
            slopes = torch.autograd.grad(total, outputs, create_graph=differentiable)
            factors: dict[str, Factors] = {}
            for (name, (module, given, _)), slope in zip(seen.items(), slopes, strict=True):
                factors |= _of_layer(name, module, given if differentiable else given.detach(), slope)
    finally:
        for hook in hooks:
            hook.remove()
    return factors, features if differentiable else features.detach()


def _of_layer(name: str, module: nn.Module, given: torch.Tensor, slope: torch.Tensor) -> dict[str, Factors]:
    if slope.ndim == 2:  # pooler and classifier read one vector a sentence
        given, slope = given[:, None], slope[:, None]
    if isinstance(module, nn.Linear):
        return {f"{name}.weight": Factors(slope, given), f"{name}.bias": Factors(slope)}
    if isinstance(module, nn.LayerNorm):
        normed = F.layer_norm(given, module.normalized_shape, eps=module.eps)
        return {f"{name}.weight": Factors(slope * normed), f"{name}.bias": Factors(slope)}
    # Every piece is of type 0: the gradient of row 0 is the sum of the slopes, that of the others zero.
    return {f"{name}.weight": Factors(F.pad(torch.ones_like(slope[..., :1]), (0, len(module.weight) - 1)), slope)}
