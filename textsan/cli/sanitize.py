"""`textsan sanitize`: sanitize a file of text."""

import click

from textsan.cli.mechanisms import MechanismCommand


@click.command(cls=MechanismCommand)
@click.argument("source", metavar="INPUT", type=click.Path(allow_dash=True, dir_okay=False))
@click.argument("target", metavar="OUTPUT", type=click.Path(allow_dash=True, dir_okay=False))
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
def sanitize(source, target, mechanism, embedding, size, vocabulary, kind, field, seed, **parameters):
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

    from textsan import load_embeddings
    from textsan.auditing import files
    from textsan.mechanisms import make_mechanism

    endings = {f".{name}": name for name in files.FORMATS}
    kind = kind or endings.get(os.path.splitext(source)[1], "txt")
    if source != "-" and not os.path.exists(source):
        raise FileNotFoundError(f"INPUT: {source} does not exist; pass a file or -")
    words = load_embeddings(embedding)
    if vocabulary:
        with open(vocabulary, encoding="utf-8") as lines:
            words = words.restrict(line.strip() for line in lines)
    else:
        words = words.frequent(size)
    given = {name: value for name, value in parameters.items() if value is not None}
    sanitizer = make_mechanism(mechanism, words, **given)
    if seed is not None:
        click.echo("textsan: warning: whoever knows the seed can undo the noise; no guarantee holds", err=True)

    def describe(counts):
        return files.description(sanitizer, embedding, seed, counts)

    total = os.path.getsize(source) if source != "-" else None
    with tqdm(total=total, unit="B", unit_scale=True, disable=None) as bar:

        def progress(documents, position):
            bar.set_postfix(documents=documents)
            bar.update(position - bar.n)

        counts = files.sanitize_file(
            sanitizer, source, target, kind=kind, field=field, seed=seed, progress=progress, describe=describe
        )
    if target == "-":
        click.echo(json.dumps(describe(counts)), err=True)
