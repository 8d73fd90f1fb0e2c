"""A table's encoder and a classifier, in one file."""

import pytest
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, QuadraticDiscriminantAnalysis, TableEncoder, load, save, sealed
from separatrix.errors import ModelFileError, ParameterError
from separatrix.model_file import FORMAT, VERSION, ModelFile, read

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
    path.write_bytes(sealed.seal(FORMAT, VERSION, held.content()))
    assert load(path).predict(FRAME).tolist() == whole.predict(FRAME).tolist()
    assert read(path).target == "ill"


def test_an_encoder_that_does_not_fit_is_refused(tmp_path):
    whole = make_pipeline(TableEncoder(missing="impute"), LogisticRegression()).fit(FRAME, LABELS)
    path = tmp_path / "model.json"
    for change, part in [
        (lambda e: e["columns"][1]["levels"].append("z"), "needs 3 fills"),
        (lambda e: e["columns"].pop(), "encoder does not make its features"),
        (lambda e: e.update(missing="guess"), "'guess'"),
    ]:
        content = ModelFile.of(whole).content()
        change(content["encoder"])
        path.write_bytes(sealed.seal(FORMAT, VERSION, content))
        with pytest.raises(ModelFileError, match=part):
            read(path)


def test_other_pipelines_are_refused(tmp_path):
    from sklearn.preprocessing import StandardScaler

    X = [[0.0], [1.0]]
    for steps in ([StandardScaler(), LogisticRegression()], [LogisticRegression()]):
        with pytest.raises(ParameterError, match="a pipeline of"):
            save(make_pipeline(*steps).fit(X, ["no", "yes"]), tmp_path / "m.json")
