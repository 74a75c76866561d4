"""Personal names in documents: which positions the names chapter attacks."""

import csv
import hashlib
from collections.abc import Sequence
from functools import cache

from textsan.base import checks
from textsan.base.assets import DATA
from textsan.text.casing import TITLES, surface
from textsan.text.census_names import census_names
from textsan.text.corpora import Record
from textsan.text.vocabulary import STOP_WORDS

_CHECKED = DATA / "names-checked.csv"


def find_names(docs: Sequence, finder: str | None = None) -> list[tuple[int, int]]:
    """Positions of personal names: given and family names of people, real or invented; no titles, no initials.

    Args:
        docs: records, strings or token lists. Give records where there are some: their text has the case.
        finder: "presidio" (extra `pii`), "census", or None: Presidio where it and an English model are
            installed. A chapter names one, so that its numbers do not depend on what is installed.

    Returns:
        (document, index) pairs in order; the index counts `tokenize`'s tokens, `.tokens` of a record.

    Raises:
        ValueError: unknown finder, or "presidio" is not installed.

    >>> find_names(["Then Ann Smith met the mayor, Mr. Smith."], "census")
    [(0, 1), (0, 2), (0, 9)]
    """
    if isinstance(docs, str):
        raise ValueError("docs: a string; pass a list of documents")
    if finder is None:
        finder = "presidio" if _english_model() else "census"
    if checks.choice("finder", finder, ("census", "presidio")) == "presidio":
        return _presidio_names(docs)
    return census_names([surface(document) for document in docs])


def checked_names(docs: Sequence[Record]) -> tuple[set[int], set[tuple[int, int]]]:
    """The documents that were read by hand, and the positions of the names in them.

    They are recognised by a hash, since the table holds no text. Read were sentences of the test splits of rt and
    nyt, where no rule of a finder was tried, and reviews of yelp; before any finder had its say. A person in the
    title of a film counts ("Evelyn"), a company named after one does not.

    Args:
        docs: records of one data set.

    Returns:
        numbers of the documents, and (document, index) pairs.

    >>> checked_names([Record("Nobody has read this.")])
    (set(), set())
    """
    with _CHECKED.open(encoding="utf8", newline="") as lines:
        known = {row["sentence"]: row["names"].split() for row in csv.DictReader(lines)}
    read, names = {}, set()
    for d, record in enumerate(docs):
        key = hashlib.sha256(record.text.encode()).hexdigest()[:16]
        if key in known and key not in read:
            read[key] = d
            names |= {(d, int(i)) for i in known[key]}
    return set(read.values()), names


@cache
def _english_model() -> str | None:
    """Name of an installed English spaCy model, the largest first; None if it or Presidio is not installed."""
    try:
        import presidio_analyzer  # noqa: F401
        import spacy
    except ImportError:
        return None
    installed = [name for name in spacy.util.get_installed_models() if name.startswith("en_core_web")]
    return next((name for size in ("_trf", "_lg", "_md", "_sm") for name in installed if size in name), None)


@cache
def _analyzer():
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    # Presidio's own default would download a model.
    models = [{"lang_code": "en", "model_name": _english_model()}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def _presidio_names(docs: Sequence) -> list[tuple[int, int]]:
    if _english_model() is None:
        raise ValueError("finder: 'presidio' needs Presidio and an English model; pip install 'textsan[pii]'")
    found = []
    for d, document in enumerate(docs):
        words = surface(document)
        text = getattr(document, "text", document if isinstance(document, str) else " ".join(words))
        people = _analyzer().analyze(text, language="en", entities=["PERSON"])
        end = 0
        for i, word in enumerate(words):
            start = max(end, text.find(word, end))
            end = start + len(word)
            is_name = len(word) > 1 and word[0].isalpha() and word.lower() not in STOP_WORDS | TITLES
            if is_name and any(span.start < end and start < span.end for span in people):
                found.append((d, i))
    return found
