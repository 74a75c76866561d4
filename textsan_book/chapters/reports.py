"""The reports that the page *Decide* shows: audits of public text.

`python -m textsan_book.chapters.reports` makes them. What an audit found is stored in `book/reports`, as the json
that `textsan audit` writes; the pages are drawn from it when the book is built, by the package's own template. No
report quotes a rare word of its text.
"""

import json
import re
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from textsan import audit, load_embeddings, load_split
from textsan.auditing.deciding import word_fates
from textsan.auditing.drawing import squares
from textsan.auditing.report import Report, fates
from textsan.mechanisms import MECHANISMS, make_mechanism

FOLDER = Path("book", "reports")
VOCABULARY = 20_000  # words: the default of the command


class Example(NamedTuple):
    """An audit of some documents of a public corpus, under a name of one or two words.

    `outside` are other rows, which the attacker owns; 0 lets the audit hold half of the rows out. The limits are
    the largest shares that are tolerated; columns `beside` are released as they are; with `label` the sign of a
    row's score is the class that a task needs.
    """

    name: str
    dataset: str
    documents: int
    outside: int
    mechanism: str
    epsilon: float
    limits: dict[str, float]
    beside: tuple[str, ...] = ()
    label: bool = False


EXAMPLES = {
    "not-kept": Example(
        "Limit not kept", "drugs", 100, 250, "custext+", 1.0, {"words": 0.3}, ("patient", "condition", "drug")
    ),
    "kept": Example(
        "Limit kept", "amazon", 200, 400, "santext", 2.0, {"words": 0.3, "documents": 1.0}, label=True
    ),
    "not-shown": Example("Not shown", "tweets", 40, 0, "santext", 2.0, {"words": 0.3, "documents": 1.0}),
}
"""By the name of its file."""


MARKS = (
    '<p class="verdict ',
    "<h3>What to change next",
    "<figcaption>What becomes of 100 words",
    "<figcaption>Of 100 documents",
    "<h3>What these figures do not cover",
)
"""The places of a report's first screen that the page explains, in their order."""

_BADGE = """
.callout { display: inline-grid; place-items: center; width: 1.5em; height: 1.5em; margin-right: .4em;
  border-radius: 50%; background: var(--told); color: var(--page); font: 700 1rem/1 system-ui, sans-serif; }
</style>"""
_OPENING = re.compile(r"<[^>]*>")


def read(root: Path, name: str) -> dict[str, Any]:
    """Read what the audit of an example has found."""
    return json.loads((root / FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def annotated(content: Mapping[str, Any]) -> str:
    """Return the report for people with a number at each place of `MARKS`."""
    page = Report(dict(content)).html().replace("</style>", _BADGE, 1)
    for number, mark in enumerate(MARKS, 1):
        at = page.find(mark)
        if at < 0:
            raise ValueError(f"mark: the report has no {mark!r}; change MARKS with the template")
        end = _OPENING.match(page, at).end()  # type: ignore[union-attr]  # a mark begins with a tag
        page = f'{page[:end]}<span class="callout">{number}</span>{page[end:]}'
    return page


def outcome(content: Mapping[str, Any], *, small: bool = False) -> str:
    """Draw the verdict and what becomes of 100 words, in the style of the book's pages; small without legend."""
    verdict = content["decision"]["verdict"]
    kinds = [kind for kind in fates(content) if kind[1] > 0]
    alt = "; ".join(f"{percent(share)} {legend}" for _, share, legend in kinds)
    drawn = squares(kinds, f"Of 100 words of the text: {alt}")
    legend = "".join(
        f'<li><span class="key {kind}"></span> <strong>{percent(share)}</strong> {escape(text)}</li>'
        for kind, share, text in kinds
    )
    listed = "" if small else f"<ul>{legend}</ul>"
    heading = f'<p class="verdict">{escape(verdict)}</p>'
    return f'<div class="report-outcome{" small" if small else ""}">{heading}{drawn}{listed}</div>'


def percent(share: float) -> str:
    """Round a share to a whole number of a hundred."""
    return f"{100 * share:.0f}"


def texts(root: Path) -> dict[str, str]:
    """Compute the numbers of the page *Decide*, by the names that its text has in their places."""
    found = {}
    for name, example in EXAMPLES.items():
        content = read(root, name)
        label = name.replace("-", "_")
        limits = {row["limit"]: row for row in content["decision"]["limits"]}
        found |= {
            f"{label}_rows": f"{content['about']['rows']}",
            f"{label}_attacked": f"{content['about']['documents']}",
            f"{label}_epsilon": f"{example.epsilon:g}",
            f"{label}_limit": percent(example.limits["words"]),
            f"{label}_words": percent(limits["words"]["value"]),
            f"{label}_most": percent(limits["words"]["high"]),
            f"{label}_documents": percent(content["linkage"]["main"]["value"]),
            f"{label}_length": percent(content["linkage"]["length"]),
            f"{label}_among": f"{content['linkage']['among']:,}",
        }
        found |= {f"{label}_share_{fate}": percent(share) for fate, share in word_fates(content).items()}
        if use := content["use"]:
            found |= {f"{label}_use_{key}": percent(use[key]["value"]) for key in ("original", "released")}
            found |= {f"{label}_use_largest": percent(use["largest"])}
    return found


def make(example: Example) -> Report:
    """Audit an example anew."""
    split = load_split(example.dataset, example.documents, max(example.outside, 1), seed=0)
    words = load_embeddings().frequent(VOCABULARY)
    return audit(
        [record.text for record in split.records],
        make_mechanism(example.mechanism, words, epsilon=example.epsilon),
        shadow=split.shadow if example.outside else None,
        labels=[_sign(record.label) for record in split.records] if example.label else None,
        beside=example.beside,
        tolerate=example.limits,
        quotes=False,
        seed=0,
        called=MECHANISMS[example.mechanism].label,
    )


def _sign(score: str | float | None) -> str | None:
    """The class of a review by its score."""
    return None if score is None else "praise" if float(score) > 0 else "blame"


def write(root: Path, name: str) -> None:
    """Audit an example and store what was found."""
    content = make(EXAMPLES[name]).content
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    (root / FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or EXAMPLES:
        write(Path(__file__).parents[2], chosen)
