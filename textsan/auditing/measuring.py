"""Audit a release: measure what it gives away, exactly and by attacks, and hold it against limits."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from textsan.auditing import attacking, documents, linking, material as materials, quotes as quoting, use, words
from textsan.auditing.deciding import checked_limits, decided
from textsan.auditing.report import Report
from textsan.base import checks
from textsan.mechanisms import Mechanism


def audit(
    texts: Iterable,
    mechanism: Mechanism,
    *,
    shadow: Iterable | None = None,
    groups: Sequence[Hashable] | None = None,
    released: Sequence[Sequence[str]] | None = None,
    labels: Sequence[str | None] | None = None,
    guesses: Sequence[tuple[int, int, str]] | None = None,
    tolerate: Mapping[str, float] | None = None,
    attacks: Sequence[str] = (),
    sample: int = attacking.SAMPLE,
    among: int = linking.AMONG,
    beside: Sequence[str] = (),
    quotes: bool = True,
    finder: str = "census",
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    parts: str | Path | None = None,
    called: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Measure what a release of a text gives away, of its words and of its documents, and what it keeps.

    Where no text is named that an attacker may own, half of the documents are held out as the attacker's, and the
    other half is attacked: by an attacker with the held-out half, and by one with public sentences. The decision
    uses the stronger one. Equal documents, and those of one group, are in the same half.

    Args:
        texts: the documents: strings, records or token lists.
        mechanism: what sanitizes them; it must have an exact channel.
        shadow: texts that an attacker may own, never the audited ones; None holds half of the documents out.
        groups: an author or a patient a document; None is none.
        released: token lists, one a document, as long as its own tokens (`textsan.tokenize`); None makes a release
            with the seed, for the audit alone.
        labels: a class a document, for what a task keeps; None or "" where a document has none.
        guesses: document, index and word, both numbers from 0, of somebody else's attack on `released`.
        tolerate: limits from 0 to 1 by name, one of `LIMITS`. Of documents the default is what length alone
            identifies and five in a hundred more.
        attacks: names of the registry, made beside those that are always made.
        sample: documents that attacks are made on which are not made on all.
        among: documents that each original is sought among.
        beside: names of what is released beside the text, columns say.
        quotes: whether the report may show words of the text. Without, errors do not either.
        finder: of names, as `textsan.text.find_names` takes it.
        seed: of whatever is drawn.
        workers: processes.
        scheduler: address of a dask scheduler, whose workers are used instead.
        parts: folder that keeps what is done until `Report.clear`; the same audit goes on there.
        called: the mechanism's name in the report; None is that of its class.
        progress: called with documents done and those to do.

    Returns:
        the report, which can be written.

    Raises:
        ValueError: what does not fit, in a line that names it.
        KeyError: an attack that is not registered.
        ConnectionError: no scheduler answers, or it has no workers.

    >>> from textsan import CusText, Embeddings
    >>> words = Embeddings(["film", "movie", "plot", "story"], [[0.0], [1.0], [8.0], [9.0]])
    >>> docs = [["film", "plot"], ["movie", "story"]] * 40
    >>> audit(docs, CusText(words, epsilon=1.0, k=2), shadow=docs, tolerate={"words": 0.2}, among=5).verdict
    'Do not release'
    """
    names, limits = attacking.check_attacks(attacks), checked_limits(tolerate)
    if guesses is not None and released is None:
        raise ValueError("guesses: of which release? pass the released text that they are about")
    texts = materials.checked_texts(texts, groups=groups)
    work_on = attacking.Workers(checks.whole("workers", workers, low=1), scheduler)
    checks.whole("sample", sample, low=1)
    folder = None if parts is None else Path(parts)

    def work() -> Report:
        everything = materials.material(
            texts, mechanism, released=released, shadow=shadow, seed=seed, finder=finder
        )
        alike = materials.held_out(everything, groups)
        attackers = materials.attackers(everything, alike)
        material = next(iter(attackers.values()))
        about = materials.described(material, everything, sample)
        # What can refuse a text comes before what takes long.
        answers = None if guesses is None else materials.answers(material, guesses, everything.docs)
        linkage = linking.linked(material, among=among, size=sample)
        members = None if groups is None else materials.members_of([groups[row] for row in material.rows])
        task = None if labels is None else use.kept(everything, labels, sample)
        hits, skipped, fitted = attacking.hits(
            attackers, names, sample=sample, workers=work_on, folder=folder, progress=progress
        )
        table = words.rule(material)
        chances, first = words.chances(material, table), words.headline(material, hits)
        exact = words.exact(material, table) | words.from_alike(material, alike, chances)
        rates = words.rates(attackers, hits)
        scored = None if answers is None else words.scored(attackers, answers, len(guesses or ()), hits)
        smaller = words.smaller_epsilon(everything if alike is None else alike, limits.get("words"))
        of_material = {attacker: made for attacker, made in hits.items() if attackers[attacker.owns] is material}
        content: dict[str, Any] = {
            "textsan": version("textsan"),
            "about": about | {"quotes": quotes, "beside": list(beside) if quotes else len(beside)},
            "mechanism": _described(mechanism, called),
            "linkage": linkage,
            "use": task,
            "guesses": scored,
            "words": {"first": first, "attacks": rates, "exact": exact, "skipped": skipped},
            "documents": documents.exposure(material, chances, of_material)
            | {"composed": documents.composed(material), "given_away": documents.given_away(material)},
            "persons": None if members is None else _persons(material, members, chances, of_material, among),
            "example": documents.example(material, first, hits, fitted) if quotes else None,
            "smaller": smaller,
        }
        content["decision"] = decided(content, limits)
        if not quotes:
            content = quoting.silenced(content, everything.docs, mechanism.inputs)
        return Report(content, folder)

    return quoting.unquoted(quotes, texts, mechanism.inputs, work)


def _persons(material, members, chances, hits, among) -> dict[str, Any]:
    """Measure what is given away of persons with all their documents; a row number stands for each, no name."""
    owners = np.zeros(len(material.docs), dtype=np.intp)
    for some in members:
        owners[some] = some[0]
    halves, found = linking.halved(material.docs, members), documents.exposure(material, chances, hits, owners)
    scores = linking.by_words(material, halves) if halves else np.zeros((0, 0))
    return linking.persons(members, scores, among) | {name: found[name] for name in ("quantiles", "read", "worst")}


def _described(mechanism: Mechanism, called: str | None) -> dict[str, Any]:
    promise = mechanism.guarantee
    return {
        "name": called or type(mechanism).__name__,
        "epsilon": getattr(mechanism, "epsilon", None),
        "definition": promise.definition,
        "promise": promise.which,
        "finite": math.isfinite(promise.epsilon + promise.epsilon_0),
        "outside": list(promise.outside),
        "exposed": list(mechanism.exposed),
    }
