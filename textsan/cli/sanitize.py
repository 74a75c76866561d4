"""`textsan sanitize`: sanitize files of text."""

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand, as_typed


@click.command(cls=MechanismCommand)
@click.argument("sources", metavar="INPUT...", nargs=-1, required=True)
@click.argument("target", metavar="OUTPUT")
@options.embedding
@options.size
@click.option("--vocabulary", type=click.Path(exists=True, dir_okay=False), help="Public word list, one a line.")
@options.format_of("Of all files.  [default: as INPUT ends, in any case, before .gz or .xz]")
@options.field("")
@click.option("--keep-case", is_flag=True, help="Capital letters stay in their places: leaks what they tell.")
@click.option("--detokenize", is_flag=True, help="Spacing as people write; line breaks inside of a text stay.")
@options.workers
@options.scheduler
@click.option("--seed", type=click.IntRange(0), help="Repeat a run; a known seed removes the guarantee.")
@click.pass_context
def sanitize(
    context,
    sources,
    target,
    mechanism,
    embedding,
    size,
    vocabulary,
    kind,
    field,
    keep_case,
    detokenize,
    workers,
    scheduler,
    seed,
    parameters,
):
    """Sanitize the text of INPUT into OUTPUT, and write what was done and promised to OUTPUT.json.

    INPUT is text (a document a line), jsonl (null stays null), csv or tsv, also as gz or xz; OUTPUT is of the
    same format, and compressed if it ends so. Of several INPUTs, or where OUTPUT is a folder, each gets a file of
    its name in it. "-" is standard input (text, unless OUTPUT ends otherwise) or output (then the record goes to
    standard error).

    Text is lower-cased and tokenized; tokens are joined with blanks. With --keep-case a word gets the capitals of
    the word in whose place it stands, which tells where names and sentences were. With --detokenize it is spaced
    as people write; a line break inside of a csv or json text stays where it was, else it becomes a blank.

    The vocabulary is the most frequent words of the embedding, or a public list. It is never made of INPUT: words
    are replaced by words of the vocabulary, so that one made of private text would publish which words it holds.

    The text does not depend on the number of workers. A run that was stopped goes on where it was when it is
    called again; until then, what is done is in OUTPUT.parts.

    Example: textsan sanitize --mechanism custext --epsilon 1 reviews.txt safe.txt
    """
    import json
    from pathlib import Path

    from textsan import load_embeddings
    from textsan.base.plugins import blamed
    from textsan.cli import progress
    from textsan.mechanisms import MECHANISMS, make_mechanism
    from textsan.release import record
    from textsan.release.files import sanitize_files
    from textsan.release.plan import plan
    from textsan.release.shards import Counts, Job
    from textsan.release.writing import Writing

    files = plan(sources, target, kind)
    if field and all(file.kind == "txt" for file in files):
        raise ValueError(f"field: txt has no field {field!r}; leave it out, or pass --format jsonl, csv or tsv")
    field = field or "text"
    words = load_embeddings(embedding)
    if vocabulary:
        try:
            with open(vocabulary, encoding="utf-8") as lines:
                listed = [line.strip() for line in lines]
        except UnicodeDecodeError:
            raise ValueError(f"vocabulary: {vocabulary} is not utf-8; convert it first") from None
        words = words.restrict(listed)
    else:
        words = words.frequent(size)
    about = {"mechanism": mechanism, "given": parameters, "words": words}

    def describe(file, counts):
        command = as_typed(context)
        return record.description(job, file, counts, **about, embedding=embedding, field=field, command=command)

    with blamed(MECHANISMS[mechanism].load()):
        job = Job(make_mechanism(mechanism, words, **parameters), seed, Writing(keep_case, detokenize))
        warnings, key = record.warnings(job), record.key(job, **about)
        describe(files[0], Counts())  # what a plugin says of itself is heard before anything is released
    there = [file.target for file in files if file.target != "-" and Path(file.target).exists()]
    for warning in warnings:
        click.echo(f"textsan: warning: {warning}", err=True)

    total = sum(file.size for file in files) or None
    with progress.told("bytes") as told:
        counts = sanitize_files(
            job,
            files,
            f"{target.rstrip('/')}.parts",
            field=field,
            key=key,
            workers=workers,
            scheduler=scheduler,
            progress=lambda documents, position: told(position, total),
            describe=describe,
        )
    for doubt in record.doubts(counts):
        click.echo(f"textsan: warning: {doubt}", err=True)
    for line in record.summary(job, files, counts):
        click.echo(f"textsan: {line}", err=True)
    if there:
        again = f"{there[0]} was there and is replaced; whoever has the earlier release too has two draws of it"
        click.echo(f"textsan: warning: {again}", err=True)
    if target == "-":
        click.echo(json.dumps(describe(files[0], counts)), err=True)
