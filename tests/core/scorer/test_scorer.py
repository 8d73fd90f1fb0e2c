"""Answers for one row and for many: one scorer, whatever the way the rows come."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import InputError, NotFiniteError
from separatrix.core.base.machine import threads
from separatrix.core.scorer import MOST_VALUES_IN_ONE_THREAD, Scorer


def _scorer(d, K, seed=0):
    rng = np.random.default_rng(seed)
    rows = 1 if K == 2 else K
    return Scorer(rng.standard_normal((rows, d + 1)), np.array(list("abcdefgh")[:K]), "logit" if K == 2 else "softmax")


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("d", [1, 7, 300])
def test_one_row_gets_what_many_get(d, K):
    scorer, X = _scorer(d, K), np.random.default_rng(1).standard_normal((50, d))
    expected = scorer.predict(X).tolist()
    forms = (list, tuple, np.asarray, np.float32, lambda row: np.repeat(row, 2)[::2], lambda row: np.array(row, ">f8"))
    for given in forms:
        assert [scorer.predict_one(given(row.tolist())) for row in X] == expected


@pytest.mark.parametrize(("link", "expected"), [("logit", 3), ("sign", 5)])
def test_a_score_of_zero_goes_where_predict_sends_it(link, expected):
    scorer = Scorer(np.array([[0.0, 1.0]]), np.array([3, 5]), link)
    assert scorer.predict_one([0.0]) == scorer.predict(np.zeros((1, 1)))[0] == expected


@pytest.mark.parametrize("make", [list, np.array])
def test_one_row_is_refused_by_length_and_by_what_is_not_finite(make):
    scorer = _scorer(3, 2)
    with pytest.raises(InputError, match="row: it has 2 numbers; give the 3 columns"):
        scorer.predict_one(make([1.0, 2.0]))
    for bad, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        with pytest.raises(NotFiniteError, match=f"column 1 is {name}"):
            scorer.predict_one(make([1.0, bad, 2.0]))


@pytest.mark.parametrize("make", [list, np.array])
def test_a_row_whose_score_overflows_is_far_on_one_side(make):
    scorer = Scorer(np.array([[0.0, 1e200, 1e200]]), np.array([0, 1]), "logit")
    for row in ([1e200, 1.0], [-1e200, 1.0]):
        assert scorer.predict_one(make(row)) == scorer.predict(np.array([row]))[0] == int(row[0] > 0)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_many_rows_are_scored_in_pieces_with_the_same_bits_for_any_threads(K, form):
    d = 8
    X = np.random.default_rng(2).standard_normal((MOST_VALUES_IN_ONE_THREAD // d + 1000, d))
    scorer, answers = _scorer(d, K), []
    for count in (1, 3):
        with threads(count):
            answers.append(scorer.scores(form(X)))
    np.testing.assert_array_equal(*answers)
    z = X @ scorer.W[:, 1:].T + scorer.W[:, 0]
    np.testing.assert_allclose(answers[0], z[:, 0] if K == 2 else z, rtol=1e-12, atol=1e-12)
    X[-1, 2] = np.nan
    with pytest.raises(NotFiniteError, match=f"row {len(X) - 1}, column 2"):
        scorer.scores(form(X))


def test_classifiers_answer_one_row_and_say_when_they_are_not_fitted():
    X, y = np.random.default_rng(3).standard_normal((40, 3)), np.arange(40) % 3
    model = sx.LinearDiscriminantAnalysis().fit(X, y)
    assert [model.predict_one(row) for row in X.tolist()] == model.predict(X).tolist()
    with pytest.raises(ValueError, match="not fitted"):
        sx.LinearDiscriminantAnalysis().predict_one([1.0, 2.0, 3.0])


def test_plain_tables_are_checked_as_others_are():
    X, y = np.random.default_rng(4).standard_normal((40, 3)), np.arange(40) % 2
    model = sx.LeastSquaresClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.tolist()))
    np.testing.assert_allclose(model.decision_function(X.astype(np.float32)), model.decision_function(X), rtol=1e-4)
    for bad, match in ((X[:, :2], "expecting 3 features"), (X[0], "1D array"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=match):
            model.predict(bad)
    with pytest.raises(ValueError, match="row 5, column 1 is NaN"):
        model.predict(np.where(np.arange(120).reshape(40, 3) == 16, np.nan, X))


@pytest.mark.parametrize("row", ["ab", [None, 1.0]])
def test_one_row_of_no_numbers_is_refused_in_a_sentence(row):
    scorer = Scorer(np.array([[0.0, 1.0, 2.0]]), np.array([0, 1]), "logit")
    with pytest.raises(InputError, match="plain numbers"):
        scorer.predict_one(row)


def test_a_model_that_has_predicted_one_row_can_be_copied_and_pickled():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), [0, 1, 0, 1]
    model = sx.LogisticRegression().fit(X, y)
    expected = [model.predict_one(row) for row in X]
    for again in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        assert [again.predict_one(row) for row in X] == expected == model.predict(X).tolist()
