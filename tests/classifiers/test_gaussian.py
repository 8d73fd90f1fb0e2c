"""Gaussian generative classifiers against R's MASS, scikit-learn, and what they claim.

See docs/tour.md, D2, D4, D6, F6.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal
from sklearn import discriminant_analysis as peers
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from separatrix import LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from separatrix.core.base.errors import LabelError, ParameterError, WeightError

# Made by tests/r/moments.R with R 4.2.2 and MASS 7.3-58.2.
R = json.loads((Path(__file__).parent.parent / "r" / "moments.json").read_text())
BOTH = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
both = pytest.mark.parametrize("kind", BOTH)
IRIS, SPECIES = load_iris(return_X_y=True)


# ------------------------------------------------------------------------------------------------- R's MASS


def test_lda_of_iris_as_in_mass():
    model = LinearDiscriminantAnalysis().fit(IRIS, SPECIES)
    scaling = np.array(R["lda_scaling"])
    # As printed in Venables and Ripley's examples, up to sign.
    np.testing.assert_allclose(np.abs(scaling[:, 0]), [0.829, 1.534, 2.201, 2.810], atol=5e-4)
    # R leaves signs to LAPACK; here each direction points from the first class to the last.
    turn = np.sign(np.sum(scaling * model.scalings_, axis=0))
    np.testing.assert_allclose(model.scalings_, scaling * turn, rtol=1e-11)
    np.testing.assert_allclose(model.explained_variance_ratio_, R["lda_trace"], rtol=1e-11)
    assert model.explained_variance_ratio_[0] == pytest.approx(0.9912, abs=5e-5)
    np.testing.assert_allclose(model.transform(IRIS)[R["rows"]], np.array(R["lda_x"]) * turn, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(IRIS)[R["rows"]], R["lda_posterior"], rtol=1e-9)
    assert np.flatnonzero(model.predict(IRIS) != SPECIES).tolist() == R["lda_errors"]
    assert np.all(model.transform(IRIS[SPECIES == 2]).mean(axis=0) >= model.transform(IRIS[SPECIES == 0]).mean(axis=0))


def test_lda_with_priors_as_in_mass():  # D4
    model = LinearDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]).fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS)[R["rows"]], R["lda_prior_posterior"], rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.scalings_), np.abs(R["lda_prior_scaling"]), rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, R["lda_prior_trace"], rtol=1e-11)


def test_qda_of_iris_as_in_mass():
    model = QuadraticDiscriminantAnalysis().fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS)[R["rows"]], R["qda_posterior"], rtol=1e-9)
    assert np.flatnonzero(model.predict(IRIS) != SPECIES).tolist() == R["qda_errors"]
    weighed = QuadraticDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]).fit(IRIS, SPECIES)
    np.testing.assert_allclose(weighed.predict_proba(IRIS)[R["rows"]], R["qda_prior_posterior"], rtol=1e-9)


# ----------------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_lda_as_in_scikit_learn_up_to_the_denominator(load):
    X, y = load(return_X_y=True)
    ours, theirs = LinearDiscriminantAnalysis().fit(X, y), peers.LinearDiscriminantAnalysis().fit(X, y)
    # Some releases divide the covariance by n, some, as here and in MASS, by n − K.
    n, K = len(y), len(np.unique(y))
    factor = float(np.vdot(theirs.coef_, ours.coef_) / np.vdot(ours.coef_, ours.coef_))
    assert any(factor == pytest.approx(f, rel=1e-8) for f in (1.0, n / (n - K)))
    np.testing.assert_allclose(theirs.coef_, factor * ours.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(theirs.transform(X)), np.sqrt(factor) * np.abs(ours.transform(X)), rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)


def test_qda_as_in_scikit_learn_up_to_the_denominator():
    X, y = load_wine(return_X_y=True)
    ours = QuadraticDiscriminantAnalysis().fit(X, y)
    theirs = peers.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    for k in range(3):
        n = np.sum(y == k)
        factor = float(theirs.covariance_[k][0, 0] / ours.covariance_[k][0, 0])
        assert any(factor == pytest.approx(f, rel=1e-8) for f in (1.0, (n - 1) / n))
        np.testing.assert_allclose(theirs.covariance_[k], factor * ours.covariance_[k], rtol=1e-8, atol=1e-10)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


@pytest.mark.parametrize("reg_param", [0.3, 1.0])
def test_reg_param_draws_to_the_identity(reg_param):
    X, y = load_wine(return_X_y=True)
    model = QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    for k in range(3):
        expected = (1 - reg_param) * np.cov(X[y == k].T) + reg_param * np.eye(13)
        np.testing.assert_allclose(model.covariance_[k], expected, rtol=1e-9, atol=1e-10)
        density = multivariate_normal(X[y == k].mean(axis=0), expected).logpdf(X)
        np.testing.assert_allclose(model.log_density(X)[:, k], density, rtol=1e-8)
    assert f"shrunk towards the identity by {reg_param:g}" in model.certificate_.status
    assert model.certificate_.verify(X, y)


# ------------------------------------------------------------------------------------- generative, D2


@both
def test_densities_are_those_of_the_normal(kind):
    model = kind().fit(IRIS, SPECIES)
    covariance = np.broadcast_to(model.covariance_, (3, 4, 4))
    expected = np.column_stack([multivariate_normal(model.means_[k], covariance[k]).logpdf(IRIS) for k in range(3)])
    np.testing.assert_allclose(model.log_density(IRIS), expected, rtol=1e-9)
    np.testing.assert_allclose(model.means_, [IRIS[k == SPECIES].mean(axis=0) for k in range(3)], rtol=1e-13)
    joint = expected + np.log(model.priors_)
    np.testing.assert_allclose(
        model.predict_log_proba(IRIS), joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), atol=1e-8
    )


def test_covariances_have_n_minus_k_and_n_minus_one():
    own = [np.cov(IRIS[k == SPECIES].T) for k in range(3)]
    np.testing.assert_allclose(QuadraticDiscriminantAnalysis().fit(IRIS, SPECIES).covariance_, own, rtol=1e-11)
    pooled = LinearDiscriminantAnalysis().fit(IRIS, SPECIES).covariance_
    np.testing.assert_allclose(pooled, 49 * sum(own) / (150 - 3), rtol=1e-11)


@both
def test_new_rows_of_a_class_look_like_the_class(kind):
    names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    model = kind().fit(IRIS, names)
    rows, labels = model.sample(40_000, label="versicolor", random_state=0)
    assert set(labels) == {"versicolor"}
    covariance = np.broadcast_to(model.covariance_, (3, 4, 4))[1]
    # The standard error of a mean is σ/200; of a variance about σ²/140.
    spread = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(rows.mean(axis=0) - model.means_[1]) < 5 * spread / 200)
    assert np.all(np.abs(np.cov(rows.T) - covariance) < 5 * spread * spread[:, None] / 140)
    again, _ = model.sample(40_000, label="versicolor", random_state=0)
    np.testing.assert_array_equal(rows, again)
    _, labels = kind(priors=[0.2, 0.3, 0.5]).fit(IRIS, names).sample(20_000, random_state=1)
    shares = np.unique(labels, return_counts=True)[1] / 20_000
    np.testing.assert_allclose(shares, [0.2, 0.3, 0.5], atol=0.02)
    with pytest.raises(ParameterError, match="label: got 'rosa'; name one of the classes"):
        model.sample(3, label="rosa")
    with pytest.raises(ParameterError, match="n: got 0"):
        model.sample(0)


@both
def test_the_class_that_fits_best_leaves_priors_out(kind):
    equal, uneven = kind(priors=[1 / 3] * 3).fit(IRIS, SPECIES), kind(priors=[0.01, 0.01, 0.98]).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(equal.best_fitting_class(IRIS), equal.predict(IRIS))
    np.testing.assert_array_equal(uneven.best_fitting_class(IRIS), equal.predict(IRIS))
    assert np.sum(uneven.predict(IRIS) == 2) > np.sum(equal.predict(IRIS) == 2)


def test_priors_move_the_boundary_by_their_log_odds():  # D4
    X, y = load_breast_cancer(return_X_y=True)
    even, odd = (LinearDiscriminantAnalysis(priors=p).fit(X, y) for p in ([0.5, 0.5], [0.9, 0.1]))
    np.testing.assert_allclose(odd.coef_, even.coef_, rtol=1e-12)
    assert odd.intercept_[0] - even.intercept_[0] == pytest.approx(np.log(0.1 / 0.9), rel=1e-9)


def test_one_covariance_makes_the_boundary_linear_and_two_do_not():  # F6
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(0, 4, (80, 2))])
    y = np.repeat([0, 1], 80)
    ring = np.array([[12.0, 0.0], [-12.0, 0.0], [0.0, 12.0], [0.0, -12.0]])
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    assert quadratic.predict(ring).tolist() == [1] * 4
    assert quadratic.predict([[0.0, 0.0]]).tolist() == [0]
    linear = LinearDiscriminantAnalysis().fit(X, y)
    plane = linear.hyperplane()
    np.testing.assert_array_equal(linear.predict(X) == 1, plane.score(X) >= 0)
    assert quadratic.score(X, y) > linear.score(X, y) + 0.2


def test_how_many_parameters_generative_against_discriminative():  # D6
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    lda, qda = LinearDiscriminantAnalysis().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    assert lda.n_parameters_ == 4 + 3 + 1
    assert qda.n_parameters_ == 4 + 6 + 1
    assert LogisticRegression().fit(X, y).n_parameters_ == 3
    assert lda.certificate_.facts["size"] == "8 parameters; 3 in a discriminative model"
    assert qda.certificate_.facts["size"] == "11 parameters; 6 in a discriminative model"
    assert LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y).n_parameters_ == 7
    assert LinearDiscriminantAnalysis().fit(IRIS, SPECIES).n_parameters_ == 12 + 10 + 2


# ------------------------------------------------------------------------------------------ certificate


@both
def test_the_objective_is_the_mean_log_likelihood_and_the_bound_its_gap(kind):
    model = kind().fit(IRIS, SPECIES)
    covariance = np.broadcast_to(model.covariance_, (3, 4, 4))

    def cost(shrink):
        """With the covariances as given, or multiplied to their maximum-likelihood size."""
        each = [
            multivariate_normal(model.means_[k], covariance[k] * shrink).logpdf(IRIS[k == SPECIES]) for k in range(3)
        ]
        return -(np.concatenate(each).mean() + np.log(1 / 3))

    certificate = model.certificate_
    assert certificate.objective == pytest.approx(cost(1.0), rel=1e-12)
    likeliest = cost((150 - 3) / 150 if kind is LinearDiscriminantAnalysis else 49 / 50)
    assert certificate.bound == pytest.approx(certificate.objective - likeliest, rel=1e-6)
    assert certificate.verify(IRIS, SPECIES)
    assert certificate.verify(csr_array(IRIS), SPECIES)
    assert not certificate.verify(IRIS, SPECIES[::-1])
    alone = multivariate_normal(IRIS.mean(axis=0), np.cov(IRIS.T, ddof=0)).logpdf(IRIS).mean()
    assert certificate.null_objective == pytest.approx(np.log(3) - alone, rel=1e-10)


def test_a_scorer_that_does_not_belong_to_its_gaussians_is_found_out():
    certificate = LinearDiscriminantAnalysis().fit(IRIS, SPECIES).certificate_
    claim = certificate.claim
    W = claim.scorer.W.copy()
    W[0, 0] += 0.1
    assert not replace(certificate, claim=replace(claim, scorer=replace(claim.scorer, W=W))).verify(IRIS, SPECIES)


def test_priors_of_ones_own_are_in_the_bound():
    plain = LinearDiscriminantAnalysis().fit(IRIS, SPECIES).certificate_
    weighed = LinearDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]).fit(IRIS, SPECIES).certificate_
    divergence = np.mean(np.log((1 / 3) / np.array([0.2, 0.5, 0.3])))
    assert weighed.bound - plain.bound == pytest.approx(divergence, rel=1e-9)


# ----------------------------------------------------------------------------------------- hard data


@both
def test_columns_of_any_size_and_offset(kind):
    base = kind().fit(IRIS, SPECIES)
    scale = np.array([2.0**400, 2.0**-400, 1.0, 3.0])
    model = kind().fit(IRIS * scale, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS * scale), base.predict_proba(IRIS), rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(IRIS * scale), base.decision_function(IRIS), rtol=1e-8)
    assert model.certificate_.verify(IRIS * scale, SPECIES)
    moved = np.round(IRIS * 1024) / 1024
    near, far = kind().fit(moved, SPECIES), kind().fit(moved + 2.0**27, SPECIES)
    np.testing.assert_allclose(far.predict_proba(moved + 2.0**27), near.predict_proba(moved), atol=1e-5)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-12)


@both
def test_collinear_and_constant_columns(kind):
    more = np.column_stack([IRIS, IRIS[:, 0] + IRIS[:, 1], np.full(150, 7.0)])
    base, model = kind().fit(IRIS, SPECIES), kind().fit(more, SPECIES)
    np.testing.assert_allclose(model.predict_proba(more), base.predict_proba(IRIS), rtol=1e-6, atol=1e-12)
    assert model.certificate_.code == "singular"
    assert "rank 4 of 6" in model.certificate_.status
    assert "column 5 is constant within the classes" in model.certificate_.status
    assert "column 0, column 1, column 4 are collinear" in model.certificate_.status
    assert "leave column 5 out, leave one of them out, or give more rows" in model.certificate_.status
    assert model.certificate_.bound is None
    assert model.certificate_.bound_reason
    assert model.certificate_.verify(more, SPECIES)
    rows, _ = model.sample(50, random_state=0)
    np.testing.assert_allclose(rows[:, 4], rows[:, 0] + rows[:, 1], rtol=1e-8)
    np.testing.assert_allclose(rows[:, 5], 7.0)


def test_means_apart_without_scatter_are_said():
    X = np.column_stack([IRIS, (SPECIES == 2).astype(float)])
    status = LinearDiscriminantAnalysis().fit(X, SPECIES).certificate_.status
    assert "directions without within-class variance, which are ignored" in status


@both
def test_more_columns_than_rows(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), np.arange(20) % 2
    model = kind().fit(X, y)
    p = model.predict_proba(X)
    assert np.all(np.isfinite(p))
    assert model.certificate_.verify(X, y)


def test_a_class_that_does_not_vary_takes_the_pooled_variance():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 5.0], [1.0, 7.0], [2.0, 6.5], [1.2, 5.5]])
    model = QuadraticDiscriminantAnalysis().fit(X, ["flat"] * 3 + ["wide"] * 4)
    assert "class 'flat' varies along 1 of 2 directions" in model.certificate_.status
    assert "reg_param > 0" in model.certificate_.status
    assert model.predict(X).tolist() == ["flat"] * 3 + ["wide"] * 4
    assert model.predict([[0.5, 0.4]]).tolist() == ["flat"]


def test_a_class_of_one_row():
    X, y = np.vstack([IRIS[:60], [[9.0, 9.0, 9.0, 9.0]]]), np.array(["a"] * 30 + ["b"] * 30 + ["c"])
    with pytest.raises(LabelError, match=r"y: class 'c' has one row .*reg_param > 0"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    assert model.predict([[9.0, 9.0, 9.0, 9.0]]).tolist() == ["c"]
    np.testing.assert_allclose(model.covariance_[2], 0.1 * np.eye(4))
    assert LinearDiscriminantAnalysis().fit(X, y).predict([[9.0, 9.0, 9.0, 9.0]]).tolist() == ["c"]


@both
def test_weights_are_repetitions(kind):
    weight = np.random.default_rng(0).integers(0, 4, 150)
    often = np.repeat(np.arange(150), weight)
    a = kind().fit(IRIS, SPECIES, sample_weight=weight)
    b = kind().fit(IRIS[often], SPECIES[often])
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-11)
    np.testing.assert_allclose(a.predict_proba(IRIS), b.predict_proba(IRIS), rtol=1e-8)
    assert a.n_parameters_ == b.n_parameters_
    assert a.certificate_.objective == pytest.approx(b.certificate_.objective, rel=1e-11)


@pytest.mark.parametrize("make", [csr_array, pd.DataFrame, pl.DataFrame])
@both
def test_any_container(kind, make):
    names = ["setosa", "versicolor", "virginica"]
    model = kind().fit(make(IRIS), [names[k] for k in SPECIES])
    plain = kind().fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(make(IRIS)), plain.predict_proba(IRIS), rtol=1e-8)
    np.testing.assert_allclose(model.log_density(make(IRIS)), plain.log_density(IRIS), rtol=1e-8)
    assert model.certificate_.verify(make(IRIS), [names[k] for k in SPECIES])


@both
def test_rows_far_out_are_no_error(kind):
    model = kind().fit(IRIS, SPECIES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.all(np.isfinite(model.predict_proba(np.full((1, 4), 1.7e308))))
        assert np.all(np.isfinite(model.log_density(np.full((1, 4), 1e200))))


# ------------------------------------------------------------------------------------------- bad input


@both
@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"priors: its shape is \(2,\) for 3 classes"),
        ([0.5, 0.5, 0.5], "priors: they sum to 1.5; give one positive number for each class"),
        ([0.7, 0.5, -0.2], "priors: got"),
        ([0.5, 0.5, 0.0], "priors: got"),
        ([np.nan, 0.5, 0.5], "priors: got"),
        ("even", "priors: got 'even'"),
    ],
)
def test_priors_that_are_none(kind, priors, message):
    with pytest.raises(ParameterError, match=message):
        kind(priors=priors).fit(IRIS, SPECIES)


@pytest.mark.parametrize("reg_param", [-0.1, 1.5, "much", np.nan])
def test_reg_param_is_a_share(reg_param):
    with pytest.raises(ParameterError, match="reg_param: got"):
        QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(IRIS, SPECIES)


def test_what_has_no_covariance():
    with pytest.raises(LabelError, match="are too few for 2 classes"):
        LinearDiscriminantAnalysis().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(LabelError, match="no column varies within a class"):
        LinearDiscriminantAnalysis().fit([[0.1], [0.1], [0.3], [0.3]], [0, 0, 1, 1])
    with pytest.raises(WeightError, match="class 2 has no row of positive weight"):
        LinearDiscriminantAnalysis().fit(IRIS, SPECIES, sample_weight=(SPECIES < 2).astype(float))


@pytest.mark.parametrize("spread", [1e-9, 1e-12])
def test_a_variance_far_below_the_one_that_shrinkage_gives(spread):
    """The whitened variance is so small that subtracting one loses it."""
    X = np.array([[0.001], [0.001 + spread], [0.001], [0.001 + spread], [0.001], [0.001]])
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.certificate_.bound > 1.0
    assert model.certificate_.verify(X, [0, 0, 0, 1, 1, 1])
