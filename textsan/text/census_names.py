"""Names by the name lists of the 1990 US census and the case of the text.

A given name that is not used as a word starts a name, a title announces one, what follows as a surname goes on
with it, and who was introduced so is recognised by the surname alone.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from textsan.base import assets
from textsan.text.casing import TITLES, capitals, lower_share
from textsan.text.vocabulary import STOP_WORDS

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
    paris philadelphia phoenix queens rome salem savannah sydney vegas venice vienna york
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


class Lists(NamedTuple):
    """Given and family names, lower-cased."""

    given: frozenset[str]
    family: frozenset[str]


@cache
def name_lists() -> Lists:
    """The census bureau's lists; each covers 90 % of the population.

    >>> "mary" in name_lists().given, "smith" in name_lists().family
    (True, True)
    """
    folder = assets.fetch("census-names")

    def names(file):
        with (folder / file).open(encoding="ascii") as lines:
            return frozenset(line.split()[0].lower() for line in lines)

    return Lists(names("dist.male.first") | names("dist.female.first"), names("dist.all.last"))


def _is_typical(word: str) -> bool:
    """Return whether the cased corpora never write a word small, or less often than large."""
    return lower_share().get(word, 0.0) < 0.5 and word not in STOP_WORDS


class _Text:
    """One document with what the rules ask of its positions."""

    def __init__(self, words: list[str]):
        self.words = [word.lower() for word in words]
        self.capitals = capitals(words)

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
        if len(word) < 2 or not word[0].isalpha() or self.capitals[i] is False or word in STOP_WORDS | TITLES:
            return False
        proofs = (word in name_lists().family) + _is_typical(word)
        return proofs == 2 or (proofs == 1 and self.capitals[i] is True)

    def is_given(self, i: int) -> bool:
        word, after = self.word(i), self.word(i + 1)
        if not self.may_be(i, name_lists().given) or self.is_place(i) or word in STOP_WORDS | TITLES:
            return False
        if _is_typical(word) and word not in _NOT_PERSONS:
            return True
        named = self.may_be(i + 1, name_lists().family) and _is_typical(after) and after not in _NOT_PERSONS
        return bool(named and self.capitals[i] and self.capitals[i + 1])

    def may_be_foreign(self, i: int) -> bool:
        """Before a surname: a capital, and no word or place that is known."""
        known = STOP_WORDS | TITLES | _NOT_PERSONS | _PLACE_PREFIXES | _PLACE_SUFFIXES
        word = self.word(i)
        return len(word) > 1 and self.capitals[i] is True and _is_typical(word) and word not in known

    def is_titled(self, i: int) -> bool:
        before = i - 2 if self.word(i - 1) == "." else i - 1
        is_surname = self.is_surname(i) and _is_typical(self.word(i)) and self.word(i) not in _PLACE_SUFFIXES
        return self.word(before) in TITLES and is_surname

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


def census_names(surfaces: Sequence[list[str]]) -> list[tuple[int, int]]:
    """Positions of names in documents whose words are written as in their text, see `names.find_names`."""
    texts = [_Text(words) for words in surfaces]
    found = set()
    introduced: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    for d, text in enumerate(texts):
        for i, word in enumerate(text.words):
            occurrences[word] += text.capitals[i] is not False
            given = text.is_given(i)
            if given or text.is_titled(i):
                name = [i, *text.surnames_after(i)]
                found |= {(d, j) for j in name}
                if len(name) > 1 or not given:
                    introduced[text.words[name[-1]]] += 1
    # Who was introduced by a full name or a title is called by the surname afterwards. A word that is rarely
    # introduced so is none: a Bobby Burger does not make a family of all burgers.
    families = {word for word, n in introduced.items() if _is_typical(word) and 20 * n > occurrences[word]}
    families -= _NOT_PERSONS | _PLACE_PREFIXES | _PLACE_SUFFIXES
    for d, text in enumerate(texts):
        for i in range(len(text.words)):
            if text.may_be(i, families) and not text.is_place(i):
                found |= {(d, j) for j in ([i - 1, i] if text.may_be_foreign(i - 1) else [i])}
    return sorted(found)
