"""`textsan start`: look at a file, and propose the commands for it."""

import click

from textsan.cli import options

_SHOWN = 20  # columns of the table, at most
_GROUPS = 12  # groups of which `choose` makes its parts, at least


@click.command()
@click.argument("source", metavar="FILE")
def start(source):
    """Look at FILE, say what is in it, and propose the commands to type. Nothing is written.

    FILE is text (a document a line), jsonl, csv or tsv, also as gz or xz, or parquet, and may have any ending; "-"
    is refused, as the commands name the file. Its first 1,000 records are read. No word of them is printed: only
    shares, and names of columns that look like names.

    The column with the longest text is proposed to be sanitized, and all others to be left out. Names of people
    are found by lists of US names, and by Presidio where it is installed (extra pii); addresses, dates and numbers
    by patterns. What they miss is in the file all the same.

    \b
    Example:
      textsan start reviews.csv
    """
    from textsan import load_embeddings
    from textsan.auditing.looking import look
    from textsan.release.formats import shown

    words = load_embeddings().frequent(20_000)
    seen = look(source, words.index)
    delimiter = f", delimiter {_typed(seen.delimiter)}" if seen.delimiter else ""
    how = f"{seen.kind}{delimiter}, {seen.encoding}{' (a guess)' * seen.guessed}"
    click.echo(f"{shown(source)}: {how}; {'all' if seen.whole else 'the first'} {seen.rows:,} records\n")
    for line in [*_table(seen), "", *_notes(seen, len(words))]:
        click.echo(line)
    if seen.named and seen.text:
        click.echo(_commands(seen, source))


def _table(seen) -> list[str]:
    from textsan.auditing.looking import FOR_PRESIDIO

    presidio = any(column.presidio is not None for column in seen.columns)
    rows = [["column", "filled", "kind", "tokens", "listed", "found in filled cells"]]
    rows[0] += [f"by Presidio, in the first {FOR_PRESIDIO}"] * presidio
    for number, column in enumerate(seen.columns[:_SHOWN], start=1):
        cells = [_percent(column.filled), column.kind, f"{column.tokens:.1f}", _percent(column.listed)]
        for shares in [column.found, column.presidio or {}][: 1 + presidio]:
            found = (f"{kind.replace('_', ' ')} {_percent(share)}" for kind, share in shares.items())
            cells.append(", ".join(found))
        rows.append([column.name if seen.named else f"number {number}", *cells])
    return options.aligned(rows) + [f"and {len(seen.columns) - _SHOWN} more"] * (len(seen.columns) > _SHOWN)


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _typed(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else delimiter


def _notes(seen, size: int) -> list[str]:
    from textsan.release.record import doubts
    from textsan.release.shards import Counts
    from textsan.text.names import is_presidio_here

    lines = ["What was found is a lower end: patterns and lists of US names miss some."]
    lines += ["Presidio was not asked: it needs the extra pii."] * (not is_presidio_here())
    if not seen.named and seen.kind == "jsonl":
        return [*lines, "Names of fields may be text here, and are not shown. Rename them to single words first."]
    if not seen.named:
        names = (seen.delimiter or ",").join(f"column{n}" for n in range(1, len(seen.columns) + 1))
        what = "The first line looks like text, and every command takes it for a header"
        return [*lines, f"{what}. Put one before it, of single words, and call again:", f"   {names}"]
    if (text := seen.text) is None:
        nothing = "No column of text was found (in jsonl one that each record has), and nothing is proposed."
        return [*lines, nothing]
    unknown = Counts(tokens=100_000, unknown=round(100_000 * (1 - text.listed)))
    lines.append(f"Text: {text.name}; {_percent(text.listed)} of its tokens are among the list's {size:,} words.")
    lines += [f"Hardly English: {doubt}" for doubt in doubts(unknown)]
    texts = [column for column in seen.columns if column.kind == "text" and column is not text]
    for columns, what in (
        (texts, "Text, too, and sanitized with --field in place of --drop"),
        (_beside(seen, "category"), "For --label in 1 and 2, which then say what a task keeps"),
        (_beside(seen, "id"), "For --group in 1 and 2, if rows of one value are of one person"),
    ):
        if columns:
            lines.append(f"{what}: {', '.join(f'{column.name} ({column.values} values)' for column in columns)}.")
    return lines


def _beside(seen, kind: str) -> list:
    """The columns of a kind with values that come again; in jsonl such as are in no other, as options ask."""
    columns = [column for column in seen.columns if column.kind == kind and column.readable and column.repeated]
    return [c for c in columns if c.values > 1 and not (seen.kind == "jsonl" and {*".["} & {*c.name})]


def _commands(seen, source: str) -> str:
    """The commands in the order of the book's page for who decides."""
    from itertools import count
    from os.path import lexists, splitext
    from shlex import join

    from textsan.release.formats import compression_of, format_of

    source = f"./{source}" if source.startswith("-") else source
    bare = splitext(splitext(source)[0] if compression_of(source) else source)[0]
    parts = [f"-{part}.{seen.kind}" for part in ("held-back", "to-release", "safe")]
    prefixes = (f"{bare}-{n}" if n else bare for n in count())
    prefix = next(prefix for prefix in prefixes if not any(lexists(prefix + part) for part in parts))
    field = ["--field", seen.text.name] * (seen.kind != "txt")
    delimiter = ["--delimiter", _typed(seen.delimiter)] if seen.delimiter else []
    groups = [(column.values, column.name) for column in _beside(seen, "id") if column.values >= _GROUPS]
    given = [*field, *(["--group", min(groups)[1]] if groups else []), *delimiter]
    given += ["--format", seen.kind] * (format_of(source) != seen.kind)
    given += ["--encoding", seen.encoding] * seen.guessed
    drops = [part for name in seen.dropped for part in ("--drop", name)]
    return f"""
1. Attack a rehearsal, held against a limit of 30 % of the words. It writes audit.html, for you alone.
   textsan audit --mechanism custext+ --epsilon 1 --tolerate words=0.3 --no-quotes {join([*given, source])}

2. Look for an epsilon that keeps the limit, on rows that stay here. "None" is an answer.
   textsan choose --mechanism custext+ --mechanism santext --words 0.3 --no-quotes \\
      {join([*given, "--write-split", prefix, source])}

3. If 2 names an epsilon, put it and its mechanism in place of these, and release the other rows, once.
   textsan sanitize --mechanism santext --epsilon 2 --chosen-on other \\
      {join([*field, *drops, *delimiter, prefix + parts[1], prefix + parts[2]])}"""
