"""fit: the library's own fits, told for people and for programs, and written down."""

import json
import re

import numpy as np
import pytest

from separatrix import LogisticRegression, errors, load
from separatrix.classifiers import CLASSIFIERS, OFFERED, describe, hyperparameters, model_file
from separatrix.cli.classifier_options import options, settings, unfitted
from separatrix.core.base.codec import plain
from separatrix.core.rows.hold_out import held_out, stratified_folds
from separatrix.core.solvers.registry import SOLVERS
from separatrix.tables.read_table import read_table

from .running import OVERLAPPING, complaint, real, run

# Parameters that are taken for scikit-learn's sake and change nothing, so the shell does not offer them. The penalty of
# the logistic regression is another word for its l1_ratio, and linear-svc has only one.
WITHOUT_EFFECT = {
    **{name: {"solver", "tol"} for name in ("lda", "qda")},
    "logistic": {"penalty"},
    "linear-svc": {"penalty"},
    "perceptron": {"l1_ratio", "tol"},
}


def test_the_help_names_all_that_is_registered():
    text = "".join(run("fit", "-h").stdout.split())  # a line may end behind the hyphen of a name
    assert all(name in text for name in (*SOLVERS, *OFFERED, *(options()[name] for name in settings())))


@pytest.mark.parametrize("name", OFFERED)
def test_a_model_has_every_option_that_sets_one_of_its_parameters(name):
    has = set(CLASSIFIERS[name]().get_params(deep=False)) - WITHOUT_EFFECT.get(name, set())
    assert set(hyperparameters(name)) == has & set(settings())


def test_every_option_sets_a_parameter_or_is_refused():
    for setting, having in settings().items():
        for name, one in having.items():
            value = not one.default if one.kind == "switch" else object()
            made = unfitted(name, None, 0, {setting: True if one.kind == "switch" else value})
            assert getattr(made, setting) is value
        for name in [name for name in OFFERED if name not in having and not describe(name).parts]:
            with pytest.raises(errors.ParameterError, match=f"{options()[setting]}: {name} has no such setting"):
                unfitted(name, None, 0, {setting: True})


def test_fit_accounts_for_itself():
    text = run("fit", "demo:breast-cancer", "--out", "model.json").stdout
    for part in (
        "569 rows, 30 columns; predicting 'diagnosis'",
        "benign (357 rows), malignant (212 rows)",
        "427 rows fitted, 142 held out",
        "status:    optimal",
        "gap:       at most",
        "held out:  accuracy 0.9",
        "with 95 % confidence",
        "always benign: 0.6",
        "class frequencies alone",
        "separatrix predict model.json demo:breast-cancer",
    ):
        assert part in text


def test_fit_as_json_and_the_file_agree():
    found = json.loads(run("fit", "demo:wine", "--json", "--out", "wine.json").stdout, parse_constant=pytest.fail)
    kept = model_file.read("wine.json")
    model = kept.estimator()
    assert found["weights"]["coef"] == model.coef_.tolist()
    assert found["certificate"] == model.certificate_.to_dict()
    assert (found["model"], found["classifier"]) == ("wine.json", "logistic")
    assert (kept.target, kept.training["source"]) == ("cultivator", "demo:wine")
    assert kept.training["held_out_accuracy"] == found["held_out"]["accuracy"]
    assert plain(kept.encoder) == found["data"]["encoder"]
    assert sum(kept.training["class_counts_fitted"]) == found["split"]["rows_fitted"]
    assert found["held_out"]["log_loss"] < found["held_out"]["null_log_loss"]
    assert found["held_out"]["log_loss_bits"] == pytest.approx(found["held_out"]["log_loss"] / np.log(2))


def test_the_written_certificate_verifies_on_the_fitted_rows():
    run("fit", "demo:iris", "--out", "iris.json", "--seed", "5", "--test-size", "0.3")
    table = read_table("demo:iris")
    classes, codes = np.unique(table.y, return_inverse=True)
    rows = np.arange(len(codes))
    fitted = ~held_out(codes, rows, 0.3, 5).held(codes, rows)
    assert model_file.read("iris.json").certificate.verify(table.X[fitted], classes[codes[fitted]])


def test_the_command_line_fits_what_the_library_fits():
    settings = ["--C", "0.3", "--no-intercept", "--class-weight", "balanced", "--solver", "lbfgs", "--tol", "1e-6"]
    run("fit", "rows.csv", "--target", "y", "--drop", "b", "--test-size", "0", *settings, "--out", "m.json")
    table = read_table("rows.csv", "y", ["b"])
    model = LogisticRegression(C=0.3, fit_intercept=False, class_weight="balanced", solver="lbfgs", tol=1e-6)
    assert model_file.read("m.json").estimator().coef_.tobytes() == model.fit(table.X, table.y).coef_.tobytes()


@pytest.mark.parametrize("name", OFFERED)
def test_every_model(name):
    done = run("fit", "demo:three-classes", "--model", name, "--out", "m.json", "--test-size", "0")
    table = read_table("demo:three-classes")
    model = unfitted(name, None, 0, {}).fit(table.X, table.y)
    assert "status:" in done.stdout
    answers = run("predict", "m.json", "demo:three-classes").stdout.split()[1:]
    assert [int(label) for label in answers] == model.predict(table.X).tolist()
    assert describe(name).about.partition(";")[0] in done.stdout
    assert name in run("show", "m.json").stdout
    found = json.loads(run("evaluate", "m.json", "demo:three-classes", "--json").stdout)
    assert found["mistakes"] == int(np.sum(model.predict(table.X) != table.y))


def test_parts_of_another_kind():
    run("fit", "demo:three-classes", "--model", "one-versus-one", "--base", "lda", "--out", "m.json")
    assert type(load("m.json")[-1].estimator).__name__ == "LinearDiscriminantAnalysis"
    assert "--base" in complaint("fit", "demo:iris", "--base", "lda", code=2)
    assert "perceptron has no such setting" in complaint(
        "fit", "demo:iris", "--model", "perceptron", "--C", "1", code=2
    )
    assert "lda has no such setting" in complaint(
        "fit", "demo:iris", "--model", "one-versus-rest", "--base", "lda", "--tol", "1", code=2
    )


def test_a_penalty_chosen_on_the_command_line():
    text = run("fit", "demo:iris", "--C", "auto", "--out", "m.json", "--test-size", "0").stdout
    assert "(chosen by leave-one-out)" in text
    assert "chosen by approximate leave-one-out" in text
    table = read_table("demo:iris")
    model = LogisticRegression("auto", random_state=0).fit(table.X, table.y)
    assert f"C={model.C_:.4g} " in text
    assert "neither a number nor 'auto'" in complaint("fit", "demo:iris", "--C", "strong", code=2)


def test_firths_likelihood_from_the_command_line():
    text = run("fit", "separated.csv", "--target", "y", "--bias-reduction", "firth", "--out", "m.json").stdout
    assert "bias reduced by Firth's likelihood" in text
    assert "stationary" in text
    assert "--C" in complaint("fit", "separated.csv", "--target", "y", "--bias-reduction", "firth", "--C", "2", code=2)


def test_threads_change_nothing():
    one = run("fit", "demo:iris", "--json", "--threads", "1").stdout
    assert one == run("fit", "demo:iris", "--json", "--threads", "2").stdout


def test_no_file_without_out(tmp_path):
    before = sorted(tmp_path.iterdir())
    run("fit", "demo:iris")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("as_json", [False, True])
def test_a_failed_check_is_said_and_the_model_still_written(as_json):
    words = ["fit", "separated.csv", "--target", "y", "--C", "inf", "--test-size", "0", "--out", "m.json"]
    done = run(*words, *(["--json"] if as_json else []), code=1)
    assert done.stderr.startswith("separatrix: the check failed (m.json was still written): no optimum exists")
    assert done.stderr.count("\n") == 1
    assert not model_file.read("m.json").certificate.met
    if as_json:
        found = json.loads(done.stdout, parse_constant=pytest.fail)
        assert found["certificate"]["code"] == "separated"
        assert found["settings"]["C"] == "inf"
    assert "limit of iterations" in run("fit", "demo:iris", "--max-iter", "1", code=1).stderr


def test_a_long_status_is_said_once_and_its_directions_are_in_json():
    words = ["fit", "demo:iris", "--C", "inf", "--seed", "1"]
    done = run(*words, code=1)
    assert done.output.count("these weights put every row on its own side") == 1
    ends = "no optimum exists, since the classes are separated; see the status"
    assert done.stderr == f"separatrix: the check failed: {ends}\n"
    assert "keeps growing along them; use --bias-reduction firth or a finite --C" in done.stdout
    assert "for column" not in done.stdout
    found = json.loads(run(*words, "--json", code=1).stdout)["certificate"]["status"]
    assert "for column 'petal width (cm)'" in found
    alone = run("fit", "separated.csv", "--target", "y", "--C", "inf", "--test-size", "0", code=1).stdout
    assert "column 'a' alone separates them" in alone
    assert "or leave these columns out" in alone


def test_categories_and_what_is_missing(tmp_path):
    path = real(tmp_path, "penguins")
    assert "'sex' 11" in complaint("fit", path, "--target", "species", code=3)
    text = run("fit", path, "--target", "species", "--missing", "drop", "--out", "m.json").stdout
    for part in (
        "333 of 344 rows",
        "island (Biscoe), sex (female)",
        "11 of 344 rows are left out because a value is missing",
    ):
        assert part in text
    kept = model_file.read("m.json")
    assert (kept.encoder.missing, kept.encoder.unseen) == ("drop", "average")
    run("fit", path, "--target", "species", "--missing", "indicator", "--strict", "--out", "m.json")
    kept = model_file.read("m.json")
    assert kept.encoder.unseen == "error"
    assert "sex=missing" in kept.features


def test_the_schema_goes_out_and_comes_back(tmp_path):
    path = real(tmp_path, "default")
    found = json.loads(run("fit", path, "--print-schema", "--target", "default", "--drop", "income").stdout)
    assert found["target"] == "default"
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {"student": "category", "balance": "number", "income": "ignored"}
    found["columns"][0] |= {"reference": "Yes", "levels": ["Yes", "No"]}
    (tmp_path / "schema.json").write_text(json.dumps(found))
    run("fit", path, "--schema", "schema.json", "--out", "m.json")
    assert model_file.read("m.json").features == ("student=No", "balance")
    named = run("fit", "-", "--print-schema", stdin="name,y\nAnn,0\nBob,1\n").stdout  # refused by a fit, shown here
    assert json.loads(named)["columns"][0]["kind"] == "text"


def test_cross_validation():
    words = ("fit", "rows.csv", "--target", "y", "--cv", "4", "--seed", "3")
    found = json.loads(run(*words, "--json", "--out", "m.json").stdout)
    table = read_table("rows.csv", "y")
    classes, codes = np.unique(table.y, return_inverse=True)
    fold = stratified_folds(codes, np.arange(len(codes)), 4, 3)
    accuracy, loss = [], []
    for k in range(4):
        model = LogisticRegression().fit(table.X[fold != k], table.y[fold != k])
        P = model.predict_proba(table.X[fold == k])
        accuracy.append(np.mean(model.predict(table.X[fold == k]) == table.y[fold == k]))
        loss.append(-np.mean(np.log(P[np.arange(len(P)), codes[fold == k]])))
    validated = found["cross_validation"]
    assert validated["accuracy"] == pytest.approx(np.mean(accuracy))
    assert validated["log_loss"] == pytest.approx(np.mean(loss))
    assert validated["accuracy_error"] == pytest.approx(np.std(accuracy, ddof=1) / 2)
    assert found["split"]["rows_fitted"] == 60
    assert model_file.read("m.json").training["validated_folds"] == 4
    assert f"accuracy {np.mean(accuracy):.3f} ± " in run(*words).stdout
    assert "--test-size" in complaint(*words, "--test-size", "0.5", code=2)
    assert "only one row" in complaint("fit", "-", "--target", "y", "--cv", "2", code=2, stdin="a,y\n1,u\n2,u\n3,v\n")
    assert len(classes) == 2


def test_too_few_rows_to_hold_any_out():
    text = run("fit", "-", "--target", "y", stdin="a,y\n0,0\n1,1\n").stdout
    assert "all 2 rows fitted: too few rows" in text


def test_rows_in_a_status_are_counted_as_in_the_table_and_it_says_so():
    words = ("fit", "rows.csv", "--target", "y", "--model", "perceptron")
    for size in ((), ("--test-size", "0")):
        shown = " ".join(run(*words, *size, code=1).stdout.split())
        assert "rows counted from 1, as in the table" in shown


def test_a_scheme_counts_the_rows_of_its_parts_as_in_the_table(tmp_path):
    labels = ["c"] * 10 + ["a", "b"] * 15  # so a number among the rows of two classes is none of the table
    text = "".join(f"{100 if label == 'c' else k * k % 7},{label}\n" for k, label in enumerate(labels))
    (tmp_path / "t.csv").write_text(f"x,y\n{text}")
    for size in (0, 0.25):
        words = ("t.csv", "--target", "y", "--model", "one-versus-one", "--base", "perceptron", "--test-size", size)
        status = json.loads(run("fit", *words, "--json", code=1).stdout)["certificate"]["status"]
        named = re.search(r"class 'a' against 'b': not separable: \d rows prove it \(([\d, ]+)\)", status)
        assert {labels[int(number) - 1] for number in named[1].split(", ")} == {"a", "b"}
        assert status.endswith("(rows counted from 1, as in the table)")
        assert "rows counted from 1" in " ".join(run("fit", *words, code=1).stdout.split())


def test_a_separated_model_is_fitted_once(monkeypatch):
    fits, fit = [], LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda model, *given: fits.append(given) or fit(model, *given))
    done = run("fit", "separated.csv", "--target", "y", "--C", "inf", "--test-size", "0", code=1)
    assert "column 'a' alone separates them" in done.stdout
    assert len(fits) == 1


def test_a_model_file_says_what_the_fit_said(tmp_path):
    """Its status is plain text: names of columns and rows of the table, and options of the command line."""
    (tmp_path / "q.csv").write_text("x,y\n1,n\n2,n\n2,y\n3,y\n4,y\n")
    run("fit", "q.csv", "--target", "y", "--C", "inf", "--test-size", "0", "--out", "m.json", code=1)
    status = model_file.read("m.json").certificate.status
    assert type(status) is str
    assert "column 'x' causes it, by 3 rows (1, 4, 5); the weights grow without bound along +1 for" in status
    assert "use --bias-reduction firth, a finite --C" in status


def test_sparse_files(tmp_path):
    (tmp_path / "t.libsvm").write_text("".join(f"{i % 2} {1 + i % 3}:{i} 7:1.5\n" for i in range(1, 41)))
    text = run("fit", "t.libsvm", "--out", "m.json").stdout
    assert "40 rows, 7 columns; predicting 'label'" in text
    assert len(run("predict", "m.json", "t.libsvm").stdout.split()) == 41
    assert "no schema" in complaint("fit", "t.libsvm", "--print-schema", code=3)


def test_report(tmp_path):
    text = run("fit", "demo:credit", "--report", "r.html").stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "r.html: open it in a browser" in text
    assert page.startswith("<!doctype html>")
    assert "creditworthy, predicted from demo:credit" in page
    assert "rows that it had not seen" in page


@pytest.mark.usefixtures("undrawn")
def test_a_report_shows_what_mistakes_cost(tmp_path):
    run("fit", "demo:credit", "--report", "r.html", "--cost", "FP=1,FN=5", "--out", "m.json")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "0.1667 = 1/(1 + 5)" in page
    assert page.count("<dt>random seed</dt><dd>0</dd>") == 1
    assert "<dt>table</dt><dd>demo:credit</dd>" in page
    assert "--cost: there is no report" in complaint("fit", "demo:credit", "--cost", "FP=1,FN=5", code=2)
    assert "--cost: got 'five'" in complaint("fit", "demo:credit", "--report", "r.html", "--cost", "five", code=2)
    assert "--cost: it is for two classes, and the model has 3" in complaint(
        "fit", "demo:iris", "--report", "r.html", "--cost", "FP=1,FN=5", code=2
    )
    assert "--cost: FP is -1" in complaint("fit", "demo:credit", "--report", "r.html", "--cost", "FP=-1,FN=5", code=2)


def test_standard_input_is_a_table():
    assert "standard input: 60 rows" in run("fit", "-", "--target", "y", stdin=OVERLAPPING).stdout


def test_separation_is_told_by_the_names_of_columns(tmp_path):
    (tmp_path / "leak.csv").write_text("age,leak,y\n" + "".join(f"{20 + k},{k % 2},{'ny'[k % 2]}\n" for k in range(40)))
    done = run("fit", "leak.csv", "--target", "y", "--C", "inf", code=1)
    assert "column 'leak' alone separates them" in done.stdout


@pytest.mark.usefixtures("undrawn")
def test_the_report_calls_rows_by_their_numbers_in_the_table(tmp_path):
    rows = [f"{k},{'ab'[k >= 30]}\n" for k in range(60)]
    rows[41] = "41,a\n"  # the 42nd row has a wrong label
    (tmp_path / "odd.csv").write_text("x,y\n" + "".join(rows))
    run("fit", "odd.csv", "--target", "y", "--test-size", "0", "--report", "odd.html")
    page = (tmp_path / "odd.html").read_text()
    first = page.split('<section id="surprise">')[1].split("<h4>")[1].split(":")[0]
    assert first == "Row 42"
    assert "Every column varies" in page


@pytest.mark.usefixtures("undrawn")
def test_the_report_of_a_cross_validated_fit_says_how_such_fits_do(tmp_path):
    table = tmp_path / "table.csv"
    rows = ["3,1,yes", "3,1,no", *(f"{k},{k % 3},{'yes' if k % 2 else 'no'}" for k in range(40))]
    table.write_text("\n".join(["a,b,y", *rows]) + "\n")
    page = tmp_path / "report.html"
    said = run("fit", table, "--target", "y", "--cv", "4", "--report", page).stdout
    accuracy = next(line for line in said.splitlines() if line.startswith("validated:")).split("accuracy ")[1][:13]
    found = page.read_text()
    assert f"Cross-validation of such fits says by how much: accuracy {accuracy}" in found
    assert "Not tried on new rows" not in found
    assert "(rows 1, 2)" in found  # equal rows with other labels, by their numbers in the table


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("missing", ["impute", "indicator", "drop"])
def test_a_report_says_what_was_missing_and_what_was_done(tmp_path, missing):
    run("fit", real(tmp_path, "penguins"), "--target", "species", "--missing", missing, "--report", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    checks = page[page.index('<section id="checks">') : page.index('<section id="settings">')]
    assert "No value is missing" not in checks
    assert ("11 rows of 344" if missing == "drop" else "&#x27;sex&#x27; 11 (3.2 %)") in checks
    section = page[page.index('<section id="missing">') : page.index('<section id="checks">')]
    assert ("Rows with a missing value were left out" in section) == (missing == "drop")
    assert "No value is missing." not in section
    assert ("left out" if missing == "drop" else "A fit fills them with the means of its rows") in checks
