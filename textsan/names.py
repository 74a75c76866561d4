"""Personal names in documents: which positions the names chapter attacks.

Names are found by Presidio, or by the name lists of the 1990 US census and the case of the text: a given name
that is not used as a word, and what follows it as a surname does. What a word is otherwise, a place or a common
word, the lists do not say; both finders are measured on hand-checked sentences, `data/results/names-checked.csv`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from textsan import assets, checks
from textsan.datasets import Record, load_dataset
from textsan.vocabulary import STOP_WORDS, tokenize

_CASED = ("rt", "nyt", "tweets")  # corpora whose case tells names from common words ("bill", "rose")
_SENTENCE_ENDS = frozenset(".!?:;\"'`*([{-") | {"--", "..", "...", "....", "\u201c"}
_TITLES = frozenset(
    """mr mrs ms miss dr sir sen senator rep representative gov governor president mayor judge justice secretary
    capt captain prof professor aunt uncle pope jr sr""".split()
)
_PARTICLES = frozenset("al bin da de del della der di du el la le st ten van von".split())

# Entries of the census lists that are a place, a people, a month, a prize or a sound more often than a person.
_NOT_PERSONS = frozenset(
    """january april may june august september sunday tuesday easter christmas oscar emmy santa christian
    africa america asia europe argentina austria brazil china cuba egypt england france germany holland
    india iran ireland israel italy japan jordan kenya lebanon mexico poland russia scotland spain trinidad wales
    alabama alaska arizona california carolina colorado dakota florida georgia indiana jersey kansas kentucky
    louisiana maryland michigan minnesota montana nevada ohio oregon tennessee texas utah virginia washington
    albany atlanta austin berlin boston brooklyn cairo camden chicago cleveland columbus dallas denver detroit
    florence geneva havana hollywood houston lima london manhattan memphis miami milan moscow orleans oxford
    paris philadelphia phoenix queens rome salem savannah sydney venice vienna york
    american british chinese english french german greek irish israeli italian roman russian scotch spanish
    disney ford god ha hong jewish kong lord king queen prince princess lady xerox""".split()
)
_PLACE_PREFIXES = frozenset("san santa los las st saint new fort mount mt port lake north south east west".split())
_PLACE_SUFFIXES = frozenset(
    """act administration avenue ave award boulevard bridge bros brothers building center centre church city
    college company corp corporation county court department falls foundation hall hospital house hotel inc
    institute island islands lake library museum park prize river road school square stadium state street theater
    theatre tower university valley""".split()
)


class _Lists(NamedTuple):
    given: frozenset[str]
    family: frozenset[str]


@cache
def _census() -> _Lists:
    folder = assets.fetch("census-names")

    def names(file):
        with (folder / file).open(encoding="ascii") as lines:
            return {line.split()[0].lower() for line in lines}

    given = names("dist.male.first") | names("dist.female.first")
    return _Lists(frozenset(given), frozenset(names("dist.all.last")))


@cache
def _lower_share() -> dict[str, float]:
    """Share of lower-case occurrences of each word inside of the sentences of the cased corpora."""
    upper, lower = Counter(), Counter()
    for name in _CASED:
        for record in load_dataset(name, "all"):
            for word, capital in zip(record.tokens, _capitals(surface(record)), strict=True):
                if capital is not None:
                    (upper if capital else lower)[word] += 1
    return {word: lower[word] / (upper[word] + lower[word]) for word in {*upper, *lower}}


def surface(document: Record | str | Sequence[str]) -> list[str]:
    """The tokens of a document as they are written, with capital letters where its text has them.

    Args:
        document: a record, a string, or a token list, which is its own surface.

    >>> surface("Ask Ann's friend")
    ['Ask', 'Ann', "'s", 'friend']
    """
    if not isinstance(document, (Record, str)):
        return list(document)
    text = document if isinstance(document, str) else document.text
    lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text).replace("\u2019", "'")
    tokens, start = [], 0
    for token in tokenize(text):
        found = lower.find(token, start)
        if found < 0:  # one of the few letters whose lower case is two
            tokens.append(token)
            continue
        start = found + len(token)
        tokens.append(text[found:start])
    return tokens


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
    surfaces = [surface(document) for document in docs]
    if finder is None:
        finder = "presidio" if _english_model() else "census"
    if checks.choice("finder", finder, ("census", "presidio")) == "presidio":
        return _presidio_names(surfaces)
    return _census_names(surfaces)


# --- census lists -------------------------------------------------------------------------------------------


def _capitals(words: list[str]) -> list[bool | None]:
    """Whether each word has a capital; None where that says nothing: first words, shouting, text without case."""
    letters = [word for word in words if word.isalpha()]
    share = sum(word[0].isupper() for word in letters) / max(1, len(letters))
    if not any(map(str.isupper, "".join(words))) or share > 0.7:
        return [None] * len(words)
    capitals, first = [], True
    for before, word in zip(["", *words], words, strict=False):
        shouted = len(word) > 1 and word.isupper()
        capitals.append(None if first or shouted or not word[0].isalpha() else word[0].isupper())
        abbreviated = word == "." and (before.lower() in _TITLES or (len(before) == 1 and before.isupper()))
        first = word in _SENTENCE_ENDS and not abbreviated
    return capitals


def _is_typical(word: str) -> bool:
    """Whether the cased corpora never write it small, or less often than large."""
    return _lower_share().get(word, 0.0) < 0.5 and word not in STOP_WORDS


class _Text:
    """One document with what the rules ask of its positions."""

    def __init__(self, words: list[str]):
        self.words = [word.lower() for word in words]
        self.capitals = _capitals(words)

    def word(self, i: int) -> str:
        return self.words[i] if 0 <= i < len(self.words) else ""

    def may_be(self, i: int, names) -> bool:
        word = self.word(i)
        return word in names and len(word) > 1 and self.capitals[i] is not False

    def is_place(self, i: int) -> bool:
        before = i - 2 if self.word(i - 1) == "." else i - 1
        return self.word(before) in _PLACE_PREFIXES or self.word(i + 1) in _PLACE_SUFFIXES

    def is_surname(self, i: int) -> bool:
        """After a given name or a title: a capital, and on the list or no common word; both without case."""
        word = self.word(i)
        if len(word) < 2 or not word[0].isalpha() or self.capitals[i] is False or word in STOP_WORDS | _TITLES:
            return False
        proofs = (word in _census().family) + _is_typical(word)
        return proofs == 2 or (proofs == 1 and self.capitals[i] is True)

    def is_given(self, i: int) -> bool:
        word, after = self.word(i), self.word(i + 1)
        if not self.may_be(i, _census().given) or self.is_place(i) or word in STOP_WORDS | _TITLES:
            return False
        if _is_typical(word) and word not in _NOT_PERSONS:
            return True
        named = self.may_be(i + 1, _census().family) and _is_typical(after) and after not in _NOT_PERSONS
        return bool(named and self.capitals[i] and self.capitals[i + 1])

    def may_be_foreign(self, i: int) -> bool:
        """Before a surname: a capital, and no word or place that is known."""
        known = STOP_WORDS | _TITLES | _NOT_PERSONS | _PLACE_PREFIXES | _PLACE_SUFFIXES
        word = self.word(i)
        return len(word) > 1 and self.capitals[i] is True and _is_typical(word) and word not in known

    def is_titled(self, i: int) -> bool:
        before = i - 2 if self.word(i - 1) == "." else i - 1
        is_surname = self.is_surname(i) and _is_typical(self.word(i)) and self.word(i) not in _PLACE_SUFFIXES
        return self.word(before) in _TITLES and is_surname

    def surnames_after(self, i: int) -> list[int]:
        """Positions that go on with a name: middle names, particles and surnames; initials are passed over."""
        found, particles = [], []
        i += 1
        while i < len(self.words):
            word = self.words[i]
            if len(word) == 1 and word.isalpha() and self.capitals[i] and self.word(i + 1) == ".":
                i += 2
                continue
            if word in _PARTICLES and not self.is_place(i):
                particles.append(i)
            elif self.is_surname(i):
                found += [*particles, i]
                particles = []
            else:
                break
            i += 1
        return found


def _census_names(surfaces: list[list[str]]) -> list[tuple[int, int]]:
    texts = [_Text(words) for words in surfaces]
    found, families = set(), set()
    for d, text in enumerate(texts):
        for i in range(len(text.words)):
            given = text.is_given(i)
            if given or text.is_titled(i):
                name = [i, *text.surnames_after(i)]
                found |= {(d, j) for j in name}
                if len(name) > 1 or not given:
                    families.add(text.words[name[-1]])
    # Who was introduced by a full name or a title is called by the surname afterwards.
    families = {word for word in families if _is_typical(word)} - _NOT_PERSONS - _PLACE_PREFIXES - _PLACE_SUFFIXES
    for d, text in enumerate(texts):
        for i in range(len(text.words)):
            if text.may_be(i, families) and not text.is_place(i):
                found |= {(d, j) for j in ([i - 1, i] if text.may_be_foreign(i - 1) else [i])}
    return sorted(found)


# --- Presidio -----------------------------------------------------------------------------------------------


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


def _presidio_names(surfaces: list[list[str]]) -> list[tuple[int, int]]:
    if _english_model() is None:
        raise ValueError("finder: 'presidio' needs Presidio and an English model; pip install 'textsan[pii]'")
    found = []
    for d, words in enumerate(surfaces):
        starts, length = [], 0
        for word in words:
            starts.append(length)
            length += len(word) + 1
        people = _analyzer().analyze(" ".join(words), language="en", entities=["PERSON"])
        for i, (start, word) in enumerate(zip(starts, words, strict=True)):
            is_name = len(word) > 1 and word[0].isalpha() and word.lower() not in STOP_WORDS | _TITLES
            if is_name and any(span.start < start + len(word) and start < span.end for span in people):
                found.append((d, i))
    return found
