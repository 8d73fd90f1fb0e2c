"""A table's encoder, scalers and a classifier, in one file."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

from separatrix import LogisticRegression, QuadraticDiscriminantAnalysis, TableEncoder, load, save
from separatrix.classifiers.model_file import FORMAT, VERSION, ModelFile, read
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import ModelFileError, ParameterError

pandas = pytest.importorskip("pandas")

FRAME = pandas.DataFrame(
    {
        "age": [31.0, 25.0, 47.0, None, 39.0, 28.0, 61.0, 33.0],
        "sex": ["f", "m", "x", "m", "f", "f", "m", "x"],
        "since": pandas.to_datetime(["2020-01-01", "2021-05-06", "2020-02-03", "2019-01-01"] * 2),
    }
)
LABELS = ["no", "no", "yes", "yes", "no", "yes", "no", "yes"]


@pytest.mark.parametrize("classifier", [LogisticRegression(), QuadraticDiscriminantAnalysis(reg_param=0.5)])
def test_a_pipeline_is_saved_whole(tmp_path, classifier):
    before = make_pipeline(TableEncoder(missing="indicator"), classifier).fit(FRAME, LABELS)
    path, again = tmp_path / "model.json", tmp_path / "again.json"
    save(before, path)
    after = load(path)
    new = pandas.DataFrame(
        {"since": pandas.to_datetime(["2022-01-01", "2020-01-01"]), "sex": ["never seen", "f"], "age": [None, 20.0]}
    )
    for frame in (FRAME, new):
        assert after.predict_proba(frame).tobytes() == before.predict_proba(frame).tobytes()
    found = read(path)
    assert found.encoder == before[0].encoder_
    assert found.features == before[0].encoder_.names == ("age", "age=missing", "sex=m", "sex=x", "since")
    assert after[0].encoder_ == before[0].encoder_
    save(after, again)
    assert again.read_bytes() == path.read_bytes()


def test_an_encoder_given_beside_a_classifier(tmp_path):
    whole = make_pipeline(TableEncoder(missing="impute"), LogisticRegression()).fit(FRAME, LABELS)
    held = ModelFile.of(whole[1], ("a", "b", "c", "d"), "ill", {"rows": 8}, whole[0].encoder_)
    assert held.features == whole[0].encoder_.names
    path = tmp_path / "model.json"
    path.write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, held.content()))
    assert load(path).predict(FRAME).tolist() == whole.predict(FRAME).tolist()
    assert read(path).target == "ill"


def test_an_encoder_that_does_not_fit_is_refused(tmp_path):
    whole = make_pipeline(TableEncoder(missing="impute"), LogisticRegression()).fit(FRAME, LABELS)
    path = tmp_path / "model.json"
    for change, part in [
        (lambda e: e["columns"][1]["levels"].append("z"), r"encoder\.columns\.1 needs 3 fills"),
        (lambda e: e["columns"].pop(), "encoder does not make the model's features"),
        (lambda e: e.update(missing="guess"), "encoder.missing is unknown: 'guess'"),
    ]:
        content = ModelFile.of(whole).content()
        change(content["encoder"])
        path.write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
        with pytest.raises(ModelFileError, match=part):
            read(path)


SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MaxAbsScaler(),
    RobustScaler(),
    MinMaxScaler((-1, 3)),
]
X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]
y = np.where(X[:, 0] + (X[:, 1] - 5e3) / 1e3 > 0, "yes", "no")


@pytest.mark.parametrize("named", [False, True], ids=["arrays", "frames"])
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_a_scaler_before_a_classifier(tmp_path, scaler, named):
    rows = pandas.DataFrame(X, columns=["a", "b", "c"]) if named else X
    before = make_pipeline(clone(scaler), LogisticRegression()).fit(rows, y)
    path, again = tmp_path / "model.json", tmp_path / "again.json"
    save(before, path)
    after = load(path)
    np.testing.assert_allclose(after.predict_proba(rows), before.predict_proba(rows), rtol=1e-9)
    if not isinstance(scaler, MinMaxScaler):  # which multiplies where the others divide
        assert after.predict_proba(rows).tobytes() == before.predict_proba(rows).tobytes()
    assert read(path).features == (("a", "b", "c") if named else None)
    assert after[-1].certificate_.verify(before[0].transform(rows), y)
    save(after, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("classifier", [LogisticRegression(), QuadraticDiscriminantAnalysis(reg_param=0.5)])
def test_a_scaler_behind_a_table_s_encoder(tmp_path, classifier):
    steps = [TableEncoder(missing="indicator"), "passthrough", StandardScaler(), classifier]
    before = make_pipeline(*steps).fit(FRAME, LABELS)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert [type(step).__name__ for _, step in after.steps] == ["TableEncoder", type(classifier).__name__]
    assert after.predict_proba(FRAME).tobytes() == before.predict_proba(FRAME).tobytes()


def test_a_table_s_encoder_that_standardises(tmp_path):
    before = make_pipeline(TableEncoder(missing="impute", standardise=True), LogisticRegression()).fit(FRAME, LABELS)
    path, again = tmp_path / "model.json", tmp_path / "again.json"
    save(before, path)
    after = load(path)
    assert after.predict_proba(FRAME).tobytes() == before.predict_proba(FRAME).tobytes()
    assert after[0].standardise
    save(after, again)
    assert again.read_bytes() == path.read_bytes()


def test_two_scalers_are_one(tmp_path):
    before = make_pipeline(MaxAbsScaler(), StandardScaler(), LogisticRegression()).fit(X, y)
    save(before, tmp_path / "model.json")
    np.testing.assert_allclose(load(tmp_path / "model.json").predict_proba(X), before.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda s: s.update(scale=[1.0, 0.0, 1.0]), "scaling has a scale that is not above 0"),
        (lambda s: s.update(center=[1.0]), r"scaling\.center"),
        (lambda s: s.update(center=["nan", 0.0, 0.0]), r"scaling\.center"),
        (lambda s: s.pop("scale"), "scaling lacks the key scale"),
        (lambda s: s.update(more=1), "unknown key, more"),
    ],
)
def test_units_that_do_not_fit_are_refused(tmp_path, change, part):
    content = ModelFile.of(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)).content()
    change(content["scaling"])
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=part):
        read(tmp_path / "m.json")


def test_other_steps_are_refused_by_name(tmp_path):
    for step, part in [
        (PolynomialFeatures(2), "its step 'polynomialfeatures' is PolynomialFeatures"),
        (MinMaxScaler(clip=True), "its step 'minmaxscaler' is MinMaxScaler with clip=True"),
    ]:
        model = make_pipeline(StandardScaler(), step, LogisticRegression()).fit(X, y)
        with pytest.raises(ParameterError, match=part):
            save(model, tmp_path / "m.json")
    with pytest.raises(ParameterError, match="its step 'standardscaler' is not fitted"):
        save(make_pipeline(StandardScaler(), LogisticRegression()), tmp_path / "m.json")


def test_a_pipeline_of_a_classifier_alone(tmp_path):
    save(make_pipeline(LogisticRegression()).fit(X, y), tmp_path / "m.json")
    assert load(tmp_path / "m.json").predict(X).shape == (60,)
