"""`textsan sanitize`: sanitize files of text."""

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand, as_typed


@click.command(cls=MechanismCommand)
@click.argument("sources", metavar="INPUT...", nargs=-1, required=True)
@click.argument("target", metavar="OUTPUT")
@options.vocabulary
@options.format_of("Of all files.  [default: as INPUT ends, in any case, before .gz or .xz]")
@options.field("")
@click.option("--pass", "passed", metavar="NAME", multiple=True, help="Field or column released as it is.")
@click.option("--drop", "dropped", metavar="NAME", multiple=True, help="Field or column left out.")
@options.delimiter
@options.encoding
@click.option("--keep-case", is_flag=True, help="Capital letters stay in their places: leaks what they tell.")
@click.option("--detokenize", is_flag=True, help="Spacing as people write; line breaks inside of a text stay.")
@click.option(
    "--chosen-on",
    type=click.Choice(["this", "other", "fixed"]),
    help="Where epsilon comes from: chosen on this text (then nothing is promised), on other text, fixed before.",
)
@options.workers
@click.option("--seed", type=click.IntRange(0), help="Repeat a run; a known seed removes the guarantee.")
@click.pass_context
def sanitize(context, /, sources, target, mechanism, embedding, size, vocabulary, parameters, **settings):
    """Sanitize the text of INPUT into OUTPUT, and write what was done and promised to OUTPUT.json.

    INPUT is text (a document a line), jsonl (null stays null), csv or tsv (never quoted), also as gz or xz, or
    parquet; OUTPUT is of the same format, in UTF-8, and compressed if it ends so. Of several INPUTs, or where
    OUTPUT is a folder, each gets a file of its name in it. "-" is standard input (text, unless OUTPUT ends
    otherwise) or output (then the record goes to standard error).

    Every field or column needs one of --field, --pass and --drop; if one has none, the error is the command to
    type. In jsonl a name reaches into objects and lists: customer.name, turns[].text. In parquet it is a column's:
    what is passed keeps its type and values, and what the file says of itself beside its columns is left out.

    Text is lower-cased and tokenized; tokens are joined with blanks. With --keep-case a word gets the capitals of
    the word in whose place it stands, which tells where names and sentences were. With --detokenize it is spaced
    as people write; a line break inside of a csv or json text stays where it was, else it becomes a blank.

    The vocabulary is the most frequent words of the embedding, or a public list. It is never made of INPUT: words
    are replaced by words of the vocabulary, so that one made of private text would publish which words it holds.

    The text does not depend on the number of workers. A run that was stopped goes on where it was when it is
    called again; until then, what is done is in OUTPUT.parts.

    \b
    Examples:
      textsan sanitize --mechanism custext --epsilon 1 reviews.txt safe.txt
      textsan sanitize --mechanism custext --epsilon 1 --field title --field body --drop author in.csv safe.csv
      textsan sanitize --mechanism custext+ --epsilon 1 --keep drugs.txt notes.txt safe.txt
    """
    import json

    from textsan.base.plugins import blamed
    from textsan.cli import progress
    from textsan.mechanisms import MECHANISMS, make_mechanism
    from textsan.release import release_files
    from textsan.release.formats import Unnamed
    from textsan.release.plan import plan

    plan(sources, target, settings["kind"])  # what cannot be written is refused before anything is fetched
    words = options.words_of(embedding, size, vocabulary)
    with blamed(MECHANISMS[mechanism].load()):
        made = make_mechanism(mechanism, words, **parameters)
    try:
        records = release_files(
            sources,
            target,
            made,
            embedding=embedding,
            command=as_typed(context),
            tell=lambda line: click.echo(f"textsan: {line}", err=True),
            reporting=progress.reporting,
            **settings,
        )
    except Unnamed as error:  # fields that nobody named
        if not error.names:
            raise
        drops = [part for name in error.names for part in ("--drop", name)]
        raise ValueError(f"{error}. Without them: {as_typed(context, *drops)}") from None
    if target == "-":
        click.echo(json.dumps(records[-1]), err=True)
