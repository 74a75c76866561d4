"""Extras: which of them brings a library that is not installed."""

import re


def install_line(library: str) -> str | None:
    """Return the command that installs a library which an extra of this package brings; None if none does.

    >>> install_line("torch.nn"), install_line("nowhere")
    ("pip install '.[models]' in a clone", None)
    """
    from importlib.metadata import requires

    wanted = _normalised(library.partition(".")[0])
    for line in requires("textsan") or ():
        extra = re.match(r"([\w.-]+).*\bextra *== *[\"'](\w+)[\"']$", line)
        if extra and _normalised(extra[1]) == wanted:
            return f"pip install '.[{extra[2]}]' in a clone"
    return None


def missing(error: ModuleNotFoundError) -> str:
    """Return a line on a library that could not be imported, with the extra that brings it where one does.

    >>> missing(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "torch is not installed; pip install '.[models]' in a clone"
    """
    line = install_line(error.name or "")
    return f"{error.name} is not installed; {line}" if line else str(error)


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
