"""The registered mechanisms as options of a command: their names, and every parameter that one of them takes."""

import inspect
import shlex
from collections.abc import Collection
from typing import Literal, get_args, get_origin

import click

from textsan.base.docstrings import short_meaning
from textsan.cli.options import lines_of
from textsan.cli.plugins import PluginCommand

_OF_MECHANISM = "of_mechanism_"  # begins the names of their options inside, so that they are nobody else's


class MechanismCommand(PluginCommand):
    """A command with `--mechanism` and its parameters; the registry is read when the command is, not before.

    The function gets the parameters that were given as one dict, `parameters`.
    """

    arguments, required = 2, True  # how many stand before the options; whether a mechanism must be named
    chosen: tuple[str, ...] = ()  # parameters that are no options, since the command finds them

    def parse_args(self, context, args):
        from textsan.mechanisms import MECHANISMS

        context.meta[_AS_TYPED] = list(args)
        rest = super().parse_args(context, args)
        given = {name: context.params.pop(name) for name in list(context.params) if name.startswith(_OF_MECHANISM)}
        context.params["parameters"] = {
            name.removeprefix(_OF_MECHANISM): value for name, value in given.items() if value is not None
        }
        for mechanism in self.named(context.params):
            names = list(inspect.signature(MECHANISMS[mechanism].load()).parameters)
            for name in names[1:]:  # the first is the vocabulary
                if _flag(name) in _flags(self._others(context)):
                    what = f"parameter {name!r} of mechanism {mechanism!r} has the name of an option"
                    raise ValueError(f"{what} of textsan {context.info_name}; rename it")
        return rest

    def get_params(self, context):
        from textsan.mechanisms import MECHANISMS

        others = self._others(context)
        takers: dict[str, list] = {}
        taken = _flags(others)
        for entry in filter(self.offers, MECHANISMS.values()):
            for name, parameter in (entry.parameters() | entry.word_lists()).items():
                if _flag(name) not in taken and name not in self.chosen:
                    takers.setdefault(name, []).append((entry, parameter))
        first = self.arguments + 1
        return [*others[:first], *map(_option, takers.values()), *others[first:]]

    def offers(self, entry) -> bool:
        """Return whether a mechanism of the registry can be named here."""
        return True

    def named(self, params: dict) -> tuple[str, ...]:
        """Return the mechanisms that the parameters of a command name."""
        return (params["mechanism"],) if params.get("mechanism") else ()

    def mechanism(self) -> click.Option:
        """Make the option that names a mechanism, when the command is read."""
        from textsan.mechanisms import MECHANISMS

        meant = "The sanitizer; custext+ keeps stop words, santext+ most tokens of frequent words."
        return click.Option(["--mechanism"], required=self.required, type=Name(list(MECHANISMS)), help=meant)

    def _others(self, context) -> list[click.Parameter]:
        """Return the parameters of the command itself: arguments, `--mechanism`, options."""
        n = self.arguments
        return [*self.params[:n], self.mechanism(), *super().get_params(context)[n:]]


class Name(click.Choice):
    """A name of a mechanism; the error of an unknown one asks after one that is near."""

    def convert(self, value, param, context):
        from textsan.mechanisms import MECHANISMS

        try:
            return super().convert(value, param, context)
        except click.BadParameter as error:
            self.fail(error.message.removesuffix(".") + MECHANISMS.meant(value), param, context)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flags(parameters: list[click.Parameter]) -> set[str]:
    return {flag for parameter in parameters for flag in parameter.opts}


_AS_TYPED = f"{__name__}.as_typed"


def as_typed(context: click.Context, *more: str) -> str:
    """Return the command line of a `MechanismCommand` as it was typed, with more options."""
    return f"{context.command_path} {shlex.join([*more, *context.meta[_AS_TYPED]])}"


def typed_again(context: click.Context, names: Collection[str]) -> str:
    """Return the options of these parameters that a command line has, as they are typed again."""
    given, *_ = context.command.make_parser(context).parse_args(list(context.meta[_AS_TYPED]))
    again: list[str] = []
    for one in context.command.get_params(context):
        if one.name in given and one.name.removeprefix(_OF_MECHANISM) in names:
            values = given[one.name]
            again += [part for value in (values if one.multiple else [values]) for part in (one.opts[0], value)]
    return shlex.join(again)


def _option(takers: list) -> click.Option:
    """Make an option of a parameter that some mechanisms share, with its meaning for each of them."""
    names: dict[str, list[str]] = {}
    for entry, parameter in takers:
        default = "" if parameter.default in (inspect.Parameter.empty, None, ()) else f" ({parameter.default:})"
        names.setdefault(f"{short_meaning(entry.load(), parameter.name)}{default}", []).append(entry.name)
    meanings = "; ".join(f"{', '.join(those)}: {meaning}" for meaning, those in names.items())
    entry, parameter = takers[0]
    declared, meant = [_flag(parameter.name), _OF_MECHANISM + parameter.name], f"{meanings}."
    if parameter.name not in entry.word_lists():
        return click.Option(declared, type=_type(parameter.annotation), help=meant)
    meant += " A file, of a word a line; may be repeated."
    kind = click.Path(exists=True, dir_okay=False)
    return click.Option(declared, type=kind, metavar="FILE", multiple=True, callback=_listed, help=meant)


def _listed(context, option: click.Option, paths: tuple[str, ...]) -> tuple[str, ...] | None:
    """Read the words of some files, in lower case and as text is cut; errors do not quote them."""
    from textsan.release.formats import shown
    from textsan.text import tokenize

    what = option.opts[0].removeprefix("--")
    words: dict[str, None] = {}
    for path in paths:
        for number, line in enumerate(lines_of(what, path), start=1):
            tokens = tokenize(line)
            if len(tokens) > 1:
                cut = f"line {number} of {shown(path)} is cut into {len(tokens)} words"
                raise ValueError(f"{what}: {cut}; write one a line")
            words |= dict.fromkeys(tokens)
    if paths and not words:
        raise ValueError(f"{what}: {shown(paths[0])} has no word; write one a line, or leave it out")
    return tuple(words) or None


def _type(annotation):
    kinds = get_args(annotation) if get_origin(annotation) not in (None, Literal) else (annotation,)
    for kind in kinds:
        if get_origin(kind) is Literal:
            return click.Choice([value for value in get_args(kind) if value is not None])
    return next(kind for kind in (bool, int, float, str) if kind in kinds)
