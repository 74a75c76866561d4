"""`textsan sweep` with what keeps the tables of a clone: where they are stored, their state, recertification."""

import click

from textsan.cli.errors import fail
from textsan.cli.plugins import PluginCommand
from textsan.cli.sweep import folder_of, status_line, sweep as plain

_SPEC = click.Argument(["spec"], required=False, type=plain.params[0].type)


@click.command("sweep", cls=PluginCommand, params=[_SPEC, *plain.params[1:]], help=plain.help)
@click.option(
    "--table",
    type=click.Path(dir_okay=False),
    help="Where the table is kept (csv): what is run is stored there too; --status and --recertify are of it.",
)
@click.option("--extend", is_flag=True, help="With --table: compute only the cells that it has not.")
@click.option("--all", "every", is_flag=True, help="With --status, and no SPEC: of every table in data/results.")
@click.option(
    "--recertify",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compute N stale cells anew; if all agree, keep the others as they are.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Which N are drawn.  [default: 0]")
@click.pass_context
def sweep(context, table, extend, every, recertify, seed, **given):
    """The package's command, and what is upkeep of a clone."""
    from pathlib import Path

    spec, status = given["spec"], given["status"]
    if every and (spec or not status):
        raise click.UsageError("--all goes with --status, and without SPEC")
    if status and recertify:
        raise click.UsageError("--status runs nothing, and --recertify does; pass one of them")
    if extend and (status or recertify or not table):
        raise click.UsageError("--extend goes with --table, and without --status and --recertify")
    if table and (status or recertify or extend) and not Path(table).is_file():
        raise click.UsageError(f"--table: {table} is not there")
    if spec is None and not (every or status and table):
        raise click.UsageError("SPEC is missing; name a file like data/sweeps/quick.yml")
    if every:
        _status_of_all()
    elif status and table:
        click.echo(_status(table))
    elif recertify:
        _recertify(recertify, seed, table, **given)
    else:
        if extend:
            _take_up(table, **given)
        context.invoke(plain, **given)
        if table and not status:
            _store(table, **given)


def _store(table, *, spec, output, over, **_) -> None:
    import shlex

    from textsan_book.chapters import stored_tables

    made = shlex.join(["textsan", "sweep", str(spec), *(part for name in over for part in ("--over", name))])
    stored_tables.store(folder_of(spec, output), table, made)


def _take_up(table, *, spec, output, **_) -> None:
    from pathlib import Path

    from textsan.sweeps import specification
    from textsan_book.studies import stored_cells

    number = stored_cells.take_up(specification.read_spec(spec), Path(table), folder_of(spec, output))
    click.echo(f"{number} cells are taken from {table}")


def _status(table) -> str:
    from textsan_book.chapters.stored_tables import table_state

    state = table_state(table)
    made = "made by other code: " if state.verdict == "stale" else ""
    return f"{table}: {state.verdict}" + (f", {made}{state.because}" if state.because else "")


def _status_of_all() -> None:
    """Every stored table, and how many there are of each verdict; fails where one has no record."""
    from collections import Counter

    from textsan.base.project import project_data
    from textsan_book.chapters.stored_tables import table_state

    verdicts = Counter()
    for table in sorted((project_data() / "results").glob("*.csv")):
        state = table_state(table)
        verdicts[state.verdict] += 1
        click.echo(f"{table.stem}: {state.verdict}{f': {state.because}' if state.because else ''}")
    known = ("fresh", "stale", "made elsewhere", "unrecorded")
    click.echo(", ".join(f"{verdicts[one]} {one}" for one in known))
    if verdicts["unrecorded"]:
        fail("a table has no record of the code that made it; make it by a specification and --table")


def _recertify(number, seed, table, *, spec, output, workers, scheduler, over, status) -> None:
    from textsan.sweeps import specification, sweep
    from textsan_book.studies import recertification

    cells, folder = specification.read_spec(spec), folder_of(spec, output)
    how = {"seed": seed, "workers": workers or -1, "scheduler": scheduler}
    if table:
        verdict = recertification.recertify_table(cells, table, number, **how)
    else:
        verdict = recertification.recertify(cells, folder, number, **how)
    if verdict.differing:
        differing = "\n".join(verdict.differing)
        fail(f"{len(verdict.differing)} of {verdict.checked} differ, nothing is kept: {differing}")
    if not verdict.stale:
        click.echo("nothing is stale" + ("" if table else f"; {status_line(cells, folder)}"))
        return
    if not table:
        sweep.write_table(cells, folder, over)
    click.echo(f"{verdict.checked} of {verdict.stale} stale cells were computed anew and agree; all are kept")
