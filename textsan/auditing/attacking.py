"""Attacks on a release, in parts that can be kept: what each attack hits, position by position.

A part is an attack, told or not told where the scored words are, on some documents. What is done of an audit that
was killed lies in a folder beside its report until the same audit goes on there: hits, and no word.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textsan.attacks import ATTACKS, Attack, Knowledge
from textsan.attacks.markov import MarkovBayes
from textsan.auditing.material import Material
from textsan.base import cluster
from textsan.base.plugins import Needed
from textsan.channel import Channel
from textsan.priors import MarkovModel
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


class Asked(NamedTuple):
    """An attack as it is asked for: its name, and whether it is told which positions are scored."""

    name: str
    told: bool


class Hits(NamedTuple):
    """What an attack hit.

    Attributes:
        positions: (n,) numbers of the scored positions that were attacked.
        hits: (n,) whether each guess is the word.
    """

    positions: np.ndarray
    hits: np.ndarray


def check_attacks(names: Sequence[str]) -> list[str]:
    """The attacks that are always made, then further ones of the registry, each once.

    Args:
        names: of the further ones.

    Raises:
        KeyError: an unknown one.
        ValueError: a bound.
    """
    for name in names:
        if ATTACKS[name].is_bound:
            raise ValueError(f"attacks: {name!r} is a bound, which is shown the text; pass an attack")
    return list(dict.fromkeys([*DEFAULT, *names]))


@dataclass(frozen=True)
class Means:
    """What makes the parts of an attack.

    Args:
        workers: processes of this machine.
        scheduler: address of a dask scheduler, whose workers are used instead.
    """

    workers: int = 1
    scheduler: str | None = None

    def done(self, work: Callable[..., np.ndarray], jobs: Iterable[tuple]) -> Iterator[np.ndarray]:
        """What some work makes of each job, in their order."""
        if self.scheduler is None:
            from joblib import Parallel, delayed

            yield from Parallel(n_jobs=self.workers, return_as="generator")(delayed(work)(*job) for job in jobs)
            return
        with cluster.connect(self.scheduler) as client:
            if not client.nthreads():
                raise ConnectionError("scheduler: it has no workers; start some")
            for future in [client.submit(work, *job, pure=False) for job in jobs]:
                cluster.finished(client, [future])
                yield future.result()


class Kept:
    """Parts that are done, in a folder, or in none.

    Args:
        folder: it is made when the first part is kept; None keeps nothing.
        material: what is attacked, so that another audit does not go on there.
    """

    def __init__(self, folder: Path | None, material: Material):
        self.folder, self._key = folder, _digest(material) if folder else ""

    def path(self, asked: Asked, some: Sequence[int]) -> Path | None:
        """Where a part is kept."""
        name = hashlib.sha256(repr((self._key, asked, list(some))).encode()).hexdigest()
        return self.folder and self.folder / f"{name}.npy"

    def get(self, path: Path | None) -> np.ndarray | None:
        """The hits of a part, if they are there."""
        return np.load(path, allow_pickle=False) if path and path.exists() else None

    def put(self, path: Path | None, hits: np.ndarray) -> None:
        """Keeps the hits of a part, under their name when they are whole."""
        if path:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                np.save(file, hits)
            os.replace(part, path)

    def clear(self) -> None:
        """Removes the folder, when the report is written."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def hits(
    material: Material,
    names: Sequence[str],
    *,
    sample: int = SAMPLE,
    means: "Means | None" = None,
    kept: Kept | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[dict[Asked, Hits], dict[str, str]]:
    """What each attack hits, told and not told.

    Args:
        material: what is attacked.
        names: of `check_attacks`.
        sample: documents of the attacks that are not made on all.
        means: what makes the parts; None is this process.
        kept: where parts are kept; None is nowhere.
        progress: called with the documents that are done, and those of all parts.

    Returns:
        hits by attack; and of an attack that is always made and cannot be here, why, by name.
    """
    means = means or Means()
    kept, few = kept or Kept(None, material), few_candidates(material.mechanism.channel)
    everything, sampled = np.unique(material.documents).tolist(), material.sampled(sample)
    plan = []
    for name in names:
        whole = name in WHOLE or (name == MARKOV and few)
        some = everything if whole else sampled
        size = len(some) if name in WHOLE else _PART if whole else _SMALL_PART
        cut = [some[at : at + size] for at in range(0, len(some), size)]
        plan += [(Asked(name, told), cut) for told in ((True,) if name == "unchanged" else (True, False))]
    total, done = sum(len(some) for _, cut in plan for some in cut), 0
    made, found, skipped = _Made(material), {}, {}
    for asked, cut in plan:
        if asked.name not in skipped:
            try:
                found[asked] = _run(  # mypy infers no lambda that has a default
                    material,
                    made,
                    asked,
                    cut,
                    means,
                    kept,
                    lambda n, done=done: progress(done + n, total),  # type: ignore[misc]
                )
            except ValueError as error:
                if asked.name not in DEFAULT:
                    raise
                skipped[asked.name] = str(error)
        done += sum(map(len, cut))
        progress(done, total)
    return found, skipped


def _run(
    material: Material,
    made: "_Made",
    asked: Asked,
    cut,
    means: "Means",
    kept: Kept,
    progress: Callable[[int], None],
) -> Hits:
    """An attack on all of its parts, those that are kept not once more."""
    starts = np.searchsorted(material.documents, np.arange(len(material.docs) + 1))
    places = [np.concatenate([np.arange(starts[d], starts[d + 1]) for d in some]) for some in cut]
    paths = [kept.path(asked, some) for some in cut]
    results: list[Any] = [kept.get(path) for path in paths]
    missing = [at for at, result in enumerate(results) if result is None]
    if missing:
        attack = made.attack(asked)
        jobs = ((Needed(), attack, *_part(material, cut[at], places[at])) for at in missing)
        for at, result in zip(missing, means.done(_hits, jobs), strict=True):
            kept.put(paths[at], result)
            results[at] = result
            progress(sum(len(some) for some, there in zip(cut, results, strict=True) if there is not None))
    return Hits(np.concatenate(places), np.concatenate(results))


def _part(material: Material, some: Sequence[int], places: np.ndarray) -> tuple[list, list, list]:
    """Documents as they were released, the scored positions in them, and the words there."""
    number = {document: at for at, document in enumerate(some)}
    positions = [(number[d], i) for d, i in (material.positions[place] for place in places)]
    return [material.released[d] for d in some], positions, [material.truths[place] for place in places]


def _hits(_: Needed, *given) -> np.ndarray:
    return hit(*given)


def hit(attack: Attack, released, positions: Sequence[tuple[int, int]], truths: Sequence[str]) -> np.ndarray:
    """Whether an attack names each word.

    Args:
        attack: any.
        released: token lists.
        positions: (document, index) pairs, n of them.
        truths: the words there.

    Returns:
        (n,) booleans.
    """
    guesses = attack.reconstruct(released, positions)
    return np.array([guess == truth for guess, truth in zip(guesses, truths, strict=True)], dtype=bool)


class _Made:
    """Attacks, each made once from what it is granted."""

    def __init__(self, material: Material):
        self._material = material
        self._markov: MarkovBayes | None = None

    def attack(self, asked: Asked) -> Attack:
        knowledge = self._material.knowledge(told=asked.told)
        if asked.name != MARKOV:
            return ATTACKS[asked.name].load()(knowledge)
        if self._markov is None:  # fitted once: its weight was chosen by who is told
            told = knowledge if asked.told else self._material.knowledge(told=True)
            self._markov = markov(told, MarkovModel.fit(told.documents, words=told.channel.inputs))
        fitted = self._markov
        if asked.told:
            return fitted
        return MarkovBayes(knowledge.channel, fitted.model, weight=fitted.weight, k=fitted.k)


def markov(knowledge: Knowledge, model: MarkovModel, weight: float | None = None) -> MarkovBayes:
    """The Markov attack with a model of all the attacker's text, and a weight that some documents of it chose.

    Args:
        knowledge: channel and shadow text.
        model: fitted on all of that, with a state for every input: it does not depend on epsilon.
        weight: one that was chosen before; None chooses it.
    """
    channel, k = knowledge.channel, None if few_candidates(knowledge.channel) else _K
    if weight is None:
        some = replace(knowledge, shadow=list(knowledge.documents)[:_FITTED])
        weight = MarkovBayes.against(some, k=k).weight
    return MarkovBayes(channel, model, weight=weight, k=k, attacked=knowledge.attacked)


def few_candidates(channel: Channel) -> bool:
    """Whether few words can become a released one, as where words have groups; judged by some of them.

    Args:
        channel: Pr(y | x).
    """
    some = np.linspace(0, len(channel.outputs) - 1, 64).astype(np.intp)
    return bool((channel.log_columns(np.unique(some)) > -np.inf).sum(axis=1).max() <= _FEW)


def _digest(material: Material) -> str:
    mechanism = material.mechanism
    digest = hashlib.sha256(f"{__version__} {mechanism!r} {material.seed}".encode())
    for docs in (material.docs, material.released, material.shadow):
        digest.update(repr([list(doc) for doc in docs]).encode("utf-8", "surrogatepass"))
    digest.update("\n".join(mechanism.inputs).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
