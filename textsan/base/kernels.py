"""Pinned arithmetic: which kernels and how many threads compute, so that the processor found decides nothing.

Libraries choose their kernels by the processor, and sums in another order end in other digits. The variables below
choose for them; they are read when a library is loaded, so that they stand in the environment before NumPy is. A
kernel's choices are pinned, too, such as the order in which NumPy sorts what is equal.
"""

import os
import platform
import sys
from collections.abc import Mapping

_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# NumPy's own loops by the names of the version in constraints.txt. A name that is no part of a build, or that the
# processor lacks, is passed over; the baseline of the wheels on the package index, X86_V2, cannot be switched off.
_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"
KERNELS = {
    "haswell": {
        **_THREADS,
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_CBWR": "COMPATIBLE",  # the only one that is the same on processors of all makers
        "NPY_DISABLE_CPU_FEATURES": _AVX512,
    },
    "sandybridge": {
        **_THREADS,
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "AVX",
        "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {_AVX512}",
    },
}
"""Sets of kernels by name: the pinned one, and one that computes other last digits, as another processor would."""

PINNED = "haswell"
_X86 = {"x86_64", "amd64"}


def variables(name: str = PINNED, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that pin a process's arithmetic; on a processor that is no x86, its threads only.

    Args:
        name: a key of `KERNELS`.
        environment: that of the process. The pinned kernels leave an OPENBLAS_CORETYPE that is set as it is: on
            some machines it is set because other kernels compute wrongly.

    >>> variables("sandybridge", {})["OMP_NUM_THREADS"]
    '1'
    """
    if name not in KERNELS:
        raise KeyError(f"kernels: {name!r} is unknown; known: {', '.join(KERNELS)}")
    chosen = KERNELS[name] if platform.machine().lower() in _X86 else _THREADS
    kept = {"OPENBLAS_CORETYPE"} & chosen.keys() & environment.keys() if name == PINNED else set()
    return chosen | {key: environment[key] for key in kept}


def pin(*, threads_only: bool = False) -> None:
    """Pin the arithmetic of this process and of those that it starts; call it before NumPy is loaded.

    Args:
        threads_only: let the libraries choose their kernels, which the record of a sweep says.

    Raises:
        RuntimeError: NumPy is loaded, and with other variables.

    >>> import numpy
    >>> pin()  # nothing to do: it was loaded with these
    """
    wanted = _THREADS if threads_only else variables()
    if "numpy" in sys.modules and any(os.environ.get(key) != value for key, value in wanted.items()):
        raise RuntimeError("kernels: NumPy is loaded already; pin them first")
    os.environ.update(wanted)


def held() -> str:
    """Return what is not pinned in this process's arithmetic, by the kernels that it runs; "" if the pins hold.

    >>> held().count(chr(10))  # a line
    0
    """
    if platform.machine().lower() not in _X86:
        return f"kernels of {platform.machine()}"
    import numpy  # noqa: F401  loads the library that is looked at
    from threadpoolctl import threadpool_info

    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    # Any other library than OpenBLAS has no such names of kernels, or computes with others.
    names = {library.get("architecture", library["internal_api"]) for library in libraries} or {"unknown"}
    own = KERNELS[PINNED]
    others = sorted(name for name in names if name.lower() != own["OPENBLAS_CORETYPE"].lower())
    unpinned = [key for key, value in own.items() if os.environ.get(key) != value]
    unlike = [f"products by kernels {' and '.join(others)}"] if others else []
    return "; ".join(unlike + ([f"not as pinned: {' '.join(unpinned)}"] if unpinned else []))


def hardware() -> str:
    """Return processor, cores, what is not as pinned, and the GPU of models, where torch has been used.

    >>> hardware().split(", ")[1].endswith("cores")
    True
    """
    import joblib

    torch = sys.modules.get("torch")  # not loaded for this line alone: it takes a second
    gpus = [torch.cuda.get_device_name()] if torch and torch.cuda.is_available() else []
    return ", ".join([platform.machine(), f"{joblib.cpu_count()} cores", *filter(None, [held()]), *gpus])
