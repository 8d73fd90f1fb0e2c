"""Who wins where a score is exactly on the boundary: probabilities and scikit-learn agree; the lectures' z = 0 is +."""

import sqlite3

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

import separatrix as sx
from separatrix.core.links import LINKS
from separatrix.core.schemes import OneVersusOne, votes
from separatrix.core.scorer import Scorer
from separatrix.output.formula import formula_of

BALANCED = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([0, 0, 1, 1])


def agree(model, X):
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


def test_an_empty_lasso_on_balanced_classes_agrees_with_its_probabilities_and_with_scikit_learn():
    X, y = BALANCED
    ours = sx.LogisticRegression(C=1e-3, l1_ratio=1.0).fit(X, y)
    # Without an intercept scikit-learn's weights are exactly zero, too.
    settings = {"C": 1e-3, "l1_ratio": 1.0, "solver": "liblinear", "fit_intercept": False}
    theirs = sklearn.linear_model.LogisticRegression(**settings).fit(X, y)
    assert ours.coef_.tolist() == theirs.coef_.tolist() == [[0.0]]
    assert ours.decision_function(X).tolist() == [0.0] * 4
    agree(ours, X)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert [ours.predict_one(row) for row in X] == ours.predict(X).tolist()
    np.testing.assert_array_equal(ours.predict(X, offset=np.zeros(4)), ours.predict(X))


@pytest.mark.parametrize("loss", ["logistic", "probit", "cloglog", "squared-sigmoid"])
def test_predictions_are_the_more_probable_class(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X @ [1.0, -1.0] + rng.normal(size=80) > 0, "yes", "no")
    model = sx.LogisticRegression(loss=loss).fit(X, y)
    near = rng.normal(size=(4000, 2)) * 3
    agree(model, near)
    assert [model.predict_one(row) for row in near[:50]] == model.predict(near[:50]).tolist()
    # The hyperplane is where predictions change.
    np.testing.assert_array_equal(model.hyperplane().side(near) > 0, model.predict(near) == "yes")
    np.testing.assert_array_equal(model.hyperplane("no", "yes").side(near) > 0, model.predict(near) == "no")
    for region in sx.regions(model, (-3, 3, -3, 3)):
        assert model.predict(region.centre[None]).tolist() == list(region.labels)
    versus = sx.OneVsOneClassifier(sx.LogisticRegression(loss=loss)).fit(X, y)
    np.testing.assert_array_equal(versus.predict(near), model.predict(near))


@pytest.mark.parametrize("kind", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_generative_models_give_a_tie_to_the_first_class_as_scikit_learn_does(kind):
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    ours, theirs = getattr(sx, kind)().fit(X, y), getattr(sklearn.discriminant_analysis, kind)().fit(X, y)
    middle = np.zeros((1, 1))
    assert ours.decision_function(middle).tolist() == theirs.decision_function(middle).tolist() == [0.0]
    agree(ours, middle)
    assert ours.predict(middle).tolist() == theirs.predict(middle).tolist() == [0]


@pytest.mark.parametrize("make", [sx.Perceptron, sx.KozinecClassifier, sx.MaxMarginClassifier])
def test_the_lectures_methods_keep_z_0_as_plus(make):  # D1
    model = make().fit([[-1.0], [1.0]], ["minus", "plus"])
    x = np.array([[-model.intercept_[0] / model.coef_[0, 0]]])
    assert model.decision_function(x).tolist() == [0.0]
    assert model.predict(x).tolist() == ["plus"] == [model.predict_one(x[0])]
    for scheme in (sx.OneVsRestClassifier, sx.OneVsOneClassifier):
        both = scheme(make()).fit([[-1.0], [1.0]], ["minus", "plus"])
        assert both.predict(x).tolist() == ["plus"]


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "sign", "identity"])
def test_exports_decide_at_the_boundary_as_the_package_does(link):
    scorer = Scorer(np.array([[0.0, 1.0]]), np.array(["no", "yes"]), link)
    at = LINKS[link].boundary
    rows = np.array([[np.nextafter(at, -1.0)], [at], [np.nextafter(at, 1.0)]])
    assert scorer.predict(rows).tolist() == ["no", "yes" if link in ("sign", "identity") else "no", "yes"]
    assert [scorer.predict_one(row) for row in rows] == scorer.predict(rows).tolist()
    names = {}
    exec(sx.to_python(scorer), names)
    assert [names["predict"]({"x0": float(row[0])}) for row in rows] == scorer.predict(rows).tolist()
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (x0 REAL)")
        base.executemany("INSERT INTO t VALUES (?)", [(float(row[0]),) for row in rows])
        said = base.execute(f"SELECT label FROM ({sx.to_sql(scorer, table='t', dialect='sqlite')})").fetchall()
    assert [label for (label,) in said] == scorer.predict(rows).tolist()
    assert formula_of(scorer, ["x"]).boundary == at


def test_a_pair_with_a_score_of_zero_is_won_whole():  # M1
    H = np.array([[0.0, 1.0, 1.0], [0.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
    assert votes(H, 3).tolist() == [[2, 0, -2], [0, 0, 0], [-2, 2, 0]]
    won = np.round(OneVersusOne().combine(H, np.ones(3), 3))
    assert won.tolist() == [[2, 1, 0], [1, 1, 1], [0, 2, 1]]


def test_one_versus_one_counts_pairs_as_scikit_learn_does():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 120)
    X = rng.normal(size=(120, 2)) + 2.0 * np.eye(4)[y][:, :2]
    base = LinearSVC(C=0.1, tol=1e-10, max_iter=100_000)
    ours, theirs = sx.OneVsOneClassifier(base).fit(X, y), OneVsOneClassifier(base).fit(X, y)
    grid = rng.normal(size=(2000, 2)) * 3
    np.testing.assert_array_equal(np.round(ours.decision_function(grid)), np.round(theirs.decision_function(grid)))
    clear = np.sort(np.round(ours.decision_function(grid)), axis=1)
    clear = clear[:, -1] > clear[:, -2]
    np.testing.assert_array_equal(ours.predict(grid)[clear], theirs.predict(grid)[clear])
    # Equal distances: the whole decision function is scikit-learn's.
    H = rng.normal(size=(50, 6))
    from sklearn.utils.multiclass import _ovr_decision_function

    expected = _ovr_decision_function(H < 0, -H, 4)
    np.testing.assert_allclose(OneVersusOne().combine(H, np.ones(6), 4), expected, rtol=0, atol=1e-12)
