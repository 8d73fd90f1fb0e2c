"""The last steps: taken where second derivatives are at hand, kept where they help, and counted."""

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.core.gap_bounds import evidence
from separatrix.core.solvers.driver import SMALLEST_DISTANCE, finished
from separatrix.core.solvers.state import State

from ... import problems, reference


def table(n, d, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.argmax(X @ rng.standard_normal((d, K)) + 2 * rng.gumbel(size=(n, K)), axis=1)


# Newton; with several classes; L-BFGS around a sample; Newton where a bound counts a sample of the rows.
@pytest.mark.parametrize(("n", "d", "K"), [(60, 3, 2), (150, 4, 3), (9000, 3, 2), (5000, 20, 2)])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_weights_of_a_default_fit(n, d, K, C):
    X, y = table(n, d, K)
    model = LogisticRegression(C=C).fit(X, y)
    _, W = reference.optimum(X, y, K, np.ones(n), np.full(d, 1 / C))
    np.testing.assert_allclose(np.column_stack([model.intercept_, model.coef_]), W, rtol=1e-6, atol=1e-9)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_certificate_is_about_the_weights_returned(C):
    X, y = table(200, 4)
    model = LogisticRegression(C=C).fit(X, y)
    certificate, last = model.certificate_, model.trace_[-1]
    value, gradient = reference.objective(
        np.column_stack([model.intercept_, model.coef_]), X, y, np.ones(200), np.full(4, 1 / C)
    )
    assert certificate.objective == pytest.approx(value, rel=1e-14)
    assert last.value == certificate.objective
    assert last.gradient_norm == certificate.gradient_norm
    assert last.iteration == certificate.iterations == model.n_iter_
    assert last.passes == certificate.passes
    assert np.linalg.norm(gradient) < 1e-8
    assert len({record.iteration for record in model.trace_}) == len(model.trace_)


def test_no_iteration_past_the_limit():
    X, y = table(200, 4)
    needed = LogisticRegression(C=np.inf).fit(X, y).trace_[-2].iteration
    model = LogisticRegression(C=np.inf, max_iter=needed).fit(X, y)
    assert model.certificate_.met
    assert model.n_iter_ == needed


def test_a_step_that_does_not_help_is_not_taken():
    """At the optimum to rounding a step moves nothing but the last bits."""
    problem = problems.draw(11, K=2, C=1.0, n=60)
    objective = problem.objective()
    _, W = reference.optimum(problem.X, problem.codes, 2, problem.weight, problem.ridge, problem.fit_intercept)
    W = objective.rows.frame.from_original(W)
    state = State(W, objective.value_gradient(W))
    known = evidence(objective, W, state.at, thorough=True)
    before = objective.passes
    after, found = finished(objective, state, known)
    assert after is state
    assert objective.passes == before
    assert found.bound.weights.value < SMALLEST_DISTANCE


def test_absolute_values_and_raw_coordinates_are_left_alone():
    """Neither has a Newton step of this kind."""
    X, y = table(200, 4)
    for settings in ({"l1_ratio": 1.0}, {"solver": "gradient-descent"}):
        model = LogisticRegression(**settings).fit(X, y)
        certificate = model.certificate_
        assert certificate.met
        assert (certificate.weight_error is None) == bool(certificate.weight_error_reason)


def test_larger_tables_pay_no_pass_for_it():
    """Past some size a pass is a measurable share of a fit, and a sample's second derivatives are no Newton step."""
    X, y = table(20_000, 30)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.why.startswith("L-BFGS around the Hessian of a sample")
    assert model.trace_[-1].passes == model.certificate_.passes
    assert "of the rows alone" in model.certificate_.weight_error_unit
