"""Separable, quasi-separable, inseparable: verdicts that are never wrong, and proofs that verify.

See docs/tour.md, P7, B3.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import NotFiniteError, ParameterError
from separatrix.core.proofs.linear_programs import fewest, least_violation, widest
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from tests.campaigns import seeds

from .plain import by_two_programs, differences

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
Y = np.array([0, 0, 1, 1])


def _draw(seed):
    """Small tables of several kinds: whole numbers with ties, unlike scales, 0/1 columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 25)), int(rng.integers(1, 5))
    kinds = (
        lambda: rng.integers(-2, 3, (n, d)).astype(float),
        lambda: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-5, 5, d),
        lambda: rng.integers(0, 2, (n, d)).astype(float),
    )
    X = kinds[seed % 3]()
    z = X @ (rng.standard_normal(d) / np.maximum(np.abs(X).max(axis=0), 1e-9))
    y = (z + rng.normal(0, rng.choice([0.0, 0.1, 1.0]), n) > 0).astype(int)
    y[0], y[-1] = 0, 1
    return X, y, bool(rng.random() < 0.8)


@pytest.mark.parametrize("seed", seeds(75, 150))
def test_verdicts_agree_with_two_plain_programs_and_verify(seed):
    X, y, fit_intercept = _draw(seed)
    verdict = sx.separability(X, y, fit_intercept)
    assert type(verdict) is by_two_programs(X, y, fit_intercept)
    assert bool(verdict) == isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert verdict.verify(X, y, exact=True)
    assert verdict.verify(csr_array(X), y)
    assert type(sx.separability(csr_array(X), y, fit_intercept)) is type(verdict)


@pytest.mark.parametrize("seed", range(60))
def test_the_proof_against_separation_sums_to_zero(seed):
    X, y, fit_intercept = _draw(seed)
    verdict = sx.separability(X, y, fit_intercept)
    if isinstance(verdict, Separable):
        m = (2 * y - 1) * (X @ verdict.v[1:] + verdict.v[0])
        assert np.all(m > 0)
        assert verdict.margin == pytest.approx(np.min((2 * y - 1) * verdict.hyperplane.distance(X)))
        return
    A = differences(X, y, fit_intercept)[verdict.rows]
    assert np.all(verdict.weights > 0)
    assert verdict.weights.sum() == pytest.approx(1.0)
    assert np.all(np.abs(verdict.weights @ A) <= 1e-12 * np.abs(A).max(axis=0))
    rank = np.linalg.matrix_rank(A / np.maximum(np.abs(A).max(axis=0), 1e-300))
    assert len(verdict.rows) <= (2 * rank if isinstance(verdict, Inseparable) else rank + 1)


def test_xor_is_inseparable_and_four_rows_prove_it():  # B3, exact example
    verdict = sx.separability(XOR, Y)
    assert isinstance(verdict, Inseparable)
    assert verdict.rows.tolist() == [0, 1, 2, 3]
    assert verdict.weights.tolist() == [0.25] * 4
    signs = np.array([-1, -1, 1, 1])
    assert (signs @ np.column_stack([np.ones(4), XOR])).tolist() == [0.0, 0.0, 0.0]  # Σ t x̄ = 0
    assert verdict.verify(XOR, Y)
    assert "4 rows prove it (0, 1, 2, 3)" in verdict.explain()


def test_xor_is_separable_with_the_product_of_its_columns():  # B3
    features = np.column_stack([XOR, XOR.prod(axis=1)])
    verdict = sx.separability(features, Y)
    assert verdict
    assert verdict.verify(features, Y)


def test_touching_rows_make_quasi_separation():
    X, y = np.array([[0.0, 5.0], [1.0, 2.0], [1.0, 2.0], [2.0, 7.0]]), np.array([0, 0, 1, 1])
    verdict = sx.separability(X, y)
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.rows.tolist() == verdict.touching.tolist() == [1, 2]
    m = (2 * y - 1) * (X @ verdict.v[1:] + verdict.v[0])
    np.testing.assert_allclose(m[[1, 2]], 0, atol=1e-12)
    assert np.all(m[[0, 3]] > 1e-6)
    assert "2 rows lie on it" in verdict.explain()
    assert verdict.verify(X, y, exact=True)


def test_overlap_in_one_column_but_not_in_another():
    # x₁ overlaps; where x₁ leaves it open, x₂ separates nothing: two groups of rows are needed
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [3.0, 0.5], [-3.0, 0.5]])
    y = np.array([0, 1, 0, 1, 0, 1])
    verdict = sx.separability(X, y)
    assert isinstance(verdict, QuasiSeparable)
    assert verdict.touching.tolist() == [0, 1, 2, 3]
    assert verdict.verify(X, y)


def test_collinear_columns_are_no_obstacle():
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 6, (30, 2)).astype(float)
    X = np.column_stack([x, x.sum(axis=1), np.full(30, 3.0)])
    y = rng.integers(0, 2, 30)
    verdict = sx.separability(X, y)
    assert isinstance(verdict, Inseparable)
    assert verdict.verify(X, y)


def test_a_tiny_margin_and_a_tiny_overlap_are_told_apart():
    """Down to the tolerance of floating point programs; below it the answer may be in doubt, but is never wrong."""
    for eps in (2.0**-20, 2.0**-40, 2.0**-52):
        for gap, kind in ((eps, Separable), (0.0, QuasiSeparable), (-eps, Inseparable)):
            X, y = np.array([[0.0], [1.0], [1.0 + gap], [2.0]]), np.array([0, 0, 1, 1])
            verdict = sx.separability(X, y)
            assert type(verdict) is kind or (eps < 1e-7 and isinstance(verdict, Doubtful))
            assert verdict.verify(X, y) == (not isinstance(verdict, Doubtful))


def test_scales_of_columns_do_not_matter():
    for seed in range(12):
        X, y, fit_intercept = _draw(3 * seed)
        scaled = X * 2.0 ** np.linspace(-400, 400, X.shape[1])
        kind = type(sx.separability(X, y, fit_intercept))
        verdict = sx.separability(scaled, y, fit_intercept)
        assert type(verdict) is kind
        assert verdict.verify(scaled, y)


def test_what_rounding_decides_is_doubtful_and_says_how_small_the_margin_is():
    rng = np.random.default_rng(39)
    x = rng.standard_normal((40, 2))
    X = np.column_stack([x, x.sum(axis=1)])  # collinear but for rounding
    verdict = sx.separability(X, rng.integers(0, 2, 40))
    assert isinstance(verdict, Doubtful)
    assert verdict.margin < 1e-12
    assert "rounding leaves open" in verdict.explain()
    assert not verdict


def test_more_columns_than_exact_arithmetic_is_for_are_doubtful_unless_separable():
    rng = np.random.default_rng(0)
    X = csr_array(np.hstack([np.eye(3), np.zeros((3, MOST_EXACT_ROWS))])[rng.integers(0, 3, 900)] + 0.0)
    verdict = sx.separability(X, rng.integers(0, 2, 900))
    assert isinstance(verdict, Doubtful)
    assert f"{MOST_EXACT_ROWS} columns" in verdict.explain()
    assert "none separates, 2 rows prove it" in verdict.explain()
    assert not verdict.verify(X, rng.integers(0, 2, 900))
    assert sx.separability(X, X[:, [0]].toarray().ravel().astype(int))


def test_any_two_labels_and_one_column_through_the_origin():
    assert sx.separability([[1.0], [-2.0]], ["yes", "no"], fit_intercept=False)
    through = sx.separability([[1.0], [2.0]], ["no", "yes"], fit_intercept=False)
    assert isinstance(through, Inseparable)
    assert "t·x" in through.explain()


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (XOR, [1, 1, 1, 1], ParameterError, "y: it has 1 class; give at least two"),
        (np.zeros((2, 0)), [0, 1], ParameterError, "X: it has no columns"),
        (XOR, [0, 1, 0], ParameterError, r"X: its shape is \(4, 2\) for 3 labels"),
        ([[1.0], [np.nan]], [0, 1], NotFiniteError, "row 1, column 0 is NaN"),
    ],
)
def test_bad_questions(X, y, error, message):
    with pytest.raises(error, match=message):
        sx.separability(X, y, fit_intercept=False)


# ------------------------------------------------------------------------------------ programs, exact numbers


def test_the_bounded_program_and_its_marginals():
    for seed in range(40):
        X, y, fit_intercept = _draw(seed)
        A = differences(X, y, fit_intercept)
        found = widest(A)
        assert np.all(found.weights >= 0)
        assert found.s <= found.most + 1e-7
        sparse = widest(csr_array(A))
        assert sparse.s == pytest.approx(found.s, abs=1e-7)


def test_least_violation_minimises_the_mean_hinge_of_each_class():
    rng = np.random.default_rng(0)
    A = differences(rng.standard_normal((40, 3)), rng.integers(0, 2, 40), True)
    positive = A[:, 0] > 0

    def cost(v):
        hinge = np.maximum(0, 1 - A @ v)
        return hinge[positive].mean() + hinge[~positive].mean()

    v = least_violation(A, positive)
    for _ in range(200):
        assert cost(v) <= cost(v + 0.1 * rng.standard_normal(4)) + 1e-9


def test_the_fewest_weights_hold_what_they_must():
    rng = np.random.default_rng(3)
    for _ in range(20):
        A = np.column_stack([rng.standard_normal((30, 4)), rng.uniform(0, 1, 30)])
        spanning = np.array([[1.0, 1.0, 0.0, 0.0, 0.0]])
        v = fewest(A, spanning, np.ones(5))
        assert np.all(A @ v >= -1e-7)
        assert abs(v[0] + v[1]) < 1e-7
        assert np.count_nonzero(v) <= 5


def test_two_points_almost_at_one_place_leave_the_line_through_them_in_doubt():
    """Exactly, the line through the doubled points has the last two rows on either side, by 1e-15: an overlap."""
    near = [[-0.7490714453921737, -0.8802567585096648]] * 2 + [[-0.7490714454021825, -0.880256758521788]] * 2
    X = [*near, [-10.533047249121969, -12.731178816947294], [33.712671801803985, 40.86161369468086]]
    verdict = sx.separability(X, [0, 1, 0, 1, 1, 0])
    assert not verdict
    assert type(verdict).__name__ in ("Inseparable", "Doubtful")
