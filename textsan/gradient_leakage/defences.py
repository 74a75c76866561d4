"""What a client does to a gradient before it is sent: noise, pruning, DP-SGD.

A defence is a function of (gradient, victim, ids, mask, labels, seed) that returns the gradient that is sent.
Frozen embeddings are no defence to choose here: no attack of this room gets their gradients.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from textsan.gradient_leakage.victims import ACTIVATIONS, Victim, is_shared
from textsan.text import checks

Gradient = dict[str, torch.Tensor]


def noise(sigma: float) -> Callable:
    """Gaussian noise, in each tensor `sigma` times its own root mean square.

    Relative, so that one number means the same in every layer; it promises no privacy, because its size
    depends on the data.

    Args:
        sigma: at least 0.

    >>> noise(0.0)({"w": torch.ones(2)}, None, None, None, None, 0)["w"]
    tensor([1., 1.])
    """
    sigma = checks.number("sigma", sigma, 0)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        generator = torch.Generator().manual_seed(seed)
        return {
            name: one
            + sigma * one.pow(2).mean().sqrt() * torch.randn(one.shape, generator=generator).to(one.dtype)
            for name, one in gradient.items()
        }

    return change


def prune(share: float) -> Callable:
    """The smallest entries of each tensor are not sent.

    Args:
        share: of the entries, from 0 to below 1.

    >>> prune(0.5)({"w": torch.tensor([1.0, -3.0, 2.0, 0.5])}, None, None, None, None, 0)["w"]
    tensor([ 0., -3.,  2.,  0.])
    """
    share = checks.number("share", share, 0, 1 - 1e-9)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        kept = {}
        for name, one in gradient.items():
            dropped = int(share * one.numel())
            order = one.abs().flatten().argsort()
            flat = one.flatten().clone()
            flat[order[:dropped]] = 0
            kept[name] = flat.view_as(one)
        return kept

    return change


class _Pooled(nn.Module):
    """A victim as a module of piece numbers, which is what opacus hooks."""

    def __init__(self, victim: Victim):
        super().__init__()
        self.encoder, self.pooler, self.classifier = victim.encoder, victim.pooler, victim.classifier
        self.activation = ACTIVATIONS[victim.activation]

    def forward(self, embedded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        position = torch.arange(embedded.shape[1]).expand(len(embedded), -1)
        hidden = self.encoder(
            inputs_embeds=embedded,
            attention_mask=mask,
            position_ids=position,
            token_type_ids=torch.zeros_like(position),
        ).last_hidden_state
        return self.classifier(self.activation(self.pooler(hidden[:, 0])))


def sentence_gradients(victim: Victim, ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> Gradient:
    """The gradient of each sentence's own loss, (B, ...) by parameter, by `opacus`.

    Args:
        victim: in evaluation mode.
        ids, mask: (B, length).
        labels: (B,).
    """
    from opacus.grad_sample import GradSampleModule

    frozen = {name: one.requires_grad for name, one in victim.named_parameters()}
    for name, one in victim.named_parameters():
        one.requires_grad_(is_shared(name))
    module = GradSampleModule(_Pooled(victim), batch_first=True, loss_reduction="sum", strict=False).train()
    try:
        embedded = victim.words.detach()[ids].requires_grad_(True)  # else backward hooks warn
        F.cross_entropy(module(embedded, mask), labels, reduction="sum").backward()
        return {name: one.grad_sample for name, one in victim.named_parameters() if is_shared(name)}
    finally:
        module.remove_hooks()
        victim.eval()
        for name, one in victim.named_parameters():
            one.requires_grad_(frozen[name])
            one.grad = one.grad_sample = None


def dp_sgd(multiplier: float, clip: float = 1.0) -> Callable:
    """DP-SGD: each sentence's gradient cut to norm `clip`, then noise of `multiplier` times that on their sum.

    Args:
        multiplier: standard deviation of the noise in units of `clip`, at least 0.
        clip: above 0.
    """
    multiplier, clip = checks.number("multiplier", multiplier, 0), checks.number("clip", clip, 1e-12)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        generator = torch.Generator().manual_seed(seed)
        each = sentence_gradients(victim, ids, mask, labels)
        norms = torch.stack([one.flatten(1).norm(dim=1) for one in each.values()]).norm(dim=0)
        factor = (clip / norms).clamp(max=1)
        sent = {}
        for name, one in each.items():
            total = torch.einsum("b...,b->...", one, factor)
            drawn = torch.randn(total.shape, generator=generator).to(total.dtype)
            sent[name] = (total + multiplier * clip * drawn) / len(ids)
        return sent

    return change


def epsilon_of(multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """The epsilon that training by `dp_sgd` has, by opacus' Rényi accountant.

    It supposes Poisson sampling of sentences at `sample_rate`; adjacency is one sentence more or less.

    Args:
        multiplier: above 0.
        sample_rate: share of the sentences in a batch.
        steps: batches.
        delta: from 0 to 1.

    >>> round(epsilon_of(1.0, 0.01, 100, 1e-5), 1)
    1.2
    """
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(checks.number("multiplier", multiplier, 1e-6), sample_rate, steps)]
    return float(accountant.get_epsilon(delta))
