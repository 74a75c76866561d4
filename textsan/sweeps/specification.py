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

What stands under no key has the default that its parameter had when it was introduced; `defaults.yml` holds those,
and a value that is equal to it is no part of a cell's name. So a further parameter with a default leaves every
stored result what it was, and a default that is changed is another value.

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
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path

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
from textsan.text.loading import check_embeddings
from textsan.utility import TASKS

_NUMBERS = {
    "n_private": partial(checks.whole, low=1),
    "n_shadow": partial(checks.whole, low=1),
    "n_positions": partial(checks.whole, low=1),
    "seed": checks.whole,
}
_CHOICES = {"split_by": SPLIT_BY, "drawn_from": DRAWN_FROM, "targets": TARGETS}
_INTRODUCED = yaml.safe_load(Path(__file__).with_name("defaults.yml").read_text(encoding="utf-8"))
DEFAULTS = _INTRODUCED["sweep"]
"""What a specification may leave out, with the default that it was introduced with."""

# Of an experiment, not of its attack: what an attacker is told, and how a detector is tested.
_FURTHER = {"told": partial(checks.choice, known=(False, True)), "tests": partial(checks.whole, low=1)}
_KEYS = ("dataset", "shadow_dataset", *_CHOICES, "vocabulary", "embeddings", "meaning", *_NUMBERS, "defence")
_ASKED = {"attack": ATTACKS, "task": TASKS}

# A value for each of _KEYS, and either an attack or a task; these and defence are name and parameters. Of an
# experiment of another kind: its name as `experiment`, and its arguments.
Cell = dict


def read_spec(path: Path) -> list[Cell]:
    """The cells of a specification, all checked, none twice; no data is read.

    Args:
        path: a YAML file.

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
    if "experiment" in spec:
        return _distinct(studies.cells_of(spec))
    _load_plugins(spec.pop("plugins", []), Path(path).parent)
    for key in spec:
        if key not in (*_KEYS, *_ASKED):
            raise KeyError(f"spec: key {key!r} is unknown; known: {', '.join((*_KEYS, *_ASKED))}, plugins")
    missing = [key for key in _KEYS if key not in spec and key not in DEFAULTS]
    missing += [] if {*_ASKED} & {*spec} else ["attack"]
    if missing:
        raise KeyError(f"spec: key {missing[0]!r} is missing; known: {', '.join((*_KEYS, *_ASKED))}")
    spec = DEFAULTS | spec
    axes = {key: _values(key, spec[key], _name, optional=key in DEFAULTS) for key in _KEYS[:2]}
    for name in {name for names in axes.values() for name in names if name}:
        if name not in corpora.known():
            raise KeyError(corpora.unknown(name))
    for key, known in _CHOICES.items():
        axes[key] = _values(key, spec[key], partial(checks.choice, known=known), optional=False)
    axes["vocabulary"] = _values("vocabulary", spec["vocabulary"], check_vocabulary, optional=False)
    vectors = partial(_vectors, folder=Path(path).parent)
    axes["embeddings"] = _values("embeddings", spec["embeddings"], vectors, optional=False)
    axes["meaning"] = _values("meaning", spec["meaning"], _encoder, optional=True)
    for key, check in _NUMBERS.items():
        axes[key] = _values(key, spec[key], check, optional=DEFAULTS.get(key, 0) is None)
    axes["defence"] = _all_choices("defence", spec["defence"], MECHANISMS)
    cells = []
    for key, known in _ASKED.items():
        if key in spec:
            grid = axes | {key: _all_choices(key, spec[key], known)}
            cells += [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    return _distinct(cells)


def _distinct(cells: list[Cell]) -> list[Cell]:
    return list({cell_name(cell): cell for cell in cells}.values())


def _load_plugins(given, folder: Path) -> None:
    for name in given if isinstance(given, list) else [given]:
        if not isinstance(name, str):
            raise ValueError(f"plugins: {name!r} is no name; pass a path like my_module.py, or a module")
        load_plugin(folder / name if name.endswith(".py") else name)


def _name(key: str, name) -> str:
    if not isinstance(name, str):
        raise ValueError(f"{key}: {name!r} is no name; `textsan data list` shows what there is")
    return name


def _encoder(key: str, name) -> str:
    assets.is_cached(_name(key, name))  # an unknown one ends here, with the known ones
    return name


def _vectors(key: str, name, folder: Path) -> str:
    if not isinstance(name, str):
        raise ValueError(f"{key}: {name!r} is no name of word vectors; pass one, or a file")
    beside = folder / name
    return str(beside.resolve()) if beside.is_file() else str(check_embeddings(name))


def _listed(key: str, value) -> list:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{key}: [] is empty; give at least one value")
    return values


def _values(key: str, value, check, *, optional: bool) -> list:
    return [None if optional and one is None else check(key, one) for one in _listed(key, value)]


def _all_choices(key: str, value, known: Registry) -> list[dict]:
    return [choice for entry in _listed(key, value) for choice in _choices(key, entry, known)]


def _choices(key: str, entry, known: Registry) -> Iterator[dict]:
    """What one defence, attack or task of a specification stands for: its parameters, lists expanded."""
    entry = entry if isinstance(entry, dict) else {"name": entry}
    name = entry.get("name")
    if not isinstance(name, str) or name not in known:
        raise KeyError(f"{key}: {known.unknown(name)}")
    parameters = known[name].parameters()
    further = _FURTHER if "pairs" in parameters else {"told": _FURTHER["told"]}
    further = further if key == "attack" else {}
    for parameter in entry:
        if parameter not in ("name", *parameters, *further):
            raise KeyError(f"{key} {name}: {parameter!r} is unknown; known: {', '.join(parameters) or 'none'}")
    axes = {}
    for parameter, one in parameters.items():
        if parameter not in entry and one.default is inspect.Parameter.empty:
            raise KeyError(f"{key} {name}: {parameter!r} is missing; known: {', '.join(parameters)}")
        given = _listed(f"{key} {name}: {parameter}", entry.get(parameter, one.default))
        axes[parameter] = [known[name].check(parameter, value) for value in given]
    for parameter, check in further.items():
        if parameter in entry:
            axes[parameter] = _values(f"{key} {name}: {parameter}", entry[parameter], check, optional=True)
    for values in product(*axes.values()):
        yield {"name": name, **dict(zip(axes, values, strict=True))}


def released_by(cell: Cell) -> Cell:
    """What a cell says of its released text: equal for all that share it; of an experiment all."""
    return cell if "experiment" in cell else {key: cell[key] for key in _KEYS}


def identity(cell: Mapping) -> dict:
    """What tells a cell from others: the values that are not the default that their parameter was introduced with.

    Args:
        cell: of `read_spec`, or a stored one, of whatever age: a parameter that it lacks has its default.

    >>> identity({"dataset": "rt", "seed": 0, "attack": {"name": "markov", "k": None}})
    {'dataset': 'rt', 'attack': {'name': 'markov'}}
    """
    if "experiment" in cell:
        return _without(cell, studies.defaults(cell["experiment"]) | _of("experiment", cell["experiment"]))
    found = _without(cell, DEFAULTS)
    for part, known in _REGISTRIES.items():
        if part in cell:
            entry = known[cell[part]["name"]]
            present = {name: one.default for name, one in entry.parameters().items()}
            found[part] = _without(cell[part], present | _of(part, entry.name) | {"told": True, "tests": None})
    return found


_REGISTRIES = {"defence": MECHANISMS, **_ASKED}


def _of(part: str, name: str) -> dict:
    """The defaults that the parameters of something were introduced with."""
    return _INTRODUCED[part].get(name) or {}


def _without(values: Mapping, defaults: Mapping) -> dict:
    return {name: one for name, one in values.items() if name not in defaults or one != defaults[name]}


def cell_name(cell: Mapping) -> str:
    """File name of a cell without its suffix: readable, and a hash of its `identity`."""
    digest = hashlib.sha256(json.dumps(identity(cell), sort_keys=True).encode()).hexdigest()[:12]
    if "experiment" in cell:
        return f"{cell['experiment']}-{digest}"
    defence, asked = cell["defence"], cell["task" if "task" in cell else "attack"]
    name = f"{cell['dataset']}-{defence['name']}-{defence.get('epsilon', 0):g}-{asked['name']}-{cell['seed']}"
    return f"{re.sub(r'[^a-z0-9.+-]+', '_', name.lower())}-{digest}"
