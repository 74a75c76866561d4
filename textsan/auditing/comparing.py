"""Compare releases of one text, audited alike: name the one to take, or say what would keep the limits.

Beside the releases stand two that cost nothing: the text itself, and a redaction of every word off a public list.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textsan.auditing.any_release import ABSENT, LIMITATIONS, Original, public_words, unquoted
from textsan.auditing.deciding import DO_NOT, KEPT, MORE, OPEN
from textsan.auditing.material import is_word
from textsan.auditing.quotes import PUBLIC_WORDS
from textsan.auditing.report import Report, figures, used
from textsan.auditing.wording import many, not_shown, percent
from textsan.base.signatures import takes_parameters_of
from textsan.text.vocabulary import tokenize

FREE = "doing nothing", "redaction"
"""The two rows that cost nothing."""

_CHOSEN = (
    "A release that is recommended was chosen on these rows, which flatters it: audit it alone, on other rows."
)
_ALIKE = "All releases are audited alike, without their records: who knows how one was made recovers more."
_HIDDEN = "<HIDDEN>"
_SHORT = 5  # words to which documents are cut, to see what that does


@takes_parameters_of(Original)
def compare_releases(texts: Iterable[str], releases: Mapping[str, Iterable[str]], **settings: Any) -> Report:
    """Audit several releases of a text alike, and recommend one of them, or what would keep the limits.

    All are held against the same limits: of documents, by default, what the lengths of the originals alone
    identify and five in a hundred more.

    Args:
        texts: strings, a document each.
        releases: by name, strings in the same order.
        settings: as for `audit_release`.

    Returns:
        the report, whose verdict is that of the best release; it quotes no word of the text.

    Raises:
        ValueError: as `audit_release`, with the name of the release.

    >>> texts = [f"Film {number} was good" for number in range(40)]
    >>> compare_releases(texts, {"a": texts, "b": ["A film"] * 40}, among=5).verdict
    'Not shown'
    """
    given = {name: list(released) for name, released in releases.items()}
    original = Original(texts, **settings)
    documents = [text for released in given.values() for text in released]
    return unquoted([*original.texts, *documents], lambda: Report(_compared(original, given)))


def redacted(texts: Iterable[str]) -> list[str]:
    """Hide each word of texts that is not among the most frequent words of the public table.

    >>> redacted(["Was it Ann?"])
    ['was it <HIDDEN> ?']
    """
    public = frozenset(public_words()[:PUBLIC_WORDS])
    docs = map(tokenize, texts)
    return [" ".join(word if word in public or not is_word(word) else _HIDDEN for word in doc) for doc in docs]


def _compared(original: Original, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    pairs = [original.paired(released, f"released: {name}") for name, released in given.items()]
    nothing = original.audit(original.paired(original.texts))
    original.limits.setdefault("documents", min(nothing["linkage"]["length"]["value"] + MORE, 1.0))
    audits = [nothing, original.audit(original.paired(redacted(original.texts))), *map(original.audit, pairs)]
    named = zip([*FREE, *given], audits, strict=True)
    rows: list[dict[str, Any]] = [{"release": name, "audit": audit} for name, audit in named]
    about = nothing["about"] | {"releases": len(given)}
    content: dict[str, Any] = {"textsan": nothing["textsan"], "about": about, "mechanism": None, "use": None}
    content |= {"absent": f"{ABSENT} {_ALIKE}", "limitations": [*LIMITATIONS, _CHOSEN]}
    content |= {"releases": rows, "tried": []}
    kept = [row for row in rows if row["audit"]["decision"]["verdict"] == KEPT]
    if not kept:
        exceeding = [row for row in rows[len(FREE) :] if row["audit"]["decision"]["verdict"] == DO_NOT]
        nearest = min(exceeding or rows[len(FREE) :], key=_beyond)
        content["tried"] = list(_tried(original, nearest["release"], given[nearest["release"]]))
        said = {"named": None, "reasons": _open(rows), "next": _would_keep(nearest, content["tried"])}
    else:
        best = max(kept, key=_worth)
        said = {"named": best["release"], "reasons": _best(best, kept), "next": best["audit"]["decision"]["next"]}
    verdicts = [row["audit"]["decision"]["verdict"] for row in rows[len(FREE) :]]
    verdict = next(verdict for verdict in (KEPT, OPEN, DO_NOT) if verdict in verdicts)
    return content | {"decision": {"verdict": verdict, "tolerated": original.limits} | said}


def _beyond(row: Mapping[str, Any]) -> float:
    """Return the most by which a release is beyond a limit."""
    limits = row["audit"]["decision"]["limits"]
    return max(limit["value"] - limit["at_most"] for limit in limits if limit["value"] is not None)


def _worth(row: Mapping[str, Any]) -> float:
    """Return what a release keeps of the label; without one, the share of words that it leaves."""
    use = row["audit"]["use"]
    return use["released"]["value"] if use else figures(row["audit"])["left"]["value"]


def _best(best: Mapping[str, Any], kept: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say why a release is recommended."""
    use = best["audit"]["use"]
    name, measured = best["release"], use["released"] if use else figures(best["audit"])["left"]
    line = f"Recommended: {name}. It keeps the limits"
    if rest := sorted((row for row in kept if row is not best), key=_worth, reverse=True):
        line += f", as {', '.join(row['release'] for row in rest)} does, and keeps most of "
        line += "the label" if use else "the words"
        line += not_shown(measured, _worth(rest[0]), f"it keeps more than {rest[0]['release']}")
    asked = used(use) or f"It leaves {percent(_worth(best))} of 100 words; with --label FIELD a task decides."
    return [f"{line}.", asked]


def _open(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say why no release is recommended: none keeps the limits, or that is not shown either way."""
    decisions = {row["release"]: row["audit"]["decision"] for row in rows}
    doubtful = [name for name, decision in decisions.items() if decision["verdict"] == OPEN]
    if not doubtful:
        return ["No release keeps the limits, nor does redaction."]
    line = f"No release is shown to keep the limits. Not shown, which is no permission: {', '.join(doubtful)}."
    return [line, f"{doubtful[-1]}: {decisions[doubtful[-1]]['reasons'][0]}"]


def _tried(original: Original, name: str, released: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Audit a redaction of a release, shorter documents, and both."""
    hidden, short = redacted(released), [" ".join(text.split()[:_SHORT]) for text in released]
    both = [" ".join(text.split()[:_SHORT]) for text in hidden]
    ways = {"hidden": hidden, "cut": short, "hidden and cut": both}
    for way, changed in ways.items():
        yield {"release": name, "way": way, "audit": original.audit(original.paired(changed))}


def _would_keep(nearest: Mapping[str, Any], tried: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what would keep the limits, by what was tried on the release that is nearest to them."""
    name, found = nearest["release"], figures(nearest["audit"])
    limit = nearest["audit"]["decision"]["limits"][0]  # of documents
    length, best = found["length"]["value"], found["found"]["main"]["value"]
    lines = []
    if limit["state"] != "kept" and (2 * length >= best or length > limit["at_most"]):
        lines.append(
            f"Shorter or padded documents: length alone identifies {percent(length)} of 100 documents of {name}, "
            f"whatever their words are, and all that is measured {percent(best)}; of one length, 1 in "
            f"{nearest['audit']['linkage']['among']:,}."
        )
    if found["left"]["low"] > found["left"]["control"]["high"]:
        lines.append(f"Fewer kept words: {name} leaves {percent(found['left']['value'])} of 100 verbatim.")
    ways = {
        "hidden": f"Redaction as well, every word off a list of {PUBLIC_WORDS:,} hidden",
        "cut": f"Shorter documents, the first {many(_SHORT, 'word')} of each",
        "hidden and cut": "Both",
    }
    for row in tried:  # an alignment cannot say of words that are cut off where they are: they are not counted
        limits = row["audit"]["decision"]["limits"]
        states = [_state(limit) for limit in limits if limit["limit"] == "documents" or row["way"] == "hidden"]
        lines.append(f"{ways[row['way']]} ({name}): {'; '.join(states)}.")
    return [*lines, "Aggregation: counts, or answers that are computed in the house, in place of texts."]


def _state(limit: Mapping[str, Any]) -> str:
    if limit["value"] is None:
        return f"{limit['limit']}: none there"
    verb = {"documents": "identified"}.get(limit["limit"], "recovered")
    state = f"{limit['state']}, up to {100 * limit['high']:.1f} by its interval"
    if limit["state"] == "not shown" and limit["high"] <= limit["at_most"]:
        state = "not shown, for rows are few, or not shown to belong together"
    return (
        f"{limit['limit']}: {percent(limit['value'])} of 100 {verb} (limit {100 * limit['at_most']:.3g}: {state})"
    )
