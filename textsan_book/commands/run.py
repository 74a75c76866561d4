"""`textsan run`: execute one chapter with other parameters."""

import click

from textsan.cli.errors import fail


@click.command()
@click.argument("chapter")
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="Set a parameter; repeatable."
)
@click.option("--profile", default="quick", show_default=True, help="Take parameters from data/profiles.")
def run(chapter, parameters, profile):
    """Execute CHAPTER (number, name or start of name) into runs/ with other parameters.

    Example: textsan run 03 -p epsilon 1.0 -p dataset amazon
    """
    from textsan_book.chapters import chapters, run as execution

    root = chapters.project_root()
    try:
        output = execution.run(chapters.find(root, chapter), dict(parameters), profile)
    except execution.ChapterError as error:
        fail(error)
    click.echo(output.relative_to(root))
