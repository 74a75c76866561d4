"""The numbers of the front page, from the committed tables.

The attacker of the first picture is not told which positions are attacked, and a word has a letter or a digit, as
the rules of `data/sweeps/mixture.yml` ask.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from textsan.base.project import project_data
from textsan.evaluation import Estimate
from textsan.sweeps.hits import load_hits
from textsan.sweeps.tables import select
from textsan.text.vocabulary import STOP_WORDS
from textsan_book.chapters import paper_pages, reports
from textsan_book.chapters.reports import percent
from textsan_book.judging import on_words, stored, tradeoffs

TABLE = "mixture.csv"
"""The table of attacks on the words of film reviews, with the strongest attacker that the page speaks of."""

READERS = ("context-free", "mixture")  # by counting, and with a language model
BESIDE = "public-mixture.csv"  # the same, with a public table of word pairs as well
PATH = "santext"  # whose settings a line joins
CARD = Path("book", "card.json")  # a sentence read back, from `textsan_book.studies.card`
LINES = ("written", "released", "read back")
_PLACE = r"\{\{ (\w+) \}\}"
COMPARED = ("agrees", "differs", "undecided")


class Budget(NamedTuple):
    """Of protected words at one epsilon, the shares that come out unchanged and that attackers read."""

    epsilon: float
    unchanged: Estimate
    counted: Estimate
    language: Estimate
    seeds: tuple[int, ...]


class Setting(NamedTuple):
    """A mechanism at one epsilon: shares disclosed of a document, and kept of what a classifier learns."""

    mechanism: str
    epsilon: float
    disclosed: float
    kept: Estimate

    @property
    def name(self) -> str:
        """The sanitizer and its epsilon."""
        return f"{stored.called(self.mechanism)} at ε = {self.epsilon:g}"

    def __str__(self) -> str:
        return f"{percent(self.disclosed)} % disclosed, {with_ends(self.kept)} kept"


def _of_words_in(table: str, **where) -> tuple[pd.DataFrame, Mapping]:
    """Rows of a table, and what was hit of all of them."""
    return select(stored.table(table), where), load_hits(project_data() / "results" / table)


def budgets() -> list[Budget]:
    """Read what attackers find in film reviews under CusText+, by epsilon, from `TABLE`."""
    rows, hits = _of_words_in(TABLE, **{"dataset": "rt", "defence": "custext+", "attack.told": False})
    by_epsilon = []
    for epsilon, group in rows.groupby("epsilon"):
        counted, language = (select(group, {"attack": attack}) for attack in READERS)
        (seeds,) = {tuple(sorted(side.seed)) for side in (counted, language)}
        events = (counted, "unchanged"), (counted, "hit"), (language, "hit")
        shares = (on_words.share(of, hits, event) for of, event in events)
        by_epsilon.append(Budget(float(epsilon), *shares, seeds))
    return by_epsilon


def larger() -> list[Estimate]:
    """Compute how many more words a larger language model, alone and given the positions, finds than the mixture.

    The mixture has no model. A difference a corpus and epsilon.
    """
    model, table = {"attack.model": "gemma3-270m"}, project_data() / "results" / "alone-gemma.csv"
    return [*on_words.gains(table, model, "mixture without language", ["dataset", "epsilon"]).gain]


def settings(unlisted: str = "draw") -> list[Setting]:
    """Return what settings of four sanitizers disclose, and keep of sentiment on SST-2 for a frozen encoder."""
    names = "sanitizer", "epsilon", "exposure", "kept"
    return [Setting(*map(row.get, names)) for row in tradeoffs.settings(tradeoffs.grid(unlisted))]


Line = list[tuple[str, str]]
"""Words, each with "" or, where one with a letter or a digit is as written, "kept" (the sanitizer keeps it),
"same" (released unchanged) or "hit" (read back)."""


def readings(root: Path) -> dict[float, dict[str, Line]]:
    """Read the sentence of the card, as written, released and read back at each epsilon."""
    stored = json.loads((root / CARD).read_text(encoding="utf-8"))
    return {row["epsilon"]: {name: _marked(row, name) for name in LINES} for row in stored}


def _marked(row: Mapping[str, Sequence[str]], name: str) -> Line:
    words = []
    for written, word in zip(row["written"], row[name], strict=True):
        kind = "kept" if written in STOP_WORDS else "same" if name == "released" else "hit"
        agrees = word == written and name != "written" and _of_letters(word)
        words.append((word, kind if agrees else ""))
    return words


def _of_letters(word: str) -> bool:
    """Return whether a word has a letter or a digit."""
    return any(character.isalnum() for character in word)


def recovered(marked: Mapping[str, Line]) -> tuple[int, int]:
    """Count the hidden words of a sentence that are read back, and all that the sanitizer does not keep."""
    hidden = [word for word, _ in marked["written"] if _of_letters(word) and word not in STOP_WORDS]
    return sum(kind == "hit" for _, kind in marked["read back"]), len(hidden)


class Claim(NamedTuple):
    """A claim of a paper that was measured on a scale of shares.

    Its margin is the estimate, less what the claim needs: above 0, what was measured is as claimed.
    """

    paper: str
    claim: str
    verdict: str
    margin: Estimate


def claims() -> list[Claim]:
    """Read the papers' claims that were measured with an interval, with the margin by which each is met."""
    table = pd.read_csv(project_data() / "results" / "claims.csv")
    measured = table[(table.high > table.low) & table.rule.notna()]
    return [
        Claim(row.place.partition(",")[0], row.claim, row.verdict, _margin(row.rule, row.value, row.low, row.high))
        for row in measured.itertuples()
    ]


def _margin(rule: str, value: float, low: float, high: float) -> Estimate:
    """The distance of an estimate from what a rule asks for, in the direction of the claim."""
    kind, asked = re.match(r"(above|at most|within) (\S+)", rule).groups()  # type: ignore[union-attr]
    needed = float(asked)
    if kind == "above":
        return Estimate(value - needed, low - needed, high - needed)
    if kind == "within":
        ends = sorted((abs(low), abs(high)))
        value, low, high = abs(value), 0.0 if low <= 0 <= high else ends[0], ends[1]
    return Estimate(needed - value, needed - high, needed - low)


def published() -> pd.DataFrame:
    """Return a row for every published number, with what became of it (`shown`), trivial agreement apart."""
    board = pd.read_csv(project_data() / "results" / "scoreboard.csv")
    trivial = board.trivial.notna() & board.verdict.isin(COMPARED)
    shown = board.verdict.where(board.verdict.isin(COMPARED) & ~trivial, "not compared")
    return board.assign(shown=shown.where(~trivial, "trivial"))


def blind_guesses(board: pd.DataFrame) -> int:
    """Count the numbers that agree and are rates of a guess that reads nothing."""
    return int(board[board.shown == "agrees"].mechanism_or_method.str.contains("random guess").sum())


def with_ends(estimate: Estimate) -> str:
    """Write an estimate in per cent with its interval.

    >>> with_ends(Estimate(0.321, 0.1, 0.54))
    '32 % [10, 54]'
    """
    return f"{percent(estimate.value)} % [{percent(estimate.low)}, {percent(estimate.high)}]"


def seeds_in_words(seeds: Sequence[int]) -> str:
    """Count random seeds in words.

    >>> seeds_in_words([0]), seeds_in_words([0, 1, 2])
    ('one random seed', '3 random seeds')
    """
    return "one random seed" if len(seeds) == 1 else f"{len(seeds)} random seeds"


def numbers() -> dict[str, str]:
    """Compute the numbers of the front page, by the names that its text has in their places."""
    counted = {"published": of_the_papers(), "claims_drawn": f"{len(claims())}"}
    return _of_words() | _of_settings() | _of_linkage() | counted


def table_of_words(every: Sequence[Budget]) -> str:
    """Write what attackers recover as a table of a page, a row an epsilon."""
    lines = ["| ε | released unchanged | word counts | and a language model |", "|---|---|---|---|"]
    for budget in every:
        shares = map(with_ends, (budget.unchanged, budget.counted, budget.language))
        lines.append(f"| {budget.epsilon:g} | {' | '.join(shares)} |")
    return "\n".join(lines)


def _of_words() -> dict[str, str]:
    every, gains = budgets(), larger()
    by_epsilon = {budget.epsilon: budget for budget in every}
    rows, _ = _of_words_in(TABLE, dataset="rt", defence="custext+")
    beside, hits = _of_words_in(BESIDE, attack=READERS[1], epsilon=4.0)
    shares = [on_words.share(some, hits).value for _, some in beside.groupby("dataset")]
    numbers = {f"language_{epsilon}": by_epsilon[epsilon].language.value for epsilon in (1, 4)}
    numbers |= {"listed": rows.coverage.mean(), "beside_least": min(shares), "beside_most": max(shares)}
    numbers |= {
        "larger_least": min(gain.value for gain in gains),
        "larger_most": max(gain.value for gain in gains),
    }
    numbers |= {"larger_low": min(gain.low for gain in gains), "larger_high": max(gain.high for gain in gains)}
    words = {"table_of_words": table_of_words(every), "seeds": seeds_in_words(by_epsilon[4].seeds)}
    return words | {name: percent(share) for name, share in numbers.items()}


def _of_settings() -> dict[str, str]:
    every = settings()
    half = max(every, key=lambda setting: (setting.kept.value >= 0.5, -setting.disclosed))
    widths = sorted((setting.kept.high - setting.kept.low) / 2 for setting in every)
    texts = {"phrases": _phrases("utility-sst2"), "many_phrases": _phrases("papers-settings-sst2")}
    texts |= {"dots": f"{len(every)}", "width": percent(widths[len(widths) // 2])}
    texts |= {"half": percent(half.disclosed), "half_setting": half.name}
    for rule, candidates in (("", every), ("_kept", settings("keep"))):
        private = [setting for setting in candidates if setting.disclosed < 0.5]
        best = max(private, key=lambda setting: setting.kept.value)
        texts |= {f"private{rule}": f"{len(private)}", f"best_setting{rule}": f"{best.name}, {best}"}
        texts |= {f"best{rule}": percent(best.kept.value)}
    for setting in every:
        if setting.mechanism == PATH:
            words = f"discloses {percent(setting.disclosed)} % of the words and keeps {with_ends(setting.kept)}"
            texts[f"path_{setting.epsilon:g}"] = f"{words} of the task"
    for name, mechanism in (("tuned", "santext+"), ("hidden", "santext")):
        [setting] = (one for one in every if (one.mechanism, one.epsilon) == (mechanism, 3.0))
        rows = select(stored.table("papers-settings-sst2.csv"), {"defence": mechanism, "epsilon": 3.0})
        read = tradeoffs.by_protocol(rows)
        trained, frozen = read["fine-tuned"], read["frozen"].utility.mean()
        shares = {"disclosed": setting.disclosed, "right": trained.utility.mean(), "frozen": frozen}
        shares |= {"chance": trained.chance.mean()}
        texts |= {f"{name}_{what}": percent(share) for what, share in shares.items()}
        texts |= {f"{name}_setting": setting.name, f"{name}_seeds": seeds_in_words(trained.seed)}
    return texts


def _phrases(table: str) -> str:
    """The released phrases that the classifiers of a table learn from."""
    (number,) = set(stored.table(f"{table}.csv").n_private)
    return f"{int(number):,}"


def _of_linkage() -> dict[str, str]:
    rows = select(stored.table("linkage.csv"), {"threat": "original", "candidates": 1000})
    texts, lengths = {}, []
    for mechanism, epsilon in (("custext+", 1), ("santext", 1), ("santext", 2)):
        release = select(rows, {"defence": mechanism, "epsilon": epsilon})
        rate, name = release.main.mean(), f"linked_{mechanism}_{epsilon}".replace("+", "")
        texts[name] = percent(rate) if not 0.995 <= rate < 1 else "> 99"
        lengths.append(release.baseline.mean())
    return texts | {"linked_length": percent(sum(lengths) / len(lengths))}


def of_the_papers() -> str:
    """Count what became of the numbers and the claims of the five papers, in two sentences."""
    board = published()
    claims = pd.read_csv(project_data() / "results" / "claims.csv").verdict.value_counts()
    agree, differ, undecided = (int((board.shown == name).sum()) for name in COMPARED)
    easy = blind_guesses(board)
    return (
        f"The five papers print {len(board)} numbers. {agree + differ + undecided} could fairly be compared with "
        f"one of ours: {agree} agree, {easy} of them the rates of blind guesses, {differ} differ, {undecided} are "
        f"undecided. Of their {claims.sum()} claims in words {claims.get('does not hold', 0)} were refuted and "
        f"{claims.get('holds', 0)} reproduced."
    )


def citation(root: Path) -> str:
    """Cite the book as `CITATION.cff` has it, in words and for BibTeX."""
    cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    names = (one.get("name") or f"{one['given-names']} {one['family-names']}" for one in cff["authors"])
    title, version, authors = cff["title"], cff["version"], ", ".join(names)
    year, url = config["copyright"], config.get("repository", {}).get("url", "")
    fields = {"author": f"{{{authors}}}", "title": title, "year": year, "version": version, "url": url}
    lines = [f"  {name:7} = {{{value}}}," for name, value in fields.items() if value]
    entry = "\n".join(["```bibtex", "@software{textsan,", *lines, "}", "```"])
    return f"{authors} ({year}). *{title}*, version {version}.{url and f' {url}'}\n\n{entry}"


def fill(text: str, root: Path) -> str:
    """Replace each `{{ name }}` of a page by the text of that name; KeyError says that there is none."""
    names, texts = set(re.findall(_PLACE, text)), dict[str, str]()
    makes = lambda root: {"cite": citation(root)}, paper_pages.tables, reports.texts, lambda _: numbers()
    for make in makes:  # the dearest last
        if not names <= set(texts):
            texts |= make(root)
    return re.sub(_PLACE, lambda match: texts[match[1]], text)
