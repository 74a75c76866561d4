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
        except click.UsageError as error:
            message = " ".join(error.format_message().split()).removesuffix(".")
            command = error.ctx.command_path if error.ctx else "textsan"
            click.echo(f"textsan: {message}; see {command} --help", err=True)
            sys.exit(2)
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


@main.command()
@click.argument("spec", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", help="Folder of the results.  [default: runs/sweeps/ and the name of SPEC]")
@click.option("-j", "--workers", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this dask scheduler (extra cluster).")
@click.option("--over", multiple=True, metavar="ATTACK", help="Compare with it, pair by pair. May be repeated.")
def sweep(spec, output, workers, scheduler, over):
    """Run the grid of experiments in SPEC; a sweep that was stopped goes on where it was.

    Results of single cells are in OUTPUT/cells, the table of all of them is OUTPUT/results.csv, and what made it
    OUTPUT/results.yml. With a scheduler, its workers must reach OUTPUT under the same name.

    Example: textsan sweep data/sweeps/quick.yml --over context-free
    """
    from pathlib import Path

    from . import grid, sweep

    folder = Path(output or Path("runs", "sweeps", Path(spec).stem))
    cells = grid.read_spec(spec)
    failures = sweep.run(cells, folder, workers=workers or -1, scheduler=scheduler, baselines=over)
    click.echo(folder / "results.csv")
    if failures:
        _fail("\n".join([f"{len(failures)} failed; the others are kept", *failures]))


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


@data.command("train-mlm")
@click.argument("without")
@click.option("--steps", type=click.IntRange(1), default=1536, show_default=True, help="Batches of 32 sentences.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything that is drawn.")
@click.option("--output", type=click.Path(file_okay=False), help="Folder of the adapter (default: data/models).")
def train_mlm(without, steps, seed, output):
    """Train the noisy-channel attack's context model on the default corpora WITHOUT the one that is attacked.

    Writes without-CORPUS.safetensors and its recipe. A run that was killed goes on from its last checkpoint,
    which is in the cache. A quarter of an hour on two cores.

    Example: textsan data train-mlm rt
    """
    from pathlib import Path

    from . import adapters, assets, models

    checkpoint = assets.cache_folder() / "training" / f"without-{without}-{steps}-{seed}.safetensors"
    folder = Path(output) if output else models.ADAPTERS
    click.echo(
        adapters.train_adapter(without, folder, steps=steps, seed=seed, checkpoint=checkpoint, say=click.echo)
    )
    checkpoint.unlink(missing_ok=True)


@main.command()
@click.argument("source", metavar="INPUT", type=click.Path(allow_dash=True, dir_okay=False))
@click.argument("target", metavar="OUTPUT", type=click.Path(allow_dash=True, dir_okay=False))
@click.option(
    "--mechanism",
    required=True,
    type=click.Choice(
        ["random", "santext", "santext+", "custext", "custext+", "fbdd", "mahalanobis", "vickrey", "tem"]
    ),
    help="The sanitizer; custext+ keeps stop words, santext+ most tokens of frequent words.",
)
@click.option("--epsilon", type=float, help="Privacy parameter.")
@click.option("--k", type=int, help="custext: size of a group (20).")
@click.option("--similarity", type=click.Choice(["euclidean", "cosine"]), help="custext: nearness of words.")
@click.option("--p", type=float, help="santext+: chance that a frequent word is replaced (0.3).")
@click.option(
    "--share", type=float, help="santext+: share of the vocabulary, the rarest, that is sensitive (0.9)."
)
@click.option("--t", type=float, help="vickrey: weight of the second word (0.5).")
@click.option("--strength", type=float, help="mahalanobis: the paper's lambda (0.2).")
@click.option("--beta", type=float, help="tem: chance of a far word, at most (0.001).")
@click.option("--oov", type=click.Choice(["uniform", "keep", "error"]), help="Words outside of the vocabulary.")
@click.option("--embedding", default="glove-6b-50d", show_default=True, help="Word vectors of the registry.")
@click.option(
    "--words", "size", type=click.IntRange(1), default=20_000, show_default=True, help="Most frequent words taken."
)
@click.option("--vocabulary", type=click.Path(exists=True, dir_okay=False), help="Public word list, one a line.")
@click.option(
    "--format", "kind", type=click.Choice(["txt", "jsonl", "csv"]), help="Default: INPUT's ending, or txt."
)
@click.option("--field", default="text", show_default=True, help="Field of the text in jsonl and csv.")
@click.option("--seed", type=click.IntRange(0), help="Repeat a run; a known seed removes the guarantee.")
def sanitize(source, target, mechanism, epsilon, embedding, size, vocabulary, kind, field, seed, **options):
    """Sanitize the text of INPUT into OUTPUT, and write what was done and promised to OUTPUT.json.

    INPUT is text (a document a line), jsonl or csv; "-" is standard input or output (then the record goes to
    standard error). Text is lower-cased and tokenized; tokens are joined with blanks.

    The vocabulary is the most frequent words of the embedding, or a public list. It is never made of INPUT: words
    are replaced by words of the vocabulary, so that one made of private text would publish which words it holds.

    Example: textsan sanitize --mechanism custext --epsilon 1 reviews.txt safe.txt
    """
    import json
    import os

    from tqdm import tqdm

    from textsan import load_embeddings, sanitizing

    endings = {f".{name}": name for name in sanitizing.FORMATS}
    kind = kind or endings.get(os.path.splitext(source)[1], "txt")
    if source != "-" and not os.path.exists(source):
        raise FileNotFoundError(f"INPUT: {source} does not exist; pass a file or -")
    words = load_embeddings(embedding)
    if vocabulary:
        with open(vocabulary, encoding="utf-8") as lines:
            words = words.restrict(line.strip() for line in lines)
    else:
        words = words.restrict(words.words[:size])
    given = {name: value for name, value in options.items() if value is not None}
    sanitizer = sanitizing.build(mechanism, words, epsilon, **given)
    if seed is not None:
        click.echo("textsan: warning: whoever knows the seed can undo the noise; no guarantee holds", err=True)

    def describe(counts):
        return sanitizing.description(sanitizer, embedding, seed, counts)

    total = os.path.getsize(source) if source != "-" else None
    with tqdm(total=total, unit="B", unit_scale=True, disable=None) as bar:

        def progress(documents, position):
            bar.set_postfix(documents=documents)
            bar.update(position - bar.n)

        counts = sanitizing.sanitize_file(
            sanitizer, source, target, kind=kind, field=field, seed=seed, progress=progress, describe=describe
        )
    if target == "-":
        click.echo(json.dumps(describe(counts)), err=True)


if __name__ == "__main__":
    main()
