# Two commands do everything: `make book` and `make test`. FRESH=1 executes every chapter anew.
# `make course` proves the assignments with corpora of the size that students have; `make test` does with small ones.
PYTHON ?= python3
BIN := .venv/bin
# Named by content, so that a changed dependency list installs again and a fresh checkout's file times do not.
INSTALLED := .venv/installed-$(shell cat pyproject.toml constraints.txt | cksum | tr ' ' -)

.PHONY: book course test

book: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/textsan book $(if $(FRESH),--fresh)

test: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2
	$(BIN)/textsan course verify
	$(BIN)/textsan check
	$(BIN)/textsan book

course: $(INSTALLED)
	$(BIN)/textsan data pull
	$(BIN)/textsan course verify --full

$(INSTALLED):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13) and "textsan needs Python 3.11 or 3.12; $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[book,cluster,course,gradients,hub,jupyter,models,test]'
	rm -f .venv/installed-*
	touch $@
