"""Attacks by optimisation: embeddings whose gradient is like the shared one. DLG, TAG, LAMP, and feature match.

A continuous phase moves word embeddings downhill on a distance between gradients; a discrete phase reorders what
has been found, scored by that distance and by a language model; each embedding is then read as its nearest
piece. The settings are those of LAMP's released code.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F

from textsan.base import checks
from textsan.gradient_leakage.cases import Shared
from textsan.gradient_leakage.factors import Factors, joined, sentence_factors, stacked
from textsan.models.encoders import pick_device

_PLACES = {"cpu": 1000, "cuda": 20_000}  # tokens whose gradients are computed at once, by kind of device


@dataclass(frozen=True)
class Settings:
    """Settings that tell the attacks apart.

    Attributes:
        distance: "cosine" is the mean over parameters of 1 - cosine; "squared" the sum of squared differences
            (DLG); "squared and absolute" adds `absolute` times the sum of absolute ones (TAG).
        absolute: weight of the absolute differences.
        steps: of Adam.
        learning_rate: at the start.
        decay: factor of the rate, every 50 steps.
        lengths: weight of (mean norm of the embeddings - that of the vocabulary)^2.
        starts: random draws of the embeddings, of which the best is taken; then as many orders of it.
        scaled: whether the start is as long as the embeddings of the vocabulary, which a normal draw is not.
        fluency: weight of the language model's nats a token in the discrete phase.
        orders: reorderings tried in a discrete phase; 0 is none.
        every: steps between discrete phases, after a tenth of all steps.
        feature: weight of 1 - cosine between features and those recovered, while embeddings move.
        feature_orders: the same in the discrete phase.
    """

    distance: Literal["cosine", "squared", "squared and absolute"] = "cosine"
    absolute: float = 0.01
    steps: int = 2000
    learning_rate: float = 0.01
    decay: float = 0.89
    lengths: float = 1.0
    starts: int = 500
    scaled: bool = True
    fluency: float = 0.2
    orders: int = 200
    every: int = 75
    feature: float = 0.0
    feature_orders: float = 0.0

    def quicker(self, share: float) -> "Settings":
        """Take a share of the steps, draws and orders, and stretch the rate's decay to fit."""
        sizes = {name: max(1, round(getattr(self, name) * share)) for name in ("steps", "every")}
        sizes["starts"] = self.starts if self.starts == 1 else max(2, round(self.starts * share))
        sizes["orders"] = 0 if self.orders == 0 else max(4, round(self.orders * share))
        return replace(self, **sizes, decay=self.decay ** (1 / share))


_DLG = Settings("squared", steps=2500, learning_rate=0.1, decay=1.0, lengths=0.0, starts=1, fluency=0.0, orders=0)
_TAG = replace(_DLG, distance="squared and absolute")
ATTACKS = {
    "DLG": replace(_DLG, scaled=False),
    "TAG": replace(_TAG, scaled=False),
    "DLG, scaled start": _DLG,
    "TAG, scaled start": _TAG,
    "LAMP cos": Settings("cosine", fluency=0.2, lengths=1.0),
    "LAMP L1+L2": Settings("squared and absolute", fluency=60.0, lengths=25.0),
    "feature match": Settings("cosine", fluency=0.2, lengths=1.0, feature=1.0),
    "feature match, discrete": Settings("cosine", fluency=0.2, lengths=1.0, feature_orders=1.0),
    "feature match, both": Settings("cosine", fluency=0.2, lengths=1.0, feature=1.0, feature_orders=1.0),
}
"""Settings of the released code for BERT-base (LAMP 2022), LAMP with the feature term of Li et al. 2023, and DLG
and TAG from a start as long as LAMP's."""


def distance(found: Sequence[Factors], shared: Sequence[torch.Tensor], settings: Settings) -> torch.Tensor:
    """Compute the distance of the gradients of n batches, in factors, from a shared one, written out, (n,).

    >>> one, twice = torch.tensor([[3.0, 4.0]]), torch.tensor([[[[6.0, 8.0]]]])
    >>> [distance([Factors(twice)], [one], Settings(name)).tolist() for name in ("squared", "cosine")]
    [[25.0], [0.0]]
    """
    pairs = list(zip(found, shared, strict=True))
    if settings.distance == "cosine":
        total = sum((1 - _cosine(a, b)).sum(0) for a, b in pairs)
        return total / sum(map(len, shared))
    differences = [a.dense() - b.unsqueeze(1) for a, b in pairs]
    squares = sum(one.pow(2).transpose(0, 1).flatten(1).sum(1) for one in differences)
    if settings.distance == "squared":
        return squares
    return squares + settings.absolute * sum(one.abs().transpose(0, 1).flatten(1).sum(1) for one in differences)


def _cosine(found: Factors, shared: torch.Tensor) -> torch.Tensor:
    norms = found.squared().clamp(min=1e-30).sqrt() * shared.flatten(1).norm(dim=1)[:, None]
    return found.dot(shared) / norms


@dataclass(frozen=True)
class Outcome:
    """The result of an attack by optimisation."""

    sentences: list[list[int]]  # piece numbers, special ones included
    distance: float  # of the best embeddings' gradient, the feature term included, before the last reordering
    history: list[float]  # the same at each step


class Matching:
    """One attack on one case.

    Args:
        settings: one of `ATTACKS`, or a change of it.
        fluency: nats a token of each of some texts, or None for no language model.
        features: recovered features, (B, d'), in the attacker's order of the sentences; signs count.
    """

    def __init__(
        self,
        shared: Shared,
        settings: Settings,
        *,
        fluency: Callable[[list[str]], np.ndarray] | None = None,
        features: torch.Tensor | None = None,
        seed: int = 0,
    ):
        if (settings.feature or settings.feature_orders) and features is None:
            raise ValueError("features: None; pass recovered ones, or settings without a feature term")
        shared = shared.to(device := pick_device())
        self.shared, self.victim, self.settings, self.fluency = shared, shared.victim, settings, fluency
        # The gradient of a key's bias is zero, and what is sent of it rounding: its cosine would be chance.
        largest = max(float(one.norm()) for one in shared.gradient.values())
        # Parameters of one shape that read as many tokens are one stack: fewer and larger operations.
        stacks: dict[tuple, list[str]] = {}
        for name, one in shared.gradient.items():
            if one.norm() > 1e-6 * largest:
                stacks.setdefault((name.partition(".")[0], one.shape), []).append(name)
        self.stacks = list(stacks.values())
        self.target = [torch.stack([shared.gradient[name] for name in names]) for names in self.stacks]
        self.features = None if features is None else features.to(device)
        self.generator = torch.Generator().manual_seed(checks.whole("seed", seed))
        self.mask, special = shared.mask, self.victim.special
        self.words = self.victim.words.detach()
        self.norm = float(self.words.norm(dim=1).mean())
        self.fixed = torch.full(self.mask.shape, special["[PAD]"], device=device)
        self.fixed[:, 0] = special["[CLS]"]
        for row, length in enumerate(shared.lengths):
            self.fixed[row, length - 1] = special["[SEP]"]
        self.free = (self.mask == 1) & (self.fixed == special["[PAD]"])
        # Pieces a text does not have: LAMP leaves out BERT's unused ones and the special ones.
        self.allowed = torch.ones(len(self.words), dtype=torch.bool, device=device)
        self.allowed[:999] = False
        self.units = F.normalize(self.words, dim=1)

    # --- the objective ----------------------------------------------------------------------------------------

    def embedded(self, x: torch.Tensor) -> torch.Tensor:
        """`x` with the embeddings of [CLS], [SEP] and [PAD] in their places, which are known."""
        return torch.where(self.free[:, :, None], x, self.words[self.fixed])

    def distance(self, x: torch.Tensor, differentiable: bool = False, weight: float = 0.0) -> torch.Tensor:
        """Distance of the gradient of embeddings from the shared one, plus `weight` times the feature term."""
        each, features = sentence_factors(
            self.victim, self.embedded(x), self.mask, self.shared.labels, differentiable=differentiable
        )
        rows = [{name: one[row : row + 1] for name, one in each.items()} for row in range(len(x))]
        total = self._distance(rows)[0]
        if weight:
            assert self.features is not None
            kept = self.features.shape[1]
            total = total + weight * (1 - F.cosine_similarity(features[:, :kept], self.features)).mean()
        return total

    def _distance(self, rows: list[dict[str, Factors]]) -> torch.Tensor:
        found = joined(rows)
        parts = [stacked([found[name] for name in names]) for names in self.stacks]
        return distance(parts, self.target, self.settings)

    def read(self, x: torch.Tensor) -> list[list[int]]:
        """Each embedding as the piece of largest cosine, cut to the known lengths."""
        near = (F.normalize(x, dim=-1) @ self.units.T).masked_fill(~self.allowed, -2.0).argmax(-1)
        ids = torch.where(self.free, near, self.fixed)
        return [row[:length].tolist() for row, length in zip(ids, self.shared.lengths, strict=True)]

    # --- phases -----------------------------------------------------------------------------------------------

    def start(self) -> torch.Tensor:
        """The best of some normal draws, then the best of some orders of it; as long as words if it is to be."""
        shape, count = (*self.mask.shape, self.words.shape[1]), self.settings.starts
        draws = torch.randn((count, *shape), generator=self.generator, dtype=self.words.dtype).to(self.words)
        best = draws[0]
        if count > 1:
            best = draws[int(self.distances(draws).argmin())]
            orders = torch.stack([best] + [self._shuffled(best) for _ in range(count)])
            best = orders[int(self.distances(orders).argmin())]
        return best / best.norm(dim=-1, keepdim=True) * self.norm if self.settings.scaled else best

    def distances(self, batches: torch.Tensor, weight: float = 0.0) -> torch.Tensor:
        """`distance` of each of some batches of embeddings, (n, B, longest, d).

        A batch's gradient is the mean of its sentences'; a sentence that all batches share is computed once.
        """
        size = max(1, _PLACES[self.words.device.type] // self.mask.numel())
        return torch.cat([self._distances(some, weight) for some in batches.split(size)])

    @torch.no_grad()
    def _distances(self, batches: torch.Tensor, weight: float) -> torch.Tensor:
        rows, terms = [], torch.zeros(len(batches)).to(batches)
        for row in range(batches.shape[1]):
            some = batches[:, row]
            if torch.equal(some, some[:1].expand_as(some)):
                some = some[:1]
            each, features = self._each(some, row)
            rows.append(each)
            if weight:
                assert self.features is not None
                near = F.cosine_similarity(features[:, : self.features.shape[1]], self.features[row])
                terms = terms + weight * (1 - near) / batches.shape[1]
        return self._distance(rows) + terms

    def _each(self, sentences: torch.Tensor, row: int) -> tuple[dict[str, Factors], torch.Tensor]:
        """Gradients and features of some embeddings in the place of one sentence, one by one."""
        fixed = torch.where(self.free[row][:, None], sentences, self.words[self.fixed[row]])
        mask, labels = self.mask[row].expand(len(fixed), -1), self.shared.labels[row].expand(len(fixed))
        return sentence_factors(self.victim, fixed, mask, labels)

    def run(self) -> Outcome:
        """The whole attack."""
        s = self.settings
        x = self.start().requires_grad_(True)
        optimizer = torch.optim.Adam([x], lr=s.learning_rate)
        history: list[float] = []
        best, lowest, descent = x.detach().clone(), float("inf"), self._descent(x)
        for step in range(s.steps):
            total, x.grad = descent()
            history.append(float(total))
            if history[-1] < lowest:  # before the step: of the embeddings that the distance is of
                best, lowest = x.detach().clone(), history[-1]
            optimizer.step()
            if (step + 1) % 50 == 0:
                optimizer.param_groups[0]["lr"] *= s.decay
            if s.orders and step >= s.steps / 10 and (step + 1) % s.every == 0:
                with torch.no_grad():
                    x.copy_(self.reordered(x.detach()))
        if s.orders:
            best = self.reordered(best)
        return Outcome(self.read(best), lowest, history)

    def _descent(self, x: torch.Tensor) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
        """Make a function that gives the distance and the objective's gradient at `x`, which changes in place.

        A step is some thousand short operations. A GPU computes one faster than Python can ask for the next, so
        there they are recorded once, and played back.
        """
        s, free = self.settings, self.free

        def step():
            total = objective = self.distance(x, differentiable=True, weight=s.feature)
            if s.lengths:
                norms = (x.norm(dim=-1) * free).sum() / free.sum()
                objective = total + s.lengths * (norms - self.norm) ** 2
            return total.detach(), torch.autograd.grad(objective, [x])[0]

        if x.device.type != "cuda":
            return step
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # libraries set themselves up in the first rounds, which cannot be recorded
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = step()

        def replay():
            graph.replay()
            return found

        return replay

    def reordered(self, x: torch.Tensor) -> torch.Tensor:
        """The discrete phase: for each sentence the order with the lowest distance plus language-model score."""
        s = self.settings
        for row in range(len(x)):
            options = [x] + [self._moved(x, row) for _ in range(s.orders)]
            scores = self.distances(torch.stack(options), weight=s.feature_orders)
            if self.fluency is not None and s.fluency:
                texts = [self.victim.decode(self.read(one)[row]) for one in options]
                scores = scores + s.fluency * torch.as_tensor(self.fluency(texts)).to(scores)
            x = options[int(scores.argmin())]
        return x

    # --- orders -----------------------------------------------------------------------------------------------

    def _shuffled(self, x: torch.Tensor) -> torch.Tensor:
        out = x.clone()
        for row, length in enumerate(self.shared.lengths):
            inside = torch.arange(1, length - 1)
            out[row, inside] = x[row, inside[torch.randperm(len(inside), generator=self.generator)]]
        return out

    def _moved(self, x: torch.Tensor, row: int) -> torch.Tensor:
        """One sentence in another order: two swapped, one moved, a span moved, or a beginning put to the end."""
        order = list(range(1, self.shared.lengths[row] - 1))
        n = len(order)
        if n < 2:
            return x
        kind, a, b, c = (int(torch.randint(10**6, (1,), generator=self.generator)) for _ in range(4))
        a, b = a % n, b % n
        if kind % 4 == 0:
            order[a], order[b] = order[b], order[a]
        elif kind % 4 == 1:
            order.insert(b, order.pop(a))
        elif kind % 4 == 2:
            low, high = min(a, b), max(a, b) + 1
            part, rest = order[low:high], order[:low] + order[high:]
            at = c % (len(rest) + 1)
            order = rest[:at] + part + rest[at:]
        else:
            order = order[a:] + order[:a]
        out = x.clone()
        out[row, 1 : n + 1] = x[row, order]
        return out


def attack(shared: Shared, name: str = "LAMP cos", *, share: float = 1.0, **given) -> Outcome:
    """Run one of `ATTACKS` on a case.

    Args:
        share: of steps, draws and orders, above 0; 1 is the released code's.
        given: `fluency`, `features` and `seed` as for `Matching`.
    """
    settings = ATTACKS[checks.choice("name", name, ATTACKS)]
    share = checks.number("share", share, 1e-6)
    return Matching(shared, settings if share == 1 else settings.quicker(share), **given).run()


def attackers_order(shared: Shared, features: torch.Tensor, slopes: np.ndarray, *, seed: int = 0) -> torch.Tensor:
    """Bring recovered features in the order of the sentences, without the truth: labels first, then trial.

    A slope is p - y up to a positive factor, so that its sign is the label; among the orders that fit the known
    labels, the one is taken whose short attack (LAMP's with the feature term, 30 steps, no reordering) ends with
    the smallest distance, that term included.

    Args:
        features: (B, d').
        slopes: of the loss, one a feature.

    Returns:
        (B, d') in the order of `shared.labels`; the given order where signs and labels do not agree.
    """
    trial = replace(ATTACKS["feature match"], steps=30, starts=1, orders=0)
    signs = [int(slope < 0) for slope in slopes]
    fitting = [
        list(order)
        for order in itertools.permutations(range(len(signs)))
        if [signs[i] for i in order] == shared.labels.tolist()
    ]
    if len(fitting) < 2:
        return features[fitting[0]] if fitting else features
    runs = [Matching(shared, trial, features=features[order], seed=seed).run() for order in fitting]
    return features[fitting[int(np.argmin([run.distance for run in runs]))]]
