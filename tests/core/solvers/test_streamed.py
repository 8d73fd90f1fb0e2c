"""Rows that are streamed give what rows in memory give; what needs rows in memory refuses a stream by name."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.base.errors import ParameterError
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.convex_hulls import Kozinec, NearestPoint
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.gradient_descent import StochasticDescent
from separatrix.core.solvers.perceptron_updates import UPDATES
from separatrix.core.solvers.registry import SOLVERS, choose, refuse_unmet
from separatrix.core.solvers.separation_problem import build_separation_objective
from separatrix.core.solvers.separation_stopping import AllCorrect, OutOfSteps, ProvenInseparable
from separatrix.core.solvers.state import NOT_STREAMED, Need
from separatrix.core.solvers.stopping import Stopping
from tests import problems
from tests.streamed import streamed

TOL = 1e-8
STREAMING = [name for name, solver in SOLVERS.items() if not solver.needs & NOT_STREAMED]
IN_MEMORY = [name for name in SOLVERS if name not in STREAMING]


def both(drawn, solver, sparse=False):
    """The problem over rows in memory and over the same rows streamed."""
    rows = labelled_rows(csr_array(drawn.X) if sparse else drawn.X, drawn.codes, drawn.K, drawn.weight)
    penalty = Penalty(0.0 if np.isinf(drawn.C) else 1.0 / drawn.C, drawn.factors, drawn.l1_ratio)
    rest = (drawn.K, penalty, drawn.fit_intercept, Need.STANDARD in solver.needs)
    return build_objective(rows, *rest), build_objective(streamed(rows), *rest)


def test_a_stream_knows_its_rows_only_after_they_were_read():
    rows = streamed(memory_rows(np.eye(20), np.ones(20)))
    assert rows.n_rows is None
    problem = build_separation_objective(rows)
    assert (problem.n_rows, rows.n_rows, problem.rows.resident()) == (20, 20, None)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", STREAMING)
def test_a_solver_by_sums_gives_the_same_on_a_stream(name, sparse):
    solver, compared = SOLVERS[name], 0
    for seed in range(10):
        drawn = problems.draw(seed, l1_ratio=0.5 if Need.RIDGE not in solver.needs and seed % 2 else 0.0)
        if np.isinf(drawn.C) and not problems.attained(drawn):
            continue
        memory, stream = both(drawn, solver, sparse)
        ours, theirs = (
            run(solver, problem, np.zeros(problem.shape), Stopping(tol=TOL, max_iter=100))
            for problem in (stream, memory)
        )
        assert ours.status.code == theirs.status.code
        assert stream.null_value == pytest.approx(memory.null_value, rel=1e-12)
        assert (stream.n_rows, stream.columns.rank) == (memory.n_rows, memory.columns.rank)
        goal = TOL * memory.null_value
        assert ours.state.at.value == pytest.approx(theirs.state.at.value, abs=2 * goal + 1e-12)
        if theirs.bound.value is not None:
            assert ours.bound.value <= max(goal, 2 * theirs.bound.value)
        compared += 1
    assert compared > 5


@pytest.mark.parametrize("name", ["newton", "proximal", "lbfgs"])
def test_newton_ends_at_the_same_coefficients(name):
    for seed in range(12):
        drawn = problems.draw(seed, C=1.0)
        memory, stream = both(drawn, SOLVERS[name])
        rules = Stopping(tol=1e-12, max_iter=500)
        W, V = (run(SOLVERS[name], of, np.zeros(of.shape), rules).state.W for of in (memory, stream))
        # A gap of 1e-12 leaves an error of about 1e-6 in the weights, and small tables in memory take other steps.
        np.testing.assert_allclose(V, W, rtol=1e-5, atol=3e-6)


@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_needs_rows_in_memory_says_so(name):
    _, stream = both(problems.draw(4, K=2, C=1.0), SOLVERS[name])
    with pytest.raises(ParameterError, match="needs rows in memory; use 'lbfgs' or 'auto'"):
        refuse_unmet(SOLVERS[name], stream)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_stochastic_descent_uses_rows_in_the_same_order_wherever_they_are(sparse, monkeypatch):
    drawn = problems.draw(4, K=2, C=1.0, n=90)
    solver, rules = StochasticDescent(batch_size=4, schedule="inverse"), Stopping(tol=TOL, max_iter=6)
    ends = []
    for entries in (1 << 24, 100):  # with few entries at a time, an epoch takes several passes
        monkeypatch.setattr("separatrix.core.solvers.gradient_descent.ENTRIES_AT_A_TIME", entries)
        ends += [run(solver, of, np.zeros(of.shape), rules).state for of in both(drawn, solver, sparse)]
    for end in ends[1:]:
        np.testing.assert_array_equal(end.W, ends[0].W)


def test_auto_chooses_what_streams():
    for seed in range(24):
        _, stream = both(problems.draw(seed), SOLVERS["newton"])
        solver, _ = choose(stream)
        assert not solver.needs & NOT_STREAMED


# ------------------------------------------------------------------------------------------- separating hyperplanes


def separable(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((40, 3)), rng.standard_normal(3)
    t = np.where(X @ w > 0, 1.0, -1.0)
    return memory_rows(X + 0.3 * np.outer(t, w), t)


@pytest.mark.parametrize("update", ["batch", "worst"])
def test_perceptrons_by_sums_are_the_same_on_a_stream(update):
    rows = separable(0)
    rules = [AllCorrect(), OutOfSteps(500, ProvenInseparable())]
    W, V = (
        run(UPDATES[update](), build_separation_objective(of), np.zeros((1, 4)), Stopping(rules)).state.W
        for of in (rows, streamed(rows, 40))
    )
    np.testing.assert_allclose(V, W, rtol=1e-12)


def test_the_separators_that_walk_over_rows_refuse_a_stream():
    problem = build_separation_objective(streamed(separable(2)))
    for solver in (Kozinec(), NearestPoint()):
        with pytest.raises(ParameterError, match=f"'{solver.name}' needs rows in memory"):
            solver.init(problem, np.zeros((1, 4)))
    online = UPDATES["online"](by_update=True)
    with pytest.raises(ParameterError, match="update: got 'online' for rows outside memory, where a step is an epoch"):
        online.step(problem, online.init(problem, np.zeros((1, 4))))
