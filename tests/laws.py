"""What every loss and every solver must obey. Each law is a function of the thing; traits say where it applies.

A loss or solver is under all its laws by being in its registry: the test modules run every law on every entry.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product

import numpy as np

from separatrix.core.base.machine import threads
from separatrix.core.gap_bounds import bound
from separatrix.core.problem import Objective
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.state import Halt, Need, State
from separatrix.core.solvers.stopping import Stopping

from . import problems, reference

# ------------------------------------------------------------------------------------------------ losses


def _points(loss, seed=0, n=400):
    """Targets and scores that avoid kinks by a hair."""
    rng = np.random.default_rng(seed)
    if loss.traits.multiclass:
        return rng.integers(0, 4, n), rng.normal(0, 3, (n, 4))
    z = rng.normal(0, 3, n)
    t = rng.choice([-1.0, 1.0], n)
    keep = (np.abs(t * z) > 1e-3) & (np.abs(t * z - 1) > 1e-3)
    return t[keep], z[keep]


def _directions(loss, z, seed=1):
    return np.random.default_rng(seed).standard_normal(z.shape)


def _along(a, h):
    """⟨a, h⟩ by row."""
    return a * h if a.ndim == 1 else np.sum(a * h, axis=1)


def loss_derivative_is_numerical(loss):
    t, z = _points(loss)
    h = _directions(loss, z)
    eps = 1e-6
    numerical = (loss.value(t, z + eps * h) - loss.value(t, z - eps * h)) / (2 * eps)
    np.testing.assert_allclose(_along(loss.derivative(t, z), h), numerical, rtol=1e-6, atol=1e-7)


def loss_curvature_is_numerical(loss):
    t, z = _points(loss)
    h = _directions(loss, z)
    eps = 1e-6
    numerical = (loss.derivative(t, z + eps * h) - loss.derivative(t, z - eps * h)) / (2 * eps)
    np.testing.assert_allclose(loss.curvature_product(t, z, h), numerical, rtol=1e-5, atol=1e-7)


def loss_is_convex(loss):
    t, z = _points(loss)
    other = z + _directions(loss, z)
    middle = loss.value(t, 0.5 * (z + other))
    assert np.all(middle <= 0.5 * (loss.value(t, z) + loss.value(t, other)) + 1e-12)


def loss_obeys_fenchel_and_young(loss):
    """ℓ(z) + ℓ*(a) ≥ a·z, with equality at a = ℓ′(z)."""
    t, z = _points(loss)
    other = z + _directions(loss, z)
    a = loss.derivative(t, other)
    conjugate = loss.conjugate(t, a)
    assert np.all(loss.value(t, z) + conjugate >= _along(a, z) - 1e-9)
    np.testing.assert_allclose(loss.value(t, other) + conjugate, _along(a, other), atol=1e-9)


def loss_derivative_is_lipschitz(loss):
    t, z = _points(loss)
    h = _directions(loss, z)
    change = loss.derivative(t, z + h) - loss.derivative(t, z)
    size = np.abs if z.ndim == 1 else (lambda a: np.linalg.norm(a, axis=1))
    assert np.all(size(change) <= loss.traits.lipschitz * size(h) * (1 + 1e-12))


def loss_is_self_concordant(loss):
    """|ℓ‴[h,h,h]| ≤ M range(h) ℓ″[h,h], the third derivative taken numerically."""
    t, z = _points(loss)
    h = _directions(loss, z)
    eps = 1e-4
    second = [_along(loss.curvature_product(t, z + e * h, h), h) for e in (-eps, 0.0, eps)]
    third = (second[2] - second[0]) / (2 * eps)
    span = np.abs(h) if z.ndim == 1 else h.max(axis=1) - h.min(axis=1)
    assert np.all(np.abs(third) <= loss.traits.self_concordance * span * second[1] * (1 + 1e-6) + 1e-7)


def loss_is_calibrated(loss):
    """A convex margin loss is calibrated exactly where it has a negative derivative at m = 0."""
    one, eps = np.ones(1), 1e-7
    left = (loss.value(one, 0 * one) - loss.value(one, -eps * one)) / eps
    right = (loss.value(one, eps * one) - loss.value(one, 0 * one)) / eps
    smooth_and_falling = bool(abs(left[0] - right[0]) < 1e-5 and right[0] < -1e-3)
    assert smooth_and_falling == loss.traits.calibrated


def loss_is_proper(loss):
    """Its expected derivative vanishes where the model's probability is the true one."""
    if loss.traits.multiclass:
        p = np.array([0.1, 0.2, 0.3, 0.4])
        z = np.tile(np.log(p), (4, 1))
        expected = p @ loss.derivative(np.arange(4), z)
    else:
        p, one = 0.3, np.ones(1)
        z = loss.traits.link.inverse(p) * one
        expected = p * loss.derivative(one, z) + (1 - p) * loss.derivative(-one, z)
    np.testing.assert_allclose(expected, 0, atol=1e-14)


def loss_is_minus_the_log_of_its_probability(loss):
    t, z = _points(loss)
    if loss.traits.multiclass:
        log_p = loss.traits.link.log_probabilities(z)[np.arange(len(t)), t]
    else:
        log_p = loss.traits.link.log_probabilities(z)[np.arange(len(t)), (t > 0).astype(int)]
    np.testing.assert_allclose(loss.value(t, z), -log_p, rtol=1e-10, atol=1e-14)


def loss_survives_any_score(loss):
    for size in (1e4, 1e100, 1e300):
        if loss.traits.multiclass:
            t, z = np.array([0, 1, 2]), np.array([[size, 0, -size]] * 3)
            h = np.ones_like(z)
        else:
            t, z = np.array([1.0, -1.0, 1.0]), np.array([size, size, -size])
            h = np.ones_like(z)
        with np.errstate(over="ignore"):
            assert not np.any(np.isnan(loss.value(t, z)))
        assert np.all(np.isfinite(loss.derivative(t, z)))
        assert np.all(np.isfinite(loss.curvature_product(t, z, h)))


LOSS_LAWS = {
    "derivative = numerical derivative": (lambda T: T.continuous, loss_derivative_is_numerical),
    "curvature = numerical curvature": (lambda T: T.smooth, loss_curvature_is_numerical),
    "convex": (lambda T: T.convex, loss_is_convex),
    "Fenchel-Young": (lambda T: T.convex, loss_obeys_fenchel_and_young),
    "Lipschitz derivative": (lambda T: T.lipschitz is not None, loss_derivative_is_lipschitz),
    "self-concordant": (lambda T: T.self_concordance is not None, loss_is_self_concordant),
    "calibrated": (lambda T: T.by_margin and T.convex, loss_is_calibrated),
    "proper": (lambda T: T.proper, loss_is_proper),
    "likelihood": (lambda T: T.likelihood, loss_is_minus_the_log_of_its_probability),
    "no overflow": (lambda T: True, loss_survives_any_score),
}


def loss_laws(losses):
    """(id, law, loss) for each law that applies to each loss."""
    return [
        (f"{name}: {law}", check, loss)
        for name, loss in losses.items()
        for law, (applies, check) in LOSS_LAWS.items()
        if applies(loss.traits)
    ]


# ----------------------------------------------------------------------------------------------- solvers

SEEDS = range(12)


def _ratios(solver):
    """The shares of absolute values that a solver can be asked for."""
    return (0.0,) if Need.RIDGE in solver.needs else (0.0, 0.3, 0.9, 1.0)


def least(problem):
    """E at the minimum, the slow way."""
    rest = (problem.X, problem.codes, problem.K, problem.weight, problem.ridge)
    if problem.l1_ratio == 0:
        return reference.optimum(*rest, problem.fit_intercept)[0]
    best, _, left = reference.sparse_optimum(*rest, problem.lasso, problem.fit_intercept)
    assert left <= 1e-9, "the reference itself has not reached the minimum"
    return best


def _posed(solver, problem, **how):
    return problem.objective(standard=Need.STANDARD in solver.needs, **how)


def _fit(solver, objective, tol=1e-8, max_iter=300):
    return run(solver, objective, np.zeros(objective.shape), Stopping(tol=tol, max_iter=max_iter))


def _plain(seed, **how):
    """A strictly convex problem that gradient descent can solve as well: columns of like scales."""
    drawn = problems.draw(seed, C=1.0, **how)
    return replace(drawn, X=(drawn.X - drawn.X.mean(axis=0)) / drawn.X.std(axis=0))


def solver_bound_is_never_violated(solver):
    """Whatever the solver returns, its gap is at most its bound."""
    for seed, l1_ratio in product(SEEDS, _ratios(solver)):
        problem = problems.draw(seed, C=1.0, l1_ratio=l1_ratio)
        outcome = _fit(solver, _posed(solver, problem), max_iter=30)
        assert outcome.state.at.value - least(problem) <= outcome.bound.known + 1e-13


def solver_reaches_the_optimum(solver):
    """On strictly convex problems all of them agree, as closely as was asked for."""
    for seed, l1_ratio in product(SEEDS, _ratios(solver)):
        problem = _plain(seed, l1_ratio=l1_ratio)
        objective = _posed(solver, problem)
        outcome = _fit(solver, objective, tol=1e-6, max_iter=5000)
        assert outcome.status.code == "optimal", (seed, l1_ratio, outcome.status)
        assert outcome.state.at.value - least(problem) <= 1e-6 * objective.null_value


def solver_goes_on_from_a_state_with_the_same_bits(solver):
    problem = _plain(3, l1_ratio=_ratios(solver)[-1])
    through = _take(states(solver, _posed(solver, problem), np.zeros(_posed(solver, problem).shape)), 8)
    half: State = pickle.loads(pickle.dumps(through[min(3, len(through) - 1)]))
    resumed = _take(states(solver, _posed(solver, problem), half), len(through) - min(3, len(through) - 1))
    assert np.array_equal(resumed[-1].W, through[-1].W)
    assert resumed[-1].iteration == through[-1].iteration


def _take(steps, count):
    return [state for state, _ in zip(steps, range(count), strict=False)]


def solver_gives_the_same_bits_with_any_threads(solver):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60_000, 6))  # several blocks
    codes = (X @ rng.standard_normal(6) + rng.logistic(size=len(X)) > 0).astype(np.int64)
    answers = []
    for count in (1, 2, 5):
        with threads(count):
            problem = problems.Problem(X, codes, 2, np.ones(len(X)), 1.0, np.ones(6), True, _ratios(solver)[-1])
            objective = _posed(solver, problem)
            budget = 2000 if not solver.by_sums else None
            steps = states(solver, objective, np.zeros(objective.shape), budget)
            answers.append(_take(steps, 4)[-1].W)
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def solver_ignores_the_order_of_rows(solver):
    for seed in SEEDS:
        problem = _plain(seed, l1_ratio=0.5 * _ratios(solver)[-1])
        order = np.random.default_rng(seed).permutation(len(problem.codes))
        shuffled = replace(problem, X=problem.X[order], codes=problem.codes[order], weight=problem.weight[order])
        a, b = (_fit(solver, _posed(solver, p), 1e-6, 5000).state.W for p in (problem, shuffled))
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


def solver_takes_whole_weights_as_repeated_rows(solver):
    for seed in SEEDS:
        problem = _plain(seed, l1_ratio=0.5 * _ratios(solver)[-1])
        weight = np.random.default_rng(seed).integers(0, 4, len(problem.codes)).astype(float)
        weight[: problem.K] = 1.0
        often = np.repeat(np.arange(len(weight)), weight.astype(int))
        weighted = replace(problem, weight=weight)
        repeated = replace(problem, X=problem.X[often], codes=problem.codes[often], weight=np.ones(len(often)))
        a, b = (_fit(solver, _posed(solver, p), 1e-6, 5000).state.W for p in (weighted, repeated))
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


def solver_never_returns_what_is_not_finite(solver):
    """Not even on columns of wild scales, from a far start."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3)) * [1e-6, 1.0, 1e6]
    codes = (rng.random(50) < 0.5).astype(np.int64)
    problem = problems.Problem(X, codes, 2, np.ones(50), 1.0, np.ones(3), True)
    objective = _posed(solver, problem)
    outcome = run(solver, objective, 10 * np.ones(objective.shape), Stopping(tol=1e-8, max_iter=50))
    assert np.all(np.isfinite(outcome.state.W))
    assert np.isfinite(outcome.state.at.value)
    assert outcome.state.halt in {None, *Halt}


SOLVER_LAWS = {
    "bound never violated": (lambda s: True, solver_bound_is_never_violated),
    "reaches the optimum": (lambda s: s.converges, solver_reaches_the_optimum),
    "resumes with the same bits": (lambda s: True, solver_goes_on_from_a_state_with_the_same_bits),
    "same bits with any threads": (lambda s: True, solver_gives_the_same_bits_with_any_threads),
    "order of rows": (lambda s: s.by_sums, solver_ignores_the_order_of_rows),
    "weights = repeats": (lambda s: s.by_sums, solver_takes_whole_weights_as_repeated_rows),
    "always finite": (lambda s: True, solver_never_returns_what_is_not_finite),
}


def solver_laws(solvers):
    """(id, law, solver) for each law that applies to each solver."""
    return [
        (f"{name}: {law}", check, solver)
        for name, solver in solvers.items()
        for law, (applies, check) in SOLVER_LAWS.items()
        if applies(solver)
    ]


# --------------------------------------------------------------------------------------------- objective


def objective_derivatives_are_numerical(objective: Objective, W):
    """∇E and ∇²E against differences of E and ∇E."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal(W.shape)
    if not objective.fit_intercept:
        V[:, 0] = 0
    eps = 1e-5
    up, down = objective.value_gradient(W + eps * V), objective.value_gradient(W - eps * V)
    slope = np.sum(objective.value_gradient(W).gradient * V)
    np.testing.assert_allclose(slope, (up.value - down.value) / (2 * eps), rtol=1e-6, atol=1e-8)
    full = (objective.hessian(W) @ V.ravel()).reshape(W.shape)
    if not objective.fit_intercept:
        full[:, 0] = 0
    np.testing.assert_allclose(full, (up.gradient - down.gradient) / (2 * eps), rtol=1e-5, atol=1e-7)


def objective_is_the_written_formula(problem: problems.Problem, objective: Objective, W):
    """The same number, from raw rows and weights in raw units, as the formula written out."""
    raw = objective.rows.frame.to_original(W)
    value, _ = reference.objective(raw, problem.X, problem.codes, problem.weight, problem.ridge)
    assert np.isclose(objective.value_gradient(W).value, value, rtol=1e-11)


def bound_holds(problem: problems.Problem, objective: Objective, W, best):
    at = objective.value_gradient(W)
    for thorough in (False, True):
        found = bound(objective, W, at, thorough)
        assert at.value - best <= found.known + 1e-13 * max(1.0, abs(best)), (thorough, found)
    return found
