"""Experiments on gradients: what spans, feature recovery and optimisation read from the gradient of a batch.

Each is a function from settings to rows of a table, a cell of a study (see `textsan.sweeps.studies`).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from textsan.base import cache
from textsan.gradient_leakage import cases, features, fluency, matching, scores, spans, victims
from textsan.models import encoders, sentence_vectors
from textsan.text.corpora import load_dataset
from textsan_book.studies.experiments import takes_settings

TRAINED_ON = 8500  # sentences: all of CoLA's and Rotten Tomatoes' train, a draw from SST-2's
_STARTS = 5  # of a fit, public features
PUBLIC = ("amazon", "nyt")  # what the bigram model and the public features are of: no corpus under attack


def training_records(dataset: str, seed: int = 0) -> list:
    """Draw the sentences that a victim is fine-tuned on, and of which the attacked ones are drawn: a client's."""
    records = [record for record in load_dataset(dataset) if record.tokens]
    order = torch.randperm(len(records), generator=torch.Generator().manual_seed(seed))
    return [records[i] for i in order[:TRAINED_ON].tolist()]


def trained_victim(dataset: str, *, epochs: int = 2, seed: int = 0):
    """Fine-tune MiniLM with a fresh pooler and classifier on a data set; trained once and kept in the cache.

    The papers train for 2 epochs; 0 is the fresh head.
    """
    victim = victims.load_victim(seed=seed)
    if not epochs:
        return victim

    def train() -> dict[str, np.ndarray]:
        trained = victims.fine_tune(victim.to(encoders.pick_device()), records, epochs=epochs, seed=seed).cpu()
        return {name: value.numpy() for name, value in trained.state_dict().items()}

    records = training_records(dataset, seed)
    texts = [(record.text, record.label) for record in records]
    inputs = [sentence_vectors.fingerprint(encoders.ENCODER), texts, epochs, seed]
    weights = cache.arrays("gradient-victims", inputs, train, code=__name__)
    victim.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return victim.cpu()


@dataclass(frozen=True)
class Batch:
    """The batch whose gradient is attacked, and the victim that makes it.

    The victim is small (two layers), fresh (MiniLM before training) or trained (two epochs), on the data set of
    the attacked sentences. Of so many `batches` of B sentences the one numbered `batch`, from 0, is attacked;
    sentences have at most `longest` words.
    """

    victim: str
    dataset: str
    B: int
    batches: int
    batch: int
    longest: int | None
    seed: int

    def draw(self):
        """Make the victim, and draw texts and labels apart from training: seeds differ by size."""
        if self.victim == "small":
            model = victims.small_victim(seed=self.seed)
        else:
            model = trained_victim(self.dataset, epochs={"fresh": 0, "trained": 2}[self.victim], seed=self.seed)
        records, seed = training_records(self.dataset), self.seed + 1000 * self.B
        return model, cases.batches(records, self.B, self.batches, seed=seed, longest=self.longest)[self.batch]


@takes_settings
def gradient_spans(batch: Batch) -> list[dict]:
    """Attack one batch exactly: pairs of piece and place that the span accepts, and the sentences they make."""
    model, drawn = batch.draw()
    case = cases.make_case(model, *drawn)
    pairs = {(piece, place) for row in case.sentences for place, piece in enumerate(row)}
    accepted, theory = spans.accepted(case.shared), spans.closure(pairs)
    row = {"pairs": len(pairs), "found": len(pairs & accepted.pairs), "accepted": len(accepted.pairs)}
    row |= {"theory": len(theory.pairs), "rank": accepted.rank}
    row |= {"theory_rank": theory.rank, "forest": theory.forest}
    if len(accepted.pairs) > 40 * len(pairs):  # to put sentences together would take hours
        return [row | {"assembled": False}]
    answers, _ = spans.assemble(case.shared, accepted, restarts=10)
    row |= {"assembled": True, "exact_sentences": sum(answer in case.sentences for answer in answers)}
    return _rows([row | score for score in scores.score(case, answers)])


@takes_settings
def gradient_features(batch: Batch, *, method: str) -> list[dict]:
    """Compute the cosine of the pooler's features with what is recovered of them, and with two baselines.

    The method is the activation of a widened pooler (tensor decomposition); or own pooler, least squares on the
    victim as it is. Where the gradient is zero, as of a classifier that is sure of every label, only the blind one
    has a cosine.
    """
    model, drawn = batch.draw()
    public = public_features(model)
    if method == "own pooler":
        case = cases.make_case(model, *drawn)
        guess, slopes, error = own_features(case.shared, public)
        cosine = features.cosines(guess, case.features.double().numpy())
        right = sorted(slopes < 0) == sorted(label == 1 for label in drawn[1])
        return _rows([{"cosine": float(value), "error": error, "labels_right": right} for value in cosine])
    case = cases.make_case(victims.widened(model, method, seed=batch.seed), *drawn)
    seen = features.TwoLayer.of(case.shared)
    truth = case.features[:, :100].double().numpy()
    columns = {"blind": np.tile(public[:, :100].mean(0), (batch.B, 1))}
    if seen.gradient.any():  # else the classifier is sure of every label, and nothing is shared
        recovered = features.recover_features(seen, batch.B, seed=batch.seed)
        columns |= {"svd": features.baseline(seen, batch.B).directions, "cosine": recovered.directions}
    values = {name: features.cosines(directions, truth) for name, directions in columns.items()}
    return _rows([{name: float(values[name][i]) for name in values} for i in range(batch.B)])


@takes_settings
def gradient_attacks(batch: Batch, *, method: str, share: float, language_model: str) -> list[dict]:
    """Read sentences from the gradient of one batch by an optimisation attack, a row a sentence.

    The method is one of `textsan.gradient_leakage.matching.attack`, with a share, above 0 and at most 1, of the
    published number of steps. The language model of the discrete phase is bigram (of public text), a causal model
    by name, or none.
    """
    model, drawn = batch.draw()
    case = cases.make_case(model, *drawn)
    given = {"share": share, "seed": batch.seed, "fluency": _fluency(language_model)}
    if method.startswith("feature match"):
        guess, slopes, _ = own_features(case.shared, public_features(model))
        guess = torch.as_tensor(guess, dtype=model.words.dtype)
        given["features"] = matching.attackers_order(case.shared, guess, slopes, seed=batch.seed)
    outcome = matching.attack(case.shared, method, **given)
    rows = scores.score(case, outcome.sentences)
    for row in rows:
        cosine = _sentence_cosine(row["reference"], row["recovered"])
        row |= {"distance": outcome.distance, "sbert": cosine}
    return _rows(rows)


def _sentence_cosine(*texts: str) -> float:
    """Cosine between the sentence vectors of MiniLM (mean of the last layer) of two texts: SBERT's score."""
    encoder, tokenizer = encoders.load_encoder(), encoders.load_tokenizer()
    vectors = []
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text).ids])
            hidden = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].mean(0)
            vectors.append(hidden / hidden.norm())
    return float((vectors[0] * vectors[1]).sum())


def _rows(rows: list[dict]) -> list[dict]:
    """Rows of one batch, numbered; without the texts, which are third-party."""
    texts = "reference", "recovered"
    return [{"sentence": i} | {name: row[name] for name in row if name not in texts} for i, row in enumerate(rows)]


def own_features(shared: cases.Shared, public: np.ndarray):
    """Fit features by `features.fit_features` on the victim's own pooler, from the best public start."""
    B, (seen, outer) = len(shared.labels), features.TwoLayer.own(shared)
    best = None
    for k in range(_STARTS):
        fit = features.fit_features(seen, public[B * k : B * (k + 1)], shared.victim.activation, outer=outer)
        best = fit if best is None or fit[2] < best[2] else best
        if best[2] < 1e-6:
            break
    return best


def public_features(victim) -> np.ndarray:
    """Compute features of 64 sentences that the server owns, of another kind than those under attack, (64, d)."""
    texts = [record.text for record in load_dataset(PUBLIC[0])[:64]]
    ids, mask = victim.encode(texts)
    with torch.no_grad():
        return victim.features(victim.words[ids], mask).double().numpy()


def _fluency(name: str | None):
    if name in (None, "none"):
        return None
    if name == "bigram":
        return fluency.bigram_fluency([record.tokens for part in PUBLIC for record in load_dataset(part)])
    return fluency.causal_fluency(name)


# --- the attack of Li et al. 2023 as a whole: widened pooler, the tensor's features, feature match by them ----
# All attacks of one comparison see the same gradient, that of the widened victim. Who attacks knows the weights,
# the labels, the lengths and public sentences; the oracle's order alone is made with the true features.

METHODS = ("LAMP cos", "tensor", "fit", "fit, oracle order", "true features")
"""LAMP without a feature, and feature match with: directions of the paper's tensor; these after a fit of the exact
model; the same in the order of the true features; and the true features, which is the most that any can give."""


@takes_settings
def gradient_tensors(batch: Batch, *, activation: str, recovered: int, order: Literal[3, 4] = 3) -> list[dict]:
    """Compute cosines of recovered with true features, of all components and without the public mean's direction.

    Features of one encoder are alike: their common direction is known to whoever has the encoder, and a cosine
    that holds it is high for any guess. Each comes with its floor: the mean of public sentences, and without its
    direction as many public sentences. `recovered` is d', the coordinates of a feature that the widened pooler
    reads. A row a sentence: floor, svd (singular vectors), reduced (the tensor within the gradient's row space),
    full (the paper's, d' x d' x d') and fit, each also with "inner", without the mean; error of the fit. Both
    tensors rest on a derivative of this `order`, the fourth along the public mean.
    """
    case, public = _widened(batch, activation, recovered)
    B, seed = batch.B, batch.seed
    seen, truth = features.TwoLayer.of(case.shared), case.features[:, :recovered].double().numpy()
    if not seen.gradient.any():  # the classifier is sure of every label, and nothing is shared
        return [{"sentence": i} for i in range(B)]
    mean = public.mean(0) / np.linalg.norm(public.mean(0))
    along = mean if order == 4 else None
    directions = {
        "svd": features.baseline(seen, B).directions,
        "reduced": features.recover_features(seen, B, along=along, seed=seed).directions,
        "full": features.recover_features(seen, B, reduce=False, along=along, restarts=5, seed=seed).directions,
    }
    directions["fit"], _, error = fitted(case.shared, public, seed)
    columns = {"floor": features.cosines(np.tile(mean, (B, 1)), truth)}
    columns["floor inner"] = features.cosines(without(public[:B], mean), without(truth, mean))
    for name, guess in directions.items():
        columns[name] = features.cosines(guess, truth)
        columns[f"{name} inner"] = features.cosines(without(guess, mean), without(truth, mean))
    rows = [{"error": error} | {name: float(values[i]) for name, values in columns.items()} for i in range(B)]
    return _rows(rows)


@takes_settings
def gradient_whole(
    batch: Batch, *, activation: str, recovered: int, method: str, share: float, language_model: str
) -> list[dict]:
    """Read sentences from the gradient of a widened victim by one of `METHODS`, a row a sentence."""
    if method not in METHODS:
        raise ValueError(f"method: {method!r}; known: {', '.join(METHODS)}")
    case, public = _widened(batch, activation, recovered)
    shared, truth, seed = case.shared, case.features[:, :recovered], batch.seed
    given = {"share": share, "seed": seed, "fluency": _fluency(language_model)}
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
    return _rows(rows)


def _widened(batch: Batch, activation: str, recovered: int) -> tuple[cases.Case, np.ndarray]:
    """The case of a widened victim, and public features in the coordinates that its pooler reads."""
    model, drawn = batch.draw()
    public = public_features(model)[:, :recovered]
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
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (truth, guess)]
    return linear_sum_assignment(-np.abs(units[0] @ units[1].T))[1]
