"""The grid of a sweep: every cell that a specification asks for, checked before anything runs.

    dataset: [rt, amazon]
    n_private: 1000
    n_shadow: 200
    defence:
      - {name: custext+, epsilon: [1, 2, 4], mapping: [disjoint, overlapping]}
    attack: [unchanged, context-free, {name: markov, k: 20}]
    seed: [0, 1]

`plugins: my_module.py`, or a list, names files (from the folder of the specification) or modules that register
mechanisms and attacks of one's own.

Beside `attack`, or in its place, there may be `task`, what the released text is to be good for:

    task: [sentiment, {name: sentiment, text: original}]

Every value may be one or a list; the grid is the product of them, once with the attacks and once with the tasks.
An experiment of another kind, on vectors or gradients for example, is named, and gives values to its arguments:

    experiment: citizens
    grids:
      - {encoder: all-minilm-l6-v2, pooling: [mean, cls], layer: 2, pairs: 8000, steps: 99, victims: 500, seed: 0}

Every attack may say `told: false`: its attacker does not know which positions are attacked.

What stands under no key has its default, and a value that is the default is no part of a cell's name, so that a
new parameter leaves every stored result what it was. Who changes a default writes the old value into the
specifications that rely on it; `python -m textsan_book.studies.keep_default` does.

`n_positions`, a number of attacked positions, may be left out (all of them), and so may `seed` (0),
`shadow_dataset` (where the attacker's sentences are of another data set than the private ones), `split_by`
(source, so that the attacker has no text of what the private text is of; or line, as the released code draws),
`drawn_from` (train; or all the rows there are), `vocabulary` (20000, so many of the most frequent words of the
embeddings; or data, every word of the data set), `embeddings` (glove-6b-50d; or counter-fitted; or a file of word
vectors, as `load_embeddings` reads it, from the folder of the specification), `targets` (protected; or census or
presidio, the personal names that this finder finds among the protected words), `meaning` (none; or an encoder,
all-minilm-l6-v2 for example, that says which words mean about the same) and the parameters that have a default.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from textsan.attacks import ATTACKS
from textsan.base import assets, checks
from textsan.base.plugins import load_plugin
from textsan.base.registry import Registry
from textsan.mechanisms import MECHANISMS
from textsan.sweeps import studies
from textsan.sweeps.problems import TARGETS
from textsan.sweeps.splits import DRAWN_FROM, check_vocabulary
from textsan.text import corpora
from textsan.text.corpora import SPLIT_BY
from textsan.text.loading import GLOVE, check_embeddings
from textsan.utility import TASKS

DEFAULTS: dict[str, Any] = {
    "shadow_dataset": None,
    "split_by": "source",
    "drawn_from": "train",
    "vocabulary": 20000,
    "embeddings": GLOVE,
    "targets": "protected",
    "meaning": None,
    "n_positions": None,
    "seed": 0,
}
"""Settings that a specification may leave out."""


def _dataset(key: str, name) -> str:
    if name not in corpora.known():
        raise KeyError(corpora.unknown(name))
    return name


def _encoder(key: str, name) -> str:
    return checks.choice(key, name, [*assets.registry()["assets"]])


def _embeddings(key: str, name) -> str:
    if not isinstance(name, str):
        raise ValueError(f"{key}: {name!r} is no name of word vectors; pass one, or a file")
    return str(check_embeddings(name))


_CHECKS = {
    "dataset": _dataset,
    "shadow_dataset": _dataset,
    "split_by": partial(checks.choice, known=SPLIT_BY),
    "drawn_from": partial(checks.choice, known=DRAWN_FROM),
    "targets": partial(checks.choice, known=TARGETS),
    "vocabulary": check_vocabulary,
    "embeddings": _embeddings,
    "meaning": _encoder,
    "n_private": partial(checks.whole, low=1),
    "n_shadow": partial(checks.whole, low=1),
    "n_positions": partial(checks.whole, low=1),
    "seed": checks.whole,
}
# Of the run, not of the attack: what an attacker is told, and how a detector is tested.
_OF_ATTACKER = {"told": partial(checks.choice, known=(False, True)), "tests": partial(checks.whole, low=1)}
_KEYS = (*_CHECKS, "defence")
_CHOICES = {"defence": MECHANISMS, "attack": ATTACKS, "task": TASKS}
_EVALUATIONS = ("attack", "task")


class Cell(dict):
    """One point of the grid: a value for each key, and an attack or a task; or an experiment's arguments.

    Defence, attack and task are dicts of their name and parameters. A value that is the default of its parameter
    is no part of the name.

    Attributes:
        name: of its files, without suffix: readable, and a hash of `identity`.
        family: equal for all cells that share their released text.
    """

    def __init__(self, values: Mapping):
        super().__init__(values)
        digest = hashlib.sha256(json.dumps(identity(self), sort_keys=True).encode()).hexdigest()[:12]
        self.family = json.dumps(released_by(self))
        if "experiment" in self:
            self.name = f"{self['experiment']}-{digest}"
            return
        defence, evaluation = self["defence"], self.get("task") or self["attack"]
        epsilon = f"{defence.get('epsilon', 0):g}"
        parts = self["dataset"], defence["name"], epsilon, evaluation["name"], str(self["seed"])
        self.name = f"{re.sub(r'[^a-z0-9.+-]+', '_', '-'.join(parts).lower())}-{digest}"


def read_spec(path: Path) -> list[Cell]:
    """Read the cells of a specification, all checked, none twice; no data is read.

    Raises:
        FileNotFoundError: there is none.
        KeyError, ValueError: a key, name or value that is unknown or out of range; the line names the known ones.
    """
    try:
        spec = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"spec: {path} is no YAML ({' '.join(str(error).split())})") from None
    if not isinstance(spec, dict):
        raise ValueError(f"spec: {path} is no mapping; its keys are {', '.join(_KEYS)}")
    return cells_of(spec, Path(path).parent)


def cells_of(spec: Mapping, folder: Path = Path()) -> list[Cell]:
    """List the cells of a specification that was read from a file of a folder, all checked, none twice."""
    grid = _experiments(spec) if "experiment" in spec else _evaluations(spec, folder)
    return list({cell.name: cell for cell in map(Cell, grid)}.values())


def _experiments(spec: Mapping) -> Iterator[dict]:
    _check_keys("spec: key", spec, ("experiment", "grids"), ("grids",))
    name, grids = spec["experiment"], spec["grids"]
    if not isinstance(name, str) or name not in studies.known():
        known = ", ".join(studies.known()) or "none is installed"
        raise KeyError(f"experiment: {name!r} is unknown; known: {known}")
    if not isinstance(grids, list) or not grids or not all(isinstance(grid, dict) for grid in grids):
        raise ValueError(f"grids: {grids!r} is no list of mappings from argument to value or values")
    arguments = inspect.signature(studies.function(name)).parameters
    for grid in grids:
        _check_keys(f"{name}:", grid, arguments, _without_default(arguments))
        values = [_listed(f"{name}: {key}", value) for key, value in grid.items()]
        yield from ({"experiment": name, **dict(zip(grid, point, strict=True))} for point in product(*values))


def _evaluations(spec: Mapping, folder: Path) -> Iterator[dict]:
    _load_plugins(spec.get("plugins", []), folder)
    required = [key for key in _KEYS if key not in DEFAULTS]
    required += [] if {*_EVALUATIONS} & {*spec} else ["attack"]
    _check_keys("spec: key", spec, (*_KEYS, *_EVALUATIONS, "plugins"), required)
    spec = {**DEFAULTS, **spec}
    spec["embeddings"] = [_resolved(name, folder) for name in _listed("embeddings", spec["embeddings"])]
    axes = {key: _checked(key, spec[key], check, DEFAULTS.get(key, 0) is None) for key, check in _CHECKS.items()}
    axes |= {
        key: [choice for entry in _listed(key, spec[key]) for choice in _choices(key, entry, known)]
        for key, known in _CHOICES.items()
        if key in spec
    }
    for evaluation in _EVALUATIONS:
        if evaluation in axes:
            keys = (*_KEYS, evaluation)
            yield from (dict(zip(keys, point, strict=True)) for point in product(*(axes[key] for key in keys)))


def _check_keys(label: str, given: Iterable, known: Collection[str], required: Iterable[str]) -> None:
    listed = f"known: {', '.join(known) or 'none'}"
    for key in given:
        if key not in known:
            raise KeyError(f"{label} {key!r} is unknown; {listed}")
    for key in required:
        if key not in given:
            raise KeyError(f"{label} {key!r} is missing; {listed}")


def _without_default(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [name for name, parameter in parameters.items() if parameter.default is parameter.empty]


def _load_plugins(names, folder: Path) -> None:
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str):
            raise ValueError(f"plugins: {name!r} is no name; pass a path like my_module.py, or a module")
        load_plugin(folder / name if name.endswith(".py") else name)


def _resolved(name, folder: Path):
    """Return the path of a file of word vectors in the folder of the specification; any other name as it is."""
    path = folder / name if isinstance(name, str) else folder
    return str(path.resolve()) if path.is_file() else name


def _listed(key: str, value) -> list:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{key}: [] is empty; give at least one value")
    return values


def _checked(key: str, value, check, optional: bool) -> list:
    return [None if optional and item is None else check(key, item) for item in _listed(key, value)]


def _choices(key: str, entry, known: Registry) -> Iterator[dict]:
    """Expand the lists of parameters of one defence, attack or task."""
    entry = entry if isinstance(entry, dict) else {"name": entry}
    name = entry.get("name")
    if not isinstance(name, str) or name not in known:
        raise KeyError(f"{key}: {known.unknown(name)}")
    parameters, label = known[name].parameters(), f"{key} {name}:"
    options = _OF_ATTACKER if key == "attack" else {}
    if "pairs" not in parameters:
        options = {option: check for option, check in options.items() if option != "tests"}
    given = [parameter for parameter in entry if parameter not in ("name", *options)]
    _check_keys(label, given, parameters, _without_default(parameters))
    axes = {}
    for parameter, signature in parameters.items():
        values = _listed(f"{label} {parameter}", entry.get(parameter, signature.default))
        axes[parameter] = [known[name].check(parameter, value) for value in values]
    for option, check in options.items():
        if option in entry:
            axes[option] = _checked(f"{label} {option}", entry[option], check, True)
    yield from ({"name": name, **dict(zip(axes, point, strict=True))} for point in product(*axes.values()))


def released_by(cell: Mapping) -> dict:
    """Return what a cell's released text depends on, without attack and task; of an experiment all."""
    return dict(cell) if "experiment" in cell else {key: cell[key] for key in _KEYS}


def identity(cell: Mapping) -> dict:
    """Return the values that are not the default of their parameter: they tell a cell from others.

    Args:
        cell: of `read_spec`, or a part of one: a parameter that it lacks has its default.

    >>> identity({"dataset": "rt", "seed": 0, "attack": {"name": "markov", "k": None}})
    {'dataset': 'rt', 'attack': {'name': 'markov'}}
    """
    if "experiment" in cell:
        return _without(cell, studies.defaults(cell["experiment"]))
    changed = _without(cell, DEFAULTS)
    for key, known in _CHOICES.items():
        if key in cell:
            parameters = known[cell[key]["name"]].parameters()
            defaults = {name: parameter.default for name, parameter in parameters.items()}
            changed[key] = _without(cell[key], defaults | {"told": True, "tests": None})
    return changed


def _without(values: Mapping, defaults: Mapping) -> dict:
    return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}
