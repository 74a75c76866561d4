"""The quality of finders of personal names, on texts that were read by hand."""

import csv
import hashlib
from collections.abc import Sequence

from textsan.base.project import project_data
from textsan.evaluation import Estimate, hit_rate
from textsan.text.corpora import Record, load_dataset
from textsan.text.names import find_names
from textsan_book.studies.experiments import columns

CHECKED = "names_checked.csv"
"""In `data/`: which texts were read, and where in them names stand."""


def checked_names(docs: Sequence[Record]) -> tuple[set[int], set[tuple[int, int]]]:
    """Find the documents that were read by hand, and the (document, index) positions of the names in them.

    They are recognised by a hash, since the table holds no text. Read were sentences of the test splits of rt and
    nyt, where no rule of a finder was tried, and reviews of yelp; before any finder had its say. A person in the
    title of a film counts ("Evelyn"), a company named after one does not.
    """
    with (project_data() / CHECKED).open(encoding="utf8", newline="") as lines:
        known = {row["sentence"]: row["names"].split() for row in csv.DictReader(lines)}
    read, names = {}, set()
    for d, record in enumerate(docs):
        key = hashlib.sha256(record.text.encode()).hexdigest()[:16]
        if key in known and key not in read:
            read[key] = d
            names |= {(d, int(i)) for i in known[key]}
    return set(read.values()), names


def measure(dataset: str, finder: str, *, cased: bool = True) -> dict[str, str | int | Estimate]:
    """Measure precision and recall of a finder on the texts that were read by hand, with Wilson intervals.

    "census" learns surnames from the whole data set (rt, nyt or yelp); the other finder is "presidio". Without
    capitals (`cased`) it sees tokens, which is all that some data sets have.
    """
    docs = load_dataset(dataset, "all")
    read, truth = checked_names(docs)
    if not read:
        raise ValueError(f"dataset: no text of {dataset!r} was read by hand; pass rt or nyt")
    # Presidio looks at one text at a time and is slow; the others need not be shown to it.
    shown = [record if finder == "census" or d in read else Record("") for d, record in enumerate(docs)]
    shown = shown if cased else [record.tokens for record in shown]
    positions = {position for position in find_names(shown, finder) if position[0] in read}
    right = {
        "precision": [position in truth for position in sorted(positions)],
        "recall": [position in positions for position in sorted(truth)],
    }
    rates = {name: hit_rate(hits) for name, hits in right.items()}
    return {"dataset": dataset, "finder": finder, "texts": len(read), "names": len(truth), **rates}


def finders(*, dataset: str, finder: str) -> list[dict]:
    """Measure a finder with the capitals shown, as one row."""
    measured = measure(dataset, finder)
    row = {"texts": measured["texts"], "names": measured["names"]}
    for name in ("precision", "recall"):
        row |= columns(measured[name], f"{name}_")
    return [row]
