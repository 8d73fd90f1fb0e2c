"""The first Newton step from zero on a small dense table is lengthened, and never to a higher objective."""

import numpy as np
import pytest

from separatrix.core.newton_step import newton_direction
from separatrix.core.objective_sums import LARGEST_MULTIPLE, first_multiple
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers import newton
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.stopping import Stopping


def _problem(seed, K, strength=1.0, noise=1.0, n=80, d=4):
    dice = np.random.default_rng(seed)
    X = dice.normal(size=(n, d)) * dice.uniform(0.1, 10.0, d)
    codes = np.argmax(X @ dice.normal(size=(d, K)) + noise * dice.gumbel(size=(n, K)), axis=1)
    codes[:K] = np.arange(K)
    return build_objective(labelled_rows(X, codes, K), K, Penalty(strength, np.ones(d)))


def _first(problem):
    zero = np.zeros(problem.shape)
    at = problem.value_gradient(zero)
    V = newton_direction(problem, at.gradient, problem.factor(zero))
    return V, float(np.vdot(at.gradient, V))


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_longer_step_is_nearer_to_the_minimum_along_the_direction(K, noise, seed):
    problem = _problem(seed, K, noise=noise)
    V, slope = _first(problem)
    multiple = first_multiple(problem, V, slope)
    assert 1.0 <= multiple <= LARGEST_MULTIPLE
    slope_at = problem.slope_along(V)
    assert abs(slope_at(multiple)) <= abs(slope_at(1.0))
    assert problem.value_gradient(multiple * V).value <= problem.value_gradient(V).value


def test_a_strong_penalty_leaves_newtons_step_as_it_is():
    problem = _problem(0, 2, strength=1e8)
    V, slope = _first(problem)
    assert first_multiple(problem, V, slope) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("K", [2, 3])
def test_the_longer_first_step_saves_iterations(K, monkeypatch):
    def iterations():
        problems = [_problem(seed, K) for seed in range(10)]
        runs = [run(newton.Newton(), p, np.zeros(p.shape), Stopping(tol=1e-8, max_iter=100), True) for p in problems]
        assert {each.status.code for each in runs} == {"optimal"}
        return sum(each.state.iteration for each in runs)

    longer = iterations()
    monkeypatch.setattr(newton, "first_multiple", lambda problem, V, slope: 1.0)
    assert longer <= iterations() - 5
