"""The report of an audit: one html file for people, one json for programs, and whether limits hold.

`audit.schema.json` beside this module says what each field of the json is. The html needs nothing beside it: style
and drawings are inside, for light and dark screens and for paper.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from textsan.auditing.attacking import Kept
from textsan.auditing.material import GROUPS
from textsan.auditing.words import strongest

SCHEMA = Path(__file__).with_name("audit.schema.json")
TEMPLATE = Path(__file__).with_name("report.html")

LIMITS = {
    "words": "all",
    **{name: name for name in GROUPS if name != "all"},
    "documents": None,
}
"""What can be limited: the share of words, or of a group of them, that the strongest attack names; and the share
of documents that are linked to their originals."""

_RARE = 0.005  # share below which small numbers say more than is known
_NO_TENTHS = 0.12  # share below which one in so many says it better than so many in ten

_OPTION = re.compile(r"--[a-z-]+")

FEW = 30
"""Documents below which an audit decides nothing."""


BETTER = "a reader does better"
"""What a success on words is not shown to say, where its interval reaches down to the blind guess."""
FURTHER = "the words add to it"
"""What linkage is not shown to say, where its interval reaches down to what length alone names."""


@dataclass(frozen=True)
class Report:
    """What an audit found.

    Args:
        content: all of it, for json.
        kept: what was kept of the audit while it ran.
    """

    content: dict[str, Any]
    kept: Kept | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Without the text, which is private."""
        about = self.content["about"]
        return f"Report({about['documents']} documents, {about['scored']} scored words)"

    @property
    def said(self) -> list[str]:
        """The first screen: what a reader names, of a hundred, and whether limits hold, a sentence each."""
        return said(self.content) + decisions(self.content)

    @property
    def exceeded(self) -> list[str]:
        """Names of the limits that do not hold."""
        return [one["limit"] for one in self.content["decision"] if not one["kept"]]

    def to_json(self, path: str | Path) -> None:
        """Writes the report for programs, whole or not at all.

        Args:
            path: of the file.
        """
        _write(path, json.dumps(self.content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def to_html(self, path: str | Path) -> None:
        """Writes the report for people, whole or not at all.

        Args:
            path: of the file.
        """
        _write(path, self.html())

    def html(self) -> str:
        """The report for people."""
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup, escape

        from textsan.auditing import drawing

        engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        engine.filters |= {
            "hundred": hundred,
            "odds": odds,
            "interval": interval,
            "number": lambda n: f"{n:,}",
            "factor": factor,
            "not_shown": not_shown,
            "options": lambda line: Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(line)))),
        }
        template = engine.from_string(TEMPLATE.read_text(encoding="utf-8"))
        return template.render(
            **self.content,
            said=said(self.content),
            limits=not_covered(self.content),
            groups=GROUPS,
            by_group=by_group(self.content["words"]["attacks"]),
            few=_counted(self.content) < FEW,
            draw=drawing,
            better=BETTER,
            further=FURTHER,
        )

    def clear(self) -> None:
        """Removes what was kept of the audit while it ran."""
        if self.kept is not None:
            self.kept.clear()


def _counted(content: Mapping[str, Any]) -> int:
    """Documents with a word that counts: an empty one decides nothing."""
    return content["documents"]["documents"]


def decided(content: Mapping[str, Any], limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """Whether limits hold: the largest upper end of any attack's interval, told or not, against each.

    Of fewer than `FEW` documents with a word that counts no limit is kept, since they decide nothing.

    Args:
        content: of the audit.
        limits: at most which share, by name, of `LIMITS`.

    Returns:
        rows for json: limit, at_most, the largest value and the largest high of any attack (null
        where the text has no such word), kept.
    """
    rows = []
    for name, most in limits.items():
        group = LIMITS[name]
        measured = [row for row in content["words"]["attacks"] if row["group"] == group]
        if group is None:
            measured = [content["linkage"]["main"]]
        high = max((row["high"] for row in measured), default=None)
        value = max((row["value"] for row in measured), default=None)
        kept = _counted(content) >= FEW and (high is None or high <= most)
        rows.append({"limit": name, "at_most": most, "value": value, "high": high, "kept": kept})
    return rows


def said(content: Mapping[str, Any]) -> list[str]:
    """What a reader names, of a hundred words and of a hundred documents, a sentence each.

    Args:
        content: of the audit.
    """
    about, best, linkage = content["about"], content["words"]["first"], content["linkage"]
    owned = "public text" if about["shadow"]["public"] else "the outside text that was given"
    lines = []
    if (few := _counted(content)) < FEW:
        lines.append(
            f"{_many(few, 'document')} with a word that counts {_decide(few)} nothing: read the intervals."
        )
    lines += [
        f"Of 100 words that should be protected, a reader with {owned} names {hundred(best['value'])} "
        f"({odds(best['value'])}), once told which words these are.",
        f"{hundred(best['unchanged']).capitalize()} of 100 came through unchanged. Without any release the best "
        f"blind guess names {hundred(best['blind'])}{not_shown(best, best['blind'], BETTER)}.",
        f"Of 100 released documents, a reader who holds {linkage['among']:,} originals finds the right one for "
        f"{hundred(linkage['main']['value'])} ({odds(linkage['main']['value'])}); by length alone for "
        f"{hundred(linkage['length'])}{not_shown(linkage['main'], linkage['length'], FURTHER)}.",
    ]
    if content["use"]:
        use = content["use"]
        lines.append(
            f"Of 100 documents a reader tells the class of {hundred(use['released']['value'])} from the release, "
            f"of {hundred(use['original']['value'])} from the originals; {hundred(use['largest'])} are of the "
            f"largest class{not_shown(use['released'], use['largest'], 'the release tells more')}."
        )
    return lines


def not_shown(measured: Mapping[str, float], other: float, what: str) -> str:
    """A clause for a share that is not shown to be above what is had without it; else "".

    Args:
        measured: a share with the lower end of its interval.
        other: what is had without.
        what: would be shown if the interval lay above.

    >>> not_shown({"value": 0.04, "low": 0.03}, 0.05, "a reader does better")
    ', and that a reader does better is not shown'
    """
    return "" if measured["low"] > other else f", and that {what} is not shown"


def decisions(content: Mapping[str, Any]) -> list[str]:
    """Whether each limit holds, a sentence each.

    Args:
        content: of the audit.
    """
    lines = []
    for one in content["decision"]:
        holds = "holds against these attacks" if one["kept"] else "is exceeded"
        if _counted(content) < FEW:
            holds = "is not shown to hold by so few documents"
        upper = (
            "there is no such word"
            if one["high"] is None
            else f"up to {100 * one['high']:.1f} of 100, by its interval"
        )
        what = one["limit"]
        if LIMITS[what] is None:  # more candidates hide a document better
            what += f" among {content['linkage']['among']:,}"
        lines.append(f"The limit of {100 * one['at_most']:g} of 100 for {what} {holds}: {upper}.")
    return lines


def not_covered(content: Mapping[str, Any]) -> list[str]:
    """What the figures do not cover, a sentence each.

    Args:
        content: of the audit.
    """
    about, mechanism = content["about"], content["mechanism"]
    share = {name: about[name] / max(about["words"], 1) for name in ("unknown", "let_through")}
    fate = {"uniform": "become uniform draws", "keep": "are released as they are", "error": "are refused"}
    lines = [
        "Every attack's figure is a lower end: a reader with a better attack, or better text, names more.",
        "A share of words says nothing of a document: one can hide every word and still be told apart.",
        "Documents are found by a reader who holds their originals; who else could find them is not looked at.",
        "The figures are of one release. Two releases of one text give away more.",
        f"Of 100 words of the text {hundred(share['let_through'])} are released as they are, by the mechanism's "
        "own rule, and are not counted.",
        f"Of 100 words of the text {hundred(share['unknown'])} are unknown to the vocabulary: they "
        f"{fate[about['unknown_become']]}, and are not counted.",
        "What stands beside the text, other columns or a name, is not looked at.",
    ]
    if about["shadow"]["public"]:
        lines.append(
            "Who has text of the same kind does better than one with public text: name some with --shadow."
        )
    if about["rehearsed"]:
        lines.append(
            "The release was made for this report and is thrown away; another draw differs within the intervals."
        )
    if not mechanism["finite"]:
        lines.append("The mechanism promises nothing: only what was measured is known.")
    return lines


def by_group(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each group of words its strongest attack, told and not told."""
    found = []
    for group, name in GROUPS.items():
        told, untold = (strongest(rows, group, told=told) for told in (True, False))
        if told is not None:
            found.append({"group": group, "name": name, "words": told["words"], "told": told, "untold": untold})
    return found


def hundred(share: float) -> str:
    """A share as so many of a hundred.

    >>> hundred(0.381), hundred(0.002), hundred(0.998), hundred(0)
    ('38', 'fewer than 1', 'more than 99', 'none')
    """
    whole = round(100 * share)
    if whole == 0:
        return "fewer than 1" if share > 0 else "none"
    return "more than 99" if whole == 100 and share < 1 else str(whole)


def odds(share: float) -> str:
    """A share in small numbers, as people say it.

    >>> odds(0.381), odds(0.02), odds(0.08), odds(0.98), odds(1.0)
    ('about 3 in 8', 'about 1 in 50', 'about 1 in 12', 'all but 1 in 50', 'all')
    """
    if share in (0, 1):
        return "all" if share else "none"
    if min(share, 1 - share) < _RARE:
        return "nearly all" if share > 0.5 else "hardly any"
    if share < _NO_TENTHS:  # the nearest of small fractions would be up to twice as much
        return f"about 1 in {round(1 / share)}"
    if share > 1 - _NO_TENTHS:
        return f"all but 1 in {round(1 / (1 - share))}"
    fraction = Fraction(share).limit_denominator(10)
    return f"about {fraction.numerator} in {fraction.denominator}"


def factor(value: float) -> str:
    """A factor to three digits.

    >>> factor(1.234), factor(27812.0)
    ('1.23', '27,800')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def interval(row: Mapping[str, float]) -> str:
    """The interval of a share, of a hundred.

    >>> interval({"low": 0.1234, "high": 0.3})
    '12.3 to 30.0'
    """
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _decide(number: int) -> str:
    return "decides" if number == 1 else "decide"


def _write(path: str | Path, text: str) -> None:
    part = Path(f"{path}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="surrogateescape")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
