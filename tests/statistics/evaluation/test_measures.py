"""Each measure is compared with scikit-learn's, and so is that of the null model."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from separatrix.statistics.evaluation import Performance
from separatrix.statistics.measures import answers, confusion_matrix, in_bits, log_frequencies, log_loss


@pytest.fixture(params=[2, 3])
def model_and_rows(request):
    rng = np.random.default_rng(request.param)
    X = rng.standard_normal((120, 2))
    y = np.argmax(X @ rng.standard_normal((2, request.param)) + rng.gumbel(size=(120, request.param)), axis=1)
    return LogisticRegression().fit(X, y), X, y


def test_measures_against_scikit_learn(model_and_rows):
    model, X, y = model_and_rows
    P, counts = model.predict_proba(X), np.bincount(y)
    measured = Performance(answers(model, X, y), counts)
    assert measured.accuracy == metrics.accuracy_score(y, model.predict(X)) == measured.n_right / len(y)
    assert measured.log_loss == pytest.approx(metrics.log_loss(y, P))
    scores = P[:, 1] if len(counts) == 2 else P
    assert measured.auc == pytest.approx(metrics.roc_auc_score(y, scores, multi_class="ovr"))
    assert (measured.auc_interval is None) == (len(counts) > 2)
    assert measured.answers.confusion.tolist() == metrics.confusion_matrix(y, model.predict(X)).tolist()


def test_the_null_model_predicts_the_most_frequent_class_with_the_class_frequencies(model_and_rows):
    model, X, y = model_and_rows
    counts = np.bincount(y)
    measured = Performance(answers(model, X, y), counts)
    assert measured.null_accuracy == counts.max() / len(y) == measured.n_majority / len(y)
    assert measured.null_log_loss == pytest.approx(metrics.log_loss(y, np.tile(counts / len(y), (len(y), 1))))
    low, high = measured.gain
    assert low <= measured.accuracy - measured.null_accuracy <= high


def test_classes_without_rows_have_infinite_loss():
    log_P = np.tile(log_frequencies([4, 0]), (2, 1))
    assert log_loss(log_P, np.array([0, 0])) == 0.0
    assert log_loss(log_P, np.array([0, 1])) == np.inf
    assert log_loss(log_P, np.array([0, -1])) == np.inf


def test_bits_and_a_confusion_matrix_with_a_class_that_does_not_occur():
    assert in_bits(np.log(2.0)) == 1.0
    assert confusion_matrix(np.array([0, 2]), np.array([2, 2]), 4).sum() == 2
