"""`python -m textsan_book.commands.golden`: write `data/golden.yml`, the list of cells that tests compute anew."""

if __name__ == "__main__":
    from textsan_book.studies import golden

    golden.store(golden.choose())
