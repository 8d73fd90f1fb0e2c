r"""Columns of any size: the solver works in coordinates of its own and answers in the columns'.

Without a penalty, x_j → c x_j must only turn w_j into w_j/c, and for a power of two c to the last bit. With a
penalty the problem itself changes with the units; then the reference is Newton's method in mpmath.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from separatrix import LogisticRegression
from separatrix.core.base.errors import NotConvergedWarning
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from tests.exact import Exact

FORMS = {"dense": np.asarray, "CSR": csr_array}
STRENGTHS = (1e-3, 1.0, 1e3)


def noisy_rows(n, d, seed, n_classes=2, zeros=0.0):
    """Rows whose classes overlap, with a share of zeros among the entries."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1
    X[rng.random((n, d)) < zeros] = 0.0
    z = X @ rng.standard_normal((d, n_classes)) + 1.5 * rng.gumbel(size=(n, n_classes))
    return X, z.argmax(axis=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(exponents=st.lists(st.integers(-500, 500), min_size=4, max_size=4))
@example(exponents=[500, 500, 500, 500])
@example(exponents=[-500, -500, -500, -500])
@example(exponents=[500, -500, 0, 500])
def test_powers_of_two_change_no_bit(form, n_classes, solver, fit_intercept, exponents):
    X, y = noisy_rows(60, 4, seed=1, n_classes=n_classes, zeros=0.4)
    scale = np.ldexp(1.0, exponents)
    model = LogisticRegression(C=np.inf, solver=solver, fit_intercept=fit_intercept)
    made = FORMS[form]
    plain, scaled = made(X), made(X * scale)
    model.fit(plain, y)
    weights, labels, scores = (model.coef_, model.intercept_), model.predict(plain), model.decision_function(plain)
    certificate = model.certificate_
    assert certificate.rank == 4 + fit_intercept
    model.fit(scaled, y)
    np.testing.assert_array_equal(model.coef_ * scale, weights[0])
    np.testing.assert_array_equal(model.intercept_, weights[1])
    np.testing.assert_array_equal(model.predict(scaled), labels)
    np.testing.assert_array_equal(model.decision_function(scaled), scores)
    assert (model.certificate_.objective, model.certificate_.bound) == (certificate.objective, certificate.bound)
    assert model.certificate_.verify(scaled, y)


def agrees(X, y, C, exact, tol=1e-14, rtol=1e-6, form="dense"):
    """A gap of 1e-14 leaves up to 1e-7 in the weights, relative to their size: hence 1e-6."""
    least = exact.minimum()
    # Weights may be as small as 1e-150; relative errors mean something as long as they are normal numbers.
    assert np.all(np.abs(least.coef) > np.finfo(np.float64).tiny)
    model = LogisticRegression(C=C, tol=tol).fit(FORMS[form](X), y)
    np.testing.assert_allclose(model.coef_, least.coef, rtol=rtol, atol=0)
    np.testing.assert_allclose(model.intercept_, least.intercept, rtol=rtol, atol=0)
    # The certificate's objective is a mean; the reference's is scikit-learn's.
    assert model.certificate_.objective * C * len(y) == pytest.approx(float(least.value), rel=1e-12)
    return model, least


def bound_holds(model, exact, least, C, n_rows):
    """What the weights as delivered, taken as exact numbers, are really above the minimum."""
    gap = float(exact.value(model.coef_, model.intercept_) - least.value)
    assert 0 <= gap <= model.certificate_.bound * C * n_rows


SCALES = {
    "12 x 2, large and small": (12, (1e150, 1e-150)),
    "12 x 2, one small": (12, (1e-150, 1.0)),
    "20 x 3, mixed": (20, (1e150, 1e-150, 1.0)),
    "20 x 3, all large": (20, (1e150, 1e150, 1e150)),
    "20 x 3, all small": (20, (1e-150, 1e-150, 1e-150)),
    "20 x 3, tame": (20, (1.0, 1.0, 1.0)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("case", SCALES)
def test_penalised_columns_of_any_size(case, C, form):
    n, scale = SCALES[case]
    X, y = noisy_rows(n, len(scale), seed=3)
    X = X * scale
    exact = Exact(X, y, C)
    model, least = agrees(X, y, C, exact, form=form)
    bound_holds(model, exact, least, C, n)
    assert model.certificate_.verify(FORMS[form](X), y)


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("case", SCALES)
def test_penalised_columns_of_any_size_by_lbfgs(case, C):
    """A gap says nothing of the weight of a column of 1e-150; only Newton's step gets all of its digits right.

    So weights are compared by what they add to the scores.
    """
    n, scale = SCALES[case]
    X, y = noisy_rows(n, len(scale), seed=3)
    X = X * scale
    exact = Exact(X, y, C)
    least = exact.minimum()
    model = LogisticRegression(C=C, tol=1e-14, solver="lbfgs").fit(X, y)
    np.testing.assert_allclose(model.coef_ * scale, least.coef * scale, rtol=1e-6, atol=1e-6)
    assert model.certificate_.objective * C * n == pytest.approx(float(least.value), rel=1e-12)
    bound_holds(model, exact, least, C, n)


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("case", SCALES)
def test_no_tolerance_goes_to_rounding(case, C):
    """No bound proves a gap of 0, so the fit says it stopped at rounding; the weights have 12 digits by then."""
    n, scale = SCALES[case]
    X, y = noisy_rows(n, len(scale), seed=3)
    X = X * scale
    with pytest.warns(NotConvergedWarning, match="as far as float64 goes"):
        agrees(X, y, C, Exact(X, y, C), tol=0.0, rtol=1e-12)


OFFSETS = {
    "all columns": ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    "both ways": ((1.0, 0.0, -1.0), (1.0, 1.0, 1.0)),
    "and of different sizes": ((1.0, 1.0, 1.0), (1e8, 1e-8, 1.0)),
}


def offset_rows(case, offset):
    """Columns about ``offset`` standard deviations from 0."""
    signs, scale = OFFSETS[case]
    X, y = noisy_rows(20, 3, seed=3)
    return (X + offset * np.array(signs)) * scale, y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("case", OFFSETS)
def test_penalised_columns_far_from_zero(case, C, form):
    X, y = offset_rows(case, 1e8)
    model, _ = agrees(X, y, C, Exact(X, y, C), form=form)
    assert model.certificate_.verify(FORMS[form](X), y)


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("case", OFFSETS)
def test_bound_holds_for_the_weights_as_delivered(case, C, offset):
    """An intercept of 1e12 is rounded to 1e-4, which moves every score: the certificate has to count that in."""
    X, y = offset_rows(case, offset)
    exact = Exact(X, y, C)
    model = LogisticRegression(C=C).fit(X, y)
    bound_holds(model, exact, exact.minimum(), C, len(y))
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("scale", [(1.0, 1.0), (1e8, 1e-8), (1e150, 1e-150)], ids=str)
def test_penalised_softmax(scale, offset, C, form):
    X, y = noisy_rows(18, 2, seed=5, n_classes=3)
    X = (X + np.array([offset, 0.0])) * scale
    model, _ = agrees(X, y, C, Exact(X, y, C), form=form)
    assert model.certificate_.verify(FORMS[form](X), y)


def test_the_rank_of_columns_of_many_sizes_costs_no_pass():
    """A penalised column of size 1e-3 has a large penalty in the solver's coordinates. Its sample shows its rank."""
    X, y = noisy_rows(2000, 4, seed=6)
    rows = labelled_rows(X * [1e-3, 1e-1, 10.0, 1e3], y, 2)
    problem = build_objective(rows, 2, Penalty(1.0, np.ones(4)))
    assert problem.root_penalty.max() > 0.25
    assert problem.columns.sample_gram.shape == (5, 5)
    passes = problem.passes
    assert (problem.columns.rank, problem.passes) == (5, passes)
