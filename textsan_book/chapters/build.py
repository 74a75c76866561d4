"""The book: check the stored chapters, execute the stale ones, build the pages."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path

from textsan.base import kernels
from textsan_book.chapters import chapters as ch, compare, run

SETTINGS = Path("data", "settings.yml")
PROCESSES = 2  # chapters that run at a time
DRAWN = 3  # chapters that a smaller check executes beside those that differ
_SETTINGS = 3  # at most, a chapter

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
    """List faults of a stored notebook: gaps in the execution counts, stored errors, unstable text, tags amiss."""
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
    return faults


def pair_faults(chapter: ch.Chapter) -> list[str]:
    """List faults of a chapter's pair: one half missing, or cells that differ, read either way."""
    import jupytext

    for half in (chapter.text, chapter.notebook):
        if not half.is_file():
            return [f"{half.relative_to(chapter.root)} is missing"]
    text, notebook = ch.read_text(chapter), ch.read_notebook(chapter.notebook)
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
    """List faults of the pairs and notebooks of some chapters, or all, without executing anything."""
    names = {chapter.name for chapter in ch.chapters(root)} | {
        str(path.relative_to(root / "notebooks").with_suffix(""))
        for path in (root / "notebooks").glob("**/[!.]*.ipynb")
    }
    faults = []
    for chapter in (ch.Chapter(root, name) for name in sorted(names if only is None else only)):
        mine = pair_faults(chapter)
        if chapter.notebook.is_file():
            mine += notebook_faults(ch.read_notebook(chapter.notebook))
        faults += [f"{chapter.name}: {fault}" for fault in mine]
    return faults


def exceptions(root: Path) -> list[str]:
    """List the cells that are not compared, a line each with the reason."""
    reasons = []
    for chapter in ch.chapters(root):
        code = [cell for cell in ch.read_text(chapter).cells if cell.cell_type == "code"]
        for number, cell in enumerate(code, 1):
            if "varies" in cell.metadata.get("tags", []):
                reasons.append(f"{chapter.name}: cell {number} varies, {_REASON.match(cell.source)[1]}")
    return reasons


def commit(root: Path) -> str | None:
    """Read the commit that is checked out in the folder `root`; None without git."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def drawn(names: Collection[str], commit: str, number: int) -> list[str]:
    """Draw so many of some names by the hash of a commit: each has its turn, and nobody chooses."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{commit} {name}".encode()).hexdigest())[:number]


def check(
    root: Path,
    say: Callable[[str], None] = print,
    *,
    only: Collection[str] | None = None,
    some: bool = False,
    full: bool = False,
    other: str | None = None,
) -> None:
    """Check what is stored, then execute chapters anew with nbval and compare every output.

    With the kernels that made what is stored, every digit is compared; with `other` ones of
    `textsan.base.kernels.KERNELS`, estimates are by interval, and nbval lists those that moved. Of the chapters
    `some` are those whose tables differ and three that the commit draws; `full` executes each with the other
    parameters of `data/settings.yml`, too.
    """
    others = settings(root) if full else {}
    if faults := stored_faults(root, only):
        raise BuildError("\n".join([*faults, "textsan book executes the chapters whose code differs"]))
    names = [chapter.name for chapter in ch.chapters(root) if only is None or chapter.name in only]
    if some and (at := commit(root)):
        differing = [name for name in names if run.other_tables(ch.Chapter(root, name))]
        equal = [name for name in names if name not in differing]
        names = differing + drawn(equal, at, DRAWN)
        say(f"{len(differing)} chapters whose tables differ, and drawn by commit {at[:12]}: {', '.join(names)}")
    problems = [] if _agree(root, names, other, say) else ["a chapter does not run, or shows something else"]
    problems += _run_settings(root, others, say)
    if problems:
        raise BuildError("\n".join(problems))
    for line in (excepted := [line for line in exceptions(root) if line.partition(":")[0] in names]):
        say(line)
    say(f"every output is as stored; {len(excepted)} cells are exceptions")


def _agree(root: Path, names: Sequence[str], other: str | None, say: Callable[[str], None]) -> bool:
    """Execute chapters and compare them with what they store; pytest prints what differs."""
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(root), "-p", "no:cacheprovider"]
    command += ["-p", "textsan_book.chapters.validation", "--nbval", "--nbval-cell-timeout", "1200", "-q"]
    if len(names) > 1:  # a chapter is one kernel's
        command += ["-n", str(PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder"]
    command += [f"notebooks/{name}.ipynb" for name in names]
    by_interval = {}
    if why := f"kernels of {other}" if other else run.not_pinned():
        say(f"estimates are compared by interval: {why}")
        by_interval[compare.BY_INTERVAL] = why
    with run.surroundings(defaults=True, arithmetic=other or kernels.PINNED) as variables:
        return subprocess.run(command, cwd=root, env=variables | by_interval).returncode == 0


def settings(root: Path) -> dict[str, list[dict]]:
    """Read other parameters with which a full check executes chapters: by chapter, at most three of them."""
    import yaml

    path = root / SETTINGS
    by_chapter = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known = {chapter.name: chapter for chapter in ch.chapters(root)}
    for name, given in by_chapter.items():
        if name not in known:
            raise KeyError(f"{SETTINGS.as_posix()}: {name!r} is no chapter; name one of {', '.join(known)}")
        if len(given) > _SETTINGS:
            raise ValueError(f"{SETTINGS.as_posix()}: {name} has {len(given)} settings; keep {_SETTINGS}")
        for values in given:
            ch.checked_parameters(known[name], values)
    return by_chapter


def _run_settings(root: Path, asked: dict[str, list[dict]], say: Callable[[str], None]) -> list[str]:
    """Execute chapters with other parameters into `runs/`, two at a time; a message for each that fails."""
    jobs = [(ch.Chapter(root, name), values) for name, given in asked.items() for values in given]
    failed = []
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for (chapter, values), fault in zip(jobs, pool.map(_fault, jobs), strict=True):
            named = f"{chapter.name} with {', '.join(f'{name} = {value}' for name, value in values.items())}"
            say(f"{named}: {'failed' if fault else 'ran'}")
            if fault:
                failed.append(f"{named}: {fault}")
    return failed


def _fault(job: tuple[ch.Chapter, dict]) -> str:
    try:
        run.run(*job)
    except (run.ChapterError, KeyError, ValueError) as error:
        return str(error)
    return ""


def external_resources(html: Path) -> list[str]:
    """List scripts, styles, fonts and pictures that pages under `html` would fetch from the network."""
    return [
        f"{path.relative_to(html)}: {match.group()}"
        for path in sorted(html.rglob("*"))
        if path.suffix in (".html", ".css")
        for match in _EXTERNAL.finditer(path.read_text(encoding="utf-8"))
    ]


def build(root: Path) -> Path:
    """Build the pages from the stored notebooks, and return the first page; every warning is an error, every time.

    So is a page that needs the network.
    """
    html = root / "_build" / "html"
    shutil.rmtree(root / "_build", ignore_errors=True)  # a kept doctree would swallow its warnings
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", "--all", "-W", "-n", "--keep-going", "-q"]
    if subprocess.run(command, cwd=root).returncode or not (html / "index.html").is_file():
        raise BuildError("jupyter-book failed or warned; its messages are above")
    if resources := external_resources(html):
        raise BuildError("pages need the network:\n" + "\n".join(resources))
    return html / "index.html"


def states(root: Path) -> list[str]:
    """Write a line for each chapter: fresh, or stale and because of what; nothing is executed or written."""
    lines = []
    for chapter in ch.chapters(root):
        if reasons := run.stale_because(chapter):
            lines.append(f"{chapter.name}: stale: {', '.join(reasons)}")
        elif run.text_changed(chapter):
            lines.append(f"{chapter.name}: stale: text only, its outputs are kept")
        else:
            lines.append(f"{chapter.name}: fresh")
    return lines


def make(root: Path, fresh: bool = False, say: Callable[[str], None] = print) -> Path:
    """Execute stale chapters, all if `fresh`, two at a time, then build the pages and return the first."""
    stale = []
    for chapter in ch.chapters(root):
        reasons = run.stale_because(chapter)
        if fresh or reasons:
            say(f"{chapter.name}: executing, because of {', '.join(reasons) or '--fresh'}")
            stale.append(chapter)
        elif run.text_changed(chapter):
            run.renew_text(chapter)
            say(f"{chapter.name}: new text around the stored outputs")
        else:
            say(f"{chapter.name}: up to date")
    if stale:
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
            changes = pool.map(run.refresh, stale, [fresh] * len(stale))
            for chapter, changed in zip(stale, changes, strict=True):
                say(f"{chapter.name}: {'stored anew' if changed else 'shows what is stored'}")
    return build(root)
