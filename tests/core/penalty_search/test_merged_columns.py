"""Columns that one row uses are merged: the same ridge fits, folds and choice of C from fewer columns."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.penalty import Penalty
from separatrix.core.penalty_search import ByFolds, Question, merged_columns
from separatrix.core.rows.labelled_table import labelled_rows
from tests.wide_text import wide_text


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("like", [True, False])
def test_fits_to_any_rows_have_the_same_scores(K, like):
    rng = np.random.default_rng(3)
    X, _ = wide_text(120, 1500)
    y = rng.integers(0, K, 120)
    q = np.ones(1500) if like else rng.uniform(0.2, 5.0, 1500)
    merged, factors = merged_columns(X, q)
    assert merged.shape[1] < 600
    some = np.arange(120) % 4 > 0
    scores = []
    for rows, penalties in ((X, q), (merged, factors)):
        model = sx.LogisticRegression(10.0, penalty_factors=penalties, tol=1e-12).fit(rows[some], y[some])
        scores.append(model.decision_function(rows))
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-5)


def test_stored_zeros_and_sizes_near_the_limits_of_floats():
    X = csr_array(([3e200, 4e200, 0.0, 1.0, 1.0], ([0, 0, 1, 0, 1], [0, 1, 1, 2, 2])), shape=(2, 4))
    merged, factors = merged_columns(X, np.ones(4))
    np.testing.assert_allclose(merged.toarray(), [[1.0, 5e200], [1.0, 0.0]], rtol=1e-15)
    assert factors.tolist() == [1.0, 1.0]
    assert merged.indices.dtype == X.indices.dtype
    assert merged_columns(csr_array((2, 3)), np.ones(3))[0].shape == (2, 0)


def test_the_choice_by_folds_is_that_of_all_columns(monkeypatch):
    X, y = wide_text(300, 5000, share=0.4)
    question = Question(labelled_rows(X, y, 2), 2, Penalty(1.0, np.ones(5000)))
    assert all(walk.problem.shape[1] < 1600 for walk in ByFolds.over(question, question.walk()).walks)
    merged = sx.LogisticRegression("auto").fit(X, y)
    monkeypatch.setattr(Question, "with_merged_columns", lambda question: question)
    whole = sx.LogisticRegression("auto").fit(X, y)
    assert merged.penalty_choice_.method == "cross-validation"
    np.testing.assert_allclose(merged.penalty_choice_.scores, whole.penalty_choice_.scores, rtol=1e-3)
    np.testing.assert_allclose(merged.C_, whole.C_, rtol=0.05)


def test_rows_of_zeros_keep_their_columns():
    question = Question(labelled_rows(csr_array((4, 3)), np.array([0, 1, 0, 1]), 2), 2, Penalty(1.0, np.ones(3)))
    assert question.with_merged_columns() is question


def test_columns_without_a_penalty_and_absolute_values_are_not_merged():
    X, y = wide_text(60, 400)
    free = np.ones(400)
    free[7] = 0.0
    for penalty in (Penalty(1.0, free), Penalty(1.0, np.ones(400), 0.5)):
        question = Question(labelled_rows(X, y, 2), 2, penalty)
        assert question.with_merged_columns() is question
