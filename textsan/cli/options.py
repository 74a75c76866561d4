"""Options that several commands share, each in one place."""

from collections.abc import Callable, Sequence
from functools import reduce

import click
from click.core import ParameterSource


def _all(*options: Callable) -> Callable:
    """Make one decorator of several, in the order of their help."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


vocabulary = _all(
    click.option(
        "--embedding",
        default="glove-6b-50d",
        show_default=True,
        help="Word vectors: glove-6b-50d, counter-fitted, or a file.",
    ),
    click.option(
        "--size",
        type=click.IntRange(1),
        default=20_000,
        show_default=True,
        help="So many of the most frequent words of the vectors are the vocabulary.",
    ),
    click.option(
        "--vocabulary",
        type=click.Path(exists=True, dir_okay=False),
        callback=lambda context, option, path: path and lines_of("vocabulary", path),
        help="Public word list, one a line, in place of --size.",
    ),
)
scheduler = click.option(
    "--scheduler", metavar="ADDRESS", help="Use the workers of this dask scheduler (extra cluster)."
)
workers = _all(
    click.option("-j", "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes."),
    scheduler,
)
no_quotes = click.option(
    "--no-quotes", is_flag=True, help="No word of the text beyond the thousand most frequent, anywhere."
)


def lines_of(what: str, path: str) -> list[str]:
    """Return the lines of a file of words, without blanks around them; an error names the option."""
    try:
        with open(path, encoding="utf-8-sig") as lines:
            return [line.strip() for line in lines]
    except UnicodeDecodeError:
        raise ValueError(f"{what}: {path} is not utf-8; convert it first") from None


def was_typed(*names: str) -> list[str]:
    """Return those of some parameters that are on the command line."""
    source = click.get_current_context().get_parameter_source
    return [name for name in names if source(name) is ParameterSource.COMMANDLINE]


def words_of(embedding: str, size: int, vocabulary: list[str] | None):
    """Return the words, with their vectors, that the options of the vocabulary name."""
    from textsan import load_embeddings

    if vocabulary is None:
        return load_embeddings(embedding).frequent(size)
    if was_typed("size"):
        raise ValueError("size: the words are those of --vocabulary; leave it out")
    found = load_embeddings(embedding).restrict(vocabulary)
    given = {word for word in vocabulary if word}
    if left_out := len(given - {*found.words}):
        what = f"{left_out} of {len(given)} words of --vocabulary have no vector and are left out"
        click.echo(f"textsan: {what}; those of the default vectors are in lower case", err=True)
    return found


def format_of(files: str):
    """Make the option of the format of files, where their ending does not tell it."""
    kinds = click.Choice(["txt", "jsonl", "csv", "tsv", "parquet"])
    return click.option("--format", "kind", type=kinds, help=files)


def field(files: str):
    """Make the option of the fields of the text."""
    what = f"Field or column of text{files}, where the format has any; several are one document.  [default: text]"
    return click.option("--field", "fields", metavar="NAME", multiple=True, help=what)


delimiter = click.option(
    "--delimiter",
    metavar="CHAR",
    callback=lambda context, option, given: "\t" if given in ("tab", "\\t") else given,
    help="Of a csv: ';' say, or tab.  [default: ,]",
)
encoding = click.option(
    "--encoding", metavar="NAME", help="Of INPUT, where it has no byte order mark: cp1252, say.  [default: utf-8]"
)


def texts(shadow: str, files: str):
    """Make the options of a text to attack and of the attacker's text; what is passed is for the help."""
    return _all(
        click.option("--shadow", metavar="FILE", help=f"Text that an attacker may own.  [default: {shadow}]"),
        field(files),
        delimiter,
        encoding,
        click.option("--label", metavar="FIELD", help="Field or column of a class: says what a task keeps."),
        click.option(
            "--group",
            metavar="FIELD",
            help="Field or column of an author or patient, whose rows hang together; audit reports per person.",
        ),
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns begin below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def warn_without_group(groups: list | None) -> None:
    """Warn of rows without a group, each of which counts as a group of its own."""
    from textsan.auditing.material import without_group

    if number := without_group(groups or ()):
        rows = "1 row has" if number == 1 else f"{number:,} rows have"
        what = "each counts as a group of its own"
        click.echo(f"textsan: warning: {rows} no group: {what}, as if independent of all others", err=True)
