"""Reliability of probabilities: against scikit-learn's numbers and against simulated truth."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB

import separatrix as sx
from separatrix.core.base.errors import InputError, LabelError, ParameterError
from separatrix.statistics.measures import brier_score


@pytest.fixture(scope="module")
def honest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    y = np.where(X @ [1.0, -1.0] + rng.logistic(size=len(X)) > 0, "yes", "no")
    return X, y, sx.LogisticRegression(C=np.inf).fit(X, y)


@pytest.mark.parametrize(("cut", "strategy"), [("width", "uniform"), ("count", "quantile")])
def test_bins_scores_and_losses_against_scikit_learn(honest, cut, strategy):  # E2
    X, y, model = honest
    X, y = X[:3000], y[:3000]
    found = sx.reliability(model, X, y, n_bins=8, cut=cut)
    p = model.predict_proba(X)
    observed, predicted = calibration_curve(y, p[:, 1], n_bins=8, strategy=strategy, pos_label="yes")
    np.testing.assert_allclose(found.observed, observed)
    np.testing.assert_allclose(found.predicted, predicted)
    assert found.count.sum() == 3000
    assert found.brier == pytest.approx(brier_score_loss(y, p[:, 1], pos_label="yes"))
    assert found.log_loss == pytest.approx(log_loss(y, p))
    assert found.log_loss_bits == pytest.approx(log_loss(y, p) / np.log(2))
    by_hand = np.sum(found.count / 3000 * np.abs(observed - predicted))
    assert found.expected_error == pytest.approx(by_hand)
    assert found.largest_error >= found.expected_error


def test_a_true_model_is_calibrated_and_an_overconfident_one_is_not(honest):  # E2
    X, y, model = honest
    assert sx.reliability(model, X, y).expected_error < 0.015
    bold = sx.Scorer(3.0 * model.scorer_.W, model.classes_, "logit")
    found = sx.reliability(bold, X, y)
    assert found.expected_error > 0.08
    assert found.log_loss > sx.reliability(model, X, y).log_loss
    high = found.predicted > 0.8
    assert np.all(found.observed[high] < found.predicted[high])


def test_of_another_class_is_the_mirror_image(honest):
    X, y, model = honest
    yes, no = (sx.reliability(model, X[:500], y[:500], of=label) for label in ("yes", "no"))
    np.testing.assert_allclose(no.predicted[::-1], 1.0 - yes.predicted)
    np.testing.assert_allclose(no.observed[::-1], 1.0 - yes.observed)
    assert yes.of == "'yes'"


def test_more_classes_by_the_predicted_one():
    rng = np.random.default_rng(1)
    y = np.arange(3000) % 3
    X = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[y] + rng.standard_normal((3000, 2))
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    found = sx.reliability(model, X, y, n_bins=5)
    assert found.of == "the predicted class"
    accuracy = float(np.sum(found.count * found.observed) / found.count.sum())
    assert accuracy == pytest.approx(model.score(X, y))
    assert found.expected_error < 0.03
    p = model.predict_proba(X)
    assert found.brier == pytest.approx(np.mean(np.sum((p - np.eye(3)[y]) ** 2, axis=1)))
    assert found.log_loss == pytest.approx(log_loss(y, p))
    one = sx.reliability(model, X, y, of=2)
    assert float(np.sum(one.count * one.observed)) == pytest.approx(1000.0)


def test_probabilities_of_zero_and_one_have_bins():
    sure = sx.Scorer(np.array([[0.0, 1e4]]), np.array([0, 1]), "logit")
    found = sx.reliability(sure, np.array([[-1.0], [1.0], [1.0]]), [0, 1, 0])
    assert found.count.tolist() == [1, 2]
    assert found.observed.tolist() == [0.0, 0.5]
    assert found.log_loss == pytest.approx(1e4 / 3)  # finite, though P rounds to zero
    assert brier_score([[1.0, 0.0]], [1]) == 1.0


def test_it_prints_as_a_table(honest):
    X, y, model = honest
    text = str(sx.reliability(model, X[:200], y[:200], n_bins=4))
    assert "probability of 'yes'" in text
    assert "bits" in text
    assert len(text.splitlines()) == 7


def test_bad_input(honest):
    X, y, model = honest
    with pytest.raises(ParameterError, match="n_bins: got 0"):
        sx.reliability(model, X, y, n_bins=0)
    with pytest.raises(ParameterError, match="cut: got 'size'"):
        sx.reliability(model, X, y, cut="size")
    with pytest.raises(ParameterError, match="of: got 'maybe'"):
        sx.reliability(model, X, y, of="maybe")
    with pytest.raises(ParameterError, match="3 labels for 20000 rows"):
        sx.reliability(model, X, y[:3])
    with pytest.raises(LabelError, match="maybe"):
        sx.reliability(model, X[:1], ["maybe"])
    with pytest.raises(ParameterError, match="OneVsOneClassifier has no predict_proba"):
        sx.reliability(sx.OneVsOneClassifier().fit(X[:50], y[:50]), X, y)
    assert sx.reliability(sx.OneVsRestClassifier().fit(X[:50], y[:50]), X, y).count.sum() == len(y)


def test_models_of_scikit_learn_are_taken_and_others_refused():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    theirs = GaussianNB().fit(X, y)
    found = sx.reliability(theirs, X, y)
    assert found.count.sum() == 4
    assert found.brier == pytest.approx(np.mean((theirs.predict_proba(X)[:, 1] - y) ** 2))
    with pytest.raises(InputError, match="this GaussianNB is not fitted; call fit first"):
        sx.reliability(GaussianNB(), X, y)
    with pytest.raises(InputError, match="RidgeClassifier has no predict_proba"):
        sx.reliability(RidgeClassifier().fit(X, y), X, y)
    with pytest.raises(InputError, match="of: got 7;"):
        sx.reliability(theirs, X, y, of=np.int64(7))
