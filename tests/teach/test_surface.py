"""Error surfaces and paths over them (docs/tour.md, L3)."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.losses import LOSSES
from separatrix.core.solvers.gradient_descent import GradientDescent
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.registry import SOLVERS
from separatrix.teach.error_surface import error_surface, walk

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 2))
y = (X @ [1.0, -0.5] + 0.3 * rng.standard_normal(30) > 0).astype(int)
t = 2.0 * y - 1.0


@pytest.mark.parametrize("loss", [name for name, known in LOSSES.items() if not known.traits.multiclass])
def test_the_surface_is_the_mean_loss(loss):
    surface = error_surface(X, y, loss, points=11, at=[0.2, 0.0, 0.0])
    for i, j in ((0, 0), (3, 7), (10, 10)):
        z = X @ [surface.first[j], surface.second[i]] + 0.2
        assert surface.value[i, j] == pytest.approx(LOSSES[loss].value(t, z).mean())


@pytest.mark.parametrize(("apart", "size"), [(0.0, 1.0), (8.0, 1.0), (1.0, 30.0)])
def test_the_probit_surface_of_many_rows_is_accurate_in_the_tails_too(apart, size):
    """It is interpolated unless margins are large; far apart, all losses of a corner of the surface are below 1e-12."""
    rows = size * (
        np.random.default_rng(1).standard_normal((300, 2)) + apart * np.where(np.arange(300) % 2, 1, -1)[:, None]
    )
    sign = np.where(np.arange(300) % 2, 1.0, -1.0)
    surface = error_surface(rows, np.arange(300) % 2, "probit", points=41, gradient=True)
    probit = LOSSES["probit"]
    for i, j in ((0, 0), (13, 27), (20, 20), (40, 40), (40, 0)):
        z = rows @ [surface.first[j], surface.second[i]]
        np.testing.assert_allclose(surface.value[i, j], probit.value(sign, z).mean(), rtol=1e-12)
        by_row = probit.derivative(sign, z)[:, None] * rows / len(rows)
        np.testing.assert_allclose(
            surface.gradient[:, i, j], by_row.sum(axis=0), rtol=1e-10, atol=1e-12 * np.abs(by_row).sum()
        )


def test_the_zero_one_surface_is_flat_and_the_perceptron_surface_is_not():
    flat, sloped = (error_surface(X, y, loss, points=201).value for loss in ("zero-one", "perceptron"))
    assert np.mean(np.diff(flat, axis=1) == 0) > 0.9
    assert np.mean(np.abs(np.diff(sloped, axis=1)) > 1e-12) > 0.9


def test_the_perceptron_surface_is_convex_and_piecewise_linear():
    value = error_surface(X, y, "perceptron", points=201).value
    second = np.diff(value, 2, axis=1)
    assert np.all(second >= -1e-12)
    assert np.mean(np.abs(second) < 1e-12) > 0.7


def test_the_squared_cost_has_valleys_where_the_logistic_has_one():
    """Rows at x = 10 ask for a small negative weight, rows at x = 0.1 for a large one: σ saturates between."""
    rows, labels = np.repeat([[10.0], [0.1]], 4, axis=0), [0, 0, 0, 1, 1, 1, 1, 0]

    def valleys(loss):
        surface = error_surface(rows, labels, loss, (-5.0, 30.0, -1.0, 1.0), (1, 0), points=1001)
        slice_ = surface.value[np.argmin(np.abs(surface.second))]
        return int(np.sum((slice_[1:-1] < slice_[:-2]) & (slice_[1:-1] < slice_[2:])))

    assert valleys("logistic") == 1
    assert valleys("squared-sigmoid") == 2


def test_a_path_walks_on_its_surface():
    path = walk(X, y, GradientDescent(eta=1.0), steps=40)
    assert path.W.shape == (41, 3)
    for k in (0, 20, 40):
        z = X @ path.W[k, 1:] + path.W[k, 0]
        assert path.value[k] == pytest.approx(LOSSES["logistic"].value(t, z).mean())
    assert path.value[-1] < path.value[0]


def test_names_that_are_none_are_refused():
    with pytest.raises(ParameterError, match="loss: got 'cubic'; choose one of logistic"):
        error_surface(X, y, "cubic")
    with pytest.raises(ParameterError, match="columns"):
        error_surface(X, y, columns=(1, 9))
    with pytest.raises(ParameterError, match="box"):
        error_surface(X, y, box=(1.0, 0.0, 0.0, 1.0))
    with pytest.raises(ParameterError, match="at"):
        error_surface(X, y, at=[0.0])
    with pytest.raises(ParameterError, match="classes"):
        error_surface(X, np.arange(30) % 3)
    with pytest.raises(sx.errors.NotFiniteError):
        error_surface(np.full((2, 2), np.nan), [0, 1])


def test_a_walk_takes_solvers_by_name():
    X, y = [[-1.0], [1.0], [0.5]], [0, 1, 0]
    assert np.array_equal(walk(X, y, "newton", steps=3).W, walk(X, y, Newton(), steps=3).W)
    assert walk(X, y, "auto", steps=3).W.shape == (4, 2)
    with pytest.raises(InputError, match="solver: got 'nawton'; choose one of"):
        walk(X, y, "nawton")
    with pytest.raises(InputError, match="needs"):
        walk(X, y, "newton", loss="perceptron")


@pytest.mark.parametrize(("C", "l1_ratio"), [(np.inf, 0.0), (0.5, 0.0), (2.0, 0.3)])
@pytest.mark.parametrize("K", [2, 3])
def test_penalty_gradient_and_classes_agree_with_the_objective(K, C, l1_ratio):
    labels = np.arange(30) % K
    E = sx.objective(X, labels, C=C, l1_ratio=l1_ratio)
    at = 0.3 * np.random.default_rng(K).standard_normal(E.shape)
    columns = (0, 2) if K == 2 else ((0, 2), (2, 0)) if l1_ratio else ((1, 0), (1, 2))
    surface = sx.error_surface(
        X, labels, box=(-2, 1, -1, 2), columns=columns, at=at, points=5, C=C, l1_ratio=l1_ratio, gradient=True
    )
    assert surface.gradient.shape == (2, 5, 5)
    for i, j in ((0, 0), (1, 3), (4, 4)):
        w = at.copy()
        w[columns[0]], w[columns[1]] = surface.first[j], surface.second[i]
        assert surface.value[i, j] == pytest.approx(E.value(w), rel=1e-12)
        slope = E.gradient(w)
        assert surface.gradient[:, i, j] == pytest.approx([slope[columns[0]], slope[columns[1]]], rel=1e-9, abs=1e-12)


def test_a_walk_with_a_budget_of_one_row_stops_after_every_update():
    labels = (rng.uniform(size=30) < 0.5).astype(int)
    solver = sx.solvers.StochasticDescent(eta=0.01)
    updates, epochs = (sx.walk(X, labels, solver, steps=n, budget=rows) for n, rows in ((60, 1), (2, None)))
    np.testing.assert_array_equal(updates.W[::30], epochs.W)
    with pytest.raises(ParameterError, match="budget"):
        sx.walk(X, labels, solver, budget=0)


def test_a_walk_ends_when_the_run_ends_for_every_solver():
    labels = (rng.uniform(size=30) < 0.5).astype(int)
    best, refused = sx.LogisticRegression(C=1.0).fit(X, labels), []
    for name, solver in SOLVERS.items():
        try:
            path = sx.walk(X, labels, name, steps=3000, C=1.0)
        except InputError:  # a solver for other problems
            refused.append(name)
            continue
        assert path.status
        assert path.value[-1] == pytest.approx(best.certificate_.objective, rel=1e-4 if solver.converges else 0.1)
        assert len(path.W) < 3001, name
    assert len(refused) < len(SOLVERS) / 2
    assert len(sx.walk(X, labels, "newton", C=1.0).W) < 12
    many = sx.walk(X, np.arange(30) % 3, "newton", C=1.0)
    assert many.W.shape[1:] == (3, 3)
    assert many.value[-1] == pytest.approx(
        sx.LogisticRegression(C=1.0).fit(X, np.arange(30) % 3).certificate_.objective
    )
