"""Every loss in the registry obeys every law that its traits claim."""

import numpy as np
import pytest

from separatrix.core.links import logit, sigmoid, softmax
from separatrix.core.losses import LOSSES, Hinge, Logistic, Perceptron, Squared, ZeroOne
from tests.laws import loss_laws

LAWS = loss_laws(LOSSES)


@pytest.mark.parametrize(("check", "loss"), [(c, l) for _, c, l in LAWS], ids=[i for i, _, _ in LAWS])
def test_law(check, loss):
    check(loss)


def test_sigmoid_as_lectures_000_002_and_004_have_it():  # R1
    z = np.linspace(-30, 30, 601)
    assert np.all(np.diff(sigmoid(z)) >= 0)
    np.testing.assert_allclose(sigmoid(-z), 1 - sigmoid(z), atol=3e-16)
    np.testing.assert_allclose(sigmoid(z), np.exp(np.minimum(z, 0)) / (1 + np.exp(-np.abs(z))), rtol=1e-14)
    slope = (sigmoid(z + 1e-6) - sigmoid(z - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, sigmoid(z) * (1 - sigmoid(z)), atol=1e-9)
    assert (sigmoid(1e-6) - sigmoid(-1e-6)) / 2e-6 == pytest.approx(0.25)
    np.testing.assert_allclose(logit(sigmoid(z[np.abs(z) < 15])), z[np.abs(z) < 15], atol=1e-8)
    assert np.all(np.isfinite(sigmoid(np.array([-1e308, 1e308, -750.0, 750.0]))))


def test_the_two_forms_of_the_likelihood_agree():  # R2: P(y|x) = σ(t z) against p^y (1 − p)^(1 − y)
    z, y = np.linspace(-8, 8, 33), np.arange(33) % 2
    t = 2.0 * y - 1.0
    p = sigmoid(z)
    np.testing.assert_allclose(Logistic().value(t, z), -(y * np.log(p) + (1 - y) * np.log(1 - p)), atol=1e-12)


def test_squared_loss_at_one_zero_and_two():  # exact example, L2
    assert Squared().of_margin(np.array([1.0, 0.0, 2.0])).tolist() == [0.0, 1.0, 1.0]


def test_only_the_squared_loss_punishes_what_is_too_correct():  # L2
    far = np.array([2.0, 5.0, 50.0])
    assert np.all(np.diff(Squared().of_margin(far)) > 0)
    for loss in (Logistic(), Perceptron(), Hinge()):
        assert np.all(np.diff(loss.of_margin(far)) <= 0)


def test_zero_one_loss_is_flat_but_for_one_step():  # L1
    m = np.linspace(-3, 3, 61)
    values = ZeroOne().value(np.ones(61), m)
    assert set(values) == {0.0, 1.0}
    assert np.sum(np.diff(values) != 0) == 1


def test_softmax_of_two_scores_is_the_sigmoid_of_their_difference():  # R9
    z = np.random.default_rng(0).normal(0, 5, (50, 2))
    np.testing.assert_allclose(softmax(z)[:, 1], sigmoid(z[:, 1] - z[:, 0]), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if not loss.traits.multiclass])
def test_value_and_derivative_together_have_the_bits_of_each_alone(name):
    loss = LOSSES[name]
    z = np.concatenate([np.linspace(-40.0, 40.0, 401), [-0.0, 2e4, -2e4, 800.0, -800.0]])
    for sign in (-1.0, 1.0):
        t = np.full(len(z), sign)
        value, derivative = loss.value_derivative(t, z)
        np.testing.assert_array_equal(value, loss.value(t, z))
        np.testing.assert_array_equal(derivative, loss.derivative(t, z))
