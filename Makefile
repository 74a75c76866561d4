# Two commands do everything: `make book` and `make test`; `make pdf` prints the book. `make book FRESH=1` executes every chapter anew.
# `make test` executes three chapters that the commit draws and those whose tables differ, and of the tests of half a second and
# more (data/slowest-tests.csv) and of the pages an eighth, of the assignments a third; with CHAPTERS=all everything of these,
# with CHAPTERS='3 7' these chapters and all the rest. `make test FULL=1` does everything.
# `make course` proves the assignments with corpora of the size that students have; `make test` does with small ones.
PYTHON ?= python3
BIN := .venv/bin
CHAPTERS ?= --drawn
# Named by content, so that a changed dependency list installs again and a fresh checkout's file times do not.
INSTALLED := .venv/installed-$(shell cat pyproject.toml textsan_book/pyproject.toml constraints.txt | cksum | tr ' ' -)

.PHONY: book built checks course pages pdf proofs test types

book: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/textsan book $(if $(FRESH),--fresh)

test: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(if $(FULL),TEXTSAN_FULL=1) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(if $(FULL),--timed,$(filter --drawn,$(CHAPTERS)))
	$(MAKE) --jobs 2 --output-sync pages checks types proofs FULL=$(FULL)
	$(if $(FULL),$(BIN)/python -m textsan_book.commands.canary)

# Two at a time: none of them but the chapters keeps two cores busy for itself.
checks:
	$(BIN)/textsan check $(if $(FULL),--full,$(CHAPTERS:all=))
	$(if $(FULL),$(BIN)/textsan check --as sandybridge)

types:
	$(BIN)/mypy

built:
	$(BIN)/textsan book

# Browsers time out beside all chapters, not beside three.
pages: built $(if $(filter --drawn,$(CHAPTERS)$(FULL)),,checks)
	$(BIN)/python -m pytest -m built -n 2 --dist worksteal $(if $(FULL),,$(filter --drawn,$(CHAPTERS))) tests/test_api.py tests/test_built_pages.py

proofs:
	$(BIN)/textsan course verify $(if $(FULL),--full,$(filter --drawn,$(CHAPTERS)))

# One file of the main text, _build/textsan.pdf; wants Chromium.
pdf: $(INSTALLED)
	$(BIN)/python -m textsan_book.chapters.paper

course: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/textsan course verify --full

$(INSTALLED):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "textsan needs Python 3.11, 3.12 or 3.13; $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[book,cluster,course,gradients,hub,jupyter,models,test]' -e ./textsan_book
	rm -f .venv/installed-*
	touch $@
