"""`textsan data`: what there is to read, fetched and checked."""

import sys

import click

from textsan.cli import options


@click.group()
def data():
    """Data sets, embeddings and models: what there is, fetching it, checking it."""


@data.command("list")
def list_():
    """Print every asset of the registry, and whether it is in the cache.

    The column sha256 says what a download is checked against: "registry", or "hub" where the registry does
    not have the hashes of all files and those of the hub are demanded, and kept, at the first download.

    Example: textsan data list
    """
    from textsan.base import assets

    table = [("NAME", "KIND", "CACHED", "MB", "SHA256", "TERMS", "WHAT")]
    for name, asset in assets.registry()["assets"].items():
        sizes = [file.get("size", 0) for file in asset["files"]]
        megabytes = f"{sum(sizes) / 1e6:.1f}" if all(sizes) else "?"
        checked = "registry" if all("sha256" in file for file in asset["files"]) else "hub"
        cached = "yes" if assets.is_cached(name) else "no"
        table.append((name, asset["kind"], cached, megabytes, checked, asset["terms"], asset["what"]))
    click.echo("\n".join(options.aligned(table)))
    click.echo(f"\nCache: {assets.cache_folder()}")


@data.command()
@click.argument("names", nargs=-1)
def pull(names):
    """Fetch the assets NAMES (default: all that the book needs) into the cache, checked.

    Example: textsan data pull glove-6b-50d
    """
    from textsan.base import assets

    for name in names or assets.defaults():
        click.echo(f"{name}: {assets.fetch(name)}")


@data.command()
@click.argument("names", nargs=-1)
def verify(names):
    """Hash the cached assets NAMES (default: all that are cached) anew.

    Example: textsan data verify
    """
    from textsan.base import assets

    known = assets.registry()["assets"]
    names = names or [name for name in known if (assets.cache_folder() / name).is_dir()]
    if not names:
        click.echo(f"nothing is cached in {assets.cache_folder()}; textsan data pull fetches what the book needs")
        return
    problems = [line for name in names for line in assets.verify(name)]
    for line in problems:
        click.echo(f"textsan: {line}", err=True)
    if problems:
        sys.exit(1)
    click.echo(f"{len(names)} assets are as the registry says: {', '.join(names)}")
