"""The attack of Li et al. 2023 as a whole: widened pooler, the tensor's features, feature match guided by them.

All attacks of one comparison see the same gradient, that of the widened victim. Who attacks knows the weights,
the labels, the lengths and public sentences; the oracle's order alone is made with the true features.
"""

import numpy as np
import torch

from textsan.gradient_leakage import cases, features, matching, scores, victims
from textsan_book.studies import gradients
from textsan_book.studies.experiments import takes_settings
from textsan_book.studies.gradients import Batch

METHODS = ("LAMP cos", "tensor", "fit", "fit, oracle order", "true features")
"""LAMP without a feature, and feature match with: directions of the paper's tensor; these after a fit of the exact
model; the same in the order of the true features; and the true features, which is the most that any can give."""


@takes_settings
def gradient_tensors(batch: Batch, *, activation: str, recovered: int) -> list[dict]:
    """Compute cosines of recovered with true features, of all components and without the public mean's direction.

    Features of one encoder are alike: their common direction is known to whoever has the encoder, and a cosine
    that holds it is high for any guess. Each comes with its floor: the mean of public sentences, and without its
    direction as many public sentences. `recovered` is d', the coordinates of a feature that the widened pooler
    reads. A row a sentence: floor, svd (singular vectors), reduced (the tensor within the gradient's row space),
    full (the paper's, d' x d' x d') and fit, each also with "inner", without the mean; error of the fit.
    """
    case, public = _widened(batch, activation, recovered)
    B, seed = batch.B, batch.seed
    seen, truth = features.TwoLayer.of(case.shared), case.features[:, :recovered].double().numpy()
    if not seen.gradient.any():  # the classifier is sure of every label, and nothing is shared
        return [{"sentence": i} for i in range(B)]
    mean = public.mean(0) / np.linalg.norm(public.mean(0))
    directions = {
        "svd": features.baseline(seen, B).directions,
        "reduced": features.recover_features(seen, B, seed=seed).directions,
        "full": features.recover_features(seen, B, reduce=False, restarts=5, seed=seed).directions,
    }
    directions["fit"], _, error = fitted(case.shared, public, seed)
    columns = {"floor": features.cosines(np.tile(mean, (B, 1)), truth)}
    columns["floor inner"] = features.cosines(without(public[:B], mean), without(truth, mean))
    for name, guess in directions.items():
        columns[name] = features.cosines(guess, truth)
        columns[f"{name} inner"] = features.cosines(without(guess, mean), without(truth, mean))
    rows = [{"error": error} | {name: float(values[i]) for name, values in columns.items()} for i in range(B)]
    return gradients._rows(rows)


@takes_settings
def gradient_whole(
    batch: Batch, *, activation: str, recovered: int, method: str, share: float, language_model: str
) -> list[dict]:
    """Read sentences from the gradient of a widened victim by one of `METHODS`, a row a sentence."""
    if method not in METHODS:
        raise ValueError(f"method: {method!r}; known: {', '.join(METHODS)}")
    case, public = _widened(batch, activation, recovered)
    shared, truth, seed = case.shared, case.features[:, :recovered], batch.seed
    given = {"share": share, "seed": seed, "fluency": gradients._fluency(language_model)}
    if method == "true features":
        given["features"] = truth
    elif method != "LAMP cos":
        guess, slopes, _ = (tensors if method == "tensor" else fitted)(shared, public, seed)
        guess = torch.as_tensor(guess, dtype=truth.dtype)
        if method == "fit, oracle order":
            given["features"] = guess[_oracle(guess.numpy(), truth.numpy())]
        else:
            given["features"] = matching.attackers_order(shared, guess, slopes, seed=seed)
    outcome = matching.attack(shared, "LAMP cos" if method == "LAMP cos" else "feature match", **given)
    rows = [row | {"distance": outcome.distance} for row in scores.score(case, outcome.sentences)]
    return gradients._rows(rows)


def _widened(batch: Batch, activation: str, recovered: int) -> tuple[cases.Case, np.ndarray]:
    """The case of a widened victim, and public features in the coordinates that its pooler reads."""
    model, drawn = batch.draw()
    public = gradients.public_features(model)[:, :recovered]
    return cases.make_case(
        victims.widened(model, activation, recovered=recovered, seed=batch.seed), *drawn
    ), public


def tensors(shared: cases.Shared, public: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Compute the directions (B, d') of the paper's full tensor, signed as public features are, and slopes.

    Slopes are up to a positive factor. The third value is nan for the error of `fitted`, which this way has none
    to tell.
    """
    seen, count = features.TwoLayer.of(shared), len(shared.labels)
    tensor = features.recover_features(seen, count, reduce=False, restarts=5, seed=seed)
    signs = np.sign(tensor.directions @ public.mean(0))
    third = third_derivative(shared.victim.activation, np.linalg.norm(public, axis=1).mean())
    return tensor.directions * signs[:, None], tensor.weights * signs * third, np.nan


def fitted(shared: cases.Shared, public: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit features and slopes to the exact model of the widened rows, started at the tensor's directions.

    The fit is by least squares; the third value is its relative error.
    """
    seen, count = features.TwoLayer.of(shared), len(shared.labels)
    directions = features.recover_features(seen, count, seed=seed).directions
    length = np.linalg.norm(public, axis=1).mean()
    signed = directions * np.sign(directions @ public.mean(0))[:, None] * length
    starts = [signed, *(public[count * k : count * (k + 1)] for k in range(3))]
    fits = [features.fit_features(seen, start, shared.victim.activation, seed=seed) for start in starts]
    return min(fits, key=lambda fit: fit[2])


def third_derivative(activation: str, length: float) -> float:
    """Compute E[sigma'''(z)], z normal of this standard deviation, up to a positive factor: Stein's lemma."""
    z, weight = np.polynomial.hermite_e.hermegauss(100)
    return float(weight @ (features.SLOPES[activation](length * z) * (z**2 - 1)))


def without(rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Take the part in a unit direction from rows."""
    return rows - np.outer(rows @ direction, direction)


def _oracle(guess: np.ndarray, truth: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (truth, guess)]
    return linear_sum_assignment(-np.abs(units[0] @ units[1].T))[1]
