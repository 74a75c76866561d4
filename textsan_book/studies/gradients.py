"""Experiments on gradients: what spans, feature recovery and optimisation read from the gradient of a batch.

Each is a function from settings to rows of a table, a cell of a study (see `textsan.sweeps.studies`).
"""

from pathlib import Path

import numpy as np
import torch

from textsan.base import assets
from textsan.gradient_leakage import cases, features, fluency, matching, scores, spans, victims
from textsan.models import encoders
from textsan.text.corpora import load_dataset

TRAINED_ON = 8500  # sentences: all of CoLA's and Rotten Tomatoes' train, a draw from SST-2's
PUBLIC = ("amazon", "nyt")  # what the bigram model and the public features are of: no corpus under attack


def training_records(dataset: str, seed: int = 0) -> list:
    """The sentences a victim is fine-tuned on, and from which the attacked ones are drawn: a client's.

    Args:
        dataset: cola, sst2 or rt.
        seed: of the draw.
    """
    records = [record for record in load_dataset(dataset) if record.tokens]
    order = torch.randperm(len(records), generator=torch.Generator().manual_seed(seed))
    return [records[i] for i in order[:TRAINED_ON].tolist()]


def trained_victim(dataset: str, *, epochs: int = 2, seed: int = 0, folder: Path | None = None):
    """MiniLM with a fresh pooler and classifier, fine-tuned on a data set; trained once and kept in the cache.

    Args:
        dataset: cola, sst2 or rt.
        epochs: the papers' is 2; 0 is the fresh head.
        seed: of fresh weights and order.
        folder: where weights are kept.
    """
    from safetensors.torch import load_file, save_file

    victim = victims.load_victim(seed=seed)
    if not epochs:
        return victim
    folder = folder or assets.cache_folder() / "gradient-victims"
    file = folder / f"{dataset}-{epochs}-{seed}.safetensors"
    if file.is_file():
        victim.load_state_dict(load_file(file))
        return victim
    victim = victim.to(encoders.pick_device())
    victims.fine_tune(victim, training_records(dataset, seed), epochs=epochs, seed=seed).cpu()
    folder.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    save_file({name: value.contiguous() for name, value in victim.state_dict().items()}, part)
    part.rename(file)
    return victim


def gradient_spans(
    *, victim: str, dataset: str, B: int, batches: int, batch: int, longest: int | None, seed: int
) -> list[dict]:
    """The exact attack on one batch: pairs of piece and place that the span accepts, and the sentences they make.

    Args:
        victim: small (two layers), fresh (MiniLM before training) or trained (two epochs).
        dataset: of the victim and of the attacked sentences: cola, sst2 or rt.
        B, batches, batch: sentences in a batch, how many batches are drawn, and which of them is attacked, from 0.
        longest: words of a sentence at most; None is any number.
        seed: of everything.
    """
    model, drawn = _drawn(victim, dataset, B, batches, batch, longest, seed)
    case = cases.make_case(model, *drawn)
    pairs = {(piece, place) for row in case.sentences for place, piece in enumerate(row)}
    found, theory = spans.accepted(case.shared), spans.closure(pairs)
    row = {"pairs": len(pairs), "found": len(pairs & found.pairs), "accepted": len(found.pairs)}
    row |= {"theory": len(theory.pairs), "rank": found.rank, "theory_rank": theory.rank, "forest": theory.forest}
    if len(found.pairs) > 40 * len(pairs):  # to put sentences together would take hours
        return [row | {"assembled": False}]
    answers, residuals = spans.assemble(case.shared, found, restarts=10)
    whole = [sorted(answers)[i] in case.sentences for i in range(len(answers))]
    row |= {"assembled": True, "exact_sentences": sum(whole)}
    return _rows([row | one for one in scores.score(case, answers)])


def gradient_features(
    *, victim: str, dataset: str, B: int, batches: int, batch: int, longest: int | None, seed: int, method: str
) -> list[dict]:
    """Cosine of the pooler's features with what is recovered of them, and with two baselines.

    Where the gradient is zero, as of a classifier that is sure of every label, only the blind one has a cosine.

    Args:
        victim, dataset, B, batches, batch, longest, seed: as of `gradient_spans`.
        method: the activation of a widened pooler (tensor decomposition); or own pooler, least squares on the
            victim as it is.
    """
    model, drawn = _drawn(victim, dataset, B, batches, batch, longest, seed)
    public = public_features(model)
    if method == "own pooler":
        case = cases.make_case(model, *drawn)
        truth = case.features.double().numpy()
        guess, slopes, error = own_features(case.shared, public)
        cosine = features.cosines(guess, truth)
        right = sorted(slopes < 0) == sorted(label == 1 for label in drawn[1])
        return _rows([{"cosine": float(one), "error": error, "labels_right": right} for one in cosine])
    case = cases.make_case(victims.widened(model, method, seed=seed), *drawn)
    seen = features.TwoLayer.of(case.shared)
    truth = case.features[:, :100].double().numpy()
    columns = {"blind": np.tile(public[:, :100].mean(0), (B, 1))}
    if seen.gradient.any():  # else the classifier is sure of every label, and nothing is shared
        found = features.recover_features(seen, B, seed=seed)
        columns |= {"svd": features.baseline(seen, B).directions, "cosine": found.directions}
    values = {name: features.cosines(one, truth) for name, one in columns.items()}
    return _rows([{name: float(values[name][i]) for name in values} for i in range(B)])


def gradient_attacks(
    *,
    victim: str,
    dataset: str,
    B: int,
    batches: int,
    batch: int,
    longest: int | None,
    seed: int,
    method: str,
    share: float,
    language_model: str,
) -> list[dict]:
    """Sentences that an optimisation attack reads from the gradient of one batch, a row a sentence.

    Args:
        victim, dataset, B, batches, batch, longest, seed: as of `gradient_spans`.
        method: of `textsan.gradient_leakage.matching.attack`.
        share: of the published number of steps, above 0, at most 1.
        language_model: of the discrete phase: bigram (of public text), a causal model by name, or none.
    """
    model, drawn = _drawn(victim, dataset, B, batches, batch, longest, seed)
    case = cases.make_case(model, *drawn)
    given = {"share": share, "seed": seed, "fluency": _fluency(language_model)}
    if method.startswith("feature match"):
        found, slopes, error = own_features(case.shared, public_features(model))
        guess = torch.as_tensor(found, dtype=model.words.dtype)
        given["features"] = matching.attackers_order(case.shared, guess, slopes, seed=seed)
    outcome = matching.attack(case.shared, method, **given)
    rows = scores.score(case, outcome.sentences)
    cosine = _sentence_cosine([row["reference"] for row in rows], [row["recovered"] for row in rows])
    more = [{"distance": outcome.distance, "sbert": float(one)} for one in cosine]
    return _rows([row | other for row, other in zip(rows, more, strict=True)])


def _sentence_cosine(references: list[str], recovered: list[str]) -> np.ndarray:
    """Cosine between the sentence vectors of MiniLM (mean of the last layer), of each pair: SBERT's score."""
    encoder, tokenizer = encoders.load_encoder(), encoders.load_tokenizer()
    vectors = []
    with torch.no_grad():
        for text in [*references, *recovered]:
            ids = torch.tensor([tokenizer.encode(text).ids])
            hidden = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].mean(0)
            vectors.append(hidden / hidden.norm())
    both = torch.stack(vectors)
    return (both[: len(references)] * both[len(references) :]).sum(1).numpy()


def _drawn(victim: str, dataset: str, B: int, batches: int, batch: int, longest: int | None, seed: int):
    """The victim and the batch that is attacked, which is drawn apart from training: seeds differ by size."""
    if victim == "small":
        model = victims.small_victim(seed=seed)
    else:
        model = trained_victim(dataset, epochs={"fresh": 0, "trained": 2}[victim], seed=seed)
    records = training_records(dataset)
    return model, cases.batches(records, B, batches, seed=seed + 1000 * B, longest=longest)[batch]


def _rows(rows: list[dict]) -> list[dict]:
    """Rows of one batch, numbered; without the texts, which are third-party."""
    return [
        {"sentence": i} | {name: value for name, value in row.items() if name not in ("reference", "recovered")}
        for i, row in enumerate(rows)
    ]


def own_features(shared: cases.Shared, public: np.ndarray, starts: int = 5):
    """Features of a batch by least squares on the victim's own pooler, the best of some public starts.

    Args:
        shared: of a case.
        public: features of public sentences, (n, d).
        starts: how many.

    Returns:
        features, slopes and error, as `features.fit_features`.
    """
    B, (seen, outer) = len(shared.labels), features.TwoLayer.own(shared)
    best = None
    for k in range(starts):
        fit = features.fit_features(seen, public[B * k : B * (k + 1)], shared.victim.activation, outer=outer)
        best = fit if best is None or fit[2] < best[2] else best
        if best[2] < 1e-6:
            break
    return best


def public_features(victim, count: int = 64) -> np.ndarray:
    """Features of sentences that the server owns, of another kind than those under attack, (count, d).

    Args:
        victim: as it is.
        count: sentences.
    """
    texts = [record.text for record in load_dataset(PUBLIC[0])[:count]]
    ids, mask = victim.encode(texts)
    with torch.no_grad():
        return victim.features(victim.words[ids], mask).double().numpy()


def _fluency(name: str | None):
    if name in (None, "none"):
        return None
    if name == "bigram":
        return fluency.bigram_fluency([one.tokens for part in PUBLIC for one in load_dataset(part)])
    return fluency.causal_fluency(name)
