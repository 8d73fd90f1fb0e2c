"""Fewer rows than columns: the optimum among the rows' combinations, exactly; the laws' problems are tall."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import threads
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.span import Span
from separatrix.core.solvers.stopping import Stopping
from tests import problems, reference


def wide(seed, K=2, C=1.0, **changed):
    """A drawn problem with more columns than rows, at unlike scales and offsets."""
    rng = np.random.default_rng(seed)
    drawn = problems.draw(seed, K=K, C=C, n=8 * K)
    n, d = len(drawn.codes), 30
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0, 1, d)) + rng.normal(0, 2, d)
    X[:, 3] = 7.0
    return replace(drawn, X=X, factors=rng.uniform(0.2, 2, d), **changed)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_optimum(sparse, K, C):
    for seed in range(3):
        drawn = wide(seed, K, C, fit_intercept=seed != 1)
        objective = drawn.objective(sparse=sparse)
        state = Span().init(objective, np.zeros(objective.shape))
        best, _ = reference.optimum(drawn.X, drawn.codes, K, drawn.weight, drawn.ridge, drawn.fit_intercept)
        if not sparse:  # sparse rows are left to a method for the columns
            assert state.at.value - best <= 1e-9 * objective.null_value
        outcome = run(Span(), objective, np.zeros(objective.shape), Stopping(tol=1e-8, max_iter=50))
        assert outcome.status.code == "optimal"
        assert outcome.state.at.value - best <= outcome.bound.known + 1e-13


def test_duplicate_rows_and_rows_without_weight():
    drawn = wide(0)
    weight = drawn.weight.copy()
    weight[-2:] = 0.0
    X = drawn.X.copy()
    X[4] = X[5]
    drawn = replace(drawn, X=X, weight=weight)
    objective = drawn.objective()
    outcome = run(Span(), objective, np.zeros(objective.shape), Stopping(tol=1e-10, max_iter=50))
    best, _ = reference.optimum(X, drawn.codes, 2, weight, drawn.ridge, drawn.fit_intercept)
    assert outcome.status.code == "optimal"
    assert outcome.state.at.value - best <= 1e-10


def test_rounding_is_refined_away():
    """Columns a million times larger than others round the rows' products; steps with the true gradient mend it."""
    drawn = wide(2, C=1e6)
    scale = np.ones(30)
    scale[:2] = 1e6
    drawn = replace(drawn, X=drawn.X * scale)
    objective = drawn.objective()
    first = Span().init(objective, np.zeros(objective.shape))
    outcome = run(Span(), objective, first, Stopping(tol=1e-13, max_iter=50))
    assert np.linalg.norm(outcome.state.at.gradient) <= np.linalg.norm(first.at.gradient)
    assert outcome.bound.known <= 1e-8 * objective.null_value


def test_float32_rows_and_read_only_rows():
    drawn = wide(1)
    X = drawn.X.astype(np.float32)
    X.setflags(write=False)
    single, double = (sx.LogisticRegression(solver="span").fit(rows, drawn.codes) for rows in (X, X.astype(float)))
    np.testing.assert_allclose(single.scorer_.W, double.scorer_.W, rtol=1e-9, atol=1e-12)
    assert single.coef_.dtype == np.float32


def test_same_bits_with_any_threads_and_from_a_kept_state():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60_000))  # several strands of slices
    y = (rng.random(40) < 0.5).astype(int)
    answers = []
    for count in (1, 2, 5):
        with threads(count):
            answers.append(sx.LogisticRegression(solver="span").fit(X, y).coef_)
    assert all(np.array_equal(answers[0], other) for other in answers)
    drawn = wide(3)
    through = [state for state, _ in zip(states(Span(), drawn.objective(), np.zeros((1, 31))), range(3), strict=False)]
    kept = pickle.loads(pickle.dumps(through[0]))
    resumed = [state for state, _ in zip(states(Span(), drawn.objective(), kept), range(3), strict=False)]
    assert np.array_equal(resumed[-1].W, through[-1].W)


def test_other_smooth_losses():
    drawn = wide(0)
    model = sx.LogisticRegression(loss="probit", solver="span").fit(drawn.X, drawn.codes)
    assert model.certificate_.gradient_norm < 1e-8


def test_chosen_for_wide_dense_rows_only():
    rng = np.random.default_rng(0)
    big = replace(wide(0), X=rng.standard_normal((16, 1500)), factors=np.ones(1500))
    assert choose(big.objective())[0] == Span()
    assert choose(big.objective(sparse=True))[0] != Span()
    assert choose(replace(big, C=np.inf).objective())[0] != Span()


def test_a_column_without_a_penalty_is_refused():
    drawn = wide(0)
    factors = np.ones(30)
    factors[7] = 0.0
    with pytest.raises(ParameterError, match="penalty on every column"):
        sx.LogisticRegression(solver="span", penalty_factors=factors).fit(drawn.X, drawn.codes)
    with pytest.raises(ParameterError, match="C is infinite"):
        sx.LogisticRegression(np.inf, solver="span").fit(drawn.X, drawn.codes)
