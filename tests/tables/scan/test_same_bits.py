"""A fit to files has the bits of the fit to the same rows in memory, for tables of more than one block."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from tests.tables.scan.tables import labelled, written

CLASSIFIERS = {
    "logistic": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "lasso": lambda: sx.LogisticRegression(l1_ratio=1.0),
    "elastic net": lambda: sx.LogisticRegression(l1_ratio=0.5, C=0.01),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "class weights": lambda: sx.LogisticRegression(class_weight={"a": 1.0, "b": 3.5}),
    "probit": lambda: sx.LogisticRegression(loss="probit"),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "ridge": lambda: sx.LeastSquaresClassifier(l2=3.0),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "shrunk lda": lambda: sx.LinearDiscriminantAnalysis(shrinkage=0.1),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
}
OF_THREE = ("logistic", "elastic net", "least squares", "fisher", "lda", "qda", "svc")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """By name: rows, labels and weights in memory, and the same rows in files."""
    made = {}
    for name, n_classes, dtype, weighted in (
        ("plain", 2, np.float64, False),
        ("weighted", 2, np.float64, True),
        ("float32", 2, np.float32, False),
        ("three classes", 3, np.float64, False),
    ):
        X, y = labelled(150_000, n_classes=n_classes, dtype=dtype)
        weight = np.random.default_rng(1).integers(0, 4, len(y)) / 3 if weighted else None
        files = written(tmp_path_factory.mktemp("table"), X, y, weight)
        made[name] = X, y, weight, sx.scan(files, target="y", weight="w" if weighted else None)
    return made


def fitted_numbers(model):
    """All that a prediction depends on, as one vector."""
    if hasattr(model, "gaussians_"):
        gaussians = model.gaussians_
        parts = [gaussians.means, gaussians.priors, gaussians.constant, *gaussians.whiten]
        return np.concatenate([np.ravel(part) for part in parts])
    return np.concatenate([model.coef_.ravel(), model.intercept_])


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("table", ["plain", "weighted", "float32"])
def test_two_classes(tables, table, name):
    _same(*tables[table], CLASSIFIERS[name])


@pytest.mark.parametrize("name", OF_THREE)
def test_three_classes(tables, name):
    _same(*tables["three classes"], CLASSIFIERS[name])


@pytest.mark.parametrize("offset", [1e9, 2.0**40, 2.0**53])
@pytest.mark.parametrize("name", ["logistic", "maximum likelihood", "svc"])
def test_columns_whose_mean_dwarfs_their_spread(tmp_path, name, offset):
    """Such as times in seconds. Rows are centred before they are multiplied, so their rounding errors are small."""
    rng = np.random.default_rng(0)
    steps, x = rng.integers(0, 5, 300_000), rng.standard_normal(300_000)
    X = np.column_stack([offset + 2.0 * steps, x])
    y = np.where(x + steps / 2 - 1 > rng.logistic(size=len(x)), "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the largest offset, whose weights are rounded
        _same(X, y, None, sx.scan(written(tmp_path, X, y), target="y"), CLASSIFIERS[name])


@pytest.mark.parametrize("name", ["balanced", "svc"])
def test_one_such_column_among_many(tmp_path, name):
    """Its sums by class are computed again, without the other columns."""
    X, y = labelled(100_000, d=12)
    X[:, 5] += 1e6
    _same(X, y, None, sx.scan(written(tmp_path, X, y), target="y"), CLASSIFIERS[name])


def test_many_such_columns_and_weights(tmp_path):
    """The weights of the classes are summed as all sums are."""
    X, y = labelled(150_000)
    X[:, 2:4] += [1e12, 1e5]
    _same(X, y, None, sx.scan(written(tmp_path, X, y), target="y"), CLASSIFIERS["balanced"])


def _same(X, y, weight, scan, made):
    ours, theirs = made().fit(scan), made().fit(X, y, sample_weight=weight)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_array_equal(fitted_numbers(ours), fitted_numbers(theirs))
    one, other = ours.certificate_, theirs.certificate_
    assert (one.objective, one.bound, one.n_rows) == (other.objective, other.bound, len(y))
    assert (one.code, one.met) == (other.code, other.met)
