"""Decide whether a release keeps limits, why, and what to change next.

No limit is kept by attackers who have not read text like the owner's, nor by few documents. A limit is exceeded
where an attack, or the exact success V(X | Y) under the frequencies of held-out rows, is above it. All else is not
shown.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from textsan.auditing.material import GROUPS
from textsan.auditing.wording import many, not_shown, odds, percent
from textsan.auditing.words import strongest
from textsan.base import checks

LIMITS = {"words": "all", **{name: name for name in GROUPS if name != "all"}, "documents": None}
"""Limits by name, with their group of words: the share of it that the strongest attack recovers; of documents, the
share that is identified by who holds the originals."""

DO_NOT, KEPT, OPEN = "Do not release", "Limit kept against these attacks", "Not shown"
"""The verdicts."""

STATUS = {KEPT: 0, DO_NOT: 3, OPEN: 4}
"""The exit status of the command by its verdict."""

FEW = 30
"""Documents below which an audit shows nothing to be kept."""

UNMEASURED = 0.5
"""Share of words off the word list above which nothing is shown to be kept: no attack is scored on them."""

MORE = 0.05
"""By default so much more than length alone identifies is tolerated of documents."""

OWNERS = {
    "held-out": "an attacker who holds other rows of this text",
    "given": "an attacker who holds the text that was given",
    "public": "an attacker who holds public text",
}
"""Attackers by what they own."""

FATE = {"uniform": "replaced by uniform draws", "keep": "released as they are", "error": "refused"}
"""The release of a word off the list, by the mechanism's rule for such words."""

_EXCEEDED, _KEPT, _OPEN = "exceeded", "kept", "not shown"
_SMALLER = 0.01  # of V: what is less is no gain


def checked_limits(tolerate: Mapping[str, float] | None, known: Collection[str] = LIMITS) -> dict[str, float]:
    """Return limits by name, checked to be shares and of the known names."""
    named = {checks.choice("tolerate", name, tuple(known)): share for name, share in (tolerate or {}).items()}
    return {name: checks.number(f"tolerate: {name}", share, 0, 1) for name, share in named.items()}


def decided(content: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Any]:
    """Hold an audit's figures against limits, the largest share that is tolerated by name, of `LIMITS`.

    Returns, for json, `verdict`; `limits`, rows with limit, at_most, asked, the largest value, low and high of any
    attack (null where the text has no such word) and state; three `reasons`; and what to do `next`.
    """
    length = content["linkage"]["length"]
    tolerated = {"documents": min(length + MORE, 1.0)} | dict(limits)
    rows = [_row(content, name, most, name in limits) for name, most in tolerated.items()]
    doubts = _doubts(content, limits)
    verdict = verdict_of(rows, doubts)
    by_limit = {row["limit"]: row for row in rows}
    reasons = [_of_words(content, by_limit.get("words")), _of_documents(content, by_limit["documents"])]
    others = [
        f"Of 100 words of the kind {row['limit']!r} {percent(row['value'])} are recovered. {held_against(row)}"
        for row in rows
        if row["limit"] not in ("words", "documents") and row["state"] != _KEPT
    ]
    if verdict == OPEN and doubts:
        reasons.insert(0, " ".join(doubts))
    elif others:
        reasons.append(" ".join(others))
    else:
        reasons.append(_outside(content))
    return {"verdict": verdict, "limits": rows, "reasons": reasons, "next": _next(content, by_limit, verdict)}


def verdict_of(limits: Sequence[Mapping[str, Any]], doubts: Sequence[str]) -> str:
    """Return the verdict by the states of all limits; where there are doubts nothing is kept."""
    states = {row["state"] for row in limits}
    return DO_NOT if _EXCEEDED in states else OPEN if doubts or _OPEN in states else KEPT


def _row(content: Mapping[str, Any], name: str, most: float, asked: bool) -> dict[str, Any]:
    group = LIMITS[name]
    measured = [content["linkage"]["main"]]
    if group is not None:
        measured = [row for row in content["words"]["attacks"] if row["group"] == group]
    if name == "words":
        if (exact := content["words"]["exact"]["held_out"]) is not None:
            measured.append({"value": exact, "low": 0.0, "high": exact})
        measured = [{key: _with_kept(content, row[key]) for key in ("value", "low", "high")} for row in measured]
    few, unread = content["documents"]["documents"] < FEW, group is not None and _unlike(content)
    return limit_row(name, most, asked, measured, few=few, unread=unread)


def limit_row(
    name: str, most: float, asked: bool, measured: Sequence[Mapping[str, Any]], *, few: bool, unread: bool
) -> dict[str, Any]:
    """Hold the strongest attack against a limit, whose state is "kept", "exceeded" or "not shown".

    Nothing is kept by few documents, nor where no attacker has read text like the owner's (unread).
    """
    largest: dict[str, Any] = {
        key: max((row[key] for row in measured), default=None) for key in ("value", "low", "high")
    }
    if largest["value"] is None:
        state = _KEPT
    elif largest["low"] > most or (largest["value"] > most and not few):
        state = _EXCEEDED
    else:
        state = _OPEN if few or largest["high"] > most or unread else _KEPT
    return {"limit": name, "at_most": most, "asked": asked, **largest, "state": state}


def _with_kept(content: Mapping[str, Any], share: float) -> float:
    """A share of protected words, with those off the list that are released as they are."""
    about = content["about"]
    kept = about["unknown"] if about["unknown_become"] == "keep" else 0
    return (share * about["scored"] + kept) / (about["scored"] + kept)


def _unlike(content: Mapping[str, Any]) -> bool:
    """Return True where no attacker has read text like the owner's."""
    behind = content["words"]["exact"]["behind"]
    return behind is None or behind > 0


def _doubts(content: Mapping[str, Any], limits: Mapping[str, float]) -> list[str]:
    """List the reasons why nothing can be kept, a sentence each."""
    doubts = []
    if (few := content["documents"]["documents"]) < FEW:
        verb = "shows" if few == 1 else "show"
        doubts.append(
            f"{many(few, 'document')} with a word that counts {verb} nothing to be kept: audit more rows."
        )
    if content["words"]["exact"]["behind"] is None:
        doubts.append("Different rows are too few to hold half of them out: no attacker has read text like yours.")
    elif _unlike(content):
        doubts.append(
            "The text that was given is unlike yours: by the frequencies of half of your own rows more words are "
            "recovered. Leave out --shadow, or pass text of the same source."
        )
    if (off := word_fates(content)["unknown"]) > UNMEASURED:
        doubts.append(f"Of 100 words {percent(off)} are off the word list, and not measured: another language?")
    if not any(LIMITS[name] for name in limits):
        doubts.append("No limit for words was asked for: pass --tolerate words=0.2, say.")
    return doubts


def _of_words(content: Mapping[str, Any], row: Mapping[str, Any] | None) -> str:
    words, exact = content["words"], content["words"]["exact"]
    by_owner = {}
    for owner, who in OWNERS.items():
        if (best := strongest([row for row in words["attacks"] if row["owns"] == owner])) is not None:
            by_owner[who] = best["value"]
    parts = [f"{who} recovers {percent(share)} ({odds(share)})" for who, share in by_owner.items()]
    first = words["first"]
    line = f"Of 100 words that should be protected, {', and '.join(parts)}. "
    if exact["held_out"] is not None and exact["held_out"] > max(by_owner.values()):
        line += f"By frequencies alone {percent(exact['held_out'])} are expected (V(X|Y) of the held-out rows). "
    line += f"Without any release the best guess is right for {percent(first['blind'])}"
    line += f"{not_shown(first, first['blind'], 'an attacker does better')}."
    if row is not None and _with_kept(content, 0.0):
        line += f" With the words off the list, which are released as they are: {percent(row['value'])}."
    return line if row is None else f"{line} {held_against(row)}"


def _of_documents(content: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    linkage = content["linkage"]
    doubt = not_shown(linkage["main"], linkage["length"], "the words add to it")
    return f"{identified(linkage, linkage['main'], linkage['length'])}{doubt}. {held_against(row)}"


def identified(linkage: Mapping[str, Any], main: Mapping[str, float], length: float) -> str:
    """Return the beginning of a sentence on how many documents are identified."""
    return (
        f"Of 100 released documents, an attacker who holds {linkage['among']:,} originals identifies "
        f"{percent(main['value'])} ({odds(main['value'])}); by length alone {percent(length)}"
    )


def held_against(row: Mapping[str, Any]) -> str:
    """Return a sentence on a limit: kept, exceeded or not shown to be kept."""
    limit = f"The limit of {100 * row['at_most']:.3g}" + ("" if row["asked"] else " (length alone and five more)")
    if row["state"] == _EXCEEDED:
        return f"{limit} is exceeded."
    upper = "there is no such word" if row["high"] is None else f"at most {100 * row['high']:.1f} by its interval"
    return f"{limit} is {'kept' if row['state'] == _KEPT else 'not shown to be kept'}: {upper}."


def word_fates(content: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of all words of the text with each fate; they add up to one.

    `kept` are released as they are by the mechanism's own rule, `unknown` off its word list, `unchanged` protected
    and drawn as themselves, `named` recovered besides by the strongest attack; and `rest`.
    """
    about, first = content["about"], content["words"]["first"]
    total = max(about["words"], 1)
    scored = about["scored"] / total
    fates = {
        "kept": about["let_through"] / total,
        "unknown": about["unknown"] / total,
        "unchanged": first["unchanged"] * scored,
        "named": max(first["value"] - first["unchanged"], 0.0) * scored,
    }
    return fates | {"rest": max(1 - sum(fates.values()), 0.0)}


def _outside(content: Mapping[str, Any]) -> str:
    fates = word_fates(content)
    return (
        f"Of 100 words of the text {percent(fates['kept'])} are released as they are, by the "
        f"mechanism's own rule, and {percent(fates['unknown'])} are off its word list "
        f"({FATE[content['about']['unknown_become']]}): no attack is scored on them."
    )


def _next(content: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]], verdict: str) -> list[str]:
    """The changes that are advised, a sentence each."""
    about, advice = content["about"], []
    limit = rows.get("words")
    if verdict != KEPT:
        if (smaller := content["smaller"]) is not None and (limit is None or limit["state"] != _KEPT):
            advice.append(_smaller(smaller, limit))
        if about["let_through"]:
            advice.append(
                f"Fewer kept words: {percent(word_fates(content)['kept'])} of 100 words are released as they are, "
                "and help to guess the others and to identify documents. CusText and SanText, without a plus, "
                "keep none."
            )
        if about["unknown_become"] == "keep" and about["unknown"]:
            advice.append("Words off the list: with --oov uniform they are replaced, names among them.")
        share = 0.2 if limit is None else limit["at_most"]
        advice.append(
            "Another mechanism: textsan choose INPUT --mechanism custext --mechanism santext "
            f"--words {share:g} finds the largest epsilon of each that keeps a limit, if any does."
        )
        if rows["documents"]["state"] == _EXCEEDED:
            advice.append(
                "Documents: split long ones, or release fewer words of each. If documents may be identified by "
                "somebody who holds the originals, say so: --tolerate documents=1."
            )
    if beside := about["beside"]:
        names = many(beside, "column") if isinstance(beside, int) else ", ".join(beside)
        advice.append(f"Another column removed: {names}. What stands beside the text is released as it is.")
    if verdict == KEPT:
        advice.append("Release once: two releases of one text give away more.")
    return advice


def _smaller(smaller: Mapping[str, Any], limit: Mapping[str, Any] | None) -> str:
    now, then, epsilon = (smaller[key] for key in ("now", "value", "epsilon"))
    if limit is not None and not smaller["within"]:
        return (
            f"A smaller epsilon is not enough: at {epsilon:g} guesses from single words are still right for "
            f"{percent(then)} of 100 (now {percent(now)}), and attacks that read sentences recover more."
        )
    if now - then < _SMALLER:
        return f"A smaller epsilon hides no more: at {epsilon:g} single words give away {percent(then)} of 100."
    return (
        f"A smaller epsilon: at {epsilon:g} guesses from single words are right for {percent(then)} of 100 "
        f"(now {percent(now)}); attacks that read sentences recover more."
    )
