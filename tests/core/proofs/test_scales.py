"""Columns of any size a float64 has: the same verdicts, with proofs that verify."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.exact_arithmetic import solve, sums_to_zero
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.coordinates import OUT_OF_RANGE, Coordinates
from separatrix.core.proofs.linear_programs import surely_positive
from tests.campaigns import seeds

from .plain import by_two_programs


def _draw(seed):
    """Whole numbers with ties, columns twice, rows of zeros, a row a class: multiplied by powers of two all exact."""
    rng = np.random.default_rng(seed)
    K = int(rng.choice([2, 2, 3]))
    n, d = int(rng.integers(K, 14)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 4 == 1:
        X[:, -1] = X[:, 0]
    if seed % 4 == 2:
        X[rng.integers(0, n, 2)] = 0.0
    if seed % 4 == 3 and d > 2:
        X[:, -1] = X[:, 0] - 2 * X[:, 1]
    codes = np.argmax(X @ rng.integers(-2, 3, (d, K)) + rng.normal(0, rng.choice([0, 0.5]), (n, K)), axis=1)
    codes[:K] = np.arange(K)
    return X, codes, bool(rng.random() < 0.7), rng


@pytest.mark.parametrize("seed", seeds(24, 60))
def test_columns_scaled_to_the_ends_of_float64_have_the_same_verdict(seed):
    X, codes, fit_intercept, rng = _draw(seed)
    kind = by_two_programs(X, codes, fit_intercept)
    for exponent in (rng.choice([-1000, 1000], X.shape[1]), rng.choice([-1074, 0, -1030], X.shape[1])):
        scaled = np.ldexp(X, exponent)
        verdict = sx.separability(scaled, codes, fit_intercept)
        assert type(verdict) is kind
        assert verdict.verify(scaled, codes)
        assert verdict.verify(scaled, codes, exact=True)
        assert type(sx.separability(csr_array(scaled), codes, fit_intercept)) is kind


def test_floats_of_1e300_beside_1e_minus_300():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4)) * [1e300, 1e-300, 1.0, 1e-310]
    verdict = sx.separability(X, (rng.random(40) < 0.5).astype(int))
    assert type(verdict).__name__ == "Inseparable"
    assert sums_to_zero(verdict.signed, verdict.multipliers)


def test_a_separator_that_float64_cannot_hold_is_in_doubt_and_says_so():
    # v = (0, 1, −1) in units of 2^1020 and 2^−1074: both columns are needed, and weights would be 2^2094 apart
    X = np.ldexp([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [1020, -1074])
    verdict = sx.separability(X, [1, 0, 1, 0])
    assert verdict.explain() == f"in doubt: {OUT_OF_RANGE}"


def test_columns_are_scaled_as_far_as_no_digit_is_lost():
    X = np.array([[2.0**900, 2.0**-1074, 1.0], [2.0**-200, 0.0, 3.0]])
    D = Differences(X, np.array([0, 1]), 2)
    coordinates = Coordinates.of(D)
    scaled = coordinates.moved(D).X
    assert np.array_equal(np.ldexp(scaled, coordinates.exponent), X)
    assert coordinates.exponent[2] == 0
    assert scaled[:, 1].tolist() == [0.5, 0.0]


def test_systems_whose_rows_and_columns_span_all_exponents_are_solved():
    M = np.array([[2.0**1000, 2.0**-1000], [2.0**-1074, 2.0**900]])
    found = solve(M, np.array([[1.0], [2.0**-300]]))
    for row, right in zip(M.tolist(), (1, Fraction(1, 2**300)), strict=True):
        assert sum(Fraction(a) * Fraction(x, found.below) for a, x in zip(row, found.above[:, 0], strict=True)) == right


def test_an_enclosure_does_not_lose_rows_that_are_small_in_every_column():
    # The second row's sign decides; scaled by columns alone it would be zero.
    A = np.array([[2.0**1000, 0.0], [-(2.0**-74), 2.0**-74], [-(2.0**999), -(2.0**1000)]])
    assert not surely_positive(A * [[1.0], [-1.0], [1.0]])
    assert surely_positive(A)
