"""The command itself: `textsan`, with its sub-commands."""

import click

from textsan.cli.book import book
from textsan.cli.check import check
from textsan.cli.course import course
from textsan.cli.data import data
from textsan.cli.errors import OneLineErrors
from textsan.cli.run import run
from textsan.cli.sanitize import sanitize
from textsan.cli.sweep import sweep


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="textsan")
def main():
    """How much does differentially private text sanitization really hide?"""


for command in (book, check, course, data, run, sanitize, sweep):
    main.add_command(command)
