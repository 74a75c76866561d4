"""The papers' claims one under another: by how much each is met, with its interval and its verdict."""

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from textsan import plotting
from textsan.evaluation import Estimate
from textsan_book.judging.front import Claim

WORDS = {"holds": "reproduced", "does not hold": "refuted", "undecided": "undecided", "no verdict": "no verdict"}
"""What a verdict is called on the page, in the order of the legend."""
_SERIES = {"holds": 0, "does not hold": 1, "undecided": 2, "no verdict": 3}
_WIDTH = 82  # characters of a claim's line


def counts(claims: pd.DataFrame, numbers: pd.DataFrame) -> list[dict]:
    """Count the verdicts on each paper's claims and published numbers, a row a paper in the order of the claims.

    Claims have a column a verdict, the rest is `not tested`. Of the `numbers` that a paper publishes some agree,
    differ or are undecided (`open`), trivial ones apart.
    """
    paper = claims.place.str.partition(", ")[0]
    compared = numbers[numbers.verdict.isin(["agrees", "differs", "undecided"])]
    told = compared[compared.trivial == ""]
    rows = []
    for name in sorted(set(paper), key=list(paper).index):
        mine, own = claims[paper == name], told[told.paper == name].verdict
        row = {"paper": name, "claims": len(mine)}
        row |= {word: int((mine.verdict == verdict).sum()) for verdict, word in WORDS.items()}
        row["not tested"] = len(mine) - sum(row[word] for word in WORDS.values())
        row |= {"numbers": int((numbers.paper == name).sum()), "agree": int((own == "agrees").sum())}
        rows.append(row | {"differ": int((own == "differs").sum()), "open": int((own == "undecided").sum())})
    return rows


def stated(claims: pd.DataFrame, *verdicts: str) -> list[dict]:
    """List claims with some verdict: their place, rule with when it was written, difference and reason."""
    rows = []
    for row in claims[claims.verdict.isin(verdicts)].to_dict("records"):
        paper, _, where = row["place"].partition(", ")
        rule = f"{row['rule']}; written {row['fixed']} its tables" if row["rule"] else row["verdict"]
        ends = row["value"], row["low"], row["high"]
        difference = None if np.isnan(ends[0]) else str(Estimate(*ends))  # each in its own unit
        said = {"paper": paper, "claim; where": f"{row['claim']}; {where}", "rule": rule}
        rows.append(said | {"difference": difference, "reason": row["reason"]})
    return rows


def forest(ax: Axes, claims: Sequence[Claim]) -> None:
    """Draw by how much each claim is met, least first, each with its words at the left.

    A margin beyond a quarter is cut there.
    """
    edge = 0.25
    order = sorted(claims, key=lambda claim: claim.margin.value)
    labels = ["\n".join(textwrap.wrap(claim.claim, _WIDTH, max_lines=2, placeholder=" …")) for claim in order]
    for verdict, word in WORDS.items():
        places = [place for place, claim in enumerate(order) if claim.verdict == verdict]
        if places:
            cut = [Estimate(*np.clip(order[place].margin, -edge, edge)) for place in places]
            plotting.points(ax, cut, [[place] * 3 for place in places], series=_SERIES[verdict], label=word)
    ax.axvline(0, color=plotting.look(role="chance").colour, linestyle="--")
    ax.set(xlim=(-1.05 * edge, 1.05 * edge), ylim=(len(order) - 0.4, -0.6))
    ax.set_yticks(range(len(order)), labels, fontsize=6.2, linespacing=1.0)
    ax.legend(fontsize=7, loc="upper right")
    ax.set_xlabel("less than claimed      ←      margin      →      as claimed, or more", fontsize=8)
    ax.grid(visible=False, axis="y")


def measured(claims: pd.DataFrame, *parts: str) -> list[str]:
    """Say of the claims that alone have these words what was measured: the difference, and the verdict."""
    lines = []
    for part in parts:
        chosen = claims[claims.claim.str.contains(part, regex=False)]
        if len(chosen) != 1:
            raise ValueError(f"parts: {len(chosen)} claims have {part!r}, not one")
        row = chosen.iloc[0]
        verdict = WORDS.get(row.verdict, row.verdict)
        lines.append(f"{row.claim}: {Estimate(row.value, row.low, row.high)}, {verdict}")
    return lines
