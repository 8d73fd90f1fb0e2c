"""Exact numbers: residues, lifted digits, dependencies, enclosures, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from separatrix import separability
from separatrix.core.exact_arithmetic import (
    Dependency,
    P,
    across,
    drawn_prime,
    extended_dependency,
    inverse,
    is_prime,
    pivots,
    positive_dependency,
    primes,
    residues,
    signs,
    solve,
    sums_to_zero,
    vanishing,
)
from separatrix.core.proofs.linear_programs import surely_positive, widest


def _fractions(A):
    return [[Fraction(x) for x in row] for row in np.asarray(A, dtype=float).tolist()]


def test_residues_are_those_of_the_fractions():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 5)) * 10.0 ** rng.uniform(-200, 200, (6, 5))
    A[0, 0] = 0.0
    for p in (P, drawn_prime(), 2**31 - 1):
        expected = [[x.numerator * pow(x.denominator, -1, p) % p for x in row] for row in _fractions(A)]
        assert residues(A, p).tolist() == expected


@pytest.mark.parametrize("seed", range(15))
def test_solutions_solve_the_system_in_fractions(seed):
    rng = np.random.default_rng(seed)
    r, q = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    M = rng.standard_normal((r, r)) * 10.0 ** rng.uniform(-30, 30, r)
    if seed % 3 == 0:
        M = rng.integers(-3, 4, (r, r)) + 5.0 * np.eye(r)
    R = rng.standard_normal((r, q))
    found = solve(M, R)
    assert found.below > 0
    exact = _fractions(M)
    for k in range(q):
        for row, right in zip(exact, R[:, k], strict=True):
            total = sum(a * Fraction(x, found.below) for a, x in zip(row, found.above[:, k], strict=True))
            assert total == Fraction(float(right))


def test_a_matrix_without_an_inverse_modulo_the_prime_is_never_solved_wrongly():
    M = np.array([[float(P), 0.0], [0.0, 1.0]])
    assert len(pivots(M).rows) == 2
    q = pivots(M).p
    assert q != P
    assert solve(M, np.ones((2, 1)), q).below == P


def test_inverses_modulo_a_prime():
    rng = np.random.default_rng(2)
    R = rng.integers(0, P, (7, 7))
    product = [[sum(int(a) * int(b) for a, b in zip(row, col, strict=True)) % P for col in inverse(R).T] for row in R]
    assert product == np.eye(7, dtype=int).tolist()


def test_primes_are_prime():
    for p in primes(400):
        assert all(p % f for f in range(2, 46341))


def test_sums_that_cancel_to_less_than_rounding_are_told_from_zero():
    V = np.array([[1], [-1], [1]], dtype=object)
    A = np.array([[1.0, 1.0, 1e-300], [1.0, 1.0, 0.0], [0.1, 0.3, 0.2], [3.0, 5.0, 2.0]])
    assert vanishing(A, V).tolist() == [False, True, False, True]
    assert vanishing(A, np.array([[10**40], [-(10**40)], [0]], dtype=object)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("seed", range(20))
def test_vanishing_agrees_with_fractions(seed):
    rng = np.random.default_rng(seed)
    v = [int(x) for x in rng.integers(-(2**40), 2**40, 3)] + [1]
    A = rng.integers(-4, 5, (8, 3)) * 2.0 ** rng.integers(-3, 4)
    last = [float(-sum(Fraction(x) * c for x, c in zip(row, v, strict=False))) for row in A.tolist()]
    rows = np.column_stack([A, last])
    rows[::2, 3] = np.nextafter(rows[::2, 3], np.inf)
    expected = [sum(a * c for a, c in zip(row, v, strict=True)) == 0 for row in _fractions(rows)]
    assert any(expected)
    assert not all(expected)
    assert vanishing(rows, np.array(v, dtype=object)[:, None]).tolist() == expected
    assert [sign == 0 for sign in signs(rows, v)] == expected
    assert signs(rows, v) == [np.sign(sum(a * c for a, c in zip(row, v, strict=True))) for row in _fractions(rows)]


def test_dependencies_are_exact_and_found_where_the_program_says():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(40):
        A = rng.standard_normal((4, 3))
        found = positive_dependency(A, np.zeros((0, 3)))
        if found is not None:
            assert min(found[0]) > 0
            assert sums_to_zero(A, tuple(found[0]))
            total = [sum(w * row[j] for w, row in zip(found[0], _fractions(A), strict=True)) for j in range(3)]
            assert total == [0, 0, 0]
        assert (found is not None) == (widest(A).s < 1e-9) == surely_positive(A)
        seen.add(found is None)
    assert seen == {True, False}


def test_an_enclosure_leaves_in_doubt_what_rounding_decides():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1e-18]])
    assert positive_dependency(A, np.zeros((0, 2))) is not None
    assert not surely_positive(np.array([[1.0, 1.0], [1.0, 1.0 + 2**-52], [-2.0, -2.0]]))
    assert not surely_positive(np.array([[1.0, 1.0], [2.0, 2.0], [-3.0, -3.0]])), "of rank 1"


def test_dependencies_through_known_rows_are_joined():
    A = np.array([[1.0, 0.0], [-1.0, 0.0], [5.0, 1.0], [2.0, -3.0]])
    first = Dependency(np.array([0, 1]), (1, 1))
    own, through = positive_dependency(A[2:], A[:2])
    whole = extended_dependency(first, np.array([2, 3]), own, through)
    assert whole.rows.tolist() == [0, 1, 2, 3]
    assert min(whole.multipliers) > 0
    assert sums_to_zero(A, whole.multipliers)


def test_what_lies_across_rows_is_exactly_orthogonal():
    A = np.array([[1.0, 3.0, 0.1], [0.1, 0.3, 7.0]])  # 3 * 0.1 is not 0.3
    assert len(pivots(A[:, :2]).rows) == 2
    assert np.linalg.matrix_rank(A[:, :2]) == 1
    basis = across(A).basis
    assert basis.shape == (3, 1)
    assert vanishing(A, basis).all()
    assert across(np.eye(3)).basis.shape == (3, 0)


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_a_proof_with_weights_of_very_different_sizes_is_verified_exactly(seed):
    """Weights of 1e8 that are rounded to 12 bits leave no weights above zero for the other rows."""
    rng = np.random.default_rng(seed)
    X, w = rng.integers(0, 10**8, (20, 3)).astype(float), rng.integers(-3, 4, 3)
    w[0] = 1
    order = np.argsort(X @ w)
    y = np.isin(np.arange(20), order[10:]).astype(int)
    X = np.vstack([X, X[order[10]] + [[-1, 0, 0], [0, 0, 0], [-2, 0, 0]]])
    y = np.concatenate([y, [1, 0, 1]])
    verdict = separability(X, y)
    assert type(verdict).__name__ == "Inseparable"
    assert verdict.verify(X, y, exact=True)


def test_wide_proofs_are_exact():
    rng = np.random.default_rng(5)
    A = rng.standard_normal((121, 120))
    A[-1] = -rng.uniform(1, 2, 120) @ A[:-1]
    weights, _ = positive_dependency(A, np.zeros((0, 120)))
    assert sums_to_zero(A, tuple(weights))
    assert not sums_to_zero(A, (weights[0] + 1, *weights[1:]))


@pytest.mark.parametrize("factor", [P, 67_108_837, P * 67_108_837, 2**31 - 1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_verdicts_on_multiples_of_primes_are_those_on_the_numbers_themselves(factor, fit_intercept):
    """Some multiples are rounded: then a prime divides some of the minors and not others."""
    seen = set()
    for seed, (n, d, K) in enumerate([(8, 2, 2), (20, 3, 2), (30, 2, 3), (12, 1, 2), (6, 3, 2)]):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-3, 4, (n, d)).astype(float), np.arange(n) % K
        verdict = separability(X * float(factor), y, fit_intercept)
        assert verdict.verify(X * float(factor), y)
        assert verdict.verify(X * float(factor), y, exact=True)
        if factor < 2**50:
            assert type(verdict) is type(separability(X, y, fit_intercept))
        seen.add(type(verdict).__name__)
    assert "Inseparable" in seen


def test_drawn_primes_are_prime_and_differ():
    found = {drawn_prime() for _ in range(20)}
    assert len(found) > 15
    assert all(is_prime(p) and (1 << 25) < p < (1 << 26) for p in found)
