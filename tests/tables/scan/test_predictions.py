"""Predictions for a table outside memory are those for the same rows in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, NotFiniteError, TableError
from tests.tables.scan.tables import labelled, written

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


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
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


SPARSE = "1 1:0.5 3:2\n0 1:1 2:1\n1 1:1 2:0.5\n0 2:1 3:1\n1 1:2\n0 3:0.1\n"


@pytest.fixture
def sparse(tmp_path):
    """A libsvm file with the columns x1, x2 and x3, and a model that was fitted to it."""
    (tmp_path / "fitted.svm").write_text(SPARSE)
    return sx.LogisticRegression().fit(sx.scan(tmp_path / "fitted.svm"))


# Lines of libsvm, and the columns x1, x2 and x3 that a model reads in them.
OTHER_WIDTHS = {
    "narrower": ("1 1:0.5\n0 1:1\n", [[0.5, 0, 0], [1, 0, 0]]),
    "a gap": ("1 2:0.5\n0 2:1\n", [[0, 0.5, 0], [0, 1, 0]]),
    "wider, from 0": ("1 0:3 1:0.5 7:2\n0 3:1\n", [[0.5, 0, 0], [0, 0, 1]]),
    "labels alone": ("1\n0\n", [[0, 0, 0], [0, 0, 0]]),
}


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize("name", OTHER_WIDTHS)
def test_a_libsvm_file_is_as_wide_as_the_model(sparse, tmp_path, name, cache):
    text, X = OTHER_WIDTHS[name]
    (tmp_path / "new.svm").write_text(text)
    scan, frame = sx.scan(tmp_path / "new.svm", cache=cache), pd.DataFrame(X, columns=["x1", "x2", "x3"], dtype=float)
    np.testing.assert_allclose(sparse.decision_function(scan), sparse.decision_function(frame), rtol=1e-12)
    assert sx.evaluate(sparse, scan).accuracy == sparse.score(scan) == sparse.score(frame, [1, 0])


def test_a_model_that_counts_from_0_reads_a_file_that_counts_from_1(tmp_path):
    (tmp_path / "fitted.svm").write_text(SPARSE.replace("1:", "0:"))
    (tmp_path / "new.svm").write_text("1 2:0.5\n0 3:1\n")
    model = sx.LogisticRegression().fit(sx.scan(tmp_path / "fitted.svm"))
    frame = pd.DataFrame([[0, 0, 0.5, 0], [0, 0, 0, 1]], columns=["x0", "x1", "x2", "x3"], dtype=float)
    ours = model.decision_function(sx.scan(tmp_path / "new.svm"))
    np.testing.assert_allclose(ours, model.decision_function(frame), rtol=1e-12)


@pytest.mark.parametrize("cache", [None, False])
def test_a_certificate_holds_for_a_libsvm_file_without_its_zeros(tmp_path, cache):
    (tmp_path / "zeros.svm").write_text(SPARSE + "1 5:0\n")
    (tmp_path / "none.svm").write_text(SPARSE + "1\n")
    certificate = sx.LogisticRegression().fit(sx.scan(tmp_path / "zeros.svm", cache=cache)).certificate_
    assert certificate.verify(sx.scan(tmp_path / "none.svm", cache=cache))
    (tmp_path / "wider.svm").write_text(SPARSE + "1 6:0\n")
    with pytest.raises(InputError, match="it has 6 columns; give the 5 columns of the fit"):
        certificate.verify(sx.scan(tmp_path / "wider.svm", cache=cache))


def test_a_libsvm_file_lacks_the_columns_of_a_model_with_other_names(sparse, tmp_path):
    model = sx.LogisticRegression().fit(pd.DataFrame({"x1": [0.0, 1, 2, 3], "age": [1.0, 0, 1, 2]}), [0, 1, 0, 1])
    with pytest.raises(TableError, match="it lacks 1 of the 2 columns of the model: 'age'"):
        model.predict(sx.scan(tmp_path / "fitted.svm"))


@pytest.mark.parametrize("cache", [None, False])
def test_a_libsvm_file_with_labels_alone_is_not_fitted(tmp_path, cache):
    (tmp_path / "labels.svm").write_text("1\n0\n1\n")
    with pytest.raises(TableError, match="the target is the only column; give at least one column to learn from"):
        sx.LogisticRegression().fit(sx.scan(tmp_path / "labels.svm", cache=cache))
