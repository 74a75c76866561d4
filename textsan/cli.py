"""The `textsan` command: a thin shell over the package, one function a sub-command.

Errors a user can mend (`ValueError`, `KeyError`, `FileNotFoundError`) become one line on standard error
and exit status 2; anything else is a bug and keeps its traceback.
"""

import sys

import click


class _OneLineErrors(click.Group):
    def invoke(self, context):
        try:
            return super().invoke(context)
        except (ValueError, KeyError, FileNotFoundError) as error:
            message = error.args[0] if isinstance(error, KeyError) and error.args else error
            click.echo(f"textsan: {message}", err=True)
            sys.exit(2)


def _fail(error):
    click.echo(f"textsan: {error}", err=True)
    sys.exit(1)


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="textsan")
def main():
    """How much does differentially private text sanitization really hide?"""


@main.command()
@click.argument("chapter")
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="Set a parameter; repeatable."
)
@click.option("--profile", default="quick", show_default=True, help="Take parameters from data/profiles.")
def run(chapter, parameters, profile):
    """Execute CHAPTER (number, name or start of name) into runs/ with other parameters.

    Example: textsan run 03 -p epsilon 1.0 -p dataset amazon
    """
    from . import chapters

    root = chapters.project_root()
    try:
        output = chapters.run(chapters.find(root, chapter), dict(parameters), profile)
    except chapters.ChapterError as error:
        _fail(error)
    click.echo(output.relative_to(root))


@main.command()
def check():
    """Check every stored chapter, then execute all anew with nbval.

    Example: textsan check
    """
    from . import book, chapters

    try:
        book.check(chapters.project_root())
    except book.BuildError as error:
        _fail(error)


@main.command()
@click.option("--fresh", is_flag=True, help="Execute every chapter, also those that are up to date.")
def book(fresh):
    """Execute the chapters that are stale and build the book into _build/html.

    Example: textsan book
    """
    from . import book, chapters

    try:
        click.echo(book.make(chapters.project_root(), fresh, click.echo))
    except (book.BuildError, chapters.ChapterError) as error:
        _fail(error)


if __name__ == "__main__":
    main()
