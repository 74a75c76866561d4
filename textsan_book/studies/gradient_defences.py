"""The effect of a defence of a client's gradient on the exact attack, and on the model.

Text is read from one sentence's gradient, the worst case; the model is trained by batches of 32 whose gradients go
through the same defence. Sanitized training text stands beside the defences of gradients: what is read of it,
exactly, is the sanitized text, and a guess at each word is made from that.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from textsan.attacks import ContextFreeBayes
from textsan.base import checks
from textsan.evaluation import Estimate, clustered_rate, hit_rate
from textsan.gradient_leakage import cases, defences, spans, victims
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.mechanisms.base import Oov
from textsan.models.encoders import load_tokenizer
from textsan.sweeps.splits import load_split
from textsan.text.corpora import load_dataset
from textsan.text.vocabulary import count_words
from textsan_book.studies.experiments import columns
from textsan_book.studies.gradients import PUBLIC, training_records

SANITIZERS = {"santext+": {"w": 0.9, "p": 0.3}, "custext+": {"k": 20}}
CLIP = 0.5  # of DP-SGD: the norm that a sentence's gradient is cut to
GRADIENTS: dict[str, Callable] = {
    "noise": defences.noise,
    "pruning": defences.prune,
    "DP-SGD": lambda multiplier: defences.dp_sgd(multiplier, CLIP),
}
CUTS = (1e-6, 1e-3, 0.01, 0.03, 0.1, 0.3)
"""Shares of the largest singular value below which an attacker may take the spectrum for noise."""

_BATCH = 32  # sentences of a step of training


def gradient_defences(
    *,
    dataset: str,
    defence: str,
    size: float,
    steps: int,
    attacked: int,
    longest: int,
    vocabulary: int | str,
    seed: int,
    oov: Oov = "uniform",
) -> list[dict]:
    """Success of the exact attack on a client's words, and accuracy of the model that its gradients train.

    The victim is MiniLM with a fresh head, in the first round. The attacker knows defence and setting. Of several
    cuts of the spectrum the best one counts, which needs the truth and so favours the attacker.

    Args:
        dataset: with labels, a train and a test split.
        defence: none; noise, pruning or DP-SGD, on gradients; santext+ or custext+, on the text.
        size: of the defence: relative noise, share pruned, noise multiplier, or epsilon.
        steps: of training, 32 sentences each.
        attacked: sentences whose gradients are read, one at a time.
        longest: words of those at most.
        vocabulary: words of the mechanism, as `textsan.sweeps.splits.load_split` takes them.
        seed: of everything.
        oov: what becomes of words without a row in the sanitized text.

    Returns:
        one row: accuracy on test sentences as they are, with that of the more frequent label; and the share of the
        words of the attacked sentences that is read, both with intervals.
    """
    checks.choice("defence", defence, ("none", *GRADIENTS, *SANITIZERS))
    records, victim = training_records(dataset, seed), victims.load_victim(seed=seed)
    docs, labels = _attacked(records, attacked, longest, seed)
    change, mechanism = GRADIENTS[defence](size) if defence in GRADIENTS else None, None
    sent = docs
    if defence in SANITIZERS:
        words = load_split(dataset, 1, 1, seed=seed, vocabulary=vocabulary).embeddings
        mechanism = make_mechanism(defence, words, epsilon=size, oov=oov, **SANITIZERS[defence])
        released = mechanism.sanitize([record.tokens for record in records], seed=seed)
        sent = mechanism.sanitize(docs, seed=seed + 1)
        records = [
            replace(record, text=" ".join(doc)) for record, doc in zip(records, released, strict=True) if doc
        ]
    read = best_reading(victim, sent, labels, change, seed)
    guesses = read if mechanism is None else _originals(mechanism, read)
    right = {
        name: _read(guessed, truth)
        for name, guessed, truth in (("read", guesses, docs), ("sent_read", read, sent))
    }
    epochs = steps * _BATCH / len(records)
    victims.fine_tune(victim, records, epochs=epochs, batch=_BATCH, seed=seed, change=change)
    tested = [record for record in load_dataset(dataset, split="test") if record.tokens]
    hits, positive = victims.accuracy(victim, tested), sum(victims.labels_of(tested)) / len(tested)
    row = {"words": sum(map(len, docs)), "test": len(tested), "majority": max(positive, 1 - positive)}
    row |= columns(hit_rate(hits), "accuracy_")
    for name, rate in right.items():
        row |= columns(rate, f"{name}_")
    return [row]


def best_reading(
    victim, docs: Sequence[Sequence[str]], labels: Sequence[list[int]], change: Callable | None, seed: int
) -> list[list[str]]:
    """The words that the exact attack reads from the gradient of each sentence, at the cut that serves it best.

    Args:
        victim: with its weights.
        docs: words of the sentences.
        labels: of each, a list of one.
        change: a defence of `textsan.gradient_leakage.defences`; None is none.
        seed: of the defence.
    """
    readings = {cut: [] for cut in (CUTS[:1] if change is None else CUTS)}
    for number, (doc, label) in enumerate(zip(docs, labels, strict=True)):
        shared = cases.make_case(victim, [" ".join(doc)], label, defence=change, seed=seed + number).shared
        matrix, places = spans.stacked(shared), max(shared.lengths)
        for cut in readings:
            pieces = spans.residuals(victim, spans.span(matrix, cut), places).argmin(0).tolist()[1:-1]
            readings[cut].append(_words(victim.name, doc, pieces))
    truth = [word for doc in docs for word in doc]
    hits = {cut: sum(a == b for a, b in zip(sum(read, []), truth, strict=True)) for cut, read in readings.items()}
    return readings[max(readings, key=hits.get)]


def _words(encoder: str, doc: Sequence[str], pieces: list[int]) -> list[str]:
    """The pieces read at each word's place, as a word: the word itself where all of them are its own.

    Where a piece is wrong the word is wrong, whatever it is; its place in the sentence is known from the length
    only for the score.
    """
    tokenizer, words, at = load_tokenizer(encoder), [], 0
    for word in doc:
        own = tokenizer.encode(word, add_special_tokens=False).ids
        mine, at = pieces[at : at + len(own)], at + len(own)
        words.append(word if mine == own else tokenizer.decode(mine))
    return words


def _originals(mechanism: Mechanism, read: Sequence[Sequence[str]]) -> list[list[str]]:
    """The likeliest original of each word that was read, by the channel and the words of public text."""
    attack = ContextFreeBayes(mechanism.channel, _public_counts())
    known = mechanism.channel.output_index
    places = [(d, i) for d, doc in enumerate(read) for i, word in enumerate(doc) if word in known]
    guesses = [list(doc) for doc in read]
    for (d, i), word in zip(places, attack.reconstruct(read, places), strict=True):
        guesses[d][i] = word
    return guesses


def _public_counts() -> Counter:
    return count_words(record.tokens for name in PUBLIC for record in load_dataset(name))


def _attacked(records, number: int, longest: int, seed: int) -> tuple[list[list[str]], list[list[int]]]:
    """Words and labels of the sentences that are attacked, one a batch."""
    drawn = cases.batches(records, 1, number, seed=seed, longest=longest)
    return [replace(records[0], text=text).tokens for (text,), _ in drawn], [label for _, label in drawn]


def _read(found: Sequence[Sequence[str]], truth: Sequence[Sequence[str]]) -> Estimate:
    """Success rate of guesses, one a word; the interval is by sentence."""
    groups = [d for d, doc in enumerate(truth) for _ in doc]
    return clustered_rate(np.equal(sum(map(list, found), []), sum(map(list, truth), [])), groups)
