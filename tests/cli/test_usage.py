"""Bad input: one sentence each, and the right exit code."""

import subprocess

import numpy as np
import pytest

from separatrix._version import __version__
from separatrix.cli.exits import VERBS

from .running import complaint, run


def test_version_and_help():
    assert run("--version").stdout == f"separatrix {__version__}\n"
    text = " ".join(run("--help").stdout.split())
    assert all(word in text for word in (*VERBS, *VERBS.values(), "demo:iris", "Exit codes"))
    assert "Usage" in run(code=2).stderr


def test_an_option_without_its_value_points_to_the_help_of_its_verb():
    text = complaint("fit", "rows.csv", "--target", code=2)
    assert text == "separatrix: Option '--target' requires an argument (see: separatrix fit --help)\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb):
    text = run(verb, "--help").stdout
    assert "Examples:" in text
    assert f"separatrix {verb} " in text
    # Paragraphs are wrapped to the terminal, here of 80 columns; examples and lists are not.
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nonsense"], "there is no verb 'nonsense'"),
        (["pred"], "did you mean 'predict'"),
        (["fit"], "Missing argument"),
        (["fit", "demo:iris", "--nope"], "--nope"),
        (["fit", "demo:iris", "--model", "forest"], "--model"),
        (["fit", "rows.csv"], "--target"),
        (["fit", "rows.csv", "--target", "y", "--drop", "y"], "--drop"),
        (["fit", "demo:iris", "--C", "-1"], "--C"),
        (["fit", "demo:iris", "--C", "nan"], "--C"),
        (["fit", "demo:iris", "--l1-ratio", "2"], "--l1-ratio"),
        (["fit", "demo:iris", "--solver", "magic"], "newton"),
        (["fit", "demo:iris", "--tol", "-1"], "--tol"),
        (["fit", "demo:iris", "--max-iter", "-1"], "--max-iter"),
        (["fit", "demo:iris", "--test-size", "1"], "--test-size"),
        (["fit", "demo:iris", "--threads", "0"], "--threads"),
        (["fit", "demo:iris", "--class-weight", "heavy"], "--class-weight"),
        (["fit", "demo:iris", "--missing", "guess"], "--missing"),
        (["fit", "demo:iris", "--cv", "1"], "--cv"),
        (["fit", "rows.csv", "--target", "y", "--encoding", "klingon"], "--encoding"),
        (["fit", "demo:iris", "--cv", "151"], "--cv"),
        (["fit", "demo:iris", "--model", "perceptron", "--update", "now"], "--update"),
        (["fit", "demo:iris", "--out", "absent/m.json"], "--out"),
        (["fit", "demo:iris", "--out", "."], "--out"),
        (["fit", "demo:iris", "--report", "absent/r.html"], "--report"),
        (["predict", "m.json"], "DATA"),
        (["export", "m.json", "--to", "excel"], "--to"),
    ],
)
def test_wrong_usage(words, part):
    assert part in complaint(*words, code=2)


@pytest.mark.parametrize(
    ("words", "part", "stdin"),
    [
        (["fit", "absent.csv"], "no such file", None),
        (["fit", "demo:irs"], "demo:iris", None),
        (["fit", "demo:iris", "--target", "specie"], "'species'", None),
        (["fit", "demo:iris", "--schema", "absent.json"], "absent.json", None),
        (["fit", "-", "--target", "y"], "empty", ""),
        (["fit", "-", "--target", "y"], "no rows", "a,y\n"),
        (["fit", "-", "--target", "y"], "every row has the same label, 0", "a,y\n1,0\n2,0\n"),
        (["fit", "-", "--target", "y"], "row 2 is 1.5, a measurement", "a,y\n1,1\n2,1.5\n3,2\n"),
        (["fit", "-", "--target", "y"], "--drop name", "name,y\nAnn,0\nBob,1\n"),
        (["fit", "-", "--target", "y"], "is never closed", 'a,y\n1,"u\n2,v\n'),
    ],
)
def test_bad_data(words, part, stdin):
    assert part in complaint(*words, code=3, stdin=stdin)


def test_a_target_of_measurements(tmp_path):
    y = np.random.default_rng(0).normal(size=10_000)
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{k % 9},{value!r}\n" for k, value in enumerate(y.tolist())))
    assert "a measurement rather than a class" in complaint("fit", "t.csv", "--target", "y", code=3)
    counts = "".join(f"{k % 9},{k}\n" for k in range(10_000))
    (tmp_path / "t.csv").write_text("a,y\n" + counts)
    assert "10000 different labels in 10000 rows" in complaint("fit", "t.csv", "--target", "y", code=3)


def test_two_thousand_columns(tmp_path):
    rng = np.random.default_rng(1)
    X, names = rng.normal(size=(80, 2000)).round(3), [f"column_{j}" for j in range(2000)]
    lines = [",".join([*map(str, row), str(int(row[0] + row[1] > 0))]) for row in X.tolist()]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*names, "y"]), *lines]) + "\n")
    text = run("fit", "wide.csv", "--target", "y", "--out", "m.json").stdout
    assert "80 rows, 2000 columns" in text
    assert len(text.splitlines()) < 40
    assert "2000 numbers: column_0, column_1" in run("show", "m.json").stdout
    lacking = complaint("predict", "m.json", "rows.csv", code=3)
    assert "it lacks 2000 of the 2000 columns" in lacking
    assert len(lacking) < 2000


def test_a_third_of_the_values_missing(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 4)).round(3)
    y = (X[:, 0] > 0).astype(int).tolist()
    cells = np.where(rng.random(X.shape) < 0.3, "", X.astype(str))
    lines = [f"{','.join(row)},{label}\n" for row, label in zip(cells.tolist(), y, strict=True)]
    (tmp_path / "holes.csv").write_text("a,b,c,d,y\n" + "".join(lines))
    assert "values are missing in 200 rows" in complaint("fit", "holes.csv", "--target", "y", code=3)
    for how, part in (("impute", "filled with"), ("indicator", "filled and marked"), ("drop", "left out because")):
        done = run("fit", "holes.csv", "--target", "y", "--missing", how, "--out", "m.json")
        assert part in done.stdout
        assert len(run("predict", "m.json", "holes.csv").stdout.splitlines()) == 201


def test_latin_letters_and_quoted_lines(tmp_path):
    places, drinks = ("first\nsecond", "Mühle"), ("thé", "café", "café")
    rows = "".join(f'{k % 5},"{places[k % 2]}",{drinks[k % 3]}\n' for k in range(40))
    (tmp_path / "l.csv").write_bytes(f"größe,ort,y\n{rows}".encode("latin-1"))
    assert "--encoding" in complaint("fit", "l.csv", "--target", "y", code=3)
    text = run("fit", "l.csv", "--target", "y", "--encoding", "latin-1", "--out", "m.json").stdout
    assert "café (26 rows), thé (14 rows)" in text
    assert "first\\nsecond" in text
    assert len(run("predict", "m.json", "l.csv", "--encoding", "latin-1").stdout.splitlines()) == 41


def test_bad_model_files(tmp_path):
    assert "no such file" in complaint("show", "absent.json", code=4)
    assert "not JSON" in complaint("show", "rows.csv", code=4)
    run("fit", "demo:iris", "--out", "m.json")
    sound = (tmp_path / "m.json").read_bytes()
    (tmp_path / "m.json").write_bytes(sound.replace(b"virginica", b"virginicb", 1))
    for words in (["predict", "m.json", "demo:iris"], ["evaluate", "m.json", "demo:iris"], ["show", "m.json"]):
        assert "checksum" in complaint(*words, code=4)
    assert "checksum" in complaint("export", "m.json", "--to", "sql", code=4)


def test_the_lines_of_a_script_for_bash_are_bash():
    script = run("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
