"""A penalty path is the same as its fits one by one, and begins where all weights are zero."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from tests import problems


def _rows(seed=0, n=120, d=8, K=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0, 1, d)) + rng.normal(0, 2, d)
    X[rng.random((n, d)) < 0.3] = 0.0
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal((d, K)) + 2 * rng.gumbel(size=(n, K))
    return X, z.argmax(axis=1)


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
def test_each_fit_is_the_fit_alone(form, K, l1_ratio):
    X, y = _rows(K=K)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    factors = np.linspace(0.5, 2, X.shape[1])
    same = {"l1_ratio": l1_ratio, "penalty_factors": factors, "class_weight": "balanced"}
    path = sx.penalty_path(form(X), y, n_values=5, sample_weight=weight, **same)
    assert np.all(np.diff(path.Cs) > 0)
    for i, C in enumerate(path.Cs):
        alone = sx.LogisticRegression(C, **same).fit(form(X), y, weight)
        found = path.model(i)
        assert found.get_params() == alone.get_params()
        assert path.certificates[i].met
        assert path.certificates[i].verify(X, y, weight)
        gap = 2e-8 * alone.certificate_.null_objective
        assert path.certificates[i].objective == pytest.approx(alone.certificate_.objective, abs=gap)
        np.testing.assert_allclose(found.predict_proba(X), alone.predict_proba(X), atol=1e-3)
    assert path.coef.shape == (5, 1 if K == 2 else K, 8)
    np.testing.assert_array_equal(path.intercept[2], path.model(2).intercept_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_it_begins_where_all_weights_are_zero_and_not_before(K, fit_intercept):
    for seed in range(5):
        X, y = _rows(seed, K=K)
        path = sx.penalty_path(X, y, n_values=8, fit_intercept=fit_intercept)
        assert path.n_nonzero[0] == 0
        assert np.all(path.coef[0] == 0)
        little_more = sx.LogisticRegression(1.001 * path.Cs[0], l1_ratio=1.0, fit_intercept=fit_intercept).fit(X, y)
        assert np.any(little_more.coef_ != 0)
        assert path.n_nonzero[-1] > 0


def test_many_columns_take_the_working_set_and_agree_with_fits_alone():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 900))
    y = (X[:, :5].sum(axis=1) + rng.logistic(size=80) > 0).astype(int)
    path = sx.penalty_path(X, y, n_values=6, span=50)
    assert {certificate.solver for certificate in path.certificates} == {"proximal"}
    for i, C in enumerate(path.Cs):
        alone = sx.LogisticRegression(C, l1_ratio=1.0).fit(X, y)
        assert path.certificates[i].met
        gap = 1e-8 * alone.certificate_.null_objective
        assert path.certificates[i].objective == pytest.approx(alone.certificate_.objective, abs=gap)
    # A path costs few passes beyond one a fit.
    assert sum(certificate.passes for certificate in path.certificates) <= 4 * len(path)


def test_given_values_are_sorted_and_no_penalty_is_one_of_them():
    drawn = problems.draw(7, K=2, n=60)
    path = sx.penalty_path(drawn.X, drawn.codes, Cs=[np.inf, 0.1, 2.0])
    assert path.Cs.tolist() == [0.1, 2.0, np.inf]
    alone = sx.LogisticRegression(np.inf).fit(drawn.X, drawn.codes)
    assert path.certificates[2].objective == pytest.approx(alone.certificate_.objective, abs=1e-8)


def test_unpenalised_columns_are_in_use_from_the_beginning():
    X, y = _rows(4)
    factors = np.ones(8)
    factors[2] = 0.0
    path = sx.penalty_path(X, y, n_values=4, penalty_factors=factors)
    assert path.coef[0, 0, 2] != 0
    assert all(certificate.met for certificate in path.certificates)


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    X, y = _rows(2, d=3)
    model = sx.penalty_path(pandas.DataFrame(X, columns=["a", "b", "c"]), y, n_values=2).model(1)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(pandas.DataFrame(X, columns=["a", "b", "c"])).shape == y.shape


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"Cs": []}, "Cs"),
        ({"Cs": [1.0, -1.0]}, "Cs"),
        ({"Cs": ["much"]}, "Cs"),
        ({"n_values": 0}, "n_values"),
        ({"span": -1.0}, "span"),
        ({"l1_ratio": 2.0}, "l1_ratio"),
        ({"solver": "gradient-descent"}, "solver"),
    ],
)
def test_settings_that_cannot_be_are_refused(how, message):
    X, y = _rows()
    with pytest.raises(ParameterError, match=message):
        sx.penalty_path(X, y, **how)
