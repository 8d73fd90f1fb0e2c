"""Leave-one-out from leverages against fits that really leave a row out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core import leave_one_out as module
from separatrix.core import leave_one_out as refits
from separatrix.core import regularisation_path
from separatrix.core.base.machine import threads
from separatrix.core.leave_one_out import leave_one_out
from separatrix.core.losses import LOSSES
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.regularisation_path import LARGEST_ACCURATE_LEVERAGE, Inverse, ReducedRows
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.stopping import Stopping
from tests import problems, reference


def _fitted(problem):
    """The rows at the minimum and the inverse there."""
    W = run(Newton(), problem, np.zeros(problem.shape), Stopping(tol=1e-12, max_iter=100)).state.W
    return ReducedRows.of(problem, W), Inverse.of(problem.factor(W), problem.subspace)


def _left_out(drawn, i):
    """The loss of row i by the slow reference's fit to the others."""
    others = np.arange(len(drawn.codes)) != i
    rows = (drawn.X[others], drawn.codes[others], drawn.K, drawn.weight[others], drawn.ridge)
    _, W = reference.optimum(*rows, drawn.fit_intercept)
    return reference.losses(W, drawn.X[i : i + 1], drawn.codes[i : i + 1])[0][0]


def _overlapping(seed, K, n, d, C, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    codes = np.argmax(spread * X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K)), axis=1)
    codes[: 2 * K] = np.repeat(np.arange(K), 2)
    weight = rng.integers(1, 4, n).astype(float)
    return problems.Problem(X, codes, K, weight, C, rng.uniform(0.5, 2, d), True)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_mean_is_within_two_percent_of_leaving_every_row_out(K, C, sparse):
    for seed in range(3):
        drawn = _overlapping(seed, K, 40, 3, C)
        problem = drawn.objective(sparse=sparse)
        found = leave_one_out(*_fitted(problem))
        brute = np.array([_left_out(drawn, i) for i in range(len(drawn.codes))])
        assert drawn.weight @ found.loss == pytest.approx(drawn.weight @ brute, rel=0.02)
        assert np.corrcoef(found.loss, brute)[0, 1] > 0.99


@pytest.mark.parametrize("K", [2, 3])
def test_rows_of_high_leverage_are_refitted_to_their_own_fit(K):
    seen = 0
    for seed in range(6):
        drawn = _overlapping(seed, K, 14, 4, 100.0, spread=2.0)
        problem = drawn.objective()
        rows, inverse = _fitted(problem)
        found = leave_one_out(rows, inverse)
        lever = regularisation_path.one_step(regularisation_path.row_terms(rows, inverse), rows)[2]
        high = np.flatnonzero(lever > LARGEST_ACCURATE_LEVERAGE)
        assert found.refitted == found.high >= len(high)
        for i in high:
            assert found.loss[i] == pytest.approx(_left_out(drawn, i), rel=0.02, abs=2e-3)
        seen += len(high)
    assert seen > 10


def test_it_is_exact_for_a_squared_loss(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_ACCURATE_LEVERAGE", np.inf)
    monkeypatch.setattr(module, "LONGEST_STEP", np.inf)
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((20, 4)), rng.choice([-1.0, 1.0], 20)
    weight = rng.integers(1, 4, 20).astype(float)
    problem = Objective.of(memory_rows(X, t, weight), LOSSES["squared"], Penalty(3.0, np.ones(4)))
    found = leave_one_out(*_fitted(problem))
    homogeneous, ridge = np.column_stack([np.ones(20), X]), np.diag([0.0, *np.full(4, 3.0 / 2)])
    for i in range(20):
        s = np.where(np.arange(20) == i, 0.0, weight)
        w = np.linalg.solve(homogeneous.T @ (s[:, None] * homogeneous) + ridge, homogeneous.T @ (s * t))
        assert found.loss[i] == pytest.approx((homogeneous[i] @ w - t[i]) ** 2, rel=1e-6)
    assert found.high == 0


def test_leverages_sum_to_the_effective_number_of_parameters():
    drawn = _overlapping(1, 3, 60, 4, np.inf)
    problem = drawn.objective()
    found = leave_one_out(*_fitted(problem))
    assert found.share.sum() == pytest.approx(2 * 5, rel=1e-6)


def test_a_row_of_weight_two_is_left_out_whole_and_one_of_weight_zero_counts_for_nothing():
    drawn = _overlapping(2, 2, 30, 3, 1.0)
    weight = drawn.weight.copy()
    weight[3] = 0.0
    with_zero = build_objective(labelled_rows(drawn.X, drawn.codes, 2, weight), 2, Penalty(1.0, drawn.factors))
    kept = np.arange(30) != 3
    without = build_objective(
        labelled_rows(drawn.X[kept], drawn.codes[kept], 2, weight[kept]), 2, Penalty(1.0, drawn.factors)
    )
    np.testing.assert_allclose(
        leave_one_out(*_fitted(with_zero)).loss[kept],
        leave_one_out(*_fitted(without)).loss,
        rtol=1e-6,
    )


def test_too_many_rows_of_high_leverage_are_drawn_and_stand_for_the_rest(monkeypatch):
    drawn = _overlapping(3, 2, 60, 40, 100.0)
    problem = drawn.objective()
    fitted = _fitted(problem)
    monkeypatch.setattr(module, "FEWEST_REFITS", 60)
    whole = leave_one_out(*fitted)
    monkeypatch.setattr(module, "FEWEST_REFITS", 15)
    some = leave_one_out(*fitted)
    assert whole.refitted == whole.high == some.high > 25
    assert 8 <= some.refitted <= 15
    assert some.loss.mean() == pytest.approx(whole.loss.mean(), rel=0.1)
    order = np.random.default_rng(1).permutation(60)
    turned = build_objective(
        labelled_rows(drawn.X[order], drawn.codes[order], 2, drawn.weight[order]), 2, Penalty(0.01, drawn.factors)
    )
    np.testing.assert_allclose(leave_one_out(*_fitted(turned)).loss, some.loss[order], rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("K", [2, 3])
def test_threads_do_not_change_a_bit(K, monkeypatch):
    monkeypatch.setattr(refits, "NUMBERS_PER_PIECE", 512)
    monkeypatch.setattr(module, "SMALL_PIECE", 256)
    drawn = _overlapping(5, K, 80, 6, 100.0, spread=2.0)
    problem = drawn.objective()
    fitted = _fitted(problem)
    with threads(1):
        one = leave_one_out(*fitted)
    with threads(3):
        three = leave_one_out(*fitted)
    assert one.refitted > 1
    np.testing.assert_array_equal(one.loss, three.loss)


def test_sparse_rows_give_the_same_as_dense_ones():
    drawn = _overlapping(6, 2, 50, 4, 10.0)
    X = np.where(np.abs(drawn.X) < 0.7, 0.0, drawn.X)
    dense, sparse = (
        build_objective(labelled_rows(form(X), drawn.codes, 2, drawn.weight), 2, Penalty(0.1, drawn.factors))
        for form in (np.asarray, csr_array)
    )
    np.testing.assert_allclose(leave_one_out(*_fitted(sparse)).loss, leave_one_out(*_fitted(dense)).loss, rtol=1e-6)


@pytest.mark.parametrize("most", [5, 20, 60])
def test_draws_stand_for_all_of_them(most):
    rng = np.random.default_rng(7)
    size = rng.pareto(1.5, 60) + 0.1
    beside = size * rng.uniform(0.9, 1.1, 60)  # what is summed is about in proportion to the odds
    totals = []
    for seed in range(400):
        rows, stands_for = module.drawn(size, most, seed)
        assert len(np.unique(rows)) == len(rows) <= most
        assert stands_for @ size[rows] == pytest.approx(size.sum())
        totals.append(stands_for @ beside[rows])
    assert np.mean(totals) == pytest.approx(beside.sum(), rel=0.01)
    assert np.std(totals) < 0.1 / np.sqrt(most) * beside.sum()


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
def test_some_rows_stand_for_all_where_they_are_many(K, sparse, monkeypatch):
    drawn = _overlapping(8, K, 3000, 5, 1.0)
    problem = drawn.objective(sparse=sparse)
    fitted = _fitted(problem)
    whole = leave_one_out(*fitted)
    monkeypatch.setattr(module, "DRAWN_MULTIPLICATIONS", 1)
    rows = fitted[0]
    own = reference.losses(problem.rows.frame.to_original(rows.W), drawn.X, drawn.codes)[0]
    added = drawn.weight @ (whole.loss - own)
    off = []
    for seed in range(6):
        some = leave_one_out(*fitted, seed, lambda: module.row_lengths(rows))
        assert some.seen < whole.seen == 3000
        assert some.share.sum() == pytest.approx(whole.share.sum(), rel=0.1)
        off.append(drawn.weight @ (some.loss - whole.loss))
        assert abs(off[-1]) < 4 * some.error * drawn.weight.sum()
    assert np.sqrt(np.mean(np.square(off))) < 0.03 * added
