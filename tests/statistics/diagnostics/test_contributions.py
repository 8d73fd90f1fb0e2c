"""Contributions of columns to a row's margin: they add up for linear scores, and are differences of scores for all."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.output.report.reported_model import ReportedModel
from separatrix.statistics.explained_row import MOST_COLUMNS_NOT_LINEAR, contributions
from separatrix.statistics.influence import surprising
from separatrix.statistics.measures import answers


def _drawn(K, d=4, n=120, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    return rng.standard_normal((K, d))[codes] + rng.standard_normal((n, d)) + 3.0, codes


def _margins(model, X, codes):
    Z = model.decision_function(X)
    if Z.ndim == 1:
        return np.where(codes == 1, Z, -Z)
    own = Z[np.arange(len(X)), codes]
    Z[np.arange(len(X)), codes] = -np.inf
    return own - Z.max(axis=1)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearDiscriminantAnalysis(), sx.LinearSVC()])
def test_contributions_of_linear_scores_add_up_to_the_margin(model, K):
    X, codes = _drawn(K)
    model.fit(X, codes)
    mean = X.mean(axis=0)
    found = contributions(model, X, codes, mean)
    Z = np.atleast_2d(model.decision_function(np.tile(mean, (len(X), 1))).T).T
    base = np.where(codes == 1, Z[:, 0], -Z[:, 0]) if K == 2 else Z[0][codes] - Z[0][found.others]
    np.testing.assert_allclose(base + found.parts.sum(axis=1), _margins(model, X, codes), atol=1e-9)
    assert np.all(found.others != codes)
    sparse = contributions(model, csr_array(X), codes, mean)
    np.testing.assert_allclose(sparse.parts, found.parts, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("model", [sx.QuadraticDiscriminantAnalysis(), sx.OneVsOneClassifier()])
def test_a_contribution_is_what_a_columns_mean_would_change(model, K):
    X, codes = _drawn(K)
    model.fit(X, codes)
    mean = X.mean(axis=0)
    found = contributions(model, X[:9], codes[:9], mean)
    for j in range(4):
        moved = X[:9].copy()
        moved[:, j] = mean[j]
        Z = [model.decision_function(rows) for rows in (X[:9], moved)]
        if K == 2:
            change = np.where(codes[:9] == 1, 1, -1) * (Z[0] - Z[1])
        else:
            at = np.arange(9)
            change = np.subtract(*[z[at, codes[:9]] - z[at, found.others] for z in Z])
        np.testing.assert_allclose(found.parts[:, j], change, atol=1e-9)


@pytest.mark.parametrize("model", [sx.QuadraticDiscriminantAnalysis(shrinkage=0.01), sx.LogisticRegression()])
def test_a_category_contributes_as_a_whole(model):
    """The columns of a category go to their means together: no row has one level's column at 1, the others at means."""
    frame = pd.read_csv("docs/data/birthwt.csv")[["age", "lwt", "race", "low"]]
    table = sx.read_table(frame, target="low", reference={"race": "white"})
    model.fit(table.X, table.y)
    subject = ReportedModel(model, table.X, table.y, table.names, encoder=table.encoder)
    places, mean = np.arange(len(table.y)), np.asarray(table.X).mean(axis=0)
    moved = np.asarray(table.X).copy()
    moved[:, 2:] = mean[2:]
    sign = np.where(table.y == "yes", 1, -1)
    change = sign * (model.decision_function(table.X) - model.decision_function(moved))
    parts = subject.explained(places).parts
    np.testing.assert_allclose(parts[:, 2:].sum(axis=1), change, atol=1e-9)
    assert parts[:, :2].all()


def test_columns_of_no_part_are_not_named_and_too_many_are_refused():
    X, codes = _drawn(2)
    model = sx.LogisticRegression(C=0.05, l1_ratio=1.0).fit(X, codes)
    found = contributions(model, X, codes, X.mean(axis=0))
    assert set(found.largest(0, 4)) == set(np.flatnonzero(model.coef_[0]))
    wide = np.random.default_rng(0).standard_normal((20, MOST_COLUMNS_NOT_LINEAR + 1))
    three = np.arange(20) % 3
    many = sx.OneVsOneClassifier().fit(wide, three)
    assert contributions(many, wide, three, wide.mean(axis=0)) is None


def test_no_surprise_is_not_listed():
    X = np.concatenate([np.linspace(-9, -5, 40), np.linspace(5, 9, 40), [-8.0]])[:, None]
    codes = np.repeat([0, 1, 1], [40, 40, 1])
    found = surprising(answers(sx.LogisticRegression(C=10).fit(X, codes), X, codes), top=20)
    assert found.rows[0] == 80
    assert np.all(found.amount >= 0.05)
    assert len(found.rows) < 20
