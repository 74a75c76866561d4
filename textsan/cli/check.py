"""`textsan check`: are the stored chapters sound, and do they still run?"""

import click

from textsan.cli.errors import fail
from textsan.text.kernels import KERNELS, PINNED


@click.command()
@click.option(
    "--as",
    "other",
    type=click.Choice([name for name in KERNELS if name != PINNED]),
    help="Run with other kernels, to see what another processor would show.",
)
def check(other):
    """Check every stored chapter, then execute all anew and compare every output with the stored one.

    With other kernels, or where the pinned ones cannot be had, an estimate may move within its interval, and is
    listed then.

    Example: textsan check
    """
    from textsan.book import build, chapters

    try:
        build.check(chapters.project_root(), click.echo, other)
    except build.BuildError as error:
        fail(error)
