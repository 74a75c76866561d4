"""Extras: which of them brings a library that is not installed."""

import re


def install_line(library: str) -> str | None:
    """What installs a library that an extra of this package brings; None if none does.

    Args:
        library: as it is imported.

    >>> install_line("torch.nn"), install_line("nowhere")
    ("pip install 'textsan[models]'", None)
    """
    from importlib.metadata import requires

    wanted = _plain(library.partition(".")[0])
    for line in requires("textsan") or ():
        found = re.match(r"([\w.-]+).*\bextra *== *[\"'](\w+)[\"']$", line)
        if found and _plain(found[1]) == wanted:
            return f"pip install 'textsan[{found[2]}]'"
    return None


def missing(error: ModuleNotFoundError) -> str:
    """One line on a library that could not be imported, with the extra that brings it where one does.

    >>> missing(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "torch is not installed; pip install 'textsan[models]'"
    """
    line = install_line(error.name or "")
    return f"{error.name} is not installed; {line}" if line else str(error)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
