"""Adding a loss or a solver is one class and one line in a registry: here are two of each, under all their laws.

docs/extending.md walks through the first of each.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, final

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.gap_bounds import largest_curvature
from separatrix.core.losses import LOSSES, MarginLoss, Traits
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.registry import SOLVERS
from separatrix.core.solvers.state import Need, State
from separatrix.core.solvers.stopping import Stopping
from tests.laws import loss_laws, solver_laws


@final
@dataclass(frozen=True)
class Exponential(MarginLoss):
    """ℓ(m) = e^{−m}, the loss behind boosting."""

    traits: ClassVar[Traits] = Traits(self_concordance=1.0)

    def of_margin(self, m):
        return np.exp(-m)

    def slope(self, m):
        return -np.exp(np.minimum(-m, 700.0))

    def curvature(self, m):
        return np.exp(np.minimum(-m, 700.0))

    def conjugate_of_slope(self, a):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(a < 0, -a * (np.log(-a) - 1.0), np.where(a == 0, 0.0, np.inf))


@final
@dataclass(frozen=True)
class CoordinateDescent:
    """W_j ← W_j − ∂_j E / L_j, one column after the other, L_j a bound on the curvature along it."""

    name: ClassVar[str] = "coordinate-descent"
    needs: ClassVar[frozenset] = frozenset({Need.SMOOTH, Need.RIDGE})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start) -> State:
        return State(start, problem.value_gradient(start))

    def step(self, problem: Objective, state: State, budget=None) -> State:
        W, at = state.W.copy(), state.at
        curvature = problem.loss.traits.lipschitz * problem.framed.root_second_moments**2 + problem.root_penalty**2
        for j in range(W.shape[1]):
            W[:, j] -= at.gradient[:, j] / curvature[j]
            at = problem.value_gradient(W)
        return State(W, at, state.iteration + 1)

    def solution(self, problem: Objective, state: State) -> State:
        return state


@final
@dataclass(frozen=True)
class HuberisedHinge(MarginLoss):
    """ℓ(m) = (1 − m)²/4 for |m| ≤ 1, zero beyond 1, and −m before −1: no second derivative at ±1, no probabilities."""

    traits: ClassVar[Traits] = Traits(lipschitz=0.5)

    def of_margin(self, m):
        return np.where(m < -1, -m, 0.25 * np.maximum(0.0, 1.0 - np.maximum(m, -1.0)) ** 2)

    def slope(self, m):
        return np.clip(0.5 * (m - 1.0), -1.0, 0.0)

    def curvature(self, m):
        return np.where(np.abs(m) < 1, 0.5, 1e-9)

    def conjugate_of_slope(self, a):
        return np.where((a >= -1) & (a <= 0), a + a**2, np.inf)


class Momentum(NamedTuple):
    """The weights before the last step, and the steps since the last start."""

    before: np.ndarray
    k: int


@final
@dataclass(frozen=True)
class AcceleratedGradient:
    """W ← V − ∇E(V)/L with V = W + k/(k + 3) (W − W₋), started anew where E rises. Nesterov (1983)."""

    name: ClassVar[str] = "accelerated-gradient"
    needs: ClassVar[frozenset] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start) -> State[Momentum]:
        return State(start, problem.value_gradient(start), memory=Momentum(start, 0))

    def step(self, problem: Objective, state: State[Momentum], budget=None) -> State[Momentum]:
        before, k = state.memory
        V = state.W + k / (k + 3) * (state.W - before)
        W = V - problem.value_gradient(V).gradient / largest_curvature(problem)
        at = problem.value_gradient(W)
        k = k + 1 if at.value <= state.at.value else 0
        return State(W, at, state.iteration + 1, Momentum(state.W if k else W, k))

    def solution(self, problem: Objective, state: State[Momentum]) -> State[Momentum]:
        return state


TOY_LOSSES = {"exponential": Exponential(), "huberised-hinge": HuberisedHinge()}
TOY_SOLVERS = {"coordinate-descent": CoordinateDescent(), "accelerated-gradient": AcceleratedGradient()}


@pytest.fixture
def registered(monkeypatch):
    """The one line each."""
    for name, loss in TOY_LOSSES.items():
        monkeypatch.setitem(LOSSES, name, loss)
    for name, solver in TOY_SOLVERS.items():
        monkeypatch.setitem(SOLVERS, name, solver)


LAWS = [*loss_laws(TOY_LOSSES), *solver_laws(TOY_SOLVERS)]


@pytest.mark.parametrize(("check", "thing"), [(c, t) for _, c, t in LAWS], ids=[i for i, _, _ in LAWS])
def test_a_toy_is_under_every_law_that_applies(check, thing):
    check(thing)


@pytest.mark.parametrize("solver", TOY_SOLVERS)
def test_the_classifier_takes_the_toy_solver_by_name(registered, solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    model = sx.LogisticRegression(solver=solver).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.certificate_.solver == solver
    assert model.certificate_.verify(X, y)


def test_every_solver_takes_the_toy_loss(registered):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    t = np.where(X[:, 0] + rng.logistic(size=200) > 0, 1.0, -1.0)
    problem = Objective.of(memory_rows(X, t), LOSSES["exponential"], Penalty(1.0, np.ones(3)))
    outcome = run(Newton(), problem, np.zeros(problem.shape), Stopping(tol=1e-9, max_iter=50))
    assert outcome.status.code == "optimal"
    assert outcome.bound.kind == "self-concordance"


@pytest.mark.parametrize(
    "solver", ["auto", "accelerated-gradient", *(name for name, solver in SOLVERS.items() if solver.converges)]
)
def test_an_estimator_fits_the_toy_loss_and_proves_its_gap(registered, solver):
    """No line anywhere else: the bound comes from the conjugate, the choice of solvers from the traits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = np.where(X[:, 0] + rng.logistic(size=200) > 0, "yes", "no")
    model = sx.LinearSVC(loss="huberised-hinge", solver=solver, max_iter=5000).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.certificate_.bound_kind == "duality"
    assert 0 <= model.certificate_.relative_bound <= 1e-8
    assert model.certificate_.verify(X, y)
    peer = sx.LinearSVC(loss="huberised-hinge", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)


def test_a_law_can_fail():
    """Laws that cannot fail show nothing: a wrong trait and a wrong derivative are both caught."""

    @final
    @dataclass(frozen=True)
    class Wrong(MarginLoss):
        traits: ClassVar[Traits] = Traits(lipschitz=0.01)
        of_margin = Exponential.of_margin
        curvature = Exponential.curvature
        conjugate_of_slope = Exponential.conjugate_of_slope

        def slope(self, m):
            return -2.0 * np.exp(-m)

    failures = 0
    for _, check, loss in loss_laws({"wrong": Wrong()}):
        try:
            with np.errstate(all="ignore"):
                check(loss)
        except AssertionError:
            failures += 1
    assert failures >= 3


def test_a_solver_law_can_fail():
    @final
    @dataclass(frozen=True)
    class Timid(CoordinateDescent):
        """Never moves."""

        def step(self, problem, state, budget=None):
            return replace(state, iteration=state.iteration + 1)

    laws = {name: (check, solver) for name, check, solver in solver_laws({"timid": Timid()})}
    check, solver = laws["timid: reaches the optimum"]
    with pytest.raises(AssertionError):
        check(solver)
