"""The command line as a shell sees it: exit codes, pipes, and what is imported."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from separatrix.classifiers import OFFERED
from separatrix.cli import main
from separatrix.cli.exits import VERBS

from .running import OVERLAPPING, real

# The installed command, beside the interpreter that runs the tests.
COMMAND = str(Path(sys.executable).parent / "separatrix")
PROGRAM = [sys.executable, "-m", "separatrix"]


def run(*words, **kwargs):
    return subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False, **kwargs)


def installed(*words, **kwargs):
    done = subprocess.run([COMMAND, *words], capture_output=True, check=False, **kwargs)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_every_verb_on_real_tables(tmp_path):
    """One run a verb: ISLR's Default, from Parquet; its Caravan; breast cancer and digits of scikit-learn."""
    data, out = real(tmp_path, "default", "parquet"), str(tmp_path / "m.json")
    text = installed("fit", data, "--target", "default", "--C", "auto", "--out", out)
    assert "student (No)" in text
    assert "status:    optimal" in text
    assert "validated" not in text
    answers = installed("predict", out, data, "--proba").splitlines()
    assert (answers[0], len(answers)) == ("prediction,P(No),P(Yes)", 10_001)
    found = json.loads(installed("evaluate", out, data, "--json"))
    assert found["accuracy"] > found["null_accuracy"]
    assert found["auc"] == pytest.approx(0.95, abs=0.01)
    assert "student: Yes against No" in installed("show", out)
    assert "CASE c0 WHEN 'No'" in installed("export", out, "--to", "sql", "--table", "people")
    assert "complete" in installed("completion", "zsh")
    assert "Verbs:" in installed("--help")


@pytest.mark.parametrize(
    ("data", "words", "part"),
    [
        ("caravan", ["--target", "Purchase", "--cv", "3"], "5822 rows, 85 columns"),
        ("demo:breast-cancer", ["--model", "max-margin"], "569 rows, 30 columns"),
        ("demo:digits", ["--model", "lda"], "1797 rows"),
    ],
)
def test_fits_of_real_tables(tmp_path, data, words, part):
    done = CliRunner().invoke(main, ["fit", data if ":" in data else real(tmp_path, data), *words])
    assert done.exit_code in (0, 1)
    assert part in done.stdout
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    done = run("fit", "demo:iris", "--out", str(path))
    assert done.returncode == 0
    assert done.stderr == ""
    return str(path)


def test_exit_codes(tmp_path):
    """Those of a fit without an optimum and of a bad file; ``test_streams_that_are_full_or_closed`` has 2 and 3."""
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    rows = "a,y\n0,n\n1,n\n2,y\n3,y\n"
    assert run("--version").returncode == 0
    assert run("fit", "-", "--target", "y", "--C", "inf", "--test-size", "0", input=rows).returncode == 1
    done = run("predict", str(bad), "demo:iris")
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1


def test_standard_input(model):
    rows = "petal width (cm),petal length (cm),sepal width (cm),sepal length (cm)\n0.2,1.4,3.5,5.1\n2.3,6,3,7\n"
    done = run("predict", model, "-", input=rows)
    assert (done.returncode, done.stdout) == (0, "prediction\nsetosa\nvirginica\n")


@pytest.mark.parametrize(
    ("more", "told"), [("", b""), (",5", b"note: Not used, since the model has no such columns: '5'.\n")]
)
def test_a_closed_pipe_loses_no_note_and_has_no_complaint(model, tmp_path, more, told):
    data = tmp_path / "many.csv"
    names = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)"
    data.write_text(f"{names}{more}\n" + f"5.1,3.5,1.4,0.2{more}\n" * 50_000)  # more output than a pipe holds
    process = subprocess.Popen(
        [*PROGRAM, "predict", model, str(data), "--proba"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert complaint == told


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_streams_that_are_full_or_closed(model):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, "show", model], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"separatrix: the output cannot be written")
    assert done.stderr.count(b"\n") == 1
    shell = f'"{sys.executable}" -m separatrix '
    assert subprocess.run(shell + f'show "{model}" >&-', shell=True, check=False).returncode == 0
    done = subprocess.run(shell + "fit - --target y <&-", shell=True, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert b"it is empty" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.slow)])
def test_other_encodings_of_the_terminal(tmp_path, encoding):
    out = str(tmp_path / "m.json")
    rows = "č,y\n0,n\n1,n\n2,y\n3,y\n"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    words = [*PROGRAM, "fit", "-", "--target", "y", "--C", "inf", "--test-size", "0", "--out", out]
    done = subprocess.run(words, input=rows.encode(), capture_output=True, env=environment, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert subprocess.run([*PROGRAM, "show", out], capture_output=True, env=environment, check=False).returncode == 0


IMPORTED = """
import runpy, sys
sys.argv = ["separatrix", *{words!r}]
try:
    runpy.run_module("separatrix", run_name="__main__")
except SystemExit as end:
    print(end.code, *[name for name in {names!r} if name in sys.modules], file=sys.stderr)
"""


def imported(*words, names):
    script = IMPORTED.format(words=words, names=names)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr.split()


# One process prints all help: a module that one verb imports stays imported, so the first verb that does so is named.
HELP = """
import json, sys
from separatrix.cli import main
heavy = {"numpy", "scipy", "sklearn", "pyarrow", "rich", "pandas", "matplotlib"}
for words in json.loads(sys.argv[1]):
    try:
        main(words, prog_name="separatrix")
    except SystemExit as end:
        assert not end.code, (words, end.code)
    assert not heavy & set(sys.modules), (words, heavy & set(sys.modules))
"""


def test_help_imports_nothing_heavy():
    asked = [["--help"], ["--version"], ["completion", "fish"], *([verb, "--help"] for verb in VERBS)]
    done = subprocess.run([sys.executable, "-c", HELP, json.dumps(asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert imported("--help", names=["numpy", "rich"]) == ["0"]


def test_prediction_needs_no_scikit_learn_and_no_solver(model, tmp_path):
    data = tmp_path / "new.csv"
    data.write_text("sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)\n5.1,3.5,1.4,0.2\n")
    heavy = ["scipy", "sklearn", "pandas", "pyarrow.parquet", "separatrix.core.solvers", "separatrix.core.problem"]
    assert imported("predict", model, str(data), "--proba", names=heavy) == ["0"]
    assert imported("show", model, names=heavy) == ["0"]


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["--model", "perceptron"], {"perceptron"}),
        (["--model", "one-versus-rest", "--base", "lda"], {"one-versus-rest", "lda"}),
    ],
)
def test_a_fit_imports_no_other_classifier(tmp_path, words, needed):
    modules = {f"separatrix.classifiers.{module}": name for name, (module, _) in OFFERED.items()}
    out = str(tmp_path / "m.json")
    code, *found = imported("fit", "demo:three-classes", *words, "--out", out, names=list(modules))
    assert code == "0"
    assert {modules[module] for module in found} == needed


# An audit hook cannot be removed, so a process of its own counts how often each command opens a file.
OPENED = """
import json, os, sys
from separatrix.cli import main
opened = []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)
for path, words in json.loads(sys.argv[1]):
    opened.clear()
    try:
        main(words, prog_name="separatrix")
    except SystemExit as end:
        names = [os.fspath(name) for name in opened if isinstance(name, (str, os.PathLike))]
        print(end.code, names.count(path), file=sys.stderr)
"""


def test_a_text_file_is_opened_once_for_its_header_and_once_for_its_rows(tmp_path):
    data, packed, out = (str(tmp_path / name) for name in ("rows.csv", "rows.csv.gz", "m.json"))
    Path(data).write_text(OVERLAPPING)
    with gzip.open(packed, "wt") as file:
        file.write(OVERLAPPING)
    fit = ["--target", "y", "--model", "lda", "--out", out]
    asked = [(path, words) for path in (data, packed) for words in (["fit", path, *fit], ["predict", out, path])]
    command = [sys.executable, "-c", OPENED, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["0 2"] * 4
