"""What a fit learns of a table it learns from its own rows; units of columns go into the file."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, TableEncoder, load
from separatrix.classifiers import model_file
from separatrix.core.base.codec import plain
from separatrix.core.rows.hold_out import held_out, stratified_folds
from separatrix.tables.read_table import read_table

from .running import complaint, real, rows_of, run


def test_rows_held_out_teach_nothing(tmp_path):
    """Other values in the rows held out: the same model, to the byte of its file."""
    rng = np.random.default_rng(0)
    n = 60
    y = np.arange(n) % 2
    held = held_out(y, np.arange(n), 0.25, 0).held(y, np.arange(n))
    age, city = rng.normal(40, 9, n).round(1).astype(object), rng.choice(["Brno", "Zlin", "Oslo"], n).astype(object)
    age[rng.random(n) < 0.2] = ""
    files = {}
    for name in ("one", "two"):
        rows = "".join(f"{a},{c},{k}\n" for a, c, k in zip(age, city, y, strict=True))
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_text("age,city,y\n" + rows)
        words = [f"{name}/t.csv", "--target", "y", "--missing", "indicator", "--standardise", "--out", f"{name}.json"]
        files[name] = (run("fit", *words).stdout, model_file.read(f"{name}.json"))
        age[held], city[held] = 1e6, "Rome"
    told, (one, two) = files["two"][0], (found for _, found in files.values())
    assert one.encoder == two.encoder
    assert plain(one.scaling) == plain(two.scaling)
    assert one.scorer.W.tobytes() == two.scorer.W.tobytes()
    assert one.training["held_out_log_loss"] != two.training["held_out_log_loss"]
    assert "has levels that no fitted row has, in 16 rows held out, counted as average: 'Rome'" in told
    assert "Missing values are filled and marked, as learned from the rows fitted: " in told
    strict = complaint("fit", "two/t.csv", "--target", "y", "--missing", "impute", "--strict", code=3)
    assert "column 'city' has 'Rome' in 16 rows" in strict


def test_every_fold_learns_its_own_coding(tmp_path):
    path = real(tmp_path, "penguins")
    words = ("fit", path, "--target", "species", "--missing", "impute", "--cv", "4", "--seed", "1", "--standardise")
    found = json.loads(run(*words, "--json").stdout)["cross_validation"]
    frame = pd.read_csv(path)
    species = frame.pop("species")
    classes, codes = np.unique(species, return_inverse=True)
    fold, losses = stratified_folds(codes, np.arange(len(codes)), 4, 1), []
    for k in range(4):
        model = make_pipeline(TableEncoder(missing="impute", standardise=True), LogisticRegression())
        P = model.fit(frame[fold != k], species[fold != k]).predict_proba(frame[fold == k])
        losses.append(-np.mean(np.log(P[np.arange(len(P)), codes[fold == k]])))
    assert found["log_loss_by_fold"] == pytest.approx(losses, rel=1e-9)
    assert len(classes) == 3


def test_standardised_columns(tmp_path):
    path = real(tmp_path, "default")
    words = ["fit", path, "--target", "default", "--C", "0.01", "--test-size", "0"]
    run(*words, "--standardise", "--out", "scaled.json")
    run(*words, "--out", "plain.json")
    table = read_table(path, "default")
    numbers = table.encoder.measured
    units = np.where(numbers, StandardScaler().fit_transform(table.X), table.X)
    scaled, plain = (LogisticRegression(C=0.01).fit(X, table.y) for X in (units, table.X))
    known = model_file.read("scaled.json")
    np.testing.assert_allclose(known.estimator().coef_, scaled.coef_, rtol=1e-6)
    assert not np.allclose(known.scaled(table.X) @ scaled.coef_[0], table.X @ plain.coef_[0], rtol=0.1)
    assert "odds ratio per SD" in run("show", "scaled.json").stdout
    assert "per SD" not in run("show", "plain.json").stdout
    changes = run("show", "plain.json", "scaled.json").stdout
    assert "standardised" in changes
    assert "center of balance" in changes
    answers = rows_of(run("predict", "scaled.json", path, "--proba").stdout)[1:]
    P = load("scaled.json").predict_proba(pd.read_csv(path))
    np.testing.assert_allclose([float(row[2]) for row in answers], P[:, 1], rtol=1e-12)
    found = json.loads(run("evaluate", "scaled.json", path, "--json").stdout)
    assert found["mistakes"] == int(np.sum(load("scaled.json").predict(pd.read_csv(path)) != table.y))
    assert "Scales matter for" in run("fit", "--help").stdout


def test_sparse_columns_are_scaled_only(tmp_path):
    (tmp_path / "t.libsvm").write_text("".join(f"{i % 2} {1 + i % 3}:{i} 7:{i % 5}\n" for i in range(1, 41)))
    assert "divided by their standard deviations" in run("fit", "t.libsvm", "--standardise", "--out", "m.json").stdout
    known = model_file.read("m.json")
    assert not known.scaling.center.any()
    assert len(run("predict", "m.json", "t.libsvm").stdout.split()) == 41


@pytest.mark.parametrize(
    ("name", "options"),
    [("penguins", ["--target", "species", "--missing", "impute"]), ("default", ["--target", "default"])],
)
def test_from_comparing_to_exporting(tmp_path, name, options):
    path = real(tmp_path, name)
    found = run("compare", path, *options, "--cv", "3", "--only", "logistic", "--only", "lda").stdout
    words = shlex.split(found.splitlines()[-1])
    assert words[:3] == ["separatrix", "fit", path]
    assert "--standardise" in words
    run(*words[1:])
    known = model_file.read(tmp_path / "model.json")
    assert known.scaling is not None
    assert f"accuracy {known.training['validated_accuracy']:.3f}" in run("show", "model.json").stdout
    labels = run("predict", "model.json", path).stdout.splitlines()[1:]
    run("export", "model.json", "--to", "python", "--out", "score.py")
    with open(path) as rows:
        done = subprocess.run(
            [sys.executable, tmp_path / "score.py"], stdin=rows, capture_output=True, text=True, check=True
        )
    answers = done.stdout.splitlines()
    assert answers[-len(labels) :] == labels


def test_the_reference_that_was_asked_for(tmp_path):
    path = real(tmp_path, "penguins")
    words = ("fit", path, "--target", "species", "--missing", "drop", "--reference", "island=Torgersen")
    told = run(*words, "--reference", "sex=male", "--out", "m.json").stdout
    assert "island (Torgersen), sex (male): each level against the one in brackets" in told
    assert model_file.read("m.json").encoder.levels_of["island"] == ("Torgersen", "Biscoe", "Dream")
    schema = json.loads(run(*words, "--print-schema").stdout)["columns"]
    assert next(column for column in schema if column["name"] == "island")["reference"] == "Torgersen"
    refit = run("compare", *words[1:], "--only", "lda", "--cv", "2").stdout.splitlines()[-1]
    assert "--reference island=Torgersen" in refit
    for asked, said in {
        "island=dream": "--reference: column 'island' has no level 'dream' (perhaps 'Dream'); give one of 'Biscoe'",
        "island": "--reference: got 'island'; write COLUMN=LEVEL",
        "body_mass_g=3000": "--reference: column 'body_mass_g' holds numbers",
        "species=Adelie": "--reference: column 'species' is the target",
        "island=Biscoe": "--reference: column 'island' is given twice",
    }.items():
        given = words if "Biscoe" in asked else words[:-2]
        assert said in complaint(*given, "--reference", asked, code=2)
