"""Hyperplanes as lectures 001 and 003 have them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.geometry.hyperplane import Hyperplane, homogeneous

seeds = st.integers(0, 10_000)


def _drawn(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    return Hyperplane(rng.standard_normal(d), rng.standard_normal()), rng.standard_normal((20, d)) * 3


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_differences_of_boundary_points_are_orthogonal_to_w(seed):  # G1
    plane, X = _drawn(seed)
    on = plane.project(X)
    np.testing.assert_allclose((on[1:] - on[0]) @ plane.w, 0.0, atol=1e-10 * np.linalg.norm(plane.w))


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_a_point_is_its_projection_plus_distance_along_w(seed):  # G2
    plane, X = _drawn(seed)
    d, unit = plane.distance(X), plane.w / np.linalg.norm(plane.w)
    np.testing.assert_allclose(d, (X @ plane.w + plane.b) / np.linalg.norm(plane.w))
    np.testing.assert_allclose(plane.project(X) + d[:, None] * unit, X, atol=1e-12)
    np.testing.assert_allclose(plane.score(plane.project(X)), 0.0, atol=1e-10)
    # No other point of the plane is nearer.
    other = plane.project(X + np.random.default_rng(seed).standard_normal(X.shape))
    assert np.all(np.linalg.norm(X - other, axis=1) >= np.abs(d) - 1e-12)


def test_position_along_w_and_distance_of_the_origin():  # G3
    plane = Hyperplane([3.0, 4.0], -10.0)
    assert plane.offset == 2.0  # −w₀/‖w‖
    assert float(plane.distance([0.0, 0.0])) == -2.0  # +w₀/‖w‖
    assert float(plane.score(plane.offset * plane.w / 5.0)) == pytest.approx(0.0)


@given(seeds, st.floats(1e-6, 1e6))
@settings(max_examples=50, deadline=None)
def test_equal_up_to_a_positive_factor(seed, alpha):  # G4
    plane, X = _drawn(seed)
    scaled = Hyperplane(alpha * plane.w, alpha * plane.b)
    assert plane == scaled
    np.testing.assert_allclose(scaled.distance(X), plane.distance(X), rtol=1e-9, atol=1e-12)
    turned = Hyperplane(-alpha * plane.w, -alpha * plane.b)
    assert plane != turned
    assert plane.same_boundary(turned)
    assert turned == plane.flipped()
    assert np.linalg.norm(plane.normalised().w) == pytest.approx(1.0)


def test_unlike_hyperplanes_are_not_equal():
    plane = Hyperplane([1.0, 0.0], 1.0)
    assert plane != Hyperplane([1.0, 0.0], 1.0 + 1e-9)
    assert plane != Hyperplane([1.0, 1e-9], 1.0)
    assert plane != Hyperplane([1.0], 1.0)
    assert plane != "plane"


def test_half_spaces_and_homogeneous_coordinates():  # G6
    plane = Hyperplane([1.0, -2.0], 0.5)
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.5, 1.0]])
    assert plane.side(X).tolist() == [1, -1, 0]
    assert plane.flipped().side(X).tolist() == [-1, 1, 0]
    np.testing.assert_array_equal(homogeneous(X) @ plane.homogeneous, plane.score(X))
    assert Hyperplane.from_homogeneous(plane.homogeneous) == plane


def test_margin_and_clearance():
    plane = Hyperplane([3.0, 4.0], 0.0)
    X, t = [[3.0, 4.0], [0.0, -1.0], [1.0, 0.0]], [1, -1, -1]
    assert plane.margin(X, t).tolist() == [25.0, 4.0, -3.0]
    assert plane.clearance(X, t) == pytest.approx(-0.6)


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_the_hyperplane_through_points(seed):  # G6
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    points = rng.standard_normal((d, d)) * np.exp(rng.normal(0, 3)) + rng.normal(0, 2, d)
    plane = Hyperplane.through(points)
    np.testing.assert_allclose(plane.score(points), 0.0, atol=1e-9 * np.abs(points).max())
    assert plane.b <= 0  # the origin is on the negative side
    above = points.mean(axis=0) - plane.w
    assert Hyperplane.through(points, positive=above).distance(above) > 0
    assert Hyperplane.through(points, positive=above).same_boundary(plane)


def test_through_the_origin_and_in_one_dimension():
    assert Hyperplane.through([[0.0, 0.0], [1.0, -1.0]]) == Hyperplane([1.0, 1.0], 0.0)
    assert Hyperplane.through([[3.0]]) == Hyperplane([1.0], -3.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Hyperplane([0.0, 0.0], 1.0), "w: got .*not zero"),
        (lambda: Hyperplane([np.nan, 0.0], 1.0), "w: got"),
        (lambda: Hyperplane([1.0], np.inf), "b: got inf"),
        (lambda: Hyperplane.through([[0.0, 0.0]]), "points: its shape"),
        (lambda: Hyperplane.through([[0.0, 0.0], [0.0, 0.0]]), "common plane of lower dimension"),
        (lambda: Hyperplane.through(np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])), "common plane"),
        (lambda: Hyperplane.through([[0.0, 1.0], [1.0, 0.0]], positive=[0.5, 0.5]), "positive: this point lies on"),
    ],
)
def test_what_makes_no_hyperplane(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("method", ["score", "side", "distance", "project"])
def test_points_of_another_dimension_are_refused(method):
    with pytest.raises(InputError, match=r"X: its shape is \(1, 3\); give points of 2 coordinates"):
        getattr(Hyperplane([1.0, 2.0], 0.0), method)([[1.0, 2.0, 3.0]])
