"""Commands of a chapter: each runs as in a terminal, in a folder, and what it prints is printed."""

import shlex
import subprocess
import sys
from pathlib import Path


def run(line: str, folder: Path) -> int:
    """Run a command line of the package, print what it says but for its progress, and return its status.

    >>> run("textsan --version", Path())  # doctest: +ELLIPSIS
    textsan, version ...
    0
    """
    program = Path(sys.executable).with_name("textsan")
    words = [str(program), *shlex.split(line)[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).splitlines()
    print(*(one for one in said if "textsan: so far" not in one), sep="\n")
    return done.returncode
