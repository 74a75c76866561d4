"""Make attacks on a release, in parts that can be kept: what each attack hits, position by position.

A part is an attack, given the scored positions or not, on some documents. The finished parts of an audit that was
killed lie in a folder beside its report until the same audit goes on there: hits, and no word.
"""

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textsan.attacks import ATTACKS, Attack, Knowledge
from textsan.attacks.markov import MarkovBayes
from textsan.auditing.material import Material
from textsan.base import cluster, orphans
from textsan.base.cache import write_whole
from textsan.base.plugins import PluginImports
from textsan.channel import Channel
from textsan.priors import InterpolatedModel, MarkovModel, fit_bigrams
from textsan.version import __version__

WHOLE = ("unchanged", "context-free", "unseen mass", "public ranks")
"""Attacks that cost a table for each released word: they are made on all documents."""

MARKOV = "markov"
"""The attack that reads sentences; on all documents where few words can become a released one."""

DEFAULT = (*WHOLE, MARKOV, "memory")
"""Attacks that are always made."""

SAMPLE = 500
"""Documents that all other attacks are made on, unless another number is asked for."""

_FEW = 1_024  # words that can become a released one, where the Markov attack takes all of them
_K = 10  # that it takes where they are more
_FITTED = 250  # documents of the attacker's on which its weight is chosen
_PART, _SMALL_PART = 2_000, 100  # documents of a part: of the Markov attack on all, and of those on a sample


class Attacker(NamedTuple):
    """An attack by name, and what it is granted: the scored positions where it is told, and whose text it owns."""

    name: str
    told: bool
    owns: str = ""

    @property
    def label(self) -> str:
        """The name of the attack in reports."""
        return ATTACKS[self.name].label


class Hits(NamedTuple):
    """The hits of an attack: numbers of the attacked positions, and whether each guess is the word."""

    positions: np.ndarray
    hits: np.ndarray

    def at(self, flags: np.ndarray) -> "Hits":
        """Return those with a flag of (n,)."""
        return Hits(self.positions[flags], self.hits[flags])

    def on(self, positions: np.ndarray) -> "Hits":
        """Return those at some positions."""
        return self.at(np.isin(self.positions, positions))

    def documents(self, material: Material) -> int:
        """Return the number of documents that they are in."""
        return len(np.unique(material.documents[self.positions]))


def check_attacks(names: Sequence[str]) -> list[str]:
    """Return the attacks that are always made, then further ones of the registry; a bound is refused."""
    for name in names:
        if ATTACKS[name].is_bound:
            raise ValueError(f"attacks: {name!r} is a bound, which is shown the text; pass an attack")
    return list(dict.fromkeys([*DEFAULT, *names]))


@dataclass(frozen=True)
class Workers:
    """Make parts in processes of this machine, or by the workers of a dask scheduler at an address."""

    workers: int = 1
    scheduler: str | None = None

    def map(self, work: Callable[..., np.ndarray], jobs: Iterable[tuple]) -> Iterator[np.ndarray]:
        """Return the result of each job, in their order."""
        if self.scheduler is None:
            from joblib import Parallel, delayed

            parent = os.getpid()
            calls = (delayed(_attended)(PluginImports(), parent, work, *job) for job in jobs)
            yield from Parallel(n_jobs=self.workers, return_as="generator")(calls)
            return
        with cluster.connect(self.scheduler) as client:
            if not client.nthreads():
                raise ConnectionError("scheduler: it has no workers; start some")
            submit = partial(client.submit, _attended, PluginImports(), None, work, pure=False)
            for future in [submit(*job) for job in jobs]:
                cluster.finished(client, [future])
                yield future.result()


def _attended(_: PluginImports, parent: int | None, work: Callable[..., np.ndarray], *job) -> np.ndarray:
    if parent is not None:
        orphans.end_with(parent)
    return work(*job)


def hits(
    attackers: Mapping[str, Material],
    names: Sequence[str],
    *,
    sample: int = SAMPLE,
    workers: Workers | None = None,
    folder: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[dict[Attacker, Hits], dict[str, str], dict[str, "Attacks"]]:
    """Make each attack, given the scored positions and not, for each owner of text.

    Words that came through unchanged are the same for all owners. Attacks that are not made on all documents are
    made on `sample` of them. A folder keeps finished parts, and is made when the first one is; `progress` is
    called with the documents that are done, and those of all parts.

    Returns hits by attack; why an attack that is always made cannot be made here, by name; and the attacks
    themselves, by what the attacker owns.
    """
    attacks = {owns: Attacks(material) for owns, material in attackers.items()}
    plan: list[tuple[Attacker, list[list[int]]]] = []
    for number, (owns, material) in enumerate(attackers.items()):
        for name in names if number == 0 else [name for name in names if name != "unchanged"]:
            parts = _parts(material, name, sample)
            told_or_not = (True,) if name == "unchanged" else (True, False)
            plan += [(Attacker(name, told, owns), parts) for told in told_or_not]
    total, done = sum(len(part) for _, parts in plan for part in parts), 0

    def further(documents: int) -> None:
        progress(done + documents, total)

    results: dict[Attacker, Hits] = {}
    skipped: dict[tuple[str, str], str] = {}
    for attacker, parts in plan:
        if (attacker.owns, attacker.name) not in skipped:
            made = attacks[attacker.owns]
            try:
                results[attacker] = made.hits(attacker, parts, workers or Workers(), folder, further)
            except ValueError as error:
                if attacker.name not in DEFAULT:
                    raise
                skipped[attacker.owns, attacker.name] = str(error)
        done += sum(map(len, parts))
        further(0)
    whose = {"public": ", with public text"}
    return results, {f"{name}{whose.get(owns, '')}": why for (owns, name), why in skipped.items()}, attacks


def _parts(material: Material, name: str, sample: int) -> list[list[int]]:
    """The documents of an attack, in parts."""
    whole = name in WHOLE or (name == MARKOV and few_candidates(material.mechanism.channel))
    documents = np.unique(material.documents).tolist() if whole else material.sampled(sample)
    size = len(documents) if name in WHOLE else _PART if whole else _SMALL_PART
    return [documents[at : at + size] for at in range(0, len(documents), size)]


class Attacks:
    """Attacks on a text, fitted on what their owner is granted."""

    def __init__(self, material: Material):
        self._material = material

    @cached_property
    def _markov(self) -> MarkovBayes:
        given = self._material.knowledge(told=True)
        return markov(given, partial(fit_bigrams, list(given.documents), given.channel.inputs))

    @cached_property
    def digest(self) -> str:
        """A hash of all that the hits of any attack on the text depend on."""
        material, mechanism = self._material, self._material.mechanism
        digest = hashlib.sha256(f"{__version__} {mechanism!r} {material.seed}".encode())
        for docs in (material.docs, material.released, material.shadow):
            digest.update(repr([list(doc) for doc in docs]).encode("utf-8", "surrogatepass"))
        # The mechanism's repr has the number of its words alone.
        words = [*mechanism.inputs, *sorted(mechanism.keep), *sorted(mechanism.protected)]
        digest.update("\n".join(words).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def attack(self, attacker: Attacker) -> Attack:
        """Return an attack; the Markov attack is fitted once, as for who is given the positions."""
        knowledge = self._material.knowledge(told=attacker.told)
        if attacker.name != MARKOV:
            return ATTACKS[attacker.name].load()(knowledge)
        fitted = self._markov
        if attacker.told:
            return fitted
        return MarkovBayes(knowledge.channel, fitted.model, weight=fitted.weight, k=fitted.k)

    def hits(
        self,
        attacker: Attacker,
        parts: Sequence[Sequence[int]],
        workers: Workers,
        folder: Path | None,
        progress: Callable[[int], None],
    ) -> Hits:
        """Make an attack on all of its parts, but for those that the folder keeps."""
        material = self._material
        starts = np.searchsorted(material.documents, np.arange(len(material.docs) + 1))
        places = [np.concatenate([np.arange(starts[d], starts[d + 1]) for d in part]) for part in parts]
        files = [folder and self._file(folder, attacker, part) for part in parts]
        results: list[Any] = [np.load(file) if file and file.exists() else None for file in files]
        if missing := [at for at, result in enumerate(results) if result is None]:
            attack = self.attack(attacker)
            jobs = ((attack, *self._job(parts[at], places[at])) for at in missing)
            for at, result in zip(missing, workers.map(hit, jobs), strict=True):
                if file := files[at]:
                    file.parent.mkdir(mode=0o700, exist_ok=True)
                    content = io.BytesIO()
                    np.save(content, result)
                    write_whole(file, content.getvalue())
                results[at] = result
                progress(sum(len(part) for part, made in zip(parts, results, strict=True) if made is not None))
        return Hits(np.concatenate(places), np.concatenate(results))

    def _job(self, part: Sequence[int], places: np.ndarray) -> tuple[list, list, list]:
        """Documents as they were released, the scored positions in them, and the words there."""
        material, numbers = self._material, {document: number for number, document in enumerate(part)}
        positions = [(numbers[d], i) for d, i in (material.positions[place] for place in places)]
        return [material.released[d] for d in part], positions, [material.truths[place] for place in places]

    def _file(self, folder: Path, attacker: Attacker, part: Sequence[int]) -> Path:
        """The file of a part, named by all that its hits depend on."""
        name = hashlib.sha256(repr((self.digest, attacker, list(part))).encode()).hexdigest()
        return folder / f"{name}.npy"


def hit(attack: Attack, released, positions: Sequence[tuple[int, int]], truths: Sequence[str]) -> np.ndarray:
    """Return whether an attack names each word, (n,), the truths at n positions."""
    guesses = attack.reconstruct(released, positions)
    return np.array([guess == truth for guess, truth in zip(guesses, truths, strict=True)], dtype=bool)


def markov(
    knowledge: Knowledge,
    bigrams: Callable[[bool], MarkovModel | InterpolatedModel],
    setting: tuple[bool, float] | None = None,
) -> MarkovBayes:
    """Return the Markov attack with a model of all the attacker's text.

    `bigrams` gives that model, with a state for every input, given whether the public table is mixed in; it does
    not depend on epsilon. `setting` is whether it is, and the weight of the model; None chooses both on some
    documents of the attacker's.
    """
    channel, k = knowledge.channel, None if few_candidates(knowledge.channel) else _K
    if setting is None:
        first = replace(knowledge, shadow=list(knowledge.documents)[:_FITTED])
        setting = MarkovBayes.against(first, k=k).setting
    public, weight = setting
    return MarkovBayes(channel, bigrams(public), weight=weight, k=k, attacked=knowledge.attacked)


def few_candidates(channel: Channel) -> bool:
    """Return whether few words can become a released one, as where words have groups; 64 outputs are looked at."""
    outputs = np.linspace(0, len(channel.outputs) - 1, 64).astype(np.intp)
    return bool((channel.log_columns(np.unique(outputs)) > -np.inf).sum(axis=1).max() <= _FEW)
