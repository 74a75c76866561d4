"""The record of executions that showed what is stored, and which chapters a smaller check executes.

`data/checked.yml` holds, for each chapter, the notebook that an execution with the pinned kernels has confirmed,
and how long that took: by `textsan check`, or by `textsan book` where it showed what had been stored before. A
chapter whose notebook is still the one of the record has run elsewhere, so that a smaller check draws an eighth
of these; every other one is executed. A notebook holds its outputs and fingerprints of all that it used, and a
stale one fails every check, so that equal notebooks are equal runs, whatever the words around their code.
"""

import hashlib
import json
import platform
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from xml.etree import ElementTree

from textsan_book.chapters import chapters as ch, execution

RECORD = Path("data", "checked.yml")
SETTINGS = Path("data", "settings.yml")
PROCESSES = 2  # chapters that run at a time

_SETTINGS = 3  # at most, a chapter
_ONE_IN = 8  # of the chapters that equal the record: others execute all of them before anything is published
_HEADER = (
    "# Written by textsan check and textsan book: what an execution confirmed, and its seconds, two at a time.\n"
)
_CPUINFO = Path("/proc/cpuinfo")  # of Linux


def key(chapter: ch.Chapter) -> str:
    """Hash of a chapter's stored notebook: of its code, its outputs and its list of what it used.

    Neither its text nor the verdicts on its tables are in it: a run would be the same.
    """
    import nbformat

    notebook = nbformat.read(chapter.notebook, as_version=4)
    code = [[cell.source, cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]
    used = {name: one for name, one in notebook.metadata["textsan"].items() if name != "tables"}
    return hashlib.sha256(json.dumps([code, used], sort_keys=True).encode()).hexdigest()[:16]


def read(root: Path) -> dict[str, dict]:
    """`key`, `seconds` and `settings` (their seconds) of each chapter of the record; empty if there is none.

    Args:
        root: the project's folder.
    """
    import yaml

    path = root / RECORD
    return yaml.safe_load(path.read_text(encoding="utf-8"))["chapters"] if path.is_file() else {}


def confirm(root: Path, seconds: Mapping[str, float], others: Mapping[str, list[float]] | None = None) -> None:
    """Record chapters that were executed with the pinned kernels and showed what is stored.

    A chapter whose notebook is the recorded one already keeps its entry, unless it has run with other settings,
    too: a check of what is recorded leaves the file as it is. Chapters that are gone leave the record.

    Args:
        root: the project's folder.
        seconds: of each of these chapters, with its own parameters.
        others: of each chapter with the settings of `data/settings.yml`, in their order.
    """
    import nbformat
    import yaml

    recorded, found, packages = read(root), {}, {}
    for chapter in ch.chapters(root):
        name, entry = chapter.name, recorded.get(chapter.name, {})
        if name in seconds and (entry.get("key") != key(chapter) or others is not None):
            entry = entry | {"key": key(chapter), "seconds": round(seconds[name], 1)}
        if others and name in others:
            entry = entry | {"settings": [round(one, 1) for one in others[name]]}
        if entry:
            found[name] = entry
            packages |= nbformat.read(chapter.notebook, as_version=4).metadata["textsan"]["packages"]
    if found == recorded:
        return
    record = {
        "processor": processor(),
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),  # as installed
        "chapters": found,
    }
    text = yaml.safe_dump(record, sort_keys=False, default_flow_style=None, width=200)
    (root / RECORD).write_text(_HEADER + text, encoding="utf-8")


def processor() -> str:
    """The processor's name where the system tells it, its kind elsewhere."""
    lines = _CPUINFO.read_text(encoding="utf-8").splitlines() if _CPUINFO.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {platform.machine()}" if names else platform.machine()


def commit(root: Path) -> str | None:
    """The commit that is checked out in the folder `root`; None without git."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def drawn(root: Path, commit: str | None) -> dict[str, str]:
    """The chapters that a smaller check executes, each with why, in reading order.

    Args:
        root: the project's folder.
        commit: draws the eighth, rounded up, of those that equal the record; None takes all of them.

    Returns:
        reasons by name.
    """
    recorded = read(root)
    found = ch.chapters(root)
    equal = [one.name for one in found if recorded.get(one.name, {}).get("key") == key(one)]
    reasons = {one.name: f"differs from {RECORD.as_posix()}" for one in found if one.name not in equal}
    if commit is None:
        return reasons | dict.fromkeys(equal, "no commit draws some here")
    reasons |= dict.fromkeys(drawn_of(equal, commit), f"drawn by commit {commit[:12]}")
    return dict(sorted(reasons.items()))


def drawn_of(names: Collection[str], commit: str) -> list[str]:
    """An eighth of some names, rounded up, drawn by the hash of a commit: each has its turn, and nobody chooses.

    Args:
        names: of chapters, or of tests.
        commit: its hash.

    >>> len(drawn_of([f"test {n}" for n in range(20)], "0b12dbc"))
    3
    """
    order = sorted(names, key=lambda name: hashlib.sha256(f"{commit} {name}".encode()).hexdigest())
    return order[: -(-len(order) // _ONE_IN)]


def announced(root: Path, reasons: dict[str, str], chapters: int) -> list[str]:
    """What a smaller check says before it begins: what it executes, why, and what that adds.

    Args:
        root: the project's folder.
        reasons: of `drawn`.
        chapters: how many there are.
    """
    recorded = read(root)
    adding = [name for name, why in reasons.items() if not why.startswith("drawn")]
    known = [recorded[name]["seconds"] for name in adding if name in recorded]
    lines = [f"{len(reasons)} of {chapters} chapters are executed:"]
    lines += [f"  {name}: {why}" for name, why in reasons.items()]
    if adding:
        new = f" and {len(adding) - len(known)} chapters that it does not have" if len(known) < len(adding) else ""
        lines.append(
            f"{len(adding)} of them more than a tree needs that equals the record: {sum(known):.0f} s{new}"
        )
    return lines


def settings(root: Path) -> dict[str, list[dict]]:
    """Other parameters with which a whole check executes chapters: by chapter, at most three of them.

    Args:
        root: the project's folder.

    Raises:
        KeyError: an unknown chapter, or a parameter that it does not have.
        ValueError: more than three for a chapter, or a value of the wrong type.
    """
    import yaml

    path = root / SETTINGS
    found = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known = {chapter.name: chapter for chapter in ch.chapters(root)}
    for name, given in found.items():
        if name not in known:
            raise KeyError(f"{SETTINGS.as_posix()}: {name!r} is no chapter; name one of {', '.join(known)}")
        if len(given) > _SETTINGS:
            raise ValueError(f"{SETTINGS.as_posix()}: {name} has {len(given)} settings; keep {_SETTINGS}")
        for values in given:
            ch.checked_parameters(known[name], values)
    return found


def run_settings(
    root: Path, asked: dict[str, list[dict]], say: Callable[[str], None]
) -> tuple[dict[str, list[float]], list[str]]:
    """Execute chapters with other parameters into `runs/`, two at a time.

    Args:
        root: the project's folder.
        asked: of `settings`.
        say: takes a line on each that is done.

    Returns:
        seconds of each chapter's settings in their order, and a message for each that failed.
    """
    jobs = [(ch.Chapter(root, name), values) for name, given in asked.items() for values in given]
    seconds, failed = {}, []
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for (chapter, values), (took, fault) in zip(jobs, pool.map(_run, jobs), strict=True):
            named = f"{chapter.name} with {', '.join(f'{name} = {value}' for name, value in values.items())}"
            say(f"{named}: {'failed' if fault else f'{took:.1f} s'}")
            seconds.setdefault(chapter.name, []).append(took)
            if fault:
                failed.append(f"{named}: {fault}")
    return seconds, failed


def _run(job: tuple[ch.Chapter, dict]) -> tuple[float, str]:
    started = time.monotonic()
    try:
        execution.run(*job)
    except (execution.ChapterError, KeyError, ValueError) as error:
        return time.monotonic() - started, str(error)
    return time.monotonic() - started, ""


def seconds(report: Path) -> tuple[dict[str, float], set[str]]:
    """Of a run of nbval, by pytest's own report in XML: seconds of each chapter, and those with a failure."""
    found: dict[str, float] = {}
    failed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.attrib["classname"].removeprefix("notebooks.").removesuffix(".ipynb")
        found[name] = found.get(name, 0.0) + float(case.attrib["time"])
        if any(part.tag in ("failure", "error", "skipped") for part in case):
            failed.add(name)
    return found, failed


def dearest_first(root: Path, names: Sequence[str]) -> list[str]:
    """The names, those with the most seconds in the record first: nothing long begins last."""
    recorded = read(root)
    return sorted(names, key=lambda name: -recorded.get(name, {}).get("seconds", float("inf")))


def table(root: Path, seconds: dict[str, float]) -> list[str]:
    """A line a chapter, the dearest first: its seconds, and those of the record."""
    recorded = read(root)
    lines = []
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True):
        before = recorded.get(name, {}).get("seconds")
        lines.append(f"{seconds[name]:7.1f} s  {name}" + ("" if before is None else f"  (recorded: {before})"))
    return [*lines, f"{sum(seconds.values()):7.1f} s  in all, of {PROCESSES} chapters at a time"]
