"""The registered mechanisms as options of a command: their names, and every parameter that one of them takes."""

import inspect
import shlex
from typing import Literal, get_args, get_origin

import click

from textsan.cli.plugins import PluginCommand
from textsan.text.docstrings import short_meaning


class MechanismCommand(PluginCommand):
    """A command with `--mechanism` and its parameters; the registry is read when the command is, not before."""

    def parse_args(self, context, args):
        context.meta[_AS_TYPED] = f"{context.command_path} {shlex.join(args)}"
        return super().parse_args(context, args)

    def get_params(self, context):
        from textsan.mechanisms import MECHANISMS

        mechanism = click.Option(["--mechanism"], required=True, type=click.Choice(list(MECHANISMS)))
        mechanism.help = "The sanitizer; custext+ keeps stop words, santext+ most tokens of frequent words."
        takers: dict[str, list] = {}
        for entry in MECHANISMS.values():
            for name, parameter in entry.parameters().items():
                takers.setdefault(name, []).append((entry, parameter))
        return [*self.params[:2], mechanism, *map(_option, takers.values()), *super().get_params(context)[2:]]


_AS_TYPED = f"{__name__}.as_typed"


def as_typed(context: click.Context) -> str:
    """The command line of a `MechanismCommand`, as it was typed."""
    return context.meta[_AS_TYPED]


def _option(takers: list) -> click.Option:
    """One option for a parameter that some mechanisms share."""
    entry, parameter = takers[0]
    names = ", ".join(entry.name for entry, _ in takers)
    default = "" if parameter.default in (inspect.Parameter.empty, None) else f" ({parameter.default:})"
    meaning = short_meaning(entry.load(), parameter.name)
    flag = f"--{parameter.name.replace('_', '-')}"
    return click.Option(
        [flag, parameter.name], type=_type(parameter.annotation), help=f"{names}: {meaning}{default}."
    )


def _type(annotation):
    kinds = get_args(annotation) if get_origin(annotation) not in (None, Literal) else (annotation,)
    for kind in kinds:
        if get_origin(kind) is Literal:
            return click.Choice([value for value in get_args(kind) if value is not None])
    return next(kind for kind in (bool, int, float, str) if kind in kinds)
