"""Arrays that took long to compute, kept by the content that they are made of."""

import hashlib
import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from textsan.base import assets


def stored(content: Iterable, make: Callable[[], np.ndarray]) -> np.ndarray:
    """An array from the cache, if one of the same content was computed before; else computed and kept.

    All of a file is written or none of it, also if two processes write it, or if `make` fails.

    Args:
        content: arrays and texts that the result is a function of, its kind and version among them.
        make: computes it.
    """
    digest = hashlib.sha256()
    for part in content:
        said = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else str(part).encode()
        digest.update(f"{len(said)}:".encode() + said)
    name = digest.hexdigest()
    file = assets.cache_folder() / "arrays" / name[:2] / f"{name}.npy"
    if file.is_file():
        return np.load(file, allow_pickle=False)
    made = make()
    _write(file, made)
    return made


def _write(file: Path, array: np.ndarray) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    with NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        part.write(buffer.getvalue())
    os.replace(part.name, file)
