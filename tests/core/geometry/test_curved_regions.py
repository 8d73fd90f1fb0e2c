"""Regions with curved edges, level sets and bands: they agree with ``predict`` and with the probabilities."""

import warnings

import numpy as np
import pytest
from matplotlib.path import Path
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.geometry.polygons import plane_scores

BOX = (-4.0, 6.0, -3.0, 5.0)
AREA = 80.0
# The outline may be off by this share of the box's longer side: a tenth of a pixel in a picture of 1000 pixels.
TOLERANCE = 1e-4 * 10.0

MODELS = {
    "QDA": sx.QuadraticDiscriminantAnalysis(),
    "Fisher": sx.FisherDiscriminant(),
    "one-versus-one over QDA": sx.OneVsOneClassifier(sx.QuadraticDiscriminantAnalysis()),
    "one-versus-rest over naive Bayes": sx.OneVsRestClassifier(GaussianNB()),
    "naive Bayes": GaussianNB(),
    "scaled logistic": make_pipeline(StandardScaler(), sx.LogisticRegression()),
    "quadratic logistic": make_pipeline(sx.quadratic(), sx.LogisticRegression()),
    "Gaussian bumps": make_pipeline(sx.gaussian(6, 2.0), sx.LogisticRegression()),
    "cloglog": make_pipeline(sx.quadratic(), sx.LogisticRegression(loss="cloglog")),
}


def _classes(K):
    rng = np.random.default_rng([K, 0])
    codes = np.arange(30 * K) % K
    spread = rng.uniform(0.4, 1.6, (K, 2))
    X = rng.uniform([-2, -2], [4, 4], (K, 2))[codes] + spread[codes] * rng.standard_normal((len(codes), 2))
    return X, np.array(["d", "b", "e", "a"])[codes]


def _fitted(name, K):
    if name == "cloglog" and K > 2:
        pytest.skip("cloglog is for two classes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name].fit(*_classes(K))


def _points(n=3000):
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(*BOX[:2], n), rng.uniform(*BOX[2:], n)])


def _inside(rings, X):
    """The even-odd rule."""
    return sum((Path(ring).contains_points(X) for ring in rings), np.zeros(len(X), dtype=int)) % 2 == 1


def _near_boundary(model, X, distance=TOLERANCE):
    """Points within a distance of a boundary of ``predict``."""
    here = model.predict(X)
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    around = [model.predict(X + distance * np.array([np.cos(a), np.sin(a)])) for a in angles]
    return np.any([label != here for label in around], axis=0)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("name", MODELS)
def test_curved_regions_agree_with_predict(name, K):
    model, X = _fitted(name, K), _points()
    found = sx.regions(model, BOX)
    assert [region.labels for region in found] == [(label,) for label in model.classes_.tolist()]
    assert sum(region.area for region in found) == pytest.approx(AREA, rel=1e-6)
    answers, near = model.predict(X), _near_boundary(model, X)
    field = plane_scores(model).field
    for region in found:
        np.testing.assert_array_equal(region.contains(X), answers == region.labels[0])
        drawn = _inside(region.rings, X)
        assert np.all((drawn == (answers == region.labels[0])) | near)
    corners = np.concatenate([ring for region in found for ring in region.rings])
    inner = np.all((corners > np.array(BOX)[[0, 2]] + 1e-9) & (corners < np.array(BOX)[[1, 3]] - 1e-9), axis=1)
    if not inner.any():  # straight edges
        return
    Z = np.sort(field(corners[inner]), axis=1)
    exact = Z[:, -1] - Z[:, -2] < 1e-6
    # Votes jump at a boundary; and where three classes meet, a vertex may be off by a part of a square.
    assert np.all(exact | _near_boundary(model, corners[inner], 4 * TOLERANCE))
    assert "one-versus-one" in name or K > 2 or exact.all()


class Scored:
    """A classifier of two columns with these scores."""

    n_features_in_ = 2

    def __init__(self, scores, K):
        self.decision_function, self.classes_ = scores, np.arange(K)


def _waves(K, seed):
    """K smooth scores with saddles, islands and points where three of them are equal."""
    rng = np.random.default_rng(seed)
    F, phase = rng.normal(size=(4, 2, K)), rng.uniform(0, 2 * np.pi, (4, K))
    return lambda X: np.sin(np.einsum("nd,adk->nak", X, F) + phase).sum(axis=1)


HOSTILE = {
    "constant": lambda X: np.zeros((len(X), 3)),
    "equal over an area": lambda X: np.column_stack([np.maximum(X[:, 0], 0), np.maximum(X[:, 1], 0), 0 * X[:, 0]]),
    "whole numbers": lambda X: np.round(_waves(4, 0)(X)),
    "equal on lines of the grid": lambda X: np.column_stack([X[:, 0] * X[:, 1], 0 * X[:, 0]]),
    "wins on a line only": lambda X: np.column_stack([-np.abs(X[:, 0]), 0 * X[:, 0]]),
    "wins at a point only": lambda X: np.column_stack([-np.hypot(*X.T), 0 * X[:, 0]]),
    "a jump to nearly zero": lambda X: np.column_stack([np.where(X[:, 0] ** 2 < 1.7, 1.0, -1e-9), 0 * X[:, 0]]),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("K", [2, 3, 5])
def test_outlines_lie_on_boundaries_and_cover_the_box(K, seed):
    field, width = _waves(K, seed), 10.0
    found = sx.regions(Scored(field if K > 2 else lambda X: field(X)[:, 1] - field(X)[:, 0], K), BOX)
    assert sum(region.area for region in found) == pytest.approx(AREA, rel=1e-6)
    X = _points()
    won = np.argmax(field(X), axis=1)
    for k, region in enumerate(found):
        assert np.mean(_inside(region.rings, X) != (won == k)) < 0.002
    where = np.concatenate([ring for region in found for ring in region.rings])
    inner = where[np.all((where > np.array(BOX)[[0, 2]]) & (where < np.array(BOX)[[1, 3]]), axis=1)]
    Z = np.sort(field(inner), axis=1)
    slope = 4 * 3  # about the largest one of a sum of four waves
    assert np.mean(Z[:, -1] - Z[:, -2] < 1e-6 * width * slope) > (0.99 if K > 2 else 1 - 1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("name", HOSTILE)
def test_ties_and_jumps_leave_no_gaps(name, scale):
    field = HOSTILE[name]
    K = field(np.zeros((1, 2))).shape[1]
    one = (lambda X: field(X / scale)[:, 1] - field(X / scale)[:, 0]) if K == 2 else lambda X: field(X / scale)
    box = (-3 * scale, 3 * scale, -3 * scale, 3 * scale)
    found = sx.regions(Scored(one, K), box)
    assert sum(region.area for region in found) / scale**2 == pytest.approx(36, rel=1e-6)
    if "only" in name or name == "constant":
        assert sorted(region.empty for region in found) == [False] + [True] * (K - 1)
    if "jump" in name:
        assert found[0].area / scale**2 == pytest.approx(12 * np.sqrt(1.7), rel=1e-6)


def test_scores_that_are_not_numbers_are_refused():
    model = Scored(lambda X: np.column_stack([X, np.full(len(X), np.nan)]), 3)
    with pytest.raises(ParameterError, match="box: got"):
        sx.regions(model, BOX)


def test_three_regions_meet_in_one_point():
    point = np.array([0.123, 0.456])
    corner = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    found = sx.regions(Scored(lambda X: np.sinh((X - point) @ corner.T), 3), BOX)
    for region in found:
        away = np.hypot(*(np.concatenate(region.rings) - point).T)
        assert away.min() < 1e-6 * 10


def test_a_saddle_is_joined_on_the_side_of_the_higher_scores():
    for lift, parts in ((0.01, [2, 1]), (-0.01, [1, 2])):
        found = sx.regions(Scored(lambda X, lift=lift: X[:, 0] * X[:, 1] + lift, 2), (-3.05, 3, -3.05, 3))
        assert [len(region.rings) for region in found] == parts


def test_a_class_that_wins_nowhere_has_an_empty_region_and_a_small_one_is_found():
    rng = np.random.default_rng(0)
    wide = 3 * rng.standard_normal((200, 2))
    tight = [0.37, 0.21] + 0.01 * rng.standard_normal((20, 2))
    model = sx.QuadraticDiscriminantAnalysis().fit(np.vstack([wide, tight]), [0] * 200 + [1] * 20)
    outer, inner = sx.regions(model, (-10, 10, -10, 10))
    assert 0 < inner.area < 0.1
    assert [len(outer.rings), len(inner.rings)] == [2, 1]
    assert outer.area + inner.area == pytest.approx(400)
    far, none = sx.regions(model, (5, 10, 5, 10))
    assert (none.empty, none.area, far.area) == (True, 0.0, pytest.approx(25))


def test_predictions_without_scores_are_enough():
    X, y = _classes(3)
    model = KNeighborsClassifier(15).fit(X, y)
    found = sx.regions(model, BOX)
    assert sum(region.area for region in found) == pytest.approx(AREA)
    np.testing.assert_array_equal(sum(region.contains(_points()) for region in found), 1)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", ["QDA", "quadratic logistic", "scaled logistic", "cloglog"])
def test_level_sets_have_their_level_and_bands_cover_the_box(name, K):
    model, levels = _fitted(name, K), [0.1, 0.4, 0.9]
    for found in sx.level_sets(model, BOX, levels):
        k = model.classes_.tolist().index(found.label)
        for curve in found.curves:
            np.testing.assert_allclose(model.predict_proba(curve)[:, k], found.level, atol=1e-6)
    X = _points()
    bands = sx.probability_bands(model, BOX, levels)
    for label in {band.label for band in bands}:
        own = [band for band in bands if band.label == label]
        P = model.predict_proba(X)[:, model.classes_.tolist().index(label)]
        assert sum(band.area for band in own) == pytest.approx(AREA, rel=1e-6)
        for band in own:
            expected = (band.low <= P) & ((band.high > P) | (band.high == 1))
            np.testing.assert_array_equal(band.contains(X), expected)
            assert np.mean(_inside(band.rings, X) != expected) < 0.002


def test_score_levels_are_margins():
    X, y = _classes(2)
    model = sx.LinearSVC().fit(X, y)
    for found in sx.level_sets(model, BOX, [-1.0, 0.0, 1.0], of="score"):
        for curve in found.curves:
            np.testing.assert_allclose(model.decision_function(curve), found.level, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: sx.regions(sx.QuadraticDiscriminantAnalysis(), BOX), "has no classes, or is not fitted"),
        (lambda m: sx.regions(object(), BOX), "has no classes"),
        (lambda m: sx.level_sets(m, BOX, [0.5], of="odds"), "of: got 'odds'"),
        (lambda m: sx.level_sets(_fitted("QDA", 2), BOX, [1.5]), "levels: got"),
        (lambda m: sx.level_sets(_fitted("QDA", 2), BOX, [0.5], labels=["z"]), "labels: got 'z'"),
        (lambda m: sx.level_sets(m, BOX, [0.5]), "has no probabilities"),
        (lambda m: sx.level_sets(m, (1, 0, 0, 1), [0.5], of="score"), "box: got"),
        (lambda m: sx.probability_bands(_fitted("QDA", 2), BOX, [0.6, 0.4]), "levels: got"),
    ],
)
def test_bad_input(call, message):
    X, y = _classes(2)
    with pytest.raises(ParameterError, match=message):
        call(sx.LinearSVC().fit(X, y))


def test_more_columns_are_refused():
    rng = np.random.default_rng(0)
    model = sx.QuadraticDiscriminantAnalysis().fit(rng.standard_normal((40, 3)), np.arange(40) % 2)
    with pytest.raises(ParameterError, match="fitted to 3 columns"):
        sx.regions(model, BOX)
