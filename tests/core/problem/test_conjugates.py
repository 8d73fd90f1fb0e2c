"""The duality bound from a loss's conjugate: never violated, sharp at the optimum, and the same as by entropy."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
import pytest

from separatrix.core import duality_bound, null_model
from separatrix.core.duality_bound import WIDTHS
from separatrix.core.losses import LOSSES, Kinked, Logistic, MarginLoss, Traits
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.stopping import Stopping
from tests import problems

WITH_A_BOUND = [
    name
    for name, loss in LOSSES.items()
    if loss.traits.convex and (loss.traits.lipschitz is not None or isinstance(loss, Kinked))
]


@final
@dataclass(frozen=True)
class PlainLogistic(MarginLoss):
    """The logistic loss, of which only the functions are known, and not that its dual is an entropy."""

    traits: ClassVar[Traits] = Traits(lipschitz=0.25)
    of_margin, slope, curvature = Logistic.of_margin, Logistic.slope, Logistic.curvature
    conjugate_of_slope = Logistic.conjugate_of_slope


def posed(drawn, loss, l1_ratio=0.0):
    rows = labelled_rows(drawn.X, drawn.codes, drawn.K, drawn.weight)
    penalty = Penalty(1.0 / drawn.C, drawn.factors, l1_ratio)
    return build_objective(rows, drawn.K, penalty, drawn.fit_intercept, loss=loss)


def points(problem, W, seed):
    rng = np.random.default_rng(seed)
    yield W
    for _ in range(3):
        moved = W + rng.standard_normal(W.shape) * 10.0 ** rng.uniform(-7, 1)
        moved[:, problem.pinned] = 0.0
        yield moved


@pytest.mark.parametrize("l1_ratio", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("name", WITH_A_BOUND)
def test_never_violated_and_sharp_at_the_optimum(name, l1_ratio):
    if l1_ratio and not LOSSES[name].traits.smooth:
        pytest.skip("no solver takes kinks in the loss and in the penalty at once")
    sharp = 0
    for seed in range(40):
        drawn = problems.draw(seed, K=3 if name == "softmax" else 2, C=float(10.0 ** (seed % 4 - 2)))
        problem = posed(drawn, name, l1_ratio)
        start, rules = np.zeros(problem.shape), Stopping(tol=1e-9, max_iter=500)
        W = run(choose(problem)[0], problem, start, rules, exact_weights=True).state.W
        best = problem.value_gradient(W).value
        for point in points(problem, W, seed):
            at = problem.value_gradient(point)
            found = duality_bound.duality(problem, point, at)
            # ``best`` itself is above the minimum by at most its own bound.
            assert at.value - best <= found.known + 1e-12
            sharp += found.known <= 1e-6 * problem.null_value
    assert sharp >= 30, "the bound must also be sharp at the optimum, or it says nothing"


@pytest.mark.parametrize("l1_ratio", [0.0, 0.6, 1.0])
def test_the_conjugate_gives_the_bound_that_entropy_gives(monkeypatch, l1_ratio):
    """The closed form for the logistic loss is kept for its speed alone."""
    monkeypatch.setattr(null_model, "CONSTANT_SCORES", (-800.0, 800.0))  # slopes of the closed form
    for seed in range(60):
        problem = posed(problems.draw(seed, K=2, C=float(10.0 ** (seed % 4 - 2))), "logistic", l1_ratio)
        plain = problem.with_(loss=PlainLogistic())
        rng = np.random.default_rng(seed)
        for size in (0.0, 1e-3, 1.0):
            W = size * rng.standard_normal(problem.shape)
            W[:, problem.pinned] = 0.0
            at = problem.value_gradient(W)
            closed, general = (duality_bound.duality(p, W, at).known for p in (problem, plain))
            assert general == pytest.approx(closed, rel=1e-9, abs=1e-11)


def test_a_bound_of_a_loss_with_kinks_falls_with_the_width():
    drawn = replace(problems.draw(4, K=2, C=1.0), fit_intercept=True)
    problem = posed(drawn, "hinge")
    outcome = run(choose(problem)[0], problem, np.zeros(problem.shape), Stopping(tol=1e-12, max_iter=100))
    known = [record.bound for record in outcome.trace]
    assert known[-1] < 1e-8 * problem.null_value
    assert len(known) <= len(WIDTHS) + 1


def test_no_bound_without_what_it_is_made_of():
    drawn = problems.draw(0, K=2, C=1.0)
    for name, why in (("cloglog", "Lipschitz"), ("perceptron", "kinks"), ("squared-sigmoid", "not convex")):
        problem = posed(drawn, name)
        W = np.zeros(problem.shape)
        found = duality_bound.duality(problem, W, problem.value_gradient(W))
        assert found.value is None
        assert why in found.reason
