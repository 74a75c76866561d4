"""What the front page says: every number of it, from the committed tables and what a chapter has printed.

The attacker of the first picture is not told which positions are attacked, and a word has a letter or a digit, as
the rules of `data/sweeps/mixture.yml` ask.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat
import pandas as pd
import yaml
from bs4 import BeautifulSoup

from textsan.evaluation import Estimate, bootstrap_mean
from textsan.sweeps.hits import load_hits
from textsan.sweeps.paired import paired_differences
from textsan.sweeps.tables import load_tables, pooled, select
from textsan.text.vocabulary import STOP_WORDS
from textsan_book.chapters import deposit, reading_paths, slides

READERS = {"counted": "context-free", "language": "mixture"}
SANITIZERS = {"santext": "SanText", "santext+": "SanText+", "custext": "CusText", "custext+": "CusText+"}
CHAPTER = "21-what-a-language-model-knows"  # where a sentence is read back
SAID = (1.0, 4.0)  # the budgets of the sentences, those of the published comparison
LINES = {"original": "written", "released": "released", "mixture": "read back"}
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
    """A mechanism at one epsilon: what it gives away of a document, and keeps of what a classifier learns."""

    mechanism: str
    epsilon: float
    given: float
    kept: Estimate


def budgets(root: Path) -> list[Budget]:
    """What `data/results/mixture.csv` has of CusText+ on film reviews, by epsilon.

    Args:
        root: the project's folder.
    """
    path = root / "data" / "results" / "mixture.csv"
    rows, hits = load_tables(path.parent, path.name), load_hits(path)
    rows = select(rows, {"dataset": "rt", "defence": "custext+", "attack.told": False})
    found = []
    for epsilon, some in rows.groupby("epsilon"):
        by = {name: select(some, {"attack": attack}) for name, attack in READERS.items()}
        (seeds,) = {tuple(sorted(one.seed)) for one in by.values()}
        found.append(
            Budget(
                float(epsilon),
                _share(by["counted"], hits, "unchanged"),
                _share(by["counted"], hits, "hit"),
                _share(by["language"], hits, "hit"),
                seeds,
            )
        )
    return found


def listed(root: Path) -> float:
    """Of all tokens that CusText+ replaces in these reviews the share that is on the public list.

    Args:
        root: the project's folder.
    """
    rows = load_tables(root / "data" / "results", "mixture.csv")
    return float(select(rows, {"dataset": "rt", "defence": "custext+"}).coverage.mean())


def larger(root: Path) -> list[Estimate]:
    """What a larger language model, alone and told, finds more of the words than the mixture without one.

    By corpus and epsilon; the mixture has a thousand sentences of the corpus, the model alone has none.

    Args:
        root: the project's folder.
    """
    table = root / "data" / "results" / "alone-gemma.csv"
    model, mixture = {"attack.model": "gemma3-270m"}, "mixture without language"
    found = paired_differences(table, model, mixture, where=lambda at: at["letter"])
    ends = ["difference", "low", "high"]
    groups = found.groupby(["dataset", "epsilon"])
    return [pooled([Estimate(*some) for some in one[ends].to_numpy()]) for _, one in groups]


def _share(rows: pd.DataFrame, hits, what: str) -> Estimate:
    """Of the words with a letter or a digit the share that has `what`, pooled over the seeds."""
    drawn = []
    for row, seed in zip(rows.index, rows.seed, strict=True):
        at, words = hits[row], hits[row]["letter"]
        drawn.append(bootstrap_mean(at[what][words], at["source"][words], seed=seed))
    return pooled(drawn)


def settings(root: Path) -> list[Setting]:
    """What settings of four sanitizers give away, and keep of sentiment on SST-2 for a frozen encoder.

    Args:
        root: the project's folder.
    """
    folder = root / "data" / "results"
    tables = ["utility-sst2.csv", "utility-sst2-between.csv", "utility-sst2-custext.csv"]
    used = load_tables(folder, tables).dropna(subset="utility")
    whole = _original(folder)
    given = load_tables(folder, "utility-sst2-exposure.csv").groupby(["defence", "epsilon"]).exposure.mean()
    return [
        Setting(name, float(epsilon), float(given[name, epsilon]), _kept(some, whole))
        for (name, epsilon), some in used.groupby(["defence", "epsilon"])
        if name in SANITIZERS and (name, epsilon) in given
    ]


def least_distance(root: Path) -> list[Setting]:
    """The same of the channels of least distance at a success rate, which promise nothing: marks, no mechanisms.

    Args:
        root: the project's folder.
    """
    folder = root / "data" / "results"
    whole = _original(folder)
    rows = load_tables(folder, "utility-sst2-frontier.csv").groupby("success")
    return [Setting("least distance", float("nan"), some.exposure.mean(), _kept(some, whole)) for _, some in rows]


def _original(folder: Path) -> float:
    """What the classifier learns from the text as it was."""
    rows = load_tables(folder, "utility-sst2-original.csv")
    return float(rows[rows["task.words"] == "text"].utility.mean())


def _kept(some: pd.DataFrame, whole: float) -> Estimate:
    """Of what a classifier learns from the original the share that it keeps, over the seeds."""
    chance = some.chance.mean()
    seeds = zip(some.utility, some.utility_low, some.utility_high, strict=True)
    rate = pooled([Estimate(*one) for one in seeds])
    return Estimate(*((end - chance) / (whole - chance) for end in rate))


def phrases(root: Path, table: str) -> int:
    """How many released phrases the classifiers of a table learn from.

    Args:
        root: the project's folder.
        table: its name.
    """
    (number,) = set(load_tables(root / "data" / "results", f"{table}.csv").n_private)
    return int(number)


def fine_tuned(root: Path, mechanism: str, epsilon: float) -> tuple[float, float, float, tuple[int, ...]]:
    """Accuracy of an encoder trained on released text, that of a frozen one there, that of chance, and the seeds.

    Args:
        root: the project's folder.
        mechanism, epsilon: which release, by name.
    """
    rows = load_tables(root / "data" / "results", "papers-settings-sst2.csv")
    asked = {"defence": mechanism, "epsilon": epsilon}
    trained, frozen = (select(rows, asked | {"task.protocol": one}) for one in ("fine-tuned", "frozen"))
    right, fixed = float(trained.utility.mean()), float(frozen.utility.mean())
    return right, fixed, float(trained.chance.mean()), tuple(sorted(trained.seed))


def linked(root: Path, mechanism: str, epsilon: float, candidates: int = 1000) -> tuple[float, float]:
    """How often a release names its document among others, and how often its length does: means over all draws.

    Args:
        root: the project's folder.
        mechanism, epsilon: which release, by name.
        candidates: how many documents there are.
    """
    rows = load_tables(root / "data" / "results", "linkage.csv")
    asked = {"threat": "original", "candidates": candidates, "defence": mechanism, "epsilon": epsilon}
    rows = select(rows, asked)
    return float(rows.main.mean()), float(rows.baseline.mean())


def reading(root: Path) -> dict[str, list[tuple[str, str]]]:
    """A sentence as written, released and read back, as the chapter on language models has printed it.

    Args:
        root: the project's folder.

    Returns:
        by name of the line its words, each with "" or, where it is as written, "kept" (the sanitizer keeps it),
        "same" (released unchanged) or "hit" (read back).
    """
    notebook = nbformat.read(root / "notebooks" / f"{CHAPTER}.ipynb", as_version=4)
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out]
    pages = [BeautifulSoup(out["data"].get("text/html", ""), "html.parser") for out in outputs]
    tables = [{row.th.text: row.td.text.split() for row in page.select("table.reading tr")} for page in pages]
    rows = next(one for one in tables if set(LINES) <= set(one))
    marked: dict[str, list[tuple[str, str]]] = {}
    for name, label in LINES.items():
        words = []
        for written, word in zip(rows["original"], rows[name], strict=True):
            kept = "kept" if written in STOP_WORDS else "same" if name == "released" else "hit"
            words.append((word, kept if word == written and name != "original" else ""))
        marked[label] = words
    return marked


def published(root: Path) -> pd.DataFrame:
    """A row for every published number, `shown` among its columns: what became of it, trivial agreement apart.

    Args:
        root: the project's folder.
    """
    board = pd.read_csv(root / "data" / "results" / "scoreboard.csv")
    trivial = board.trivial.notna() & board.verdict.isin(COMPARED)
    shown = board.verdict.where(board.verdict.isin(COMPARED) & ~trivial, "not compared")
    return board.assign(shown=shown.where(~trivial, "trivial"))


def blind_guesses(board: pd.DataFrame) -> int:
    """How many of the numbers that agree are rates of a guess that reads nothing.

    Args:
        board: from `published`.
    """
    return int(board[board.shown == "agrees"].mechanism_or_method.str.contains("random guess").sum())


def claims(root: Path) -> pd.Series:
    """How many of the papers' claims in words have which verdict.

    Args:
        root: the project's folder.
    """
    return pd.read_csv(root / "data" / "results" / "claims.csv").verdict.value_counts()


def hundred(share: float) -> str:
    """A share as a number of a hundred."""
    return f"{100 * share:.0f}"


def ends(estimate: Estimate) -> str:
    """An estimate as numbers of a hundred, its interval behind it."""
    return f"{hundred(estimate.value)} [{hundred(estimate.low)}, {hundred(estimate.high)}]"


def draws(seeds: Sequence[int]) -> str:
    """How many draws, in words.

    >>> draws([0]), draws([0, 1, 2])
    ('one draw', '3 draws')
    """
    return "one draw" if len(seeds) == 1 else f"{len(seeds)} draws"


def sentences(root: Path) -> dict[str, str]:
    """The sentences of the front page that carry numbers, by name.

    Args:
        root: the project's folder.
    """
    return {
        **_of_words(root),
        **_of_settings(root),
        "larger": _of_size(root),
        "linked": _of_linkage(root),
        "published": of_the_papers(root),
    }


def _of_words(root: Path) -> dict[str, str]:
    found = budgets(root)
    low, high = (next(one for one in found if one.epsilon == said) for said in SAID)
    return {
        "read_back": (
            f"Of 100 words of a public list that one of them, CusText+, protects at ε = {high.epsilon:g}, "
            "somebody who knows how it works and has other film reviews and a small language model names "
            f"{hundred(high.language.value)}. Without any attack, {hundred(high.unchanged.value)} come out "
            f"unchanged. At ε = {low.epsilon:g} the same reader names {hundred(low.language.value)}, and "
            f"{hundred(low.unchanged.value)} come out unchanged."
        ),
        "bars": (
            "Film reviews, CusText+ with groups of 20, an attacker who is not told which words were replaced; "
            "words with a letter or a digit that are on the public list; of 100 that it replaces, marks among "
            f"them, {hundred(listed(root))} are, and the others nobody here can name. "
            "Lines under the bars are 95 % intervals. "
            f"{_rests(found)}"
        ),
    }


def _of_settings(root: Path) -> dict[str, str]:
    found = settings(root)
    private = [one for one in found if one.given < 0.5]
    best = max(private, key=lambda one: one.kept.value)
    first = max(found, key=lambda one: (one.kept.value >= 0.5, -one.given))
    few, many = phrases(root, "utility-sst2"), phrases(root, "papers-settings-sst2")
    right, frozen, chance, seeds = fine_tuned(root, "santext+", 3.0)
    tuned = next(one for one in found if (one.mechanism, one.epsilon) == ("santext+", 3.0))
    return {
        "spoils": (
            f"And what does hide the text leaves little to use: of {len(found)} settings of four sanitizers, none "
            f"of the {len(private)} that give away less than half of a document keeps, by value, over "
            f"{hundred(best.kept.value)} of 100 parts of what a classifier learns from the original text."
        ),
        "dots": (
            f"Sentiment on SST-2, learnt from {few:,} phrases with a frozen encoder, three draws; a dot is one of "
            f"the four sanitizers at one ε, {len(found)} in all, and its kept share is known to about "
            f"±{hundred(_typical(found))} of 100. Best below one half: {_name(best)}, {_both(best)}. "
            f"To keep half, by value, at least {hundred(first.given)} are given away ({_name(first)}). "
            f"An encoder that is itself trained keeps more: from {many:,} phrases of "
            f"{_name(tuned)}, which gives away {hundred(tuned.given)}, it has {hundred(right)} right of 100, "
            f"where a frozen one has {hundred(frozen)} and chance {hundred(chance)} ({draws(seeds)}). A cross is "
            f"a channel that loses the least distance at its success rate; it is made of this text's own "
            f"frequencies and promises nothing: {'; '.join(_both(one) for one in least_distance(root))}. "
            "A table of the chapter says which dot is which ε."
        ),
    }


def _of_size(root: Path) -> str:
    found = larger(root)
    value, low, high = ([getattr(one, end) for one in found] for end in Estimate._fields)
    return (
        "A model of twice the size that has no text at all, but is told which words were replaced, names "
        f"{hundred(min(value))} to {hundred(max(value))} more of 100 (intervals reach from {hundred(min(low))} to "
        f"{hundred(max(high))}) than such a reader without a language model, told as well, on reviews and news."
    )


def _both(one: Setting) -> str:
    return f"{hundred(one.given)} given away, {ends(one.kept)} kept"


def _of_linkage(root: Path) -> str:
    cases = (("custext+", 1.0), ("santext", 1.0), ("santext", 2.0))
    found = [linked(root, *one) for one in cases]
    kept, low, high = (hundred(rate) if not 0.995 <= rate < 1 else "more than 99" for rate, _ in found)
    length = hundred(sum(rate for _, rate in found) / len(found))
    return (
        "Somebody holds 1,000 documents, yours among them, and gets one release: under CusText+ at ε = 1 they "
        f"name the right document in {kept} of 100 cases, under SanText in {low} at ε = 1 and {high} at ε = 2; "
        f"its length alone names it in {length}."
    )


def of_the_papers(root: Path) -> str:
    """What became of the numbers and the claims of the five papers, in two sentences.

    Args:
        root: the project's folder.
    """
    board, said = published(root), claims(root)
    agree, differ, undecided = (int((board.shown == name).sum()) for name in COMPARED)
    easy = blind_guesses(board)
    return (
        f"The five papers print {len(board)} numbers. {agree + differ + undecided} could fairly be compared with "
        f"one of ours: {agree} agree, {easy} of them the rates of blind guesses, {differ} differ, {undecided} are "
        f"undecided. Of their {said.sum()} claims in words {said.get('does not hold', 0)} were refuted and "
        f"{said.get('holds', 0)} reproduced."
    )


def citation(root: Path) -> str:
    """How to cite the book: as `CITATION.cff` has it, in words and for BibTeX.

    Args:
        root: the project's folder.
    """
    cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    authors = ", ".join(one.get("name") or f"{one['given-names']} {one['family-names']}" for one in cff["authors"])
    year, url = config["copyright"], config.get("repository", {}).get("url", "")
    address = f"\n  url     = {{{url}}}," if url else ""
    entry = (
        f"@software{{textsan,\n  author  = {{{{{authors}}}}},\n  title   = {{{cff['title']}}},\n"
        f"  year    = {{{year}}},\n  version = {{{cff['version']}}},{address}\n}}"
    )
    where = f" {url}" if url else ""
    return f"{authors} ({year}). *{cff['title']}*, version {cff['version']}.{where}\n\n```bibtex\n{entry}\n```"


def _citation(root: Path) -> dict[str, str]:
    return {"cite": citation(root)}


def _name(one: Setting) -> str:
    return f"{SANITIZERS[one.mechanism]} at ε = {one.epsilon:g}"


def _typical(found: Sequence[Setting]) -> float:
    widths = sorted((one.kept.high - one.kept.low) / 2 for one in found)
    return widths[len(widths) // 2]


def _rests(found: Sequence[Budget]) -> str:
    """How many draws the bars rest on: as many at each epsilon, which a test asks."""
    return f"What the bars rest on: {draws(found[0].seeds)} at each ε."


def fill(text: str, root: Path) -> str:
    """A page with each `{{ name }}` replaced by what one of these modules says by that name.

    Args:
        text: of the page.
        root: the project's folder.

    Raises:
        KeyError: there is no such sentence.
    """
    if not (names := set(re.findall(_PLACE, text))):
        return text
    said: dict[str, str] = {}
    for made in (
        reading_paths.sentences,
        _citation,
        slides.sentences,
        deposit.sentences,
        sentences,
    ):  # the dearest last
        if not names <= set(said):
            said |= made(root)
    return re.sub(_PLACE, lambda match: said[match[1]], text)
