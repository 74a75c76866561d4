"""`textsan book`: execute what is stale and build the pages."""

import click

from textsan.cli.errors import fail


@click.command()
@click.option("--fresh", is_flag=True, help="Execute every chapter, also those that are up to date.")
def book(fresh):
    """Execute the chapters that are stale and build the book into _build/html.

    Example: textsan book
    """
    from textsan.book import build, chapters

    try:
        click.echo(build.make(chapters.project_root(), fresh, click.echo))
    except (build.BuildError, chapters.ChapterError) as error:
        fail(error)
