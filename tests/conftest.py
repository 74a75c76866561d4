"""Fixtures that several tests share."""

import csv
import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest
import setuptools  # noqa: F401  it refuses to load after the standard library's distutils, which some tests bring

from textsan.base import assets, kernels
from textsan.base.fingerprints import fingerprint

ROOT = Path(__file__).parents[1]
SLOWEST = ROOT / "data" / "slowest-tests.csv"  # of the last `make test FULL=1`
FULL = bool(os.environ.get("TEXTSAN_FULL"))
TRAINED = assets.cache_folder() / "tests"


@pytest.fixture(scope="session")
def default_data():
    """The cache with all default assets; tests that read them ask for it, so that none goes to the network."""
    missing = [name for name in assets.defaults() if not assets.is_cached(name)]
    if missing:
        pytest.fail(f"not in the cache: {', '.join(missing)}; run `textsan data pull` (make test does)")
    return assets.cache_folder()


@pytest.fixture(scope="session")
def trained_once():
    """`trained_once(train, *modules)`: what the function `train` of a test returns, kept in the user's cache.

    The key is all that decides it: that test's code and settings, the code of the modules that train and of what
    they use, the registry of published weights, and the versions. `make test FULL=1` trains anew.
    """
    import torch
    import transformers

    from textsan.sweeps import provenance

    def get(train, *modules):
        file = Path(train.__code__.co_filename)
        code = provenance.code_from([(name, provenance.EVERYTHING) for name in modules])
        registry = fingerprint(ROOT / "textsan" / "data" / "registry.toml")
        parts = fingerprint(file), code, registry, kernels.variables(), torch.__version__, transformers.__version__
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


def pytest_collection_modifyitems(items):
    """Files with the slowest tests first: a file is one worker's, and nothing long begins last."""
    files = Counter()
    for test, taken in recorded_seconds().items():
        files[test.partition("::")[0]] += taken
    items.sort(key=lambda item: -files[item.nodeid.partition("::")[0]])


def recorded_seconds():
    """Seconds of the slowest tests, by name, in the table that `make test FULL=1` writes."""
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
    slowest = [(round(taken, 1), test) for test, taken in seconds.most_common(25)]
    terminalreporter.section("the slowest tests (and their seconds in data/slowest-tests.csv)")
    for taken, test in slowest:
        terminalreporter.line(f"{taken:6.1f} ({recorded.get(test, '-')})  {test}")
    terminalreporter.line(f"{sum(seconds.values()):6.0f}  all tests")
    if FULL and exitstatus == 0:
        with SLOWEST.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("seconds", "test"), *slowest])
