"""The command line as a shell sees it: exit codes, pipes, and what is imported."""

import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "separatrix"]


def run(*words, **kwargs):
    return subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False, **kwargs)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    done = run("fit", "demo:iris", "--out", str(path))
    assert done.returncode == 0
    assert done.stderr == ""
    return str(path)


def test_exit_codes(model, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    rows = "a,y\n0,n\n1,n\n2,y\n3,y\n"
    assert run("--version").returncode == 0
    assert run("fit", "-", "--target", "y", "--C", "inf", "--test-size", "0", input=rows).returncode == 1
    assert run("fit", "demo:iris", "--C", "-1").returncode == 2
    assert run("fit", "-", "--target", "z", input=rows).returncode == 3
    done = run("predict", str(bad), "demo:iris")
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1


def test_standard_input(model):
    rows = "petal width (cm),petal length (cm),sepal width (cm),sepal length (cm)\n0.2,1.4,3.5,5.1\n2.3,6,3,7\n"
    done = run("predict", model, "-", input=rows)
    assert (done.returncode, done.stdout) == (0, "prediction\nsetosa\nvirginica\n")


def test_a_closed_pipe_is_silent(model, tmp_path):
    data = tmp_path / "many.csv"
    names = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)"
    data.write_text(f"{names}\n" + "5.1,3.5,1.4,0.2\n" * 50_000)  # more output than a pipe holds
    process = subprocess.Popen(
        [*PROGRAM, "predict", model, str(data), "--proba"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert complaint == b""


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


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal(tmp_path, encoding):
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


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"], ["predict", "--help"]])
def test_help_imports_nothing_heavy(words):
    heavy = ["numpy", "scipy", "sklearn", "pyarrow", "rich", "pandas"]
    assert imported(*words, names=heavy) == ["0"]


def test_prediction_needs_no_scikit_learn(model, tmp_path):
    data = tmp_path / "new.csv"
    data.write_text("sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)\n5.1,3.5,1.4,0.2\n")
    heavy = ["scipy", "sklearn", "pandas"]
    assert imported("predict", model, str(data), "--proba", names=heavy) == ["0"]
    assert imported("show", model, names=[*heavy, "pyarrow"]) == ["0"]
