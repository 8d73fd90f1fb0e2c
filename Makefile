# The verbs of the project. Needs Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV ?= .venv
DATA ?= demo:breast-cancer
TARGET ?=
OUT ?= model.json

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test test-all bench format clean

run: $(VENV)/.run  ## read DATA, hold a part out, fit, print the certificate, write OUT
	$(BIN)/separatrix fit "$(DATA)" $(if $(TARGET),--target "$(TARGET)") --out "$(OUT)"

test: $(VENV)/.dev  ## format, lint, types, layers, tests, doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -m "not slow"

test-all: $(VENV)/.dev  ## the tests that take longer, too
	$(BIN)/pytest -n 2

bench: $(VENV)/.dev  ## side by side with peers, in environments of their own: ROWS="tall wide", all by default
	$(BIN)/python -m benchmarks $(ROWS)

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache model.json benchmarks/.environments benchmarks/.quick

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/.run

