"""`textsan sweep`: run a grid of experiments."""

import click

from textsan.cli.errors import fail
from textsan.cli.plugins import PluginCommand

_LINES = 60  # comparisons that are shown; more are for a program to read


@click.command(cls=PluginCommand)
@click.argument("spec", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", help="Folder of the results.  [default: runs/sweeps/ and the name of SPEC]")
@click.option("-j", "--workers", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this dask scheduler (extra cluster).")
@click.option("--over", multiple=True, metavar="ATTACK", help="Compare with it, pair by pair. May be repeated.")
@click.option(
    "--status", is_flag=True, help="Say which results are fresh, stale or missing, and why; run nothing."
)
@click.option("--all", "every", is_flag=True, help="With --status, and no SPEC: of every table in data/results.")
@click.option(
    "--recertify",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compute N stale cells anew; if all agree, keep the others as they are.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Which N are drawn.  [default: 0]")
@click.option(
    "--table",
    type=click.Path(dir_okay=False),
    help="Where the table is kept (csv): what is run is stored there too; --status and --recertify are of it.",
)
def sweep(spec, output, workers, scheduler, over, status, every, recertify, seed, table):
    """Run the grid of experiments in SPEC; a sweep that was stopped goes on where it was.

    SPEC asks for attacks on sanitized text and for tasks; or it names an experiment of another kind, on vectors or
    gradients, and gives values to its arguments. Results of single cells are in OUTPUT/cells, the table of all of
    them is OUTPUT/results.csv, what made it OUTPUT/results.yml, and what attacks hit OUTPUT/results.npz. With a
    scheduler, its workers must reach OUTPUT, and plugins, under the same names. Cells that other code made are
    stale, and are computed anew. SPEC may name plugins, too.

    Example: textsan sweep data/sweeps/quick.yml --over context-free
    """
    from pathlib import Path

    if every and (spec or not status):
        raise click.UsageError("--all goes with --status, and without SPEC")
    if every:
        _status_of_all()
        return
    if status and recertify:
        raise click.UsageError("--status runs nothing, and --recertify does; pass one of them")
    if table and (status or recertify) and not Path(table).is_file():
        raise click.UsageError(f"--table: {table} is not there")
    if status and table:
        click.echo(_table_status(table))
        return
    if spec is None:
        raise click.UsageError("SPEC is missing; name a file like data/sweeps/quick.yml")
    from textsan.sweeps import specification, sweep

    folder = Path(output or Path("runs", "sweeps", Path(spec).stem))
    cells = specification.read_spec(spec)
    means = {"workers": workers or -1, "scheduler": scheduler}
    if status:
        click.echo(_status(sweep.state(cells, folder), folder))
    elif recertify:
        click.echo(_recertify(cells, folder, table, over, recertify, seed=seed, **means))
    else:
        _report(lambda: sweep.run(cells, folder, **means, baselines=over), folder)
        if table:
            sweep.store_table(folder, table, _command(spec, over))
        if over:
            click.echo(_compared(folder, over))


def _command(spec, over) -> str:
    import shlex

    return shlex.join(["textsan", "sweep", str(spec), *(part for name in over for part in ("--over", name))])


def _status_of_all() -> None:
    """Every stored table, and how many there are of each verdict; fails where one has no record."""
    from collections import Counter

    from textsan.base.project import project_data
    from textsan.sweeps.provenance import table_state

    verdicts: Counter[str] = Counter()
    for table in sorted((project_data() / "results").glob("*.csv")):
        state = table_state(table)
        verdicts[state.verdict] += 1
        click.echo(f"{table.stem}: {state.verdict}{f': {state.because}' if state.because else ''}")
    known = ("fresh", "stale", "made elsewhere", "unrecorded")
    click.echo(", ".join(f"{verdicts[one]} {one}" for one in known))
    if verdicts["unrecorded"]:
        fail("a table has no record of the code that made it; make it by a specification and --table")


def _report(compute, folder) -> None:
    try:
        failures = compute()
    except KeyboardInterrupt:
        fail(f"stopped; finished cells are kept in {folder}, and the same command goes on from there")
    click.echo(folder / "results.csv")
    if failures:
        fail(f"{len(failures)} failed, the others are kept: " + "\n".join(failures))


def _compared(folder, over) -> str:
    """Each attack against the named ones, where that is few enough lines to be read; the table has all."""
    import pandas as pd

    rows = pd.read_csv(folder / "results.csv")
    baselines = [f"over {name}" for name in dict.fromkeys(over)]
    rows = rows[rows[baselines].notna().any(axis=1)]
    if len(rows) > _LINES:
        return f"{len(rows)} comparisons, with their intervals, are in its columns {', '.join(baselines)}"
    for name in ("defence", "attack"):  # with the parameters in which rows differ
        rows[name] += _differing(rows[f"{name}_parameters"])
    wanted = ["dataset", "seed", "defence", "epsilon", "attack", "asr"]
    for name in baselines:
        ends = rows[[f"{name} low", f"{name} high"]].itertuples(index=False)
        rows[f"95 % {name}"] = ["" if low != low else f"[{low:+.3f}, {high:+.3f}]" for low, high in ends]
        wanted += [name, f"95 % {name}"]
    return rows[wanted].to_string(index=False, na_rep="", float_format="{:.3f}".format)


def _differing(parameters):
    """Of each row ", name = value" for the parameters that do not have one value in all rows that have them."""
    import json

    known = [json.loads(one) for one in parameters]
    values = {name: {json.dumps(one[name]) for one in known if name in one} for one in known for name in one}
    several = [name for name, found in values.items() if len(found) > 1]
    return ["".join(f", {name} = {one[name]}" for name in several if name in one) for one in known]


def _table_status(table) -> str:
    from textsan.sweeps.provenance import table_state

    state = table_state(table)
    return f"{table}: {state.verdict}" + (f", {_made_by(state)}" if state.because else "")


def _made_by(state) -> str:
    return f"made by other code: {state.because}" if state.verdict == "stale" else state.because


def _status(now, folder) -> str:
    from textsan.sweeps import sweep

    why = f" (made by {sweep.made_by(now.changed)})" if now.stale else ""
    return f"{folder}: {len(now.fresh)} fresh, {len(now.stale)} stale{why}, {len(now.missing)} missing"


def _recertify(cells, folder, table, over, number, **how) -> str:
    from textsan.sweeps import recertification, sweep

    if table:
        return _said(recertification.recertify_table(cells, table, number, **how))
    verdict = recertification.recertify(cells, folder, number, **how)
    if verdict.stale:
        sweep.write_table(cells, folder, over)
    elif not verdict.differing:
        return f"nothing is stale; {_status(sweep.state(cells, folder), folder)}"
    return _said(verdict)


def _said(verdict) -> str:
    if verdict.differing:
        fail(
            f"{len(verdict.differing)} of {verdict.checked} differ, nothing is kept: "
            + "\n".join(verdict.differing)
        )
    if not verdict.stale:
        return "nothing is stale"
    return f"{verdict.checked} of {verdict.stale} stale cells were computed anew and agree; all are kept"
