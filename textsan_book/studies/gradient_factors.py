"""LAMP's cosine distance by factors and by gradients written out: the same values, and the seconds they take."""

import time
from collections.abc import Callable

import torch

from textsan.gradient_leakage import cases, victims
from textsan.gradient_leakage.matching import ATTACKS, Matching

TEXT = "the plot is thin but the actors are a joy to watch"
"""The sentence of the batch."""


def gradient_factors(*, draws: int, steps: int, rounds: int, seed: int) -> list[dict]:
    """Time factors against written-out gradients, on MiniLM with a fresh head, a row for each of two uses.

    *Many* are distances of some draws, as at LAMP's start and in its discrete phase, written out by opacus; a
    *step* is one distance and its slope, written out by autograd. Rounds, an odd number, alternate between the two
    ways, which must give the same. Rows have the processor seconds of one distance or step by factors; ratio, the
    median of the rounds, with the lowest and the highest.
    """
    ours = Matching(cases.make_case(victims.load_victim(), [TEXT], [1]).shared, ATTACKS["LAMP cos"])
    written, generator = _WrittenOut(ours), torch.Generator().manual_seed(seed)
    drawn = torch.randn((draws, *ours.mask.shape, ours.words.shape[1]), generator=generator)
    x = drawn[0].requires_grad_(True)

    def slope():
        return torch.autograd.grad(ours.distance(x, differentiable=True), x)[0]

    pairs = {
        "many": (draws, lambda: ours.distances(drawn.detach()), lambda: written.many(drawn.detach())),
        "step": (steps, lambda: _last(slope, steps), lambda: _last(lambda: written.slope(x), steps)),
    }
    rows = []
    for what, (number, ours_of, other) in pairs.items():
        if not torch.allclose(ours_of(), other(), rtol=1e-2, atol=1e-4):
            raise ValueError(f"{what}: factors and gradients that are written out do not give the same")
        taken = [(_seconds(ours_of), _seconds(other)) for _ in range(rounds)]
        ratios = sorted(theirs / mine for mine, theirs in taken)
        row = {"what": what, "pieces": ours.shared.lengths[0], "seconds": min(mine for mine, _ in taken) / number}
        rows.append(row | {"ratio": ratios[rounds // 2], "lowest": ratios[0], "highest": ratios[-1]})
    return rows


def _last(compute: Callable[[], torch.Tensor], times: int) -> torch.Tensor:
    return [compute() for _ in range(times)][-1]


def _seconds(compute: Callable[[], torch.Tensor]) -> float:
    start = time.process_time()  # of the processor: other programs run beside
    compute()
    return time.process_time() - start


class _WrittenOut:
    """Distances computed from whole gradients."""

    def __init__(self, ours: Matching):
        self.ours, self.victim = ours, ours.victim
        self.names = [name for stack in ours.stacks for name in stack]

    def cosine(self, found: dict) -> torch.Tensor:
        pairs = [(found[name].flatten(1), self.ours.shared.gradient[name].flatten()) for name in self.names]
        terms = [1 - (a @ b) / (a.norm(dim=1) * b.norm()) for a, b in pairs]
        return sum(terms) / len(terms)

    def many(self, draws: torch.Tensor) -> torch.Tensor:
        parts = []
        for few in draws[:, 0].split(4):
            fixed = torch.where(self.ours.free[0][:, None], few, self.victim.words[self.ours.fixed[0]])
            mask, labels = self.ours.mask.expand(len(few), -1), self.ours.shared.labels.expand(len(few))
            parts.append(self.cosine(cases.sentence_gradients(self.victim, fixed, mask, labels)))
        return torch.cat(parts).detach()

    def slope(self, x: torch.Tensor) -> torch.Tensor:
        parameters = dict(self.victim.named_parameters())
        batch_loss = victims.loss(self.victim, self.ours.embedded(x), self.ours.mask, self.ours.shared.labels)
        gradients = torch.autograd.grad(batch_loss, [parameters[name] for name in self.names], create_graph=True)
        total = self.cosine({name: one[None] for name, one in zip(self.names, gradients, strict=True)})
        return torch.autograd.grad(total[0], x)[0]
