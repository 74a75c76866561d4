"""Experiments on gradients: cells of a committed specification, stored one by one, then a result table.

    python -m textsan.experiments.gradients data/gradients/spans.yml            # goes on where it stopped
    python -m textsan.experiments.gradients data/gradients/spans.yml --table    # what is there, as data/results

A specification names kind, victim, data sets, batch sizes and seeds, and is committed before its table is made.
"""

import argparse
import hashlib
import itertools
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
import yaml

from textsan.gradient_leakage import cases, features, fluency, matching, scores, spans, victims
from textsan.text import assets
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
    victims.fine_tune(victim, training_records(dataset, seed), epochs=epochs, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    save_file({name: value.contiguous() for name, value in victim.state_dict().items()}, part)
    part.rename(file)
    return victim


def read_cells(spec: dict) -> list[dict]:
    """The cells of a specification, a mapping each; those of one batch stand together.

    >>> spec = {"kind": "spans", "victim": "small", "datasets": ["rt"], "sizes": {1: 2}, "seed": 0}
    >>> [cell["batch"] for cell in read_cells(spec)]
    [0, 1]
    """
    made = []
    fixed = {name: spec.get(name) for name in ("kind", "victim", "seed", "longest", "share", "language_model")}
    for dataset, (size, count) in itertools.product(spec["datasets"], spec["sizes"].items()):
        for batch, method in itertools.product(range(count), spec.get("methods", [""])):
            made.append(
                fixed | {"dataset": dataset, "B": size, "batches": count, "batch": batch, "method": method}
            )
    return made


def run_cell(cell: dict) -> list[dict]:
    """Rows of one cell; what it is made of is in the cell alone."""
    victim = _victim(cell["victim"], cell["dataset"], cell["seed"])
    # Drawn apart from training: seeds of batches differ by size.
    drawn = cases.batches(
        training_records(cell["dataset"]),
        cell["B"],
        cell["batches"],
        seed=cell["seed"] + 1000 * cell["B"],
        longest=cell["longest"],
    )
    kinds = {"spans": _spans, "features": _features, "attacks": _attacks}
    return kinds[cell["kind"]](victim, drawn[cell["batch"]], cell)


def _victim(name: str, dataset: str, seed: int):
    if name == "small":
        return victims.small_victim(seed=seed)
    return trained_victim(dataset, epochs={"fresh": 0, "trained": 2}[name], seed=seed)


def _spans(victim, batch, cell) -> list[dict]:
    case = cases.make_case(victim, *batch)
    pairs = {(piece, place) for row in case.sentences for place, piece in enumerate(row)}
    found, theory = spans.accepted(case.shared), spans.closure(pairs)
    row = {"pairs": len(pairs), "found": len(pairs & found.pairs), "accepted": len(found.pairs)}
    row |= {"theory": len(theory.pairs), "rank": found.rank, "theory_rank": theory.rank, "forest": theory.forest}
    if len(found.pairs) > 40 * len(pairs):  # to put sentences together would take hours
        return [row | {"assembled": False}]
    answers, residuals = spans.assemble(case.shared, found, restarts=10)
    rows = [{k: v for k, v in one.items() if k not in TEXTS} for one in scores.score(case, answers)]
    whole = [sorted(answers)[i] in case.sentences for i in range(len(answers))]
    return [row | {"assembled": True, "exact_sentences": sum(whole)} | one for one in rows]


TEXTS = ("reference", "recovered")  # third-party text; not stored


def _features(victim, batch, cell) -> list[dict]:
    B, method, public = cell["B"], cell["method"], public_features(victim)
    if method == "own pooler":
        case = cases.make_case(victim, *batch)
        truth = case.features.double().numpy()
        guess, slopes, error = own_features(case.shared, public)
        cosine = features.cosines(guess, truth)
        right = sorted(slopes < 0) == sorted(label == 1 for label in batch[1])
        return [{"cosine": float(one), "error": error, "labels_right": right} for one in cosine]
    case = cases.make_case(victims.widened(victim, method, seed=cell["seed"]), *batch)
    seen = features.TwoLayer.of(case.shared)
    truth = case.features[:, :100].double().numpy()
    found = features.recover_features(seen, B, seed=cell["seed"])
    blind = np.tile(public[:, :100].mean(0), (B, 1))
    columns = {"blind": blind, "svd": features.baseline(seen, B).directions, "cosine": found.directions}
    values = {name: features.cosines(one, truth) for name, one in columns.items()}
    return [{name: float(values[name][i]) for name in values} for i in range(B)]


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


def _attacks(victim, batch, cell) -> list[dict]:
    case = cases.make_case(victim, *batch)
    given = {"share": cell["share"] or 1.0, "seed": cell["seed"], "fluency": _fluency(cell["language_model"])}
    if cell["method"].startswith("feature match"):
        found, slopes, error = own_features(case.shared, public_features(victim))
        guess = torch.as_tensor(found, dtype=victim.words.dtype)
        given["features"] = matching.attackers_order(case.shared, guess, slopes, seed=cell["seed"])
    outcome = matching.attack(case.shared, cell["method"], **given)
    rows = scores.score(case, outcome.sentences)
    cosine = scores.sentence_cosine([row["reference"] for row in rows], [row["recovered"] for row in rows])
    rows = [{k: v for k, v in row.items() if k not in TEXTS} for row in rows]
    return [row | {"distance": outcome.distance, "sbert": float(c)} for row, c in zip(rows, cosine, strict=True)]


def _fluency(name: str | None):
    if name in (None, "none"):
        return None
    if name == "bigram":
        return fluency.bigram_fluency([one.tokens for part in PUBLIC for one in load_dataset(part)])
    return fluency.causal_fluency(name)


# --- running ------------------------------------------------------------------------------------------------


def _file(folder: Path, cell: dict) -> Path:
    return folder / f"{hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]}.json"


def run(spec_file: Path, folder: Path) -> None:
    """Runs the cells that have no result yet, one after another; each is stored when it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    made = read_cells(yaml.safe_load(spec_file.read_text(encoding="utf8")))
    for number, cell in enumerate(made, 1):
        file = _file(folder, cell)
        if file.is_file():
            continue
        start = time.monotonic()
        rows = run_cell(cell)
        stored = json.dumps({"cell": cell, "rows": rows, "seconds": time.monotonic() - start})
        part = file.with_suffix(".part")
        part.write_text(stored, encoding="utf8")
        part.rename(file)
        print(f"{number} of {len(made)}: {cell['dataset']} B={cell['B']} {cell['method']}", flush=True)


def table(spec_file: Path, folder: Path, results: Path = Path("data/results")) -> Path:
    """What is there of a specification as a CSV file, and beside it what made it."""
    import pandas as pd

    made = read_cells(yaml.safe_load(spec_file.read_text(encoding="utf8")))
    there = [
        json.loads(f.read_text(encoding="utf8")) for f in (_file(folder, cell) for cell in made) if f.is_file()
    ]
    if not there:
        raise ValueError(f"folder: {folder} has no cell of {spec_file}; run it first")
    names = ("dataset", "victim", "B", "batch", "method", "seed")
    rows = [
        {name: one["cell"][name] for name in names} | {"sentence": i} | row
        for one in there
        for i, row in enumerate(one["rows"])
    ]
    target = results / f"gradient-{spec_file.stem}.csv"
    pd.DataFrame(rows).round(6).to_csv(target, index=False, lineterminator="\n")
    about = {
        "command": f"python -m textsan.experiments.gradients {spec_file.as_posix()}",
        "cells": f"{len(there)} of {len(made)}",
        "seconds": round(sum(one["seconds"] for one in there), 1),
        "hardware": f"{platform.machine()}, 2 cores, shared with other work",
        "versions": {name: version(name) for name in ("textsan", "numpy", "scipy", "torch", "tensorly")},
        "model": "all-minilm-l6-v2, in place of bert-base-uncased; see victim in the specification",
        "data": {"rt": "in place of Rotten Tomatoes' own split"},
    }
    target.with_suffix(".yml").write_text(yaml.safe_dump(about, sort_keys=False), encoding="utf8")
    return target


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec", type=Path)
    parser.add_argument("--folder", type=Path, help="where cells are kept; runs/gradients/NAME if left out")
    parser.add_argument("--table", action="store_true", help="write the table of what is there, run nothing")
    given = parser.parse_args()
    folder = given.folder or Path("runs", "gradients", given.spec.stem)
    if not given.table:
        run(given.spec, folder)
    print(table(given.spec, folder))


if __name__ == "__main__":
    main()
