"""The rows that influence a least-squares fit the most, and the fit without them (docs/tour.md, S5)."""

import json
from pathlib import Path

import numpy as np
import pytest

from separatrix import LeastSquaresClassifier
from separatrix.core.base.errors import ParameterError
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.squared_cost import OneHot, build_squared_cost, influence
from tests.classifiers.lecture_rows import LINE, LINE_Y, PLANE, PLANE_Y, with_row

R = json.loads((Path(__file__).parent.parent / "r" / "moments.json").read_text())


def test_leverages_and_cooks_distances_are_those_of_r():
    X, y = with_row(LINE, LINE_Y, [30.0], 1)
    cost = build_squared_cost(memory_rows(X, y, np.ones(9)), OneHot().table(2), 0.0, True)
    found = influence(cost, cost.minimise())
    np.testing.assert_allclose(found.leverage, R["hat"], rtol=1e-12)
    np.testing.assert_allclose(found.cook, R["cook"], rtol=1e-11)


@pytest.mark.parametrize("far", [30.0, 100.0])
def test_the_far_point_is_named_first_in_one_dimension(far):
    X, y = with_row(LINE, LINE_Y, [far], 1)
    first, second = LeastSquaresClassifier().fit(X, y).influential(X, y, top=2)
    assert first.row == 8
    assert first.besides.tolist() == []
    assert X[first.changed].ravel().tolist() == ([5.0] if far == 30 else [5.0, 6.0])
    assert -first.weights[0, 0] / first.weights[0, 1] == pytest.approx(4.5)
    assert first.cook > 100 * second.cook


def test_two_far_points_that_hide_each_other_are_named_first_in_the_plane():
    X, y = with_row(*with_row(PLANE, PLANE_Y, [20.0, -10.0], "-"), [21.0, -10.0], "-")
    model = LeastSquaresClassifier().fit(X, y)
    found = model.influential(X, y, top=3)
    assert {found[0].row, found[1].row} == {10, 11}
    assert found[0].besides.tolist() == [found[1].row]
    assert sorted(X[found[0].changed].tolist()) == [[0.0, 1.0], [4.0, 3.0], [5.0, 4.0]]
    assert found[2].cook < 0.01 * found[0].cook
    # Left out one at a time neither stands out: that is what hiding means.
    cost = build_squared_cost(memory_rows(X, (y == "-").astype(int), np.ones(12)), OneHot().table(2), 0.0, True)
    assert not {10, 11} & set(np.argsort(-influence(cost, cost.minimise()).cook)[:4].tolist())


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("K", [2, 3])
def test_leaving_out_is_exactly_fitting_again(K, l2):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((25, 3)) + 7
    y = rng.integers(0, K, 25)
    X[3] += 20
    X[4] = X[3] + 0.1
    weight = rng.integers(1, 4, 25).astype(float)
    model = LeastSquaresClassifier(l2=l2).fit(X, y, weight)
    rows = model.influential(X, y, top=25, sample_weight=weight)
    assert sorted(r.row for r in rows) == list(range(25))
    assert any(len(r.besides) for r in rows)
    for r in rows:
        kept = np.setdiff1d(np.arange(25), [r.row, *r.besides])
        again = LeastSquaresClassifier(l2=l2).fit(X[kept], y[kept], weight[kept])
        np.testing.assert_allclose(r.weights, again.scorer_.W, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(r.changed, np.flatnonzero(again.predict(X) != model.predict(X)))


def test_a_row_alone_along_its_direction():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.5, 5.0]])
    y = np.array([0, 1, 0, 1, 1])
    found = {r.row: r for r in LeastSquaresClassifier().fit(X, y).influential(X, y)}
    assert found[4].leverage == pytest.approx(1.0)
    without = LeastSquaresClassifier().fit(X[:4], y[:4])
    assert np.isfinite(found[4].cook)
    np.testing.assert_allclose(
        X[:4] @ found[4].weights[0, 1:] + found[4].weights[0, 0], without.decision_function(X[:4]), atol=1e-12
    )


def test_top_is_a_count():
    with pytest.raises(ParameterError, match="top: got 0"):
        LeastSquaresClassifier().fit(LINE, LINE_Y).influential(LINE, LINE_Y, top=0)
