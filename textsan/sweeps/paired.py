"""Differences between attacks of a stored table, recomputed from its hits alone."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from textsan.evaluation import clustered_difference
from textsan.sweeps.hits import load_hits
from textsan.sweeps.tables import load_tables, select

_LABELS = ("dataset", "split_by", "defence", "epsilon", "n_shadow", "seed")  # columns that the result has, too


def paired_differences(
    table: Path,
    ours: str | Mapping,
    theirs: str | Mapping,
    where: Callable[[Mapping[str, np.ndarray]], np.ndarray] | None = None,
) -> pd.DataFrame:
    """Compare two attacks on the same positions, from a stored table and its hits alone.

    Args:
        ours, theirs: names of attacks; or, where the table has an attack with several settings, values by column
            of `load_tables`: {"attack": "markov", "attack.k": 5} for example.
        where: positions that count, of the arrays of `load_hits`: lambda at: at["letter"] & ~at["unchanged"], say.
            None is all.

    Returns:
        a row for each family that has both: what it is of, n positions, and the difference with its 95 % interval
        by source, of `textsan.evaluation.clustered_difference`.
    """
    table = Path(table)
    rows, hits, differences = load_tables(table.parent, table.name), load_hits(table), []
    sides = [{"attack": side} if isinstance(side, str) else side for side in (ours, theirs)]
    chosen = [[row for row in select(rows, side).index if row in hits] for side in sides]
    for family in dict.fromkeys(arrays["family"] for arrays in hits.values()):
        pair = [[row for row in side if hits[row]["family"] == family] for side in chosen]
        if not all(pair):
            continue
        if max(map(len, pair)) > 1:
            settings = "; ".join(rows.attack_parameters[max(pair, key=len)])
            raise ValueError(
                f"ours, theirs: an attack is there as {settings}; pass {{'attack': .., 'attack.NAME': VALUE}}"
            )
        [row], [other] = pair
        arrays = hits[row]
        inside = np.ones(len(arrays["hit"]), bool) if where is None else np.asarray(where(arrays), bool)
        gain = (arrays["hit"].astype(float) - hits[other]["hit"])[inside]
        difference = clustered_difference(gain, arrays["source"][inside])
        labels = {name: rows[name][row] for name in _LABELS} | {"n": len(gain)}
        differences.append(labels | dict(zip(("difference", "low", "high"), difference, strict=True)))
    return pd.DataFrame(differences)
