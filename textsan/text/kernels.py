"""Pinned arithmetic: which kernels and how many threads compute, so that the processor found decides nothing.

Libraries choose their kernels by the processor, and sums in another order end in other digits. The variables below
choose for them; they are read when a library is loaded, so that they stand in the environment before NumPy is.
"""

import os
import platform
import sys
from collections.abc import Mapping

_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
KERNELS = {
    "haswell": {
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_CBWR": "COMPATIBLE",
    },
    "sandybridge": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
    },
}
"""Sets of kernels by name: the pinned one, and one that computes other last digits, as another processor would."""

PINNED = "haswell"
_X86 = {"x86_64", "amd64"}


def variables(name: str = PINNED, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that pin the arithmetic of a process.

    Args:
        name: a key of `KERNELS`.
        environment: that of the process. The pinned OPENBLAS_CORETYPE leaves one that is set as it is: on some
            machines it is set because other kernels compute wrongly.

    Raises:
        KeyError: unknown name.

    >>> variables("sandybridge", {})["OMP_NUM_THREADS"]
    '1'
    """
    if name not in KERNELS:
        raise KeyError(f"kernels: {name!r} is unknown; known: {', '.join(KERNELS)}")
    chosen = KERNELS[name] if platform.machine().lower() in _X86 else {}
    kept = {"OPENBLAS_CORETYPE"} & environment.keys() if name == PINNED else set()
    return _THREADS | {key: value for key, value in chosen.items() if key not in kept}


def pin(name: str = PINNED) -> None:
    """Pins the arithmetic of this process and of those that it starts; call it before NumPy is loaded.

    Raises:
        RuntimeError: NumPy is loaded, and with other variables.
    """
    wanted = variables(name)
    if "numpy" in sys.modules and any(os.environ.get(key) != value for key, value in wanted.items()):
        raise RuntimeError("kernels: NumPy is loaded already; pin them first")
    os.environ.update(wanted)
