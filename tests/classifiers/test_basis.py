"""Basis functions: names, numbers, pipelines; XOR as lecture 003 has it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.core.base.errors import InputError, NotFiniteError, ParameterError, SeparationWarning

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
LABELS = np.array([0, 0, 1, 1])


@parametrize_with_checks([sx.quadratic(), sx.gaussian(), sx.gaussian(2, width=0.5)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_named_functions_of_any_kind():  # B1
    phi = sx.Basis(["x0", "x1*x1*x0", ("sum", lambda X: X.sum(axis=1))])
    out = phi.fit_transform([[2.0, 3.0], [1.0, -1.0]])
    np.testing.assert_array_equal(out, [[2.0, 18.0, 5.0], [1.0, 1.0, 0.0]])
    assert phi.get_feature_names_out().tolist() == ["x0", "x1*x1*x0", "sum"]


def test_columns_are_called_as_in_their_frame():
    frame = pd.DataFrame({"age": [2.0, 3.0], "in*come": [5.0, 7.0]})
    phi = sx.Basis(["age", "in*come", "age*age"]).set_output(transform="pandas")
    out = phi.fit_transform(frame)
    assert out.columns.tolist() == ["age", "in*come", "age*age"]
    assert out["age*age"].tolist() == [4.0, 9.0]
    assert sx.quadratic().fit(frame).get_feature_names_out().tolist()[:3] == ["age", "in*come", "age*age"]
    with pytest.raises(ParameterError, match="contains 'x0', which is not a column; use"):
        sx.Basis(["x0"]).fit(frame)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_quadratic_parameter_counts(d):  # B2: d(d + 1)/2 more
    X = np.random.default_rng(0).standard_normal((80, d))
    y = (X[:, 0] > 0).astype(int)
    plain = sx.LogisticRegression().fit(X, y)
    curved = make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X, y)
    assert curved[-1].n_parameters_ - plain.n_parameters_ == d * (d + 1) // 2


def test_quadratic_in_the_plane_has_three_more_and_six_in_all():
    """Exact example: d = 2."""
    X = np.random.default_rng(0).standard_normal((50, 2))
    fitted = make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X, X[:, 0] > 0)
    assert fitted[-1].n_parameters_ == 6
    phi = sx.quadratic().fit_transform(X)
    np.testing.assert_allclose(phi[:, 2:], np.column_stack([X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2]))


def test_xor_is_not_separable_by_a_line_and_is_with_phi():  # B3
    flat = sx.LogisticRegression(C=np.inf).fit(XOR, LABELS)
    assert flat.certificate_.code == "optimal"
    np.testing.assert_allclose(flat.coef_, 0.0, atol=1e-12)
    np.testing.assert_allclose(flat.intercept_, 0.0, atol=1e-12)
    t = 2 * LABELS - 1
    np.testing.assert_array_equal(t @ np.column_stack([np.ones(4), XOR]), 0.0)  # the proof: Σ t_i x̄_i = 0
    curved = make_pipeline(sx.Basis(["x0", "x1", "x0*x1"]), sx.LogisticRegression(C=np.inf))
    with pytest.warns(SeparationWarning):
        curved.fit(XOR, LABELS)
    assert curved[-1].certificate_.code == "separated"
    np.testing.assert_array_equal(curved.predict(XOR), LABELS)
    w = curved[-1].coef_[0]
    np.testing.assert_allclose(w[:2], 0.0, atol=1e-9 * abs(w[2]))
    assert w[2] < 0


def test_the_xor_boundary_is_both_axes():  # B4
    curved = make_pipeline(sx.Basis(["x0", "x1", "x0*x1"]), sx.LogisticRegression()).fit(XOR, LABELS)
    pieces = sx.boundary_curve(curved, (-2, 2.1, -2, 2.2), 25)
    assert pieces
    for piece in pieces:
        assert np.abs(piece[:, 0] * piece[:, 1]).max() < 1e-6


def test_gaussian_bumps_against_the_formula():
    rng = np.random.default_rng(0)
    X, centres = rng.standard_normal((30, 3)), rng.standard_normal((4, 3))
    expected = np.exp(-((X[:, None] - centres) ** 2).sum(axis=2) / (2 * 0.7**2))
    np.testing.assert_allclose(sx.gaussian(centres, width=0.7).fit_transform(X), expected, rtol=1e-12)


def test_gaussian_centres_from_rows_are_repeatable():
    X = np.random.default_rng(0).standard_normal((30, 2))
    a, b, c = (sx.gaussian(4, seed=seed).fit(X).centres_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert {tuple(row) for row in a} <= {tuple(row) for row in X}
    assert len(sx.gaussian(99).fit(X).centres_) == 30


def test_bumps_separate_rings():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 2)) * 2
    y = (np.hypot(*X.T) > 2).astype(int)
    model = make_pipeline(sx.gaussian([[0.0, 0.0]], width=2.0), sx.LogisticRegression(C=1e3)).fit(X, y)
    assert model.score(X, y) > 0.98


def _radius(X):
    return np.hypot(X[:, 0], X[:, 1])


@pytest.mark.parametrize(
    "phi",
    [sx.Basis(["x0", ("radius", _radius)]), sx.quadratic(), sx.gaussian([[0.0, 1.0]])],
    ids=["functions", "quadratic", "gaussian"],
)
def test_clone_and_pickle(phi):
    fitted = clone(phi).fit(XOR)
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.transform(XOR), fitted.transform(XOR))
    assert back.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_not_finite_and_sparse_rows():
    spoilt = XOR.copy()
    spoilt[2, 1] = np.nan
    for phi in (sx.quadratic(), sx.gaussian(), sx.Basis(["x0"])):
        with pytest.raises(NotFiniteError, match="row 2, column 1 is NaN"):
            phi.fit(spoilt)
        with pytest.raises(NotFiniteError, match="row 2, column 'b'"):
            phi.fit(pd.DataFrame(spoilt, columns=["a", "b"]))
        with pytest.raises(TypeError, match="dense data is required"):
            phi.fit(csr_array(XOR))


def test_products_that_overflow_are_named_by_the_classifier():
    X = np.array([[1e200, 1.0], [1.0, 1.0], [2.0, 0.0]])
    with pytest.raises(NotFiniteError, match="row 0, column 2 is infinity"):
        make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X, [0, 1, 1])


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (sx.Basis([]), "at least one function"),
        (sx.Basis("x0"), "functions: got 'x0'"),
        (sx.Basis(["x0", "x0"]), "'x0' occurs twice"),
        (sx.Basis(["x9"]), r"contains 'x9', which is not a column; use \['x0', 'x1'\]"),
        (sx.Basis(["x0 + x1"]), r"contains 'x0 \+ x1'"),
        (sx.Basis(["__import__('os')"]), "which is not a column"),
        (sx.Basis([3]), "functions: got 3"),
        (sx.gaussian(width=0.0), "width: got 0"),
        (sx.gaussian(0), "centres: got 0"),
        (sx.gaussian([[1.0]]), "2 coordinates each"),
    ],
    ids=repr,
)
def test_settings(phi, message):
    with pytest.raises(ParameterError, match=message):
        phi.fit(XOR)


def test_a_function_must_give_one_number_a_row():
    phi = sx.Basis([("both", lambda X: X)]).fit(XOR)
    with pytest.raises(ParameterError, match=r"'both' returned shape \(4, 2\)"):
        phi.transform(XOR)


def test_powers_are_written_as_products():
    with pytest.raises(InputError, match=r"'x0\*\*2' contains '\*\*', .*'x0\*x0' for the square of x0"):
        sx.Basis(["x0**2"]).fit([[1.0]])


def test_there_are_no_more_centres_than_rows():
    X = np.arange(4.0)[:, None]
    found = sx.gaussian(10).fit(X)
    assert np.array_equal(found.centres_, X)
    assert found.transform(X).shape == (4, 4)
