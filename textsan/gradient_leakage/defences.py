"""Defences of a client's gradient before it is sent: noise, pruning, DP-SGD.

A defence is a function of (gradient, victim, ids, mask, labels, seed) that returns the gradient that is sent.
Frozen embeddings are no defence to choose here: no attack of this room gets their gradients.
"""

from collections.abc import Callable

import torch

from textsan.base import checks
from textsan.gradient_leakage.cases import sentence_gradients

Gradient = dict[str, torch.Tensor]


def noise(sigma: float) -> Callable:
    """Add Gaussian noise, in each tensor `sigma`, at least 0, times its own root mean square.

    Relative, so that one number means the same in every layer; it promises no privacy, because its size
    depends on the data.

    >>> noise(0.0)({"w": torch.ones(2)}, None, None, None, None, 0)["w"]
    tensor([1., 1.])
    """
    sigma = checks.number("sigma", sigma, 0)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        generator = torch.Generator().manual_seed(seed)
        sent = {}
        for name, tensor in gradient.items():
            drawn = torch.randn(tensor.shape, generator=generator).to(tensor.dtype)
            sent[name] = tensor + sigma * tensor.pow(2).mean().sqrt() * drawn
        return sent

    return change


def prune(share: float) -> Callable:
    """Do not send the smallest entries of each tensor, a `share` of them from 0 to below 1.

    >>> prune(0.5)({"w": torch.tensor([1.0, -3.0, 2.0, 0.5])}, None, None, None, None, 0)["w"]
    tensor([ 0., -3.,  2.,  0.])
    """
    share = checks.number("share", share, 0, 1 - 1e-9)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        kept = {}
        for name, tensor in gradient.items():
            sizes, dropped = tensor.abs(), int(share * tensor.numel())
            # Selection is several times as fast as sorting.
            largest = sizes.flatten().kthvalue(dropped).values if dropped else -1.0
            kept[name] = torch.where(sizes > largest, tensor, torch.zeros_like(tensor))
        return kept

    return change


def dp_sgd(multiplier: float, clip: float = 1.0) -> Callable:
    """DP-SGD: each sentence's gradient cut to norm `clip`, then noise of `multiplier` times that on their sum."""
    multiplier, clip = checks.number("multiplier", multiplier, 0), checks.number("clip", clip, 1e-12)

    def change(gradient: Gradient, victim, ids, mask, labels, seed: int) -> Gradient:
        generator = torch.Generator().manual_seed(seed)
        each = sentence_gradients(victim, victim.words.detach()[ids], mask, labels)
        norms = torch.stack([tensor.flatten(1).norm(dim=1) for tensor in each.values()]).norm(dim=0)
        factor = (clip / norms).clamp(max=1)
        sent = {}
        for name, tensor in each.items():
            total = torch.einsum("b...,b->...", tensor, factor)
            drawn = torch.randn(total.shape, generator=generator).to(total.dtype)
            sent[name] = (total + multiplier * clip * drawn) / len(ids)
        return sent

    return change


def epsilon_of(multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """The epsilon of DP-SGD with this noise, by opacus' Rényi accountant.

    It supposes Poisson sampling of sentences at `sample_rate`; adjacency is one sentence more or less. The noisy
    sums must be divided by a number fixed beforehand: `dp_sgd` divides by the batch's own size, which Poisson
    batches would give away.

    Args:
        sample_rate: share of the sentences in a batch, above 0 and up to 1.

    >>> round(epsilon_of(1.0, 0.01, 100, 1e-5), 1)
    1.2
    """
    from opacus.accountants import RDPAccountant

    sample_rate, steps = checks.number("sample_rate", sample_rate, 1e-12, 1), checks.whole("steps", steps, low=1)
    accountant = RDPAccountant()
    accountant.history = [(checks.number("multiplier", multiplier, 1e-6), sample_rate, steps)]
    return float(accountant.get_epsilon(checks.number("delta", delta, 1e-300, 1 - 1e-9)))
