"""Verdicts that are known beforehand: real tables, polytopes, Cover's count, bad input, size."""

from math import comb

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer

import separatrix as sx
from separatrix.core.base.errors import NotFiniteError
from separatrix.core.base.machine import threads
from separatrix.core.proofs import linear_programs
from separatrix.core.proofs.verdicts import Inseparable, QuasiSeparable, Separable

from .plain import by_two_programs

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
Y = np.array([0, 0, 1, 1])


def _checked(X, y, kind, **options):
    verdict = sx.separability(X, y, **options)
    assert isinstance(verdict, kind), verdict.explain()
    assert verdict.verify(X, y)
    return verdict


def test_breast_cancer_is_separable_in_all_its_columns_and_not_in_ten():
    X, y = load_breast_cancer(return_X_y=True)
    assert _checked(X, y, Separable).verify(X, y, exact=True)
    verdict = _checked(X[:, :10], y, Inseparable)
    assert verdict.verify(X[:, :10], y, exact=True)
    assert len(verdict.rows) <= 22
    assert by_two_programs(X / X.max(axis=0), y) is Separable
    assert by_two_programs(X[:, :10] / X[:, :10].max(axis=0), y) is Inseparable


def test_xor_with_and_without_its_squares_and_products():  # B3
    assert _checked(XOR, Y, Inseparable).multipliers == (1, 1, 1, 1)
    phi = sx.quadratic().fit_transform(XOR)
    assert _checked(phi, Y, Separable).verify(phi, Y, exact=True)


@pytest.mark.parametrize("d", [2, 5, 17, 40])
def test_a_cross_polytope_around_the_other_class_needs_all_its_rows(d):
    """±e_j of one class, the origin of the other: with any row left out they no longer overlap."""
    X = np.vstack([np.eye(d), -np.eye(d), np.zeros((1, d))])
    y = np.r_[np.ones(2 * d), 0]
    verdict = _checked(X, y, Inseparable)
    assert sorted(verdict.rows) == list(range(2 * d + 1))
    assert verdict.verify(X, y, exact=True)
    assert by_two_programs(X, y.astype(int)) is Inseparable
    fewer = np.arange(2 * d + 1) != d
    _checked(X[fewer], y[fewer], QuasiSeparable)


def test_opposite_labels_at_one_place_between_separated_classes_touch():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (40, 3)) * np.where(np.arange(40) < 20, 1.0, -1.0)[:, None]
    X = np.vstack([X, np.zeros((2, 3))])
    y = np.r_[np.ones(20), np.zeros(20), 1, 0]
    verdict = _checked(X, y, QuasiSeparable)
    assert set(verdict.touching) == {40, 41} == set(verdict.rows)
    assert verdict.verify(X, y, exact=True)


@pytest.mark.parametrize("n", [9, 10, 12, 14, 16])
def test_the_share_of_separable_sets_is_covers(n):
    """Cover, Geometrical and statistical properties of systems of linear inequalities, IEEE Transactions on Electronic
    Computers 14 (1965): of n points in general position in d dimensions, 2^(1−n) Σ_{k ≤ d} C(n − 1, k)."""
    d, trials = 5, 200
    rng = np.random.default_rng(n)
    separable = 0
    for _ in range(trials):
        X, y = rng.standard_normal((n, d)), rng.integers(0, 2, n)
        if len(set(y)) == 1:
            separable += 1
            continue
        verdict = sx.separability(X, y)
        assert verdict.verify(X, y)
        separable += bool(verdict)
    share = 2.0 ** (1 - n) * sum(comb(n - 1, k) for k in range(d + 1))
    assert binomtest(separable, trials, share).pvalue > 1e-3
    if n == 2 * (d + 1):
        assert share == 0.5


def test_constant_columns_duplicates_and_more_columns_than_rows():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((60, 3))
    y = rng.integers(0, 2, 60)
    X = np.column_stack([x, np.full(60, 0.1), x[:, 0], np.zeros(60), 2 * x[:, 1]])
    verdict = _checked(X, y, Inseparable)
    assert len(verdict.rows) <= 8, "twice the rank, which is 4"
    assert verdict.verify(X, y, exact=True)
    _checked(np.vstack([X, X]), np.r_[y, y], Inseparable)
    _checked(rng.standard_normal((20, 60)), np.arange(20) % 2, Separable)
    _checked(np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1], Separable)
    _checked(np.array([[1.0, 2.0], [1.0, 2.0]]), [0, 1], Inseparable)
    _checked(np.zeros((3, 2)), [0, 1, 1], Inseparable, fit_intercept=False)


@pytest.mark.parametrize("power", [-8, 8])
def test_scales_of_columns_change_no_verdict(power):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 4)), rng.integers(0, 2, 80)
    scaled = X * np.array([1.0, 10.0**power, 10.0**-power, 1.0])
    assert _checked(scaled, y, Inseparable).verify(scaled, y, exact=True)
    t = (X @ [1, 1, 1, 1.0] > 0).astype(int)
    assert _checked(scaled, t, Separable).verify(scaled, t, exact=True)


def test_not_a_number_is_refused_by_name():
    with pytest.raises(NotFiniteError, match="row 1, column 'dose' is NaN"):
        sx.separability([[1.0], [np.nan]], [0, 1], names=["dose"])
    with pytest.raises(NotFiniteError, match="row 1, column 0 is infinity"):
        sx.separability(csr_array(np.array([[1.0], [np.inf]])), [0, 1])


def test_sparse_rows_like_text():
    rng = np.random.default_rng(6)
    X = random_array((600, 3000), density=0.01, random_state=rng, format="csr")
    y = rng.integers(0, 2, 600)
    _checked(X, y, Separable)
    narrow = csr_array(random_array((3000, 80), density=0.1, random_state=rng, format="csr"))
    t = rng.integers(0, 2, 3000)
    verdict = _checked(narrow, t, Inseparable)
    assert verdict.verify(narrow.toarray(), t)


@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_ten_conflicting_rows_among_many_are_found(gap):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((20_000, 20))
    z = X @ rng.standard_normal(20)
    X, y = X[np.abs(z) > gap], (z[np.abs(z) > gap] > 0).astype(int)
    _checked(X, y, Separable)
    few = rng.choice(len(y), 10, replace=False)
    y[few] = 1 - y[few]
    verdict = _checked(X, y, Inseparable)
    assert set(verdict.rows) & set(few)
    assert len(verdict.rows) <= 2 * 21


def test_touching_rows_among_many():
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.standard_normal((20_000, 3)), rng.random(20_000) < 0.01])
    y = rng.integers(0, 2, 20_000)
    y[X[:, 3] == 1] = 1
    verdict = _checked(X, y, QuasiSeparable)
    assert verdict.columns.tolist() == [3]
    assert len(verdict.touching) == np.sum(X[:, 3] == 0)


def test_programs_see_few_of_many_rows(monkeypatch):
    """No program has more rows than a working set may, however many there are."""
    sizes = []
    original = linear_programs.widest
    monkeypatch.setattr(linear_programs, "widest", lambda B: sizes.append(B.shape[0]) or original(B))
    rng = np.random.default_rng(9)
    X = rng.standard_normal((20_000, 30))
    _checked(X, X @ np.ones(30) + rng.normal(0, 0.03, 20_000) > 0, Inseparable)
    assert len(sizes) > 1
    assert (
        max(sizes)
        <= linear_programs.SMALLEST_WORKING_SET
        + (linear_programs.STAYING_ROWS_PER_DIRECTION + 2 * linear_programs.ENTERING_ROWS_PER_DIRECTION) * 31
    )


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(10)
    X = rng.standard_normal((100_000, 12))
    y = X @ rng.standard_normal(12) > 0
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(sx.separability(X, y))
    assert np.array_equal(found[0].v, found[1].v)
    assert found[0].margin == found[1].margin


def test_the_hyperplane_of_maximum_margin_is_farther_from_all_rows():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((50, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
    verdict = _checked(X, y, Separable)
    model = sx.MaxMarginClassifier().fit(X, y)
    margin = np.min((2 * y - 1) * model.hyperplane().distance(X))
    assert margin >= verdict.margin
    assert margin == pytest.approx(model.margin_, rel=1e-9)
