"""The origin of a gain over the context-free attack: words whose source the attacker has text of, or others."""

import numpy as np
import pandas as pd

from textsan.base.project import project_data
from textsan.evaluation import clustered_difference
from textsan.sweeps.hits import load_hits
from textsan.text.corpora import load_dataset, private_and_shadow

BASELINE = "context-free"
"""The attack that the others are compared with, on the same words."""


def overlaps(*, sweep: str, split_by: str, seed: int) -> list[dict]:
    """Measure gains of a stored table's attacks, apart for words whose source has a record in the shadow set.

    A source is in sst2 a sentence with its phrases. What was hit is read, position by position, and the split is
    drawn again. Rows have shared, the share of such words; and the gain on them and on the others, with 95 %
    intervals by source.
    """
    path = project_data() / "results" / f"{sweep}.csv"
    stored, hits, rows = pd.read_csv(path), load_hits(path), []
    mine = stored[(stored.split_by == split_by) & (stored.seed == seed)]
    families = pd.Series({number: hits[number]["family"] for number in mine.index})
    for _, family in mine.groupby(families, sort=False):
        shared = _shared_documents(family.iloc[0])
        [base] = family.index[family.attack == BASELINE]
        for number, attack in family.attack.drop(base).items():
            hit = hits[number]
            inside, gain = shared[hit["document"]], hit["hit"].astype(float) - hits[base]["hit"]
            of = family.loc[number, ["dataset", "epsilon"]].to_dict()
            row = of | {"attack": attack, "n_positions": len(gain), "shared": float(inside.mean())}
            for name, part in (("gain shared", inside), ("gain other", ~inside)):
                ends = clustered_difference(gain[part], hit["source"][part]) if part.any() else [None] * 3
                row |= dict(zip((name, f"{name} low", f"{name} high"), ends, strict=True))
            rows.append(row)
    return rows


def _shared_documents(row: pd.Series) -> np.ndarray:
    """Tell for each private record if its source has another record in the shadow set."""
    records = load_dataset(row.dataset, row.drawn_from)
    sizes = int(row.n_private), int(row.n_shadow), int(row.seed)
    private, shadow = private_and_shadow(records, *sizes, split_by=row.split_by)
    known = {record.fields["part_of"] for record in shadow}
    return np.array([record.fields["part_of"] in known for record in private])
