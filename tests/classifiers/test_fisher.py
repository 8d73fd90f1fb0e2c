"""Fisher's discriminant: direction, criterion, threshold, projection (docs/tour.md, F1–F5, F7)."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from separatrix import FisherDiscriminant, Hyperplane, LinearDiscriminantAnalysis
from separatrix.core.base.errors import LabelError, ParameterError, WeightError
from separatrix.core.projections import crossings


def two(seed=0, n=(60, 40)):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 3))
    X = np.vstack([rng.standard_normal((n[0], 3)) @ A, rng.standard_normal((n[1], 3)) @ A * 0.6 + [1.0, 2.0, -1.0]])
    return X, np.repeat(["one", "two"], n)


def scatters(X, y):
    """Means and unnormalised scatter matrices, as lecture 001 writes them."""
    means = [X[y == c].mean(axis=0) for c in np.unique(y)]
    return means, [(X[y == c] - m).T @ (X[y == c] - m) for c, m in zip(np.unique(y), means, strict=True)]


# -------------------------------------------------------------------------------------------- direction


def test_the_direction_of_the_means():  # F1
    X, y = two()
    (m1, m2), _ = scatters(X, y)
    model = FisherDiscriminant(direction="means").fit(X, y)
    np.testing.assert_allclose(model.directions_[:, 0], (m2 - m1) / np.linalg.norm(m2 - m1), rtol=1e-12)
    # Of all unit vectors it has the projected means the farthest apart.
    others = np.random.default_rng(1).standard_normal((500, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    apart = model.directions_[:, 0] @ (m2 - m1)
    assert np.all(others @ (m2 - m1) <= apart)
    assert -model.certificate_.objective == pytest.approx(apart)
    assert model.certificate_.bound < 1e-12


def test_the_criterion_for_any_direction():  # F2
    X, y = two()
    (m1, m2), (S1, S2) = scatters(X, y)
    model = FisherDiscriminant().fit(X, y)
    for w in np.random.default_rng(2).standard_normal((20, 3)):
        s2 = sum(np.sum((X[y == c] @ w - X[y == c].mean(axis=0) @ w) ** 2) for c in ("one", "two"))
        J = (w @ (m2 - m1)) ** 2 / s2
        S_B = np.outer(m2 - m1, m2 - m1)
        assert pytest.approx(w @ S_B @ w / (w @ (S1 + S2) @ w), rel=1e-10) == J
        assert model.criterion(w) == pytest.approx(J, rel=1e-10)
        assert model.criterion(-3 * w) == pytest.approx(J, rel=1e-10)


def test_fishers_direction_maximises_the_criterion():  # F3
    X, y = two()
    (m1, m2), (S1, S2) = scatters(X, y)
    w = np.linalg.solve(S1 + S2, m2 - m1)
    model = FisherDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.directions_[:, 0], w / np.linalg.norm(w), rtol=1e-10)
    largest = model.criterion(model.directions_[:, 0])
    assert largest == pytest.approx((m2 - m1) @ w, rel=1e-12)
    start = np.random.default_rng(0).standard_normal(3)
    climbed = minimize(
        lambda v: -model.criterion(v), start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    assert -climbed.fun == pytest.approx(largest, rel=1e-6)
    assert -model.certificate_.objective == pytest.approx(largest)
    assert model.certificate_.bound < 1e-12


def test_class_two_lies_where_y_exceeds_the_threshold():  # F7
    X, y = two()
    for direction in ("fisher", "means"):
        model = FisherDiscriminant(direction=direction, threshold="midpoint").fit(X, y)
        m = [model.transform(X[y == c]).mean() for c in ("one", "two")]
        assert m[0] < model.threshold_ < m[1]
        np.testing.assert_array_equal(model.predict(X) == "two", model.transform(X)[:, 0] > model.threshold_)
    turned = FisherDiscriminant().fit(X, np.where(y == "one", "z", "a"))
    np.testing.assert_allclose(turned.directions_, -FisherDiscriminant().fit(X, y).directions_, rtol=1e-12)


# -------------------------------------------------------------------------------------------- threshold


def test_the_crossings_of_the_exact_example():  # F4
    points = crossings(np.array([0.0, 4.0]), np.array([1.0, 2.0]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(points, [-4.32658, 1.65991], atol=5e-6)
    swapped = crossings(np.array([4.0, 0.0]), np.array([2.0, 1.0]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(swapped, points, rtol=1e-14)


def exactly(mean, sigma, n=6):
    """n numbers with exactly this mean and unbiased standard deviation."""
    z = np.linspace(-1, 1, n)
    return mean + sigma * (z - z.mean()) / z.std(ddof=1)


def test_the_crossings_of_a_fit_and_what_lies_between_them():
    X = np.concatenate([exactly(0, 1), exactly(4, 2)])[:, None]
    y = np.repeat([1, 2], 6)
    model = FisherDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.crossings_, [-4.32658, 1.65991], atol=5e-6)
    assert model.threshold_ == pytest.approx(1.65991, abs=5e-6)
    # Not a half-space: the wide class wins again beyond the far crossing.
    assert model.predict([[-6.0], [-4.4], [-4.3], [0.0], [1.6], [1.7], [9.0]]).tolist() == [2, 2, 1, 1, 1, 2, 2]
    assert model.hyperplane() == Hyperplane([1.0], -model.threshold_)
    np.testing.assert_allclose(model.decision_function(model.crossings_[:, None]), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.posteriors(model.crossings_[:, None]), 0.5, rtol=1e-12)
    assert model.certificate_.verify(X, y)


def test_decisions_follow_the_posteriors_with_their_sigmas_and_priors():
    X, y = two()
    model = FisherDiscriminant().fit(X, y)
    along = X @ model.directions_[:, 0]
    sides = [along[y == c] for c in ("one", "two")]
    joint = np.stack([len(s) * norm.pdf(along, s.mean(), s.std(ddof=1)) for s in sides])
    np.testing.assert_allclose(model.posteriors(X), (joint / joint.sum(axis=0)).T, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X) == "two", joint[1] > joint[0])
    model_of = [norm(s.mean(), s.std(ddof=1)) for s in sides]

    def odds(v):
        return model_of[1].logpdf(v) - model_of[0].logpdf(v) + np.log(len(sides[1]) / len(sides[0]))

    assert model.threshold_ == pytest.approx(brentq(odds, sides[0].mean(), sides[1].mean()), rel=1e-10)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize(
    ("sigma", "priors", "count"),
    [
        ((1.0, 1.0), (0.5, 0.5), 1),
        ((1.0, 3.0), (0.5, 0.5), 2),
        ((3.0, 1.0), (0.999, 0.001), 0),
        ((2.0, 2.0), (0.9, 0.1), 1),
    ],
)
def test_crossings_are_where_the_joint_densities_meet(sigma, priors, count):
    m, s, p = np.array([0.0, 1.0]), np.array(sigma), np.array(priors)
    points = crossings(m, s, p)
    assert len(points) == count
    for v in points:
        assert p[0] * norm.pdf(v, m[0], s[0]) == pytest.approx(p[1] * norm.pdf(v, m[1], s[1]), rel=1e-9)


def test_where_one_class_wins_everywhere():
    X = np.concatenate([exactly(0, 3, 60), exactly(0.5, 2.5, 3)])[:, None]
    y = np.repeat([1, 2], [60, 3])
    model = FisherDiscriminant().fit(X, y)
    assert model.crossings_.tolist() == []
    assert model.threshold_ == np.inf
    assert set(model.predict(X)) == {1}
    assert model.certificate_.facts["crossings"] == "none"
    assert model.certificate_.verify(X, y)


def test_the_midpoint_is_one_variance_and_equal_priors():
    X, y = two(n=(90, 10))
    model = FisherDiscriminant(threshold="midpoint").fit(X, y)
    m = np.array([model.transform(X[y == c]).mean() for c in ("one", "two")])
    assert model.threshold_ == pytest.approx(m.mean())
    assert model.crossings_.tolist() == [model.threshold_]
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    np.testing.assert_allclose(model.posteriors(X), lda.predict_proba(X), rtol=1e-8, atol=1e-14)


# ------------------------------------------------------------------------------------------- projection


def test_the_projection_and_its_histogram():  # F5
    X, y = load_breast_cancer(return_X_y=True)
    model = FisherDiscriminant().fit(X, y)
    along = model.transform(X)
    np.testing.assert_allclose(along, X @ model.directions_, rtol=1e-12)
    assert along.shape == (569, 1)
    found = model.projection_histogram(X, y, bins=12)
    assert len(found.edges) == 13
    assert found.counts.sum(axis=1).tolist() == np.bincount(y).tolist()
    middle = np.histogram(along[y == 1, 0], found.edges)[0]
    assert found.counts[1].tolist() == middle.tolist()
    assert found.edges[0] == along.min()
    frame = FisherDiscriminant().set_output(transform="pandas").fit_transform(pd.DataFrame(X), y)
    assert list(frame.columns) == ["fisherdiscriminant0"]


def test_many_classes_are_the_discriminant_coordinates():  # F5
    X, y = load_wine(return_X_y=True)
    fisher, lda = FisherDiscriminant().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(fisher.directions_, lda.scalings_, rtol=1e-8)
    np.testing.assert_allclose(fisher.posteriors(X), lda.predict_proba(X), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(fisher.explained_variance_ratio_, lda.explained_variance_ratio_, rtol=1e-9)
    within = sum(np.cov(fisher.transform(X[y == k]).T) * (np.sum(y == k) - 1) for k in range(3)) / (len(y) - 3)
    np.testing.assert_allclose(within, np.eye(2), atol=1e-9)
    assert fisher.hyperplane(0, 1) == lda.hyperplane(0, 1)
    one = FisherDiscriminant(n_components=1).fit(X, y)
    np.testing.assert_allclose(one.directions_, fisher.directions_[:, :1], rtol=1e-10)
    assert one.certificate_.verify(X, y)
    assert one.criterion(one.directions_) < fisher.criterion(fisher.directions_)


def test_many_classes_along_the_means():
    X, y = load_iris(return_X_y=True)
    model = FisherDiscriminant(direction="means", threshold="midpoint").fit(X, y)
    np.testing.assert_allclose(model.directions_.T @ model.directions_, np.eye(2), atol=1e-13)
    assert np.mean(model.predict(X) == y) > 0.9
    assert model.certificate_.verify(X, y)
    assert model.certificate_.bound < 1e-10


# ---------------------------------------------------------------------------------- hard data and bad input


def test_units_of_columns_change_no_answer():
    X, y = load_breast_cancer(return_X_y=True)
    units = np.random.default_rng(0).choice([3.0, 1e-6, 1e8], 30)
    a, b = FisherDiscriminant().fit(X, y), FisherDiscriminant().fit(X * units, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X * units), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(b.directions_), 1.0)
    w = b.directions_[:, 0] * units
    np.testing.assert_allclose(w / np.linalg.norm(w), a.directions_[:, 0], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("make", [csr_array, pd.DataFrame, pl.DataFrame])
def test_any_container(make):
    X, y = two()
    model, plain = FisherDiscriminant().fit(make(X), y), FisherDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.directions_, plain.directions_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(make(X)), plain.predict(X))
    np.testing.assert_allclose(np.asarray(model.transform(make(X))), plain.transform(X), rtol=1e-9, atol=1e-12)


def test_singular_scatter_is_said():  # F3
    X, y = two()
    doubled = np.column_stack([X, X[:, 0] - X[:, 2], np.ones(len(X))])
    model = FisherDiscriminant().fit(doubled, y)
    base = FisherDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.decision_function(doubled), base.decision_function(X), rtol=1e-8, atol=1e-9)
    assert model.certificate_.code == "singular"
    assert "rank 3 of 5" in model.certificate_.status
    assert "pseudoinverse" in model.certificate_.status
    assert model.certificate_.bound is None  # scatter that squared columns cannot show may hide a larger J
    assert "may be larger" in model.certificate_.bound_reason
    assert model.certificate_.verify(doubled, y)


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 30)), np.arange(12) % 2
    X[:, 0] += 3 * y
    model = FisherDiscriminant().fit(X, y)
    assert model.certificate_.bound is None
    assert "singular" in model.certificate_.bound_reason
    assert np.all(np.isfinite(model.decision_function(X)))


def test_no_scatter_at_all_is_cut_midway():
    X, y = np.array([[0.1], [0.1], [0.3], [0.3]]), ["a", "a", "b", "b"]
    model = FisherDiscriminant().fit(X, y)
    assert model.threshold_ == pytest.approx(0.2)
    assert model.predict(X).tolist() == y
    assert "midway" in model.certificate_.facts["note"]
    assert model.certificate_.verify(X, y)
    with pytest.raises(ParameterError, match="scores only"):
        model.posteriors(X)


def test_a_class_of_one_row_takes_the_pooled_variance():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    model = FisherDiscriminant().fit(X, [0, 0, 0, 1])
    assert "pooled variance" in model.certificate_.facts["note"]
    assert model.predict([[3.0], [8.0]]).tolist() == [0, 1]
    assert len(model.crossings_) == 1


def test_the_certificate_holds_for_its_rows_its_direction_and_its_threshold():
    X, y = two()
    model = FisherDiscriminant().fit(X, y)
    certificate = model.certificate_
    assert certificate.verify(csr_array(X), y)
    assert not certificate.verify(X[::-1], y)
    claim = certificate.claim
    off = replace(claim, projection=replace(claim.projection, V=claim.projection.V + 0.1))
    assert not replace(certificate, claim=off).verify(X, y)
    moved = replace(claim.scorer.gaussians, priors=np.array([0.3, 0.7]))
    off = replace(claim, scorer=replace(claim.scorer, gaussians=moved))
    assert "threshold" in off.recompute(X, y).bound.reason
    assert not replace(certificate, claim=off).verify(X, y)


def test_how_many_parameters():  # D6
    X, y = two()
    assert FisherDiscriminant().fit(X, y).n_parameters_ == 2 + 5
    assert FisherDiscriminant(threshold="midpoint").fit(X, y).n_parameters_ == 2 + 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"direction": "up"}, "direction: got 'up'; choose one of 'fisher', 'means'"),
        ({"threshold": 0.5}, "threshold: got 0.5"),
        ({"n_components": 2}, "n_components: got 2, and n_components cannot be larger than .*; give at most 1"),
        ({"n_components": 0}, "n_components: got 0"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        FisherDiscriminant(**settings).fit(*two())


def test_what_no_direction_can_be_found_in():
    with pytest.raises(LabelError, match="same mean"):
        FisherDiscriminant().fit([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
    with pytest.raises(WeightError, match="class 1 has no row of positive weight"):
        FisherDiscriminant().fit([[0.0], [2.0], [1.0]], [0, 0, 1], sample_weight=[1, 1, 0])


@pytest.mark.parametrize("w", [[1.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 1.0]])
def test_directions_that_are_none(w):
    with pytest.raises(ParameterError, match="w: got"):
        FisherDiscriminant().fit(*two()).criterion(w)


def test_a_component_that_is_not_there():
    X, y = two()
    with pytest.raises(ParameterError, match="component: got 1"):
        FisherDiscriminant().fit(X, y).projection_histogram(X, y, component=1)


@pytest.mark.parametrize("direction", ["fisher", "means"])
def test_means_that_differ_by_rounding_errors_are_the_same_mean(direction):
    x = np.random.default_rng(0).normal(size=(61, 2))
    X = np.vstack([x, np.roll(x, 7, axis=0)])
    with pytest.raises(LabelError, match="the classes have the same mean"):
        FisherDiscriminant(direction).fit(X, np.repeat([0, 1], 61))
