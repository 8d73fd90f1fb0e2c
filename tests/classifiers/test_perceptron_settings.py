"""The settings of the perceptron, most of them scikit-learn's, and the refusal of those that make no sense."""

import numpy as np
import pytest
import sklearn.linear_model as peers

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from tests.classifiers.lecture_rows import PHI, XOR, XOR_Y


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
        model = sx.Perceptron(class_weight={2: 3.0}, max_iter=7).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    with pytest.warns(NotConvergedWarning):
        heavy, light = (
            sx.Perceptron(class_weight={2: factor}, average=True, max_iter=200).fit(X, y) for factor in (20.0, 0.05)
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"average": "always"}, "average: got 'always'"),
        ({"average": True, "pocket": True}, "average: got True together with a pocket"),
        ({"average": "auto"}, "average: got 'auto'; give True or False"),
        ({"stop_on_proof": None}, "stop_on_proof: got None"),
        ({"class_weight": {9: 1.0}}, "class_weight: it names 9"),
    ],
)
def test_more_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(XOR, XOR_Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": "l2"}, "penalty: got 'l2', and the perceptron has no penalty; leave it out, or use Logistic"),
        ({"tol": 0.0}, "tol: got 0.0, and the perceptron stops only by separation, a proof or max_iter; leave it out"),
        ({"early_stopping": True}, "early_stopping: got True, and the perceptron sets no rows aside"),
    ],
)
def test_what_only_scikit_learns_perceptron_has_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).fit(PHI, XOR_Y)
    with pytest.raises(ParameterError, match=message):
        sx.Perceptron(**settings).partial_fit(PHI, XOR_Y)


def test_what_only_scikit_learns_perceptron_has_is_accepted_where_it_changes_nothing():
    theirs = {**peers.Perceptron().get_params(), "shuffle": False}
    for given in (theirs, {"alpha": 0.1, "l1_ratio": 1.0, "n_iter_no_change": 9, "validation_fraction": 0.2}):
        model = sx.Perceptron(**given).fit(PHI, XOR_Y)
        np.testing.assert_array_equal(model.coef_, sx.Perceptron().fit(PHI, XOR_Y).coef_)


def test_steps_refuse_what_needs_all_rows():
    with pytest.raises(ParameterError, match="class_weight: got 'balanced', which needs all rows"):
        sx.Perceptron(class_weight="balanced").partial_fit(XOR, XOR_Y)


def test_the_trace_names_the_cost_and_what_was_met(overlapping):  # P1
    X, y = overlapping
    with pytest.warns(NotConvergedWarning):
        model = sx.Perceptron(max_iter=12).fit(X, y)
    t, last = 2.0 * (y == 2) - 1, model.trace_[-1]
    assert last.value == pytest.approx(np.maximum(0, -t * model.decision_function(X)).mean(), rel=1e-12)
    assert all(np.isfinite(record.value) and record.met is not None for record in model.trace_[1:])
    assert any(abs(record.value - record.met) > 0.1 for record in model.trace_[1:])
    assert model.trace_[0].met is None
