"""Options that several commands share, each in one place."""

import click

embedding = click.option(
    "--embedding",
    default="glove-6b-50d",
    show_default=True,
    help="Word vectors: glove-6b-50d, counter-fitted, or a file.",
)
workers = click.option("-j", "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
scheduler = click.option(
    "--scheduler", metavar="ADDRESS", help="Use the workers of this dask scheduler (extra cluster)."
)
shadow = click.option(
    "--shadow", metavar="FILE", help="Text that an attacker may own.  [default: public sentences]"
)
label = click.option("--label", metavar="FIELD", help="Field or column of a class: says what a task keeps.")
size = click.option(
    "--size",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="So many of the most frequent words of the vectors are the vocabulary.",
)
no_quotes = click.option(
    "--no-quotes", is_flag=True, help="No word of the text beyond the thousand most frequent, anywhere."
)


def format_of(files: str):
    """The format of files, where their ending does not say it.

    Args:
        files: whose, for the help.
    """
    return click.option("--format", "kind", type=click.Choice(["txt", "jsonl", "csv", "tsv"]), help=files)


def field(files: str):
    """The field of the text.

    Args:
        files: whose, for the help.
    """
    return click.option(
        "--field", help=f"Field or column of the text in jsonl, csv and tsv{files}.  [default: text]"
    )


def field_of(given: str | None, kind: str) -> str:
    """The field that holds the text.

    Args:
        given: by the user; None is "text".
        kind: of the file.

    Raises:
        ValueError: text lines have no field.
    """
    if given and kind == "txt":
        raise ValueError(f"field: txt has no field {given!r}; leave it out, or pass --format jsonl, csv or tsv")
    return given or "text"
