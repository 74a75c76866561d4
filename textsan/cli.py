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
        except ConnectionError as error:
            _fail(error)


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


@main.group()
def data():
    """Data sets, embeddings and models: what there is, fetching it, checking it."""


@data.command("list")
def list_():
    """Print every asset of data/registry.toml, and whether it is in the cache.

    The column sha256 says what a download is checked against: "registry", or "hub" where the registry does
    not have the hashes of all files and those of the hub are demanded, and kept, at the first download.

    Example: textsan data list
    """
    from . import assets

    table = [("NAME", "KIND", "CACHED", "MB", "SHA256", "TERMS", "WHAT")]
    for name, asset in assets.registry()["assets"].items():
        sizes = [file.get("size", 0) for file in asset["files"]]
        megabytes = f"{sum(sizes) / 1e6:.1f}" if all(sizes) else "?"
        checked = "registry" if all("sha256" in file for file in asset["files"]) else "hub"
        cached = "yes" if assets.is_cached(name) else "no"
        table.append((name, asset["kind"], cached, megabytes, checked, asset["terms"], asset["what"]))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"\nCache: {assets.cache_folder()}")


@data.command()
@click.argument("names", nargs=-1)
def pull(names):
    """Fetch the assets NAMES (default: all that the book needs) into the cache, checked.

    Example: textsan data pull glove-6b-50d
    """
    from . import assets

    for name in names or assets.defaults():
        click.echo(f"{name}: {assets.fetch(name)}")


@data.command()
@click.argument("names", nargs=-1)
def verify(names):
    """Hash the cached assets NAMES (default: all that the book needs, and all else that is cached) anew.

    Example: textsan data verify
    """
    from . import assets

    known = assets.registry()["assets"]
    names = names or [name for name in known if name in assets.defaults() or assets.is_cached(name)]
    problems = [line for name in names for line in assets.verify(name)]
    for line in problems:
        click.echo(f"textsan: {line}", err=True)
    if problems:
        sys.exit(1)
    click.echo(f"{len(names)} assets are as the registry says: {', '.join(names)}")


if __name__ == "__main__":
    main()
