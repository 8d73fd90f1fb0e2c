"""Two classes along a direction: the formulas of the lectures, and the estimator's own threshold (F1–F5, F7)."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError

RNG = np.random.default_rng(11)
Y = np.repeat(["a", "b"], [40, 25])
X = np.vstack([RNG.normal(0, [3.0, 0.5, 1.0], (40, 3)), RNG.normal([1.0, 1.5, 0.0], [4.0, 0.9, 2.0], (25, 3))])


def _by_hand(w):
    w = np.asarray(w) / np.linalg.norm(w)
    one, two = (X[label == Y] @ w for label in ("a", "b"))
    scatter = sum(((side - side.mean()) ** 2).sum() for side in (one, two))
    return (two.mean() - one.mean()) ** 2 / scatter


@pytest.mark.parametrize("seed", range(5))
def test_the_criterion_is_that_of_the_lectures_for_any_direction(seed):  # F2, F3
    w = np.random.default_rng(seed).normal(size=3)
    found = sx.along(X, Y, 7.0 * w)
    assert pytest.approx(_by_hand(w)) == found.J
    assert found.J <= found.best_J == pytest.approx(_by_hand(found.best_direction))
    np.testing.assert_allclose(found.direction, w / np.linalg.norm(w))
    np.testing.assert_allclose(found.values, X @ found.direction)
    assert found.counts.sum(axis=1).tolist() == [40, 25]
    turned = sx.along(X, Y, -w)  # the picture turned round: the same counts of mistakes, thresholds of the other sign
    np.testing.assert_allclose(turned.crossings, -found.crossings[::-1])
    assert turned.threshold == pytest.approx(-found.threshold)
    assert (turned.wrong_by_midpoint, turned.wrong_by_posterior) == (found.wrong_by_midpoint, found.wrong_by_posterior)


@pytest.mark.parametrize("direction", ["fisher", "means"])
@pytest.mark.parametrize("threshold", ["gaussian", "midpoint"])
def test_the_estimator_decides_as_it_says(direction, threshold):  # F4
    model = sx.FisherDiscriminant(direction=direction, threshold=threshold).fit(X, Y)
    found = sx.along(X, Y, direction)
    wrong = int(np.sum(model.predict(X) != Y))
    assert wrong == (found.wrong_by_posterior if threshold == "gaussian" else found.wrong_by_midpoint)


def test_crossings():  # exact example: means 0 and 4, deviations 1 and 2, equal n
    unit = np.array([-1.0, 1.0]) / np.sqrt(2)
    x = np.concatenate([unit, 4 + 2 * unit])[:, None]
    found = sx.along(x, [0, 0, 1, 1], [1.0])
    np.testing.assert_allclose(found.crossings, [-4.32658, 1.65991], atol=1e-5)
    assert found.threshold == pytest.approx(1.65991, abs=1e-5)
    assert (found.midpoint, found.wrong_by_midpoint) == (pytest.approx(2.0), 0)
    np.testing.assert_allclose(found.deviations, [1.0, 2.0])
    assert str(found).startswith("J = ")


def test_the_curve_of_all_directions():  # F8: elongated classes, where the means' direction fails
    curve = sx.criterion_curve(X[:, :2], Y, points=361)
    for angle, J in zip(curve.angles[::60], curve.J[::60], strict=True):
        assert pytest.approx(sx.along(X[:, :2], Y, [np.cos(angle), np.sin(angle)]).J) == J
    assert curve.J.max() == pytest.approx(curve.best_J, rel=1e-3)
    assert curve.J.max() <= curve.best_J * (1 + 1e-12)
    assert curve.means_J < 0.8 * curve.best_J
    assert abs(curve.angles[curve.J.argmax()] - curve.best_angle) <= np.pi / 360


def test_what_cannot_be_projected_is_refused():
    with pytest.raises(ParameterError, match="direction"):
        sx.along(X, Y, [0.0, 0.0, 0.0])
    with pytest.raises(ParameterError, match="direction"):
        sx.along(X, Y, "best")
    with pytest.raises(ParameterError, match="two"):
        sx.along(X, np.arange(65) % 3)
    with pytest.raises(ParameterError, match="columns"):
        sx.criterion_curve(X, Y)
    with pytest.raises(ParameterError, match="bins"):
        sx.along(X, Y, bins=0)
    same = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert sx.along(same, [0, 0, 1, 1], [1.0, 0.0]).best_direction is None
    with pytest.raises(LabelError, match="same mean"):
        sx.criterion_curve(same, [0, 0, 1, 1])
