"""Influential and surprising rows: against statsmodels, against fits without each row, by definition."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.sparse import csr_array
from scipy.stats import spearmanr

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.statistics.coefficients import coefficients
from separatrix.statistics.influence import influential, surprising
from separatrix.statistics.measures import answers


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 0.0]
    y = (X @ [1.0, 0.1, 5.0] - 0.5 + rng.logistic(size=80) > 0).astype(int)
    return X, y


def test_cooks_distance_and_leverage_are_pregibons(two):
    X, y = two
    found = influential(sx.LogisticRegression(C=np.inf).fit(X, y), X, y, top=80)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial())
    # Its leverages are of the last iterate but one: let it iterate until the coefficients stand still.
    theirs = peer.fit(tol=1e-11, tol_criterion="params").get_influence()
    np.testing.assert_allclose(found.distance, theirs.cooks_distance[0][found.rows], rtol=1e-5)
    np.testing.assert_allclose(found.leverage, theirs.hat_matrix_diag[found.rows], rtol=1e-5)
    assert np.all(np.diff(found.distance) <= 0)
    assert found.leverage.sum() == pytest.approx(4.0)


@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": 0.5, "l1_ratio": 1.0}, {"bias_reduction": "firth"}])
def test_the_order_is_that_of_fits_without_each_row(two, settings):
    X, y = two
    model = sx.LogisticRegression(**settings).fit(X, y)
    found = influential(model, X, y, top=80)
    moved = []
    for row in found.rows:
        left = np.delete(np.arange(80), row)
        other = sx.LogisticRegression(**settings).fit(X[left], y[left])
        moved.append(np.sum((other.decision_function(X) - model.decision_function(X)) ** 2))
    assert spearmanr(found.distance, moved).statistic > 0.9
    sparse = influential(sx.LogisticRegression(**settings).fit(csr_array(X), y), csr_array(X), y, top=5)
    np.testing.assert_array_equal(sparse.rows, found.rows[:5])


def test_more_classes():
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    X = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[y] + rng.standard_normal((90, 2))
    X[0] = [9.0, 9.0]
    model = sx.LogisticRegression().fit(X, y)
    found = influential(model, X, y, top=90)
    assert found.rows[0] == 0
    moved = []
    for row in found.rows[:20]:
        left = np.delete(np.arange(90), row)
        other = sx.LogisticRegression().fit(X[left], y[left])
        moved.append(np.sum((other.decision_function(X) - model.decision_function(X)) ** 2))
    assert spearmanr(found.distance[:20], moved).statistic > 0.8


def test_least_squares_is_by_deletion():
    X, y = [[x] for x in [*range(1, 9), 30]], [0, 0, 0, 0, 1, 1, 1, 1, 1]
    found = influential(sx.LeastSquaresClassifier().fit(X, y), X, y, top=3)
    assert found.rows[0] == 8
    assert "deletion" in found.says


def test_where_there_is_no_influence_to_speak_of(two):
    X, y = two
    model = sx.LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match=r"the objective is .* on these rows and"):
        influential(model, X[::-1], y)
    with pytest.raises(ParameterError, match="LinearDiscriminantAnalysis has no curvature"):
        influential(sx.LinearDiscriminantAnalysis().fit(X, y), X, y)


def test_surprise_is_in_bits_and_by_scores_only_of_mistakes(two):
    X, y = two
    model = sx.LogisticRegression().fit(X, y)
    found = surprising(answers(model, X, y), top=5)
    bits = -np.log2(model.predict_proba(X)[np.arange(80), y])
    np.testing.assert_allclose(found.amount, np.sort(bits)[::-1][:5])
    np.testing.assert_allclose(bits[found.rows], found.amount)
    line = sx.LeastSquaresClassifier().fit(X, y)
    found = surprising(answers(line, X, y), top=80)
    assert not found.in_bits
    assert set(found.rows.tolist()) == set(np.flatnonzero(line.predict(X) != y).tolist())


def test_a_likelihood_is_recognised_by_the_type_of_its_claim(two):
    """A claim with attributes of the same names is not a likelihood."""
    X, y = two
    model = sx.LogisticRegression().fit(X, y)
    claim = model.certificate_.claim
    names = ("objective", "class_weights", "penalty_factors", "C", "scorer")
    other = SimpleNamespace(**{name: getattr(claim, name) for name in names})
    model.certificate_ = replace(model.certificate_, claim=other)
    with pytest.raises(ParameterError, match="no curvature"):
        influential(model, X, y)
    assert "no standard errors" in coefficients(model, X, y).says
    firth = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert "Newton" in influential(firth, X, y).says
