"""Fixtures that several tests share."""

import csv
import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest
import setuptools  # noqa: F401  it refuses to load after the standard library's distutils, which some tests bring

from textsan.base import assets, cache, kernels
from textsan_book.chapters import build

ROOT = Path(__file__).parents[1]
SLOWEST = ROOT / "data" / "slowest-tests.csv"  # seconds of the long tests, by the last whole run with --timed
LONG = 0.5  # seconds
FULL = bool(os.environ.get("TEXTSAN_FULL"))
TRAINED = assets.cache_folder() / "tests"


@pytest.fixture(scope="session")
def default_data():
    """The cache with all default assets; tests that read them ask for it, so that none goes to the network."""
    missing = [name for name in assets.defaults() if not assets.is_cached(name)]
    if missing:
        pytest.fail(f"not in the cache: {', '.join(missing)}; run `textsan data pull` (make test does)")
    return assets.cache_folder()


@pytest.fixture(autouse=True)
def _forget_plugins(monkeypatch):
    """What a test loads is no plugin of the next: a sweep takes the cells of its own plugins alone."""
    from textsan.base import plugins

    monkeypatch.setattr(plugins, "_loaded", dict(plugins._loaded))


@pytest.fixture
def plugged(monkeypatch):
    """The registries as they are, which forget what a test adds."""
    from textsan.attacks import ATTACKS
    from textsan.mechanisms import MECHANISMS

    for registry in (MECHANISMS, ATTACKS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


@pytest.fixture(scope="session")
def trained_once():
    """`trained_once(train, *modules)`: what the function `train` of a test returns, kept in the user's cache.

    The key is all that decides it: that test's code and settings, the code of the modules that train and of what
    they use, the registry of published weights, and the versions. `make test FULL=1` trains anew.
    """
    import torch

    def get(train, *modules):
        file = Path(train.__code__.co_filename)
        registry = assets.file_sha256(ROOT / "textsan" / "data" / "registry.toml")
        code = [cache.code_of(name) for name in modules]
        parts = assets.file_sha256(file), code, registry, kernels.variables(), cache.arithmetic()
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        path = TRAINED / f"{file.stem}-{train.__name__}-{key}.pt"
        if FULL or not path.is_file():
            TRAINED.mkdir(parents=True, exist_ok=True)
            made = train()
            for old in TRAINED.glob(f"{file.stem}-{train.__name__}-*.pt"):
                old.unlink()
            torch.save(made, path.with_suffix(".part"))
            path.with_suffix(".part").replace(path)
        return torch.load(path, weights_only=False)  # what was just trained, too: both ways are one

    return get


def pytest_addoption(parser):
    parser.addoption("--drawn", action="store_true", help="of long tests and of pages an eighth, by the commit")
    parser.addoption("--timed", action="store_true", help="write the seconds of the long tests, if all tests pass")


def pytest_collection_modifyitems(config, items):
    """Files with the slowest tests first: a file is one worker's, and nothing long begins last."""
    seconds, files = recorded_seconds(), Counter()
    if config.getoption("--drawn"):
        commit = build.commit(ROOT)
        pages = {item.nodeid for item in items if item.get_closest_marker("drawn")}
        names = left_out(long(seconds), commit) | left_out(pages, commit)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
        items[:] = [item for item in items if item.nodeid not in names]
        seconds = {test: taken for test, taken in seconds.items() if test not in names}
    for test, taken in seconds.items():
        files[test.partition("::")[0]] += taken
    items.sort(key=lambda item: -files[item.nodeid.partition("::")[0]])


def long(seconds):
    """The tests among those of `recorded_seconds` that a smaller run draws from."""
    return {test for test, taken in seconds.items() if taken >= LONG}


def left_out(tests, commit):
    """Name what a smaller run leaves out of some tests: seven of eight by the commit, none without one."""
    return set() if commit is None else tests - {*build.drawn(tests, commit, -(-len(tests) // 8))}


def pytest_report_header(config):
    """Say before a smaller run what it leaves out."""
    if not config.getoption("--drawn"):
        return None
    seconds, commit = recorded_seconds(), build.commit(ROOT)
    names = left_out(long(seconds), commit)
    spared = sum(seconds[test] for test in names)
    by = f"commit {commit[:12]}" if commit else "no commit"
    return f"of the tests of {LONG} s and more {len(names)} are left out, {spared:.0f} s; {by}"


def recorded_seconds():
    """Seconds of the long tests, by name, in the table that a run with --timed writes."""
    if not SLOWEST.is_file():
        return {}
    with SLOWEST.open(encoding="utf-8", newline="") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    """After a run of all tests: the slowest, beside their seconds in that table."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or hasattr(config, "workerinput"):
        return  # a part of the tests, or a worker that has run a part of them
    seconds, recorded = Counter(), recorded_seconds()
    for reports in terminalreporter.stats.values():
        for report in reports:
            seconds[getattr(report, "nodeid", "")] += getattr(report, "duration", 0.0)
    slowest = [(round(taken, 1), test) for test, taken in seconds.most_common() if taken >= LONG]
    terminalreporter.section("the slowest tests (and their seconds in data/slowest-tests.csv)")
    for taken, test in slowest[:25]:
        terminalreporter.line(f"{taken:6.1f} ({recorded.get(test, '-')})  {test}")
    terminalreporter.line(f"{sum(seconds.values()):6.0f}  all tests")
    if exitstatus == 0 and config.getoption("--timed"):
        with SLOWEST.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("seconds", "test"), *slowest])
