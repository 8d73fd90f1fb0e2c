"""Least squares on rows that are singular, nearly singular or far from zero, against exact arithmetic.

See docs/tour.md, S2.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix import LeastSquaresClassifier
from separatrix.core.base.errors import NotConvergedWarning


def test_singular_columns_are_fitted_with_minimum_norm_and_said():
    X, y = load_iris(return_X_y=True)
    base = LeastSquaresClassifier().fit(X, y)
    doubled = np.column_stack([X, X[:, 0] + X[:, 1], np.full(150, 3.0)])
    model = LeastSquaresClassifier().fit(doubled, y)
    np.testing.assert_allclose(model.decision_function(doubled), base.decision_function(X), atol=1e-10)
    assert model.certificate_.rank == 5
    assert model.certificate_.full_rank == 7
    assert "the one of minimum norm, X̄⁺T" in model.certificate_.status
    assert model.certificate_.verify(doubled, y)


def _one_hot(rng, n):
    levels = np.arange(n) % 3
    return np.column_stack([np.eye(3)[levels], rng.integers(0, 5, n)])


# X̄ is singular in each, in its own way; whole numbers, so that rational arithmetic has the same rows.
SINGULAR = {
    "a column twice": lambda rng, X: np.column_stack([X, X[:, 0]]),
    "a multiple of a column": lambda rng, X: np.column_stack([X, 40 * X[:, 1]]),
    "a constant column": lambda rng, X: np.column_stack([X, np.full(len(X), 5.0)]),
    "a column of zeros": lambda rng, X: np.column_stack([X, np.zeros(len(X))]),
    "dummies of every level": lambda rng, X: _one_hot(rng, len(X)),
    "a sum, far from zero": lambda rng, X: np.column_stack([X + 100, X.sum(axis=1)]),
    "fewer rows than columns": lambda rng, X: rng.integers(-4, 5, (6, 9)).astype(float),
}


def _rational_pseudoinverse(A, T):
    """A⁺T by full-rank factors A = B C: Cᵀ(CCᵀ)⁻¹(BᵀB)⁻¹BᵀT, with C the nonzero rows of the reduced echelon form."""
    A, T = (np.array([[Fraction(int(x)) for x in row] for row in M]) for M in (A, T))
    C, pivots = _echelon(A)
    B = A[:, pivots]
    inner = _rational_solve(B.T @ B, B.T @ T)
    return (C.T @ _rational_solve(C @ C.T, inner)).astype(float)


def _echelon(A):
    """The nonzero rows of the reduced echelon form, and the columns of their ones."""
    A, pivots = A.copy(), []
    for j in range(A.shape[1]):
        k = len(pivots)
        below = np.flatnonzero(A[k:, j]) + k
        if len(below) == 0:
            continue
        A[[k, below[0]]] = A[[below[0], k]]
        A[k] = A[k] / A[k, j]
        for i in range(len(A)):
            A[i] = A[i] - A[i, j] * A[k] if i != k else A[i]
        pivots.append(j)
        if len(pivots) == len(A):
            break
    return A[: len(pivots)], pivots


def _rational_solve(S, B):
    """S⁻¹B for invertible S."""
    return _echelon(np.column_stack([S, B]))[0][:, len(S) :]


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", SINGULAR)
def test_where_rows_are_singular_the_answer_is_the_pseudoinverse_in_the_users_units(kind, fit_intercept, make):  # S2
    rng = np.random.default_rng(0)
    X = SINGULAR[kind](rng, rng.integers(-4, 5, (24, 3)).astype(float))
    y = np.arange(len(X)) % 3
    rows = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    expected = np.linalg.pinv(rows) @ np.eye(3)[y]
    model = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(make(X), y)
    found = model.output_weights_.T if fit_intercept else model.output_weights_[:, 1:].T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)
    if make is np.asarray:
        np.testing.assert_allclose(found, _rational_pseudoinverse(rows, np.eye(3)[y]), rtol=1e-9, atol=1e-11)


def test_far_from_zero_a_singular_fit_is_still_a_minimum():
    """The shortest weights of rows near 2²⁷ are beyond float64's digits, and then another minimiser answers."""
    rng = np.random.default_rng(0)
    X = rng.integers(-40, 40, (60, 3)).astype(float) + 2.0**27
    X = np.column_stack([X, X[:, 0]])
    y = (X[:, 0] + X[:, 1] + 30 * rng.standard_normal(60) > 2.0**28).astype(int)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.certificate_.verify(X, y)
    assert "minimum norm" in model.certificate_.status


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 40)), np.arange(15) % 3
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.outputs(X), np.eye(3)[y], atol=1e-10)
    assert model.certificate_.rank == 15
    assert model.certificate_.verify(X, y)
    assert LeastSquaresClassifier(l2=1.0).fit(X, y).certificate_.verify(X, y)


def test_an_offset_of_a_hundred_million():
    X, y = load_iris(return_X_y=True)
    base = LeastSquaresClassifier().fit(X, y)
    moved = np.round(X * 1024) / 1024 + 2.0**27
    model = LeastSquaresClassifier().fit(moved, y)
    again = LeastSquaresClassifier().fit(moved - 2.0**27, y)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    assert model.certificate_.met
    assert np.mean(model.predict(moved) != base.predict(X)) < 0.05


def test_an_intercept_that_float64_cannot_hold_is_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConvergedWarning, match="the mean of column 1 is about 1e.15 times"):
        model = LeastSquaresClassifier().fit(np.round(X * 16) / 16 + 2.0**48, y)
    assert not model.certificate_.met


@pytest.mark.parametrize("family", ["one far row", "nearly collinear"])
def test_nearly_singular_rows_reach_what_lstsq_reaches(family):
    source = np.random.default_rng(0)
    a, n = source.standard_normal((2, 40))
    labels = (n > 0).astype(int)
    rows = np.c_[a, n]
    if family == "one far row":
        rows = np.vstack([rows[:-1], [1e9, 1e9]])
    else:
        rows = np.c_[a, a + 1e-9 * n]
    certificate = LeastSquaresClassifier().fit(rows, labels).certificate_
    design = np.c_[np.ones(40), (rows - rows.mean(axis=0)) / rows.std(axis=0)]
    T = np.eye(2)[labels]
    W = np.linalg.lstsq(design, T, rcond=1e-15)[0]
    best = 0.5 * np.sum((design @ W - T) ** 2) / 40
    assert (
        certificate.objective - best <= (certificate.bound if certificate.bound is not None else np.inf) + 1e-7
    )  # the design rounds
    assert certificate.objective == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize(
    "classifier",
    [
        sx.LeastSquaresClassifier,
        sx.FisherDiscriminant,
        sx.LinearDiscriminantAnalysis,
        sx.QuadraticDiscriminantAnalysis,
    ],
)
def test_a_constant_column_alone_makes_no_other_columns_collinear(classifier):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(2000, 3.0), rng.standard_normal((2000, 7))])
    y = X[:, 1] > rng.logistic(size=2000)
    status = classifier().fit(X, y).certificate_.status
    assert "column 0 is constant" in status
    assert "collinear" not in status
