"""The command itself: `textsan`, with its sub-commands."""

import click

from textsan.base import kernels
from textsan.cli.audit import audit
from textsan.cli.choose import choose
from textsan.cli.data import data
from textsan.cli.errors import Commands
from textsan.cli.sanitize import sanitize
from textsan.cli.start import start
from textsan.cli.sweep import sweep

_UNPINNED = {"sanitize"}  # made for speed; its text is compared with no record


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="textsan")
@click.option("--unpinned", is_flag=True, help="Kernels of this processor: trains faster, to other last digits.")
@click.pass_context
def main(context, unpinned):
    """How much does differentially private text sanitization really hide?"""
    if context.invoked_subcommand not in _UNPINNED:  # before the command, or a plugin of it, loads NumPy
        kernels.pin(threads_only=unpinned)


for command in (audit, choose, data, sanitize, start, sweep):
    main.add_command(command)
