"""evaluate: figures that scikit-learn finds as well."""

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from sklearn import metrics
from sklearn.datasets import load_iris

from separatrix import save
from separatrix.classifiers import LogisticRegression, model_file
from separatrix.core.rows.hold_out import row_hashes
from separatrix.statistics.intervals import wilson
from separatrix.tables.read_table import read_rows, read_table

from .running import OVERLAPPING, complaint, real, run


def test_pima(tmp_path):
    """MASS's Pima.tr and Pima.te: fitted on the one, 66 of the 332 rows of the other are wrong, as in tests/tables."""
    train, test = real(tmp_path, "pima_tr"), real(tmp_path, "pima_te", "parquet")
    run("fit", train, "--target", "type", "--C", "inf", "--test-size", "0", "--out", "m.json")
    text = run("evaluate", "m.json", test).stdout
    for part in (
        "fitted on pima_tr.csv (200 rows)",
        "66 of 332 rows wrong",
        "always No: 0.672",
        "No   200   23  223",
        "Yes   43   66  109",
    ):
        assert part in text
    found = json.loads(run("evaluate", "m.json", test, "--json").stdout)
    kept = model_file.read("m.json")
    rows = read_rows(test, kept.encoder, target="type", labelled=True)
    P = kept.scorer.probabilities(rows.X)
    positive = rows.y == "Yes"
    assert found["mistakes"] == 66
    assert found["accuracy_interval"] == pytest.approx([float(end) for end in wilson(266, 332)])
    assert found["log_loss"] == pytest.approx(metrics.log_loss(positive, P[:, 1]))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(positive, P[:, 1]))
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(positive, P[:, 1]))
    assert found["confusion"] == metrics.confusion_matrix(rows.y, kept.scorer.predict(rows.X)).tolist()
    assert found["auc_interval"][0] < found["auc"] < found["auc_interval"][1]


@pytest.fixture
def pima(tmp_path):
    """A model of Pima.tr, the file of Pima.te, its labels, and P(Yes) of its rows."""
    train, test = real(tmp_path, "pima_tr"), real(tmp_path, "pima_te", "parquet")
    run("fit", train, "--target", "type", "--C", "inf", "--test-size", "0", "--out", "m.json")
    kept = model_file.read("m.json")
    rows = read_rows(test, kept.encoder, target="type", labelled=True)
    return test, rows.y == "Yes", kept.scorer.probabilities(rows.X)[:, 1]


def test_figures_by_class(pima):
    test, positive, p = pima
    found = json.loads(run("evaluate", "m.json", test, "--json").stdout)["by_class"]
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(positive, p >= 0.5)
    assert [one["label"] for one in found] == ["No", "Yes"]
    assert [one["precision"] for one in found] == pytest.approx(precision)
    assert [one["recall"] for one in found] == pytest.approx(recall)
    assert [one["f1"] for one in found] == pytest.approx(f1)
    assert found[1]["lift"] == pytest.approx(precision[1] / positive.mean())
    text = run("evaluate", "m.json", test).stdout
    assert "precision" in text
    assert f"{recall[1]:.3f}" in text
    for name in ("precision", "recall", "f1", "lift"):
        low, high = found[1][f"{name}_interval"]
        assert low < found[1][name] < high
        assert f"{low:.2f}–{high:.2f}" in text


def test_costs_and_thresholds(pima):
    test, positive, p = pima
    told = json.loads(run("evaluate", "m.json", test, "--cost", "FP=1,FN=5", "--json").stdout)
    wrong = (p >= 1 / 6) != positive
    assert told["mistakes"] == int(wrong.sum())
    assert told["threshold"] == told["cost"]["threshold"] == pytest.approx(1 / 6)
    assert told["cost"]["mean"] == pytest.approx((1 * (wrong & ~positive).sum() + 5 * (wrong & positive).sum()) / 332)
    assert told["cost"]["interval"][0] < told["cost"]["mean"] < told["cost"]["interval"][1]
    assert told["cost"]["best_mean"] <= told["cost"]["mean"]
    at = json.loads(run("evaluate", "m.json", test, "--cost", "FP=1,FN=5", "--threshold", "0.4", "--json").stdout)
    assert at["mistakes"] == int(((p >= 0.4) != positive).sum())
    assert at["cost"]["best_threshold"] == told["cost"]["best_threshold"]
    text = run("evaluate", "m.json", test, "--cost", "FN=5,FP=1").stdout
    assert f"cost:      {told['cost']['mean']:.4g} per row" in text
    assert "if P(Yes) ≥ 0.1667" in " ".join(text.split())


def test_a_prior_corrects_the_probabilities(pima):
    test, positive, p = pima
    found = json.loads(run("evaluate", "m.json", test, "--prior", "No=0.9,Yes=0.1", "--json").stdout)
    odds = p / (1 - p) * (0.1 / 0.9) / (68 / 132)  # MASS's Pima.tr has 68 women with diabetes of 200
    assert found["log_loss"] == pytest.approx(metrics.log_loss(positive, odds / (1 + odds)))
    assert found["mistakes"] == int(((odds >= 1) != positive).sum())
    assert found["prior"] == {"No": 0.9, "Yes": 0.1}
    bins = metrics.brier_score_loss(positive, odds / (1 + odds))
    assert found["brier"] == pytest.approx(bins)


@pytest.mark.usefixtures("undrawn")
def test_a_report_has_the_costs(pima, tmp_path):
    words = ["evaluate", "m.json", pima[0], "--cost", "FP=1,FN=5"]
    report = ["--report", "r.html", "--fitted-on", real(tmp_path, "pima_tr")]
    cost = json.loads(run(*words, *report, "--json").stdout)["cost"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    low, high = cost["interval"]
    assert "Threshold and costs" in page
    assert f"{cost['mean']:.4g} ({low:.4g} to {high:.4g})" in page


@pytest.mark.usefixtures("undrawn")
def test_decisions_that_are_refused(pima):
    test = pima[0]
    for words, said in (
        (["--threshold", "2"], "--threshold"),
        (["--cost", "FP=1"], "--cost: got 'FP=1'"),
        (["--cost", "FP=1,FN=x"], "--cost: got 'FP=1,FN=x'"),
        (["--cost", "FP=-1,FN=2"], "--cost: FP is -1.0"),
        (["--prior", "No=1"], "--prior: it names ['No']"),
        (["--prior", "No=0.5,Maybe=0.5"], "--prior: it names ['No', 'Maybe']"),
        (["--prior", "half"], "--prior: got 'half'"),
        (["--threshold", "0.3", "--report", "r.html", "--fitted-on", test], "--report: "),
        (["--prior", "No=0.5,Yes=0.5", "--report", "r.html", "--fitted-on", test], "--report: "),
    ):
        assert said in complaint("evaluate", "m.json", test, *words, code=2)
    run("fit", "demo:iris", "--out", "three.json")
    said = complaint("evaluate", "three.json", "demo:iris", "--threshold", "0.3", code=2)
    assert said.endswith("--threshold: it is for two classes, and the model has 3; leave it out.\n")


def test_several_classes(tmp_path):
    path = real(tmp_path, "penguins")
    run("fit", path, "--target", "species", "--missing", "impute", "--model", "lda", "--out", "m.json")
    done = run("evaluate", "m.json", path)
    assert "the mean of each class against the rest" in done.stdout
    assert "fitted on a table of this name" in done.stderr
    found = json.loads(run("evaluate", "m.json", path, "--json").stdout)
    kept = model_file.read("m.json")
    rows = read_rows(path, kept.encoder, target="species", labelled=True)
    P = kept.scorer.probabilities(rows.X)
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(rows.y, P, multi_class="ovr"), abs=1e-3)


def test_without_probabilities():
    run("fit", "demo:credit", "--model", "perceptron", "--pocket", "--out", "m.json", code=1)
    found = json.loads(run("evaluate", "m.json", "demo:credit", "--json").stdout)
    assert found["log_loss"] is found["brier"] is found["calibration_error"] is None
    text = run("evaluate", "m.json", "demo:credit").stdout
    assert "log loss" not in text
    assert "ROC area" in text
    for words in (["--threshold", "0.2"], ["--cost", "FP=1,FN=5"], ["--prior", "No=0.5,Yes=0.5"]):
        said = complaint("evaluate", "m.json", "demo:credit", *words, code=2)
        assert f"{words[0]}: perceptron has scores but no probabilities" in said


@pytest.mark.usefixtures("undrawn")
def test_outputs_that_are_no_probabilities_are_counted():  # docs/tour.md, S3
    said = run("fit", "demo:iris", "--model", "least-squares", "--out", "m.json", "--report", "r.html").stdout
    kept = model_file.read("m.json").estimator()
    X, _ = load_iris(return_X_y=True)
    outside = kept.outside_unit_interval(X)
    text = run("evaluate", "m.json", "demo:iris").stdout
    assert f"outputs:   outside [0, 1] on {len(outside.rows)} of 150 rows: no probabilities" in text
    found = json.loads(run("evaluate", "m.json", "demo:iris", "--json").stdout)
    assert found["outputs_outside_unit_interval"] == len(outside.rows) > 0
    fitted = kept.certificate_.facts["outputs"]
    assert "of 111 rows" in fitted
    assert f"outputs:   {fitted}" in said
    assert f"outputs:   {fitted}" in run("show", "m.json").stdout
    assert fitted in Path("r.html").read_text()


def test_labels_must_be_known(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    (tmp_path / "strange.csv").write_text("a,b,y\n1,2,yes\n1,2,perhaps\n3,4,never\n")
    text = complaint("evaluate", "m.json", "strange.csv", code=3)
    assert "target column 'y': row 2 has the label 'perhaps', which the model does not know (and 1 more row)" in text
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n")
    assert "no column 'y'" in complaint("evaluate", "m.json", "bare.csv", code=3)
    (tmp_path / "renamed.csv").write_text("a,b,answer\n1,2,yes\n")
    assert "accuracy" in run("evaluate", "m.json", "renamed.csv", "--target", "answer").stdout


def test_models_of_the_library_know_no_counts():
    table = read_table("demo:credit")
    save(LogisticRegression().fit(table.X, table.y), "m.json")
    assert "always no: 0.500" in run("evaluate", "m.json", "demo:credit").stdout


@pytest.mark.usefixtures("undrawn")
def test_report_finds_the_fitted_rows_again(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json", "--seed", "4")
    run("evaluate", "m.json", "rows.csv", "--report", "r.html", "--fitted-on", "rows.csv")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "it holds: objective" in page
    assert "--fitted-on" in complaint("evaluate", "m.json", "rows.csv", "--report", "r.html", code=2)


@pytest.mark.usefixtures("undrawn")
def test_other_rows_than_the_fits_fail_the_check(tmp_path):
    train, test = real(tmp_path, "pima_tr"), real(tmp_path, "pima_te")
    run("fit", train, "--target", "type", "--C", "inf", "--test-size", "0", "--out", "m.json")
    run("evaluate", "m.json", test, "--report", "r.html", "--fitted-on", train)
    done = run("evaluate", "m.json", test, "--report", "wrong.html", "--fitted-on", test, code=1)
    assert "the certificate does not hold on the 332 rows of" in done.stderr
    assert "they are not the 200 rows of the fit" in done.stderr
    assert done.stderr.count("\n") == 1
    page = (tmp_path / "wrong.html").read_text(encoding="utf-8")
    assert "Its certificate does not hold on the 332 rows" in page
    assert "proven optimal" not in page
    assert "proven optimal" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("missing", ["impute", "indicator", "drop"])
def test_a_report_checks_the_table_it_is_on(tmp_path, missing):
    path = real(tmp_path, "penguins")
    run("fit", path, "--target", "species", "--missing", missing, "--out", "m.json")
    run("evaluate", "m.json", path, "--report", "r.html", "--fitted-on", path)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    checks = page[page.index('<section id="checks">') : page.index('<section id="settings">')]
    assert "No value is missing" not in checks
    told = "11 rows of 344" if missing == "drop" else "&#x27;sex&#x27; 11 (3.2 %)"
    assert told in checks


def test_a_sparse_model_is_measured_without_warnings(tmp_path):
    rows = "".join(f"{'+1' if (k * k) % 11 > 4 else '-1'} 1:{k % 7} {2 + k % 5}:1\n" for k in range(60))
    (tmp_path / "s.libsvm").write_text(rows)
    run("fit", "s.libsvm", "--out", "m.json")
    (tmp_path / "other.libsvm").write_text(rows)
    assert run("evaluate", "m.json", "other.libsvm").stderr == ""


def test_a_column_of_the_model_is_no_label(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{k},{k % 3},{'ny'[k % 2]}\n" for k in range(40)))
    run("fit", "t.csv", "--target", "y", "--out", "m.json")
    assert "'b' is a column that the model reads" in complaint("evaluate", "m.json", "t.csv", "--target", "b", code=2)


def test_labels_are_read_as_the_models_are(tmp_path):
    rows = "".join(f"{k},{'12A'[k % 3]}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    (tmp_path / "few.csv").write_text("a,y\n1,1\n2,2\n3,1\n")  # by itself a file of whole numbers
    run("fit", "t.csv", "--target", "y", "--out", "m.json")
    assert "3 rows" in run("evaluate", "m.json", "few.csv").stdout


@pytest.mark.usefixtures("undrawn")
def test_rows_without_a_label_are_left_out_as_by_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = OVERLAPPING.splitlines()
    holes = [line.rsplit(",", 1)[0] + "," + "?" * (k % 4 == 1) if k % 6 == 5 else line for k, line in enumerate(lines)]
    (tmp_path / "holes.csv").write_text("\n".join(holes) + "\n")
    (tmp_path / "full.csv").write_text("\n".join(line for k, line in enumerate(lines) if k % 6 != 5) + "\n")
    run("fit", "holes.csv", "--target", "y", "--missing", "impute", "--test-size", "0", "--out", "m.json")
    done = run("evaluate", "m.json", "holes.csv", "--json", "--report", "r.html", "--fitted-on", "holes.csv")
    assert "10 rows without a label are left out (some read '?')." in done.stderr
    full = run("evaluate", "m.json", "full.csv", "--json")
    assert json.loads(done.stdout)["confusion"] == json.loads(full.stdout)["confusion"]
    (tmp_path / "none.csv").write_text("a,b,y\n1,2,\n3,4,NA\n")
    assert "no row has a label" in complaint("evaluate", "m.json", "none.csv", code=3)


@pytest.mark.usefixtures("undrawn")
def test_the_report_counts_the_missing_values_of_labelled_rows_only(tmp_path):
    rows = [
        f"{'' if k in (3, 7, 8) else k % 7},{k % 5},{'' if k in (7, 8) else 'ny'[k * k % 11 > 4]}" for k in range(60)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows, ""]))
    run("fit", "t.csv", "--target", "y", "--missing", "impute", "--test-size", "0", "--out", "m.json")
    run("evaluate", "m.json", "t.csv", "--report", "r.html", "--fitted-on", "t.csv")
    page = unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "In 'a' 1 (1.7 %), of 58 rows." in page


@pytest.mark.parametrize("memory", [[], ["--memory", "1KB"]])
def test_the_rows_that_the_fit_held_out(tmp_path, monkeypatch, memory):
    """The figures are those of the fit, wherever it read the rows, and of a program that has only the model file."""
    monkeypatch.setattr("separatrix.tables.batches.smallest_memory", lambda n_columns: 0)
    path = real(tmp_path, "penguins")
    words = ("fit", path, "--target", "species", "--missing", "drop", "--seed", "4", "--test-size", "0.3", "--json")
    fitted = json.loads(run(*words, *memory, "--out", "m.json").stdout)["held_out"]
    found = json.loads(run("evaluate", "m.json", path, "--held-out", "--json").stdout)
    assert found["rows"] == fitted["rows"]
    assert found["mistakes"] == fitted["mistakes"]
    assert found["log_loss"] == pytest.approx(fitted["log_loss"], rel=1e-6)
    training, table = model_file.read("m.json").training, read_table(path, "species", missing="drop")
    assert (training["held_out_rule"], training["test_size"], training["seed"]) == ("splitmix64", 0.3, 4)
    limits = dict(zip(found["classes"], training["held_out_thresholds"], strict=True))
    pairs = zip(table.rows.tolist(), table.y.tolist(), strict=True)
    held = [int(row_hashes(row - 1, 1, seed=4, stream=2)[0]) < int(limits[label], 16) for row, label in pairs]
    assert sum(held) == found["rows"]


def test_rows_held_out_that_cannot_be_found_again():
    run("fit", "rows.csv", "--target", "y", "--test-size", "0", "--out", "all.json")
    assert "the fit held no rows out" in complaint("evaluate", "all.json", "rows.csv", "--held-out", code=2)
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    Path("fewer.csv").write_text("".join(Path("rows.csv").read_text().splitlines(keepends=True)[:-1]))
    assert "other numbers of rows" in complaint("evaluate", "m.json", "fewer.csv", "--held-out", code=2)
    known = model_file.read("m.json")
    lacking = {key: value for key, value in known.training.items() if key != "held_out_thresholds"}
    model_file.write(replace(known, training=lacking), "old.json")
    assert "does not say which rows" in complaint("evaluate", "old.json", "rows.csv", "--held-out", code=2)
    report = ("--report", "r.html", "--fitted-on", "rows.csv")
    assert "--fitted-on: the model file" in complaint("evaluate", "old.json", "rows.csv", *report, code=2)
