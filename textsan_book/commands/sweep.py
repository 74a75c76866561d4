"""`textsan sweep` with what keeps the tables of a clone: the state of all of them, and recertification."""

import click

from textsan.cli.errors import fail
from textsan.cli.plugins import PluginCommand
from textsan.cli.sweep import folder_of, status_line, sweep as plain


@click.command("sweep", cls=PluginCommand, params=[*plain.params], help=plain.help)
@click.option("--all", "every", is_flag=True, help="With --status, and no SPEC: of every table in data/results.")
@click.option(
    "--recertify",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compute N stale cells anew, of --table if it is given; if all agree, keep the others as they are.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Which N are drawn.  [default: 0]")
@click.pass_context
def sweep(context, every, recertify, seed, **given):
    """The package's command, and what is upkeep of a clone."""
    from pathlib import Path

    if every and (given["spec"] or not given["status"]):
        raise click.UsageError("--all goes with --status, and without SPEC")
    if recertify and given["status"]:
        raise click.UsageError("--status runs nothing, and --recertify does; pass one of them")
    if recertify and given["spec"] is None:
        raise click.UsageError("SPEC is missing; name a file like data/sweeps/quick.yml")
    if recertify and given["table"] and not Path(given["table"]).is_file():
        raise click.UsageError(f"--table: {given['table']} is not there")
    if every:
        _status_of_all()
    elif recertify:
        _recertify(recertify, seed, **given)
    else:
        context.invoke(plain, **given)


def _status_of_all() -> None:
    """Every stored table, and how many there are of each verdict; fails where one has no record."""
    from collections import Counter

    from textsan.base.project import project_data
    from textsan.sweeps.provenance import table_state

    verdicts = Counter()
    for table in sorted((project_data() / "results").glob("*.csv")):
        state = table_state(table)
        verdicts[state.verdict] += 1
        click.echo(f"{table.stem}: {state.verdict}{f': {state.because}' if state.because else ''}")
    known = ("fresh", "stale", "made elsewhere", "unrecorded")
    click.echo(", ".join(f"{verdicts[one]} {one}" for one in known))
    if verdicts["unrecorded"]:
        fail("a table has no record of the code that made it; make it by a specification and --table")


def _recertify(number, seed, *, spec, output, workers, scheduler, over, table, status) -> None:
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
