"""Write the table of a benchmark as csv, and beside it the record of what made it."""

import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from textsan.base import kernels
from textsan_book.studies import records


def store(
    path: Path,
    rows: Iterable,
    packages: Sequence[str] = (),
    made: Mapping | None = None,
    digits: str | None = None,
) -> None:
    """Write rows, with the versions of packages, beside NumPy's, and what else was `made` by in the record."""
    pd.DataFrame(rows).to_csv(path, index=False, lineterminator="\n", float_format=digits)
    versions = [f"{package} {version(package)}" for package in ("numpy", *packages)]
    always = {
        "command": f"python {' '.join(sys.argv)}",
        "hardware": [kernels.hardware()],
        "versions": [", ".join([f"python {platform.python_version()}", *versions])],
        "made elsewhere": "times of one machine",
    }
    records.write(path, always | dict(made or {}))
