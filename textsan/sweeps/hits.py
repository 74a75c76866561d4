"""Hits of each attack of a table, position by position: any difference is recomputed from the table alone.

Beside a table `x.csv` stands `x.npz`: which of its rows attack the same positions (a family), where those are,
what kind of word stands there, and for each row what was hit. Of the words themselves nothing is kept.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_PLACE = ("document", "index", "source", "letter", "frequency", "unchanged", "as kept")  # the same in a family
_ROW = ("hit", "substring", "meaning", "probability")
_NUMBERS = ("document", "index", "source", "frequency", "probability")  # the others are yes or no
_ROUNDED = 1e-5  # rates of a stored table have five decimals


def packed(hits: Mapping[int, tuple[str, Mapping[str, np.ndarray]]]) -> bytes:
    """Pack the hits of a table as an npz file.

    Args:
        hits: by number of the row: the name of its family, and its arrays, as from `sweep.load_hits`.
    """
    families = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in hits.values()))}
    arrays: dict[str, Any] = {
        "rows": np.array([*hits]),
        "families": np.array([families[name] for name, _ in hits.values()]),
    }
    for row, (family, columns) in hits.items():
        for name, values in columns.items():
            if name in _ROW:
                arrays[f"{row}/{name}"] = _packed_bits(values)
            elif name in _PLACE:
                arrays.setdefault(f"family {families[family]}/{name}", _packed_bits(values))
        arrays[f"family {families[family]}/n"] = np.array(len(columns["hit"]))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _packed_bits(values: np.ndarray) -> np.ndarray:
    return np.packbits(values) if values.dtype == bool else values


def load_hits(table: Path) -> dict[int, dict[str, np.ndarray]]:
    """Load the hits of a stored table, by number of the row: arrays of one entry a position.

    Returns:
        for each row that has hits the arrays of `sweep.load_hits`, and `family`: equal numbers attack the same
        positions.
    """
    rates, hits = pd.read_csv(table).asr, {}
    with np.load(Path(table).with_suffix(".npz"), allow_pickle=False) as file:
        stored = dict(file)
    for row, family in zip(stored["rows"].tolist(), stored["families"].tolist(), strict=True):
        n, arrays = int(stored[f"family {family}/n"]), {"family": family}
        for prefix, names in ((f"family {family}/", _PLACE), (f"{row}/", _ROW)):
            for name in names:
                if (values := stored.get(prefix + name)) is not None:
                    is_number = name in _NUMBERS
                    arrays[name] = values if is_number else np.unpackbits(values, count=n).astype(bool)
        if row >= len(rates) or abs(arrays["hit"].mean() - rates[row]) > _ROUNDED:
            what = f"those of row {row} do not give the rate of {table}"
            raise ValueError(f"hits: {what}; they are of another table")
        hits[row] = arrays
    return hits
