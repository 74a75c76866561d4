"""`textsan check`: are the stored chapters sound, and do they still run?"""

import click

from textsan.cli.errors import fail


@click.command()
def check():
    """Check every stored chapter, then execute all anew and compare every output with the stored one.

    Example: textsan check
    """
    from textsan.book import build, chapters

    try:
        build.check(chapters.project_root(), click.echo)
    except build.BuildError as error:
        fail(error)
