"""Changes to code that no stored number hangs on: `data/same-code.yml`."""

from functools import cache
from typing import Any

import yaml

from textsan.base.project import project_data


def same_code() -> list[dict[str, Any]]:
    """The declared changes: `path`, `was` and `is` (of `textsan.base.fingerprints`), and `because`."""
    file = project_data() / "same-code.yml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else []


@cache
def _before() -> dict[str, str]:
    return {one["is"]: one["was"] for one in same_code()}


def canonical(fingerprint: str) -> str:
    """The fingerprint that stands for this one: that of the code before a declared change.

    Args:
        fingerprint: its first digits, as records and notebooks keep them.

    >>> canonical("no file")
    'no file'
    """
    found = (was for now, was in _before().items() if now.startswith(fingerprint))
    return next(found, fingerprint)[: len(fingerprint)]
