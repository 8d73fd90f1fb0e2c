"""All touching rows by one program, and proofs of many rows."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.exact_arithmetic import P, inverse, positive_dependency, sums_to_zero
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.linear_programs import complementary, surely_positive
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS, together
from separatrix.core.proofs.verdicts import Inseparable, QuasiSeparable

from .plain import by_two_programs


def _categories(seed, levels, pure, n=1500):
    """Dummies of two columns of categories, many of them rare, beside two numbers; in ``pure`` ones all rows are 1."""
    rng = np.random.default_rng(seed)
    codes = (levels * rng.random((n, 2)) ** 2).astype(int)
    parts = [(codes[:, [j]] == np.arange(1, levels)).astype(float) for j in range(2)]
    numbers = rng.standard_normal((n, 2))
    y = (numbers[:, 0] + rng.logistic(size=n) > 0).astype(int)
    for level in range(pure):
        y[codes[:, 1] == levels - 1 - level] = 1
    return np.hstack([numbers, *parts]), y


@pytest.mark.parametrize("pure", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_categories_with_few_rows(seed, pure):
    X, y = _categories(seed, 20, pure)
    verdict = sx.separability(X, y)
    assert type(verdict) is by_two_programs(X, y)
    assert isinstance(verdict, QuasiSeparable) or not pure
    assert verdict.verify(X, y)
    assert sums_to_zero(verdict.signed, verdict.multipliers)
    assert len(verdict.rows) <= 2 * (X.shape[1] + 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_row_moves_or_has_a_weight_and_never_both(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, (int(rng.integers(2, 15)), int(rng.integers(1, 5)))).astype(float)
    v, weights = complementary(A)
    assert np.all(A @ v >= -1e-7)
    np.testing.assert_allclose(A.T @ weights, 0.0, atol=1e-7)
    assert np.array_equal(weights > 0.5, np.abs(A @ v) < 1e-7)
    assert np.all((weights < 1e-7) | (weights > 1 - 1e-7))


@pytest.mark.parametrize("seed", range(10))
def test_twice_the_rank_of_touching_rows_spans_them_all(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    codes = rng.integers(0, 2, 60)
    D = Differences(X, codes, 2)
    found = together(D, np.arange(25))
    assert by_two_programs(X, codes) is Inseparable
    A = D.dense(found.rows)
    assert np.linalg.matrix_rank(A) == found.rank == np.linalg.matrix_rank(D.dense(np.arange(60)))
    assert len(A) <= 2 * found.rank
    assert np.all(found.weights > 0)
    np.testing.assert_allclose(A.T @ found.weights, 0.0, atol=1e-7 * found.weights.sum())
    whole, _ = positive_dependency(A, A[:0], found.weights)
    assert sums_to_zero(A, tuple(whole))
    np.testing.assert_allclose(np.array(whole) / sum(whole), found.weights / found.weights.sum(), atol=1e-3)


def test_weights_that_do_not_sum_to_zero_prove_nothing_though_they_are_positive():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [-1.0, 0.5]])
    assert not surely_positive(A, np.ones(4))
    assert positive_dependency(A, A[:0], np.ones(4)) is None
    A[2:, 1] = -0.5
    assert surely_positive(A, np.ones(4))


def test_inverses_of_matrices_whose_leading_blocks_are_singular():
    rng = np.random.default_rng(0)
    R = rng.integers(0, P, (120, 120))
    R[:80, :80] = 0  # leading blocks are singular in the order given
    R[:, -1] = np.arange(len(R))
    R[np.arange(len(R)), (np.arange(len(R)) + 40) % len(R)] = 1 + np.arange(len(R))
    found = inverse(R).astype(object)
    assert np.array_equal(R.astype(object) @ found % P, np.eye(len(R), dtype=object))


def test_a_matrix_without_an_inverse_modulo_a_prime_is_refused():
    with pytest.raises(ArithmeticError, match="no inverse"):
        inverse(np.array([[1, 2], [2, 4]]), 7)


def test_more_columns_than_before_of_categories_are_decided():
    rng = np.random.default_rng(1)
    X = np.zeros((1500, 700))
    X[np.arange(1500), rng.integers(0, 30, 1500)] = 1.0
    y = rng.integers(0, 2, 1500)
    y[X[:, 3] > 0] = 1
    verdict = sx.separability(X, y)
    assert X.shape[1] < MOST_EXACT_ROWS
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.columns.tolist() == [3]
    assert verdict.verify(X, y)
