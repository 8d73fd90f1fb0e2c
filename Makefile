# The verbs of the project. Needs Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
DATA ?= demo:breast-cancer
TARGET ?=
OUT ?= model.json

BIN := $(VENV)/bin
INSTALL := python -m pip install --quiet --disable-pip-version-check
PIP := $(BIN)/$(INSTALL) -c constraints.txt

# Two workers on two cores get one BLAS thread each: more would wait for each other.
ONE_THREAD := OPENBLAS_NUM_THREADS=1

.PHONY: run test test-all test-portable test-lowest bench docs clean

run: $(VENV)/.run  ## read DATA, hold a part out, fit, print the certificate, write OUT
	$(BIN)/separatrix fit "$(DATA)" $(if $(TARGET),--target "$(TARGET)") --out "$(OUT)"

test: $(VENV)/.dev  ## format, lint, types, layers, tests, doctests; FIX=1 formats and mends first
	$(BIN)/ruff format $(if $(FIX),,--check) .
	$(BIN)/ruff check $(if $(FIX),--fix) .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(ONE_THREAD) $(BIN)/pytest -n 2 -m "not slow"

test-all: test-portable  ## the tests that take longer, too, and under other arithmetic
	$(ONE_THREAD) $(BIN)/pytest -n 2

test-portable: $(VENV)/.dev  ## the tests with the arithmetic of older processors: TESTS="tests/proofs docs", all by default
	$(ONE_THREAD) $(BIN)/python -m tests.portable -n 2 -m "not slow" $(TESTS)

# Older releases warn of each other's deprecations, which are none of ours.
test-lowest: $(LOWEST)/.test  ## the tests with the lowest versions that pyproject.toml declares
	$(ONE_THREAD) $(LOWEST)/bin/pytest -n 2 -m "not slow" -W ignore::DeprecationWarning $(TESTS)

bench: $(VENV)/.dev  ## side by side with peers, in environments of their own: ROWS="tall wide", all by default
	$(BIN)/python -m benchmarks $(ROWS)

docs: $(VENV)/.docs  ## the site in site/: its examples tested, its gallery drawn, its links checked
	$(ONE_THREAD) $(BIN)/pytest -q README.md docs tests/package/test_site.py
	rm -rf site docs/generated
	$(ONE_THREAD) $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --doctree-dir site/.doctrees docs site
	rm -rf site/.doctrees
	$(BIN)/python docs/_ext/links.py site

clean:
	rm -rf $(VENV) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache model.json benchmarks/.environments benchmarks/.quick site docs/generated

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/.run

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[docs]'
	touch $@ $(VENV)/.run

$(LOWEST)/.test: pyproject.toml tests/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/$(INSTALL) packaging
	$(LOWEST)/bin/python tests/lowest.py pyproject.toml > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/$(INSTALL) -c $(LOWEST)/constraints.txt -e '.[test,onnx]'
	touch $@
