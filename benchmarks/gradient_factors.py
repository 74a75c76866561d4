"""LAMP's cosine distance by factors and by gradients written out: the same values, and the seconds they take.

    python benchmarks/gradient_factors.py [--draws 40] [--out data/results/gradient-factors.csv]

MiniLM with a fresh head, one sentence. *Many* are distances of some draws, as at LAMP's start and in its discrete
phase, written out by opacus; a *step* is one distance and its slope, written out by autograd. Rounds alternate.
"""

import argparse
import platform
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import torch
import yaml

from textsan.experiments.provenance import hardware
from textsan.gradient_leakage import cases, victims
from textsan.gradient_leakage.matching import ATTACKS, Matching

TEXT, ROUNDS, STEPS = "the plot is thin but the actors are a joy to watch", 5, 10


class WrittenOut:
    """The same distances from whole gradients."""

    def __init__(self, ours: Matching):
        self.ours, self.victim = ours, ours.victim
        self.names = [name for stack in ours.stacks for name in stack]

    def cosine(self, found: dict) -> torch.Tensor:
        pairs = [(found[name].flatten(1), self.ours.shared.gradient[name].flatten()) for name in self.names]
        terms = [1 - (a @ b) / (a.norm(dim=1) * b.norm()) for a, b in pairs]
        return sum(terms) / len(terms)

    def many(self, draws: torch.Tensor) -> torch.Tensor:
        parts = []
        for some in draws[:, 0].split(4):
            fixed = torch.where(self.ours.free[0][:, None], some, self.victim.words[self.ours.fixed[0]])
            mask, labels = self.ours.mask.expand(len(some), -1), self.ours.shared.labels.expand(len(some))
            parts.append(self.cosine(cases.sentence_gradients(self.victim, fixed, mask, labels)))
        return torch.cat(parts).detach()

    def slope(self, x: torch.Tensor) -> torch.Tensor:
        parameters = dict(self.victim.named_parameters())
        batch_loss = victims.loss(self.victim, self.ours.embedded(x), self.ours.mask, self.ours.shared.labels)
        found = torch.autograd.grad(batch_loss, [parameters[name] for name in self.names], create_graph=True)
        total = self.cosine({name: one[None] for name, one in zip(self.names, found, strict=True)})
        return torch.autograd.grad(total[0], x)[0]


def seconds(compute) -> tuple[float, torch.Tensor]:
    start = time.perf_counter()
    value = compute()
    return time.perf_counter() - start, value


def rows(n_draws: int):
    ours = Matching(cases.make_case(victims.load_victim(), [TEXT], [1]).shared, ATTACKS["LAMP cos"])
    written, generator = WrittenOut(ours), torch.Generator().manual_seed(0)
    draws = torch.randn((n_draws, *ours.mask.shape, ours.words.shape[1]), generator=generator)
    x = draws[0].requires_grad_(True)

    def slope():
        return torch.autograd.grad(ours.distance(x, differentiable=True), x)[0]

    pairs = {
        "many": (lambda: ours.distances(draws.detach()), lambda: written.many(draws.detach())),
        "step": (
            lambda: [slope() for _ in range(STEPS)][-1],
            lambda: [written.slope(x) for _ in range(STEPS)][-1],
        ),
    }
    for what, (one, other) in pairs.items():
        assert torch.allclose(one(), other(), rtol=1e-2, atol=1e-4), what
        taken = [(seconds(one)[0], seconds(other)[0]) for _ in range(ROUNDS)]
        ratios = sorted(theirs / mine for mine, theirs in taken)
        yield {
            "what": what,
            "pieces": ours.shared.lengths[0],
            "seconds": min(mine for mine, _ in taken) / (STEPS if what == "step" else n_draws),
            "ratio": ratios[ROUNDS // 2],
            "lowest": ratios[0],
            "highest": ratios[-1],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40, help="distances that are computed together")
    parser.add_argument("--out", type=Path, default=Path("data/results/gradient-factors.csv"))
    arguments = parser.parse_args()
    table = pd.DataFrame(rows(arguments.draws)).round(4)
    table.to_csv(arguments.out, index=False, lineterminator="\n")
    made = {
        "command": f"python benchmarks/gradient_factors.py --draws {arguments.draws}",
        "hardware": f"{hardware()}; {torch.get_num_threads()} threads",
        "versions": {name: version(name) for name in ("textsan", "torch", "transformers", "opacus")}
        | {"python": platform.python_version()},
    }
    arguments.out.with_suffix(".yml").write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
