"""Models of standardised columns, exported: what they say of a table in its own units is what the model says."""

import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import separatrix as sx
from separatrix.output.onnx import to_onnx
from separatrix.output.python import to_python
from separatrix.output.sql import to_sql

from .sql_engines import ENGINES

rng = np.random.default_rng(0)
N = 90
FRAME = pd.DataFrame(
    {
        "age": np.where(rng.random(N) < 0.1, np.nan, rng.normal(40, 10, N)),
        "money": rng.normal(5e6, 1e5, N),
        "city": np.where(rng.random(N) < 0.1, None, rng.choice(["Brno", "Zlin", "Oslo"], N)),
    }
)
SCORE = FRAME["age"].fillna(40) / 10 + (FRAME["money"] - 5e6) / 1e5 + (FRAME["city"] == "Oslo") + rng.normal(size=N)
LABELS = np.array(["low", "mid", "high"])[np.digitize(SCORE, np.quantile(SCORE, [0.33, 0.66]))]
MODELS = {
    "logistic": sx.LogisticRegression(),
    "softmax": sx.LogisticRegression(),
    "lda": sx.LinearDiscriminantAnalysis(),
    "qda": sx.QuadraticDiscriminantAnalysis(reg_param=0.1),
    "one-versus-one": sx.OneVsOneClassifier(sx.LogisticRegression()),
}


def fitted(name, missing="indicator"):
    y = np.where(LABELS == "high", "high", "other") if name == "logistic" else LABELS
    return make_pipeline(sx.TableEncoder(missing=missing, standardise=True), MODELS[name]).fit(FRAME, y)


def scores_of(model, frame):
    z = model.decision_function(frame)
    return z[:, None] if z.ndim == 1 else z


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_sql(name, engine):
    model = fitted(name)
    table = pa.Table.from_pandas(FRAME.assign(id=range(N)), preserve_index=False)
    rows = ENGINES[engine](table, to_sql(model, engine, keep=["id"]))
    width = scores_of(model, FRAME).shape[1]
    found = np.array([row[1 : 1 + width] for row in rows], dtype=float)
    np.testing.assert_allclose(found, scores_of(model, FRAME), rtol=1e-9, atol=1e-9)
    assert [row[-1] for row in rows] == model.predict(FRAME).tolist()


@pytest.mark.parametrize("name", MODELS)
def test_python(name):
    model, names = fitted(name), {}
    exec(to_python(model), names)
    rows = FRAME.to_dict("records")
    assert [names["predict"](row) for row in rows] == model.predict(FRAME).tolist()
    found = [names["scores"](row) for row in rows]
    found = np.array([list(z.values()) if isinstance(z, dict) else [z] for z in found])
    np.testing.assert_allclose(found, scores_of(model, FRAME), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_onnx(name):
    model = fitted(name)
    texts = np.array(["" if value is None or value != value else value for value in FRAME["city"]], dtype=object)
    inputs = {"age": FRAME[["age"]].to_numpy(), "money": FRAME[["money"]].to_numpy(), "city": texts[:, None]}
    assert in_onnxruntime(model, inputs)["label"].ravel().tolist() == model.predict(FRAME).tolist()


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=str)
def test_a_scaler_before_a_classifier(scaler):
    X = FRAME[["money"]].assign(more=np.arange(N) % 7)
    model = make_pipeline(scaler, sx.LogisticRegression()).fit(X, LABELS)
    names = {}
    exec(to_python(model), names)
    assert [names["predict"](row) for row in X.to_dict("records")] == model.predict(X).tolist()
    unnamed = make_pipeline(scaler, sx.LogisticRegression()).fit(X.to_numpy(), LABELS)
    exec(to_python(unnamed), names)
    row = dict(zip(["x0", "x1"], X.to_numpy()[3].tolist(), strict=True))
    assert names["predict"](row) == unnamed.predict(X.to_numpy())[3]


# onnxruntime compares added constants with 0, and factors with 1, in single precision, whose smallest number is 1e-45.
@pytest.mark.parametrize("unit", [1e-300, 1e-50, 1e-30, 1.0 + 1e-9, 1e30, 1e50])
@pytest.mark.parametrize("name", ["logistic", "qda"])
@pytest.mark.parametrize("columns", [("a",), ("a", "b")])
def test_units_that_single_precision_does_not_have(name, unit, columns):
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(N, 2))
    frame = pd.DataFrame({"a": X[:, 0] * unit, "b": X[:, 1]})[list(columns)]
    y = np.where(X[:, 0] + X[::-1, 1] > 6, "high", "other")
    model = make_pipeline(sx.TableEncoder(standardise=True), MODELS[name]).fit(frame, y)
    found = in_onnxruntime(model, {column: frame[[column]].to_numpy() for column in columns})
    np.testing.assert_allclose(found["scores"], scores_of(model, frame), rtol=1e-9, atol=1e-9)
    assert found["label"].tolist() == model.predict(frame).tolist()


def test_one_small_column_without_an_encoder():
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(N, 1)) * 1e-50
    model = sx.QuadraticDiscriminantAnalysis().fit(X, np.arange(N) % 2 + (X[:, 0] > 3e-50))
    found = in_onnxruntime(model, {"X": X})
    np.testing.assert_allclose(found["scores"], scores_of(model, X), rtol=1e-9, atol=1e-9)


def in_onnxruntime(model, inputs):
    """The outputs, with the default options of a session, which optimise the graph."""
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs), strict=True))


def two_units(name):
    """A model of two columns whose units are 10^340 apart, so that no number holds their ratio, and its table."""
    X = np.random.default_rng(0).normal(size=(N, 2))
    frame = pd.DataFrame({"big": X[:, 0] * 1e170, "small": X[:, 1] * 1e-170})
    y = np.where(X[:, 0] + X[:, 1] ** 2 + X[::-1, 0] > 0.7, "yes", "no")
    models = {"qda": sx.QuadraticDiscriminantAnalysis(), "fisher": sx.FisherDiscriminant()}
    return make_pipeline(sx.TableEncoder(standardise=True), models[name]).fit(frame, y), frame


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["qda", "fisher"])
def test_units_far_apart_in_sql(name, engine):
    model, frame = two_units(name)
    table = pa.Table.from_pandas(frame.assign(id=range(N)), preserve_index=False)
    rows = ENGINES[engine](table, to_sql(model, engine, keep=["id"]))
    np.testing.assert_allclose([[row[1]] for row in rows], scores_of(model, frame), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["qda", "fisher"])
def test_units_far_apart_in_python_and_onnx(name):
    (model, frame), names = two_units(name), {}
    exec(to_python(model), names)
    wanted = scores_of(model, frame)
    np.testing.assert_allclose(
        [[names["scores"](row)] for row in frame.to_dict("records")], wanted, rtol=1e-9, atol=1e-9
    )
    found = in_onnxruntime(model, {column: frame[[column]].to_numpy() for column in frame})
    np.testing.assert_allclose(found["scores"], wanted, rtol=1e-9, atol=1e-9)
