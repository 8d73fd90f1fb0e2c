"""Kozinec's algorithm step by step (docs/tour.md, P9)."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.base.errors import ParameterError
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.convex_hulls import Kozinec
from separatrix.core.solvers.driver import states
from separatrix.core.solvers.separation_problem import build_separation_objective


def _separable(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d)
    keep = np.abs(z) > 0.15
    return X[keep], np.where(z[keep] > 0, 1.0, -1.0)


def _take(problem, count, start=None):
    steps = states(Kozinec(), problem, np.zeros(problem.shape) if start is None else start)
    return [state for state, _ in zip(steps, range(count), strict=False)]


def test_one_step_by_hand():
    # α starts at (2, 0), β at (0, 0); w = (2, 0); no row of + lies further back, so nothing is left to do
    X = np.array([[2.0, 1.0], [2.0, -1.0], [0.0, 0.0]])
    state = _take(build_separation_objective(memory_rows(X, np.array([1.0, 1.0, -1.0]))), 1)[0]
    assert state.W[0].tolist() == [-2.0, 2.0, 0.0]
    assert (state.memory.lower, state.memory.upper) == (1.0, 1.0)
    # here (1, 3) lies furthest back along w = (2, 1): α − x = (1, −2), k = w·(1, −2)/5 = 0, then β's row is no better
    X = np.array([[3.0, -1.0], [1.0, 3.0], [0.0, 0.0]])
    first, second = _take(build_separation_objective(memory_rows(X, np.array([1.0, 1.0, -1.0]))), 2)
    assert first.memory.alpha.tolist() == [2.0, 1.0]
    assert second.halt is not None
    # along w = (2, 0) the row (1, 0) is 1 behind α: k = min(1, 2·1/1) = 1, α moves to it
    X = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    second = _take(build_separation_objective(memory_rows(X, np.array([1.0, 1.0, -1.0]))), 2)[1]
    assert second.memory.alpha.tolist() == [1.0, 0.0]
    assert second.memory.share.tolist() == [0.0, 1.0, 1.0]


def test_the_points_stay_in_their_hulls_and_approach_each_other():
    for seed in range(10):
        X, t = _separable(seed)
        for before, after in pairwise(_take(build_separation_objective(memory_rows(X, t)), 40)):
            if after.halt is not None:
                break
            share = after.memory.share
            assert np.all(share >= 0)
            for sign, point in ((1, after.memory.alpha), (-1, after.memory.beta)):
                assert share[t == sign].sum() == pytest.approx(1.0)
                np.testing.assert_allclose(share[t == sign] @ X[t == sign], point, atol=1e-12)
            assert after.at.value < before.at.value


def test_upper_and_lower_bound_the_margin():
    X, t = _separable(3)
    state = _take(build_separation_objective(memory_rows(X, t)), 4000)[-1]
    W = state.W[0]
    distances = t * (X @ W[1:] + W[0]) / np.linalg.norm(W[1:])
    assert state.memory.lower == pytest.approx(distances.min(), rel=1e-12)
    assert state.memory.lower <= state.memory.upper
    assert state.memory.upper - state.memory.lower < 0.01


def test_resumes_with_the_same_bits_and_sparse_is_one_path():
    X, t = _separable(1)
    through = _take(build_separation_objective(memory_rows(X, t)), 30)
    half = pickle.loads(pickle.dumps(through[10]))
    np.testing.assert_array_equal(_take(build_separation_objective(memory_rows(X, t)), 20, half)[-1].W, through[-1].W)
    sparse = _take(build_separation_objective(memory_rows(csr_array(X), t)), 30)[-1]
    np.testing.assert_allclose(sparse.W, through[-1].W, rtol=1e-9)


def test_a_frame_with_unlike_scales_is_refused():
    X, t = _separable(1)
    problem = build_separation_objective(memory_rows(X, t, frame=Frame(np.zeros(3), np.array([1.0, 2.0, 1.0]))))
    with pytest.raises(ParameterError, match="differently"):
        Kozinec().init(problem, np.zeros(problem.shape))
