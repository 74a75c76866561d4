"""Models learnt from defended gradients of batches of one size: the other half of `gradient_protocol`."""

from collections.abc import Callable

import numpy as np
import torch

from textsan.base import checks
from textsan.evaluation import hit_rate
from textsan.gradient_leakage import victims
from textsan.text.corpora import load_dataset
from textsan_book.studies.experiments import columns
from textsan_book.studies.gradient_defences import GRADIENTS
from textsan_book.studies.gradients import training_records

RATE = 5e-5
"""Learning rate at one sentence a batch; it grows with the root of the batch, as is usual for Adam."""


def gradient_learning(
    *, dataset: str, defence: str, size: float, B: int, sentences: int, longest: int, seed: int
) -> list[dict]:
    """Accuracy of the model that a client's gradients train, each sentence once, in batches of one size.

    The first batches are those that `gradient_protocol.gradient_reading` reads, with the same weights.

    Args:
        dataset, defence, size, B, longest, seed: as of `gradient_protocol.gradient_reading`.
        sentences: that are trained on; the same ones for every B.

    Returns:
        one row: accuracy on test sentences of any length, that of the more frequent label, and of each test
        sentence whether it is right, eight a byte in hexadecimal digits, so that two rows are compared in pairs.
    """
    victim, records = victims.load_victim(seed=seed), short(training_records(dataset, seed), longest)
    change = pruned(size) if defence == "pruning" else change_of(defence, size)
    given = {"epochs": sentences / len(records), "batch": B, "learning_rate": RATE * B**0.5, "seed": seed}
    victims.fine_tune(victim, records, change=change, **given)
    tested = [record for record in load_dataset(dataset, split="test") if record.tokens]
    positive = sum(victims.labels_of(tested)) / len(tested)
    row = {"steps": round(sentences / B), "test": len(tested), "majority": max(positive, 1 - positive)}
    right = victims.accuracy(victim, tested)
    return [row | columns(hit_rate(right), "accuracy_") | {"right": np.packbits(right).tobytes().hex()}]


def change_of(defence: str, size: float) -> Callable | None:
    """A defence by name, as of `gradient_defences`; None is none."""
    checks.choice("defence", defence, ("none", *GRADIENTS))
    return GRADIENTS[defence](size) if defence in GRADIENTS else None


def pruned(share: float) -> Callable:
    """`defences.prune` by selection in place of sorting, for training: the same entries, several times as fast.

    Args:
        share: of the entries, from 0 to below 1.
    """

    def change(gradient, victim, ids, mask, labels, seed: int):
        kept = {}
        for name, entries in gradient.items():
            sizes, dropped = entries.abs(), int(share * entries.numel())
            least = sizes.flatten().kthvalue(dropped).values if dropped else -1.0
            kept[name] = torch.where(sizes > least, entries, torch.zeros_like(entries))
        return kept

    return change


def short(records, longest: int) -> list:
    """Records of at most so many words, and at least one."""
    return [record for record in records if 0 < len(record.tokens) <= longest]
