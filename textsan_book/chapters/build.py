"""The book: check the stored chapters, re-execute the stale ones, build the pages."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from textsan.base import kernels
from textsan_book.chapters import chapters as ch, checked, compare, execution, varying

# What differs from machine to machine or run to run must not be stored. A path is two or more parts after a
# slash that follows no word, tag or other slash: and/or, </b>, 1/2 and http://x/y are none.
_UNSTABLE = {
    "a local path": re.compile(r"(?<![\w/.:<~])/(?:[\w.+-]+/)+[\w.+-]+|\b[A-Z]:\\\\?\w+|(?<!\w)~/\w+"),
    "a font that this machine lacks": re.compile(r"\bfindfont: "),
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{6,}\b"),
    "a timing": re.compile(
        r"\b\d+\.\d+ ?(?:[mµun]?s|sec(?:ond)?s?|min(?:ute)?s?)\b|\bit/s\b|s/it\b|Wall time:|CPU times:|\d\d:\d\d<"
    ),
}
_EXTERNAL = re.compile(
    r"""<(?:script|img|iframe|source|embed)\b[^>]*\bsrc=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon|modulepreload))"""
    r"""[^>]*\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|url\(\s*["']?(?:https?:)?//[^"')]+|@import\s+["'](?:https?:)?//[^"']+""",
    re.IGNORECASE,
)
_REASON = re.compile(r"# varies: (because \S.*)")


class BuildError(RuntimeError):
    """The book does not check or build; the message says where."""


def _texts(output) -> str:
    """All that a reader sees of an output as text; pictures are left out."""
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    shown = [value for kind, value in data.items() if kind.startswith("text/")]
    shown += [json.dumps(value) for kind, value in data.items() if kind == "application/json"]
    return "\n".join(shown)


def notebook_faults(notebook) -> list[str]:
    """Faults of a stored notebook: gaps in the execution counts, stored errors, unstable text, tags amiss.

    Args:
        notebook: a notebook as nbformat reads it.

    Returns:
        One line a fault; empty if there is none.
    """
    faults = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        faults.append(f"execution counts are {counts}, not 1 to {len(code)}")
    for number, cell in enumerate(code, 1):
        for tag in cell.metadata.get("tags", []):
            if tag.startswith("NBVAL_"):  # nbval's spelling in comments; as a tag it is silently ignored
                faults.append(f"cell {number} has the tag {tag}; nbval knows {tag.lower().replace('_', '-')}")
            if tag in ("nbval-skip", "nbval-ignore-output"):
                faults.append(f"cell {number} has the tag {tag}; an exception has the tag varies and says why")
            if tag == "varies" and not _REASON.match(cell.source):
                faults.append(f"cell {number} has the tag varies; its first line must be '# varies: because ...'")
        for output in cell.outputs:
            if output.output_type == "error":
                faults.append(f"cell {number} stores an error: {output.ename}: {output.evalue}")
                continue
            for what, pattern in _UNSTABLE.items():
                if match := pattern.search(_texts(output)):
                    faults.append(f"cell {number} stores {what}: {match.group()}")
    for number, names in varying.shown_in_vain(code):
        faults.append(f"cell {number} shows {', '.join(names)} of a cell that varies; it varies, too")
    return faults


def pair_faults(chapter: ch.Chapter) -> list[str]:
    """Faults of a chapter's pair: one half missing, or cells that differ, read either way.

    Returns:
        One line a fault; empty if there is none.
    """
    import jupytext
    import nbformat

    for half in (chapter.text, chapter.notebook):
        if not half.is_file():
            return [f"{half.relative_to(chapter.root)} is missing"]
    text, notebook = ch.read_text(chapter), nbformat.read(chapter.notebook, as_version=4)
    faults = []
    if ch.content(text) != ch.content(notebook):
        pairs = zip_longest(ch.content(text), ch.content(notebook))
        first = next(number for number, (a, b) in enumerate(pairs, 1) if a != b)
        faults.append(f"text and notebook differ from cell {first} on")
    back = jupytext.reads(jupytext.writes(notebook, fmt="md:myst"), fmt="md:myst")
    if ch.content(back) != ch.content(notebook):
        faults.append("the notebook does not survive the way to Markdown and back")
    return faults


def stored_faults(root: Path, only: Collection[str] | None = None) -> list[str]:
    """Faults of pairs and notebooks under `root`, without executing anything; each line names its chapter.

    Args:
        root: the project's folder.
        only: names of the chapters that are looked at; all by default.
    """
    import nbformat

    names = {chapter.name for chapter in ch.chapters(root)} | {
        path.stem for path in (root / "notebooks").glob("*.ipynb")
    }
    faults = []
    for chapter in (ch.Chapter(root, name) for name in sorted(names if only is None else only)):
        mine = pair_faults(chapter)
        if chapter.notebook.is_file():
            mine += notebook_faults(nbformat.read(chapter.notebook, as_version=4))
        faults += [f"{chapter.name}: {fault}" for fault in mine]
    return faults


def exceptions(root: Path) -> list[str]:
    """Cells that are not compared, a line each with the reason."""
    found = []
    for chapter in ch.chapters(root):
        code = [cell for cell in ch.read_text(chapter).cells if cell.cell_type == "code"]
        for number, cell in enumerate(code, 1):
            if "varies" in cell.metadata.get("tags", []):
                found.append(f"{chapter.name}: cell {number} varies, {_REASON.match(cell.source)[1]}")
    return found


def check(
    root: Path,
    say: Callable[[str], None] = print,
    *,
    only: Collection[str] | None = None,
    drawn: bool = False,
    full: bool = False,
    other: str | None = None,
) -> None:
    """Check what is stored, then execute chapters anew with nbval and compare every output.

    With the kernels that made what is stored, every digit is compared, and chapters that show what they store are
    recorded; with others, estimates are by interval, and nbval lists those that moved.

    Args:
        root: the project's folder.
        say: takes a line on each chapter that is executed and why, on its seconds, and on each exception.
        only: names of the chapters to check; all by default.
        drawn: execute those that differ from the record and an eighth of the others only; see `checked`.
        full: execute each with the other parameters of `data/settings.yml`, too.
        other: kernels of `textsan.base.kernels.KERNELS` to run with, in place of the pinned ones.

    Raises:
        BuildError: a fault, a stale chapter, or one that does not run or shows something else.
        KeyError, ValueError: `data/settings.yml` names what is not there.
    """
    others = checked.settings(root) if full else {}
    faults = stored_faults(root, only) or [
        f"{chapter.name}: stale: {', '.join(reasons)}; run textsan book"
        for chapter in ch.chapters(root)
        if (only is None or chapter.name in only)
        and (reasons := execution.stale_because(chapter) or execution.new_verdicts(chapter))
    ]
    if faults:
        raise BuildError("\n".join(faults))
    names = [chapter.name for chapter in ch.chapters(root) if only is None or chapter.name in only]
    if drawn:
        reasons = checked.drawn(root, checked.commit(root))
        for line in checked.announced(root, reasons, len(names)):
            say(line)
        names = list(reasons)
    seconds, unlike = _execute_and_compare(root, checked.dearest_first(root, names), other, say)
    for line in checked.table(root, seconds):
        say(line)
    problems = [f"{name} does not run, or shows something else than it stores" for name in sorted(unlike)]
    others_seconds, others_failed = checked.run_settings(root, others, say)
    problems += others_failed
    if not (other or execution.not_pinned()):
        shown = {name: took for name, took in seconds.items() if name not in unlike}
        checked.confirm(root, shown, others_seconds if full and not problems else None)
    if problems:
        raise BuildError("\n".join(problems))
    for line in (found := [line for line in exceptions(root) if line.partition(":")[0] in names]):
        say(line)
    say(f"every output is as stored; {len(found)} cells are exceptions")


@contextmanager
def _arithmetic(other: str | None, say: Callable[[str], None]) -> Iterator[dict[str, str]]:
    """The surroundings of a check, which say where its kernels are not those of the records; so does a line."""
    why = f"kernels of {other}" if other else execution.not_pinned()
    if why:
        say(f"estimates are compared by interval: {why}")
    with execution.surroundings(defaults=True, arithmetic=other or kernels.PINNED) as variables:
        yield variables | ({compare.BY_INTERVAL: why} if why else {})


def _execute_and_compare(
    root: Path, names: Sequence[str], other: str | None, say: Callable[[str], None]
) -> tuple[dict[str, float], set[str]]:
    """Seconds of each chapter, and those that do not run or show something else; pytest prints what."""
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(root), "-p", "no:cacheprovider"]
    command += ["-p", "textsan_book.chapters.validation", "--nbval", "--nbval-cell-timeout", "1200", "-q"]
    if len(names) > 1:  # a chapter is one kernel's; they begin in the order in which they are named
        command += ["-n", str(checked.PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder"]
    with _arithmetic(other, say) as variables, TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command += [f"--junitxml={report}", *(f"notebooks/{name}.ipynb" for name in names)]
        code = subprocess.run(command, cwd=root, env=variables).returncode
        seconds, unlike = checked.seconds(report) if report.is_file() else ({}, set())
        return seconds, unlike or (set(names) if code else set())  # pytest itself failed: no chapter is confirmed


def external_resources(html: Path) -> list[str]:
    """Scripts, styles, fonts and pictures that pages under `html` would fetch from the network."""
    return [
        f"{path.relative_to(html)}: {match.group()}"
        for path in sorted(html.rglob("*"))
        if path.suffix in (".html", ".css")
        for match in _EXTERNAL.finditer(path.read_text(encoding="utf-8"))
    ]


def build(root: Path) -> Path:
    """Build the pages from the stored notebooks; every warning is an error, every time.

    Returns:
        Path of the book's first page.

    Raises:
        BuildError: Sphinx warned or failed, or a page needs the network.
    """
    html = root / "_build" / "html"
    shutil.rmtree(root / "_build", ignore_errors=True)  # a kept doctree would swallow its warnings
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", "--all", "-W", "-n", "--keep-going", "-q"]
    if subprocess.run(command, cwd=root).returncode or not (html / "index.html").is_file():
        raise BuildError("jupyter-book failed or warned; its messages are above")
    if found := external_resources(html):
        raise BuildError("pages need the network:\n" + "\n".join(found))
    return html / "index.html"


def states(root: Path) -> list[str]:
    """One line a chapter: fresh, or stale and because of what. Nothing is executed or written."""
    lines = []
    for chapter in ch.chapters(root):
        if reasons := execution.stale_because(chapter):
            lines.append(f"{chapter.name}: stale: {', '.join(reasons)}")
        elif execution.text_changed(chapter):
            lines.append(f"{chapter.name}: stale: text only, its outputs are kept")
        elif verdicts := execution.new_verdicts(chapter):
            lines.append(f"{chapter.name}: stale: {', '.join(verdicts)}; its outputs are kept")
        else:
            lines.append(f"{chapter.name}: fresh")
    return lines


def make(root: Path, fresh: bool = False, say: Callable[[str], None] = print) -> Path:
    """Re-execute stale chapters (all of them if `fresh`), then build the pages.

    Returns:
        Path of the book's first page.

    Raises:
        ChapterError: a cell failed. BuildError: the build did.
    """
    stale = []
    for chapter in ch.chapters(root):
        reasons = execution.stale_because(chapter)
        if fresh or reasons:
            say(f"{chapter.name}: executing, because of {', '.join(reasons) or '--fresh'}")
            stale.append(chapter)
        elif execution.text_changed(chapter) or execution.new_verdicts(chapter):
            execution.renew_text(chapter)
            say(f"{chapter.name}: new text, or verdicts on its tables, around the stored outputs")
        else:
            say(f"{chapter.name}: up to date")
    _refresh(root, stale, say)
    return build(root)


def _refresh(root: Path, stale: Sequence[ch.Chapter], say: Callable[[str], None]) -> None:
    """Execute these chapters, two at a time, and record those that showed what was stored, each as it ends."""
    if not stale:
        return
    pinned = not execution.not_pinned()
    with ProcessPoolExecutor(checked.PROCESSES, mp_context=get_context("spawn")) as pool:
        ended = pool.map(_refreshed, stale) if len(stale) > 1 else map(_refreshed, stale)
        for chapter, (changed, took) in zip(stale, ended, strict=True):
            say(f"{chapter.name}: {'stored anew' if changed else 'shows what is stored'}")
            if pinned and not changed:
                checked.confirm(root, {chapter.name: took})


def _refreshed(chapter: ch.Chapter) -> tuple[bool, float]:
    started = time.monotonic()
    return execution.refresh(chapter), time.monotonic() - started
