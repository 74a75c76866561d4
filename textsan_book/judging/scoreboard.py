"""The published numbers beside ours, each with a verdict from the one rule of `textsan_book.judging.verdicts`.

A published number and ours are compared only where `data/scoreboard.yml` names the rows of a result table that ask
the same: data set or its named substitute, defence, epsilon, K and attack.

    agrees               equivalence shown within the published number's own band
    differs              difference shown
    undecided            neither; the reason names the sample that would decide
    detector untrained   ours rests on a detector that has not been shown to learn
    not comparable       the two could not agree, whatever was measured; one of `verdicts.NOT_COMPARABLE`
    not run              no table has the row; the reason names it, or what would make it
    no result            a setting, or the time of a machine; one of `verdicts.NO_RESULT`

The published error is binomial, of as many positions as the paper attacked: 3,000 under CusText+, 1,000 under
SanText+ (3,000 in Table 4, which says so), 1,000 citizen numbers. Under CusText+ the released code takes those
positions where one of 1,000 released *types* stands (Gamma), drawn before them. Which types are drawn decides more
than which positions are, and the error is that of both draws, as `attacked-types.csv` has it (an entry says
`drawn: types`). Of a difference or a ratio of two published rates it follows from both, as if independent, which
is several times too wide for a gain: the released code draws types once, and positions alike for all but the
contextual attacks. Of a count the margin is 15 %, which a Monte Carlo of 1,000 runs leaves open.

Rows that our table has under several seeds count as one number, see `tables.pooled`. A ratio or a difference of
ours is made of rows from the same positions only, and what is compared with one row of a published table is of one
protocol only. Where our sizes are not the paper's, the program says so in `substitution`. Rows whose agreement
would say nothing are marked `trivial`, with the reason, and counted apart: those of which the mapping says so, and
those with which "nothing changes" agrees as well (`verdicts.nothing_agrees`).

    textsan sweep data/sweeps/scoreboard.yml --table data/results/scoreboard.csv    # and so for claims
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from textsan.base.project import project_data
from textsan.evaluation import Estimate, bootstrap_mean
from textsan.sweeps.tables import difference, estimate, load_tables, pooled, ratio, select, unlike
from textsan_book.judging import verdicts
from textsan_book.judging.claims import judge
from textsan_book.judging.matched_success import matched
from textsan_book.judging.verdicts import Comparison, rate_error

SPEC, PUBLISHED, RESULTS = (Path("data") / name for name in ("scoreboard.yml", "paper_numbers.csv", "results"))
ATTACKED = {"CUSTEXT+": 3000, "SANTEXT+": 1000, "Citizen (1000 generated IDs)": 1000}
"""Positions that Tong et al. 2024 attack (section 5.1), by defence; numbers that Pan et al. 2020 attack (V-C)."""
TYPES = "attacked-types.csv"
"""How far rates over drawn types scatter, of `textsan_book.studies.attacked_types`."""
NO_EFFECT = "no effect agrees as well"
PROTOCOL = ("split_by", "targets", "vocabulary")
"""Columns in which the numbers of ours beside one row of a published table agree."""
OURS = ("ours", "ours_low", "ours_high", "substitution", "verdict", "reason", "trivial")
OURS += (
    "published_low",
    "published_high",
    "margin",
    "p_agrees",
    "p_differs",
    "seeds",
    "spread",
    "beside",
    "tables",
)


class Answer(NamedTuple):
    """What there is of ours beside a published number.

    Attributes:
        verdict: one of `verdicts.VERDICTS`, or empty where the comparison decides.
        reason: why.
        ours: value and 95 % interval.
        comparison: what decides.
        rest: the other columns of `OURS`, by name.
    """

    verdict: str
    reason: str
    ours: Estimate | None = None
    comparison: Comparison | None = None
    rest: Mapping = {}


def build(root: Path = Path(".")) -> pd.DataFrame:
    """The published numbers, a row each, joined with ours.

    Args:
        root: of the repository: data/paper_numbers.csv, data/scoreboard.yml and data/results below it.

    Returns:
        the columns of paper_numbers.csv, then `OURS`. The published value stays text, as printed.

    Raises:
        ValueError: a rule of the mapping finds several rows, or gives a reason that is on no list; or numbers of
            ours beside one row of a published table are of different protocols.
    """
    spec = _spec(root)
    published = pd.read_csv(root / PUBLISHED, dtype=str, keep_default_na=False).to_dict("records")
    everything = [row | settings(row["setting"]) for row in published]
    load = cache(partial(load_tables, root / RESULTS))
    answers = []
    for known in everything:
        fitting = [{"ours": spec["ours"]} | rule for rule in spec["published"] if _fits(rule["rows"], known)]
        answers.append(_answer(known, fitting, load, everything))
    _refuse_mixtures(published, answers)
    columns = [None] * len(answers)
    for group in _tables(published).values():
        decided = _decided([answers[i] for i in group], [everything[i] for i in group])
        for i, row in zip(group, decided, strict=True):
            columns[i] = row
    return pd.DataFrame([row | ours for row, ours in zip(published, columns, strict=True)])


def build_claims(root: Path = Path(".")) -> pd.DataFrame:
    """The claims in words, a row each, as `textsan_book.judging.claims.judge`.

    Args:
        root: of the repository.
    """
    return judge(_spec(root)["claims"], root / RESULTS)


def counts(board: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of each paper have each verdict, those that are trivial apart.

    Args:
        board: of `build`.
    """
    words = board.verdict.where(board.trivial == "", board.verdict + ", trivial")
    order = [word for one in verdicts.VERDICTS for word in (one, f"{one}, trivial") if word in set(words)]
    return pd.crosstab(board.paper, words)[order]


def settings(text: str) -> dict[str, str | float]:
    """What a published setting says: its "name=value" parts, numbers as numbers, percent signs dropped.

    >>> settings("defense=CUSTEXT+; epsilon=4.0; ratio=5%; 3000 test samples")
    {'defense': 'CUSTEXT+', 'epsilon': 4.0, 'ratio': 5.0, 'test samples': 3000.0}
    """
    found = {}
    for part in text.split("; "):
        name, equals, value = part.partition("=")
        if not equals:
            value, _, name = part.partition(" ")
        if equals or _number(value) is not None:
            number = _number(value)
            found[name] = value if number is None else number
    return found


def published_rates(
    published: pd.DataFrame, table_or_figure: str, mechanism_or_method: str, key: str, attacked: int
) -> dict[float, Estimate]:
    """Published rates by a number of their setting, with the 95 % intervals that so many attacked words leave
    open.

    Args:
        published: paper_numbers.csv, the rows of one paper.
        table_or_figure, mechanism_or_method: which rows of it.
        key: the name of the number in the setting.
        attacked: words that each rate was measured on.

    >>> rows = {"table_or_figure": "T", "mechanism_or_method": "A", "setting": ["K=1", "K=5"], "value": [0.5, 0]}
    >>> for k, rate in published_rates(pd.DataFrame(rows), "T", "A", "K", 9604).items():
    ...     print(k, rate)
    1.0 0.500 [0.490, 0.510]
    5.0 0.000 [0.000, 0.000]
    """
    where = {"table_or_figure": table_or_figure, "mechanism_or_method": mechanism_or_method}
    rows = select(published, where).to_dict("records")
    rates = {settings(row["setting"])[key]: float(row["value"]) for row in rows}
    halves = {at: verdicts.Z * rate_error(rate, attacked) for at, rate in rates.items()}
    return {at: Estimate(rate, rate - halves[at], rate + halves[at]) for at, rate in rates.items()}


def comparison(row: Mapping) -> Comparison:
    """The comparison that a row of the scoreboard rests on, for rules other than ours.

    Args:
        row: of `build`, one that agrees, differs or is undecided.
    """
    ours, value = Estimate(row["ours"], row["ours_low"], row["ours_high"]), float(row["value"])
    error = (row["published_high"] - row["published_low"]) / (2 * verdicts.Z)
    return Comparison(ours.value - value, verdicts.standard_error(ours), error, row["margin"], _limit(row))


def exchanged(rows: pd.DataFrame, generator: np.random.Generator) -> list[str]:
    """The verdicts if the published numbers of each column were exchanged: what is left of agreement by chance.

    A column is what a reader compares in a printed table: numbers of one data set, epsilon and metric. Across
    columns numbers differ by what was fitted, or by what nobody doubts.

    Args:
        rows: of `build`, of one table of a paper, without limits, which have no number of their own.
        generator: draws the exchange.
    """
    values = rows.value.astype(float).to_numpy()
    others = values.copy()
    epsilons = [str(settings(text).get("epsilon")) for text in rows.setting]
    columns = pd.Series(list(zip(rows.dataset, epsilons, rows.metric, strict=True)))
    for places in columns.groupby(columns).indices.values():
        others[places] = generator.permutation(values[places])
    gaps = [comparison(row) for row in rows.to_dict("records")]
    moved = [gap._replace(gap=gap.gap + v - w) for gap, v, w in zip(gaps, values, others, strict=True)]
    return verdicts.judge(moved)


# --- from a published number to ours --------------------------------------------------------------------------


def _answer(known: Mapping, rules: Sequence[Mapping], load: Callable, everything: Sequence[Mapping]) -> Answer:
    """The answer of the first of the rules whose rows are there."""
    if not known["value"] and not any("no_result" in rule for rule in rules):
        return Answer("not comparable", verdicts.NOT_COMPARABLE["no number"])
    asked = []
    for rule in rules:
        if "not_run" in rule:
            return Answer("not run", rule["not_run"])
        if "tables" not in rule:
            return Answer(*_fixed(rule))
        sides = _Sides(rule, known, load)
        if sides.untrained:
            return Answer("detector untrained", "ours rests on a detector that has not been shown to learn")
        if sides.strangers:
            return Answer("not comparable", verdicts.NOT_COMPARABLE["positions"])
        if sides.seeds:
            answer = _compared(rule, known, sides, everything, load)
            return answer._replace(rest={**answer.rest, "beside": _beside(rule, known, load)})
        asked += _patterns(rule)
    reason = f"no row in {', '.join(dict.fromkeys(asked))}" if asked else "no experiment here asks this"
    return Answer("not run", reason)


def _fixed(rule: Mapping) -> tuple[str, str]:
    """The verdict that a rule gives whatever the tables say, and its reason from the list."""
    for key, reasons in (("not_comparable", verdicts.NOT_COMPARABLE), ("no_result", verdicts.NO_RESULT)):
        if key in rule:
            if rule[key] not in reasons:
                raise ValueError(f"{key}: {rule[key]!r} is no reason; the reasons are {', '.join(reasons)}")
            return key.replace("_", " "), reasons[rule[key]]
    return "", ""


class _Sides:
    """The rows of ours that a rule names: of several patterns, those of the first that has them.

    Attributes:
        seeds: for each seed the row of ours and, if the rule has one, the row that it is set against; where
            success is matched, all rows of each.
        untrained: whether there are rows, but of detectors that have not learnt.
        strangers: whether there are rows on both sides, but not from the same positions.
    """

    def __init__(self, rule: Mapping, known: Mapping, load: Callable):
        self.untrained = self.strangers = False
        self.seeds: list[tuple] = []
        wheres = [_filled(rule[key], known, rule["ours"]) for key in ("where", "against") if key in rule]
        for pattern in _patterns(rule):
            rows = load(pattern)
            found = [select(rows, where).to_dict("records") for where in wheres]
            if "mean_over" in rule:
                found = [[_mean(side, rule)] if side else [] for side in found]
            if all(found):
                self._pair(found, rule, pattern)
                return

    def _pair(self, found: Sequence[list[dict]], rule: Mapping, pattern: str) -> None:
        rests = "no_result" not in rule  # a time is a time, whatever was learnt in it
        trained = [[row for row in side if not (rests and verdicts.untrained(row))] for side in found]
        if not all(trained):
            self.untrained = True
            return
        if rule.get("quantity") == "at matched success":
            self.seeds = [tuple(trained)]
            return
        ours, *others = trained
        seeds = [row.get("seed") for row in ours]
        varied = any(unlike(row, ours[0], ("seed", "n_positions")) for row in ours)
        if varied or len(set(seeds)) < len(seeds):
            raise ValueError(f"scoreboard: {rule['rows']} finds several rows in {pattern}; narrow its where")
        for row in ours:
            with_it = [[other for other in side if not unlike(row, other)] for side in others]
            if any(len(side) > 1 for side in with_it):
                raise ValueError(f"scoreboard: {rule['rows']} is set against several rows in {pattern}")
            if all(with_it):
                self.seeds.append((row, *(side[0] for side in with_it)))
        self.strangers = not self.seeds


def _mean(rows: Sequence[Mapping], rule: Mapping) -> dict:
    """Rows of one cell as one, its number their mean with the interval of the units that were drawn."""
    column = rule.get("column", "asr")
    units = [row[rule["mean_over"]] for row in rows]
    found = bootstrap_mean([row[column] for row in rows], units, seed=0)
    ends = ("low", "high") if column == "asr" else (f"{column}_low", f"{column}_high")
    return {**rows[0], column: found.value} | dict(zip(ends, found[1:], strict=True))


def _patterns(rule: Mapping) -> list[str]:
    return [rule["tables"]] if isinstance(rule["tables"], str) else rule["tables"]


def _compared(
    rule: Mapping, known: Mapping, sides: _Sides, everything: Sequence[Mapping], load: Callable
) -> Answer:
    value = float(known["value"])
    rows = [row for seed in sides.seeds for side in seed for row in (side if isinstance(side, list) else [side])]
    told = _differences(rule.get("as_published", {}), rows[0])
    substitution = [one for one in (rule.get("substitution"), told) if one]
    found = _quantity(rule, known, sides, everything)
    if found is None:
        return Answer("not comparable", verdicts.NOT_COMPARABLE["reach"])
    ours, note = found
    rest = {"substitution": "; ".join([*substitution, *note]), "trivial": rule.get("trivial", "")}
    rest |= {
        "seeds": len(sides.seeds),
        "spread": _spread(rule, sides),
        "tables": " ".join({row["table"]: 0 for row in rows}),
        "protocol": {tuple(str(row.get(name)) for name in PROTOCOL) for row in rows},
    }
    word, reason = _fixed(rule)
    if word:
        return Answer(word, reason, ours, None, rest)
    if rule.get("drawn") == "types" and not _scattered(sides, load):
        return Answer("not run", f"how far rates over types scatter: no row in {TYPES}")
    error, most = _published_error(rule, known, sides, load)
    rest |= {"published_low": value - verdicts.Z * error, "published_high": value + verdicts.Z * error}
    gap = Comparison(
        ours.value - value,
        verdicts.standard_error(ours),
        error,
        verdicts.margin(error, most),
        _limit(known),
    )
    nothing = _nothing(rule, known, everything)
    if not gap.limit and nothing is not None and verdicts.nothing_agrees(nothing - value, gap.margin):
        rest["trivial"] = rest["trivial"] or NO_EFFECT
    return Answer("", "", ours, gap, rest | {"margin": gap.margin})


def _nothing(rule: Mapping, known: Mapping, everything: Sequence[Mapping]) -> float | None:
    """What would be printed if nothing changed: of an effect, none; of a level there is no such number."""
    match rule.get("quantity", "value"):
        case "at matched success":
            return _target(rule, known, everything)
        case "difference" | "relative gain":
            return 0.0
        case "ratio":
            return 1.0
    return None


def _beside(rule: Mapping, known: Mapping, load: Callable) -> str:
    """What else of ours a reader will want to see beside the number, in words; no verdict rests on it."""
    said = []
    for label, change in rule.get("beside", {}).items():
        other = rule | change
        sides = _Sides(other, known, load)
        if sides.seeds:
            found = pooled([_of_a_seed(other, seed) for seed in sides.seeds])
            width = f" [{plain(found.low, 4)}, {plain(found.high, 4)}]" if found.high > found.low else ""
            said.append(f"{label}: {plain(found.value, 4)}{width}")
    return "; ".join(said)


def _differences(as_published: Mapping, row: Mapping) -> str:
    """Where a row of ours is not of the sizes and the split of the paper, in words."""
    words = {"n_private": "{:,} private sentences for {:,}", "n_shadow": "{:,} shadow sentences for {:,}"}
    words |= {"split_by": "split by {} for by {}"}
    known = {name: size for name, size in as_published.items() if name in row}
    return ", ".join(words[name].format(row[name], size) for name, size in known.items() if row[name] != size)


def _quantity(
    rule: Mapping, known: Mapping, sides: _Sides, everything: Sequence[Mapping]
) -> tuple[Estimate, list[str]] | None:
    """The number of ours, and what is to be said of it."""
    if rule.get("quantity") == "at matched success":
        target = _target(rule, known, everything)
        found = matched(*sides.seeds[0], target, rate_error(target, _attacked(known)))
        return found and (found[0], [f"at our epsilon {found[1]:.2f}"])
    return pooled([_of_a_seed(rule, seed) for seed in sides.seeds]), []


def _spread(rule: Mapping, sides: _Sides) -> float:
    """The largest number of ours under any seed minus the smallest; NaN for a single one."""
    if len(sides.seeds) == 1:
        return np.nan
    values = [_of_a_seed(rule, seed).value for seed in sides.seeds]
    return max(values) - min(values)


def _target(rule: Mapping, known: Mapping, everything: Sequence[Mapping]) -> float:
    """What is printed where a published row's reference stands: all the same but for some settings."""
    same = ("paper", "table_or_figure", "dataset", "mechanism_or_method", "metric", "defense", "epsilon")
    wanted = {name: known.get(name) for name in same} | rule["matched_on"]
    [reference] = [one for one in everything if all(one.get(name) == v for name, v in wanted.items())]
    return float(reference["value"])


def _of_a_seed(rule: Mapping, rows: Sequence[Mapping]) -> Estimate:
    column, scale = rule.get("column", "asr"), rule.get("scale", 1)
    match rule.get("quantity", "value"):
        case "value":
            return Estimate(*(scale * one for one in _rate(rows[0], column)))
        case "difference":
            return difference(*rows, column, column)
        case "ratio":
            return ratio(*rows, column)
        case "relative gain":
            return Estimate(*(100 * (one - 1) for one in ratio(*rows, column)))


def _rate(row: Mapping, column: str) -> Estimate:
    """A column of a row; hits by substring are stored without an interval, and get that of equal words."""
    found = estimate(row, column)
    if column != "asr_substring":
        return found
    equal = estimate(row, "asr")
    return Estimate(*(one - equal.value + found.value for one in equal))


def _published_error(rule: Mapping, known: Mapping, sides: _Sides, load: Callable) -> tuple[float, float]:
    """The standard error of the published number, and the largest margin."""
    value, n = float(known["value"]), _attacked(known)
    scattered = _scattered(sides, load) if rule.get("drawn") == "types" else []
    if rule.get("is_count"):
        most = verdicts.MOST_OF_A_COUNT * value
        return most / verdicts.Z, most
    kind = rule.get("quantity", "value")
    if n is None or rule.get("column", "asr") not in ("asr", "asr_substring"):
        return 0.0, 0.0
    if kind in ("value", "at matched success"):
        return scattered[0] if scattered else rate_error(value, n), verdicts.MOST_OF_A_RATE
    a, b = (np.mean([seed[side]["asr"] for seed in sides.seeds]) for side in (0, 1))
    errors = scattered or [rate_error(a, n), rate_error(b, n)]
    if kind == "difference":
        return float(np.hypot(*errors)), verdicts.MOST_OF_A_RATE
    unit = 1 if kind == "ratio" else 100
    relative = np.hypot(errors[0] / a, errors[1] / b)
    return float(unit * relative * a / b), float(unit * verdicts.MOST_OF_A_RATE / b)


def _scattered(sides: _Sides, load: Callable) -> list[float]:
    """Of each side the standard deviation of a rate over drawn types; empty where `TYPES` lacks one of them."""
    found = []
    for row in sides.seeds[0]:
        where = {name: row[name] for name in ("dataset", "n_shadow", "defence", "epsilon", "attack")}
        draws = select(load(TYPES), where)
        if not len(draws):
            return []
        found.append(float(np.sqrt(np.mean(draws.deviation**2))))
    return found


def _attacked(known: Mapping) -> float | None:
    """How many positions a published number was measured on."""
    return known.get("test samples", ATTACKED.get(known.get("defense", known.get("dataset"))))


def _limit(row: Mapping) -> str:
    return next((end for end in ("upper", "lower") if f"{end} limit" in row["metric"]), "")


# --- the verdicts of one table --------------------------------------------------------------------------------


def _tables(published: Sequence[Mapping]) -> dict[tuple, list[int]]:
    """Which rows belong to one table or figure of a paper: they are corrected together."""
    groups: dict[tuple, list[int]] = {}
    for i, row in enumerate(published):
        groups.setdefault((row["paper"], row["table_or_figure"]), []).append(i)
    return groups


def _refuse_mixtures(published: Sequence[Mapping], answers: Sequence[Answer]) -> None:
    """No two protocols of ours compared with one row of a published table: those numbers would be read across."""
    seen: dict[tuple, set] = {}
    for row, answer in zip(published, answers, strict=True):
        of = tuple(row[name] for name in ("paper", "table_or_figure", "dataset", "mechanism_or_method", "metric"))
        there = seen.setdefault(of, set())
        there |= answer.rest["protocol"] if answer.comparison else set()
        if len(there) > 1:
            found = "; ".join(", ".join(one) for one in sorted(there))
            raise ValueError(f"scoreboard: {', '.join(of)}: ours is of {found}; keep one ({', '.join(PROTOCOL)})")


def _decided(answers: Sequence[Answer], rows: Sequence[Mapping]) -> list[dict]:
    """The columns of `OURS` for the rows of one table; trivial ones are not corrected together with the others."""
    words = {i: (answer.verdict, 0) for i, answer in enumerate(answers)}
    for trivial in (False, True):
        tested = [i for i, one in enumerate(answers) if one.comparison and bool(one.rest["trivial"]) is trivial]
        judged = verdicts.judge([answers[i].comparison for i in tested])
        words |= {i: (word, len(tested)) for i, word in zip(tested, judged, strict=True)}
    return [_columns(answer, row, *words[i]) for i, (answer, row) in enumerate(zip(answers, rows, strict=True))]


def _columns(answer: Answer, row: Mapping, word: str, tests: int) -> dict:
    numbers = dict(zip(OURS[:3], answer.ours or (np.nan,) * 3, strict=True))
    numbers |= {
        name: answer.rest.get(name, np.nan) for name in ("published_low", "published_high", "margin", "spread")
    }
    numbers = {name: round(float(value), 4) for name, value in numbers.items()}
    reason, gap = answer.reason, answer.comparison
    if gap:
        reason = _why(gap, float(row["value"]), word, tests)
        numbers |= {"p_agrees": float(f"{gap.p_agrees:.2g}"), "p_differs": float(f"{gap.p_differs:.2g}")}
    texts = {name: answer.rest.get(name, "") for name in ("substitution", "trivial", "beside", "tables")}
    found = numbers | texts | {"verdict": word, "reason": reason, "seeds": answer.rest.get("seeds", 0)}
    return {name: found.get(name, np.nan) for name in OURS}


def plain(value: float, digits: int) -> str:
    """A number as people write it: whole from a thousand on, else with significant digits, never a power of ten.

    Args:
        value: the number.
        digits: how many digits are significant.

    >>> plain(29624.0, 4), plain(0.00007, 3), plain(0.4, 3)
    ('29,624', '0.00007', '0.4')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")


def _why(gap: Comparison, published: float, word: str, tests: int) -> str:
    apart = f"ours is {'higher' if gap.gap > 0 else 'lower'} by {plain(abs(gap.gap), 3)}"
    if word == "undecided":
        factor = gap.factor(tests)
        if np.isinf(factor):
            return f"{apart}; the paper's own sample is too small to tell"
        return f"{apart}; {max(factor, 1.1):.2g} times our positions would decide"
    if gap.limit:
        return f"published as {'at most' if gap.limit == 'upper' else 'at least'} {published:g}"
    if word == "differs":
        return apart
    return f"shown to be within {gap.margin:.2g}"


# --- reading the mapping --------------------------------------------------------------------------------------


def _fits(wanted: Mapping, known: Mapping) -> bool:
    """Whether a published row has one of the wanted values in each column or setting."""
    return all(known.get(name) in (one if isinstance(one, list) else [one]) for name, one in wanted.items())


def _filled(where: Mapping, known: Mapping, ours: Mapping) -> dict:
    """A condition on our tables, in which "=K" stands for what the published row has as K, in our words."""
    filled = dict(where)
    for column, value in where.items():
        if isinstance(value, str) and value.startswith("="):
            value = known[value[1:]]
            filled[column] = ours.get(value, value)
    return filled


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        return None


def _spec(root: Path) -> dict:
    return yaml.safe_load((root / SPEC).read_text(encoding="utf-8"))


# --- the stored tables ----------------------------------------------------------------------------------------


def scoreboard() -> list[dict[str, str]]:
    """The rows of `build` as they are printed, for the committed table.

    >>> rows = scoreboard()
    >>> rows[0]["paper"], rows[0]["value"]
    ('Tong 2024', '0.499')
    """
    return _printed(build(project_data().parent))


def claims() -> list[dict[str, str]]:
    """The rows of `build_claims` as they are printed, for the committed table.

    >>> rows = claims()
    >>> rows[0]["place"]
    'Tong 2024, section 5.2'
    """
    return _printed(build_claims(project_data().parent))


def _printed(frame: pd.DataFrame) -> list[dict[str, str]]:
    """Rows of text: what is printed is a published number with its zeros, and a small p with its exponent."""
    return list(csv.DictReader(io.StringIO(frame.to_csv(index=False))))
