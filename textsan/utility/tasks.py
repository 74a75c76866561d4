"""Tasks: how labels and texts are read from a data set's records, and how the task is learnt and scored.

Both papers train and test on text that the same mechanism has sanitized, with the labels of the raw text (Yue et
al. 2021, section 5.1; Chen et al. 2023, section 5.1). So does `Task.learn`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from textsan.base import checks
from textsan.mechanisms import Mechanism
from textsan.models.encoders import ENCODER
from textsan.text.corpora import Record, source_numbers
from textsan.text.vocabulary import tokenize_v1
from textsan.utility import fine_tuning, frozen
from textsan.utility.examples import Examples, Pieces, Words
from textsan.utility.scores import Outcome

VALIDATION = 0.2
"""The share of the sources of what is learnt from that chooses, and is not learnt from."""

_TESTED = 1 << 42  # number of the first test document: draws that nobody else makes


@dataclass(frozen=True)
class Task:
    """A task, and the way in which it is learnt.

    Args:
        protocol: "frozen", a logistic or ridge head on an encoder's vectors; or "fine-tuned", the whole encoder.
        text: "released", sanitized; or "original", which says what sanitizing costs.
        words: how an encoder is given words, see `Pieces`.
        n_test: test examples at most; always the same ones of their split, whatever the seed.
        encoder: a registered encoder; the papers have bert-base-uncased.
        epochs, batch, learning_rate: of the fine-tuned protocol. The papers have 3, 64 and 2e-5.
    """

    protocol: Literal["frozen", "fine-tuned"] = "frozen"
    text: Literal["released", "original"] = "released"
    words: Words = "text"
    n_test: int = 1000
    encoder: str = ENCODER
    epochs: int = 3
    batch: int = 32
    learning_rate: float = 1e-4

    metric: ClassVar[str] = "accuracy"

    def examples(self, records: Sequence[Record], seed: int) -> Examples:
        """Texts and labels of some records."""
        raise NotImplementedError

    def learn(
        self, records: Sequence[Record], tests: Sequence[Record], mechanism: Mechanism, *, seed: int, model=None
    ) -> Outcome:
        """Learn from sanitized records, and be tested on others, sanitized alike.

        A part of the records, `VALIDATION` of their sources, chooses among models; the test records choose
        nothing. Of a task with one text, the released form of the records is the very one that attacks see under
        this seed.

        Args:
            model: an encoder, for the frozen protocol; or what starts the fine-tuned one. None is as published.
        """
        known = self.examples(records, seed)
        drawn = np.random.default_rng(0).permutation(len(tests))[: checks.whole("n_test", self.n_test, low=1)]
        asked = self.examples([tests[i] for i in sorted(drawn)], seed)
        if self.text == "released":
            known, asked = known.sanitized(mechanism, seed), asked.sanitized(mechanism, seed, first=_TESTED)
        train, validation = known.split(VALIDATION, seed)
        pieces = Pieces(self.encoder, self.words)
        if self.protocol == "frozen":
            return frozen.learn(train, validation, asked, self.metric, pieces=pieces, model=model)
        given: dict[str, Any] = {"epochs": self.epochs, "batch": self.batch, "learning_rate": self.learning_rate}
        given |= {"pieces": pieces, "model": model, "seed": seed}
        return fine_tuning.learn(train, validation, asked, self.metric, **given)


class Sentiment(Task):
    """Is the text positive? Accuracy. Labels are 1 and 0 (SST-2), or scores whose sign counts (rt).

    >>> Sentiment().examples([Record("good", 2.5), Record("bad", -1.0)], seed=0).labels
    array([1., 0.])
    """

    def examples(self, records, seed):
        """The texts, and whether each label is above 0."""
        return Examples(_tokens(records), None, (_labels(records) > 0).astype(float), _sources(records))


class Acceptability(Task):
    """Is the sentence grammatical (CoLA)? Matthews' coefficient, as GLUE scores it."""

    metric = "Matthews"

    def examples(self, records, seed):
        """The texts and their labels, 1 for acceptable."""
        return Examples(_tokens(records), None, _labels(records), _sources(records))


class Similarity(Task):
    """Score how alike two sentences are, from 0 to 5 (STS-B, in place of MedSTS). Pearson's r."""

    metric = "Pearson r"

    def examples(self, records, seed):
        """Both sentences, and their score as a share of 5."""
        return Examples(*_pairs(records), _labels(records) / 5, _sources(records))


class Inference(Task):
    """Does the sentence answer the question (QNLI)? Accuracy."""

    def examples(self, records, seed):
        """Question and sentence; 1 where it does not follow, as GLUE numbers them."""
        return Examples(*_pairs(records), _labels(records), _sources(records))


class Overlap(Task):
    """Score how much of a sentence another text shares, from 0 to 1. Pearson's r; in place of similarity.

    Made from single sentences where no pairs are at hand: the second text begins with a share of the first one's
    words and goes on with those of another sentence.

    >>> Overlap().examples([Record("a b c d"), Record("e f g h")], seed=0).second
    [['a', 'b', 'g', 'h'], ['e', 'f', 'g', 'h']]
    """

    metric = "Pearson r"

    def examples(self, records, seed):
        """Each sentence, a mixture of it with another one, and the share of it in the mixture."""
        generator, docs = np.random.default_rng([seed, 1]), _tokens(records)
        others = _others(len(docs), generator)
        shares = np.empty(len(docs))
        second = []
        for i, (doc, other) in enumerate(zip(docs, others, strict=True)):
            kept = int(generator.integers(0, len(doc) + 1))
            second.append(doc[:kept] + docs[other][kept:])
            shares[i] = kept / max(1, len(second[-1]))
        return Examples(docs, second, shares, _sources(records))


class Continuation(Task):
    """Are two texts the halves of one sentence? Accuracy; in place of inference.

    Made from single sentences where no pairs are at hand: the other half of the pairs has the end of another
    sentence.

    >>> Continuation().examples([Record("a b"), Record("c d")], seed=0).first
    [['a'], ['c']]
    """

    def examples(self, records, seed):
        """First halves, second halves of the same or of another sentence, and which is which."""
        generator, docs = np.random.default_rng([seed, 2]), _tokens(records)
        others, own = _others(len(docs), generator), generator.random(len(docs)) < 0.5
        ends = [docs[i if mine else other] for i, (mine, other) in enumerate(zip(own, others, strict=True))]
        first = [doc[: len(doc) // 2] for doc in docs]
        return Examples(first, [end[len(end) // 2 :] for end in ends], own.astype(float), _sources(records))


def _tokens(records) -> list[list[str]]:
    return [list(record.tokens) for record in records]


def _sources(records) -> np.ndarray:
    return np.array(source_numbers(records))


def _labels(records) -> np.ndarray:
    for record in records:
        if not isinstance(record.label, int | float):
            raise ValueError(f"records: label {record.label!r} is no number; pass a data set that has the task's")
    return np.array([record.label for record in records], dtype=float)


def _pairs(records) -> tuple[list[list[str]], list[list[str]]]:
    for record in records:
        if not {"sentence1", "sentence2"} <= {*record.fields}:
            raise ValueError("records: they are no pairs; pass a data set with sentence1 and sentence2")
    first, second = ([tokenize_v1(record.fields[f"sentence{n}"]) for record in records] for n in (1, 2))
    return first, second


def _others(n: int, generator: np.random.Generator) -> np.ndarray:
    """For each of n things another one."""
    if n < 2:
        raise ValueError("records: one makes no pair; pass at least two")
    return (np.arange(n) + generator.integers(1, n, size=n)) % n
