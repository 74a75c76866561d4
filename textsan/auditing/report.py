"""Write the report of an audit: one html file for people, one json for programs.

`audit.schema.json` beside this module says what each field of the json is. The html needs nothing beside it: style
and drawings are inside, for light and dark screens and for paper.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textsan.auditing.deciding import FATE, OWNERS, STATUS, word_fates
from textsan.auditing.files import write_private
from textsan.auditing.material import GROUPS
from textsan.auditing.wording import factor, interval, not_shown, odds, percent
from textsan.auditing.words import strongest

SCHEMA = Path(__file__).with_name("audit.schema.json")
TEMPLATE = Path(__file__).with_name("report.html")

_OPTION = re.compile(r"--[a-z-]+")


@dataclass(frozen=True)
class Report:
    """The result of an audit.

    Args:
        content: all of it, for json.
        parts: the folder of what was kept of the audit while it ran.
    """

    content: dict[str, Any]
    parts: Path | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Without the text, which is private."""
        about = self.content["about"]
        return f"Report({about['documents']} documents, {about['scored']} scored words)"

    @property
    def verdict(self) -> str:
        """One of "Do not release", "Not shown" and "Limit kept against these attacks"."""
        return self.content["decision"]["verdict"]

    @property
    def status(self) -> int:
        """The exit status of the command: 0 where limits are kept, 3 for "Do not release", 4 for "Not shown"."""
        return STATUS[self.verdict]

    @property
    def summary(self) -> list[str]:
        """The first screen: the verdict, three reasons, and what to change next, a line each."""
        decision, task = self.content["decision"], used(self.content["use"])
        persons = identified(self.content.get("persons"))
        reasons = [f"{number}. {line}" for number, line in enumerate(decision["reasons"], 1)]
        reasons += [f"   {row['release']}: {_line(row['audit'])}" for row in self.content.get("releases", ())]
        lines = [decision["verdict"], *reasons, *filter(None, [persons, task])]
        return lines + [f"Next: {line}" for line in decision["next"]]

    def to_json(self, path: str | Path) -> None:
        """Write the report for programs, whole or not at all; only its owner can read it."""
        write_private(path, json.dumps(self.content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def to_html(self, path: str | Path) -> None:
        """Write the report for people, whole or not at all; only its owner can read it."""
        write_private(path, self.html())

    def html(self) -> str:
        """Return the report for people."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup, escape

        from textsan.auditing import drawing

        engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        engine.loader = FileSystemLoader(TEMPLATE.parent)
        engine.filters |= {"percent": percent, "odds": odds, "interval": interval, "factor": factor}
        engine.filters["number"] = "{:,}".format
        engine.filters["options"] = lambda line: Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(line))))
        content, persons = self.content, self.content.get("persons")
        given: dict[str, Any] = {"releases": (), "limitations": (), **content, "used": used(content["use"])}
        given |= {"identified": identified(persons), "of_persons": identified, "draw": drawing, "figures": figures}
        if content["mechanism"] is not None:
            given |= {"fates": fates(content), "shares": word_fates(content), "compared": compared(content)}
            given |= {"groups": GROUPS, "strongest": strongest, "zip": zip}
        return engine.get_template(TEMPLATE.name).render(given)

    def clear(self) -> None:
        """Remove what was kept of the audit while it ran."""
        if self.parts is not None:
            shutil.rmtree(self.parts, ignore_errors=True)


def fates(content: Mapping[str, Any]) -> list[tuple[str, float, str]]:
    """Return what becomes of the words of the text: the class of each drawn square, its share, and its legend."""
    unknown_become = content["about"]["unknown_become"]
    shown = {
        "kept": ("through", "released as they are, by the mechanism's own rule"),
        "unknown": ("through" if unknown_become == "keep" else "unknown", f"off the list, {FATE[unknown_become]}"),
        "unchanged": ("through", "drawn as themselves, and so released verbatim"),
        "named": ("named", "recovered by the strongest attack"),
        "rest": ("rest", "not recovered"),
    }
    return [(shown[name][0], share, shown[name][1]) for name, share in word_fates(content).items()]


def compared(content: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return attacks beside what is exact and promised, of protected words, the largest share first."""
    words = content["words"]
    rows = []
    for owner, who in OWNERS.items():
        if (best := strongest([row for row in words["attacks"] if row["owns"] == owner])) is not None:
            rows.append((f"strongest attack, {who.removeprefix('an attacker ')}: {best['label']}", best["value"]))
    exact = words["exact"]
    rows += [
        ("the most that the guarantee alone allows, from single words", exact["promised"]),
        ("V(X|Y) by the counts of this very text", exact["own"]),
        ("the best guess without any release", exact["blind"]),
    ]
    if exact["held_out"] is not None:
        rows.append(("V(X|Y) by the frequencies of held-out rows", exact["held_out"]))
    return sorted(rows, key=lambda row: -row[1])


def used(use: Mapping[str, Any] | None) -> str:
    """Return a sentence on what a task keeps, of `use.kept`; "" where no task was asked about."""
    if not use:
        return ""
    return (
        f"Of 100 documents a classifier tells the class of {percent(use['released']['value'])} from the release, "
        f"of {percent(use['original']['value'])} from the originals; {percent(use['largest'])} are of the "
        f"largest class{not_shown(use['released'], use['largest'], 'the release tells more')}."
    )


def identified(persons: Mapping[str, Any] | None) -> str:
    """Return a sentence on how many persons are identified, of `linking.persons`; "" where none was sought."""
    if not persons or not (found := persons["linkage"]):
        return ""
    main, control = found["main"], found["control"]["value"]
    return (
        f"Of 100 persons with two texts or more, an attacker who holds half of each one's texts identifies "
        f"{percent(main['value'])} among {found['among']:,} by their other releases; by those of somebody else "
        f"{percent(control)}{not_shown(found['excess'], 0, 'the own ones tell more')}."
    )


def figures(audit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of an audit without a mechanism that stand in a comparison."""
    words, linkage = audit["words"], audit["linkage"]
    guesses = words["guesses"]["attacks"] if words["guesses"] else ()
    return {
        "left": next(row for row in words["verbatim"] if row["group"] == "all"),
        "guessed": max(guesses, key=lambda row: row["value"], default=None),
        "found": max(linkage["attacks"], key=lambda row: row["main"]["value"]),
        "length": linkage["length"],
    }


def _line(audit: Mapping[str, Any]) -> str:
    """A release in a line: its first line, and what it leaves, gives away and keeps."""
    found, use = figures(audit), audit["use"]
    shares = {
        "words verbatim": found["left"],
        "guessed": found["guessed"],
        "documents identified": found["found"]["main"],
    }
    shares |= {"length alone": found["length"], "class told": use and use["released"]}
    parts = [f"{name} {percent(row['value'])}" for name, row in shares.items() if row]
    return f"{audit['decision']['verdict']}. Of 100: {', '.join(parts)}."
