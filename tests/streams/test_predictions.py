"""Predictions for a table outside memory are those for the same rows in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx
from separatrix.base.errors import NotFiniteError, TableError
from tests.streams.tables import labelled, written

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
    "perceptron": lambda: sx.Perceptron(),
    "one versus rest": lambda: sx.OneVsRestClassifier(),
    "one versus one": lambda: sx.OneVsOneClassifier(),
}
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "log_density",
    "best_fitting_class",
    "posteriors",
    "outputs",
    "votes",
)
NAMES = [f"x{j}" for j in range(8)]


@pytest.fixture(scope="module", params=[2, 3])
def table(request, tmp_path_factory):
    X, y = labelled(5_000, n_classes=request.param)
    return X, y, written(tmp_path_factory.mktemp("table"), X, y)


@pytest.mark.filterwarnings("ignore::separatrix.base.errors.NotConvergedWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", MODELS)
def test_every_method_takes_a_table(table, name):
    X, y, files = table
    scan = sx.scan(files, target="y")
    model = MODELS[name]().fit(X, y)
    asked = [method for method in METHODS if hasattr(model, method)]
    assert len(asked) >= 2
    for method in asked:
        ours, theirs = getattr(model, method)(scan), getattr(model, method)(X)
        assert ours.dtype == theirs.dtype
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(ours, theirs)
    assert model.score(scan) == pytest.approx(model.score(X, y), abs=1e-12)


def test_columns_are_found_by_name(table, tmp_path):
    X, _y, files = table
    model = sx.LogisticRegression().fit(sx.scan(files, target="y"))
    order = np.random.default_rng(0).permutation(8)
    wider = np.column_stack([np.full(len(X), 7.0), X[:, order]])
    other = written(tmp_path, wider, names=["unused", *(NAMES[j] for j in order)])
    np.testing.assert_array_equal(model.predict(sx.scan(other)), model.predict(sx.scan(files, target="y")))


def test_a_missing_column_is_named(table, tmp_path):
    X, _y, files = table
    model = sx.LogisticRegression().fit(sx.scan(files, target="y"))
    other = written(tmp_path, X[:, :7], names=[*NAMES[:3], "X3", *NAMES[4:7]])
    with pytest.raises(TableError, match=r"lacks 2 of the 8 columns of the model: 'x3', 'x7'"):
        model.predict(sx.scan(other))


def test_a_model_without_names_takes_the_columns_as_they_come(table, tmp_path):
    X, y, _ = table
    model = sx.LogisticRegression().fit(X, y)
    with pytest.raises(TableError, match="it has 7 columns, and the model was fitted to 8 without names"):
        model.predict(sx.scan(written(tmp_path, X[:, :7])))


def test_an_entry_that_is_not_finite_is_named(table, tmp_path):
    X, _y, files = table
    model = sx.LogisticRegression().fit(sx.scan(files, target="y"))
    broken = X.copy()
    broken[4321, 5] = np.nan
    with pytest.raises(NotFiniteError, match=r"row 988 of 2\.parquet .*'x5'"):
        model.predict_proba(sx.scan(written(tmp_path, broken)))


def test_a_table_without_rows_is_refused(table, tmp_path):
    _X, _y, files = table
    model = sx.LogisticRegression().fit(sx.scan(files, target="y"))
    pq.write_table(pa.table({name: np.empty(0) for name in NAMES}), tmp_path / "none.parquet")
    with pytest.raises(TableError, match="no rows"):
        model.predict(sx.scan(str(tmp_path / "none.parquet")))


def test_scores_count_the_weights_and_unknown_labels(table, tmp_path):
    X, y, _ = table
    model = sx.LogisticRegression().fit(X, y)
    labels = np.where(np.arange(len(y)) % 7 == 0, "unknown", y)
    weight = np.arange(len(y)) % 3 + 0.5
    scan = sx.scan(written(tmp_path, X, labels, weight), target="y", weight="w")
    assert model.score(scan) == pytest.approx(model.score(X, labels, sample_weight=weight), rel=1e-12)


def test_float32_columns_have_float32_scores(tmp_path):
    X, y = labelled(3_000, dtype=np.float32)
    scan = sx.scan(written(tmp_path, X, y), target="y")
    model = sx.LogisticRegression().fit(scan)
    assert model.decision_function(scan).dtype == np.float32
    theirs = sx.LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(scan), theirs, rtol=1e-5)
