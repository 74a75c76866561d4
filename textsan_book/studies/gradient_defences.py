"""The effect of a defence of a client's gradient on the exact attack, and on the model that is learnt.

Text is read from one sentence's gradient, the worst case; the model is trained by batches whose gradients go
through the same defence. Sanitized training text stands beside the defences of gradients: what is read of it,
exactly, is the sanitized text, and a guess at each word is made from that.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textsan.attacks import ContextFreeBayes
from textsan.base import checks
from textsan.evaluation import Estimate, clustered_rate, hit_rate
from textsan.gradient_leakage import cases, defences, spans, victims
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.mechanisms.base import Oov
from textsan.models.encoders import load_tokenizer
from textsan.sweeps.splits import load_split
from textsan.text.corpora import Record, load_dataset
from textsan.text.vocabulary import count_words
from textsan_book.studies.experiments import columns, takes_settings
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

RATE = 5e-5
"""Learning rate at one sentence a batch; it grows with the root of the batch, as is usual for Adam."""

_BATCH = 32  # sentences of a step of training


@dataclass(frozen=True)
class Client:
    """A client whose sentences train a model through a defence; the victim is MiniLM with a fresh head.

    The defence is none; noise, pruning or DP-SGD, on gradients; or a key of `SANITIZERS`, on text. Its size is
    relative noise, share pruned, noise multiplier, or epsilon. A sentence that is read has at most `longest`
    words.
    """

    dataset: str
    defence: str
    size: float
    longest: int
    seed: int

    def change(self) -> Callable | None:
        """Make the defence of gradients; None is none."""
        checks.choice("defence", self.defence, ("none", *GRADIENTS))
        return GRADIENTS[self.defence](self.size) if self.defence in GRADIENTS else None

    def short(self, records: Iterable[Record]) -> list[Record]:
        """Select records of at most `longest` words, and at least one."""
        return [record for record in records if 0 < len(record.tokens) <= self.longest]


@takes_settings
def gradient_defences(
    client: Client, *, steps: int, attacked: int, vocabulary: int | str, oov: Oov = "uniform"
) -> list[dict]:
    """Compute the success of the exact attack on a client's words, and the accuracy that its gradients train.

    The first round is attacked, one of so many sentences at a time, by who knows defence and setting. Of several
    cuts of the spectrum the best one counts, which needs the truth and so favours the attacker. A step of training
    has 32 sentences. One row: accuracy on test sentences as they are, with that of the more frequent label; and
    the share of the words of the attacked sentences that is read, both with intervals.
    """
    checks.choice("defence", client.defence, ("none", *GRADIENTS, *SANITIZERS))
    dataset, seed = client.dataset, client.seed
    records, victim = training_records(dataset, seed), victims.load_victim(seed=seed)
    docs, labels = _attacked(records, attacked, client.longest, seed)
    change, mechanism, sent = None, None, docs
    if client.defence in SANITIZERS:
        words = load_split(dataset, 1, 1, seed=seed, vocabulary=vocabulary).embeddings
        given = {"epsilon": client.size, "oov": oov, **SANITIZERS[client.defence]}
        mechanism = make_mechanism(client.defence, words, **given)
        released = mechanism.sanitize([record.tokens for record in records], seed=seed)
        sent = mechanism.sanitize(docs, seed=seed + 1)
        pairs = zip(records, released, strict=True)
        records = [replace(record, text=" ".join(doc)) for record, doc in pairs if doc]
    else:
        change = client.change()
    read = best_reading(victim, sent, labels, change, seed)
    guesses = read if mechanism is None else _originals(mechanism, read)
    right = columns(_read(guesses, docs), "read_") | columns(_read(read, sent), "sent_read_")
    epochs = steps * _BATCH / len(records)
    victims.fine_tune(victim, records, epochs=epochs, batch=_BATCH, seed=seed, change=change)
    return [{"words": sum(map(len, docs))} | _tested(victim, dataset)[0] | right]


@takes_settings
def gradient_learning(client: Client, *, B: int, sentences: int) -> list[dict]:
    """Compute the accuracy of the model that a client's gradients train, each sentence once, in batches of B.

    The first batches are those that `gradient_protocol.gradient_reading` reads, with the same weights; the
    sentences are the same for every B. One row: accuracy on test sentences of any length, that of the more
    frequent label, and of each test sentence whether it is right, eight a byte in hexadecimal digits, so that two
    rows are compared in pairs.
    """
    records, seed = client.short(training_records(client.dataset, client.seed)), client.seed
    victim = victims.load_victim(seed=seed)
    given = {"epochs": sentences / len(records), "batch": B, "learning_rate": RATE * B**0.5, "seed": seed}
    victims.fine_tune(victim, records, change=client.change(), **given)
    row, right = _tested(victim, client.dataset)
    return [{"steps": round(sentences / B), **row, "right": np.packbits(right).tobytes().hex()}]


def _tested(victim, dataset: str) -> tuple[dict, np.ndarray]:
    """Accuracy on the test sentences as columns, with that of the more frequent label; and which are right."""
    tested = [record for record in load_dataset(dataset, split="test") if record.tokens]
    hits, positive = victims.accuracy(victim, tested), sum(victims.labels_of(tested)) / len(tested)
    row = {"test": len(tested), "majority": max(positive, 1 - positive)}
    return row | columns(hit_rate(hits), "accuracy_"), hits


def best_reading(
    victim, docs: Sequence[Sequence[str]], labels: Sequence[list[int]], change: Callable | None, seed: int
) -> list[list[str]]:
    """Read the words of each sentence from its gradient by the exact attack, at the cut that serves it best."""
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
    """Join the pieces read at each word's place: the word itself where all of them are its own.

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
    counts = count_words(record.tokens for name in PUBLIC for record in load_dataset(name))
    attack = ContextFreeBayes(mechanism.channel, counts)
    known = mechanism.channel.output_index
    places = [(d, i) for d, doc in enumerate(read) for i, word in enumerate(doc) if word in known]
    guesses = [list(doc) for doc in read]
    for (d, i), word in zip(places, attack.reconstruct(read, places), strict=True):
        guesses[d][i] = word
    return guesses


def _attacked(records, number: int, longest: int, seed: int) -> tuple[list[list[str]], list[list[int]]]:
    """Words and labels of the sentences that are attacked, one a batch."""
    drawn = cases.batches(records, 1, number, seed=seed, longest=longest)
    return [replace(records[0], text=text).tokens for (text,), _ in drawn], [label for _, label in drawn]


def _read(found: Sequence[Sequence[str]], truth: Sequence[Sequence[str]]) -> Estimate:
    """Success rate of guesses, one a word; the interval is by sentence."""
    groups = [d for d, doc in enumerate(truth) for _ in doc]
    return clustered_rate(np.equal(sum(map(list, found), []), sum(map(list, truth), [])), groups)
