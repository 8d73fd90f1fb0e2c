"""The bound on the error of the weights is never violated, in standard errors computed apart from the package."""

from dataclasses import replace

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.core.duality_bound import duality
from separatrix.core.gap_bounds import affine, by_curvature, proven, with_weights
from tests import problems, reference
from tests.exact import Exact


def in_standard_errors(problem, W, best):
    """The largest error of a row's scores, centred over the classes, in standard errors at W: raw units throughout.

    Scores of the rows span all that the rows determine of the weights, also where columns are collinear.
    """
    K = len(W)
    H = reference.hessian(W, problem.X, problem.codes, problem.weight, problem.ridge)
    free = np.tile(np.r_[problem.fit_intercept, np.ones(W.shape[1] - 1, dtype=bool)], K)
    d = np.sqrt(np.diag(H)) + (np.diag(H) == 0)
    inverse = np.zeros_like(H)
    scaled = (H / d / d[:, None])[np.ix_(free, free)]
    inverse[np.ix_(free, free)] = np.linalg.pinv(scaled, rcond=1e-12, hermitian=True)
    inverse /= np.outer(d, d)
    contrast = np.eye(K) - 1 / K if K > 1 else np.eye(1)
    rows = np.hstack([np.ones((len(problem.X), 1)), problem.X])
    C = np.einsum("kl,ij->kilj", contrast, rows).reshape(K * len(rows), -1)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", C, inverse, C) / problem.weight.sum())
    seen = errors > 1e-9 * errors.max()
    return float(np.max((np.abs(C @ (W - best).ravel()) / np.where(seen, errors, 1.0))[seen]))


def near(rng, W, problem):
    direction = rng.standard_normal(W.shape) / np.r_[1.0, problem.X.std(axis=0)]
    direction[:, 0] *= problem.fit_intercept
    return W + direction * 10.0 ** rng.uniform(-7, 0)


def optimum(problem):
    return reference.optimum(problem.X, problem.codes, problem.K, problem.weight, problem.ridge, problem.fit_intercept)[
        1
    ]


def test_never_violated():
    tested = sharp = 0
    for seed in range(200):
        problem = problems.draw(seed)
        if np.isinf(problem.C) and not problems.attained(problem):
            continue
        best, objective = optimum(problem), problem.objective()
        point = near(np.random.default_rng(seed), best, problem)
        W = objective.rows.frame.from_original(point)
        found = affine(objective, W, objective.value_gradient(W)).weights
        if found.value is None:
            continue
        true = in_standard_errors(problem, point, best)
        # The reference is exact to rounding, which its conditioning magnifies.
        assert true <= found.value * (1 + 1e-6) + 1e-6, (seed, true, found)
        tested += 1
        sharp += found.value < 3 * true
    assert tested > 60
    assert sharp > 20, "a bound that is never near the error would say nothing"


def test_never_violated_with_absolute_values():
    tested = 0
    for seed in range(60):
        problem = problems.draw(seed, K=2, C=float(10.0 ** (seed % 4 - 1)), l1_ratio=0.5)
        rest = (problem.weight, problem.ridge, problem.lasso, problem.fit_intercept)
        _, best, left = reference.sparse_optimum(problem.X, problem.codes, problem.K, *rest)
        if left > 1e-9:
            continue
        objective = problem.objective()
        point = near(np.random.default_rng(seed), best, problem)
        W = objective.rows.frame.from_original(point)
        found = affine(objective, W, objective.value_gradient(W)).weights
        if found.value is not None:
            assert in_standard_errors(problem, point, best) <= found.value * (1 + 1e-6) + 1e-6
            tested += 1
    assert tested > 15


def test_of_a_sample_in_its_own_standard_errors():
    """Rows left out of the Hessian only make its standard errors larger, and the unit says so."""
    tested = 0
    for seed in range(60):
        problem = problems.draw(seed, n=80, K=2, C=1.0)
        best, objective = optimum(problem), problem.objective()
        rng = np.random.default_rng(seed)
        point = near(rng, best, problem)
        W = objective.rows.frame.from_original(point)
        whole, subset = objective.rows.resident().homogeneous()[:, 1], objective.rows.sample(40, seed).block
        found = affine(objective, W, objective.value_gradient(W), subset).weights
        if found.value is None:
            continue
        assert f"from {subset.n_rows} of the rows alone" in found.unit
        alone = replace(problem, weight=problem.weight * np.isin(whole, subset.homogeneous()[:, 1]))
        assert in_standard_errors(alone, point, best) <= found.value * (1 + 1e-6) + 1e-6
        tested += 1
    assert tested > 20


def test_holds_after_a_step_by_the_hessian_before_it():
    """No Hessian is taken at the new point, and the bound there is still one."""
    tested = 0
    for seed in range(120):
        problem = problems.draw(seed)
        if np.isinf(problem.C) and not problems.attained(problem):
            continue
        best, objective = optimum(problem), problem.objective()
        rng = np.random.default_rng(seed)
        W = objective.rows.frame.from_original(near(rng, best, problem))
        space, before = objective.subspace, by_curvature(objective, W, objective.value_gradient(W)).curvature
        if before is None:
            continue
        v = rng.standard_normal(space.reduce(W).shape)
        v *= rng.uniform(0, 0.5) / max(before.longest * before.factor.lengths(v[None, :])[0], 1e-300)
        moved = W + space.expand(v)
        at = objective.value_gradient(moved)
        found, there = proven(objective, moved, at, before.after(v)), affine(objective, moved, at)
        if found.value is None:
            continue
        assert there.known <= found.known * (1 + 1e-6) + 1e-15, "a Hessian of its own proves at least as much"
        assert in_standard_errors(problem, objective.rows.frame.to_original(moved), best) <= found.weights.value + 1e-6
        tested += 1
    assert tested > 25


@pytest.mark.parametrize(("K", "C"), [(2, 1.0), (2, 1e4), (3, 1.0), (3, 100.0)])
def test_a_default_fit_against_fifty_digits(K, C):
    """At the end of a fit the bound is about rounding: only a reference with more digits can judge it."""
    for seed in range(4):
        problem = replace(problems.draw(seed, K=K, C=C, n=40), weight=np.ones(40), fit_intercept=True)
        problem = replace(problem, factors=np.ones_like(problem.factors))
        model = LogisticRegression(C=C).fit(problem.X, problem.codes)
        exact = Exact(problem.X, problem.codes, C, digits=50).minimum()
        W, best = (np.column_stack([m.intercept_, m.coef_]) for m in (model, _as_model(exact)))
        claimed = model.certificate_
        assert claimed.weight_error < 1e-6
        assert "standard errors" in claimed.weight_error_unit
        assert in_standard_errors(problem, W, best) <= claimed.weight_error


def _as_model(minimum):
    return type("Fitted", (), {"coef_": minimum.coef, "intercept_": minimum.intercept})


def test_by_the_penalty_where_no_second_derivatives_were_taken():
    """|w − w*| ≤ (2 S gap C/f)^½, in the columns' own units."""
    tested = 0
    for seed in range(150):
        problem = problems.draw(seed, C=float(10.0 ** (seed % 5 - 2)))
        best, objective = optimum(problem), problem.objective()
        point = near(np.random.default_rng(seed), best, problem)
        W = objective.rows.frame.from_original(point)
        found = with_weights(objective, duality(objective, W, objective.value_gradient(W))).weights
        assert ("√C" in found.unit) == bool(np.all(problem.factors == 1))
        allowed = found.value * np.sqrt(problem.C / problem.factors)
        assert np.all(np.abs(point - best)[:, 1:] <= allowed * (1 + 1e-9) + 1e-9 * np.abs(best[:, 1:]))
        tested += 1
    assert tested == 150


def test_total_weight_is_in_the_units_that_were_given():
    """Rows that count twice have standard errors smaller by √2, however weights are scaled inside."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    W = optimum(problems.Problem(X, y, 2, np.ones(60), np.inf, np.ones(2), True)) + 0.01
    found = []
    for times in (1.0, 2.0, 3.0):
        problem = problems.Problem(X, y, 2, np.full(60, times), np.inf, np.ones(2), True)
        objective = problem.objective()
        framed = objective.rows.frame.from_original(W)
        found.append(affine(objective, framed, objective.value_gradient(framed)).weights.value / np.sqrt(times))
    assert found == pytest.approx([found[0]] * 3, rel=1e-9)


def test_several_classes_with_absolute_values_have_none():
    problem = problems.draw(3, K=3, C=1.0, l1_ratio=1.0)
    model = LogisticRegression(C=1.0, l1_ratio=1.0).fit(problem.X, problem.codes)
    assert model.certificate_.weight_error is None
    assert model.certificate_.weight_error_reason
    assert "weights:   unknown" in str(model.certificate_)
