# The tasks of the project. They need Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
DATA ?= demo:breast-cancer
TARGET ?=
OUT ?= model.json

BIN := $(VENV)/bin
INSTALL := python -m pip install --quiet --disable-pip-version-check
PIP := $(BIN)/$(INSTALL) -c constraints.txt

# Tests run in two processes. With one BLAS thread each, they do not compete for two cores. Three processes take longer.
ONE_THREAD := OPENBLAS_NUM_THREADS=1
PROCESSES := 2

# Compiled modules are kept even where this variable forbids it: the tests start many processes that import the package.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all test-portable test-lowest bench docs clean types quick-tests

run: $(VENV)/.run  ## read DATA, hold out some rows, fit, print the certificate, write OUT
	$(BIN)/separatrix fit "$(DATA)" $(if $(TARGET),--target "$(TARGET)") --out "$(OUT)"

test: $(VENV)/.dev  ## check format, lint, types and import layers, run tests and doctests; FIX=1 formats and fixes first
	$(BIN)/ruff format $(if $(FIX),,--check) .
	$(BIN)/ruff check $(if $(FIX),--fix) .
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory --jobs 2 types quick-tests

types:
	$(BIN)/mypy

quick-tests:
	$(ONE_THREAD) $(BIN)/pytest -n $(PROCESSES) -m "not slow"

test-all: test-portable  ## all tests, including slow ones, and test-portable
	$(ONE_THREAD) $(BIN)/pytest -n $(PROCESSES)

test-portable: $(VENV)/.dev  ## the tests with the arithmetic of older processors; all, or TESTS="tests/core/proofs docs"
	$(ONE_THREAD) $(BIN)/python -m tests.portable -n $(PROCESSES) -m "not slow" $(TESTS)

# Older releases of dependencies give deprecation warnings about each other, which are ignored.
test-lowest: $(LOWEST)/.test  ## the tests with the lowest versions that pyproject.toml declares
	$(ONE_THREAD) $(LOWEST)/bin/pytest -n $(PROCESSES) -m "not slow" -W ignore::DeprecationWarning $(TESTS)

bench: $(VENV)/.dev  ## compare with other packages, each in its own environment; all rows, or ROWS="tall wide"
	$(BIN)/python -m benchmarks $(ROWS)

docs: $(VENV)/.docs  ## build the site in site/: test its examples, draw its gallery, check its links
	$(ONE_THREAD) $(BIN)/pytest -q README.md docs tests/package/test_site.py
	rm -rf site docs/generated
	$(ONE_THREAD) $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --doctree-dir site/.doctrees docs site
	rm -rf site/.doctrees
	$(BIN)/python docs/_ext/links.py site

clean:
	find src -name '*.nb[ic]' -delete
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
