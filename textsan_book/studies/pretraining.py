"""Sanitization-aware pretraining on both scales (Yue et al. 2021, Table 3): accuracy, and mask inference.

A function from settings to rows of a table, a cell of a study (see `textsan.sweeps.studies`).
"""

from functools import lru_cache

import numpy as np

from textsan.attacks import MaskInference
from textsan.attacks.mask_inference import MaskedBert
from textsan.base.plugins import load_plugin
from textsan.evaluation import clustered_rate, paired_difference
from textsan.mechanisms import make_mechanism
from textsan.mechanisms.base import Oov
from textsan.models import encoders
from textsan.sweeps import problems
from textsan.text.embeddings import Embeddings
from textsan.utility import paired_difference as task_difference
from textsan_book.studies import adapters, filling_blanks
from textsan_book.studies.experiments import columns


def preparations(
    *,
    dataset: str,
    epsilon: float,
    vocabulary: int | str,
    n_private: int,
    n_shadow: int,
    n_positions: int,
    n_test: int,
    steps: int,
    seed: int,
    oov: Oov = "uniform",
    own_space: bool = False,
) -> list[dict]:
    """Measure what a model prepared for SanText gives a learner and gives mask inference, a row a model.

    The encoder "as published" has no head that fills in blanks, and no mask inference. "Bare" and "prepared" have
    learnt to fill in blanks of the same public sentences, original and sanitized over the same words, with as many
    steps and the seed 0; these are of the default corpora without the data set. Rows have accuracy and what it is
    over the bare model's; success of mask inference and the same; chance, the rates of a constant answer. In its
    `own_space` SanText measures distances of the encoder's input vectors, else of GloVe's.
    """
    if own_space:
        load_plugin("textsan_book.studies.piece_mechanism")
    mechanism = "santext pieces" if own_space else "santext"
    given = {"epsilon": epsilon, "vocabulary": vocabulary, "oov": oov}
    problem = problems.prepare(dataset, n_private, n_shadow, n_positions, seed, mechanism, **given)
    without = problems.leaving_out(dataset).removeprefix("without-")
    models = {"as published": None, "bare": _pretrained(without, steps)}
    models["prepared"] = _pretrained(without, steps, problem.split.embeddings, epsilon, oov, mechanism)
    learnt, filled = {}, {}
    candidates, counts = sorted(problem.knowledge.candidates), problem.knowledge.counts
    for name, model in models.items():
        start = model and model.base_model
        how = {"protocol": "fine-tuned", "n_test": n_test}
        learnt[name] = problem.utility("sentiment", model=start, **how)
        if model:
            attack = MaskInference(MaskedBert(candidates, encoders.ENCODER, model))
            filled[name] = attack.reconstruct(problem.released, problem.positions)
    truths, groups = problem.truth.words, problem.sentences
    commonest = max(attack.model.words, key=lambda word: counts.get(word, 0))
    blind = float(np.equal(commonest, truths).mean())
    rows = []
    for name, outcome in learnt.items():
        row = {"model": name, **columns(outcome.estimate(seed=seed), "utility_"), "chance": outcome.chance}
        row |= columns(task_difference(outcome, learnt["bare"], seed=seed), "over_bare_")
        if name in filled:
            row |= columns(clustered_rate(np.equal(filled[name], truths), groups), "mask_")
            gap = paired_difference(filled[name], filled["bare"], truths, groups)
            row |= columns(gap, "mask_over_bare_") | {"mask_chance": blind}
        rows.append(row | {"vulnerability": problem.vulnerability, "n_test": n_test, "n": len(truths)})
    return rows


@lru_cache(maxsize=2)
def _pretrained(
    without: str,
    steps: int,
    words: Embeddings | None = None,
    epsilon: float = 0.0,
    oov: Oov = "uniform",
    mechanism: str = "santext",
):
    """Load the encoder that has filled in blanks of public text, sanitized if there are words to do so with.

    The cells of several seeds share it: a draw of sentences changes no vocabulary.
    """
    made = make_mechanism(mechanism, words, epsilon=epsilon, oov=oov) if words else None
    model = filling_blanks.masked_model()
    filling_blanks.pretrain(model, adapters.public_sentences(without), made, steps=steps)
    return model
