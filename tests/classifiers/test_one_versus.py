"""One versus one, one versus rest: votes, counts, hyperplanes."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier as TheirOneVsOne
from sklearn.multiclass import OneVsRestClassifier as TheirOneVsRest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import NotConvergedWarning, NotFiniteError, ParameterError
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.schemes import OneVersusOne, OneVersusRest, compare_schemes, cost_of, pairs, votes

BOTH = pytest.mark.parametrize("make", [sx.OneVsOneClassifier, sx.OneVsRestClassifier])


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def sevens():
    """Lecture 003's picture: three classes of seven."""
    rng = np.random.default_rng(3)
    y = np.repeat(["first", "second", "third"], 7)
    centres = {"first": [0.0, 0.0], "second": [3.0, 0.0], "third": [1.0, 3.0]}
    return np.array([centres[label] for label in y]) + 0.7 * rng.standard_normal((21, 2)), y


# ----------------------------------------------------------------------------------------------- votes


def test_the_votes_of_lecture_003():
    """Exact example: h₁₂ = −1, h₁₃ = −1, h₂₃ = 1."""
    H = np.array([[-1.0, -1.0, 1.0]])
    assert votes(H, 3).tolist() == [[-2, 2, 0]]
    assert OneVersusOne().combine(H, np.ones(3), 3).argmax() == 1


def test_votes_by_the_double_sum():  # M1
    rng = np.random.default_rng(0)
    for K in (2, 3, 5):
        H = rng.standard_normal((30, K * (K - 1) // 2))
        full = np.zeros((30, K, K))
        for k, (i, j) in enumerate(pairs(K)):
            full[:, i, j], full[:, j, i] = H[:, k], -H[:, k]  # h_ji = −h_ij
        np.testing.assert_array_equal(votes(H, K), np.sign(full).sum(axis=2))
    assert votes([[0.0, 1.0, 1.0]], 3).tolist() == [[2, 0, -2]]  # z = 0 is +, for the first of a pair
    with pytest.raises(ParameterError, match="give 3 scores per row"):
        votes(np.ones((2, 2)), 3)


def test_ties_are_resolved_by_signed_distance():  # M1
    # 1 beats 2, 2 beats 3, 3 beats 1: all votes equal. The surest decision is 2 over 3.
    H = np.array([[0.1, -0.2, 5.0]])
    assert votes(H, 3).tolist() == [[0, 0, 0]]
    assert OneVersusOne().combine(H, np.ones(3), 3).argmax() == 1
    # As distances, h/‖w‖, the surest is 3 over 1.
    assert OneVersusOne().combine(H, np.array([1.0, 0.01, 100.0]), 3).argmax() == 2
    # No confidence turns a vote.
    sure = np.array([[-1e-9, -1e-9, 1e9]])
    combined = OneVersusOne().combine(sure, np.ones(3), 3)
    assert np.all(np.abs(2 * combined - 2 - votes(sure, 3)) < 1)


def test_a_fitted_tie_goes_by_distance(sevens):
    model = sx.OneVsOneClassifier().fit(*sevens)
    middle = sx.ambiguous_regions(model, (-5, 8, -5, 8))
    x = middle[0].centre[None]
    assert model.votes(x).tolist() == [[0, 0, 0]]
    distance = np.zeros(3)
    for i, j in pairs(3):
        d = float(model.hyperplane(model.classes_[i], model.classes_[j]).distance(x)[0])
        distance[i] += d
        distance[j] -= d
    assert model.predict(x)[0] == model.classes_[distance.argmax()]


# --------------------------------------------------------------------------------------------- the counts


@pytest.mark.parametrize(("K", "one", "rest"), [(3, 3, 3), (10, 45, 10)])
def test_model_counts(K, one, rest):
    """Exact example: K = 3: 3 and 3; K = 10: 45 and 10."""
    found = compare_schemes([20] * K)
    assert (found.one_versus_one.models, found.one_versus_rest.models) == (one, rest)
    assert OneVersusOne().n_models(K) == one
    assert OneVersusRest().n_models(K) == rest


def test_ten_digits_take_45_models_and_10():  # M5
    X, y = load_digits(return_X_y=True)
    one, rest = (make().fit(X[:300], y[:300]) for make in (sx.OneVsOneClassifier, sx.OneVsRestClassifier))
    assert len(one.estimators_) == one.cost_.models == 45
    assert len(rest.estimators_) == rest.cost_.models == 10
    assert one.cost_.rows_trained == 9 * 300  # every row in K − 1 models
    assert rest.cost_.rows_trained == 10 * 300
    assert one.cost_.scores_per_row == 45
    assert one.certificate_.n_parameters == 45 * 65
    assert rest.n_parameters_ == 10 * 65
    assert one.score(X[:300], y[:300]) > 0.98


def test_imbalance_of_three_classes_of_seven(sevens):
    """Exact example: 7 : 14; with ten classes 1 : 9."""
    model = sx.OneVsRestClassifier().fit(*sevens)
    assert model.imbalance_.tolist() == [[7, 14]] * 3
    assert sx.OneVsOneClassifier().fit(*sevens).imbalance_.tolist() == [[7, 7]] * 3
    assert compare_schemes([5] * 10).one_versus_rest.worst_imbalance == 9.0
    assert compare_schemes([5] * 10).one_versus_one.worst_imbalance == 1.0


def test_the_remedy_of_class_weights():  # M4
    rng = np.random.default_rng(0)
    y = np.arange(600) % 6
    angle = 2 * np.pi * np.arange(6) / 6
    X = 2 * np.column_stack([np.cos(angle), np.sin(angle)])[y] + rng.standard_normal((600, 2))
    plain = sx.OneVsRestClassifier().fit(X, y)
    weighted = sx.OneVsRestClassifier(sx.LogisticRegression(class_weight="balanced")).fit(X, y)
    claimed = [(model.decision_function(X)[np.arange(600), y] > 0).mean() for model in (plain, weighted)]
    assert claimed[1] > claimed[0] + 0.2  # far fewer rows that their own class's model gives away
    corrected = sx.decision.prior_corrected(weighted.estimators_[0])
    np.testing.assert_allclose(corrected.probabilities(X)[:, 1].mean(), (y == 0).mean(), rtol=0.15)


def test_counts_that_make_no_problem():
    for wrong in ([3], [3, 0], [[1, 2]]):
        with pytest.raises(ParameterError, match="class_counts"):
            cost_of(OneVersusRest(), wrong)


# ----------------------------------------------------------------------------------------------- models


@pytest.mark.parametrize("estimator", [None, "ours", "theirs", "bayes"])
@pytest.mark.parametrize(
    ("make", "their"), [(sx.OneVsOneClassifier, TheirOneVsOne), (sx.OneVsRestClassifier, TheirOneVsRest)]
)
def test_answers_as_in_scikit_learn(iris, make, their, estimator):
    X, y = iris
    inner = {
        None: None,
        "ours": sx.LogisticRegression(C=10.0),
        "theirs": RidgeClassifier(),
        "bayes": GaussianNB(),
    }[estimator]
    ours = make(inner).fit(X, y)
    peer = their(sx.LogisticRegression() if inner is None else inner).fit(X, y)
    clear = np.ones(len(y), dtype=bool)
    if isinstance(ours, sx.OneVsOneClassifier):
        counted = np.sort(ours.votes(X), axis=1)
        clear = counted[:, -1] > counted[:, -2]
    np.testing.assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])
    assert len(ours.estimators_) == 3


def test_each_pair_is_trained_on_its_own_rows_only(iris):  # M1
    X, y = iris
    model = sx.OneVsOneClassifier().fit(X, y)
    for k, (i, j) in enumerate(pairs(3)):
        kept = (y == i) | (y == j)
        alone = sx.LogisticRegression().fit(X[kept], (y[kept] == i).astype(int))
        np.testing.assert_array_equal(model.estimators_[k].coef_, alone.coef_)
        assert model.hyperplane(i, j) == alone.hyperplane()
        assert model.hyperplane(j, i) == alone.hyperplane().flipped()  # h_ji = −h_ij


def test_one_versus_rest_over_linear_models_is_linear(iris):  # M2, G5
    X, y = iris
    model = sx.OneVsRestClassifier().fit(X, y)
    for k in range(3):
        alone = sx.LogisticRegression().fit(X, (y == k).astype(int))
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.intercept_[k], alone.intercept_[0])
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    expected = Hyperplane(model.coef_[0] - model.coef_[2], model.intercept_[0] - model.intercept_[2])
    assert model.hyperplane(0, 2) == expected
    on = expected.project(X)
    z = model.decision_function(on)
    np.testing.assert_allclose(z[:, 0], z[:, 2], atol=1e-9)


@BOTH
def test_two_classes_take_one_model(make, iris):
    X, y = iris[0][50:], iris[1][50:]
    words = np.where(y == 1, "early", "late")
    model = make().fit(X, words)
    alone = sx.LogisticRegression().fit(X, words)
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
    assert model.hyperplane() == alone.hyperplane()
    assert model.certificate_.objective == pytest.approx(alone.certificate_.objective)
    assert model.imbalance_.tolist() == [[50, 50]]


def test_votes_of_two_classes():
    model = sx.OneVsOneClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert model.votes([[0.0], [1.0]]).tolist() == [[1, -1], [-1, 1]]


@BOTH
def test_models_that_are_not_linear(make, iris):
    X, y = iris
    for inner in (
        QuadraticDiscriminantAnalysis(),
        GaussianNB(),
        KNeighborsClassifier(5),
        make_pipeline(StandardScaler(), sx.quadratic(), sx.LogisticRegression()),
    ):
        model = make(inner).fit(X, y)
        assert model.score(X, y) > 0.9
        assert not hasattr(model, "hyperplane")
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "boundaries")
        for name in ("hyperplane", "coef_") if make is sx.OneVsRestClassifier else ("hyperplane",):
            with pytest.raises(AttributeError, match="has no hyperplanes: its models are not linear"):
                getattr(model, name)
        assert model.certificate_.code == "uncertified"
        assert not model.certificate_.met
        assert "have no certificate" in model.certificate_.status
        assert model.certificate_.bound is None
        with pytest.raises(NotFiniteError, match="row 3, column 1"):
            model.predict(np.where(np.arange(600).reshape(150, 4) == 13, np.nan, X))


def test_no_probabilities_and_why(iris):  # D2, P13
    model = sx.OneVsOneClassifier().fit(*iris)
    assert not hasattr(model, "predict_proba")
    for one in (model, sx.OneVsRestClassifier().fit(*iris)):
        assert one.approach == "discriminant function"
        assert not one.has_probabilities
        with pytest.raises(ParameterError, match=r"only scores|scores only"):
            one.scorer_.probabilities(iris[0])
    with pytest.raises(AttributeError, match="over Perceptron has no probabilities"):
        sx.OneVsRestClassifier(sx.Perceptron()).predict_proba(iris[0])


@BOTH
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if not name.startswith("one-versus")])
def test_over_every_classifier(make, name, iris):
    X, y = iris
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = make(CLASSIFIERS[name]()).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.6
    assert model.certificate_.code in ("met", "unmet")
    assert model.certificate_.verify(X, y)
    assert model.n_parameters_ == sum(part.n_parameters_ for part in model.estimators_)


# ------------------------------------------------------------------------------------------ conventions


@BOTH
def test_sample_weights_reach_the_parts(make, iris):
    X, y = iris
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    often = np.repeat(np.arange(len(y)), weight.astype(int))
    a, b = make().fit(X, y, sample_weight=weight), make().fit(X[often], y[often])
    np.testing.assert_allclose(a.boundaries(), b.boundaries(), rtol=1e-5, atol=1e-7)
    assert a.certificate_.verify(X, y, sample_weight=weight)
    assert not a.certificate_.verify(X, y)
    with pytest.raises(ParameterError, match="sample_weight: KNeighborsClassifier takes none"):
        make(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


@BOTH
def test_the_given_estimator_is_cloned_and_left_alone(make, iris):
    inner = sx.LogisticRegression(C=3.0)
    model = make(inner).fit(*iris)
    assert not hasattr(inner, "scorer_")
    assert all(part.C == 3.0 and part is not inner for part in model.estimators_)
    assert clone(model).estimator.C == 3.0
    search = GridSearchCV(make(inner), {"estimator__C": [0.01, 1.0]}, cv=3).fit(*iris)
    assert search.best_params_["estimator__C"] in (0.01, 1.0)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(iris[0]), model.predict(iris[0]))


@BOTH
def test_frames_sparse_rows_and_any_labels(make, iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = [("iris", int(k)) for k in y]
    model = make().fit(frame, labels)
    base = make().fit(X, y)
    assert [label[1] for label in model.predict(frame)] == base.predict(X).tolist()
    sparse = make().fit(csr_array(X), y)
    np.testing.assert_array_equal(sparse.predict(csr_array(X)), base.predict(X))
    spoilt = frame.copy()
    spoilt.loc[4, "c"] = np.inf
    with pytest.raises(NotFiniteError, match="row 4, column 'c'"):
        make().fit(spoilt, labels)
    with pytest.raises(NotFiniteError, match="row 4, column 'c'"):
        model.predict(spoilt)


@BOTH
def test_what_has_no_scores_is_refused(make, iris):
    with pytest.raises(ParameterError, match="KMeans has neither decision_function"):
        make(KMeans(2)).fit(*iris)


@BOTH
def test_foreign_linear_models_have_hyperplanes_too(make, iris):
    X, y = iris
    model = make(TheirLogistic(max_iter=2000)).fit(X, y)
    plane = model.hyperplane(0, 1)
    np.testing.assert_allclose(plane.score(plane.project(X)), 0.0, atol=1e-9)
    assert model.n_parameters_ == 15


def test_unknown_classes_have_no_hyperplane(iris):
    for make in (sx.OneVsOneClassifier, sx.OneVsRestClassifier):
        model = make().fit(*iris)
        with pytest.raises(ParameterError):
            model.hyperplane(0, 7)
        with pytest.raises(ParameterError):
            model.hyperplane(1, 1)


def test_labels_where_counts_belong():
    with pytest.raises(ParameterError, match=r"give how many rows each .* np.unique\(y, return_counts=True\)"):
        compare_schemes(["a", "b", "a"])


def test_the_status_of_a_part_names_columns_as_the_table_does():
    iris = load_iris(as_frame=True)
    model = sx.OneVsRestClassifier(sx.LogisticRegression(C=np.inf))
    with pytest.warns(NotConvergedWarning, match="'petal length \\(cm\\)'"):
        model.fit(iris.data, iris.target)
    assert not hasattr(model.estimators_[0], "feature_names_in_")
