"""Small networks that attackers train on vectors, the same for the same seed on one machine.

torch is imported when one is trained.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from textsan.models import encoders

BATCH = 128
"""Pan et al. 2020, section V-C."""

RATE = 3e-3
"""Adam's first learning rate; it falls to 0 along half a cosine."""


class Standard:
    """Standardise vectors by the means and standard deviations of the attacker's.

    >>> Standard(np.array([[0.0], [2.0]]))(np.array([[4.0]]))
    array([[3.]], dtype=float32)
    """

    def __init__(self, vectors: np.ndarray):
        self.mean, self.scale = vectors.mean(axis=0), np.maximum(vectors.std(axis=0), 1e-6)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        return ((vectors - self.mean) / self.scale).astype(np.float32)


def stack(width: int, hidden: Sequence[int], classes: int, *, normalise: bool = False):
    """Make hidden sigmoid layers of these widths and a linear one, fresh from torch's stream."""
    from torch import nn

    parts = []
    for wide in hidden:
        parts += [nn.Linear(width, wide), *[nn.BatchNorm1d(wide)] * normalise, nn.Sigmoid()]
        width = wide
    return nn.Sequential(*parts, nn.Linear(width, classes))


def batches(n: int, steps: int) -> Iterator:
    """Yield `steps` batches of row numbers out of n from torch's stream, in random order.

    The order is drawn anew when fewer than a batch are left; those are dropped. So n = steps * BATCH rows are each
    seen once, which is to draw them on the fly.
    """
    import torch

    size, order = min(BATCH, n), torch.empty(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < size:
            order = torch.randperm(n)
        rows, order = order[:size], order[size:]
        yield rows


def train(make: Callable, loss: Callable, n: int, *, steps: int, rate: float = RATE, seed: int):
    """Train a network by Adam; the loss is of network, rows of a batch, and share of the steps that are done."""
    import torch

    with encoders.seeded(seed):
        net = make()
        optimizer = torch.optim.Adam(net.parameters(), lr=rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
        net.train()
        for step, rows in enumerate(batches(n, steps)):
            value = loss(net, rows, step / steps)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            schedule.step()
    return net.eval()
