"""How the command fails: one line for what a user can mend, a traceback for a bug."""

import sys

import click

from textsan.text.extras import install_line, missing


class OneLineErrors(click.Group):
    def invoke(self, context):
        try:
            return super().invoke(context)
        except click.UsageError as error:
            message = " ".join(error.format_message().split()).removesuffix(".")
            command = error.ctx.command_path if error.ctx else "textsan"
            click.echo(f"textsan: {message}; see {command} --help", err=True)
            sys.exit(2)
        except (ValueError, KeyError, FileNotFoundError) as error:
            message = error.args[0] if isinstance(error, KeyError) and error.args else error
            click.echo(f"textsan: {message}", err=True)
            sys.exit(2)
        except ConnectionError as error:
            fail(error)
        except ModuleNotFoundError as error:
            if install_line(error.name or "") is None:
                raise
            fail(missing(error))


def fail(error):
    click.echo(f"textsan: {error}", err=True)
    sys.exit(1)
