"""The bounds are never violated: thousands of random problems against the true gap."""

from dataclasses import replace

import numpy as np
import pytest

from separatrix.core.certificate import Bound, WeightErrorBound
from separatrix.core.duality_bound import duality
from separatrix.core.gap_bounds import affine, bound
from tests import laws, problems, reference
from tests.campaigns import seeds


def _near(rng, W, problem):
    """Points from very near the optimum to far away."""
    direction = rng.standard_normal(W.shape)
    if not problem.fit_intercept:
        direction[:, 0] = 0.0
    return W + direction * 10.0 ** rng.uniform(-7, 1)


@pytest.mark.parametrize("part", seeds(1, 6))
def test_never_violated(part):
    sharp = tested = 0
    for seed in range(part * 500, (part + 1) * 500):
        problem = problems.draw(seed)
        if np.isinf(problem.C) and not problems.attained(problem):
            continue
        best, W = reference.optimum(
            problem.X, problem.codes, problem.K, problem.weight, problem.ridge, problem.fit_intercept
        )
        objective = problem.objective(sparse=seed % 3 == 0)
        W = objective.rows.frame.from_original(W)
        rng = np.random.default_rng(seed)
        for point in (W, _near(rng, W, problem), _near(rng, W, problem)):
            found = laws.bound_holds(problem, objective, point, best)
            tested += 1
            sharp += found.known <= 1e-9 * objective.null_value
    assert tested > 1000
    assert sharp > 300, "the bound must also be sharp at the optimum, or it says nothing"


@pytest.mark.parametrize("l1_ratio", [*(pytest.param(share, marks=pytest.mark.slow) for share in (0.3, 0.9)), 1.0])
def test_never_violated_with_absolute_values(l1_ratio):
    """By duality and by self-concordance, at the optimum, near it and far from it, with columns left unpenalised."""
    tested, sharp = 0, dict.fromkeys(("duality", "self-concordance"), 0)
    for seed in range(150):
        problem = problems.draw(seed, C=float(10.0 ** (seed % 5 - 2)), l1_ratio=l1_ratio)
        if seed % 4 == 0 and problems.attained(replace(problem, C=np.inf)):
            problem = replace(problem, factors=problem.factors * (np.arange(problem.X.shape[1]) > 0))
        rest = (problem.weight, problem.ridge, problem.lasso, problem.fit_intercept)
        best, W, left = reference.sparse_optimum(problem.X, problem.codes, problem.K, *rest)
        if left > 1e-9:
            continue
        objective = problem.objective(sparse=seed % 3 == 0)
        W = objective.rows.frame.from_original(W)
        rng = np.random.default_rng(seed)
        some = np.where(rng.random(W.shape) < 0.5, W, _near(rng, W, problem))
        for point in (W, _near(rng, W, problem), some):
            laws.bound_holds(problem, objective, point, best)
            tested += 1
        at = objective.value_gradient(W)
        for found in (duality(objective, W, at), affine(objective, W, at)):
            sharp[found.kind] += found.known <= 1e-8 * objective.null_value
    assert tested > 400
    assert min(sharp.values()) > 50, sharp


def test_with_absolute_values_the_bound_by_self_concordance_falls_with_the_square():
    """Duality's falls with the subgradient itself, so it needs twice the digits of the weights."""
    problem = problems.draw(9, K=2, C=1.0, l1_ratio=1.0)
    rest = (problem.weight, problem.ridge, problem.lasso, problem.fit_intercept)
    _, W, _ = reference.sparse_optimum(problem.X, problem.codes, problem.K, *rest)
    objective = problem.objective()
    W = objective.rows.frame.from_original(W)
    off = W * (1 + 1e-4)
    at = objective.value_gradient(off)
    assert affine(objective, off, at).known < 1e-3 * duality(objective, off, at).known


def test_a_bound_of_any_subset_of_rows_holds():
    for seed in range(300):
        problem = problems.draw(seed, n=80)
        if np.isinf(problem.C) and not problems.attained(problem):
            continue
        best, W = reference.optimum(
            problem.X, problem.codes, problem.K, problem.weight, problem.ridge, problem.fit_intercept
        )
        objective = problem.objective()
        rng = np.random.default_rng(seed)
        point = _near(rng, objective.rows.frame.from_original(W), problem)
        at = objective.value_gradient(point)
        subset = objective.rows.sample(int(rng.integers(20, 80)), seed).block
        assert at.value - best <= affine(objective, point, at, subset).known + 1e-13


def test_no_bound_where_no_optimum_exists():
    """On separated rows without a penalty a bound would prove an optimum that is not there."""
    seen = 0
    for seed in range(700):
        problem = problems.draw(seed, C=np.inf)
        if problems.attained(problem):
            continue
        seen += 1
        objective = problem.objective()
        rng = np.random.default_rng(seed)
        for size in (0.0, 1.0, 10.0):
            W = size * rng.standard_normal(objective.shape)
            found = bound(objective, W, objective.value_gradient(W), thorough=True)
            assert found.value is None
            assert found.reason
    assert seen > 50


def test_the_newton_decrement_alone_would_be_violated():
    """Why the bound is not simply λ²/2."""
    below = tried = 0
    for seed in range(300):
        problem = problems.draw(seed, C=1.0)
        best, W = reference.optimum(
            problem.X, problem.codes, problem.K, problem.weight, problem.ridge, problem.fit_intercept
        )
        objective = problem.objective()
        point = _near(np.random.default_rng(seed), objective.rows.frame.from_original(W), problem)
        at, space = objective.value_gradient(point), objective.subspace
        g = space.reduce(at.gradient)
        decrement = 0.5 * g @ np.linalg.solve(space.reduce_hessian(objective.hessian(point)), g)
        tried += 1
        below += decrement < (at.value - best) * (1 - 1e-6) - 1e-13
    assert below > 0.1 * tried


def test_duality_bound_says_why_where_there_is_none():
    problem = problems.draw(2, C=np.inf)
    objective = problem.objective()
    W = np.zeros(objective.shape)
    found = duality(objective, W, objective.value_gradient(W))
    assert found.value is None
    assert "penalty" in found.reason


def test_unchanged_by_a_linear_map_of_the_columns():
    """λR and the bound of a maximum-likelihood fit do not depend on the columns' units or mixture."""
    problem = problems.draw(11, K=2, C=np.inf, n=60)
    rng = np.random.default_rng(0)
    M = rng.standard_normal((problem.X.shape[1],) * 2) + 2 * np.eye(problem.X.shape[1])
    mixed = problems.Problem(
        problem.X @ M, problem.codes, 2, problem.weight, np.inf, problem.factors, problem.fit_intercept
    )
    raw = np.column_stack([[0.0], 0.01 * rng.standard_normal((1, problem.X.shape[1]))])
    mapped = np.column_stack([raw[:, :1], np.linalg.solve(M, raw[0, 1:])[None]])
    found = []
    for p, W in ((problem, raw), (mixed, mapped)):
        objective = p.objective()
        framed = objective.rows.frame.from_original(W)
        found.append(affine(objective, framed, objective.value_gradient(framed)))
    assert found[0].known == pytest.approx(found[1].known, rel=1e-6)
    assert found[0].reason == found[1].reason


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_no_bound(value):
    bound = Bound(value, "duality", weights=WeightErrorBound(value, "√C"))
    assert (bound.value, bound.known, bound.weights.value) == (None, np.inf, None)
    assert "range of float64" in bound.reason
    assert "range of float64" in bound.weights.reason
    assert Bound(value, "duality", "another reason").reason == "another reason"
