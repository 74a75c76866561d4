"""`textsan book`: execute what is stale and build the pages."""

import click

from textsan.cli.errors import fail


@click.command()
@click.option("--fresh", is_flag=True, help="Execute every chapter, also those that are up to date.")
@click.option("--dry-run", is_flag=True, help="Only say which chapters are fresh or stale, and because of what.")
def book(fresh, dry_run):
    """Execute the chapters that are stale and build the book into _build/html.

    A chapter is stale if its code cells, or a table that it reads, are others than those of its notebook.

    Example: textsan book
    """
    from textsan_book.chapters import build, chapters, run

    root = chapters.project_root()
    if dry_run:
        click.echo("\n".join(build.states(root)))
        return
    try:
        click.echo(build.make(root, fresh, click.echo))
    except (build.BuildError, run.ChapterError) as error:
        fail(error)
