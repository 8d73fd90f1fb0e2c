"""A classifier, a verb and a demo table, each added from outside: one file or entry, and one line in a registry.

The classifier is ``nearest_mean``, and its line ``register_nearest_mean``. Every test that goes through the registry of
classifiers then runs on it, too: that is asked of a pytest in a process of its own, and so is the command line.
"""

import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import separatrix.cli
from separatrix.cli.exits import VERBS
from separatrix.tables.formats.demos import DEMOS
from separatrix.tables.read_table import read_table
from tests.cli.running import run
from tests.package.nearest_mean import NearestMean

ROOT = Path(__file__).parents[2]
LINE = "tests.package.register_nearest_mean"
# Tests that go through the registry of classifiers; all others that do are asked by the slow test.
ASKED = (
    "tests/classifiers/test_descriptions.py",
    "tests/classifiers/test_laws.py",
    "tests/classifiers/test_sklearn_checks.py",
    "tests/cli/test_fit.py",
    "tests/classifiers/model_file/test_round_trip.py",
    "tests/package/test_arguments.py",
)


def asked(*places):
    """How many tests of the nearest mean pass there; none fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", LINE]
    command += ["-k", "nearest-mean or NearestMean", *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    return int(done.stdout.split(" passed")[0].split()[-1])


def test_a_new_classifier_is_under_scikit_learns_checks_and_all_laws():
    assert asked(*ASKED) > 120


@pytest.mark.slow
def test_a_new_classifier_is_under_every_test_of_the_registry():
    assert asked("tests") > asked(*ASKED)


COMMANDS = f"""
import json, sys
import {LINE}
from click.testing import CliRunner
from separatrix.cli import main

for words in json.loads(sys.stdin.read()):
    done = CliRunner().invoke(main, words, prog_name="separatrix")
    assert done.exit_code == 0, (words, done.stdout, done.stderr, done.exception)
    print(json.dumps(done.stdout))
    if words[-1] == "--help":
        print(*[name for name in ("numpy", "sklearn") if name in sys.modules], file=sys.stderr)
"""
VERIFY = f"""
import sys
import {LINE}
import separatrix as sx
from separatrix.tables.read_table import read_table

table = read_table("demo:iris")
model = sx.load(sys.argv[1])[-1]
assert type(model) is sx.NearestMean
print(model.certificate_.verify(table.X, table.y), *model.predict(table.X), sep="\\n")
"""


def python(script, *words, told=None):
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, input=told)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What the verbs print, by verb."""
    model = str(tmp_path_factory.mktemp("nearest") / "model.json")
    commands = {
        "help": ["fit", "--help"],
        "fit": ["fit", "demo:iris", "--model", "nearest-mean", "--shift", "none", "--test-size", "0", "--out", model],
        "show": ["show", model],
        "predict": ["predict", model, "demo:iris"],
        "export": ["export", model, "--to", "sql", "--dialect", "sqlite"],
        "compare": ["compare", "demo:iris", "--only", "nearest-mean", "--only", "lda", "--json"],
    }
    done = python(COMMANDS, told=json.dumps([*commands.values()]))
    return dict(zip(commands, map(json.loads, done.stdout.splitlines()), strict=True)) | {
        "imported": done.stderr.split(),
        "verified": python(VERIFY, model).stdout.splitlines(),
    }


def nearest(X, y):
    classes = np.unique(y)
    means = np.array([X[y == label].mean(axis=0) for label in classes])
    return classes[np.argmin(((X[:, None] - means) ** 2).sum(axis=2), axis=1)].tolist()


def test_a_new_classifier_is_in_the_help_without_being_imported(outputs):
    assert "the class whose mean is nearest" in outputs["help"]
    assert "--shift [none|priors]" in outputs["help"]
    assert outputs["imported"] == []


def test_a_new_classifier_is_fitted_saved_shown_and_asked(outputs):
    table = read_table("demo:iris")
    assert "the class means, in closed form" in outputs["fit"]
    assert "nearest-mean (the class whose mean is nearest)" in outputs["show"]
    assert outputs["predict"].split()[1:] == nearest(table.X, table.y)


def test_a_new_classifier_is_loaded_and_verified(outputs):
    table = read_table("demo:iris")
    verdict, *answers = outputs["verified"]
    assert verdict.startswith("holds: ")
    assert answers == nearest(table.X, table.y)


def test_the_claim_of_a_new_classifier_is_about_its_weights():
    """A claim that does not look at the weights would verify any."""
    table = read_table("demo:iris")
    model = NearestMean(shift="priors").fit(table.X, table.y)
    assert model.certificate_.verify(table.X, table.y)
    claim = model.certificate_.claim
    other = replace(claim, scorer=replace(claim.scorer, W=-claim.scorer.W))
    assert not replace(model.certificate_, claim=other).verify(table.X, table.y)


def test_a_new_classifier_is_compared(outputs):
    standing = {one["name"]: one for one in json.loads(outputs["compare"])["classifiers"]}["nearest-mean"]
    assert standing["accuracy"] > 0.8
    assert standing["standardised"]


def test_a_new_classifier_leaves_as_sql(outputs):
    table = read_table("demo:iris")
    with sqlite3.connect(":memory:") as engine:
        engine.execute(f"CREATE TABLE rows ({', '.join(f'`{name}`' for name in table.names)})")
        engine.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", table.X.tolist())
        answers = [row[-1] for row in engine.execute(outputs["export"]).fetchall()]
    engine.close()
    assert answers == nearest(table.X, table.y)


VERB = '''
"""``separatrix count``: how many rows a table has."""

import click

from separatrix.cli import table_options as table_arguments


@click.command(short_help="Count the rows of a table.")
@click.argument("data")
def count(data: str) -> int:
    """Count the rows of DATA."""
    click.echo(len(table_arguments.read(data, table_arguments.Wanted()).y))
    return 0
'''


def test_a_verb_is_one_file_and_one_line(tmp_path, monkeypatch):
    (tmp_path / "count.py").write_text(VERB)
    beside = [*separatrix.cli.__path__, str(tmp_path)]
    monkeypatch.setattr(separatrix.cli, "__path__", beside)
    monkeypatch.setitem(VERBS, "count", "Count the rows of a table.")
    assert "Count the rows of a table." in run("--help").stdout
    assert run("count", "demo:iris").stdout == "150\n"
    del sys.modules["separatrix.cli.count"]


def test_a_demo_table_is_one_entry(monkeypatch):
    monkeypatch.setitem(DEMOS, "halves", lambda: pa.table({"x": [0.0, 1.0, 2.0, 4.0], "half": ["l", "l", "r", "r"]}))
    assert read_table("demo:halves").target == "half"
    assert "4 rows, 1 column; predicting 'half'" in run("fit", "demo:halves", "--test-size", "0").stdout
