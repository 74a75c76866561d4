"""The audit: what a release of a text gives away, measured and exact, as a report."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textsan.auditing import attacking, documents, guesses as guessing, linking, use, words
from textsan.auditing.headline import headline
from textsan.auditing.material import PUBLIC, Material, material
from textsan.auditing.quotes import HIDDEN, masked, masked_quotes, private_words, public_words, unquoted
from textsan.auditing.report import LIMITS, Report, decided
from textsan.base import checks
from textsan.mechanisms import Mechanism


def audit(
    texts: Iterable,
    mechanism: Mechanism,
    *,
    shadow: Iterable | None = None,
    released: Sequence[Sequence[str]] | None = None,
    labels: Sequence[str | None] | None = None,
    guesses: Sequence[tuple[int, int, str]] | None = None,
    tolerate: Mapping[str, float] | None = None,
    attacks: Sequence[str] = (),
    sample: int = attacking.SAMPLE,
    among: int = linking.AMONG,
    quotes: bool = True,
    finder: str = "census",
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    parts: str | Path | None = None,
    called: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """What a release of a text gives away: of its words, of its documents, to whom; and what it keeps.

    Args:
        texts: the documents: strings, records or token lists.
        mechanism: what sanitizes them; it must have an exact channel.
        shadow: texts that an attacker may own, never the audited ones; None is public sentences.
        released: token lists, one a document, as long as its own tokens (`textsan.tokenize`); None makes a release
            with the seed, for the audit alone.
        labels: a class a document, for what a task keeps; None or "" where a document has none.
        guesses: document, index and word, both numbers from 0, of somebody else's attack on `released`.
        tolerate: limits from 0 to 1 by name, one of `LIMITS`; `Report.exceeded` has those that do not hold.
        attacks: names of the registry, made beside those that are always made.
        sample: documents that attacks are made on which are not made on all.
        among: documents that each original is sought among.
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
    >>> docs = [["film", "plot"], ["movie", "story"]] * 10
    >>> report = audit(docs, CusText(words, epsilon=1.0, k=2), shadow=docs, among=5)
    >>> report.content["words"]["exact"]["own"] > 0.3
    True
    """
    names, limits = attacking.check_attacks(attacks), _limits(tolerate or {})
    if guesses is not None and released is None:
        raise ValueError("guesses: of which release? pass the released text that they are about")
    texts = list(texts) if not isinstance(texts, str) else texts
    private = None if quotes else private_words(texts, mechanism.inputs)
    means = attacking.Means(checks.whole("workers", workers, low=1), scheduler)
    checks.whole("sample", sample, low=1)

    def work() -> Report:
        found = material(texts, mechanism, released=released, shadow=shadow, seed=seed, finder=finder)
        kept = attacking.Kept(None if parts is None else Path(parts), found)
        content: dict[str, Any] = {
            "textsan": version("textsan"),
            "about": _about(found, sample, quotes),
            "mechanism": _described(mechanism, called),
            # What can refuse a text comes before what takes long.
            "linkage": linking.linked(found, among=among, size=sample),
            "use": None if labels is None else use.kept(found, labels, sample),
            "guesses": None if guesses is None else guessing.scored(found, guesses, {}),
        }
        hits, skipped = attacking.hits(found, names, sample=sample, means=means, kept=kept, progress=progress)
        table = words.rule(found)
        chances, rows = words.chances(found, table), words.rates(found, hits)
        content["words"] = {
            "first": headline(found, hits),
            "attacks": rows,
            "exact": words.exact(found, table),
            "skipped": skipped,
        }
        content["documents"] = documents.exposure(found, chances, hits) | {
            "composed": documents.composed(found),
            "given_away": documents.given_away(found),
        }
        if guesses is not None:
            content["guesses"] = guessing.scored(found, guesses, hits)
        content["decision"] = decided(content, limits)
        if private is not None:
            content = _silent(content, private, public_words(mechanism.inputs))
        return Report(content, kept)

    return unquoted(private, work)


def _limits(tolerate: Mapping[str, float]) -> dict[str, float]:
    for name in tolerate:
        checks.choice("tolerate", name, tuple(LIMITS))
    return {name: checks.number(f"tolerate: {name}", value, 0, 1) for name, value in tolerate.items()}


def _about(found: Material, sample: int, quotes: bool) -> dict[str, Any]:
    return {
        "documents": len(found.docs),
        "tokens": sum(map(len, found.docs)),
        "words": found.words,
        "scored": len(found.positions),
        "unknown": found.unknown,
        "unknown_become": found.mechanism.oov,
        "let_through": found.let_through,
        "groups": {name: int(flags.sum()) for name, flags in found.groups.items()},
        "rehearsed": found.rehearsed,
        "seed": found.seed,
        "shadow": {
            "public": found.public,
            "is": f"public sentences ({', '.join(PUBLIC)})" if found.public else "outside text that was given",
            "documents": len(found.shadow),
            "tokens": sum(map(len, found.shadow)),
        },
        "sample": len(found.sampled(sample)),
        "finder": found.finder,
        "quotes": quotes,
    }


def _described(mechanism: Mechanism, called: str | None) -> dict[str, Any]:
    promise = mechanism.guarantee
    finite = math.isfinite(promise.epsilon + promise.epsilon_0)
    return {
        "name": called or type(mechanism).__name__,
        "epsilon": getattr(mechanism, "epsilon", None),
        "definition": promise.definition,
        "promise": promise.which,
        "finite": finite,
        "outside": list(promise.outside),
        "exposed": list(mechanism.exposed),
    }


def _silent(content: dict[str, Any], private: frozenset[str], public: frozenset[str]) -> dict[str, Any]:
    """The content without private words: what was quoted is hidden, and what a clause of a mechanism quotes."""
    for pair in content["documents"]["given_away"]["words"]:
        pair |= {name: pair[name] if pair[name] in public else HIDDEN for name in ("released", "original")}
    said, skipped = content["mechanism"], content["words"]["skipped"]
    for name in ("outside", "exposed"):
        said[name] = [masked_quotes(clause, private) for clause in said[name]]
    skipped |= {name: masked(why, private) for name, why in skipped.items()}
    return content
