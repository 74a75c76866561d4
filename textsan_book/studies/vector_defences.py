"""Costs and benefits of a defence of vectors: two attacks and one task on the same defended release.

The service defends, the attacker may ask the defended service, the analyst learns from what it releases: each
trains on vectors that went through the defence, with draws of their own.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from textsan.embedding_leakage import defences, pattern
from textsan.embedding_leakage.keyword import KeywordInference, KeywordScore, keyword_score, present
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.evaluation import hit_rate
from textsan.mechanisms import make_mechanism
from textsan.text.corpora import Record, load_dataset, normalised, private_and_shadow
from textsan.text.loading import load_embeddings
from textsan_book.studies import citizen
from textsan_book.studies.experiments import columns, takes_settings
from textsan_book.studies.vectors import VICTIMS, View

SANITIZERS = {"santext+": {"w": 0.999, "p": 0.0}, "custext+": {"k": 20}}
"""Mechanisms on the text before it is embedded, with the attack paper's parameters (Tong et al. 2024)."""

MONTH = (pattern.Segment("month", range(1, 13), lambda number: int(number[10:12]), 25),)


@dataclass(frozen=True)
class Task:
    """The texts that are released, and the attacks on them, with a seed for everything.

    Labelled sentences are in random order, no source in both: `attacked` are released ones, and `own` those of
    attacker and analyst. `pairs` citizen numbers the pattern attack has encoded, `victims` are released; the
    month's network learns `steps` batches.
    """

    keyword: str
    attacked: tuple[Record, ...]
    own: tuple[Record, ...]
    pairs: int
    victims: int
    steps: int
    seed: int

    @classmethod
    def of(cls, dataset: str, keyword: str, n: int, *, pairs: int, victims: int, steps: int, seed: int) -> "Task":
        """Make the task on a corpus with sentiment labels: all sentences with the keyword, and others up to n."""
        records = load_dataset(dataset, split="all")
        if n > len(records):
            raise ValueError(f"n: {n} of {len(records)} sentences of {dataset}; pass fewer")
        holds = present([record.text for record in records], keyword)
        order = np.random.default_rng(seed).permutation(len(records))
        chosen = [records[i] for i in sorted(order, key=lambda i: not holds[i])[:n]]
        half = int(0.48 * n)
        attacked, own = private_and_shadow(chosen, half, half, seed)
        return cls(keyword, tuple(attacked), tuple(own), pairs, victims, steps, seed)

    @cached_property
    def numbers(self) -> list[str]:
        """The citizen numbers behind released vectors."""
        return citizen.generate(self.victims, self.seed + VICTIMS)


def spelled(number: str) -> str:
    """Write a number as words of one character each, so that a sanitizer of words has something to replace.

    >>> spelled("12X")
    '1 2 x'
    """
    return " ".join(number.lower())


def releases(encode: defences.Encode, name: str, strength: float, *, vocabulary: int, seed: int) -> Callable:
    """Make two functions from texts to vectors, the service's and that for others: one defence, other draws.

    The defence is "none", a vector defence of `defences.defended`, or a mechanism of `SANITIZERS`, whose strength
    is epsilon.
    """
    if name not in SANITIZERS:
        apart = 0 if name == "dimensions" else 1  # directions are shared, noise is not
        return tuple(defences.defended(encode, name, strength, seed + i * apart) for i in (0, 1))
    words = load_embeddings().frequent(vocabulary)
    mechanism = make_mechanism(name, words, epsilon=strength, **SANITIZERS[name])

    def release(texts: Sequence[str], first: int) -> np.ndarray:
        return encode(defences.sanitized(texts, mechanism, seed=seed, first=first))

    return partial(release, first=0), partial(release, first=1 << 32)


class Part(NamedTuple):
    """Records with labels, and their vectors (n, d) as a service releases them."""

    records: Sequence[Record]
    vectors: np.ndarray

    @classmethod
    def of(cls, records: Sequence[Record], encode: defences.Encode) -> "Part":
        """Encode the texts of records."""
        return cls(records, encode([record.text for record in records]))

    @property
    def texts(self) -> list[str]:
        """The texts of the records."""
        return [record.text for record in self.records]


def attacked(released: Part, own: Part, keyword: str, head: str, *, seed: int) -> KeywordScore:
    """Score a reader of a keyword who learns on vectors of the same service."""
    knowledge = VectorKnowledge(lambda _: own.vectors, own.texts, seed=seed)
    attack = KeywordInference.against(knowledge, keyword=keyword, head=head)
    return keyword_score(attack.scores(released.vectors), present(released.texts, keyword), seed=seed)


def used(released: Part, own: Part, label: Callable[[Record], object]) -> np.ndarray:
    """Find the released records whose label a linear analyst gets right, (n,) bool: the use that defences cost.

    >>> own = Part([Record("", "no"), Record("", "yes")] * 9, np.array([[0.0], [1.0]] * 9))
    >>> used(Part([Record("", "yes")], np.array([[2.0]])), own, lambda record: record.label).tolist()
    [True]
    """
    from sklearn.linear_model import LogisticRegression

    from textsan.embedding_leakage.heads import Standard

    truth, labels = (np.array(list(map(label, part.records))) for part in (released, own))
    standard = Standard(own.vectors)
    analyst = LogisticRegression(C=0.01, max_iter=1000).fit(standard(own.vectors), labels)
    return analyst.predict(standard(released.vectors)) == truth


def outcome(task: Task, service: defences.Encode, asked: defences.Encode) -> dict:
    """Measure both attacks and the task on one release, a row.

    It has the success of the keyword attack and on the month of birth, the accuracy of a sentiment classifier, and
    two blind ones: the rate of the more frequent sentiment among the released (`majority`), and `month_chance`.
    """
    released, own = Part.of(task.attacked, service), Part.of(task.own, asked)
    score = attacked(released, own, task.keyword, "linear", seed=task.seed)
    positive = np.mean([is_positive(record) for record in task.attacked])
    ask = VectorKnowledge(
        lambda texts: asked([spelled(text) for text in texts]), rule=citizen.generate, seed=task.seed
    )
    dates = pattern.PatternReconstruction.against(ask, segments=MONTH, pairs=task.pairs, steps=task.steps)
    hits = dates.hits(service([spelled(number) for number in task.numbers]), task.numbers)
    row = columns(score.auc) | columns(score.balanced, "balanced_") | columns(hit_rate(hits["month"]), "month_")
    row |= columns(hit_rate(used(released, own, is_positive)), "utility_")
    blind = {"majority": float(max(positive, 1 - positive)), "month_chance": citizen.blind()["month"]}
    return row | blind | {"n": score.n}


def is_positive(record: Record) -> bool:
    """Tell if a sentence is positive: a score above 0, or label 1.

    >>> is_positive(Record("good", 1.5)), is_positive(Record("bad", -0.5))
    (True, False)
    """
    return float(record.label) > 0


@takes_settings
def trade_offs(
    view: View,
    *,
    dataset: str,
    keyword: str,
    n: int,
    pairs: int,
    victims: int,
    steps: int,
    vocabulary: int,
    defence: str,
    strength: float,
    seed: int,
) -> list[dict]:
    """Measure both attacks and the sentiment task of `Task.of` under one defence of `releases`, a row."""
    task = Task.of(dataset, keyword, n, pairs=pairs, victims=victims, steps=steps, seed=seed)
    return [outcome(task, *releases(view.encode, defence, strength, vocabulary=vocabulary, seed=seed))]


# --- another task: the department that a description of a report belongs to -------------------------------------
# Pan et al. 2020 (section V-A) motivate the attack on medical text by a service that sends patients to one of ten
# departments: a linear layer on released vectors. It learns on what a defended service releases, as the attacker.

DEPARTMENTS = (
    "Cardiovascular / Pulmonary",
    "Orthopedic",
    "Gastroenterology",
    "Neurology",
    "Urology",
    "Obstetrics / Gynecology",
    "ENT - Otolaryngology",
    "Ophthalmology",
    "Hematology - Oncology",
    "Nephrology",
)
"""The specialties of the medical reports that are departments (no kind of report is) and have the most texts of
their own; neurosurgery shares most of its texts with neurology and orthopedics."""


def filed(records: list[Record]) -> list[Record]:
    """Select each text once, if it is filed under exactly one of the ten departments."""
    under: dict[str, dict[str, Record]] = {}
    for record in records:
        if record.label in DEPARTMENTS:
            under.setdefault(normalised(record.text), {})[record.label] = record
    return [record for labels in under.values() if len(labels) == 1 for record in labels.values()]


@takes_settings
def departments(
    view: View, *, dataset: str, keywords: str, n: int, vocabulary: int, defence: str, strength: float, seed: int
) -> list[dict]:
    """Measure the accuracy of the department and the keyword attack under one defence, a row a keyword.

    Keywords have blanks between. `n` texts are released, and as many are the attacker's and the analyst's;
    vocabulary, defence and strength are those of `vector_defences.releases`. Rows have area and balanced accuracy
    of the linear attack, accuracy of the department, the share of the most frequent one, and in how many released
    texts the keyword is.
    """
    records = private_and_shadow(filed(load_dataset(dataset, split="all")), n, n, seed)
    sides = releases(view.encode, defence, strength, vocabulary=vocabulary, seed=seed)
    released, own = map(Part.of, records, sides)
    utility = hit_rate(used(released, own, lambda record: record.label))
    majority = Counter(record.label for record in released.records).most_common(1)[0][1] / n
    rows = []
    for keyword in keywords.split():
        score = attacked(released, own, keyword, "linear", seed=seed)
        row = {"keyword": keyword, "positives": score.positives, "majority": majority}
        row |= {**columns(score.auc), **columns(score.balanced, "balanced_"), **columns(utility, "utility_")}
        rows.append(row)
    return rows
