"""`textsan sweep` with what keeps the tables of a clone: where they are stored, and going on from one."""

import click

from textsan.cli.plugins import PluginCommand
from textsan.cli.sweep import folder_of, sweep as plain


@click.command("sweep", cls=PluginCommand, params=[*plain.params], help=plain.help)
@click.option(
    "--table",
    type=click.Path(dir_okay=False),
    help="Where the table is kept (csv): what is run is stored there, too.",
)
@click.option("--extend", is_flag=True, help="With --table: compute only the cells that it has not.")
@click.pass_context
def sweep(context, table, extend, **given):
    """The package's command, and what is upkeep of a clone."""
    import shlex
    from pathlib import Path

    spec, folder = given["spec"], folder_of(given["spec"], given["output"])
    if extend:
        from textsan.sweeps import specification
        from textsan_book.studies import stored_cells

        if not table or not Path(table).is_file():
            raise click.UsageError("--extend goes with --table and a file that is there")
        number = stored_cells.take_up(specification.read_spec(spec), Path(table), folder)
        click.echo(f"{number} cells are taken from {table}")
    context.invoke(plain, **given)
    if table:
        from textsan_book.studies import records

        over = (part for name in given["over"] for part in ("--over", name))
        unpinned = ["--unpinned"] if context.find_root().params.get("unpinned") else []
        records.store(folder, table, shlex.join(["textsan", *unpinned, "sweep", str(spec), *over]), spec)
