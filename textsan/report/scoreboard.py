"""The published numbers beside ours, each with a verdict from one fixed rule.

A published number and ours are compared only where `data/scoreboard.yml` names the row of a result table that asks
the same: data set or its named substitute, defence, epsilon, K and attack. Then the rule is

    agrees           our 95 % interval and the published number, widened by its band, overlap
    differs          they do not
    not comparable   there is a row, but it asks something else, or the paper prints no number; the reason says
    not run          no table has the row

The band is what the paper's own sampling allows, 1.96 standard errors of a rate of one half over as many positions
as it attacked: 3,000 under CusText+ (0.018) and 1,000 under SanText+ (0.031). It prints no intervals, and its
Tables 1 and 2 differ by 0.026 where they are the same experiment. For a difference of two of its rates, or the
ratio of two, the band follows from theirs. A published limit ("less than") agrees with anything on the right side
of it. Other numbers have the band that the mapping states, for example the rounding of a count, and else none.

    python -m textsan.report.scoreboard        # writes data/results/scoreboard.csv and claims.csv
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from textsan.evaluation import Estimate
from textsan.report import claims
from textsan.report.tables import difference, estimate, load_tables, ratio, select

SPEC, PUBLISHED, RESULTS = (Path("data") / name for name in ("scoreboard.yml", "paper_numbers.csv", "results"))
ATTACKED = {"CUSTEXT+": 3000, "SANTEXT+": 1000}
"""Positions that Tong et al. 2024 attack (section 5.1)."""
OURS = ("ours", "ours_low", "ours_high", "substitution", "verdict", "reason", "band", "tables")


def build(root: Path = Path(".")) -> pd.DataFrame:
    """The published numbers, a row each, joined with ours.

    Args:
        root: of the repository: data/paper_numbers.csv, data/scoreboard.yml and data/results below it.

    Returns:
        the columns of paper_numbers.csv, then `OURS`. The published value stays text, as printed.

    Raises:
        ValueError: a rule of the mapping finds several rows.
    """
    spec = _spec(root)
    published = pd.read_csv(root / PUBLISHED, dtype=str, keep_default_na=False)
    rows = []
    for row in published.to_dict("records"):
        known = row | settings(row["setting"])
        fitting = [{"ours": spec["ours"]} | rule for rule in spec["published"] if _fits(rule["rows"], known)]
        rows.append(row | dict(zip(OURS, _compare(known, fitting, root / RESULTS), strict=True)))
    return pd.DataFrame(rows)


def build_claims(root: Path = Path(".")) -> pd.DataFrame:
    """The claims in words, a row each, as `textsan.report.claims.judge`.

    Args:
        root: of the repository.
    """
    return claims.judge(_spec(root)["claims"], root / RESULTS)


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
    """Published rates by a number of their setting, with the intervals that so many attacked words leave open.

    Their half width is 1.96 standard errors of a rate of one half, as in the rule above.

    Args:
        published: paper_numbers.csv, the rows of one paper.
        table_or_figure, mechanism_or_method: which rows of it.
        key: the name of the number in the setting.
        attacked: words that each rate was measured on.

    >>> rows = {"table_or_figure": "T", "mechanism_or_method": "A", "setting": ["K=1; x", "K=5"], "value": [0, 1]}
    >>> for k, rate in published_rates(pd.DataFrame(rows), "T", "A", "K", 9604).items():
    ...     print(k, rate)
    1.0 0.000 [-0.010, 0.010]
    5.0 1.000 [0.990, 1.010]
    """
    half = 1.96 * np.sqrt(0.25 / attacked)
    where = {"table_or_figure": table_or_figure, "mechanism_or_method": mechanism_or_method}
    rows = select(published, where).to_dict("records")
    rates = {settings(row["setting"])[key]: float(row["value"]) for row in rows}
    return {at: Estimate(rate, rate - half, rate + half) for at, rate in rates.items()}


def verdict(ours: Estimate, published: float, band: float, limit: str = "") -> str:
    """ "agrees" or "differs", by the rule at the head of this module.

    Args:
        ours: value and 95 % interval.
        published: the paper's number.
        band: half of the width that its sampling and rounding allow it.
        limit: "upper" or "lower" if the paper says that the truth is below or above its number.

    >>> verdict(Estimate(0.52, 0.51, 0.53), 0.503, 0.018), verdict(Estimate(0.56, 0.55, 0.57), 0.503, 0.018)
    ('agrees', 'differs')
    """
    slack = band + 1e-9
    too_high = ours.low > published + slack and limit != "lower"
    too_low = ours.high < published - slack and limit != "upper"
    return "differs" if too_high or too_low else "agrees"


def _compare(known: Mapping, rules: Sequence[Mapping], folder: Path) -> tuple:
    """`OURS` of a published row, from the first of the rules whose rows are there."""
    if not known["value"]:
        return _answer("not comparable", "the paper prints no number")
    asked = []
    for rule in rules:
        if "tables" not in rule:
            return _answer("not comparable", rule["not_comparable"])
        if sides := _sides(rule, known, folder):
            return _judged(rule, known, sides)
        asked += _patterns(rule)
    reason = f"no row in {', '.join(dict.fromkeys(asked))}" if asked else "no experiment here asks this"
    return _answer("not run", reason)


def _answer(word: str, reason: str, ours=(np.nan,) * 3, substitution="", band=np.nan, tables="") -> tuple:
    return *(round(value, 4) for value in ours), substitution, word, reason, round(band, 4), tables


def _sides(rule: Mapping, known: Mapping, folder: Path) -> list[dict]:
    """The row of ours, and the one it is set against if the rule has one; nothing where one of them is missing.

    Both are of the same tables: of several patterns, the first with all that is asked for.
    """
    wheres = [_filled(rule[key], known, rule["ours"]) for key in ("where", "against") if key in rule]
    for pattern in _patterns(rule):
        rows = load_tables(folder, pattern)
        found = [select(rows, where) for where in wheres]
        if any(len(one) > 1 for one in found):
            raise ValueError(f"scoreboard: {rule['rows']} finds several rows in {pattern}; narrow its where")
        if all(len(one) for one in found):
            return [one.to_dict("records")[0] for one in found]
    return []


def _patterns(rule: Mapping) -> list[str]:
    return [rule["tables"]] if isinstance(rule["tables"], str) else rule["tables"]


def _judged(rule: Mapping, known: Mapping, sides: Sequence[Mapping]) -> tuple:
    ours, published = _quantity(rule, sides), float(known["value"])
    source = {
        "substitution": rule.get("substitution", ""),
        "tables": " ".join({side["table"]: 0 for side in sides}),
    }
    if "not_comparable" in rule:
        return _answer("not comparable", rule["not_comparable"], ours, **source)
    band = _band(rule, known, sides)
    limit = next((end for end in ("upper", "lower") if f"{end} limit" in known["metric"]), "")
    word = verdict(ours, published, band, limit)
    return _answer(word, _why(ours, published, band, limit, word), ours, band=band, **source)


def _quantity(rule: Mapping, sides: Sequence[Mapping]) -> Estimate:
    column, scale = rule.get("column", "asr"), rule.get("scale", 1)
    match rule.get("quantity", "value"):
        case "value":
            return Estimate(*(scale * one for one in estimate(sides[0], column)))
        case "difference":
            return difference(*sides, column, column)
        case "ratio":
            return ratio(*sides, column)
        case "relative gain":
            return Estimate(*(100 * (one - 1) for one in ratio(*sides, column)))


def _band(rule: Mapping, known: Mapping, sides: Sequence[Mapping]) -> float:
    if "band" in rule:
        return rule["band"]
    if "relative_band" in rule:
        return rule["relative_band"] * float(known["value"])
    n = known.get("test samples", ATTACKED.get(known.get("defense")))
    kind = rule.get("quantity", "value")
    if n is None or (kind == "value" and rule.get("column", "asr") != "asr"):
        return 0.0
    error = 0.5 / np.sqrt(n)
    if kind == "value":
        return 1.96 * error
    if kind == "difference":
        return 1.96 * error * np.sqrt(2)
    a, b = (side["asr"] for side in sides)
    relative = np.sqrt((1 - a) / (n * a) + (1 - b) / (n * b))
    return 1.96 * relative * a / b * (1 if kind == "ratio" else 100)


def _why(ours: Estimate, published: float, band: float, limit: str, word: str) -> str:
    if limit:
        return f"published as {'at most' if limit == 'upper' else 'at least'} {published:g}"
    gap = max(ours.low - published, published - ours.high)
    if word == "differs":
        side = "higher" if ours.value > published else "lower"
        return f"{round(gap - band, 3):g} beyond both intervals; ours is {side}"
    return "inside our interval" if gap <= 0 else "inside the paper's band"


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


def main() -> None:
    """Writes both tables, and says how many verdicts there are of each kind."""
    for name, frame in (("scoreboard", build()), ("claims", build_claims())):
        frame.to_csv(RESULTS / f"{name}.csv", index=False, lineterminator="\n")
        print(name, frame.verdict.value_counts().to_dict())


if __name__ == "__main__":
    main()
