"""The published numbers beside ours, each with a verdict from the one rule of `textsan_book.judging.verdicts`.

Two are compared only where `paper_numbers` names the rows of a result table that ask the same: data set or its
named substitute, defence, epsilon, K and attack.

    agrees, differs, undecided   by the rule of `verdicts`; the reason names the sample that would decide
    detector untrained           ours rests on a detector that has not been shown to learn
    not comparable               the two could not agree, whatever was measured: `verdicts.NOT_COMPARABLE`
    not run                      no table has the row; the reason names it, or what would make it
    no result                    a setting, or the time of a machine: `verdicts.NO_RESULT`

The published error is binomial, of as many positions as the paper attacked: 3,000 under CusText+, 1,000 under
SanText+ (3,000 in Table 4, which says so), 1,000 citizen numbers. Under CusText+ the released code takes those
positions where one of 1,000 released *types* stands (Gamma), drawn before them; the error is that of both draws,
as `attacked-types.csv` has it (`over_types`). Of a difference or a ratio it follows from both rates as if
independent, which is several times too wide for a gain. Of a count the margin is 15 %, which a Monte Carlo of
1,000 runs leaves open.

Seeds are `pooled`. A ratio or a difference of ours is made of rows from the same positions only, and what is
compared with one row of a published table is of one protocol only. Where our sizes are not the paper's,
`substitution` says so. Rows whose agreement would say nothing are *trivial*, with the reason, and counted apart.

    textsan sweep data/sweeps/scoreboard.yml --table data/results/scoreboard.csv    # and so for claims
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from textsan.base.project import project_data
from textsan.evaluation import Estimate, bootstrap_mean
from textsan.sweeps.tables import difference, estimate, load_tables, pooled, ratio, select, unlike
from textsan_book.judging import verdicts
from textsan_book.judging.claims import judge
from textsan_book.judging.matched_success import matched
from textsan_book.judging.paper_claims import CLAIMS
from textsan_book.judging.paper_numbers import NUMBERS, Entry
from textsan_book.judging.verdicts import Comparison, rate_error

PUBLISHED, RESULTS = Path("data") / "paper_numbers.csv", Path("data") / "results"
ATTACKED = {"CUSTEXT+": 3000, "SANTEXT+": 1000, "Citizen (1000 generated IDs)": 1000}
"""Positions that Tong et al. 2024 attack (section 5.1), by defence; numbers that Pan et al. 2020 attack (V-C)."""
TYPES = "attacked-types.csv"
"""The scatter of rates over drawn types, of `textsan_book.studies.attacked_types`."""
NO_EFFECT = "no effect agrees as well"
PROTOCOL = ("split_by", "targets", "vocabulary")
"""Columns in which the numbers of ours beside one row of a published table agree."""
OURS = "ours ours_low ours_high substitution verdict reason trivial published_low published_high margin p_agrees"
OURS = tuple(f"{OURS} p_differs seeds spread beside tables".split())


class Answer(NamedTuple):
    """A number of ours set beside a published number; its verdict is empty where the comparison decides.

    `rest` are the other columns of `OURS`.
    """

    verdict: str
    reason: str
    ours: Estimate | None = None
    comparison: Comparison | None = None
    rest: Mapping = {}


def build(root: Path = Path("."), entries: Sequence[Entry] = NUMBERS) -> pd.DataFrame:
    """Join the published numbers with ours: the columns of paper_numbers.csv, then `OURS`.

    The published value stays text, as printed. An entry that finds several rows, a reason that is on no list, and
    numbers of different protocols beside one row of a published table are errors.
    """
    published = pd.read_csv(root / PUBLISHED, dtype=str, keep_default_na=False).to_dict("records")
    everything = [row | settings(row["setting"]) for row in published]
    load = cache(partial(load_tables, root / RESULTS))
    fitting = ([entry for entry in entries if _fits(entry.rows, known)] for known in everything)
    answers = [_answer(*pair, load, everything) for pair in zip(everything, fitting, strict=True)]
    _refuse_mixtures(published, answers)
    rows: dict[int, dict] = {}
    tables = pd.DataFrame(published).groupby(["paper", "table_or_figure"], sort=False)  # corrected together
    for group in tables.indices.values():
        decided = _decided([answers[i] for i in group], [everything[i] for i in group])
        rows |= {i: published[i] | ours for i, ours in zip(group, decided, strict=True)}
    return pd.DataFrame([rows[i] for i in range(len(rows))])


def build_claims(root: Path = Path(".")) -> pd.DataFrame:
    """Judge the claims in words, a row each, as `textsan_book.judging.claims.judge`."""
    return judge(CLAIMS, root / RESULTS)


def counts(board: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers of each paper by verdict, those that are trivial apart."""
    words = board.verdict.where(board.trivial == "", board.verdict + ", trivial")
    order = [f"{verdict}{end}" for verdict in verdicts.VERDICTS for end in ("", ", trivial")]
    return pd.crosstab(board.paper, words).reindex(columns=[word for word in order if word in set(words)])


def settings(text: str) -> dict[str, str | float]:
    """Read a published setting: its "name=value" parts, numbers as numbers, percent signs dropped.

    >>> settings("defense=CUSTEXT+; epsilon=4.0; ratio=5%; 3000 test samples")
    {'defense': 'CUSTEXT+', 'epsilon': 4.0, 'ratio': 5.0, 'test samples': 3000.0}
    """
    by_name = {}
    for part in text.split("; "):
        name, equals, value = part.partition("=")
        if not equals:
            value, _, name = part.partition(" ")
        if equals or _number(value) is not None:
            number = _number(value)
            by_name[name] = value if number is None else number
    return by_name


def published_rates(
    published: pd.DataFrame, table_or_figure: str, mechanism_or_method: str, key: str, attacked: int
) -> dict[float, Estimate]:
    """Read published rates by a number of their setting, with the 95 % intervals of so many attacked words."""
    where = {"table_or_figure": table_or_figure, "mechanism_or_method": mechanism_or_method}
    rows = select(published, where).to_dict("records")
    rates = {settings(row["setting"])[key]: float(row["value"]) for row in rows}
    halves = {at: verdicts.Z * rate_error(rate, attacked) for at, rate in rates.items()}
    return {at: Estimate(rate, rate - halves[at], rate + halves[at]) for at, rate in rates.items()}


def comparison(row: Mapping) -> Comparison:
    """Return the comparison that a decided row of the scoreboard rests on, for rules other than ours."""
    ours, value = Estimate(row["ours"], row["ours_low"], row["ours_high"]), float(row["value"])
    error = (row["published_high"] - row["published_low"]) / (2 * verdicts.Z)
    return Comparison(ours.value - value, verdicts.standard_error(ours), error, row["margin"], _limit(row))


def exchanged(rows: pd.DataFrame, generator: np.random.Generator) -> list[str]:
    """Exchange the published numbers of each column at random, and return the verdicts: what agrees by chance.

    A column is what a reader compares in a printed table: numbers of one data set, epsilon and metric. Across
    columns numbers differ by what was fitted, or by what nobody doubts. The rows are of one table of a paper,
    without limits, which have no number of their own.
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


def _answer(known: Mapping, entries: Sequence[Entry], load: Callable, everything: Sequence[Mapping]) -> Answer:
    """Answer by the first of the entries whose rows are there."""
    if not known["value"] and not any(entry.no_result for entry in entries):
        return Answer("not comparable", verdicts.NOT_COMPARABLE["no number"])
    asked = []
    for rule in entries:
        if rule.not_run:
            return Answer("not run", rule.not_run)
        if not rule.tables:
            return Answer(*_fixed(rule))
        seeds, amiss = _seeds(rule, known, load)
        if amiss:
            return amiss
        if seeds:
            answer = _compared(rule, known, seeds, everything, load)
            return answer._replace(rest={**answer.rest, "beside": _beside(rule, known, load)})
        asked += _patterns(rule)
    reason = f"no row in {', '.join(dict.fromkeys(asked))}" if asked else "no experiment here asks this"
    return Answer("not run", reason)


def _fixed(rule: Entry) -> tuple[str, str]:
    """The verdict that an entry gives whatever the tables say, and its reason from the list."""
    for key, reasons in (("not_comparable", verdicts.NOT_COMPARABLE), ("no_result", verdicts.NO_RESULT)):
        if reason := getattr(rule, key):
            if reason not in reasons:
                raise ValueError(f"{key}: {reason!r} is no reason; the reasons are {', '.join(reasons)}")
            return key.replace("_", " "), reasons[reason]
    return "", ""


def _seeds(rule: Entry, known: Mapping, load: Callable) -> tuple[list[tuple], Answer | None]:
    """Find by seed the row of ours and that which it is set against, if any, or tell why none can be compared."""
    wheres = [_filled(where, known) for where in (rule.where, rule.against) if where]
    for pattern in _patterns(rule):
        sides = [select(load(pattern), where).to_dict("records") for where in wheres]
        if rule.mean_over:
            sides = [[_mean(side, rule)] if side else [] for side in sides]
        if all(sides):  # of several patterns the first that has the rows
            return _paired(sides, rule, pattern)
    return [], None


def _paired(sides: Sequence[list[dict]], rule: Entry, pattern: str) -> tuple[list[tuple], Answer | None]:
    if not rule.no_result:  # a time is a time, whatever was learnt in it
        sides = [[row for row in side if not verdicts.untrained(row)] for side in sides]
    if not all(sides):
        return [], Answer("detector untrained", "ours rests on a detector that has not been shown to learn")
    if rule.quantity == "at matched success":
        return [tuple(sides)], None  # all rows of each
    ours, *others = sides
    varied = any(unlike(row, ours[0], ("seed", "n_positions")) for row in ours)
    if varied or len({row.get("seed") for row in ours}) < len(ours):
        raise ValueError(f"scoreboard: {rule.rows} finds several rows in {pattern}; narrow its where")
    seeds = []
    for row in ours:
        with_it = [[other for other in side if not unlike(row, other)] for side in others]
        if any(len(side) > 1 for side in with_it):
            raise ValueError(f"scoreboard: {rule.rows} is set against several rows in {pattern}")
        if all(with_it):
            seeds.append((row, *(side[0] for side in with_it)))
    return seeds, None if seeds else Answer("not comparable", verdicts.NOT_COMPARABLE["positions"])


def _mean(rows: Sequence[Mapping], rule: Entry) -> dict:
    """Rows of one cell as one, its number their mean with the interval of the units that were drawn."""
    column = rule.column
    mean = bootstrap_mean([row[column] for row in rows], [row[rule.mean_over] for row in rows], seed=0)
    ends = ("low", "high") if column == "asr" else (f"{column}_low", f"{column}_high")
    return {**rows[0], column: mean.value} | dict(zip(ends, mean[1:], strict=True))


def _patterns(rule: Entry) -> Sequence[str]:
    return [rule.tables] if isinstance(rule.tables, str) else rule.tables


def _compared(rule: Entry, known: Mapping, seeds: list, everything: Sequence[Mapping], load: Callable) -> Answer:
    value = float(known["value"])
    rows = [row for seed in seeds for side in seed for row in (side if isinstance(side, list) else [side])]
    notes, spread = [rule.substitution, _differences(rule.as_published, rows[0])], np.nan
    if rule.quantity == "at matched success":
        target = _target(rule, known, everything)
        rate = matched(*seeds[0], target, rate_error(target, _attacked(known)))
        if rate is None:
            return Answer("not comparable", verdicts.NOT_COMPARABLE["reach"])
        ours, epsilon = rate
        notes.append(f"at our epsilon {epsilon:.2f}")
    else:
        numbers = [_of_a_seed(rule, seed) for seed in seeds]
        ours, values = pooled(numbers), [number.value for number in numbers]
        spread = max(values) - min(values) if len(values) > 1 else np.nan
    rest = {"substitution": "; ".join(filter(None, notes)), "trivial": rule.trivial}
    rest |= {"seeds": len(seeds), "spread": spread, "tables": " ".join({row["table"]: 0 for row in rows})}
    rest |= {"protocol": {tuple(str(row.get(name)) for name in PROTOCOL) for row in rows}}
    word, reason = _fixed(rule)
    if word:
        return Answer(word, reason, ours, None, rest)
    if rule.over_types and not _scattered(seeds, load):
        return Answer("not run", f"how far rates over types scatter: no row in {TYPES}")
    error, most = _published_error(rule, known, seeds, load)
    rest |= {"published_low": value - verdicts.Z * error, "published_high": value + verdicts.Z * error}
    ours_error, margin = verdicts.standard_error(ours), verdicts.margin(error, most)
    gap = Comparison(ours.value - value, ours_error, error, margin, _limit(known))
    nothing = _nothing(rule, known, everything)
    if not gap.limit and nothing is not None and verdicts.nothing_agrees(nothing - value, gap.margin):
        rest["trivial"] = rest["trivial"] or NO_EFFECT
    return Answer("", "", ours, gap, rest | {"margin": gap.margin})


def _nothing(rule: Entry, known: Mapping, everything: Sequence[Mapping]) -> float | None:
    """The number that no change would print: of an effect, none; of a level there is no such number."""
    match rule.quantity:
        case "at matched success":
            return _target(rule, known, everything)
        case "difference" | "relative gain":
            return 0.0
        case "ratio":
            return 1.0
    return None


def _beside(rule: Entry, known: Mapping, load: Callable) -> str:
    """Further numbers of ours beside the number, in words; no verdict rests on them."""
    notes = []
    for label, change in rule.beside.items():
        other = replace(rule, **change)
        if seeds := _seeds(other, known, load)[0]:
            value, low, high = pooled([_of_a_seed(other, seed) for seed in seeds])
            width = f" [{plain(low, 4)}, {plain(high, 4)}]" if high > low else ""
            notes.append(f"{label}: {plain(value, 4)}{width}")
    return "; ".join(notes)


def _differences(as_published: Mapping, row: Mapping) -> str:
    """Name the sizes and the split of a row of ours that are not the paper's, in words."""
    words = {"n_private": "{:,} private sentences for {:,}", "n_shadow": "{:,} shadow sentences for {:,}"}
    words |= {"split_by": "split by {} for by {}"}
    known = {name: size for name, size in as_published.items() if name in row}
    return ", ".join(words[name].format(row[name], size) for name, size in known.items() if row[name] != size)


def _target(rule: Entry, known: Mapping, everything: Sequence[Mapping]) -> float:
    """The number of a published row's reference: all alike but for some settings."""
    same = ("paper", "table_or_figure", "dataset", "mechanism_or_method", "metric", "defense", "epsilon")
    wanted = {name: known.get(name) for name in same} | rule.matched_on
    [reference] = [row for row in everything if all(row.get(name) == v for name, v in wanted.items())]
    return float(reference["value"])


def _of_a_seed(rule: Entry, rows: Sequence[Mapping]) -> Estimate:
    match rule.quantity:
        case "value":
            return Estimate(*(rule.scale * end for end in _rate(rows[0], rule.column)))
        case "difference":
            return difference(*rows, rule.column, rule.column)
        case "ratio":
            return ratio(*rows, rule.column)
        case "relative gain":
            return Estimate(*(100 * (end - 1) for end in ratio(*rows, rule.column)))


def _rate(row: Mapping, column: str) -> Estimate:
    """A column of a row; hits by substring are stored without an interval, and get that of equal words."""
    rate = estimate(row, column)
    if column != "asr_substring":
        return rate
    equal = estimate(row, "asr")
    return Estimate(*(end - equal.value + rate.value for end in equal))


def _published_error(rule: Entry, known: Mapping, seeds: list, load: Callable) -> tuple[float, float]:
    """The standard error of the published number, and the largest margin."""
    value, n = float(known["value"]), _attacked(known)
    scattered = _scattered(seeds, load) if rule.over_types else []
    if rule.is_count:
        most = verdicts.MOST_OF_A_COUNT * value
        return most / verdicts.Z, most
    kind = rule.quantity
    if n is None or rule.column not in ("asr", "asr_substring"):
        return 0.0, 0.0
    if kind in ("value", "at matched success"):
        return scattered[0] if scattered else rate_error(value, n), verdicts.MOST_OF_A_RATE
    a, b = (np.mean([seed[side]["asr"] for seed in seeds]) for side in (0, 1))
    errors = scattered or [rate_error(a, n), rate_error(b, n)]
    if kind == "difference":
        return float(np.hypot(*errors)), verdicts.MOST_OF_A_RATE
    unit = 1 if kind == "ratio" else 100
    relative = np.hypot(errors[0] / a, errors[1] / b)
    return float(unit * relative * a / b), float(unit * verdicts.MOST_OF_A_RATE / b)


def _scattered(seeds: list, load: Callable) -> list[float]:
    """Of each side the standard deviation of a rate over drawn types; empty where `TYPES` lacks one of them."""
    deviations = []
    for row in seeds[0]:
        where = {name: row[name] for name in ("dataset", "n_shadow", "defence", "epsilon", "attack")}
        draws = select(load(TYPES), where)
        if not len(draws):
            return []
        deviations.append(float(np.sqrt(np.mean(draws.deviation**2))))
    return deviations


def _attacked(known: Mapping) -> float | None:
    """The positions that a published number was measured on."""
    return known.get("test samples", ATTACKED.get(known.get("defense", known.get("dataset"))))


def _limit(row: Mapping) -> str:
    return next((end for end in ("upper", "lower") if f"{end} limit" in row["metric"]), "")


# --- the verdicts of one table --------------------------------------------------------------------------------


def _refuse_mixtures(published: Sequence[Mapping], answers: Sequence[Answer]) -> None:
    """No two protocols of ours compared with one row of a published table: those numbers would be read across."""
    seen: dict[tuple, set] = {}
    for row, answer in zip(published, answers, strict=True):
        of = tuple(row[name] for name in ("paper", "table_or_figure", "dataset", "mechanism_or_method", "metric"))
        protocols = seen.setdefault(of, set())
        protocols |= answer.rest["protocol"] if answer.comparison else set()
        if len(protocols) > 1:
            names = "; ".join(", ".join(protocol) for protocol in sorted(protocols))
            raise ValueError(f"scoreboard: {', '.join(of)}: ours is of {names}; keep one ({', '.join(PROTOCOL)})")


def _decided(answers: Sequence[Answer], rows: Sequence[Mapping]) -> list[dict]:
    """The columns of `OURS` for the rows of one table; trivial ones are not corrected together with the others."""
    words = {i: (answer.verdict, 0) for i, answer in enumerate(answers)}
    for trivial in (False, True):
        tested = [i for i, one in enumerate(answers) if one.comparison and bool(one.rest["trivial"]) is trivial]
        judged = verdicts.judge([answers[i].comparison for i in tested])
        words |= {i: (word, len(tested)) for i, word in zip(tested, judged, strict=True)}
    return [_columns(answer, row, *words[i]) for i, (answer, row) in enumerate(zip(answers, rows, strict=True))]


def _columns(answer: Answer, row: Mapping, word: str, tests: int) -> dict:
    given, rest = ("published_low", "published_high", "margin", "spread"), answer.rest
    numbers = dict(zip(OURS[:3], answer.ours or (np.nan,) * 3, strict=True))
    numbers |= {name: rest.get(name, np.nan) for name in given}
    numbers = {name: round(float(value), 4) for name, value in numbers.items()}
    reason, gap = answer.reason, answer.comparison
    if gap:
        reason = _why(gap, float(row["value"]), word, tests)
        numbers |= {"p_agrees": float(f"{gap.p_agrees:.2g}"), "p_differs": float(f"{gap.p_differs:.2g}")}
    texts = {name: rest.get(name, "") for name in ("substitution", "trivial", "beside", "tables")}
    columns = numbers | texts | {"verdict": word, "reason": reason, "seeds": rest.get("seeds", 0)}
    return {name: columns.get(name, np.nan) for name in OURS}


def plain(value: float, digits: int) -> str:
    """Write a number as people do: whole from a thousand on, else with significant digits, never a power of ten.

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
    """Tell if a published row has one of the wanted values in each column or setting."""
    return all(known.get(name) in (of if isinstance(of, list) else [of]) for name, of in wanted.items())


def _filled(where: Mapping, known: Mapping) -> dict:
    """Fill a condition on our tables with the values of the published row."""
    return {column: value(known) if callable(value) else value for column, value in where.items()}


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        return None


# --- the stored tables ----------------------------------------------------------------------------------------


def scoreboard() -> list[dict[str, str]]:
    """Return the rows of `build` as they are printed, for the committed table."""
    return _printed(build(project_data().parent))


def claims() -> list[dict[str, str]]:
    """Return the rows of `build_claims` as they are printed, for the committed table."""
    return _printed(build_claims(project_data().parent))


def _printed(frame: pd.DataFrame) -> list[dict[str, str]]:
    """Rows of text: what is printed is a published number with its zeros, and a small p with its exponent."""
    return list(csv.DictReader(io.StringIO(frame.to_csv(index=False))))
