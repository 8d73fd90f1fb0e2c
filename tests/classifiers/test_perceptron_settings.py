"""The settings of the perceptron, most of them scikit-learn's, and the refusal of those that make no sense."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris

import separatrix as sx
from separatrix.base.errors import NotConvergedWarning, ParameterError
from tests.classifiers.lecture_rows import XOR, XOR_Y


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"update": "fast"}, "update: got 'fast'; choose one of 'online', 'batch', 'worst'"),
        ({"zero": "negative"}, "zero: got 'negative'"),
        ({"eta0": 0.0}, "eta0: got 0.0"),
        ({"max_iter": 0}, "max_iter: got 0"),
        ({"pocket": 1}, "pocket: got 1"),
        ({"start": "random"}, "start: got 'random'"),
        ({"start": np.zeros((1, 9))}, r"shape \(1, 3\)"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(XOR, XOR_Y)


def test_a_class_weight_multiplies_its_updates(overlapping):
    X, y = overlapping
    settings = {"shuffle": False, "tol": None, "max_iter": 7}
    peer = peers.Perceptron(class_weight={1: 1.0, 2: 3.0}, **settings).fit(X, y)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(class_weight={2: 3.0}, average=False, max_iter=7).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    with pytest.warns(NotConvergedWarning):
        heavy, light = (
            sx.Perceptron(class_weight={2: factor}, pocket=False, average=True, max_iter=200).fit(X, y)
            for factor in (20.0, 0.05)
        )
    assert np.sum(heavy.predict(X) == 2) > np.sum(light.predict(X) == 2)
    assert "theorem" not in heavy.certificate_.facts


def test_balanced_weights_are_those_of_the_counts():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.repeat([0, 1, 2], [30, 20, 10])
    with pytest.warns(NotConvergedWarning):
        one, other = (
            sx.Perceptron(class_weight=how, max_iter=30).fit(X, y) for how in ("balanced", {0: 2 / 3, 1: 1.0, 2: 2.0})
        )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert one.certificate_.verify(X, y)


@pytest.mark.parametrize("rows", [np.asarray, csr_array])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_a_penalty_shrinks_the_weights(overlapping, penalty, rows):
    X, y = rows(overlapping[0]), overlapping[1]
    lengths = []
    for alpha in (0.0, 1e-1):
        with pytest.warns(NotConvergedWarning):
            model = sx.Perceptron(penalty=penalty, alpha=alpha, average=False, max_iter=60).fit(X, y)
        assert model.certificate_.verify(X, y)
        lengths.append(float(np.linalg.norm(model.coef_)))
    assert lengths[1] < 0.5 * lengths[0]


def test_an_absolute_penalty_makes_weights_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(penalty="l1", alpha=0.4, max_iter=50).fit(X, y)
    assert np.sum(model.coef_ == 0) >= 3
    assert model.coef_[0, 0] > 0


def test_tol_ends_the_walk_when_the_cost_it_meets_no_longer_falls():
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.Perceptron(tol=1e-3).fit(X, y)
    assert model.n_iter_ < 60
    assert (model.certificate_.code, model.certificate_.met) == ("patience", True)
    met = [record.met for record in model.trace_[1:]]
    assert min(met[-5:]) > min(met[:-5]) - 1e-3


def test_rows_set_aside_end_the_walk_and_choose_the_weights():
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.Perceptron(early_stopping=True, shuffle=True, n_iter_no_change=8).fit(X, y)
    assert model.n_iter_ < 200
    assert model.certificate_.code == "patience"
    assert "validation rows" in model.certificate_.status
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.85
    with pytest.warns(NotConvergedWarning, match="stopped at max_iter=3 while the error rate"):
        sx.Perceptron(early_stopping=True, max_iter=3).fit(X, y)
    three = sx.Perceptron(early_stopping=True, shuffle=True).fit(*load_iris(return_X_y=True))
    assert three.certificate_.verify(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"average": "always"}, "average: got 'always'"),
        ({"average": True, "pocket": True}, "average: got True together with a pocket"),
        ({"average": True, "penalty": "l2"}, "average: got True together with a penalty"),
        ({"penalty": "ridge"}, "penalty: got 'ridge'; choose one of 'l2', 'l1', 'elasticnet'"),
        ({"alpha": -1.0}, "alpha: got -1.0"),
        ({"l1_ratio": 2.0}, "l1_ratio: got 2.0"),
        ({"tol": -1.0}, "tol: got -1.0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change: got 0"),
        ({"early_stopping": True}, "validation_fraction: 0.1 of 4 rows gives no validation rows"),
        ({"class_weight": {9: 1.0}}, "class_weight: it names 9"),
    ],
)
def test_more_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(XOR, XOR_Y)


def test_steps_refuse_what_needs_all_rows():
    with pytest.raises(ParameterError, match="early_stopping: partial_fit holds out no rows"):
        sx.Perceptron(early_stopping=True).partial_fit(XOR, XOR_Y)
    with pytest.raises(ParameterError, match="class_weight: got 'balanced', which needs all rows"):
        sx.Perceptron(class_weight="balanced").partial_fit(XOR, XOR_Y)


def test_the_trace_names_the_cost_and_what_was_met(overlapping):  # P1
    X, y = overlapping
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(average=False, max_iter=12).fit(X, y)
    t, last = 2.0 * (y == 2) - 1, model.trace_[-1]
    assert last.value == pytest.approx(np.maximum(0, -t * model.decision_function(X)).mean(), rel=1e-12)
    assert all(np.isfinite(record.value) and record.met is not None for record in model.trace_[1:])
    assert any(abs(record.value - record.met) > 0.1 for record in model.trace_[1:])
    assert model.trace_[0].met is None
