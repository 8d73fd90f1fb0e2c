"""A scan of files gives the fits of the same rows in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx

CLASSIFIERS = {
    "logistic": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "lasso": lambda: sx.LogisticRegression(l1_ratio=1.0),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, d = 150_000, 8
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d)
    y = np.where(X[:, 0] + X[:, 3] > rng.logistic(size=n), "yes", "no")
    folder = tmp_path_factory.mktemp("table")
    for k, part in enumerate(np.array_split(np.arange(n), 3)):
        columns = {f"x{j}": X[part, j] for j in range(d)}
        pq.write_table(pa.table({**columns, "y": y[part]}), folder / f"{k}.parquet", row_group_size=20_000)
    return X, y, str(folder / "*.parquet")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_to_files_is_that_of_memory(table, name):
    X, y, files = table
    ours = CLASSIFIERS[name]().fit(sx.scan(files, target="y"))
    theirs = CLASSIFIERS[name]().fit(X, y)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.certificate_.n_rows == len(y)
