"""Fits from one C to the next: second derivatives, the null model, and how near the minimum they end."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core import regularisation_path
from separatrix.core.base.machine import threads
from separatrix.core.duality_bound import duality
from separatrix.core.null_model import null_curvature
from separatrix.core.penalty import Penalty
from separatrix.core.penalty_search import predicted_C
from separatrix.core.problem import build_objective
from separatrix.core.regularisation_path import MOST_COPIED_ENTRIES, ReducedRows, Ridge
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.stopping import Stopping


def _posed(K, form=np.asarray, fit_intercept=True, seed=0, n=120):
    """Rows with a constant column, which leaves a direction undetermined, and columns of unlike scales."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [1.0, 10.0, 0.1, 1.0, 1.0] + [0.0, 3.0, 0.0, 0.0, 0.0]
    X[:, 4] = 1.0
    codes = np.argmax(X[:, :4] / X[:, :4].std(axis=0) @ rng.standard_normal((4, K)) + rng.gumbel(size=(n, K)), axis=1)
    codes[: 2 * K] = np.repeat(np.arange(K), 2)
    weight = rng.integers(1, 4, n).astype(float)
    return build_objective(
        labelled_rows(form(X), codes, K, weight), K, Penalty(1.0, rng.uniform(0.5, 2, 5)), fit_intercept
    )


def _minimum(problem, C):
    there = problem.with_(penalty=problem.penalty.times(1.0 / C))
    return there, run(Newton(), there, np.zeros(there.shape), Stopping(tol=1e-13, max_iter=100)).state


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("copied", [True, False])
def test_slopes_and_curvatures_of_rows_add_up_to_those_of_the_objective(K, form, fit_intercept, copied, monkeypatch):
    monkeypatch.setattr(regularisation_path, "MOST_COPIED_ENTRIES", MOST_COPIED_ENTRIES if copied else 0)
    problem, rng = _posed(K, form, fit_intercept), np.random.default_rng(1)
    problem = problem.with_(penalty=Penalty.none(5))
    space, W = problem.subspace, rng.standard_normal(problem.shape)
    rows, V = ReducedRows.of(problem, W), rng.standard_normal((2, len(space.reduce(W))))
    assert isinstance(rows.x, np.ndarray) == copied
    each = rows.slopes(rows.each_scores(V)) * rows.sigma
    expected = [space.reduce(problem.value_gradient(W + space.expand(v)).gradient) for v in V]
    np.testing.assert_allclose(rows.each_adjoint(each), expected, atol=1e-12)
    value, slope = rows.losses(rows.z)
    assert value @ rows.sigma == pytest.approx(problem.value_gradient(W).value)
    H = np.einsum("abn,ni,nj->aibj", rows.bends(slope), rows.X, rows.X).reshape(V.shape[1], -1)
    expected = space.reduce_hessian(problem.hessian(W))
    np.testing.assert_allclose(H, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("K", [2, 3])
def test_the_null_model_is_the_best_without_columns_and_its_curvature_needs_no_pass(K):
    problem = _posed(K)
    W = problem.null_weights
    at = problem.value_gradient(W)
    assert at.value == pytest.approx(problem.null_value)
    np.testing.assert_allclose(at.gradient[:, 0], 0.0, atol=1e-14)
    path, passes = Ridge.on(problem), problem.passes
    alone = problem.with_(penalty=Penalty.none(5))
    np.testing.assert_allclose(path.null.H, problem.subspace.reduce_hessian(alone.hessian(W)), atol=1e-12)
    assert null_curvature(path.base).shape == (K - 1, K - 1)
    assert predicted_C(path.base, at.gradient, 120.0) > 0
    assert problem.passes == passes + 1  # of the comparison


@pytest.mark.parametrize("K", [2, 3])
def test_fits_are_near_the_minimum_wherever_the_path_comes_from(K):
    problem = _posed(K)
    path = Ridge.on(problem)
    for C in (1.0, 8.0, 64.0, 0.1, 3.0, 1e-3):
        fit, (there, state) = path.at(C), _minimum(problem, C)
        W = fit.rows.W
        value = there.value_gradient(W).value
        assert 0 <= value - state.at.value + 1e-14 <= 1e-4 * state.at.value
        assert fit.loss == pytest.approx(value - there.penalty_value(W), rel=1e-3)
        expected = np.linalg.inv(there.subspace.reduce_hessian(there.hessian(state.W)))
        np.testing.assert_allclose(fit.inverse.A, expected, atol=0.1 * np.abs(expected).max())


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_the_last_fit_is_finished_to_the_tolerance(K, tol):
    problem = _posed(K)
    path = Ridge.on(problem)
    fit = path.at(0.5)
    path.at(4.0)
    there = problem.with_(penalty=problem.penalty.times(1.0 / 0.5))
    done = path.finished(0.5, fit, tol)
    assert duality(there, done, there.value_gradient(done)).known <= tol * problem.null_value


@pytest.mark.parametrize("K", [3, 5])
def test_second_derivatives_in_pieces_are_those_of_the_objective(K, monkeypatch):
    whole = Ridge.on(_posed(K)).at(1.0).inverse.A
    monkeypatch.setattr(regularisation_path, "MULTIPLICATIONS_PER_PIECE", 1)
    found = Ridge.on(_posed(K)).at(1.0).inverse.A
    np.testing.assert_allclose(found, whole, rtol=1e-9, atol=1e-12 * np.abs(whole).max())


@pytest.mark.parametrize("multiplications", [1, regularisation_path.MULTIPLICATIONS_PER_PIECE])
def test_threads_do_not_change_a_bit(multiplications, monkeypatch):
    monkeypatch.setattr(regularisation_path, "MULTIPLICATIONS_PER_PIECE", multiplications)
    found = []
    for count in (1, 3):
        with threads(count):
            path = Ridge.on(_posed(3, n=40_000))
            found.append([path.at(C).rows.W for C in (0.1, 1.0)])
    np.testing.assert_array_equal(found[0], found[1])
