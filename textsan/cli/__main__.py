"""`python -m textsan.cli` is the command, too."""

from textsan.cli.main import main

main()
