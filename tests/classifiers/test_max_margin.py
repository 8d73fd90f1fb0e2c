"""MaxMarginClassifier: the optimal hyperplane, its support, its bounds (docs/tour.md, P10)."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, NotFiniteError, ParameterError
from tests.wide_text import wide_text

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])


def _separable(seed, n, d, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) + 0.1
    z /= np.abs(z).mean()
    keep = np.abs(z) > 0.1
    return X[keep] + offset, (z[keep] > 0).astype(int)


# ----------------------------------------------------------------------------------------------- by hand


def test_two_rows():
    model = sx.MaxMarginClassifier().fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    np.testing.assert_allclose(model.coef_, [[6 / 25, 8 / 25]], rtol=1e-14)
    np.testing.assert_allclose(model.intercept_, [-1.0], rtol=1e-14)
    assert model.margin_ == pytest.approx(2.5, rel=1e-14)
    assert model.support_.tolist() == [0, 1]


def test_a_row_against_a_segment():
    X = [[0.0, 0.0], [2.0, 5.0], [2.0, -3.0], [7.0, 1.0]]
    model = sx.MaxMarginClassifier().fit(X, [0, 1, 1, 1])
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], [-1.0, 1.0, 0.0], atol=1e-12)
    assert model.margin_ == pytest.approx(1.0, rel=1e-12)
    assert model.support_.tolist() == [0, 1, 2]


def test_one_column():
    model = sx.MaxMarginClassifier().fit([[1.0], [4.0], [5.0], [9.0]], [0, 0, 1, 1])
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], [-9.0, 2.0], rtol=1e-12)
    assert model.support_.tolist() == [1, 2]


def test_xor_with_its_product():
    model = sx.MaxMarginClassifier().fit(np.column_stack([XOR, XOR.prod(axis=1)]), [0, 0, 1, 1])
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], [0.0, 0.0, 0.0, -1.0], atol=1e-12)
    assert model.margin_ == pytest.approx(1.0, rel=1e-12)


def test_through_the_origin():
    model = sx.MaxMarginClassifier(fit_intercept=False).fit([[3.0, 0.0], [0.0, 4.0], [-9.0, -9.0]], [1, 1, 0])
    np.testing.assert_allclose(model.coef_, [[1 / 3, 1 / 4]], rtol=1e-12)
    assert model.intercept_.tolist() == [0.0]
    assert model.margin_ == pytest.approx(12 / 5, rel=1e-12)


# ------------------------------------------------------------------------------------------------ in general


@pytest.mark.parametrize(("n", "d"), [(20, 1), (60, 2), (200, 5), (600, 10), (2000, 20)])
@pytest.mark.parametrize("sparse", [False, True])
def test_against_a_support_vector_machine(n, d, sparse):
    X, y = _separable(n + d, n, d)
    model = sx.MaxMarginClassifier().fit(csr_array(X) if sparse else X, y)
    peer = SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(peer.coef_), rel=1e-5)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-4)
    assert set(model.support_) <= set(np.flatnonzero((2 * y - 1) * peer.decision_function(X) < 1.01))
    certificate = model.certificate_
    assert certificate.code == "optimal"
    assert certificate.bound <= 1e-8 * certificate.objective
    assert certificate.verify(X, y)
    assert certificate.verify(csr_array(X), y)
    assert not certificate.verify(X, 1 - y)


@pytest.mark.parametrize("seed", range(6))
def test_no_other_hyperplane_has_a_larger_margin(seed):
    X, y = _separable(seed, 60, 3)
    t = 2 * y - 1
    model = sx.MaxMarginClassifier().fit(X, y)
    rng = np.random.default_rng(seed)
    w, b = model.coef_[0], model.intercept_[0]
    for _ in range(300):
        v = w + 0.1 * rng.standard_normal(3) * np.linalg.norm(w)
        c = b + 0.1 * rng.standard_normal()
        assert np.min(t * (X @ v + c)) / np.linalg.norm(v) <= model.margin_ * (1 + 1e-9)
    for other in (sx.Perceptron(max_iter=50_000), sx.KozinecClassifier()):
        distances = t * other.fit(X, y).hyperplane().distance(X)
        assert distances.min() <= model.margin_ * (1 + 1e-9)


def test_the_support_alone_gives_the_same_hyperplane():
    X, y = _separable(3, 300, 4)
    model = sx.MaxMarginClassifier().fit(X, y)
    alone = sx.MaxMarginClassifier().fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(alone.coef_, model.coef_, rtol=1e-8)
    order = np.random.default_rng(0).permutation(len(y))
    turned = sx.MaxMarginClassifier().fit(X[order], y[order])
    np.testing.assert_allclose(turned.coef_, model.coef_, rtol=1e-8)


def test_one_unit_for_all_columns_only_rescales_and_an_offset_only_shifts():
    X, y = _separable(5, 200, 3)
    base = sx.MaxMarginClassifier().fit(X, y)
    for unit in (1e-9, 1e9):
        model = sx.MaxMarginClassifier().fit(unit * X, y)
        np.testing.assert_allclose(unit * model.coef_, base.coef_, rtol=1e-8)
        assert model.margin_ == pytest.approx(unit * base.margin_, rel=1e-8)
        assert f"the margin is {model.margin_:.6g}" in model.certificate_.status
    far = sx.MaxMarginClassifier().fit(X + 1e5, y)
    np.testing.assert_allclose(far.coef_, base.coef_, rtol=1e-6)


def test_a_wrong_certificate_does_not_verify():
    X, y = _separable(1, 80, 2)
    model = sx.MaxMarginClassifier().fit(X, y)
    nearer = X.copy()
    nearer[model.support_[0]] += (
        0.5 * (X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) * (2 * y[model.support_[0]] - 1)
    )
    assert not model.certificate_.verify(nearer, y)
    model.certificate_.claim.scorer.W[0, 1] *= 1.01
    assert not model.certificate_.verify(X, y)


@pytest.mark.parametrize("seed", range(4))
def test_overlapping_classes_end_with_a_proof_and_weights_of_least_violation(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + 0.7 * rng.standard_normal(80) > 0).astype(int)
    with pytest.warns(NotConvergedWarning, match="rows prove it.*mean of max"):
        model = sx.MaxMarginClassifier().fit(X, y)
    assert (model.certificate_.code, model.certificate_.met) == ("inseparable", False)
    assert model.score(X, y) > 0.7
    assert len(model.support_) == 0
    assert model.certificate_.verify(X, y)


def test_overlap_in_large_tables_bisects_the_means(monkeypatch):
    monkeypatch.setattr("separatrix.classifiers.hyperplane_search.MOST_VIOLATION_ENTRIES", 5)
    with pytest.warns(NotConvergedWarning, match="bisect the means"):
        model = sx.MaxMarginClassifier().fit([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    assert model.hyperplane().offset == pytest.approx(1.5)


def test_a_row_in_both_classes_is_a_proof():
    with pytest.warns(NotConvergedWarning, match="2 rows lie on it"):
        sx.MaxMarginClassifier().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])


def test_more_than_two_classes():
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    model = sx.MaxMarginClassifier().fit(corners, ["a", "b", "c"])
    assert model.predict(corners).tolist() == ["a", "b", "c"]
    assert model.certificate_.verify(corners, ["a", "b", "c"])
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConvergedWarning, match="class 1 against the rest"):
        model = sx.MaxMarginClassifier().fit(X, y)
    alone = sx.MaxMarginClassifier().fit(X, y == 0)
    np.testing.assert_allclose(model.coef_[0], alone.coef_[0] * alone.margin_, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(model.coef_, axis=1), 1.0)  # scores are distances


@pytest.mark.parametrize(
    ("settings", "message"), [({"fit_intercept": 1}, "fit_intercept: got 1"), ({"max_iter": 0}, "max_iter: got 0")]
)
def test_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.MaxMarginClassifier(**settings).fit(XOR, [0, 0, 1, 1])


def test_not_finite_rows_are_named():
    with pytest.raises(NotFiniteError, match="row 1, column 0 is infinity"):
        sx.MaxMarginClassifier().fit([[0.0], [np.inf]], [0, 1])


def test_columns_of_unlike_units_are_solved_in_their_own_units():
    """Breast cancer as it is: columns from 1e-3 to 1e3, a margin of 4e-5."""
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.MaxMarginClassifier().fit(X, y)
    claim = model.certificate_.claim
    ((lower, upper),) = claim.margins(claim.rows_of(X, y))
    assert model.certificate_.met
    assert 0 < lower <= upper * (1 + 1e-9)
    assert upper - lower <= 1e-8 * upper
    assert np.array_equal(model.predict(X), y)
    assert model.certificate_.verify(X, y)
    assert len(model.support_) == 31
    again = sx.MaxMarginClassifier().fit(X[model.support_], y[model.support_])
    assert again.margin_ == pytest.approx(lower, rel=1e-6)


def test_a_fit_that_is_cut_short_names_its_rows_and_both_bounds(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    monkeypatch.setattr("separatrix.core.solvers.convex_hulls.nearly_nearest", lambda problem, w: None)
    with pytest.warns(NotConvergedWarning, match="no hyperplane has (a margin of )?more than"):
        model = sx.MaxMarginClassifier(max_iter=50).fit(X, y)
    assert len(model.support_) > 2
    claim = model.certificate_.claim
    assert 0 < model.margin_ <= claim.margins(claim.rows_of(X, y))[0][1]


@pytest.mark.parametrize("size", [1e-300, 1e-155, 1e160, 1e300])
def test_rows_whose_lengths_float64_cannot_square_are_refused(size):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, -1.0]]) * size
    for model in (sx.MaxMarginClassifier(), sx.KozinecClassifier(), sx.Perceptron()):
        with pytest.raises(
            sx.errors.InputError, match=r"the largest entry of column 0 is .*standardise the columns first"
        ):
            model.fit(X, [0, 0, 1, 1])


# ---------------------------------------------------------------------------------------- wide sparse text


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("repeated", [0, 30])
def test_sparse_text_gives_the_answer_of_its_dense_copy(fit_intercept, repeated):
    X, y = wide_text(200, 2000, repeated=repeated)
    sparse, dense = (sx.MaxMarginClassifier(fit_intercept=fit_intercept).fit(of, y) for of in (X, X.toarray()))
    assert sparse.certificate_.met
    assert sparse.certificate_.verify(X, y).holds
    assert sparse.margin_ == pytest.approx(dense.margin_, rel=1e-10)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7 * np.abs(dense.coef_).max())
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-7)
    claim = sparse.certificate_.claim
    upper = claim.margins(claim.rows_of(X, y))[0][1]
    assert upper == pytest.approx(sparse.margin_, rel=1e-10)


def test_sparse_text_is_not_made_dense():
    X, y = wide_text(500, 20_000)
    dense = X.shape[0] * X.shape[1] * 8
    sx.MaxMarginClassifier().fit(X[:50], y[:50])  # imports are not counted
    tracemalloc.start()
    model = sx.MaxMarginClassifier().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.certificate_.met
    assert peak < dense / 2
