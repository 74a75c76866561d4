"""The three lists of packages agree: pyproject.toml (what), constraints.txt (which versions), environment.yml."""

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {
    name: part for name, part in PROJECT["optional-dependencies"].items() if name != "pii"
}  # not installed by make
DIRECT = [Requirement(line) for line in PROJECT["dependencies"] + sum(EXTRAS.values(), [])]
LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, LINES)}


def version(pin):
    return str(pin.specifier).removeprefix("==")


def closure():
    """Names of all installed packages that the direct requirements lead to on this Python."""
    found, waiting = set(), [(r.name, frozenset(r.extras)) for r in DIRECT]
    while waiting:
        name, extras = waiting.pop()
        if (canonicalize_name(name), extras) in found:
            continue
        found.add((canonicalize_name(name), extras))
        for line in distribution(name).requires or []:
            r = Requirement(line)
            if r.marker is None or any(r.marker.evaluate({"extra": extra}) for extra in {"", *extras}):
                waiting.append((r.name, frozenset(r.extras)))
    return {name for name, _ in found}


def test_constraints_are_exact_and_listed_once():
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in PINS.values())
    assert len(PINS) == len(LINES)
    assert LINES == sorted(LINES, key=str.lower)


@pytest.mark.parametrize("requirement", DIRECT, ids=str)
def test_pin_satisfies_requirement(requirement):
    pin = PINS[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version(pin))


def test_constraints_pin_exactly_what_the_requirements_lead_to():
    # CUDA's packages come with torch's CUDA build only, which pins them itself.
    needed = {name for name in closure() if not name.startswith(("nvidia-", "cuda-", "triton"))}
    pinned = {name for name, pin in PINS.items() if pin.marker is None or pin.marker.evaluate()}
    assert pinned == needed


def test_environment_yml_wraps_the_same_list():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, wrapped = environment["dependencies"]
    supported = Requirement(python).specifier
    assert supported.contains("3.11.7") and supported.contains("3.13.0") and not supported.contains("3.10.13")
    assert pip == "pip"
    constraints, editable, book = wrapped["pip"]
    assert constraints == "-c constraints.txt"
    assert editable == f"-e .[{','.join(sorted(EXTRAS))}]"
    assert f"-e '{editable.removeprefix('-e ')}' {book}" in (ROOT / "Makefile").read_text()


def test_no_file_names_an_index_or_a_local_path():
    for name in ("pyproject.toml", "constraints.txt", "environment.yml", "Makefile"):
        text = (ROOT / name).read_text()
        assert not re.search(r"https?://|file:|--index|--find-links| @ ", text), name
