"""Costs and benefits of a defence of vectors: two attacks and one task on the same defended release.

The service defends, the attacker may ask the defended service, the analyst learns from what it releases: each
trains on vectors that went through the defence, with draws of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from textsan.embedding_leakage import defences, pattern
from textsan.embedding_leakage.keyword import KeywordInference, KeywordScore, keyword_score, present
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.evaluation import Estimate, hit_rate
from textsan.mechanisms import make_mechanism
from textsan.text.corpora import Record, load_dataset, private_and_shadow
from textsan.text.loading import load_embeddings
from textsan_book.studies import citizen
from textsan_book.studies.experiments import columns, takes_settings
from textsan_book.studies.vectors import VICTIMS, View

SANITIZERS = {"santext+": {"w": 0.999, "p": 0.0}, "custext+": {"k": 20}}
"""Mechanisms on the text before it is embedded, with the attack paper's parameters (Tong et al. 2024)."""

MONTH = (pattern.Segment("month", range(1, 13), lambda number: int(number[10:12]), 25),)


@dataclass(frozen=True)
class Task:
    """The texts that are released, and the attacks on them.

    Args:
        keyword: that the keyword attack looks for in the sentences.
        attacked, own: labelled sentences, in random order, no source in both: released ones, and those of attacker
            and analyst.
        pairs: citizen numbers that the pattern attack has encoded.
        victims: citizen numbers that are released.
        steps: batches of the month's network.
        seed: of everything.
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
        """The task on a corpus with sentiment labels: all sentences with the keyword, and others up to n.

        Args:
            dataset: name of a data set whose labels are scores or 0 and 1.
            keyword: one word.
            n: sentences in both parts together.
            pairs, victims, steps, seed: the fields.

        Raises:
            ValueError: too few sentences.
        """
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
    """A number as words of one character each, so that a sanitizer of words has something to replace.

    >>> spelled("12X")
    '1 2 x'
    """
    return " ".join(number.lower())


@dataclass(frozen=True)
class Outcome:
    """Disclosure and use of a release.

    Attributes:
        keyword: the keyword attack.
        month: top-1 success on the month of birth.
        utility: accuracy of a sentiment classifier; `majority` is blind.
        majority: the rate of the more frequent sentiment among the released.
    """

    keyword: KeywordScore
    month: Estimate
    utility: Estimate
    majority: float


def releases(encode: defences.Encode, name: str, strength: float, *, vocabulary: int, seed: int) -> Callable:
    """Two functions from texts to vectors, of the service and of whoever asks it: the same defence, other draws.

    Args:
        encode: without a defence.
        name: "none", a vector defence of `defences.defended`, or a mechanism of `SANITIZERS`.
        strength: of the vector defence; epsilon of the mechanism.
        vocabulary: words of the mechanism.
        seed: of draws.
    """
    if name not in SANITIZERS:
        apart = 0 if name == "dimensions" else 1  # directions are shared, noise is not
        return tuple(defences.defended(encode, name, strength, seed + i * apart) for i in (0, 1))
    words = load_embeddings().frequent(vocabulary)
    mechanism = make_mechanism(name, words, epsilon=strength, **SANITIZERS[name])

    def release(texts: Sequence[str], first: int) -> np.ndarray:
        return encode(defences.sanitized(texts, mechanism, seed=seed, first=first))

    return partial(release, first=0), partial(release, first=1 << 32)


def outcome(task: Task, service: defences.Encode, asked: defences.Encode) -> Outcome:
    """Both attacks and the task on one release.

    Args:
        task: what is released.
        service, asked: of `releases`.
    """
    attacked, own = ([record.text for record in part] for part in (task.attacked, task.own))
    released, known = service(attacked), asked(own)
    knowledge = VectorKnowledge(lambda _: known, own, seed=task.seed)  # encoded once for attacker and analyst
    attack = KeywordInference.against(knowledge, keyword=task.keyword)
    score = keyword_score(attack.scores(released), present(attacked, task.keyword), seed=task.seed)

    liked, truth = (np.array([is_positive(record) for record in part]) for part in (task.own, task.attacked))
    utility = hit_rate(analysed(known, liked, released) == truth)

    ask = VectorKnowledge(
        lambda texts: asked([spelled(text) for text in texts]), rule=citizen.generate, seed=task.seed
    )
    dates = pattern.PatternReconstruction.against(ask, segments=MONTH, pairs=task.pairs, steps=task.steps)
    hits = dates.hits(service([spelled(number) for number in task.numbers]), task.numbers)
    return Outcome(score, hit_rate(hits["month"]), utility, float(max(truth.mean(), 1 - truth.mean())))


def analysed(known: np.ndarray, labels: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Classify released vectors by a linear analyst, (n,): the use that defences cost.

    Args:
        known: vectors of the analyst's own, as the service releases them.
        labels: of these.
        released: vectors asked about.

    >>> analysed(np.array([[0.0], [1.0]] * 9), np.array(["no", "yes"] * 9), np.array([[2.0]])).tolist()
    ['yes']
    """
    from sklearn.linear_model import LogisticRegression

    from textsan.embedding_leakage.heads import Standard

    standard = Standard(known)
    analyst = LogisticRegression(C=0.01, max_iter=1000).fit(standard(known), labels)
    return analyst.predict(standard(released))


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
    """Both attacks and the sentiment task under one defence, a row.

    Args:
        view: the vectors.
        dataset, keyword, n, pairs, victims, steps, seed: of `Task.of`.
        vocabulary, defence, strength: of `releases`.
    """
    task = Task.of(dataset, keyword, n, pairs=pairs, victims=victims, steps=steps, seed=seed)
    made = outcome(task, *releases(view.encode, defence, strength, vocabulary=vocabulary, seed=seed))
    row = {**columns(made.keyword.auc), **columns(made.keyword.balanced, "balanced_")}
    row |= {**columns(made.month, "month_"), **columns(made.utility, "utility_")}
    return [row | {"majority": made.majority, "month_chance": citizen.blind()["month"], "n": made.keyword.n}]
