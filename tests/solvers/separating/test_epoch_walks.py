"""Several problems over the same rows are walked together, with the results of walking each of them alone."""

import numpy as np
import pytest

from separatrix.rows import memory_rows
from separatrix.rows.one_against_rest import one_against_rest
from separatrix.solvers.separating import epoch_walks
from separatrix.solvers.separating.epoch_walks import walked_together
from separatrix.solvers.separating.perceptron import OnlineUpdates
from separatrix.solvers.separating.separation_objective import build_separation_objectives


def _problems(n_columns=2, n_classes=3, fit_intercept=True):
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((80, n_columns)), rng.integers(0, n_classes, 80)
    rows = memory_rows(X, codes if n_classes > 2 else 2.0 * codes - 1.0, rng.integers(1, 4, 80).astype(np.float64))
    return list(build_separation_objectives(one_against_rest(rows, n_classes), fit_intercept))


@pytest.mark.parametrize("settings", [{}, {"zero": "positive"}, {"eta": 0.3}, {"average": False}, {"pocket": True}])
@pytest.mark.parametrize("shape", [{}, {"n_columns": 3}, {"n_classes": 2}, {"fit_intercept": False}], ids=str)
def test_the_states_are_those_of_each_problem_alone(settings, shape):
    solver = OnlineUpdates(**{"shuffle": True, "average": True, "seed": 3, **settings})
    problems, alone = _problems(**shape), _problems(**shape)
    starts = [np.full((1, shape.get("n_columns", 2) + 1), 0.5 * k) for k in range(len(problems))]
    states = [solver.init(problem, start) for problem, start in zip(problems, starts, strict=True)]
    for count in (4, 5):
        states = walked_together(solver, problems, states, count)
    for start, problem, mine, state in zip(starts, alone, problems, states, strict=True):
        expected = solver.init(problem, start)
        for count in (4, 5):
            expected = solver.walked(problem, expected, count)
        assert solver.answer(state).tolist() == solver.answer(expected).tolist()
        assert (state.iteration, state.met) == (expected.iteration, expected.met)
        for name in ("mistakes", "epoch", "seen", "errors"):
            assert getattr(state.memory, name) == getattr(expected.memory, name)
        assert mine.passes == problem.passes


def test_three_classes_in_the_plane_take_one_loop(monkeypatch):
    solver, problems = OnlineUpdates(shuffle=True, average=True), _problems()
    states = [solver.init(problem, np.zeros((1, 3))) for problem in problems]
    calls = []
    loop = epoch_walks.compiled_walk_of_classes
    monkeypatch.setattr(epoch_walks, "compiled_walk_of_classes", lambda *args: calls.append(1) or loop(*args))
    walked_together(solver, problems, states, 3)
    assert calls == [1]
