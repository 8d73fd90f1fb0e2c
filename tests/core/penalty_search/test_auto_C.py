"""C="auto": the choice against leaving every row out, against folds by hand, and beside scikit-learn's search."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core import leave_one_out, regularisation_path
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import threads
from separatrix.core.penalty import Penalty
from separatrix.core.penalty_search import ByFolds, Question, method_for
from separatrix.core.rows.labelled_table import labelled_rows


def _rows(seed=0, n=36, d=3, K=2, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0, 1, d)) + rng.normal(0, 2, d)
    y = np.argmax(spread * StandardScaler().fit_transform(X) @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K)), 1)
    y[: 2 * K] = np.repeat(np.arange(K), 2)
    return X, y


def _brute(X, y, C, weight=None, **settings):
    """The mean log loss of rows left out, each by a fit of its own."""
    weight, losses = np.ones(len(y)) if weight is None else weight, []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        model = sx.LogisticRegression(C, tol=1e-6, **settings).fit(X[others], y[others], weight[others])
        losses.append(-model.predict_log_proba(X[i : i + 1])[0, model.classes_.tolist().index(y[i])])
    return np.average(losses, weights=weight)


@pytest.mark.parametrize(
    ("drawn", "settings"),
    [
        ({"K": 2}, {}),
        ({"K": 3, "spread": 3.0}, {}),
        ({"K": 2, "n": 24, "d": 40}, {}),
        ({"K": 3, "n": 24}, {"l1_ratio": 1.0}),
        ({"K": 2}, {"l1_ratio": 0.5, "fit_intercept": False}),
        ({"K": 2}, {"loss": "probit"}),
    ],
    ids=["two classes", "three classes", "wide", "lasso", "elastic net", "probit"],
)
def test_scores_and_choice_against_leaving_every_row_out(drawn, settings):
    X, y = _rows(1, **drawn)
    choice = sx.LogisticRegression("auto", **settings).fit(X, y).penalty_choice_
    assert choice.method == "leave-one-out"
    best = int(np.argmin(choice.scores))
    near = np.arange(max(1, best - 1), min(best + 3, len(choice.Cs)))
    brute = np.array([_brute(X, y, C, **settings) for C in choice.Cs[near]])
    np.testing.assert_allclose(choice.scores[near], brute, rtol=0.02)
    assert brute[choice.Cs[near] == choice.C][0] <= 1.01 * brute.min()


def test_weights_leave_a_row_out_whole_and_count_in_the_mean():
    X, y = _rows(2, n=30)
    weight = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    choice = sx.LogisticRegression("auto").fit(X, y, weight).penalty_choice_
    assert choice.scores.min() == pytest.approx(_brute(X, y, choice.C, weight), rel=0.02)


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "CSR"])
def test_order_of_rows_and_form_of_the_table_change_nothing(form):
    X, y = _rows(3, n=80, K=3)
    model = sx.LogisticRegression("auto").fit(X, y)
    order = np.random.default_rng(0).permutation(80)
    other = sx.LogisticRegression("auto").fit(form(X[order]), y[order])
    np.testing.assert_allclose(other.penalty_choice_.scores, model.penalty_choice_.scores, rtol=1e-5)
    np.testing.assert_allclose(other.C_, model.C_, rtol=1e-3)
    np.testing.assert_array_equal(sx.LogisticRegression("auto").fit(X, y).coef_, model.coef_)


def test_the_same_rows_twice_are_chosen_for_as_well():
    X, y = _rows(4)
    model = sx.LogisticRegression("auto").fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert model.certificate_.met
    assert np.isfinite(model.penalty_choice_.scores).all()


def test_it_is_the_fit_at_that_C_and_says_how_it_came():
    X, y = _rows(5, n=60, K=3)
    model = sx.LogisticRegression("auto").fit(X, y)
    given = sx.LogisticRegression(model.C_).fit(X, y)
    assert given.C_ == model.C_
    assert given.penalty_choice_ is None
    np.testing.assert_allclose(model.predict_proba(X), given.predict_proba(X), atol=1e-4)
    assert model.certificate_.met
    assert model.certificate_.verify(X, y)
    choice = model.penalty_choice_
    assert model.certificate_.facts["penalty"] == str(choice)
    assert str(choice).startswith(f"C = {model.C_:.4g}, chosen by approximate leave-one-out")
    assert choice.C == model.C_ == choice.Cs[np.argmin(choice.scores)]
    assert len(choice.Cs) == len(choice.scores) == len(choice.standard_errors) == len(choice.refitted)
    assert np.all(np.diff(choice.Cs) > 0)
    assert np.all(choice.standard_errors > 0)
    assert clone(model).C == "auto"


def test_where_no_column_matters_the_search_ends_near_the_null_model():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
    choice = sx.LogisticRegression("auto").fit(X, y).penalty_choice_
    assert choice.Cs[0] == choice.C
    assert "the strongest penalty tried is the best" in str(choice)
    first = sx.LogisticRegression(choice.C).fit(X, y)
    share = y.mean()
    null = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert 0.98 * null < log_loss(y, first.predict_proba(X)) < null


@pytest.mark.parametrize("K", [2, 3])
def test_the_first_C_is_near_the_best_one_and_few_more_are_tried(K):
    X, y = _rows(13, n=300, d=8, K=K)
    choice = sx.LogisticRegression("auto").fit(StandardScaler().fit_transform(X), y).penalty_choice_
    assert 3 <= len(choice.Cs) <= 7
    assert choice.Cs[0] < choice.C < choice.Cs[-1]


@pytest.mark.parametrize("K", [2, 3])
def test_fits_of_the_path_are_near_enough_for_their_scores(K, monkeypatch):
    X, y = _rows(14, n=120, d=5, K=K, spread=3.0)
    loose = sx.LogisticRegression("auto").fit(X, y)
    assert loose.n_iter_ <= 1
    monkeypatch.setattr(regularisation_path, "HESSIAN_DECREMENT", 1e-10)
    monkeypatch.setattr(regularisation_path, "NEWTON_DECREMENT", 1e-9)
    exact = sx.LogisticRegression("auto").fit(X, y)
    np.testing.assert_allclose(loose.penalty_choice_.scores[:3], exact.penalty_choice_.scores[:3], rtol=5e-3)
    np.testing.assert_allclose(loose.predict_proba(X), exact.predict_proba(X), atol=0.02)


def test_many_rows_are_scored_by_some_of_them(monkeypatch):
    X, y = _rows(15, n=6000, d=4)
    question = Question(labelled_rows(X, y, 2), 2, Penalty(1.0, np.ones(4)))
    whole = [method_for(question).score(C) for C in (1e-3, 1e-2, 1.0)]
    assert "of 6000 rows" not in str(sx.LogisticRegression("auto").fit(X, y).penalty_choice_)
    monkeypatch.setattr(leave_one_out, "DRAWN_MULTIPLICATIONS", 1 << 14)
    some = [method_for(question).score(C) for C in (1e-3, 1e-2, 1.0)]
    assert "of 6000 rows" in str(sx.LogisticRegression("auto").fit(X, y).penalty_choice_)
    np.testing.assert_allclose([at.score for at in some], [at.score for at in whole], rtol=1e-4)
    np.testing.assert_allclose([at.error for at in some], [at.error for at in whole], rtol=0.01)


def test_threads_do_not_change_a_bit_of_the_choice():
    X, y = _rows(16, n=3000, d=40, K=3)
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(sx.LogisticRegression("auto").fit(X, y))
    np.testing.assert_array_equal(found[0].penalty_choice_.scores, found[1].penalty_choice_.scores)
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def test_a_model_with_a_chosen_penalty_goes_through_a_file(tmp_path):
    X, y = _rows(7)
    model = sx.LogisticRegression("auto").fit(X, y)
    sx.save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(sx.load(tmp_path / "model.json").predict(X), model.predict(X))


def test_a_row_alone_in_its_class_is_not_scored_and_that_is_said():
    X, y = _rows(8, n=40, K=2)
    y[0] = 2
    model = sx.LogisticRegression("auto").fit(X, y)
    assert "1 row alone in its class is not scored" in str(model.penalty_choice_)
    assert np.isfinite(model.penalty_choice_.scores).all()
    with pytest.raises(ParameterError, match="every class has one row"):
        sx.LogisticRegression("auto").fit(X[:2], [0, 1])


def test_columns_that_no_penalty_holds():
    X, y = _rows(9, n=60)
    model = sx.LogisticRegression("auto", penalty_factors=[0.0, 1.0, 1.0]).fit(X, y)
    free = sx.LogisticRegression(np.inf).fit(X[:, :1], y)
    strongest = sx.LogisticRegression(1e-9, penalty_factors=[0.0, 1.0, 1.0]).fit(X, y)
    assert strongest.coef_[0, 0] == pytest.approx(free.coef_[0, 0], rel=1e-3)
    assert model.certificate_.verify(X, y)
    brute = _brute(X, y, model.C_, penalty_factors=[0.0, 1.0, 1.0])
    assert model.penalty_choice_.scores.min() == pytest.approx(brute, rel=0.02)
    with pytest.raises(ParameterError, match="no column is penalised"):
        sx.LogisticRegression("auto", penalty_factors=np.zeros(3)).fit(X, y)


def test_offsets_and_constant_columns():
    X, y = _rows(10, n=60)
    beside = np.random.default_rng(0).normal(0, 1, 60)
    with_constant = np.column_stack([X, np.full(60, 7.0)])
    model = sx.LogisticRegression("auto").fit(with_constant, y, offset=beside)
    assert model.certificate_.verify(with_constant, y, offset=beside)
    plain = sx.LogisticRegression("auto").fit(X, y, offset=beside)
    np.testing.assert_allclose(model.C_, plain.C_, rtol=1e-3)
    assert abs(np.log(model.C_ / sx.LogisticRegression("auto").fit(X, y).C_)) > 1e-2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("K", [2, 3])
def test_columns_of_zeros_do_not_matter(fit_intercept, l1_ratio, K):
    model = sx.LogisticRegression("auto", l1_ratio=l1_ratio, fit_intercept=fit_intercept)
    model.fit(np.zeros((20, 3)), np.arange(20) % K)
    assert not model.coef_.any()
    assert 0 < model.C_ < np.inf
    assert model.certificate_.verify(np.zeros((20, 3)), np.arange(20) % K)


def test_unlike_scales_are_said():
    X, y = _rows(11, n=60)
    X[:, 0] *= 1e6
    assert "scaling them first would matter" in str(sx.LogisticRegression("auto").fit(X, y).penalty_choice_)
    X = StandardScaler().fit_transform(X)
    assert "scaling" not in str(sx.LogisticRegression("auto").fit(X, y).penalty_choice_)


@pytest.mark.parametrize(("l1_ratio", "K"), [(0.0, 2), (0.0, 3), (1.0, 2)])
def test_many_columns_are_chosen_for_by_folds_as_by_hand(l1_ratio, K):
    rng = np.random.default_rng(12)
    X = csr_array(random_array((120, 3200), density=0.01, random_state=rng))
    y = np.argmax(X @ rng.standard_normal((3200, K)) * 2 + rng.gumbel(size=(120, K)), axis=1)
    model = sx.LogisticRegression("auto", l1_ratio=l1_ratio).fit(X, y)
    choice = model.penalty_choice_
    assert choice.method == "cross-validation"
    assert "5-fold cross-validation, since parameters are too many" in str(choice)
    question = Question(labelled_rows(X, y, K), K, Penalty(1.0, np.ones(3200), l1_ratio))
    fold, losses = ByFolds.over(question, question.walk()).fold, np.empty(120)
    assert all(np.ptp(np.bincount(fold[y == k], minlength=5)) <= 1 for k in range(K))
    for k in range(5):
        held = fold == k
        part = sx.LogisticRegression(choice.C, l1_ratio=l1_ratio).fit(X[~held], y[~held])
        losses[held] = -part.predict_log_proba(X[held])[np.arange(held.sum()), y[held]]
    assert choice.scores.min() == pytest.approx(losses.mean(), rel=1e-3)


@pytest.mark.parametrize("C", ["best", "", None, -1.0, 0.0])
def test_other_words_are_refused(C):
    with pytest.raises(ParameterError, match="C"):
        sx.LogisticRegression(C).fit(*_rows())


def test_a_cost_without_a_likelihood_has_no_log_loss():
    with pytest.raises(ParameterError, match="only for a loss that is a likelihood"):
        sx.LogisticRegression("auto", loss="squared-sigmoid").fit(*_rows())


# ------------------------------------------------------------------------------------ beside scikit-learn


def _made(name, rng):
    if name == "wide":
        X = rng.standard_normal((100, 500))
        return X, (X[:, :10].sum(axis=1) + rng.logistic(size=100) > 0).astype(int)
    X = rng.standard_normal((400, 20))
    w = rng.standard_normal(20)
    if name == "correlated":
        X = X @ np.linalg.cholesky(0.95 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))).T
    if name == "heavy tails":
        X = rng.standard_t(2, (400, 20))
    if name == "sparse truth":
        w[3:] = 0.0
    z = X @ w / 2 + rng.logistic(size=400)
    return X, (z > (np.quantile(z, 1 - 1 / 51) if name == "imbalanced" else 0.0)).astype(int)


BUNDLED = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
MADE = ("correlated", "heavy tails", "sparse truth", "imbalanced", "wide")


def paired(name, splits):
    """Held-out log losses of both, (splits, 2): C="auto" and scikit-learn's LogisticRegressionCV."""
    X, y = BUNDLED[name](return_X_y=True) if name in BUNDLED else _made(name, np.random.default_rng(0))
    found = []
    for train, test in StratifiedShuffleSplit(splits, test_size=0.3, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        seen, held = scaler.transform(X[train]), scaler.transform(X[test])
        theirs = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings to come, and of fits that stop short
            theirs.fit(seen, y[train])
        ours = sx.LogisticRegression("auto").fit(seen, y[train])
        found.append([log_loss(y[test], model.predict_proba(held), labels=model.classes_) for model in (ours, theirs)])
    return np.array(found)


def test_held_out_loss_beside_scikit_learn():
    ours, theirs = paired("wine", 4).mean(axis=0)
    assert ours <= 1.1 * theirs


@pytest.mark.slow
def test_held_out_loss_is_no_worse_than_scikit_learns_over_nine_sets():
    ratios = []
    for name in (*BUNDLED, *MADE):
        found = paired(name, 3 if name == "digits" else 6)
        ratios.append(np.log(found[:, 0] / found[:, 1]).mean())
        difference = found[:, 0] - found[:, 1]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        assert difference.mean() <= 2 * error + 0.02 * found[:, 1].mean(), name
    assert np.mean(ratios) <= 0.01


def test_the_certificate_counts_in_the_unit_of_the_weights():
    rng = np.random.default_rng(5)
    X, weight = rng.standard_normal((60, 2)), np.full(60, 2.0**40)
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    model = sx.LogisticRegression(C="auto").fit(X, y, sample_weight=weight)
    light = sx.LogisticRegression(C="auto").fit(X, y)
    assert model.certificate_.verify(X, y, weight)
    # Both searches stop near the minimum, but not at the same point, since rounding differs between their values of C.
    assert 0.2 < model.certificate_.weight_error / (2.0**20 * light.certificate_.weight_error) < 5
