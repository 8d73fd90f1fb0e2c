"""show and export: what a model file holds, what changed, what it is elsewhere."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, save
from separatrix.classifiers import model_file
from separatrix.cli.export import DIALECTS
from separatrix.cli.show import PACKAGES
from separatrix.output import sql as dialects
from separatrix.output.other_packages import PACKAGES as KNOWN
from separatrix.output.other_packages import as_settings
from separatrix.tables.read_table import read_table

from .running import complaint, real, run


def test_show_gives_every_weight():
    run("fit", "demo:iris", "--out", "m.json")
    text = run("show", "m.json").stdout
    for part in (
        "logistic (logistic regression), written by separatrix",
        "species",
        "4 numbers: sepal length (cm), sepal width (cm)",
        "missing values are refused",
        "status:",
        "demo:iris: 150 rows, 111 fitted, 39 held out (seed 0)",
        "setosa (50 rows), versicolor (50 rows), virginica (50 rows)",
        "intercept",
        "petal width (cm)",
    ):
        assert part in text
    assert json.loads(run("show", "m.json", "--json").stdout) == model_file.read("m.json").content()


def test_show_says_how_categories_are_coded(tmp_path):
    run("fit", real(tmp_path, "penguins"), "--target", "species", "--missing", "indicator", "--out", "m.json")
    text = run("show", "m.json").stdout
    for part in (
        "island: Dream, Torgersen, each against Biscoe",
        "missing numbers are filled with the training means and marked; in a category, missing is a level; "
        "levels that no training row had are encoded as the training average",
        "sex=missing",
    ):
        assert part in text


def test_show_says_the_unit_of_dates_and_of_a_single_level(tmp_path):
    table = tmp_path / "dates.csv"
    rows = (f"2024-01-{1 + i:02},{'fm'[i % 2]},{'yes' if i * i % 7 > 2 else 'no'}" for i in range(28))
    table.write_text("\n".join(["since,sex,y", *rows]))
    run("fit", table, "--target", "y", "--out", "m.json")
    text = run("show", "m.json").stdout
    assert "1 date, in days since 1970-01-01: since\n" in text
    assert "sex: m against f\n" in text


def test_what_changed():
    for C in ("1", "0.1"):
        run("fit", "rows.csv", "--target", "y", "--C", C, "--out", f"m{C}.json")
    text = run("show", "m1.json", "m0.1.json").stdout
    assert "setting C" in text
    assert "1 -> 0.1" in text
    assert "weight of a" in text
    found = json.loads(run("show", "m1.json", "m0.1.json", "--json").stdout)
    assert {"what": "setting C", "before": 1.0, "after": 0.1} in found["changes"]
    assert json.loads(run("show", "m1.json", "m1.json", "--json").stdout) == {"changes": []}
    assert "nothing changed" in run("show", "m1.json", "m1.json").stdout


def test_what_one_kind_of_model_has_and_another_lacks_is_none():
    run("fit", "rows.csv", "--target", "y", "--out", "linear.json")
    run("fit", "rows.csv", "--target", "y", "--model", "qda", "--out", "curved.json")
    for names, there, absent in ((("linear", "curved"), -2, -3), (("curved", "linear"), -3, -2)):
        lines = run("show", *(f"{name}.json" for name in names)).stdout.splitlines()
        mean = next(line.split() for line in lines if line.startswith("  mean of a"))
        assert (mean[absent], mean[-1]) == ("none", "none")
        assert float(mean[there]) > 0


def test_two_different_models_are_told_apart_in_one_line(tmp_path):
    run("fit", "demo:iris", "--out", "flowers.json")
    run("fit", real(tmp_path, "default"), "--target", "default", "--model", "lda", "--standardise", "--out", "m.json")
    first, *rest = run("show", "flowers.json", "m.json").stdout.splitlines()
    assert first == "two different models: logistic and lda; 4 columns and 3, none in common"
    assert any(line.split() == ["columns", "kept", "none"] for line in rest)
    assert len(rest) <= 20
    assert any("differences more: see --json" in line for line in rest)
    whole = json.loads(run("show", "flowers.json", "m.json", "--json").stdout)["changes"]
    assert len(whole) > 40


def test_the_same_kind_of_model_of_the_same_columns_is_not_called_different():
    for C in ("1", "0.1"):
        run("fit", "rows.csv", "--target", "y", "--C", C, "--out", f"m{C}.json")
    assert "two different models" not in run("show", "m1.json", "m0.1.json").stdout


def test_levels_with_marks_of_a_list_are_quoted(tmp_path):
    levels = ["CZ", "Zlín", '"O\'Hara, Praha"']
    text = "".join(
        f"{levels[i % 4 // 2 + i % 4 // 3]},{i * i % 7},{'no' if i * i % 5 > 1 else 'yes'}\n" for i in range(60)
    )
    (tmp_path / "t.csv").write_text(f"town,a,y\n{text}")
    assert "coding" in run("fit", "t.csv", "--target", "y", "--out", "m.json").stdout
    assert """town: "O'Hara, Praha", Zlín, each against CZ""" in run("show", "m.json").stdout


def test_a_model_from_standard_input():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    with open("m.json", "rb") as file:
        content = file.read()
    assert run("show", "-", stdin=content).stdout == run("show", "m.json").stdout
    assert "nothing changed" in run("show", "m.json", "-", stdin=content).stdout
    assert run("predict", "-", "rows.csv", stdin=content).stdout == run("predict", "m.json", "rows.csv").stdout
    for words in (("show", "-", "-"), ("predict", "-", "-")):
        assert "-: it is given for two arguments" in complaint(*words, code=2, stdin=content)
    assert "standard input: it is empty" in complaint("show", "-", code=4, stdin=b"")


def test_settings_elsewhere():
    assert tuple(KNOWN) == PACKAGES
    run("fit", "rows.csv", "--target", "y", "--C", "2", "--l1-ratio", "0.5", "--out", "m.json", "--test-size", "0")
    expected = as_settings(2.0, 0.5, 60)
    assert run("show", "m.json", "--as", "glmnet").stdout == expected["glmnet"].code + "\n"
    assert json.loads(run("show", "m.json", "--as", "sklearn", "--json").stdout) == vars(expected["sklearn"])
    refused = run("show", "m.json", "--as", "liblinear").stdout
    assert refused.startswith("liblinear: there is no equivalent fit: ")
    assert "nothing between them" in refused
    run("fit", "rows.csv", "--target", "y", "--model", "lda", "--out", "lda.json")
    assert "the model is lda" in complaint("show", "lda.json", "--as", "glmnet", code=2)
    run("fit", "rows.csv", "--target", "y", "--bias-reduction", "firth", "--out", "firth.json")
    assert "--bias-reduction firth" in complaint("show", "firth.json", "--as", "glmnet", code=2)
    assert "two models" in complaint("show", "m.json", "lda.json", "--as", "glmnet", code=2)


def test_settings_elsewhere_leave_nothing_out():
    run("fit", "rows.csv", "--target", "y", "--class-weight", "balanced", "--out", "m.json", "--test-size", "0")
    table = read_table("rows.csv", "y")
    n, held = len(table.y), {label: int(np.sum(table.y == label)) for label in ("no", "yes")}
    factors = {label: n / (2 * count) for label, count in held.items()}
    assert factors["no"] != factors["yes"]
    expected = as_settings(1.0, 0.0, n, classes=["no", "yes"], class_weight=factors)
    for package in PACKAGES:
        done = run("show", "m.json", "--as", package)
        assert done.stdout == expected[package].code + "\n"
        assert repr(factors["yes"]) in done.stdout, package
        assert done.stderr.strip("()\n") == expected[package].note
    own = {"class_weight": {"no": 2.0, "yes": 1.0}, "penalty_factors": [0.5, 2.0]}
    save(LogisticRegression(**own).fit(table.X, table.y, offset=np.ones(n)), "own.json")
    done = run("show", "own.json", "--as", "glmnet")
    assert done.stdout == as_settings(1.0, 0.0, n, classes=["no", "yes"], **own)["glmnet"].code + "\n"
    assert "penalty.factor = c(0.5, 2.0)" in done.stdout
    assert "sample weights and an offset" in done.stderr
    assert "one strength for all columns" in run("show", "own.json", "--as", "sklearn").stdout
    run("fit", "rows.csv", "--target", "y", "--standardise", "--out", "units.json")
    assert "standardised first" in run("show", "units.json", "--as", "sklearn").stderr
    assert "standardised first" in json.loads(run("show", "units.json", "--as", "sklearn", "--json").stdout)["note"]


def _standardised_as_the_note_says(note, X, names):
    """X with the columns standardised that the note lists, or all but those that it excepts."""
    told = note.partition("standardised first: ")[2]
    head, _, listed = told.partition("stay as they are: ")
    known = set(listed.split(", "))
    kept = ~np.isin(names, [*known]) if "except these" in head or not listed else np.isin(names, [*known])
    assert not listed or known <= set(names)
    return np.where(kept, (X - X.mean(axis=0)) / X.std(axis=0), X)


@pytest.mark.parametrize("all_columns", [False, True])
def test_the_note_on_standardised_columns_gives_the_same_fit_with_scikit_learn(tmp_path, all_columns):
    path = real(tmp_path, "default")
    run("fit", path, "--target", "default", "--standardise", "--C", "0.01", "--test-size", "0", "--out", "m.json")
    table = read_table(path, "default")
    if all_columns:
        save(make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(table.X, table.y), "m.json")
    known = model_file.read("m.json")
    for package in PACKAGES:
        note = json.loads(run("show", "m.json", "--as", package, "--json").stdout)["note"]
        note = note.partition("; sample weights")[0]
        X = _standardised_as_the_note_says(note, table.X, table.names)
        fitted = Theirs(C=0.01, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, table.y)
        expected = known.scorer.probabilities(known.scaling.apply(table.X))
        assert np.abs(fitted.predict_proba(X) - expected).max() < 1e-6, package


def test_sql_answers_as_predict_does(tmp_path):
    assert set(DIALECTS) == set(dialects.DIALECTS)
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    query = run("export", "m.json", "--to", "sql", "--dialect", "sqlite", "--table", "people").stdout
    table = read_table("rows.csv", "y")
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE people (a REAL, b REAL)")
        base.executemany("INSERT INTO people VALUES (?, ?)", table.X.tolist())
        labels = [row[-1] for row in base.execute(query)]
    base.close()
    assert labels == run("predict", "m.json", "rows.csv").stdout.split()[1:]
    written = run("export", "m.json", "--to", "sql", "--out", "m.sql")
    assert (written.stdout, written.stderr) == ("", "written: m.sql\n")
    assert (tmp_path / "m.sql").read_text() == run("export", "m.json", "--to", "sql").stdout


def test_python_answers_as_predict_does(tmp_path):
    path = real(tmp_path, "default")
    run("fit", path, "--target", "default", "--out", "m.json")
    run("export", "m.json", "--to", "python", "--out", "score.py")
    few = (tmp_path / "default.csv").read_text().splitlines(keepends=True)[:50]
    done = subprocess.run(
        [sys.executable, "score.py"], input="".join(few), capture_output=True, text=True, check=True, cwd=tmp_path
    )
    (tmp_path / "few.csv").write_text("".join(few))
    assert done.stdout.split() == run("predict", "m.json", "few.csv").stdout.split()[1:]


def test_onnx_answers_as_predict_does():
    onnxruntime = pytest.importorskip("onnxruntime")
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    content = run("export", "m.json", "--to", "onnx").stdout_bytes
    session = onnxruntime.InferenceSession(content)
    table = read_table("rows.csv", "y")
    given = {one.name: np.ascontiguousarray(table.X[:, [k]]) for k, one in enumerate(session.get_inputs())}
    labels = session.run(["label"], given)[0]
    assert labels.ravel().tolist() == run("predict", "m.json", "rows.csv").stdout.split()[1:]


def test_options_of_sql_alone():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    assert "python has no such option" in complaint("export", "m.json", "--to", "python", "--table", "x", code=2)
    assert "--to" in complaint("export", "m.json", code=2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert "_SEPARATRIX_COMPLETE" in run("completion", shell).stdout
