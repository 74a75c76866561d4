"""Attacks of several stored tables on the same words: success, and the difference to one of them, pair by pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from textsan.evaluation import Estimate, clustered_difference, clustered_rate
from textsan.plotting import look
from textsan.sweeps.hits import load_hits
from textsan.sweeps.tables import estimate, load_tables, over, pooled, select
from textsan_book.chapters.paper_pages import WORDS
from textsan_book.judging import stored

_PLACE = ("document", "index", "source", "letter", "unchanged")  # equal where two tables have the same words


@dataclass(frozen=True)
class Attacker:
    """An attack of a stored table, and in a few words what the attacker is `given` besides the release.

    Values by column of `load_tables` (`row`) name one row a seed; `drawn` is the attack of the registry whose
    colour and marker it has.
    """

    name: str
    given: str
    table: str
    row: Mapping = field(hash=False)
    drawn: str


def _own(attack: str, **more) -> dict:
    return {"attack": attack} | {f"attack.{name}": value for name, value in more.items()}


_COUNTS, _PAIRS = "channel, own text", "own text sanitized"
_ALONE, _MIXED, _OTHERS, _FILLED = "public.csv", "mixture.csv", "same-words.csv", "mask-public.csv"
_MASKED, _BOTH = "mixture without language", "channel, own text, public pairs"
_MODEL = "channel, own text, masked model"

ONE_WORD = (
    Attacker("Good–Turing attack", _COUNTS, _MIXED, _own("unseen mass", told=True), "unseen mass"),
    Attacker("context-free attack", _COUNTS, _ALONE, _own("context-free"), "context-free"),
    Attacker("counting pairs", _PAIRS, _OTHERS, _own("empirical inversion"), "empirical inversion"),
    Attacker("public word list", "channel, a list", _ALONE, _own("public ranks"), "public ranks"),
    Attacker("released word", "nothing", _OTHERS, _own("unchanged"), "unchanged"),
    Attacker("nearest other word", "word vectors", _OTHERS, _own("embedding inversion"), "embedding inversion"),
)
"""Attackers who read one released word, as a rule best first."""

SENTENCE = (
    Attacker("combined attack", "channel, own text, two models", _MIXED, _own("mixture", told=True), "mixture"),
    Attacker("Markov, public table and own text", _BOTH, _ALONE, _own("markov", public=True), "markov"),
    Attacker(
        "Markov, public table alone", "channel, public pairs", _ALONE, _own("public bigrams"), "public bigrams"
    ),
    Attacker("combined, no causal model", _MODEL, _MIXED, _own(_MASKED, told=True), _MASKED),
    Attacker("noisy channel", _MODEL, _OTHERS, _own("noisy channel"), "noisy channel"),
    Attacker("Markov, own text", _COUNTS, _ALONE, _own("markov", public=False), "markov"),
    Attacker("Inversion BERT, sequence", f"{_PAIRS}, model", _OTHERS, _own("inversion BERT"), "inversion BERT"),
    Attacker("mask inference", "public triples of words", _FILLED, _own("mask inference"), "mask inference"),
)
"""Attackers who read the released sentence, as a rule best first."""

BOUND = Attacker(
    "context-free bound", "channel, these counts", _OTHERS, _own("context-free bound"), "context-free bound"
)
"""The best rule for one released word with the frequencies of the attacked text itself."""

BASELINE = ONE_WORD[1]
"""The attacker that the others are compared with."""


def untold(attacker: Attacker) -> Attacker:
    """Return the same attacker of `mixture.csv` who is not given the attacked positions."""
    names = {"context-free", "unseen mass", "public ranks", "mixture", "mixture without language"}
    kind = attacker.row["attack"]
    if kind not in names | {"markov"} or attacker.row.get("attack.public") is True:
        raise ValueError(f"attacker: {attacker.name!r} was not run without the attacked positions on these words")
    return Attacker(attacker.name, attacker.given, "mixture.csv", _own(kind, told=False), attacker.drawn)


def hits(folder: Path, attackers: Sequence[Attacker], where: Mapping) -> dict[str, list[dict]]:
    """Load the hits of attackers, an entry a seed, and check that all have the same words and release.

    By name, in the order of the seeds, arrays of one entry a word with a letter or a digit: hit, source,
    substring, and others of `load_hits`. An attacker who has not one row a seed is an error.
    """
    tables = {name: (load_tables(folder, name), load_hits(folder / name)) for name in {a.table for a in attackers}}
    found: dict[str, list[dict]] = {}
    places: dict[int, dict] = {}
    for attacker in {one.name: one for one in attackers}.values():
        rows, of_rows = tables[attacker.table]
        chosen = select(rows, {**where, **attacker.row}).sort_values("seed")
        if not len(chosen) or chosen.seed.duplicated().any():
            raise ValueError(f"attackers: {attacker.name!r} has {len(chosen)} rows, not one a seed")
        for seed, row in zip(chosen.seed, chosen.index, strict=True):
            arrays = of_rows[row]
            first = places.setdefault(seed, arrays)
            if not all(np.array_equal(first[name], arrays[name]) for name in _PLACE):
                raise ValueError(f"attackers: {attacker.name!r}, seed {seed}: other words, or another release")
            words = arrays["letter"]
            kept = {name: value[words] for name, value in arrays.items() if np.ndim(value)}
            found.setdefault(attacker.name, []).append(kept)
    if len({len(seeds) for seeds in found.values()}) > 1:
        raise ValueError("attackers: some have more seeds than others")
    return found


def rate(seeds: Sequence[Mapping[str, np.ndarray]], score: str = "hit") -> Estimate:
    """Compute the success rate of one attacker of `hits`, pooled over the seeds.

    Its interval is by sentence and ends at 0 and 1. The score is "hit" for equal words, "substring" for the
    released code's.
    """
    return stored.share(pooled([clustered_rate(one[score], one["source"]) for one in seeds]))


def gain(ours: Sequence[Mapping[str, np.ndarray]], theirs: Sequence[Mapping[str, np.ndarray]]) -> Estimate:
    """Compute the success of one attacker of `hits` minus that of another, pair by pair, pooled over the seeds."""
    gaps = [one["hit"].astype(float) - other["hit"] for one, other in zip(ours, theirs, strict=True)]
    return pooled([clustered_difference(gap, one["source"]) for gap, one in zip(gaps, ours, strict=True)])


def table(folder: Path, attackers: Sequence[Attacker], where: Mapping) -> list[dict]:
    """Build a row for each attacker: what it is given, its success, and the difference to `BASELINE`."""
    found, rows = hits(folder, [*attackers, BASELINE], where), []
    for attacker in attackers:
        row = {"attack": attacker.name, "given": attacker.given, "recovered": rate(found[attacker.name])}
        more = None if attacker.name == BASELINE.name else gain(found[attacker.name], found[BASELINE.name])
        rows.append(row | {"minus word counts": more})
    return rows


def forest(ax, folder: Path, where: Mapping) -> None:
    """Draw success as a forest plot, best at the top; hollow where the attacked positions are not given."""
    known = hits(folder, [*ONE_WORD, *SENTENCE, BOUND], where)
    rates = {name: rate(seeds) for name, seeds in known.items()}
    attackers = sorted([*ONE_WORD, *SENTENCE], key=lambda one: rates[one.name].value)
    for place, attacker in enumerate(attackers):
        value, low, high = rates[attacker.name]
        bars = {"fmt": "o", "color": look(attack=attacker.drawn).colour, "capsize": 3, "markersize": 6}
        ax.errorbar(value, place, xerr=[[value - low], [high - value]], **bars)
        try:
            other = untold(attacker)
        except ValueError:
            continue
        value, low, high = rate(hits(folder, [other], where)[other.name])
        ax.errorbar(value, place - 0.3, xerr=[[value - low], [high - value]], **bars, mfc="white", elinewidth=0.8)
    bound = rates[BOUND.name].value
    ax.axvline(bound, color=look(role="bound").colour)
    ax.text(bound - 0.01, 2, "best rule\nfor one word", ha="right", va="center")
    ax.set_yticks(range(len(attackers)), [one.name for one in attackers])
    ax.set_xlim(0, None)


def trained(folder: Path, name: str, attackers: Mapping[str, str]) -> list[dict]:
    """Build a row for each attack of a sweep's table: success at each epsilon, and the difference to context-free.

    The table is of one seed; None for an attack minus itself.
    """
    rows, found = load_tables(folder, name), []
    for label, attack in attackers.items():
        line: dict = {"attack": label}
        for epsilon in sorted(set(rows.epsilon), reverse=True):
            (row,) = select(rows, {"attack": attack, "epsilon": epsilon}).to_dict("records")
            line[f"ε = {epsilon:g}"] = estimate(row)
            line[f"minus context-free, ε = {epsilon:g}"] = over(row, "context-free")
        found.append(line)
    return found


_CLAIMS = {  # how the chapter says it: how its line in the table of claims begins
    "word counts beat embedding inversion": "The context-free attack is above embedding inversion",
    "word counts beat Inversion BERT, which counts": "The context-free attack is above Inversion BERT, which",
    "word counts beat Inversion BERT, a sequence model": "The context-free attack is above Inversion BERT as",
    "the detector beats word counts": "The contextual attack is above the context-free attack",
    "the detector beats them at ε = 4 on SST-2": "At the paper's own setting",
    "ten candidates beat one": "K = 10 is better than K = 1 for the contextual",
    "word counts come within 0.03 of their bound": "The context-free attack approaches its bound",
    "other shadow text costs at most 0.05": "A misaligned shadow set costs the context-free",
    "K-ASR bounds attacks that read context": "The contextual K-ASR bound bounds",
    "K-ASR is above the bound of one word": "The contextual K-ASR bound is above the context-free",
}


def tong_claims(folder: Path) -> list[dict]:
    """Build a row for ten claims of Tong et al. 2024: the difference that decides, and the verdict."""
    judged, found = pd.read_csv(folder / "claims.csv"), []
    ours = judged[judged.place.str.startswith("Tong 2024")]
    for text, start in _CLAIMS.items():
        [row] = ours[ours.claim.str.startswith(start)].itertuples()
        difference = Estimate(float(row.value), float(row.low), float(row.high))
        found.append({"claim": text, "difference": difference, "verdict": WORDS.get(row.verdict, row.verdict)})
    return found


def gains_over_counting(folder: Path) -> list[dict]:
    """Build a row for each gain over Inversion BERT that Tong et al. 2024 publish for SST-2 at ε = 4, in per cent.

    `ours` is an estimate, or the verdict where there is none.
    """
    board, found = pd.read_csv(folder / "scoreboard.csv"), []
    for name, start in (("contextual attack", "Contextual"), ("word counts", "Context-free")):
        said = f"{start} Bayesian Attack vs Inversion BERT"
        (row,) = board[board.mechanism_or_method == said].to_dict("records")
        published = f"{float(row['value']):.1f}"
        if row["published_low"] == row["published_low"]:
            published += f" [{row['published_low']:.1f}, {row['published_high']:.1f}]"
        ours = row["verdict"]
        if row["ours"] == row["ours"]:
            ours = f"{row['ours']:.1f} [{row['ours_low']:.1f}, {row['ours_high']:.1f}], {row['verdict']}"
        found.append({"attack": name, "published": published, "ours": ours})
    return found


def never_reset(folder: Path, epsilon: float) -> tuple[float, float]:
    """Return a success rate under CusText+ and what counters print that are never reset between values of ε."""
    cell = {"departure": "counters are never reset between epsilons", "defence": "custext+", "epsilon": epsilon}
    [row] = select(pd.read_csv(folder / "departures.csv"), cell).itertuples()
    return float(row.described), float(row.released)
