"""Personal names in documents: which positions the names chapter attacks."""

from collections.abc import Sequence
from functools import cache

from textsan.base import checks
from textsan.text.casing import TITLES, surface
from textsan.text.census_names import census_names
from textsan.text.vocabulary import STOP_WORDS


def find_names(docs: Sequence, finder: str | None = None) -> list[tuple[int, int]]:
    """Find positions of names: given and family names of people, real or invented; no titles, no initials.

    Args:
        docs: records, strings or token lists. Give records where there are some: their text has the case.
        finder: "presidio" (extra `pii`), "census", or None: Presidio where it and an English model are
            installed. A chapter names one, so that its numbers do not depend on what is installed.

    Returns:
        (document, index) pairs in order; the index counts `tokenize`'s tokens, `.tokens` of a record.

    >>> find_names(["Then Ann Smith met the mayor, Mr. Smith."], "census")
    [(0, 1), (0, 2), (0, 9)]
    """
    if isinstance(docs, str):
        raise ValueError("docs: a string; pass a list of documents")
    if finder is None:
        finder = "presidio" if is_presidio_here() else "census"
    if checks.choice("finder", finder, ("census", "presidio")) == "presidio":
        return _presidio_names(docs)
    return census_names([surface(document) for document in docs])


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


def is_presidio_here() -> bool:
    """Return whether Presidio and an English model are installed."""
    return _english_model() is not None


@cache
def analyzer():
    """Build Presidio's analyzer of English text, with the installed spaCy model."""
    if not is_presidio_here():
        raise ValueError("finder: 'presidio' needs Presidio and an English model; pip install '.[pii]' in a clone")
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    # Presidio's own default would download a model.
    models = [{"lang_code": "en", "model_name": _english_model()}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def spans_of(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Find the words of a text in it, in their order and in any case: where each begins and ends.

    >>> spans_of("Ask Ann's friend", ["ask", "ann", "'s", "friend"])
    [(0, 3), (4, 7), (7, 9), (10, 16)]
    """
    lower, spans, end = "".join(c.lower() if len(c.lower()) == 1 else c for c in text), [], 0
    for word in words:
        start = max(end, lower.find(word.lower(), end))
        end = start + len(word)
        spans.append((start, end))
    return spans


def _presidio_names(docs: Sequence) -> list[tuple[int, int]]:
    presidio, found = analyzer(), []
    for d, document in enumerate(docs):
        words = surface(document)
        text = getattr(document, "text", document if isinstance(document, str) else " ".join(words))
        people = presidio.analyze(text, language="en", entities=["PERSON"])
        for i, (word, (start, end)) in enumerate(zip(words, spans_of(text, words), strict=True)):
            is_name = len(word) > 1 and word[0].isalpha() and word.lower() not in STOP_WORDS | TITLES
            if is_name and any(span.start < end and start < span.end for span in people):
                found.append((d, i))
    return found
