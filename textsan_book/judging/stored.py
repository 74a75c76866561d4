"""The project's stored tables as chapters show them: their rows, means over seeds, and names for a reader."""

import numpy as np
import pandas as pd

from textsan import plotting
from textsan.base.project import project_data
from textsan.evaluation import Estimate
from textsan.sweeps.tables import estimate, load_tables, pooled, select

_CORPORA = {"rt": "film reviews", "amazon": "product reviews", "nyt": "news (nyt)", "tweets": "tweets"}
_CORPORA |= {"ag_news": "news (AG)", "mtsamples": "medical reports", "drugs": "drug reviews"}
_CORPORA |= {"prose": "this book", "symptom2disease": "symptoms", "airline_tweets": "airline tweets"}
_CORPORA |= {"sst2": "SST-2"}


def table(*names: str) -> pd.DataFrame:
    """Load the rows of stored tables (* is for anything) by `load_tables`; that there is none is an error."""
    rows = load_tables(project_data() / "results", names)
    if not len(rows):
        raise ValueError(f"names: no row of {', '.join(names)} in data/results; make the tables first")
    return rows


def printed(**where) -> pd.DataFrame:
    """Load the published numbers that have these values by column of `data/paper_numbers.csv`."""
    return select(pd.read_csv(project_data() / "paper_numbers.csv"), where)


def released(name: str) -> pd.DataFrame:
    """Load a stored table of releases with the column `who`, the sanitizer and its epsilon."""
    rows = table(name)
    return rows.assign(who=[called(*cell) for cell in zip(rows.defence, rows.epsilon, strict=True)])


def mean(rows: pd.DataFrame, column: str = "asr") -> Estimate:
    """Pool a column with its interval over the rows, a seed each; those that lack it are left out."""
    return pooled([estimate(row, column) for row in rows[rows[column].notna()].to_dict("records")])


def share(mean: Estimate) -> Estimate:
    """Cut the interval of a share at 0 and 1, beyond which the spread of the seeds may carry it."""
    return Estimate(mean.value, max(mean.low, 0.0), min(mean.high, 1.0))


def independent(rows: pd.DataFrame, column: str, low: str, high: str) -> Estimate:
    """Average a column over rows, with the interval of independent seeds."""
    half = np.sqrt((((rows[high] - rows[low]) / 2) ** 2).sum()) / len(rows)
    mean = rows[column].mean()
    return Estimate(mean, mean - half, mean + half)


def called(sanitizer: str, epsilon: float | None = None) -> str:
    """Name a sanitizer, by its key in the registry, and its epsilon.

    >>> called("custext+", 4.0)
    'CusText+, ε = 4'
    """
    name = plotting.look(mechanism=sanitizer).label
    return name if epsilon is None else f"{name}, ε = {epsilon:g}"


def corpus(name: str) -> str:
    """Name a corpus as tables and figures have it.

    >>> corpus("rt"), corpus("yelp")
    ('film reviews', 'yelp')
    """
    return _CORPORA.get(name, name)
