"""One problem of an experiment: a sanitized private text, what an attacker knows of it, and the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textsan.attacks import ATTACKS, Attack, Knowledge, Truth
from textsan.attacks.gate import Gate, flat
from textsan.evaluation import sensitive_positions, words_at
from textsan.leakage import bayes_vulnerability
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.sweeps.splits import PUBLIC, Split, load_split
from textsan.text.corpora import load_dataset
from textsan.text.loading import GLOVE
from textsan.text.names import find_names
from textsan.text.vocabulary import count_words
from textsan.utility import TASKS, Outcome

TESTED_ON = "dev"
"""The split on whose records a task is tested: that of GLUE which has labels."""

TESTS = 3000
"""Pairs on which a detector is tested."""

CORPORA = ("rt", "nyt", "amazon", "tweets")
"""The default corpora: for each there is an adapter of a reader that was trained on the others."""

_TESTED = 20_000  # documents that they are drawn from, the same text sanitized again and again
_TESTS_FIRST = 1 << 40  # the number of the first of them: draws that neither the owner nor the attacker has made


@dataclass(frozen=True)
class Problem:
    """A sanitized private text to attack.

    Attributes:
        split: private and shadow documents, and the vocabulary.
        mechanism: what sanitized the private ones.
        knowledge: what the attacker is granted: the channel, the shadow documents, the mechanism to try on them,
            and, as in Tong et al. 2024, which words can stand at attacked positions; None where nobody attacks.
        truth: what was sanitized, for bounds and scores alone.
        dataset: name of the private text's data set, whose other splits a task is tested on.
        seed: of what the owner draws.
    """

    split: Split
    mechanism: Mechanism
    knowledge: Knowledge | None
    truth: Truth
    dataset: str = ""
    seed: int = 0

    @property
    def released(self) -> Sequence[Sequence[str]]:
        """The private documents, sanitized."""
        return self.truth.released

    @property
    def positions(self) -> Sequence[tuple[int, int]]:
        """The positions under attack."""
        return self.truth.positions

    @property
    def sentences(self) -> list[int]:
        """The number of each attacked position's source, `Split.sources`: the groups of intervals."""
        sources = self.split.sources or range(len(self.split.private))
        return [sources[document] for document, _ in self.positions]

    @property
    def overlap(self) -> float:
        """The share of attacked words that stand between the same two neighbours in the shadow text.

        What an attacker who only remembers could know, were nothing sanitized. The ends of a document count as
        neighbours.
        """
        known = {place for doc in self.split.shadow for place in _places(doc)}
        places = [_places(doc) for doc in self.split.private]
        return float(np.mean([places[document][index] in known for document, index in self.positions]))

    @property
    def coverage(self) -> float:
        """The share of the private tokens that should be protected and are in the vocabulary: `Split.coverage`."""
        return self.split.coverage(self.mechanism)

    def attack(self, name: str, **settings) -> Attack:
        """Make an attack of the registry against this problem, or a bound, which alone is shown the truth."""
        shown = [self.truth] if ATTACKS[name].is_bound else []
        return ATTACKS[name].load()(self.knowledge, *shown, **settings)

    def utility(self, name: str, *, model=None, **settings) -> Outcome:
        """Measure how well a task is learnt from the private text as it was released.

        The owner learns from the sanitized private sentences and is tested on other ones of the data set,
        sanitized alike; so an attack and a task speak of the same released text.
        """
        task, tests = TASKS[name].load()(**settings), load_dataset(self.dataset, TESTED_ON)
        return task.learn(self.split.records, tests, self.mechanism, seed=self.seed, model=model)

    @property
    def vulnerability(self) -> float | None:
        """V(X | Y) under the true frequencies of all attacked words, exact; None where there is no formula."""
        if isinstance(self.mechanism, NoiseMechanism):
            return None
        channel = self.mechanism.channel
        return bayes_vulnerability(self.truth.prior(channel.inputs), channel)

    def guesses(self, attack: Attack | str, **settings) -> list[str]:
        """Return a guess for each attacked position."""
        if isinstance(attack, str):
            attack = self.attack(attack, **settings)
        return self._counted(attack, attack.reconstruct(self.released, self.positions))

    def answers(self, attack: Attack) -> tuple[list[str], np.ndarray | None]:
        """Return a guess for each attacked position, and its probability, if the attack has a posterior."""
        try:
            found = attack.posteriors(self.released, self.positions, 1)
        except NotImplementedError:
            return self.guesses(attack), None
        sure = np.ones(len(found))  # what was released, where there is no candidate
        if found.numbers.shape[1]:
            sure = np.where(found.numbers[:, 0] >= 0, np.exp(found.log_probabilities[:, 0]), 1.0)
        return self._counted(attack, found.mode()), sure

    def _counted(self, attack: Attack, guesses: list[str]) -> list[str]:
        if len(guesses) != len(self.positions):
            what = f"{type(attack).__name__} gives {len(guesses)} guesses for {len(self.positions)} positions"
            raise ValueError(f"attack: {what}; give one a position, in their order")
        return guesses

    def run(
        self, name: str, *, told: bool = True, tests: int | None = None, checkpoint: Path | None = None, **settings
    ) -> "Run":
        """Make an attack, let it guess, and gather what else is known of it.

        Of an attack with a detector that is whether the detector has learnt context (`gate`), and its accuracy
        before and after training.

        Args:
            told: whether the attacker knows which positions are attacked. Who knows it takes a kept word that was
                released there for a replaced one; who does not takes most of them for themselves.
            tests: pairs on which a detector is tested; None is `TESTS`.
            checkpoint: a file that keeps the state of a training which takes long.
        """
        assert self.knowledge is not None
        granted = replace(self.knowledge, resources={**self.knowledge.resources, "checkpoint": checkpoint})
        asked = replace(self, knowledge=granted if told else replace(granted, attacked=None))
        attack = asked.attack(name, **settings)
        guesses, probabilities = self.answers(attack)
        details: dict[str, Any] = dict(attack.details)
        if hasattr(attack, "gate"):
            untrained, is_bound = (
                asked.attack(name, **settings | {"copies": 1, "epochs": 0.0}),
                ATTACKS[name].is_bound,
            )
            before, after = (self._gate(detector, is_bound, tests or TESTS) for detector in (untrained, attack))
            details |= after.columns()
            details |= flat({"accuracy_before": before.accuracy, "accuracy_after": after.accuracy})
        elif tests:
            raise ValueError(f"tests: {name!r} has no detector that could be tested")
        return Run(guesses, probabilities, details, tuple(attack.models))

    def _gate(self, attack, is_bound: bool, tests: int) -> Gate:
        """Test a detector on text that is nobody's; that of a bound on the private text, sanitized once more."""
        docs = self.truth.docs if is_bound else self.split.held_out
        if not docs:
            raise ValueError("n_shadow: no text is left to test a detector on; ask for fewer sentences")
        assert self.knowledge is not None
        further = replace(self.knowledge, prior=None, shadow=docs, first=_TESTS_FIRST)
        made = further.sanitized(max(1, _TESTED // len(docs)))
        return attack.gate(*made, targets=self.knowledge.targets, pairs=tests, seed=self.knowledge.seed)


def _places(doc: list[str]) -> list[tuple[str | None, ...]]:
    """Each word of a document between its neighbours."""
    return list(zip([None, *doc], doc, [*doc[1:], None], strict=False))


class Run(NamedTuple):
    """The guesses of an attack.

    Attributes:
        guesses: a word a position.
        probabilities: what the attack's posterior gives each guess; None where it has no posterior.
        details: further columns of the results: `encoded`, the sentences or pairs that went through an encoder,
            training included, and what else is known of the run.
        models: names of the models that the attack read.
    """

    guesses: list[str]
    probabilities: np.ndarray | None
    details: dict[str, float]
    models: tuple[str, ...]


_split = lru_cache(maxsize=2)(load_split)  # a worker meets the same few splits again and again


def leaving_out(dataset: str) -> str:
    """Return the name of the adapter that was trained on no text of a data set.

    SST-2 and Rotten Tomatoes are the sentences of `rt`; of the others all adapters are free, and get that one too.

    >>> leaving_out("amazon"), leaving_out("sst2")
    ('without-amazon', 'without-rt')
    """
    return f"without-{dataset if dataset in CORPORA else 'rt'}"


TARGETS = ("protected", "gamma", "census", "presidio")
"""Attacked positions: every protected word; those that were released as a word of Gamma; or the personal names
among them that one of the finders finds."""

GAMMA = 1000
"""Released words under attack in Tong et al. 2024 (their Gamma, Step 1): so many of all that were released."""


def prepare(
    dataset: str,
    n_private: int,
    n_shadow: int,
    n_positions: int | None,
    seed: int,
    mechanism: str,
    *,
    shadow_dataset: str | None = None,
    targets: str = "protected",
    vocabulary: int | str = PUBLIC,
    split_by: str = "source",
    drawn_from: str = "train",
    embeddings: str = GLOVE,
    attacked: bool = True,
    **given,
) -> Problem:
    """Prepare the problem that all attacks of a family share; sentences, positions and draws follow from the seed.

    Under attack are the positions whose original word is in the vocabulary and protected by the mechanism: no kept
    word, of SanText+ only the sensitive ones; or the personal names among them. They do not depend on epsilon,
    unless Gamma is attacked, which is drawn from the released words, each as likely as another.
    Which words are sensitive is public: it follows from text that nobody protects, the shadow text.

    Args:
        n_positions: how many positions are attacked, drawn at random; None is all of them.
        shadow_dataset: data set that the shadow sentences are of; None is the same one.
        targets: one of `TARGETS`.
        vocabulary, split_by, drawn_from, embeddings: as of `load_split`.
        attacked: whether anybody attacks. Where nobody does the channel is not made, which of a mechanism that
            adds noise to vectors takes an hour for 20,000 words; tasks do without.
    """
    drawn = {"vocabulary": vocabulary, "split_by": split_by, "drawn_from": drawn_from, "embeddings": embeddings}
    split = _split(dataset, n_private, n_shadow, seed=seed, shadow_dataset=shadow_dataset, **drawn)
    made = make_mechanism(mechanism, split.embeddings, counts=count_words(split.shadow), **given)
    released = made.sanitize(split.private, seed=seed)
    positions = population = sensitive_positions(split.private, made.protected)
    gamma = None
    if targets == "gamma":
        words = sorted(set(words_at(released, positions)))
        gamma = frozenset(np.random.default_rng(seed).permutation(words)[:GAMMA].tolist())
        positions = [(d, i) for d, i in positions if released[d][i] in gamma]
    elif targets != "protected":
        found = set(find_names(split.records, targets))
        positions = population = [position for position in positions if position in found]
    if n_positions is not None:
        if n_positions > len(positions):
            what = f"{n_positions} of {len(positions)}"
            raise ValueError(f"n_positions: {what}; ask for fewer, or for more sentences")
        chosen = np.random.default_rng(seed).choice(len(positions), n_positions, replace=False)
        positions = [positions[i] for i in sorted(chosen)]
    granted = {
        "shadow": split.shadow,
        "attacked": made.protected,
        "targets": gamma,
        "seed": seed,
        "first": len(split.private),  # draws of their own, under the same seed
        "resources": {"adapter": leaving_out(dataset), "embeddings": split.embeddings},
    }
    knowledge = Knowledge.of(made, **granted) if attacked else None
    return Problem(split, made, knowledge, Truth(split.private, released, positions, population), dataset, seed)
