import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, precision_recall_fscore_support

import separatrix as sx
from separatrix.statistics.model_decisions import Costs


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


def test_labels_of_which_the_model_knows_none_are_refused(tmp_path):
    model = sx.LogisticRegression().fit(pd.DataFrame({"x": [0.0, 1.0]}), ["no", "yes"])
    with pytest.raises(sx.errors.LabelError, match=r"one of them is 1.*give labels as in the fit: 'no', 'yes'"):
        sx.evaluate(model, pd.DataFrame({"x": [0.0, 1.0]}), [1, 0])
    pd.DataFrame({"x": [0.0, 1.0], "y": ["NO", "YES"]}).to_parquet(tmp_path / "new.parquet")
    with pytest.raises(sx.errors.LabelError, match="one of them is 'NO'"):
        sx.evaluate(model, sx.scan(tmp_path / "new.parquet", target="y"))


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


def overlapping(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] + rng.logistic(size=n) > 0.7, "yes", "no")


def by_class(found, name):
    return [getattr(one, name) for one in found.by_class]


@pytest.mark.parametrize("classes", [2, 4])
def test_figures_by_class_agree_with_scikit_learn(classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 3))
    y = np.clip((X[:, 0] + rng.standard_normal(150) + 2).astype(int), 0, classes - 1)
    model = sx.LogisticRegression().fit(X, y)
    found = sx.evaluate(model, X, y)
    precision, recall, f1, rows = precision_recall_fscore_support(y, model.predict(X), zero_division=np.nan)
    np.testing.assert_allclose(by_class(found, "precision"), precision, rtol=1e-14)
    np.testing.assert_allclose(by_class(found, "recall"), recall, rtol=1e-14)
    np.testing.assert_allclose(by_class(found, "f1"), f1, rtol=1e-14)
    assert by_class(found, "n_rows") == rows.tolist()
    np.testing.assert_allclose(by_class(found, "lift"), precision / (rows / 150), rtol=1e-14)


def test_a_class_that_is_never_predicted_has_no_precision():
    found = sx.evaluate(sx.Scorer(np.array([[-9.0, 0.0]]), np.array([0, 1]), "logit"), np.zeros((3, 1)), [0, 0, 1])
    assert np.isnan(found.by_class[1].precision)
    assert np.isnan(found.by_class[1].lift)
    assert (found.by_class[1].recall, found.by_class[1].f1) == (0.0, 0.0)


def test_a_threshold_decides():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    found = sx.evaluate(model, X, y, threshold=0.3)
    chosen = np.where(model.predict_proba(X)[:, 1] >= 0.3, "yes", "no")
    np.testing.assert_array_equal(found.mistakes, np.flatnonzero(chosen != y))
    precision = precision_recall_fscore_support(y, chosen)[0]
    np.testing.assert_allclose(by_class(found, "precision"), precision)
    assert found.log_loss == sx.evaluate(model, X, y).log_loss
    assert found.cost is None


def test_costs_by_hand():
    """Probabilities 0.1 to 0.9 of nine rows; from 1/6 on there are 3 false positives, and 1 miss at 0.1."""
    p = np.arange(1, 10) / 10
    y = np.array([1, 0, 0, 1, 0, 1, 1, 1, 1])
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "logit")
    found = sx.evaluate(scorer, np.log(p / (1 - p))[:, None], y, cost={"FP": 1, "FN": 5}).cost
    assert found.threshold == pytest.approx(1 / 6)
    assert (found.n_false_positive, found.n_false_negative) == (3, 1)
    assert found.mean == pytest.approx((3 * 1 + 1 * 5) / 9)
    assert found.best_mean == pytest.approx(3 / 9)  # always "1": three false alarms, no miss
    assert found.best_threshold < 0.1
    assert found.null == pytest.approx(3 / 9)
    assert found.interval.low < found.mean < found.interval.high
    at_half = sx.evaluate(scorer, np.log(p / (1 - p))[:, None], y, cost={"FP": 1, "FN": 5}, threshold=0.55).cost
    assert (at_half.threshold, at_half.mean) == (0.55, pytest.approx((0 + 5 * 2) / 9))


def test_no_threshold_has_a_lower_cost_than_the_best():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    p, positive = model.predict_proba(X)[:, 1], y == "yes"
    best = sx.evaluate(model, X, y, cost={"FP": 2, "FN": 3}).cost
    for t in np.concatenate([np.linspace(0, 1, 301), p]):
        cost = (2 * np.sum((p >= t) & ~positive) + 3 * np.sum((p < t) & positive)) / len(p)
        assert best.best_mean <= cost + 1e-12
    cost = (2 * np.sum((p >= best.best_threshold) & ~positive) + 3 * np.sum((p < best.best_threshold) & positive)) / 200
    assert best.best_mean == pytest.approx(cost)


def test_the_interval_of_the_cost_holds_as_often_as_it_says():
    """1000 tables of 150 rows with 8 % false alarms and 4 % misses; the expected cost is 0.08 + 5 · 0.04."""
    counts = np.random.default_rng(0).multinomial(150, [0.08, 0.04, 0.88], size=1000)
    held = [Costs(1.0, 5.0).interval(int(fp), int(fn), 150) for fp, fn, _ in counts]
    assert 0.93 <= np.mean([low <= 0.28 <= high for low, high in held]) <= 0.99


def test_a_prior_corrects_probabilities():
    X, y = overlapping()
    for model in (sx.LogisticRegression().fit(X, y), sx.LogisticRegression(class_weight="balanced").fit(X, y)):
        counts = [int(np.sum(y == label)) for label in ("no", "yes")]
        weights = model.certificate_.claim.class_weights
        found = sx.evaluate(model, X, y, prior={"no": 0.9, "yes": 0.1}, fitted_prior=counts)
        P = sx.decision.reweighed(model.predict_proba(X), counts * weights, [0.9, 0.1])
        assert found.log_loss == pytest.approx(log_loss(y, P))
        np.testing.assert_array_equal(found.mistakes, np.flatnonzero(np.where(P[:, 1] >= 0.5, "yes", "no") != y))
    lda = sx.LinearDiscriminantAnalysis().fit(X, y)
    other = sx.LinearDiscriminantAnalysis(priors=[0.9, 0.1]).fit(X, y)
    assert sx.evaluate(lda, X, y, prior=[0.9, 0.1]).log_loss == pytest.approx(sx.evaluate(other, X, y).log_loss)


def test_a_prior_of_several_classes():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((90, 2)), np.arange(90) % 3
    model = sx.LogisticRegression().fit(X, y)
    found = sx.evaluate(model, X, y, prior=[0.2, 0.3, 0.5], fitted_prior=[30, 30, 30])
    P = sx.decision.reweighed(model.predict_proba(X), [1, 1, 1], [0.2, 0.3, 0.5])
    assert found.log_loss == pytest.approx(log_loss(y, P))
    np.testing.assert_array_equal(found.mistakes, np.flatnonzero(P.argmax(axis=1) != y))


def test_decisions_that_cannot_be_made_are_refused():
    X, y = overlapping(40)
    model, silent = sx.LogisticRegression().fit(X, y), sx.LeastSquaresClassifier().fit(X, y)
    three = sx.LogisticRegression().fit(X, np.arange(40) % 3)
    refused = sx.errors.ParameterError
    with pytest.raises(refused, match="threshold: LeastSquaresClassifier has scores but no probabilities"):
        sx.evaluate(silent, X, y, threshold=0.2)
    with pytest.raises(refused, match="cost: LeastSquaresClassifier has scores but no probabilities"):
        sx.evaluate(silent, X, y, cost={"FP": 1, "FN": 5})
    with pytest.raises(refused, match="threshold: it is for two classes, and the model has 3"):
        sx.evaluate(three, X, np.arange(40) % 3, threshold=0.2)
    with pytest.raises(refused, match="cost: it is for two classes, and the model has 3"):
        sx.evaluate(three, X, np.arange(40) % 3, cost={"FP": 1, "FN": 5})
    for threshold in (-0.1, 1.1, np.nan, "half", True):
        with pytest.raises(refused, match="threshold: got"):
            sx.evaluate(model, X, y, threshold=threshold)
    for cost in ({"FP": 1}, 5, {"FP": 1, "FN": -1}, {"FP": 0, "FN": 0}, {"FP": "1", "FN": 2}, {"FP": np.inf, "FN": 1}):
        with pytest.raises(refused, match="cost: "):
            sx.evaluate(model, X, y, cost=cost)
    with pytest.raises(refused, match="fitted_prior: it is not given"):
        sx.evaluate(model, X, y, prior=[0.5, 0.5])
    with pytest.raises(refused, match="prior: it names"):
        sx.evaluate(model, X, y, prior={"no": 0.5, "maybe": 0.5}, fitted_prior=[20, 20])
