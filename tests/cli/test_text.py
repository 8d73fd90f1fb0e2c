"""--text: a table of real text, the docstrings of packages, through every verb."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from separatrix.classifiers import model_file
from separatrix.tables.schema import read_schema
from separatrix.tables.text import TextSettings
from tests.docstrings import docstrings

from .running import complaint, rows_of, run


@pytest.fixture
def docs(tmp_path):
    """Every second docstring as a table to fit, the others to predict."""
    frame = docstrings("numpy", "scipy").drop(columns="name")
    for name, rows in (("train.csv", frame[::2]), ("test.csv", frame[1::2])):
        rows.to_csv(tmp_path / name, index=False)
    return tmp_path


def fit(docs, *more, out="model.json"):
    words = ("fit", docs / "train.csv", "--target", "package", "--text", "doc", "--out", docs / out)
    return run(*words, *more)


def test_a_model_of_text_from_fit_to_export(docs):
    text = fit(docs, "--report", docs / "report.html").stdout
    assert "n-grams of 1 to 2 words" in text
    assert (docs / "report.html").stat().st_size < 1_000_000
    shown = run("show", docs / "model.json").stdout
    assert len(shown) < 6000
    of_numpy, of_scipy = shown.split("for numpy:")[1].split("for scipy:")
    assert " np " in of_numpy
    assert " scipy " in of_scipy
    evaluated = json.loads(run("evaluate", docs / "model.json", docs / "test.csv", "--json").stdout)
    assert evaluated["accuracy"] > 0.93
    predicted = [row[0] for row in rows_of(run("predict", docs / "model.json", docs / "test.csv").stdout)[1:]]
    run("export", docs / "model.json", "--to", "python", "--out", docs / "model.py")
    with (docs / "test.csv").open("rb") as rows:
        alone = subprocess.run(
            [sys.executable, "-I", "-S", docs / "model.py"], stdin=rows, capture_output=True, check=True
        )
    assert alone.stdout.decode().split() == predicted
    for language in ("sql", "onnx"):
        told = complaint("export", docs / "model.json", "--to", language, "--out", docs / "x", code=2)
        assert "free text" in told


def test_prediction_does_not_import_scikit_learn(docs):
    fit(docs, "--text-features", 50)
    code = "import atexit, sys; from separatrix.cli import main; "
    code += "atexit.register(lambda: print([n for n in ('sklearn', 'pandas') if n in sys.modules], file=sys.stderr)); "
    code += "main(sys.argv[1:])"
    for words in (["predict", docs / "model.json", docs / "test.csv"], ["show", docs / "model.json"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stderr.splitlines()[-1] == "[]"


def test_the_options_are_the_settings_of_the_model(docs):
    fit(docs, "--text-ngrams", 3, "--text-min-df", 5, "--text-features", 40, "--drop", "lines")
    (column,) = model_file.read(docs / "model.json").encoder.columns
    assert column.text.settings == TextSettings(ngrams=3, min_df=5, max_features=40)
    assert len(column.text.terms) == 40


def test_hashed_n_grams(docs):
    text = fit(docs, "--text-hashed", "--text-features", 4096).stdout
    assert "hashed to 4,096 columns" in text
    assert "hashed to 4,096 columns" in run("show", docs / "model.json").stdout
    evaluated = json.loads(run("evaluate", docs / "model.json", docs / "test.csv", "--json").stdout)
    assert evaluated["accuracy"] > 0.9


def test_check_suggests_the_option_and_takes_it(docs):
    words = ("check", docs / "train.csv", "--target", "package", "--json")
    first = json.loads(run(*words, code=1).stdout)
    assert first["fit"][-2:] == ["--text", "doc"]
    told = complaint("fit", docs / "train.csv", "--target", "package", code=3)
    assert "use its words with --text doc, or leave it out with --drop doc" in told
    second = json.loads(run(*words, "--text", "doc").stdout)
    assert second["fit"][-2:] == ["--text", "doc"]
    titles = " ".join(finding["title"] for finding in second["findings"])
    assert "nearly constant" not in titles
    assert "different scales" not in titles


def test_compare_learns_the_words_in_each_fold(docs):
    found = json.loads(
        run(
            *("compare", docs / "train.csv", "--target", "package", "--text", "doc", "--text-features", 100, "--json"),
            *("--cv", 2, "--only", "logistic", "--only", "lda"),
        ).stdout
    )
    assert {one["name"] for one in found["classifiers"]} >= {"logistic", "lda"}
    assert found["fit"][3:9] == ["--target", "package", "--text", "doc", "--text-features", "100"]


def test_a_schema_repeats_what_was_asked(docs):
    words = ("--target", "package", "--text", "doc", "--text-ngrams", 1, "--print-schema")
    (docs / "schema.json").write_text(run("fit", docs / "train.csv", *words).stdout)
    column = read_schema(docs / "schema.json").column("doc")
    assert (column.kind, column.text) == ("words", TextSettings(ngrams=1))
    run("fit", docs / "train.csv", "--schema", docs / "schema.json", "--out", docs / "b.json")
    fit(docs, "--text-ngrams", 1)
    a, b = (model_file.read(docs / name) for name in ("model.json", "b.json"))
    np.testing.assert_array_equal(a.scorer.W, b.scorer.W)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--text-features", "10"], "--text-features: no column of text is named; name one with --text COL"),
        (["--text", "package"], "'package' is the target"),
        (["--text", "doc", "--drop", "doc"], "left out, too"),
        (["--text", "doc", "--text-hashed", "--text-min-df", "3"], "--text-min-df: hashed"),
        (["--text", "doc", "--text-features", "100000000"], "--text-features: got 100000000"),
    ],
)
def test_options_that_make_no_sense(docs, words, said):
    assert said in complaint("fit", docs / "train.csv", "--target", "package", *words, code=2)


def test_missing_odd_and_very_long_texts(docs):
    rows = [["doc", "lines", "package"]]
    rows += [["", 3, "numpy"], ["NA", 4, "scipy"], ["?!", 5, "numpy"], ["scipy stats " * 200_000, 6, "scipy"]]
    with (docs / "odd.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    fit(docs, "--missing", "impute")
    done = run("predict", docs / "model.json", docs / "odd.csv")
    assert len(rows_of(done.stdout)) == 5
    assert "2 in 'doc'" in done.stderr
    assert "1 row holds no n-gram of the model" in done.stderr
    fit(docs)
    assert "'doc' 2" in complaint("predict", docs / "model.json", docs / "odd.csv", code=3)


def test_n_grams_are_not_called_0_1_columns(docs):
    told = fit(docs).stdout
    assert "n-grams have none per SD" in told
    assert "0/1 columns have none" not in told
