"""Coefficients in steps that compare."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.statistics.coefficients import coefficients

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(40, 12, 200), rng.integers(0, 2, 200), rng.standard_normal(200)])
y = np.where(0.05 * (X[:, 0] - 40) + X[:, 1] + rng.logistic(size=200) > 0, "yes", "no")


def test_ratios_and_intervals_are_the_summarys_per_step():
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    found, table = (
        coefficients(model, X, y, names=["age", "student", "noise"], level=0.9),
        sx.summary(model, X, y, level=0.9),
    )
    steps = [X[:, 0].std(), 1.0, X[:, 2].std()]
    np.testing.assert_allclose(found.steps, steps)
    assert found.binary.tolist() == [False, True, False]
    np.testing.assert_allclose(found.value[0], table.coef[1:] * steps)
    np.testing.assert_allclose(found.low[0], table.low[1:] * steps)
    np.testing.assert_allclose(found.high[0], table.high[1:] * steps)
    assert (found.ratio, found.classes, found.reference) == ("odds ratio", ("yes",), "no")
    assert found.step_of(1) == "0 to 1"
    sizes = np.abs(found.value[0])[found.largest(3)]
    assert np.all(np.diff(sizes) <= 0)


def test_sparse_columns_are_the_same():
    dense = coefficients(sx.LogisticRegression().fit(X, y), X, y)
    sparse = coefficients(sx.LogisticRegression().fit(csr_array(X), y), csr_array(X), y)
    np.testing.assert_allclose(dense.value, sparse.value, rtol=1e-6)
    assert dense.binary.tolist() == sparse.binary.tolist()


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (sx.LogisticRegression(C=1.0), "penalised"),
        (sx.LinearDiscriminantAnalysis(), "has no standard errors"),
        (sx.LogisticRegression(C=np.inf, loss="squared-sigmoid"), "not a likelihood"),
    ],
)
def test_others_have_no_intervals_and_say_why(model, reason):
    found = coefficients(model.fit(X, y), X, y)
    assert not found.has_intervals
    assert found.ratio is None
    assert reason in found.says
    np.testing.assert_allclose(found.value, model.coef_ * found.steps)


def test_class_weights_take_robust_errors():
    model = sx.LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y)
    found = coefficients(model, X, y)
    np.testing.assert_allclose(found.low[0], sx.summary(model, X, y, covariance="HC1").low[1:] * found.steps)


def test_more_classes():
    labels = np.digitize(X[:, 0] + 5 * rng.standard_normal(200), [35, 45])
    found = coefficients(sx.LogisticRegression(C=np.inf).fit(X, labels), X, labels)
    assert (found.classes, found.reference, found.value.shape) == ((1, 2), 0, (2, 3))
    found = coefficients(sx.LogisticRegression().fit(X, labels), X, labels)
    assert (found.classes, found.reference, found.value.shape) == ((0, 1, 2), None, (3, 3))


def test_refusals():
    with pytest.raises(ParameterError, match="QuadraticDiscriminantAnalysis has no weight for each column"):
        coefficients(sx.QuadraticDiscriminantAnalysis().fit(X, y), X, y)
    with pytest.raises(ParameterError, match="names: got 1 for 3 columns"):
        coefficients(sx.LogisticRegression().fit(X, y), X, y, names=["a"])
