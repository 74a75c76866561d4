"""The process that runs a submission: it executes cells, then answers calls of the functions that they define.

It is started by `sandbox`, imports what answers need, and is forked once a submission. It never sees a check, a
solution or a score: arguments come in, plain values go out.
"""

import base64
import ctypes
import io
import json
import os
import pickle
import resource
import signal
import socket
import struct
import sys

import numpy as np

_LINUX = sys.platform == "linux"
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES, _DIE_WITH_PARENT = 38, 1
_READ = 0b1101  # execute, read a file, read a folder
_REFUSED = {
    "socket.connect": "it opens a network connection",
    "socket.bind": "it opens a network connection",
    "socket.getaddrinfo": "it opens a network connection",
    "socket.gethostbyname": "it opens a network connection",
    "socket.sendto": "it opens a network connection",
    "subprocess.Popen": "it starts another program",
    "os.system": "it starts another program",
    "os.exec": "it starts another program",
    "os.fork": "it starts another program",
    "os.forkpty": "it starts another program",
    "os.posix_spawn": "it starts another program",
    "os.kill": "it sends signals",
    "os.killpg": "it sends signals",
    "ctypes.dlopen": "it loads machine code",
    "ctypes.dlsym": "it loads machine code",
}
_CHANGES = {
    f"os.{name}"
    for name in ("remove", "rename", "mkdir", "rmdir", "symlink", "link", "truncate", "chmod", "chown", "utime")
}


class Refused(PermissionError):
    """Something that a submission may not do."""


# Frames: a length, then so many bytes


def send(connection: socket.socket, payload: bytes) -> None:
    """Send one frame."""
    connection.sendall(struct.pack(">Q", len(payload)) + payload)


def receive(connection: socket.socket, most: int = 1 << 31) -> bytes:
    """Receive one frame of at most `most` bytes; EOFError when the other side is gone."""
    (size,) = struct.unpack(">Q", _exactly(connection, 8))
    if size > most:
        raise EOFError(f"a frame of {size} bytes")
    return _exactly(connection, size)


def _exactly(connection, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise EOFError("the other side is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# Values: what an answer may return, as JSON


def encode(value):
    """A returned value as JSON can hold it; TypeError names a type that no check takes."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.bool_):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return {"array": base64.b64encode(buffer.getvalue()).decode()}
    if isinstance(value, np.ndarray):
        return encode(value.tolist())
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return {kind.__name__: [encode(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(one)] for key, one in value.items()]}
    raise TypeError(
        f"it returns {type(value).__name__}, but checks take numbers, words, lists, sets, dicts and arrays"
    )


def decode(value):
    """What `encode` was given; nothing in it is ever executed."""
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "array":
        return np.load(io.BytesIO(base64.b64decode(inner)), allow_pickle=False)
    if kind == "dict":
        return {decode(key): decode(one) for key, one in inner}
    return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](decode(one) for one in inner)


# What the kernel and Python refuse


def without_network() -> bool:
    """Move this process into a network of its own that leads nowhere; whether the system allows it."""
    return _LINUX and ctypes.CDLL(None).unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0


def can_confine() -> bool:
    """Whether this system has Landlock, which `only_these_files` needs."""
    return _LINUX and ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, 1) >= 1


def only_these_files(readable: list[str], folder: str) -> bool:
    """Let this process read `readable` alone and write in `folder` alone (Landlock); whether the system can."""
    if not can_confine():
        return False
    libc = ctypes.CDLL(None)
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    rights = (1 << 13) - 1 | (1 << 13 if version > 1 else 0) | (1 << 14 if version > 2 else 0)
    handled = ctypes.c_uint64(rights)
    rules = libc.syscall(_LANDLOCK_CREATE, ctypes.byref(handled), 8, 0)
    if rules < 0:
        return False
    for path, allowed in [(path, _READ) for path in readable] + [(folder, rights), ("/dev/null", 0b110)]:
        if not os.path.exists(path):
            continue
        handle = os.open(path, os.O_PATH)
        if not os.path.isdir(path):
            allowed &= 0b111
        libc.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", allowed, handle), 0)
        os.close(handle)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = libc.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0
    os.close(rules)
    return done


def _audited(readable: list[str], folder: str):
    """A hook that says in words what is refused, and stops it where the kernel cannot."""
    own = os.path.realpath(folder)
    allowed = tuple(os.path.realpath(path) for path in readable)

    def inside(path, roots) -> bool:
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root + os.sep) for root in roots)

    def hook(event, arguments):
        if event in _REFUSED:
            raise Refused(f"{_REFUSED[event]}, which a submission may not")
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path, _, flags = arguments
            path = os.fsdecode(path)
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if writes and not inside(path, (own, "/dev/null")):
                raise Refused(f"it writes to {path}, outside of its folder")
            if not writes and not inside(path, (own, "/dev", *allowed)):
                raise Refused(f"it reads {path}, which a submission may not")
        if event in _CHANGES:
            if not all(inside(path, (own,)) for path in arguments if isinstance(path, (str, bytes))):
                raise Refused(f"it changes {arguments[0]}, outside of its folder")

    return hook


# One submission


def _serve(connection: socket.socket) -> None:
    send(connection, str(os.getpid()).encode())
    task = pickle.loads(receive(connection))
    _confine(task)
    names = {"__name__": "__main__"}
    errors = {}
    for number, (question, source) in enumerate(task["cells"], start=1):
        try:
            exec(compile(source, f"cell {number}", "exec"), names)
        except NotImplementedError:
            errors[question or f"cell {number}"] = "there is no answer yet"
        except BaseException as error:
            errors[question or f"cell {number}"] = _line(error)
    send(connection, json.dumps({"errors": errors}).encode())
    while True:
        asked = pickle.loads(receive(connection))
        send(connection, json.dumps(_answer(names, asked)).encode())


def _confine(task) -> None:
    os.setpgid(0, 0)
    os.chdir(task["folder"])
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    resource.setrlimit(resource.RLIMIT_AS, (task["memory"], task["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    resource.setrlimit(resource.RLIMIT_CPU, (int(task["seconds"]) + 2, int(task["seconds"]) + 4))
    only_these_files(task["readable"], task["folder"])
    sys.addaudithook(_audited(task["readable"], task["folder"]))


def _answer(names: dict, asked: dict) -> dict:
    name = asked["name"]
    if "arguments" not in asked:
        value = names.get(name)
        return {"callable": callable(value), "defined": name in names}
    try:
        arguments, options = asked["arguments"]
        return {"value": encode(names[name](*arguments, **options))}
    except NotImplementedError:
        return {"error": "there is no answer yet"}
    except BaseException as error:
        return {"error": _line(error)}


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, Refused) else f"{type(error).__name__}: {text}"


def main(control: int) -> None:
    """Wait for submissions, each a connection that is handed over, and fork for each.

    There is no address at which a submission could hand over another one: the child closes `control` first.

    Args:
        control: number of an open socket; when its other side is gone, so is this process.
    """
    if _LINUX:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    asked = socket.socket(fileno=control)
    send(asked, json.dumps([without_network(), can_confine()]).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while (given := socket.recv_fds(asked, 1, 1))[0]:
        if os.fork() == 0:
            asked.close()
            try:
                _serve(socket.socket(fileno=given[1][0]))
            except (EOFError, OSError):
                pass  # the grader has all that it wants
            finally:
                os._exit(0)
        os.close(given[1][0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
