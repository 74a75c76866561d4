"""The five papers item by item: each theorem, algorithm, table and figure, its chapters, and the verdict."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from textsan_book.chapters import chapters

WORDS = {"does not hold": "refuted", "holds": "reproduced"}
_PLURAL = {"agrees": "agree", "agrees trivially": "agree trivially", "differs": "differ"}


class Item(NamedTuple):
    """A theorem, algorithm, table or figure of a paper, as the paper calls it, and the chapters that have it.

    `otherwise` is the verdict where no claim and no number of it is judged.
    """

    name: str
    what: str
    chapters: tuple[str, ...] = ()
    otherwise: str = "shown; nothing to judge"


NOT_HELD = "the page is not held"
PAPERS = {
    "SanText 2021": (
        Item("abstract", "high utility does not boost inference", ("10",)),
        Item("Definitions 1 to 4", "LDP, metric DP, utility-optimised DP", ("2", "3")),
        Item("Algorithm 1", "SanText", ("2",)),
        Item("Theorem 1", "SanText is metric DP", ("2",)),
        Item("Algorithm 2", "SanText+", ("3",)),
        Item("Theorem 2", "SanText+ is utility-optimised metric DP", ("3",)),
        Item("Table 1", "utility of four mechanisms", ("9", "S7")),
        Item("Table 2", "sizes of vocabularies", ("S13",)),
        Item("Table 3", "pretraining on sanitized text", ("9",)),
        Item("Table 4", "examples", ("S19",)),
        Item("Figures 1 and 2", "drawings of the set-up", ("1", "3")),
        Item("Figure 3", "utility over w and p", ("S7",)),
        Item("Figure 4", "defence rate against accuracy", ("S10", "S7")),
        Item("Figure 5", "N, S and S* over epsilon", ("S2", "S7")),
        Item("Appendix A.3", "what a larger p protects", ("3",)),
    ),
    "CusText 2023": (
        Item("Definitions 1 and 2", "DP and the exponential mechanism", ("2", "3")),
        Item("Algorithms 1 and 2", "output sets and sampling", ("3",)),
        Item("section 4", "DP within groups", ("3",)),
        Item("released code", "overlapping output sets", ("3",)),
        Item("Table 1", "utility at rescaled epsilons", ("9", "S7")),
        Item("Table 2", "the query attack, counter-fitted vectors", ("S11", "S7")),
        Item("Figures 1 to 3", "drawings of the method", ("3",)),
        Item("Figure 4", "mask inference against accuracy", ("S10", "S7")),
        Item("Figure 5", "sizes of the output sets", ("S7",)),
    ),
    "Tong 2024": (
        Item("Theorem 1", "the context-free optimum", ("5",)),
        Item("Definition 1", "the context-free ASR bound", ("5",), "computed, with its attack"),
        Item("Theorem 2", "the contextual optimum", ("6",)),
        Item("Definition 2", "the contextual K-ASR bound", ("6",)),
        Item("Table 1", "K candidates", ("S14",)),
        Item("Table 2", "sizes of the shadow set", ("S14", "S9")),
        Item("Table 3", "times by K", ("S14",)),
        Item("Table 4", "the constant", ("S9", "S13")),
        Item("Figure 1", "drawing of the attacks", ("1",)),
        Item("Figure 2", "other constants", ("S9",)),
        Item("Figure 3", "accuracy of the detector", ("S14",)),
        Item("Figure 4", "seven attacks and bounds over epsilon", ("8", "S10", "S13")),
        Item("Figure 5", "names", ("S12",)),
        Item("Figure 6", "times", ("S13",)),
        Item("Figure 7", "times of all attacks", ("S13",)),
        Item("Figure 8", "a shadow set of other text", ("S9",)),
        Item("Appendix H", "large epsilons", ("S10", "S9")),
    ),
    "Pan 2020": (
        Item("abstract", "four kinds of defences", ("15", "S15"), "three tried in our own form"),
        Item("Table II", "citizen numbers from vectors", ("15",)),
        Item("Figure 3", "genomes, base by base", ("15",)),
        Item("Table VI", "throughput", ("S15",), "the text's rate is met; " + NOT_HELD),
        Item("Figures 6 and 8", "utility under attack, black boxes", ("15",), NOT_HELD),
        Item("section V-A", "departments of medical reports", ("S15",)),
        Item("section V-D", "encoders against each other", ("15",)),
        Item("section VI", "keywords, white box and black box", ("15",)),
    ),
    "Li 2023": (
        Item("section 4.2", "features by tensor decomposition", ("S16",)),
        Item("Table 1", "DLG, TAG, LAMP and feature match", ("16", "S16")),
        Item("Table 2", "features in which phase", ("16", "S16")),
        Item("Table 3", "a head of two layers", ("S16",)),
        Item("Tables 4 and 6", "kinds of attacks; examples", ("16",)),
        Item("Figure 1", "drawing of the attack", ("S16",)),
        Item("Figure 2", "cosine over d'", ("S16",)),
        Item("section 5.2", "lengths and batches", ("16", "S16")),
        Item("Appendix B.2", "ReLU by a tensor of fourth order", ("S16",)),
    ),
}


def tables(root: Path) -> dict[str, str]:
    """Write the table of each paper as Markdown, by "paper_" and its first word."""
    results = root / "data" / "results"
    if not (results / "claims.csv").is_file():
        return {}
    claims, board = pd.read_csv(results / "claims.csv"), pd.read_csv(results / "scoreboard.csv")
    pages = {chapters.number(chapter.name): chapter.name for chapter in chapters.chapters(root)}
    places = list(zip(board.paper, board.table_or_figure, strict=True))
    found = {}
    for paper, items in PAPERS.items():
        rows = ["| in the paper | what it is | in this book | what became of it |", "|---|---|---|---|"]
        for item in items:
            links = ", ".join(f"{{doc}}`{number} </notebooks/{pages[number]}>`" for number in item.chapters)
            mine = claims[[of(item, place, paper) for place in claims.place]]
            theirs = board[[of(item, f"{one}, {place}", paper) for one, place in places]]
            rows.append(f"| {item.name} | {item.what} | {links or '–'} | {verdict(item, mine, theirs)} |")
        found[f"paper_{paper.split()[0].lower()}"] = "\n".join(rows)
    return found


def of(item: Item, place: str, paper: str = "") -> bool:
    """Tell if a place is of an item: "section 5.2 and Table 1" is of Table 1, and of no Table 10.

    >>> of(Item("Figure 4", ""), "Abstract; Sec 5.2; Fig 4a"), of(Item("Table 1", ""), "Tong 2024, Tables 1 and 2")
    (True, True)
    """
    kind, _, number = item.name.lower().rpartition(" ")
    place = place.lower().replace("fig ", "figure ").replace("sec ", "section ").replace("app ", "appendix ")
    if paper and not place.startswith(paper.lower()):
        return False
    if not kind:
        return number in place
    return bool(re.search(rf"\b{re.escape(kind)}s? (\d+ and )?{re.escape(number)}(?![0-9.-])", place))


def verdict(item: Item, claims: pd.DataFrame, numbers: pd.DataFrame) -> str:
    """Count the verdicts on an item's claims and on its numbers, the most frequent first."""
    parts, trivially = [], numbers.trivial.fillna("") != ""
    of_numbers = numbers.verdict.where(~trivially, numbers.verdict + " trivially")
    for name, verdicts in (("claims", claims.verdict), ("numbers", of_numbers)):
        counted = verdicts.replace(WORDS).value_counts()
        if len(counted):
            worded = (
                f"{number} {_PLURAL.get(word, word) if number > 1 else word}" for word, number in counted.items()
            )
            parts.append(f"{name}: {', '.join(worded)}")
    return "; ".join(parts) or item.otherwise
