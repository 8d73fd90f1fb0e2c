import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

import separatrix as sx


def test_accuracy_errors_and_their_rows():  # E1
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = np.where(X[:, 0] + rng.logistic(size=100) > 0, "yes", "no")
    model = sx.LogisticRegression().fit(X, y)
    found = sx.evaluate(model, X, y)
    assert sx.evaluate(model.scorer_, X, y).log_loss == found.log_loss
    assert found.accuracy == pytest.approx(accuracy_score(y, model.predict(X)))
    np.testing.assert_array_equal(found.mistakes, np.flatnonzero(model.predict(X) != y))
    assert found.log_loss == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found.log_loss_bits == pytest.approx(found.log_loss / np.log(2))


def test_a_label_the_model_does_not_know_is_a_mistake_of_infinite_loss():
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    found = sx.evaluate(model.scorer_, np.array([[0.0], [1.0]]), [0, 2])
    assert found.mistakes.tolist() == [1]
    assert found.log_loss == np.inf


def test_no_rows_are_refused():
    model = sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(sx.errors.LabelError, match="no labels"):
        sx.evaluate(model.scorer_, np.empty((0, 1)), [])


def test_every_kind_of_model_can_be_evaluated():
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
    for model in (sx.Perceptron(), sx.LeastSquaresClassifier(), sx.LinearDiscriminantAnalysis()):
        assert 0 <= sx.evaluate(model.fit(X, y), X, y).accuracy <= 1
    with pytest.raises(sx.errors.ParameterError, match="fitted classifier"):
        sx.evaluate("model", X, y)
