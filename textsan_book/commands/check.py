"""`textsan check`: are the stored chapters sound, and do they still run?"""

import click

from textsan.base.kernels import KERNELS, PINNED
from textsan.cli.errors import fail


@click.command()
@click.argument("chapters", metavar="[CHAPTER]...", nargs=-1)
@click.option("--drawn", is_flag=True, help="Execute those whose tables differ, and three others.")
@click.option("--full", is_flag=True, help="Execute with the settings of data/settings.yml, too.")
@click.option(
    "--as",
    "other",
    type=click.Choice([name for name in KERNELS if name != PINNED]),
    help="Run with other kernels, to see what another processor would show.",
)
def check(chapters, drawn, full, other):
    """Check stored chapters, execute them anew and compare every output with the stored one.

    CHAPTER is a number, a name or the start of one; all by default. The commit draws the three of --drawn. With
    other kernels, or where the pinned ones cannot be had, an estimate may move within its interval, and is listed
    then.

    Example: textsan check --drawn
    """
    from textsan_book.chapters import build, chapters as ch

    if (bool(chapters), drawn, full).count(True) > 1:
        raise click.UsageError("chapters by name, --drawn and --full each say what is executed; pass one of them")
    if full and other:
        raise click.UsageError("--full is of the pinned kernels; pass --as without it")
    root = ch.project_root()
    only = {ch.find(root, wanted).name for wanted in chapters} or None
    try:
        build.check(root, click.echo, only=only, some=drawn, full=full, other=other)
    except build.BuildError as error:
        fail(error)
