"""The convergence theorem, evaluated and followed along runs (docs/tour.md, P6, P12)."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.driver import states
from separatrix.core.solvers.perceptron_updates import OnlineUpdates
from separatrix.core.solvers.separation_problem import build_separation_objective

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
PHI = np.column_stack([XOR, XOR.prod(axis=1)])
Y = np.array([0, 0, 1, 1])


def _separable(seed, n=50, d=3, gap=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) + rng.normal()
    keep = np.abs(z) > gap
    X, y = X[keep], (z[keep] > 0).astype(int)
    return (X, y) if 0 < y.sum() < len(y) else _separable(seed + 1000, n, d, gap)


def test_xor_with_its_product_attains_the_bound():  # exact example
    found = sx.novikoff_bound(PHI, Y)
    assert found.R == 2.0
    assert found.bound == pytest.approx(4.0, rel=1e-12)
    assert sx.Perceptron().fit(PHI, Y).mistakes_ == 4


def test_cosine_falls():  # exact example: x = (3, 2), (−3, 4), both +; a − row keeps two classes and is never wrong
    X, y = np.array([[3.0, 2.0], [-3.0, 4.0], [-3.0, -2.0]]), [1, 1, 0]
    found = sx.novikoff_bound(X, y, fit_intercept=False, separator=[0.0, 1.0, 1.0])
    assert (found.gamma, found.R, found.length**2) == (1.0, 5.0, pytest.approx(2.0))
    assert found.bound == pytest.approx(50.0)
    trail = list(sx.cosines(X, y, fit_intercept=False, separator=[0.0, 1.0, 1.0]))
    assert [step.w[1:].tolist() for step in trail] == [[3.0, 2.0], [0.0, 6.0]]
    assert [step.cosine for step in trail] == pytest.approx([5 / np.sqrt(26), 1 / np.sqrt(2)])
    assert trail[1].cosine < trail[0].cosine
    assert trail[1].lower > trail[0].lower
    problem = build_separation_objective(memory_rows(X[:2], np.ones(2)), fit_intercept=False)
    costs = []
    for state in states(OnlineUpdates(by_update=True), problem, np.zeros((1, 3))):
        costs.append(2 * state.at.value)  # E_p is a sum, the state's a mean of two
        if state.memory.errors == 0:
            break
    assert costs == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("update", ["online", "worst"])
def test_mistakes_never_exceed_the_bound(seed, update):  # P6, P12
    X, y = _separable(seed)
    rng = np.random.default_rng(seed)
    start, eta = rng.standard_normal((1, 4)), float(rng.uniform(0.1, 3))
    model = sx.Perceptron(update, max_iter=20_000).fit(X, y)
    assert model.certificate_.met
    assert model.mistakes_ <= sx.novikoff_bound(X, y).bound * (1 + 1e-12)
    from_start = sx.Perceptron(update, start=start, eta0=eta, max_iter=20_000).fit(X, y)
    found = sx.novikoff_bound(X, y, start[0], eta)
    assert from_start.mistakes_ <= found.bound_from_start * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_from_zero_both_proofs_give_the_same_bound(seed):  # P12
    X, y = _separable(seed)
    found = sx.novikoff_bound(X, y, eta=0.7)
    assert found.bound_from_start == pytest.approx(found.bound, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_squared_distance_to_alpha_w_falls_by_eta_squared_r_squared(seed):  # P12
    X, y = _separable(seed)
    eta = 0.6
    start = np.random.default_rng(seed).standard_normal((1, 4))
    found = sx.novikoff_bound(X, y, start[0], eta)
    target = eta * found.R**2 * found.length / found.gamma * found.separator / found.length
    problem = build_separation_objective(memory_rows(X, 2.0 * y - 1))
    trail = []
    for state in states(OnlineUpdates(eta, by_update=True), problem, start):
        trail.append(state)
        if state.memory.errors == 0:
            break
    distances = [float(np.sum((s.W[0] - target) ** 2)) for s in trail]
    for (a, b), (before, after) in zip(pairwise(trail), pairwise(distances), strict=True):
        if b.memory.mistakes > a.memory.mistakes:
            assert before - after >= (eta * found.R) ** 2 * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_cosine_stays_above_its_rising_bound(seed):  # P6
    X, y = _separable(seed)
    trail = list(sx.cosines(X, y))
    assert [step.mistakes for step in trail] == list(range(1, len(trail) + 1))
    for step in trail:
        assert step.lower - 1e-12 <= step.cosine <= 1 + 1e-12
    assert all(a.lower < b.lower for a, b in pairwise(trail))


@pytest.mark.parametrize("seed", range(6))
def test_the_default_separator_gives_the_smallest_bound(seed):
    X, y = _separable(seed)
    best = sx.novikoff_bound(X, y).bound
    assert sx.novikoff_bound(csr_array(X), y).bound == pytest.approx(best, rel=1e-8)
    own = sx.Perceptron(max_iter=20_000).fit(X, y)
    other = sx.novikoff_bound(X, y, separator=np.concatenate([own.intercept_, own.coef_[0]])).bound
    assert best <= other * (1 + 1e-9)


def test_inseparable_rows_and_false_separators_are_refused():
    with pytest.raises(ParameterError, match="4 rows prove it"):
        sx.novikoff_bound(XOR, Y)
    with pytest.raises(ParameterError, match="separator: its smallest margin is -"):
        sx.novikoff_bound(PHI, Y, separator=[0, 0, 0, 1])
    with pytest.raises(ParameterError, match="separator: got"):
        sx.novikoff_bound(PHI, Y, separator=[1.0])
    with pytest.raises(ParameterError, match="start: got"):
        sx.novikoff_bound(PHI, Y, start="here")
    with pytest.raises(ParameterError, match="3 classes"):
        sx.novikoff_bound(PHI, [0, 1, 2, 0])


def test_the_certificate_of_a_perceptron_quotes_the_theorem():  # P6, P12
    X, y = _separable(3)
    start = np.array([[0.5, -1.0, 2.0, 0.25]])
    model = sx.Perceptron(start=start, eta0=0.5, max_iter=20_000).fit(X, y)
    own = np.concatenate([model.intercept_, model.coef_[0]])
    found = sx.novikoff_bound(X, y, start[0], 0.5, separator=own)
    sentence = model.certificate_.facts["theorem"]
    assert f"at most {found.bound:.4g} mistakes from w = 0, {found.bound_from_start:.4g} from this start" in sentence
    assert f"R = {found.R:.4g}, γ/‖w*‖ = {found.gamma / found.length:.4g}" in sentence
    assert model.mistakes_ <= found.bound_from_start
