"""predict: the library's answers, row by row, whatever the table looks like."""

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from separatrix import LinearDiscriminantAnalysis, LogisticRegression, OneVsRestClassifier, decision, load, save
from separatrix.classifiers import lacks_probabilities, model_file
from separatrix.tables.read_table import read_rows, read_table

from .running import OVERLAPPING, complaint, real, rows_of, run


def test_predict_writes_csv():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json", "--test-size", "0")
    table = read_table("rows.csv", "y")
    model = load("m.json")[-1]
    lines = rows_of(run("predict", "m.json", "rows.csv").stdout)
    assert lines[0] == ["prediction"]
    assert [label for [label] in lines[1:]] == model.predict(table.X).tolist()
    lines = rows_of(run("predict", "m.json", "rows.csv", "--proba", "--scores").stdout)
    assert lines[0] == ["prediction", "score", "P(no)", "P(yes)"]
    assert [float(line[1]) for line in lines[1:]] == model.decision_function(table.X).tolist()
    assert [[float(p) for p in line[2:]] for line in lines[1:]] == model.predict_proba(table.X).tolist()
    assert run("predict", "m.json", "rows.csv", "--out", "-").stdout == run("predict", "m.json", "rows.csv").stdout
    assert run("predict", "m.json", "rows.csv", "--out", "answers.csv").stdout == ""
    with open("answers.csv", newline="") as file:
        assert file.read() == run("predict", "m.json", "-", stdin=OVERLAPPING).stdout


def test_decisions_by_threshold_cost_and_prior():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json", "--test-size", "0")
    table = read_table("rows.csv", "y")
    p = load("m.json")[-1].predict_proba(table.X)[:, 1]

    def answers(*words):
        return [label for [label] in rows_of(run("predict", "m.json", "rows.csv", *words).stdout)[1:]]

    t = sorted(p)[20]
    assert answers("--threshold", str(float(t))) == ["yes" if one >= t else "no" for one in p]
    assert answers("--cost", "FP=1,FN=4") == ["yes" if one >= 0.2 else "no" for one in p]
    lines = rows_of(run("predict", "m.json", "rows.csv", "--prior", "no=0.8,yes=0.2", "--proba").stdout)
    shares = [(table.y == label).mean() for label in ("no", "yes")]
    moved = decision.reweighed([[1 - one, one] for one in p], shares, [0.8, 0.2])
    assert [float(line[2]) for line in lines[1:]] == pytest.approx(moved[:, 1].tolist(), rel=1e-9)
    assert [line[0] for line in lines[1:]] == ["yes" if one >= 0.5 else "no" for one in moved[:, 1]]
    found = json.loads(run("predict", "m.json", "rows.csv", "--threshold", "0", "--json").stdout)
    assert set(found["predictions"]) == {"yes"}
    assert "--threshold, --cost" in complaint(
        "predict", "m.json", "rows.csv", "--threshold", "0.2", "--cost", "FP=1,FN=4", code=2
    )


def test_a_prior_of_several_classes_and_weighted_ones():
    run("fit", "demo:iris", "--model", "lda", "--out", "lda.json", "--test-size", "0")
    words = ["--prior", "setosa=0.1,versicolor=0.3,virginica=0.6", "--proba", "--json"]
    found = json.loads(run("predict", "lda.json", "demo:iris", *words).stdout)
    table = read_table("demo:iris")
    other = LinearDiscriminantAnalysis(priors=[0.1, 0.3, 0.6]).fit(table.X, table.y)
    assert found["predictions"] == other.predict(table.X).tolist()
    np.testing.assert_allclose(found["probabilities"], other.predict_proba(table.X), rtol=1e-6, atol=1e-12)
    run("fit", "rows.csv", "--target", "y", "--class-weight", "balanced", "--out", "m.json", "--test-size", "0")
    rows = rows_of(run("predict", "m.json", "rows.csv", "--prior", "no=1,yes=1", "--proba").stdout)
    plain = rows_of(run("predict", "m.json", "rows.csv", "--proba").stdout)
    assert [float(row[2]) for row in rows[1:]] == pytest.approx([float(row[2]) for row in plain[1:]], rel=1e-9)


def test_decisions_need_probabilities_and_counts():
    run("fit", "demo:credit", "--model", "perceptron", "--pocket", "--out", "p.json", code=1)
    said = complaint("predict", "p.json", "demo:credit", "--threshold", "0.2", code=2)
    assert "--threshold: perceptron has scores but no probabilities" in said
    save(OneVsRestClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]), "rest.json")
    said = complaint("predict", "rest.json", "-", "--proba", stdin="a\n1\n", code=2)
    assert "--proba: one-versus-rest combines models of two classes and is not itself a model of P(class | x)" in said
    save(LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]), "own.json")
    said = complaint("predict", "own.json", "-", "--prior", "0=0.5,1=0.5", stdin="a\n1\n", code=2)
    assert "--prior: the model file does not hold the class counts of its fit" in said


def test_predict_as_json():
    run("fit", "demo:digits", "--out", "m.json", "--tol", "0.01")
    found = json.loads(run("predict", "m.json", "demo:digits", "--proba", "--scores", "--json").stdout)
    assert found["classes"] == list(range(10))
    assert len(found["predictions"]) == len(found["probabilities"]) == len(found["scores"]) == 1797
    assert set(found["predictions"]) <= set(range(10))


def test_columns_are_found_by_name(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    expected = run("predict", "m.json", "rows.csv", "--proba").stdout
    table = read_table("rows.csv", "y")
    columns = {"note": ["text"] * len(table.X), "b": table.X[:, 1], "a": table.X[:, 0].astype(int)}
    parquet.write_table(pa.table(columns), tmp_path / "turned.parquet")
    done = run("predict", "m.json", "turned.parquet", "--proba")
    assert done.stdout == expected
    assert done.stderr == "note: Not used, since the model has no such columns: 'note'.\n"
    assert "the model has no columns 'note'" in complaint("predict", "m.json", "turned.parquet", "--strict", code=3)
    (tmp_path / "lacking.csv").write_text("A,c\n1,2\n")
    assert "lacks 2 of the 2 columns of the model: 'a', 'b'" in complaint("predict", "m.json", "lacking.csv", code=3)


def test_names_in_other_quotation_marks_get_the_option_that_reads_them(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    (tmp_path / "quoted.csv").write_text("'a','b','y'\n'1','2','yes'\n'2','1','no'\n")
    lacking = complaint("predict", "m.json", "quoted.csv", code=3)
    assert 'its names are in quotation marks: give --quote "\'"' in lacking
    assert rows_of(run("predict", "m.json", "quoted.csv", "--quote", "'").stdout)[0] == ["prediction"]
    assert 'give --quote "\'"' in complaint("fit", "quoted.csv", "--target", "y", code=3)


def test_labels_are_quoted_and_survive(tmp_path):
    odd = ['say "x", twice', "two\nlines", "žluťoučký"]
    with (tmp_path / "odd.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a\nb", "y"], *[[i + (i % 4) * 2, odd[i % 3]] for i in range(30)]])
    text = run("fit", "odd.csv", "--target", "y", "--out", "m.json").stdout
    assert "a\\nb" in text
    lines = rows_of(run("predict", "m.json", "odd.csv", "--proba").stdout)
    assert lines[0] == ["prediction", *(f"P({label})" for label in sorted(odd))]
    assert {line[0] for line in lines[1:]} <= set(odd)
    assert len(lines) == 31
    assert "two\\nlines" in run("show", "m.json").stdout


def test_a_model_without_names_takes_columns_in_their_order():
    table = read_table("demo:iris")
    save(LogisticRegression().fit(table.X, table.y), "m.json")
    lines = rows_of(run("predict", "m.json", "demo:iris").stdout)
    assert [label for [label] in lines[1:]] == load("m.json").predict(table.X).tolist()
    assert run("predict", "m.json", "-", stdin="a,b,c,d\n5.1,3.5,1.4,0.2\n").stdout == "prediction\nsetosa\n"
    assert "has 2 columns" in complaint("predict", "m.json", "-", code=3, stdin="a,b\n1,2\n")
    assert "column 4" in run("show", "m.json").stdout


def test_dropped_rows_get_an_empty_answer(tmp_path):
    path = real(tmp_path, "penguins")
    run("fit", path, "--target", "species", "--missing", "drop", "--out", "m.json")
    done = run("predict", "m.json", path, "--proba")
    lines = rows_of(done.stdout)
    table = read_rows(path, model_file.read("m.json").encoder)
    assert len(lines) == 345
    empty = [k for k, line in enumerate(lines) if line[0] == ""]
    assert len(empty) == 11
    assert lines[empty[0]] == [""] * 4
    assert not set(empty) & set(table.rows.tolist())
    assert "11 of 344 rows are not predicted because a value is missing" in done.stderr
    assert done.stderr.count("344") == 1
    found = json.loads(run("predict", "m.json", path, "--proba", "--json").stdout)
    assert found["predictions"].count(None) == found["probabilities"].count(None) == 11
    nothing = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nDream,,,,,male,2007\n"
    assert rows_of(run("predict", "m.json", "-", stdin=nothing).stdout) == [["prediction"], [""]]


def test_levels_never_seen(tmp_path):
    path = real(tmp_path, "default")
    run("fit", path, "--target", "default", "--out", "m.json")
    new = "student,balance,income\nMaybe,2500,1\nNo,2500,1\n"
    done = run("predict", "m.json", "-", stdin=new)
    assert rows_of(done.stdout)[1:] == [["Yes"], ["Yes"]]
    assert "'student' has levels that no training row had, in 1 row" in done.stderr
    assert "'Maybe'" in complaint("predict", "m.json", "-", "--strict", code=3, stdin=new)
    run("fit", path, "--target", "default", "--strict", "--out", "m.json")
    assert "'Maybe'" in complaint("predict", "m.json", "-", code=3, stdin=new)
    done = complaint("predict", "m.json", "-", code=3, stdin="student,balance,income\nNo,,1\n")
    assert "1 value is missing in 1 row, by column: 'balance' 1" in done


@pytest.mark.parametrize("name", ["perceptron", "fisher", "one-versus-rest"])
def test_models_without_probabilities(name):
    run("fit", "demo:three-classes", "--model", name, "--out", "m.json")
    assert lacks_probabilities(name) in complaint("predict", "m.json", "demo:three-classes", "--proba", code=2)
    head = rows_of(run("predict", "m.json", "demo:three-classes", "--scores").stdout)[0]
    assert head == ["prediction", "score(1)", "score(2)", "score(3)"]


@pytest.mark.parametrize("label", ["=cmd|' /C calc'!A0", "@SUM(A1)", "+cmd|x", "-2+3"])
def test_labels_that_a_spreadsheet_would_run_are_told(tmp_path, label):
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    table.write_text("a,y\n" + "".join(f'{i % 5},"{label if i % 2 else "plain"}"\n' for i in range(20)))
    run("fit", table, "--target", "y", "--out", model)
    done = run("predict", model, table)
    assert "A spreadsheet takes" in done.stderr
    assert label in done.stderr
    assert {row[0] for row in rows_of(done.stdout)[1:]} <= {label, "plain"}  # as they are, for programs
    assert "A spreadsheet takes" not in run("predict", model, table, "--json").stderr


@pytest.mark.parametrize("label", ["-1", "+1.5", "+", "a=b"])
def test_labels_that_a_spreadsheet_reads_as_they_are(tmp_path, label):
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    table.write_text("a,y\n" + "".join(f'{i % 5},"{label if i % 2 else "plain"}"\n' for i in range(20)))
    run("fit", table, "--target", "y", "--out", model)
    assert "A spreadsheet takes" not in run("predict", model, table).stderr
