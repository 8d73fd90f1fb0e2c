"""Messages agree in number with what they count, and name the cause that is so."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, WeightError
from separatrix.core.losses import Traits
from separatrix.teach.lab.page_weights import slope_sentence

RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 3))
Y = RNG.integers(0, 2, 40)


def _unpenalised(**given):
    return sx.LogisticRegression(C=np.inf, loss=given.pop("loss", "logistic")), given


@pytest.mark.parametrize(
    ("small", "words"),
    [
        ({"loss": "probit"}, "its link differs from that of small"),
        ({"offset": np.linspace(0.0, 1.0, 40)}, "its offset differs from that of small"),
        ({"sample_weight": np.full(40, 2.0)}, "its weights differ from those of small"),
    ],
)
def test_one_difference_of_nested_models(small, words):
    model, given = _unpenalised(**small)
    declared = {"weights": "frequency"} if "sample_weight" in given else {}
    one = sx.summary(model.fit(X[:, :2], Y, **given), X[:, :2], Y, **given, **declared)
    all_columns = sx.summary(sx.LogisticRegression(C=np.inf).fit(X, Y), X, Y)
    with pytest.raises(InputError, match=words):
        sx.likelihood_ratio_test(one, all_columns)


def test_one_row_alone_in_its_class():
    labels = np.where(np.arange(40) == 0, "c", np.where(Y == 1, "b", "a"))
    found = str(sx.LogisticRegression(C="auto").fit(X, labels).penalty_choice_)
    assert "1 row alone in its class is not scored" in found


def test_one_wrong_row():
    rows, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    told = [str(step) for step in sx.steps(sx.Perceptron("batch"), rows, labels)]
    assert not any("1 of 4 rows are wrong" in step for step in told)
    assert any("1 of 4 rows is wrong" in step for step in told)
    assert slope_sentence(0.0, 1, 9, Traits(continuous=False)).endswith("although 1 of 9 rows is wrong.")
    assert slope_sentence(0.0, 1, 9, Traits()).endswith("1 of 9 rows is wrong.")


def test_the_shape_of_an_offset_is_the_given_one():
    with pytest.raises(InputError, match=r"its shape is \(1,\)"):
        sx.LogisticRegression().fit(X, Y, offset=[1.0])


def test_long_weights_are_shortened():
    with pytest.raises(WeightError) as raised:
        sx.LogisticRegression().fit(X, Y, sample_weight=["heavy"] * 40)
    assert len(str(raised.value)) < 120
    assert "'heavy'" in str(raised.value)


def test_an_unpenalised_column_that_separates_needs_a_penalty_factor():
    with pytest.warns(sx.errors.SeparationWarning) as raised:
        sx.LogisticRegression(C=1.0, penalty_factors=[0.0, 1.0, 1.0]).fit(X, X[:, 0] > 0)
    told = str(raised[0].message)
    assert "give these columns a positive factor in penalty_factors, or leave them out" in told
    assert "finite C" not in told
    assert "firth" not in told
    with pytest.warns(sx.errors.SeparationWarning, match="use bias_reduction='firth', a finite C, or leave"):
        sx.LogisticRegression(C=np.inf).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(("settings", "offset", "n"), [({}, X[:, 0], 4), ({"fit_intercept": False}, None, 3)])
def test_parameters_that_are_not_fitted_are_not_counted(settings, offset, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.LogisticRegression(**settings).fit(X, Y, offset=offset)
    assert f"cheap with {n} parameters" in model.certificate_.why
    assert model.certificate_.full_rank == n
