"""Write down every file that a process and its children read, if `TEXTSAN_RECORD` names a file to write to.

Python imports a module of this name before any other, in the kernel and in every process that it starts; the hook
survives a fork. A line is a path, each once a process, written at once: a worker that is killed leaves its lines.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


def watch(record: str) -> None:
    """Install the hook of this process, which appends lines to the record."""
    output = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen = set()

    def hook(event, arguments):
        if event != "open" or not isinstance(arguments[0], (str, bytes)) or arguments[0] in seen:
            return
        path, _, flags = arguments
        if flags & os.O_ACCMODE == os.O_RDONLY:
            seen.add(path)
            os.write(output, os.fsencode(os.path.abspath(os.fsdecode(path))) + b"\n")

    sys.addaudithook(hook)


if "TEXTSAN_RECORD" in os.environ:
    watch(os.environ["TEXTSAN_RECORD"])
if __name__ == "sitecustomize":
    # The one that this module hides.
    _here = os.path.dirname(os.path.abspath(__file__))
    _spec = PathFinder.find_spec(__name__, [folder for folder in sys.path if os.path.abspath(folder) != _here])
    if _spec:
        _spec.loader.exec_module(module_from_spec(_spec))
