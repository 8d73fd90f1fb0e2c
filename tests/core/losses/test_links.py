import numpy as np
import pytest

from separatrix.core.base.errors import ParameterError
from separatrix.core.links import LINKS
from separatrix.core.scorer import Scorer


def test_three_heads_of_one_signal():  # D5, lecture 002
    s = np.array([-2.0, 0.0, 0.5])
    np.testing.assert_array_equal(LINKS["sign"].activation(s), [-1.0, 1.0, 1.0])
    np.testing.assert_array_equal(LINKS["identity"].activation(s), s)
    np.testing.assert_allclose(LINKS["logit"].activation(s), 1 / (1 + np.exp(-s)))


@pytest.mark.parametrize("name", ["logit", "identity"])
def test_the_inverse_undoes_the_activation(name):
    for c in (0.1, 0.5, 0.9):
        assert LINKS[name].activation(np.array([LINKS[name].inverse(c)]))[0] == pytest.approx(c)


def test_levels_that_are_no_probability_are_refused():
    for c in (0.0, 1.0, 2.0):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            LINKS["logit"].inverse(c)
    with pytest.raises(ParameterError, match="two classes"):
        LINKS["softmax"].inverse(0.5)


def test_a_scorer_without_probabilities_says_so():
    scorer = Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "sign")
    with pytest.raises(ParameterError, match="scores only"):
        scorer.probabilities(np.ones((1, 1)))


def test_log_probabilities_stay_finite_where_probabilities_round_to_zero():
    for W in (np.array([[0.0, 1.0]]), np.array([[0.0, -1.0], [0.0, 0.0], [0.0, 1.0]])):
        scorer = Scorer(W, np.arange(max(2, len(W))), "logit" if len(W) == 1 else "softmax")
        found = scorer.log_probabilities(np.array([[2000.0]]))
        assert np.all(np.isfinite(found))
        assert found.min() <= -2000
