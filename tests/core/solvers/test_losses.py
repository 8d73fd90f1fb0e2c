"""Every solver and every convex loss: a fit to the optimum, or a refusal by name."""

import re

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from separatrix.core.base.errors import ParameterError
from separatrix.core.losses import LOSSES
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.registry import SOLVERS, choose, refuse_unmet
from separatrix.core.solvers.state import Need
from separatrix.core.solvers.stopping import Stopping

CONVEX = [name for name, loss in LOSSES.items() if loss.traits.convex and not loss.traits.multiclass]
TOL = 1e-6


def drawn(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal(d) / np.sqrt(d) + 0.4 * rng.standard_normal(n) > 0.3).astype(np.int64)


def posed(name, X, codes, solver=None, C=0.05):
    standard = solver is None or Need.STANDARD in solver.needs
    rows = labelled_rows(X, codes, 2)
    return build_objective(rows, 2, Penalty(1.0 / C, np.ones(X.shape[1])), standard=standard, loss=name)


def optimum(name, X, codes, C=0.05):
    """E at the minimum over weights in raw units, by SciPy; nothing of it is shared with the solvers."""
    loss, t, rows = LOSSES[name], 2.0 * codes - 1.0, np.hstack([np.ones((len(X), 1)), X])
    if name == "hinge":
        peer = SVC(kernel="linear", C=C, tol=1e-10).fit(X, t)
        w = peer.coef_[0]
        return np.maximum(0.0, 1.0 - t * (X @ w + peer.intercept_)).mean() + 0.5 * w @ w / (C * len(X))

    def E(v):
        z = rows @ v
        value = loss.value(t, z).mean() + 0.5 * v[1:] @ v[1:] / (C * len(X))
        return value, rows.T @ loss.derivative(t, z) / len(X) + np.r_[0.0, v[1:]] / (C * len(X))

    found = minimize(E, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 20000, "ftol": 1e-15})
    return found.fun


def refused(solver, problem):
    """Why a solver refuses a problem, or None."""
    try:
        refuse_unmet(solver, problem)
        solver.init(problem, np.zeros(problem.shape))
    except ParameterError as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize("solver", [name for name, solver in SOLVERS.items() if solver.converges])
@pytest.mark.parametrize("name", CONVEX)
def test_a_solver_fits_a_loss_to_its_optimum_or_refuses_it_by_name(name, solver):
    X, codes = drawn(150, 70)
    problem = posed(name, X, codes, SOLVERS[solver])
    if refusal := refused(SOLVERS[solver], problem):
        assert not problem.loss.traits.smooth or problem.loss.traits.lipschitz is None
        assert re.search(f"{SOLVERS[solver].name!r} (needs|has no default)", refusal)
        return
    outcome = run(SOLVERS[solver], problem, np.zeros(problem.shape), Stopping(tol=TOL, max_iter=5000))
    assert outcome.status.met, outcome.status
    assert abs(outcome.state.at.value - optimum(name, X, codes)) <= 2 * TOL * problem.null_value


@pytest.mark.parametrize("name", CONVEX)
def test_stochastic_descent_approaches_the_minimum_of_every_loss(name):
    X, codes = drawn(150, 70)
    problem = posed(name, X, codes, SOLVERS["sgd"])
    outcome = run(SOLVERS["sgd"], problem, np.zeros(problem.shape), Stopping(tol=TOL, max_iter=30))
    gap = outcome.state.at.value - optimum(name, X, codes)
    assert outcome.status.code in ("max_iter", "patience")
    assert -1e-9 <= gap <= min(outcome.bound.known, 0.1 * (problem.null_value or 1.0))


@pytest.mark.parametrize(("n", "d"), [(40, 3), (150, 70), (60, 200)])
@pytest.mark.parametrize("name", CONVEX)
def test_the_chosen_solver_takes_the_loss(name, n, d):
    if name == "perceptron":
        pytest.skip("it has kinks and offers no smooth losses near it")
    X, codes = drawn(n, d)
    problem = posed(name, X, codes)
    outcome = run(choose(problem)[0], problem, np.zeros(problem.shape), Stopping(tol=TOL, max_iter=5000))
    assert outcome.status.met, outcome.status
    assert abs(outcome.state.at.value - optimum(name, X, codes)) <= 2 * TOL * problem.null_value
