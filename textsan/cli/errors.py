"""The group of commands, and how it fails: one line for what a user can mend, a traceback for a bug."""

import io
import os
import sys
from importlib.metadata import entry_points

import click

from textsan.base.extras import install_line, missing

_OF_THE_BOOK = {"book", "check", "course", "rank", "run"}
_GROUP = "textsan.commands"  # entry points of other packages


class Commands(click.Group):
    """The package's commands, and those that other packages name under `textsan.commands`, loaded when asked.

    One of the same name comes in place of the package's.
    """

    def list_commands(self, context):
        return sorted({*super().list_commands(context), *entry_points(group=_GROUP).names})

    def get_command(self, context, name):
        others = entry_points(group=_GROUP)
        return others[name].load() if name in others.names else super().get_command(context, name)

    def resolve_command(self, context, args):
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            if args[0] not in _OF_THE_BOOK:
                raise
            where = "It comes with the book: pip install ./textsan_book in a clone"
            raise click.UsageError(f"{error.message} {where}", error.ctx) from None

    def make_context(self, *given, **more):
        for stream in (sys.stdout, sys.stderr):  # UTF-8, whatever the locale: a release and a report are
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        try:
            return super().make_context(*given, **more)
        except click.UsageError as error:
            _usage(error)

    def invoke(self, context):
        try:
            return super().invoke(context)
        except click.UsageError as error:
            _usage(error)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left there has no reader
            fail("standard output was closed before all of it was written")
        except ConnectionError as error:
            fail(error)
        except (ValueError, KeyError, OSError) as error:
            click.echo(f"textsan: {_line(error)}", err=True)
            sys.exit(2)
        except ModuleNotFoundError as error:
            if install_line(error.name or "") is None:
                raise
            fail(missing(error))


def _usage(error):
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # nothing was asked: the help as it is
        error.show()
        sys.exit(2)
    message = " ".join(error.format_message().split()).removesuffix(".")
    command = error.ctx.command_path if error.ctx else "textsan"
    click.echo(f"textsan: {message}; see {command} --help", err=True)
    sys.exit(2)


def _line(error) -> str:
    """Return the line of an error; one of the operating system's names its file."""
    if isinstance(error, KeyError) and error.args:
        return error.args[0]
    if isinstance(error, OSError) and error.strerror:
        from textsan.release.formats import shown

        return f"{shown(str(error.filename))}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def fail(error):
    click.echo(f"textsan: {error}", err=True)
    sys.exit(1)
