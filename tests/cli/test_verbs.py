"""Every verb, inside one process: what it prints, what it writes, how it ends."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from separatrix import LogisticRegression, load, model_file, save
from separatrix._version import __version__
from separatrix.cli import main
from separatrix.cli.holdout import held_out
from separatrix.solvers.registry import SOLVERS
from separatrix.table import open_source, read_labelled

SEPARATED = "a,y\n0,n\n1,n\n2,y\n3,y\n"
OVERLAPPING = "a,b,y\n" + "".join(f"{i % 7},{i % 5},{'yes' if (i * i) % 11 > 4 else 'no'}\n" for i in range(60))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "separated.csv").write_text(SEPARATED)
    (tmp_path / "rows.csv").write_text(OVERLAPPING)


def run(*words, code=0, stdin=None):
    done = CliRunner().invoke(main, [*map(str, words)], input=stdin, prog_name="separatrix")
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr
    return done


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def complaint(*words, code, stdin=None):
    done = run(*words, code=code, stdin=stdin)
    assert done.stdout == ""
    assert done.stderr.startswith("separatrix: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_version_and_help():
    assert run("--version").stdout == f"separatrix {__version__}\n"
    text = run("--help").stdout
    assert all(word in text for word in ("fit", "predict", "show", "demo:iris", "Exit codes"))
    assert all(name in run("fit", "-h").stdout for name in SOLVERS)
    assert "Usage" in run(code=2).stderr


def test_fit_accounts_for_itself():
    text = run("fit", "demo:breast-cancer", "--out", "model.json").stdout
    for part in (
        "569 rows, 30 columns; predicting 'diagnosis'",
        "benign 357, malignant 212",
        "427 rows fitted, 142 held out",
        "status:    optimal",
        "gap:       at most",
        "held out:  accuracy 0.9",
        "nats",
        "class frequencies alone",
        "separatrix predict model.json demo:breast-cancer",
    ):
        assert part in text


def test_fit_as_json_and_the_file_agree():
    found = json.loads(run("fit", "demo:wine", "--json", "--out", "wine.json").stdout, parse_constant=pytest.fail)
    model = load("wine.json")
    assert found["weights"]["coef"] == model.coef_.tolist()
    assert found["certificate"] == model.certificate_.to_dict()
    assert found["model"] == "wine.json"
    kept = model_file.read("wine.json")
    assert kept.target == "cultivator"
    assert kept.training["held_out_accuracy"] == found["held_out"]["accuracy"]
    assert kept.training["source"] == "demo:wine"
    assert found["held_out"]["log_loss"] < found["held_out"]["null_log_loss"]
    assert found["held_out"]["log_loss_bits"] == pytest.approx(found["held_out"]["log_loss"] / np.log(2))


def test_the_written_certificate_verifies_on_the_fitted_rows():
    run("fit", "demo:iris", "--out", "iris.json", "--seed", "5", "--test-size", "0.3")
    table = read_labelled(open_source("demo:iris"))
    classes, codes = np.unique(table.y, return_inverse=True)
    fitted = ~held_out(codes, 0.3, 5)
    assert load("iris.json").certificate_.verify(table.X[fitted], classes[codes[fitted]])


def test_the_command_line_fits_what_the_library_fits():
    settings = ["--C", "0.3", "--no-intercept", "--class-weight", "balanced", "--solver", "lbfgs", "--tol", "1e-6"]
    run("fit", "rows.csv", "--target", "y", "--drop", "b", "--test-size", "0", *settings, "--out", "m.json")
    table = read_labelled(open_source("rows.csv"), "y", ["b"])
    model = LogisticRegression(C=0.3, fit_intercept=False, class_weight="balanced", solver="lbfgs", tol=1e-6)
    assert load("m.json").coef_.tobytes() == model.fit(table.X, table.y).coef_.tobytes()


def test_absolute_values_from_the_command_line():
    run("fit", "demo:iris", "--C", "0.05", "--l1-ratio", "1", "--out", "m.json")
    model = load("m.json")
    assert model.l1_ratio == 1.0
    assert np.any(model.coef_ == 0)
    assert model.certificate_.met


def test_a_penalty_chosen_on_the_command_line():
    text = run("fit", "demo:iris", "--C", "auto", "--out", "m.json").stdout
    assert "(chosen: the best for rows left out)" in text
    assert "chosen by approximate leave-one-out" in text
    table = read_labelled(open_source("demo:iris"))
    classes, codes = np.unique(table.y, return_inverse=True)
    fitted = ~held_out(codes, 0.25, 0)
    model = LogisticRegression("auto", random_state=0).fit(table.X[fitted], classes[codes[fitted]])
    assert f"C={model.C_:.4g} " in text
    assert load("m.json").coef_.tobytes() == model.coef_.tobytes()
    assert "neither a number nor 'auto'" in complaint("fit", "demo:iris", "--C", "strong", code=2)


def test_firths_likelihood_from_the_command_line():
    text = run("fit", "separated.csv", "--target", "y", "--bias-reduction", "firth", "--out", "m.json").stdout
    assert "bias reduced by Firth's likelihood" in text
    assert "stationary" in text
    assert load("m.json").bias_reduction == "firth"
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
    warning, failed = done.stderr.splitlines()
    assert warning.startswith("separatrix: warning: no optimum exists")
    assert "m.json was written all the same" in failed
    assert not model_file.read("m.json").certificate.met
    assert np.isinf(model_file.read("m.json").certificate.claim.C)
    if as_json:
        found = json.loads(done.stdout, parse_constant=pytest.fail)
        assert found["certificate"]["code"] == "separated"
        assert found["settings"]["C"] == "inf"
    assert run("fit", "demo:iris", "--max-iter", "1", code=1).stderr.startswith("separatrix: warning: stopped at")


def test_predict_writes_csv():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json", "--test-size", "0")
    table = read_labelled(open_source("rows.csv"), "y")
    model = load("m.json")
    lines = rows_of(run("predict", "m.json", "rows.csv").stdout)
    assert lines[0] == ["prediction"]
    assert [label for [label] in lines[1:]] == model.scorer_.predict(table.X).tolist()
    lines = rows_of(run("predict", "m.json", "rows.csv", "--proba").stdout)
    assert lines[0] == ["prediction", "P(no)", "P(yes)"]
    assert [[float(p) for p in line[1:]] for line in lines[1:]] == model.scorer_.probabilities(table.X).tolist()
    assert run("predict", "m.json", "rows.csv", "--out", "answers.csv").stdout == ""
    with open("answers.csv", newline="") as file:
        assert file.read() == run("predict", "m.json", "-", stdin=OVERLAPPING).stdout


def test_predict_as_json():
    run("fit", "demo:digits", "--out", "m.json", "--tol", "0.01")
    found = json.loads(run("predict", "m.json", "demo:digits", "--proba", "--json").stdout)
    assert found["classes"] == list(range(10))
    assert len(found["predictions"]) == len(found["probabilities"]) == 1797
    assert set(found["predictions"]) <= set(range(10))


def test_predict_finds_columns_by_name(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    expected = run("predict", "m.json", "rows.csv", "--proba").stdout
    table = read_labelled(open_source("rows.csv"), "y")
    columns = {"note": ["text"] * len(table.X), "b": table.X[:, 1], "a": table.X[:, 0].astype(int)}
    parquet.write_table(pa.table(columns), tmp_path / "turned.parquet")
    assert run("predict", "m.json", "turned.parquet", "--proba").stdout == expected
    (tmp_path / "lacking.csv").write_text("A,b\n1,2\n")
    assert "lacks 1 of the 2 columns of the model: 'a'" in complaint("predict", "m.json", "lacking.csv", code=3)


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
    table = read_labelled(open_source("demo:iris"))
    save(LogisticRegression().fit(table.X, table.y), "m.json")
    lines = rows_of(run("predict", "m.json", "demo:iris").stdout)
    assert [label for [label] in lines[1:]] == load("m.json").predict(table.X).tolist()
    assert "has 2 columns" in complaint("predict", "m.json", "-", code=3, stdin="a,b\n1,2\n")
    assert "column 4" in run("show", "m.json").stdout


def test_show_gives_every_weight():
    run("fit", "demo:iris", "--out", "m.json")
    text = run("show", "m.json").stdout
    for part in (
        "logistic, 3 classes, 4 columns",
        "species",
        "status:",
        "intercept",
        "petal width (cm)",
        "virginica",
    ):
        assert part in text
    assert json.loads(run("show", "m.json", "--json").stdout) == model_file.read("m.json").content()


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    run("fit", "demo:digits", "--out", "m.json", "--tol", "0.01")
    assert max(map(len, run("show", "m.json").stdout.splitlines())) <= columns
    if columns >= 80:
        assert max(map(len, run("fit", "demo:wine").stdout.splitlines())) <= columns


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nonsense"], "nonsense"),
        (["fit"], "Missing argument"),
        (["fit", "demo:iris", "--nope"], "--nope"),
        (["fit", "rows.csv"], "--target"),
        (["fit", "rows.csv", "--target", "y", "--drop", "y"], "--drop"),
        (["fit", "demo:iris", "--C", "-1"], "--C"),
        (["fit", "demo:iris", "--C", "nan"], "--C"),
        (["fit", "demo:iris", "--C", "abc"], "--C"),
        (["fit", "demo:iris", "--l1-ratio", "2"], "--l1-ratio"),
        (["fit", "demo:iris", "--solver", "magic"], "newton"),
        (["fit", "demo:iris", "--tol", "-1"], "--tol"),
        (["fit", "demo:iris", "--max-iter", "0"], "--max-iter"),
        (["fit", "demo:iris", "--test-size", "1"], "--test-size"),
        (["fit", "demo:iris", "--threads", "0"], "--threads"),
        (["fit", "demo:iris", "--class-weight", "heavy"], "--class-weight"),
        (["fit", "demo:iris", "--out", "absent/m.json"], "--out"),
        (["fit", "demo:iris", "--out", "."], "--out"),
        (["predict", "m.json"], "DATA"),
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
        (["fit", "-", "--target", "y"], "empty", ""),
        (["fit", "-", "--target", "y"], "every row has the one label 0", "a,y\n1,0\n2,0\n"),
        (["fit", "-", "--target", "y"], "row 2 is 1.5, a measurement", "a,y\n1,1\n2,1.5\n3,2\n"),
        (["fit", "-", "--target", "y"], "--drop name", "name,y\nAnn,0\nBob,1\n"),
    ],
)
def test_bad_data(words, part, stdin):
    assert part in complaint(*words, code=3, stdin=stdin)


def test_bad_model_files(tmp_path):
    assert "no such file" in complaint("show", "absent.json", code=4)
    assert "not JSON" in complaint("show", "rows.csv", code=4)
    run("fit", "demo:iris", "--out", "m.json")
    sound = (tmp_path / "m.json").read_bytes()
    (tmp_path / "m.json").write_bytes(sound.replace(b"virginica", b"virginicb", 1))
    assert "checksum" in complaint("predict", "m.json", "demo:iris", code=4)


def test_the_share_held_out_of_each_class():
    codes = np.repeat([0, 1, 2, 3], [100, 50, 10, 1])
    held = held_out(codes, 0.25, seed=1)
    assert np.bincount(codes[held], minlength=4).tolist() == [25, 13, 2, 0]
    assert (held == held_out(codes, 0.25, seed=1)).all()
    assert (held != held_out(codes, 0.25, seed=2)).any()
    assert not held_out(codes, 0.0, seed=1).any()
    assert np.bincount(codes[~held_out(codes, 0.999, seed=1)]).min() >= 1


def test_too_few_rows_to_hold_any_out():
    text = run("fit", "-", "--target", "y", stdin="a,y\n0,0\n1,1\n").stdout
    assert "all 2 rows fitted: too few rows" in text
