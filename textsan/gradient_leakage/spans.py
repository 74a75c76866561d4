"""The exact attack: which words can stand where, by a projection onto the span of a layer's inputs.

The gradient of a linear layer's weight is the sum over pieces t of delta_t x_t^T, with x_t what the layer reads
and delta_t the gradient of what it says. Its rows lie in the span of the x_t (Petrov et al. 2024, DAGER). The
first attention layer reads x(w, p) = LayerNorm(W_w + P_p), which the server can compute for every piece w and
position p: those in the span are the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
import torch

from textsan.base import checks
from textsan.gradient_leakage.cases import Shared
from textsan.gradient_leakage.victims import Victim

_TRIED = 64  # candidates of a position that are tried, best residual first
WEIGHTS = ("query", "value")
"""Key weights are no use: softmax does not feel a shift of all scores, so the delta_t of keys sum to zero."""


def inputs(victim: Victim, position: int, pieces=slice(None)) -> torch.Tensor:
    """Compute x(w, p) of some pieces w, or all, at one position from 0, (pieces, d)."""
    part = victim.encoder.embeddings
    with torch.no_grad():
        here = part.position_embeddings.weight[position] + part.token_type_embeddings.weight[0]
        return part.LayerNorm(victim.words[pieces] + here)


def residuals(victim: Victim, found: "Span", positions: int) -> torch.Tensor:
    """Compute the residual of every piece at every position up to one, (pieces, positions), in one product.

    Off the span, x(w, p) is (a_w + b_p) / s + c with s the standard deviation that LayerNorm divides by. Its
    length follows from inner products of the a_w, the b_p and c, so that nothing of size pieces x positions x d is
    built. By cancellation it is exact to about the root of the rounding error.
    """
    part, norm = victim.encoder.embeddings, victim.encoder.embeddings.LayerNorm
    with torch.no_grad():
        words = victim.words.double()
        places = (part.position_embeddings.weight[:positions] + part.token_type_embeddings.weight[0]).double()
        words, places = words - words.mean(1, keepdim=True), places - places.mean(1, keepdim=True)
        scale = _squares(words, places) / words.shape[1] + norm.eps
        weight, bias = norm.weight.double(), norm.bias.double()
        words, places = words * weight, places * weight
        whole = _length(words, places, bias, scale)
        basis = found.basis.double()
        words, places, bias = (one - (one @ basis.T) @ basis for one in (words, places, bias))
        return (_length(words, places, bias, scale) / whole).clamp(min=0).sqrt()


def _squares(words: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Squared length of every sum of a row of one and a row of the other."""
    return (words**2).sum(1)[:, None] + (places**2).sum(1) + 2 * words @ places.T


def _length(words, places, bias, scale) -> torch.Tensor:
    """Squared length of (words + places) / sqrt(scale) + bias."""
    along = (words @ bias)[:, None] + places @ bias
    return _squares(words, places) / scale + 2 * along / scale.sqrt() + bias @ bias


def stacked(shared: Shared, layer: int = 0, weights: Iterable[str] = WEIGHTS) -> torch.Tensor:
    """Stack gradients of a layer's query and value weights, each scaled to norm 1."""
    rows = []
    for weight in weights:
        one = shared.gradient[f"encoder.encoder.layer.{layer}.attention.self.{weight}.weight"]
        rows.append(one / one.norm().clamp(min=torch.finfo(one.dtype).tiny))
    return torch.cat(rows)


@dataclass(frozen=True)
class Span:
    """An orthonormal basis of what a layer's inputs span, as far as a gradient shows it."""

    basis: torch.Tensor  # (rank, d)
    values: torch.Tensor  # all singular values of the gradient, falling

    @property
    def rank(self) -> int:
        return len(self.basis)

    def residual(self, vectors: torch.Tensor) -> torch.Tensor:
        """Distance of vectors (..., d) from the span, as a share of their length."""
        off = vectors - (vectors @ self.basis.T) @ self.basis
        return off.norm(dim=-1) / vectors.norm(dim=-1)


def span(matrix: torch.Tensor, tolerance: float | None = None) -> Span:
    """The row space of a gradient.

    Args:
        tolerance: singular values below this share of the largest count as zero; None is 5 rounding errors of
            the number type and 50 of float64, in which the decomposition is done.
    """
    if tolerance is None:
        tolerance = 5 * torch.finfo(matrix.dtype).eps + 50 * torch.finfo(torch.float64).eps
    tolerance = checks.number("tolerance", tolerance, 0, 1)
    matrix = matrix.double()
    left, values, _ = torch.linalg.svd(matrix, full_matrices=False)
    rank = int((values > values[0] * tolerance).sum())
    # On some processors the right vectors that LAPACK's divide and conquer gives are orthonormal to 1e-8 only.
    # Whatever the left ones are, matrix^T times them lies in the row space, and QR makes that orthonormal.
    return Span(torch.linalg.qr(matrix.T @ (left[:, :rank] / values[:rank]))[0].T, values)


@dataclass(frozen=True)
class Accepted:
    """The pieces that pass the check.

    Attributes:
        pieces: at each position the accepted piece numbers, best first.
        residuals: of these, in the same order.
        rank: of the gradient.
        threshold: largest residual that passes.
        floor: smallest residual of any piece where no sentence reaches.
    """

    pieces: list[list[int]]
    residuals: list[list[float]]
    rank: int
    threshold: float
    floor: float

    @property
    def pairs(self) -> set[tuple[int, int]]:
        """Accepted (piece, position)."""
        return {(piece, place) for place, row in enumerate(self.pieces) for piece in row}


def accepted(shared: Shared, *, weights=WEIGHTS) -> Accepted:
    """Find the pieces that lie in the span at each position; no optimisation, no prior, no length.

    The threshold is the attacker's own: 1,000 rounding errors of the number type, or more where the smallest
    singular value that counts is so small that rounding turns its direction; at most a tenth of the smallest
    residual at positions beyond the longest sentence, where every candidate is false.
    """
    found, victim = span(stacked(shared, weights=weights)), shared.victim
    longest = max(shared.lengths)
    table = residuals(victim, found, min(longest + 16, victim.encoder.config.max_position_embeddings))
    floor = float(table[:, longest:].min())
    error, smallest = torch.finfo(victim.words.dtype).eps, found.values[max(found.rank - 1, 0)]
    threshold = min(floor / 10, error * max(1000.0, float(found.values[0] / smallest)))
    pieces, passed = [], []
    for place in range(longest):
        near = torch.nonzero(table[:, place] < max(2 * threshold, 1e-3)).flatten()
        off = found.residual(inputs(victim, place, near).double())
        order = torch.argsort(off)
        order = order[off[order] < threshold]
        pieces.append(near[order].tolist())
        passed.append(off[order].tolist())
    return Accepted(pieces, passed, found.rank, threshold, floor)


class Closure(NamedTuple):
    """The pieces that the check accepts by theory, and the rank of the gradient."""

    pairs: frozenset[tuple[int, int]]  # accepted (piece, position)
    rank: int  # of the gradient
    forest: bool  # whether the graph has no cycle, so that nothing but the truth is accepted


def closure(pairs: Iterable[tuple[int, int]]) -> Closure:
    """Predict what passes the span check of a batch, from its true (piece, position) alone.

    Draw an edge from piece w to position p for each true pair. If the graph is a forest, the true pairs pass and
    the rank is their number. Else every pair within a connected component passes, and the rank is
    vertices - components + 1. It holds for generic embeddings with a LayerNorm that has a bias, and a layer
    wider than the number of vertices.

    >>> closure([(7, 0), (8, 0), (7, 1), (8, 1)]).rank, sorted(closure([(7, 0), (8, 0), (7, 1)]).pairs)
    (4, [(7, 0), (7, 1), (8, 0)])
    """
    pairs = set(pairs)
    number: dict = {}
    edges = [[number.setdefault(v, len(number)) for v in (("piece", w), ("place", p))] for w, p in pairs]
    links = scipy.sparse.coo_array((np.ones(len(edges)), tuple(zip(*edges, strict=True))), shape=[len(number)] * 2)
    groups, group = scipy.sparse.csgraph.connected_components(links, directed=False)
    rank = len(number) - groups
    if rank == len(pairs):
        return Closure(frozenset(pairs), rank, True)
    pieces, places = (
        [(v, group[at]) for (kind, v), at in number.items() if kind == k] for k in ("piece", "place")
    )
    return Closure(frozenset((w, p) for w, g in pieces for p, h in places if g == h), rank + 1, False)


def assemble(shared: Shared, found: Accepted, *, restarts: int = 30):
    """Make sentences of candidates: those whose inputs to the *second* layer lie in the span of its gradient.

    What the second layer reads at a position depends on the whole sentence, so the check is of sentences. From
    `restarts` random choices, the piece at each position in turn is replaced by the candidate that lowers the mean
    residual. A sentence that reaches zero is right. Needs at least three layers: in the last one queries other
    than [CLS]'s do not matter and values only through it, so that its gradient does not span what it reads.

    Return piece numbers of each sentence in the order of the lengths, and the mean residual of each, plus 1 if the
    same sentence was given before.
    """
    if len(shared.victim.encoder.encoder.layer) < 3:
        raise ValueError("victim: fewer than 3 layers; the last one's gradient does not span its inputs")
    victim, generator = shared.victim, torch.Generator().manual_seed(0)
    second = span(stacked(shared, layer=1))
    basis = Span(second.basis.to(victim.words.dtype), second.values)
    d, special = second.basis.shape[1], victim.special
    random = max(1 - second.rank / d, 1 / d) ** 0.5  # what a random direction leaves, in expectation
    answers: list[list[int]] = []
    scores: list[float] = []
    for length in shared.lengths:
        options = _options(found, length, special)
        best, score = None, float("inf")
        for _ in range(restarts if any(len(some) > 1 for some in options) else 1):
            guess, off = _descend(victim, basis, options, generator)
            taken = guess in answers
            if off + taken < score:
                best, score = guess, off + taken
            if off < 0.01 * random and not taken:
                break
        assert best is not None  # restarts is at least 1
        answers.append(best)
        scores.append(score)
    return answers, scores


def _options(found: Accepted, length: int, special: dict) -> list[list[int]]:
    """Candidates of each position of a sentence of known length, [CLS] first and [SEP] last."""
    inside = []
    for place in range(1, length - 1):
        row = [piece for piece in found.pieces[place] if piece not in special.values()][:_TRIED]
        inside.append(row or [special["[SEP]"]])
    return [[special["[CLS]"]], *inside, [special["[SEP]"]]]


def _descend(victim: Victim, second: Span, options: list[list[int]], generator) -> tuple[list[int], float]:
    pick = [row[int(torch.randint(len(row), (1,), generator=generator))] for row in options]
    score = float(_second(victim, second, [pick])[0])
    while True:
        before = score
        for place, row in enumerate(options):
            if len(row) == 1:
                continue
            tried = [[*pick[:place], piece, *pick[place + 1 :]] for piece in row]
            off = _second(victim, second, tried)
            score, pick = float(off.min()), tried[int(off.argmin())]
        if score > before * (1 - 1e-6):
            return pick, score


def _second(victim: Victim, second: Span, sentences: list[list[int]]) -> torch.Tensor:
    """Mean residual of what the second layer reads, of each of some sentences of one length."""
    with torch.no_grad():
        hidden = victim.encoder.embeddings(input_ids=torch.tensor(sentences))
        hidden = victim.encoder.encoder.layer[0](hidden)
        hidden = hidden[0] if isinstance(hidden, tuple) else hidden
    return second.residual(hidden).mean(1)
