"""Exact regions: areas, corners and insides against the scores themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.geometry.polygons import Region, cells, polygon_area

BOX = (-3.0, 4.0, -2.0, 5.0)
AREA = 49.0
seeds = st.integers(0, 10_000)


def _drawn(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((int(rng.integers(2, 9)), 3)) * [2.0, 1.0, 1.0]


def _points(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(*BOX[:2], n), rng.uniform(*BOX[2:], n)])


def _scores(W, X):
    return np.atleast_2d(X) @ W[:, 1:].T + W[:, 0]


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_regions_tile_the_box_and_hold_their_winners(seed):  # G5
    W = _drawn(seed)
    found = sx.regions(W, BOX)
    assert sum(region.area for region in found) == pytest.approx(AREA, rel=1e-10)
    X = _points(300, seed)
    z = _scores(W, X)
    top = np.sort(z, axis=1)
    sure = top[:, -1] - top[:, -2] > 1e-9
    for k, region in enumerate(found):
        np.testing.assert_array_equal(region.contains(X[sure]), (z.argmax(axis=1) == k)[sure])
        if not region.empty:
            corners = _scores(W, region.vertices)
            assert np.all(corners[:, k] >= corners.max(axis=1) - 1e-9)
            assert _scores(W, region.centre).argmax() == k


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_regions_are_convex_and_counter_clockwise(seed):  # G5
    for region in sx.regions(_drawn(seed), BOX):
        if region.empty:
            continue
        edge = np.roll(region.vertices, -1, axis=0) - region.vertices
        after = np.roll(edge, -1, axis=0)
        assert np.all(edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0] >= -1e-9)
        assert region.area > 0


def test_unequal_norms_bound_at_equal_scores_not_at_the_bisector():
    """Exact example: h₁ = 2x₁, h₂ = x₂ meet on x₂ = 2x₁."""
    W = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    first, second = sx.regions(W, (-1, 1, -2, 2))
    assert first.area == second.area == 4.0
    on_line = {tuple(v) for v in first.vertices} & {tuple(v) for v in second.vertices}
    assert on_line == {(-1.0, -2.0), (1.0, 2.0)}
    scorer = sx.Scorer(np.vstack([W, [-9.0, 0.0, 0.0]]), np.array([1, 2, 3]), "identity")
    assert scorer.hyperplane(1, 2) == Hyperplane([2.0, -1.0], 0.0)
    # The bisector of x₁ = 0 and x₂ = 0 would hold points of unequal scores.
    assert scorer.scores(np.array([[1.0, 1.0]]))[0, :2].tolist() == [2.0, 1.0]


def test_two_classes_and_labels():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, :2], np.array(["setosa", "versicolor"])[y[:100]]
    model = sx.LogisticRegression().fit(X, y)
    found = sx.regions(model, (4, 7, 2, 5))
    assert [region.labels for region in found] == [("setosa",), ("versicolor",)]
    for region in found:
        assert model.predict(region.centre[None])[0] == region.labels[0]
    assert sum(region.area for region in found) == pytest.approx(9.0)
    assert len(sx.regions(model.scorer_, (4, 7, 2, 5))) == 2


def test_ties_everywhere_go_where_prediction_sends_them():
    same = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [-50.0, 0.0, 0.0]])
    assert [region.area for region in sx.regions(same, BOX)] == pytest.approx([AREA, 0.0, 0.0])
    constant = np.zeros((1, 3))  # z = 0 everywhere: the second class
    assert [region.area for region in sx.regions(constant, BOX)] == [0.0, AREA]
    levels = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert [region.area for region in sx.regions(levels, BOX)] == [0.0, AREA]


def test_far_from_the_origin_and_at_any_scale():
    W = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    for shift, scale in ((1e6, 1.0), (0.0, 1e-9), (0.0, 1e9)):
        box = (shift + -scale, shift + scale, 2 * shift - 2 * scale, 2 * shift + 2 * scale)
        found = sx.regions(W, box)
        assert sum(region.area for region in found) == pytest.approx(8 * scale**2, rel=1e-6)
        assert found[0].area == pytest.approx(4 * scale**2, rel=1e-6)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_cells_tile_the_box_and_have_the_signs_of_their_insides(seed):
    lines = _drawn(seed)
    found = cells(lines, BOX)
    P = len(lines)
    assert len(found) <= 1 + P + P * (P - 1) // 2
    assert sum(polygon_area(cell.vertices) for cell in found) == pytest.approx(AREA, rel=1e-10)
    for cell in found:
        np.testing.assert_array_equal(np.sign(_scores(lines, cell.vertices.mean(axis=0))[0]), cell.signs)
    assert len({tuple(cell.signs) for cell in found}) == len(found)


# --------------------------------------------------------------------------------------------- ambiguity


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    return np.array([[0.0, 0.0], [2.0, 0.2], [0.8, 2.0]])[y] + 0.8 * rng.standard_normal((60, 2)), y


def test_one_versus_one_is_ambiguous_in_a_middle_triangle(three):  # M3
    model = sx.OneVsOneClassifier().fit(*three)
    found = sx.ambiguous_regions(model, BOX)
    assert [region.labels for region in found] == [(0, 1, 2)]
    assert len(found[0].vertices) == 3
    assert model.votes(found[0].centre[None]).tolist() == [[0, 0, 0]]
    X = _points()
    votes = np.sort(model.votes(X), axis=1)
    np.testing.assert_array_equal(votes[:, -1] == votes[:, -2], found[0].contains(X))
    lines = [model.hyperplane(i, j) for i, j in ((0, 1), (0, 2), (1, 2))]
    for corner in found[0].vertices:  # each lies on two of the three lines
        assert sum(abs(float(line.distance(corner))) < 1e-9 for line in lines) == 2


def test_one_versus_rest_is_ambiguous_where_none_or_several_claim(three):  # M3
    model = sx.OneVsRestClassifier().fit(*three)
    found = sx.ambiguous_regions(model, BOX)
    X = _points()
    claims = model.decision_function(X) > 0
    inside = np.zeros(len(X), dtype=bool)
    for region in found:
        here = region.contains(X)
        assert not np.any(inside & here)
        inside |= here
        for k in range(3):
            assert np.all(claims[here, k] == (k in region.labels))
    np.testing.assert_array_equal(inside, claims.sum(axis=1) != 1)
    assert () in {region.labels for region in found}
    # The argmax is defined all the same.
    assert sum(region.area for region in sx.regions(model, BOX)) == pytest.approx(AREA)


def test_two_classes_are_never_ambiguous(three):
    X, y = three
    for make in (sx.OneVsOneClassifier, sx.OneVsRestClassifier):
        model = make().fit(X[y < 2], y[y < 2])
        assert sx.ambiguous_regions(model, BOX) == []


def test_ten_classes():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 10
    model = sx.OneVsOneClassifier().fit(rng.uniform(0, 9, (10, 2))[y] + 0.3 * rng.standard_normal((200, 2)), y)
    box = (-1.0, 10.0, -1.0, 10.0)
    found = cells(model.boundaries(), box)
    assert sum(polygon_area(cell.vertices) for cell in found) == pytest.approx(121.0)
    for region in sx.ambiguous_regions(model, box):
        votes = model.votes(region.centre[None])[0]
        assert tuple(np.flatnonzero(votes == votes.max())) == region.labels


# ------------------------------------------------------------------------------------------------ curves


def test_a_curved_boundary_lies_where_the_score_is_zero():  # B4
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2))
    y = (np.hypot(*X.T) < 1).astype(int)
    model = make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X, y)
    (curve,) = sx.boundary_curve(model, (-3, 3, -3, 3), 60)
    np.testing.assert_array_equal(curve[0], curve[-1])  # closed around the middle
    assert np.abs(model.decision_function(curve)).max() < 1e-10
    assert polygon_area(curve[:-1]) != 0
    _, sizes, _ = np.linalg.svd(curve - curve.mean(axis=0), full_matrices=False)
    assert sizes[1] > 0.5 * sizes[0]  # round, not straight


def test_a_straight_boundary_is_the_hyperplane_and_k_classes_are_asked_for_by_name(three):
    model = sx.LogisticRegression().fit(*three)
    (curve,) = sx.boundary_curve(model, BOX, 20, 0, 2)
    assert np.abs(model.hyperplane(0, 2).distance(curve)).max() < 1e-12
    with pytest.raises(ParameterError, match="name two of the classes"):
        sx.boundary_curve(model, BOX)
    two = sx.LogisticRegression().fit(three[0][three[1] < 2], three[1][three[1] < 2])
    for asked in ((), (0, 1), (1, 0)):
        (line,) = sx.boundary_curve(two, BOX, 7, *asked)
        assert np.abs(two.hyperplane().distance(line)).max() < 1e-12


def test_several_pieces_saddles_and_no_boundary_at_all():
    def hyperbola(X):
        return X[:, 0] * X[:, 1] - 0.01

    pieces = sx.boundary_curve(hyperbola, (-1, 1, -1, 1), 9)
    assert len(pieces) == 2
    for piece in pieces:
        np.testing.assert_allclose(hyperbola(piece), 0.0, atol=1e-12)
        assert np.all(piece[:, 0] * piece[0, 0] > 0)  # each stays in its own quadrant
    assert len(sx.boundary_curve(lambda X: -hyperbola(X * [1, -1]), (-1, 1, -1, 1), 9)) == 2
    assert sx.boundary_curve(lambda X: np.ones(len(X)), (0, 1, 0, 1), 5) == []
    two_rings = sx.boundary_curve(lambda X: np.sin(X[:, 0]) * np.sin(X[:, 1]) - 0.5, (0, 6, 0, 6), 60)
    assert len(two_rings) == 2
    assert all(np.array_equal(ring[0], ring[-1]) for ring in two_rings)


# --------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sx.regions(np.ones((3, 4)), BOX), "model: its weights have shape"),
        (lambda: sx.regions(np.ones((3, 3)), (1, 0, 0, 1)), "box: got"),
        (lambda: sx.regions(np.ones((3, 3)), (0, 1)), "box: got"),
        (lambda: cells(np.ones(3), BOX), "lines: its shape"),
        (lambda: sx.boundary_curve(np.sum, BOX, 0), "n: got 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_an_empty_region_has_no_area_and_holds_nothing():
    empty = Region(("a",), np.empty((0, 2)))
    assert empty.area == 0.0
    assert not empty.contains([[0.0, 0.0]]).any()


def test_models_without_regions_are_refused_in_words():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    box = (-1, 1, -1, 1)
    with pytest.raises(InputError, match="LogisticRegression does not combine two-class models"):
        sx.ambiguous_regions(sx.LogisticRegression().fit(X[:, :2], y), box)
    with pytest.raises(InputError, match="fitted to 4 columns; fit it to two"):
        sx.ambiguous_regions(sx.OneVsOneClassifier().fit(X, y), box)
    with pytest.raises(InputError, match="not linear in the columns"):
        sx.ambiguous_regions(sx.OneVsRestClassifier(GaussianNB()).fit(X[:, :2], y), box)
    with pytest.raises(InputError, match="not fitted; call fit first"):
        sx.ambiguous_regions(sx.OneVsRestClassifier(), box)
