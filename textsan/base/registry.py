"""Registries: mechanisms, attacks and tasks by name, how they are drawn, and which parameters they take.

A registry names constructors by import path and loads one when it is used, so that a program depends on what it
uses. The command line, sweeps, plots and tables all read the same entries.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any, Literal, Union, get_args, get_origin

from textsan.base import checks, plugins


@dataclass(frozen=True)
class Entry:
    """A constructor that is known by name.

    Args:
        name: in sweeps, on the command line, in tables.
        constructor: a callable, or its import path: "package.module:name" or "package.module:Class.method".
        label: in legends and headings.
        colour: of its lines and points, #rrggbb.
        marker: matplotlib's name of its points.
        is_bound: whether it is made with the truth, as bounds are.
        line: matplotlib's style of its lines.
        plugin: the module that registered it, if a plugin did; set when it is.
    """

    name: str
    constructor: str | Callable
    label: str
    colour: str = "#777777"
    marker: str = "o"
    is_bound: bool = False
    line: str = "-"
    plugin: str | None = None

    def load(self) -> Callable:
        """Import the constructor."""
        return self.constructor if callable(self.constructor) else resolve_name(self.constructor)

    def parameters(self) -> dict[str, inspect.Parameter]:
        """Return the constructor's parameters that are numbers, names or switches, which can be given by name.

        One without an annotation has the type of its default.
        """
        return self._annotated(_is_simple)

    def word_lists(self) -> dict[str, inspect.Parameter]:
        """Return the constructor's parameters that are lists of words: sets or iterables of str."""
        return self._annotated(_is_word_list)

    def _annotated(self, fits: Callable[[Any], bool]) -> dict[str, inspect.Parameter]:
        known = dict(inspect.signature(self.load(), eval_str=True).parameters)
        for name, parameter in known.items():
            if parameter.annotation is parameter.empty and parameter.default not in (parameter.empty, None):
                known[name] = parameter.replace(annotation=type(parameter.default))
        return {name: one for name, one in known.items() if name not in _INNER and fits(one.annotation)}

    def check(self, name: str, value):
        """Return a value of a parameter, if it fits."""
        kinds, name = _alternatives(self.parameters()[name].annotation), f"{self.name}: {name}"
        if value is None:
            if type(None) in kinds:
                return None
            raise ValueError(f"{name}: None is no value; leave it out for the default")
        for kind in kinds:
            if get_origin(kind) is Literal:
                return checks.choice(name, value, get_args(kind))
        if bool in kinds:
            return checks.choice(name, value, (False, True))
        if int in kinds:
            return checks.whole(name, value, low=1)
        if float in kinds:
            return checks.number(name, value, low=0)
        if not isinstance(value, str):
            raise ValueError(f"{name}: {value!r} is no name; pass one like without-rt")
        return value


_INNER = {"seed", "device"}  # chosen by what runs the experiment


class Registry(Mapping[str, Entry]):
    """Entries by name, in the order in which they were registered; those of installed plugins are among them.

    >>> fruit = Registry("fruit")
    >>> _ = fruit.register("pear", dict, label="Pear")
    >>> fruit["pear"].load()
    <class 'dict'>
    """

    def __init__(self, what: str, entries: tuple[Entry, ...] = ()):
        self.what, self._entries = what, {entry.name: entry for entry in entries}
        self._built_in = dict(self._entries)

    def register(self, name: str, constructor: str | Callable, *, label: str | None = None, **drawn: Any) -> Entry:
        """Make a name known to commands, sweeps, plots and tables.

        Args:
            name: a new one, or one of your own, whose entry is replaced.
            constructor: a callable, or its import path "package.module:name".
            label: in legends; the name if there is none.
            drawn: colour, marker and line, as in `Entry`; is_bound.

        Raises:
            ValueError: a name that is no text, or that of a built-in entry.
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"name: {name!r} is no name; pass a text that is not empty")
        if name in self._built_in:  # results under that name would be another thing's
            raise ValueError(f"name: {name!r} is a built-in {self.what}; register yours under another name")
        return self.add(Entry(name, constructor, label or name, **drawn))

    def add(self, entry: Entry) -> Entry:
        """Make an entry known under its name, in the place of one that has it."""
        self._entries[entry.name] = entry = replace(entry, plugin=plugins.importing() or entry.plugin)
        return entry

    @property
    def plugged_in(self) -> list[Entry]:
        """Return the entries that another process knows neither by itself nor by the plugins that it imports."""
        own = (entry for entry in self._known().values() if entry.plugin is None)
        return [entry for entry in own if self._built_in.get(entry.name) != entry]

    def unknown(self, name) -> str:
        """Return the error line of an unknown name: the known ones, and which was meant, if one is near."""
        return f"name {name!r} is unknown; known: {', '.join(self)}{self.meant(name)}"

    def meant(self, name) -> str:
        """Return a question after the known name that is most like this one, case, blanks and hyphens aside.

        >>> Registry("fruit", (Entry("red pear", dict, "Pear"),)).meant("Red-Paer")
        "; did you mean 'red pear'?"
        """
        known = {_folded(entry): entry for entry in self}
        near = get_close_matches(_folded(str(name)), known, n=1, cutoff=0.8)
        return f"; did you mean {known[near[0]]!r}?" if near else ""

    def _known(self) -> dict[str, Entry]:
        plugins.load_installed()
        return self._entries

    def __repr__(self) -> str:
        return f"Registry({self.what!r}: {', '.join(self)})"

    def __getitem__(self, name: str) -> Entry:
        known = self._known()
        if name not in known:
            raise KeyError(f"{self.what}: {self.unknown(name)}")
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _alternatives(annotation) -> tuple:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _is_simple(annotation) -> bool:
    simple = (int, float, str, bool, type(None))
    return all(kind in simple or get_origin(kind) is Literal for kind in _alternatives(annotation))


def _is_word_list(annotation) -> bool:
    kinds = [kind for kind in _alternatives(annotation) if kind is not type(None)]
    return bool(kinds) and all(
        isinstance(origin := get_origin(kind), type) and issubclass(origin, Iterable) and get_args(kind) == (str,)
        for kind in kinds
    )
