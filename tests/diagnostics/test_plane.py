"""Planes: in them rows lie on the side that the model puts them on, and regions are the model's own."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.diagnostics.plane import exact_regions, leads, plane_of


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


def test_the_second_direction_is_the_largest_that_remains():
    X, y = _drawn(2, 5)
    model = sx.LogisticRegression().fit(X, y)
    plane = plane_of(model, X, y)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    w = model.coef_[0] * X.std(axis=0)
    w /= np.linalg.norm(w)
    rest = S - np.outer(S @ w, w)
    first = np.linalg.svd(rest, full_matrices=False)[2][0]
    assert abs(first @ plane.B[:, 1]) == pytest.approx(1.0, abs=1e-3)


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
