"""Run a submission's functions in a process of their own, and call them from here.

Checks and scores stay on this side: what comes back from the other side is data, never code. See `child` for what
is refused there, and the page for instructors for what is not stopped.
"""

import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from textsan.base import kernels
from textsan_book.course import child

MEMORY = 4 << 30  # bytes of address space


class AnswerError(Exception):
    """An answer that did not give a value; the message is a line for the student."""


class Pen:
    """A process that waits to run submissions; a context manager, good for any number of them.

    `own_network` and `confined` say whether the system's kernel holds them back, or Python's audit hook alone.

    Raises:
        OSError: it did not start.
    """

    def __enter__(self) -> "Pen":
        self._control, theirs = socket.socketpair()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "HOME", "TEXTSAN_DATA", "XDG_CACHE_HOME")
        }
        environment |= kernels.variables() | {"PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder that the grader stands in, which may hold what students sent.
            [sys.executable, "-P", "-m", "textsan_book.course.child", str(theirs.fileno())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            text=True,
        )
        theirs.close()
        try:
            self.own_network, self.confined = json.loads(child.receive(self._control))
        except EOFError:
            said = self._process.stderr.read()[-300:]
            raise OSError(f"grading: the process for submissions did not start: {said}") from None
        return self

    def __exit__(self, *_) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._process.stderr.close()

    def run(self, cells: list[tuple[str | None, str]], *, seconds: float) -> "Submission":
        """Run cells; their functions can be called then, until `seconds` are over."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"x"], [theirs.fileno()])
        return Submission(ours, cells, seconds)


class Submission:
    """The functions of one submission. A context manager: at its end the process is gone, and its folder with it.

    Args:
        connection: to its process.
        cells: (question or None, source) of the cells, in order.
        seconds: all the time that cells and calls have together.
    """

    def __init__(self, connection: socket.socket, cells: list[tuple[str | None, str]], seconds: float):
        self._connection, self._cells, self._seconds = connection, cells, seconds
        self.errors: dict[str, str] = {}

    def __enter__(self) -> "Submission":
        self._until = time.monotonic() + self._seconds
        self._folder = tempfile.mkdtemp(prefix="submission-")
        self._pid = int(child.receive(self._connection))
        task = {
            "cells": self._cells,
            "folder": self._folder,
            "readable": readable(),
            "memory": MEMORY,
            "seconds": self._seconds,
        }
        try:
            self.errors = self._ask(task)["errors"]
        except AnswerError as error:
            self.errors = {"all": str(error)}
        return self

    def __exit__(self, *_) -> None:
        for kill in (os.killpg, os.kill):
            try:
                kill(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def get(self, name: str):
        """The function of that name as one of ours, or None where the submission has none."""
        if "all" in self.errors:
            raise AnswerError(self.errors["all"])
        return Answer(self, name) if self._ask({"name": name})["callable"] else None

    def call(self, name: str, arguments: tuple, options: dict):
        """What the submission's function returns."""
        said = self._ask({"name": name, "arguments": (arguments, options)})
        if "error" in said:
            raise AnswerError(said["error"])
        return child.decode(said["value"])

    def _ask(self, question) -> dict:
        left = self._until - time.monotonic()
        late = AnswerError(f"it ran for more than {self._seconds:g} seconds: is there an endless loop?")
        if left <= 0:
            raise late
        self._connection.settimeout(left)
        try:
            child.send(self._connection, pickle.dumps(question))
            return json.loads(child.receive(self._connection))
        except TimeoutError:
            self._until = 0
            raise late from None
        except (EOFError, OSError):
            raise AnswerError("its process ended: out of memory, or it left on its own") from None


class Answer:
    """A function of a submission: called here, computed there."""

    def __init__(self, submission: Submission, name: str):
        self._submission, self.__name__ = submission, name

    def __call__(self, *arguments, **options):
        return self._submission.call(self.__name__, arguments, options)


def readable() -> list[str]:
    """What a submission may read beside its own folder: Python, its packages, these two, and the data cache."""
    import textsan
    import textsan_book
    from textsan.base import assets

    packages = [str(Path(one.__file__).parent) for one in (textsan, textsan_book)]
    places = [sys.prefix, sys.base_prefix, *packages, "/usr", "/lib", "/lib64", "/etc", "/dev/urandom"]
    return [*places, str(assets.cache_folder()), *filter(None, [os.environ.get("TEXTSAN_DATA")])]
