"""``partial_fit`` is told all classes in its first call; schemes go on after a fit."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError


def calls(seed=0):
    """Rows of a and c, then also of b, then also of d."""
    rng = np.random.default_rng(seed)
    for labels in ("ac", "ca", "abc", "bd", "abcd", "abcd"):
        y = rng.choice(list(labels), 40)
        y[: len(labels)] = list(labels)
        yield rng.standard_normal((40, 2)) + 3.0 * np.column_stack([y > "b", (y == "b") | (y == "d")]), y


def test_labels_that_were_not_told_are_refused():
    X, y = next(calls())
    for model in (sx.Perceptron(), sx.OneVsRestClassifier(sx.Perceptron())):
        model.partial_fit(X, y, classes=["a", "c"])
        with pytest.raises(LabelError):
            model.partial_fit([[0.0, 0.0]], ["b"])
    with pytest.raises(LabelError):
        sx.Perceptron().fit(X, y).partial_fit([[9.0, -9.0]], ["b"])
    for scheme in (sx.OneVsRestClassifier, sx.OneVsOneClassifier):
        with pytest.raises(ParameterError, match="classes: it is not given in the first call"):
            scheme(sx.Perceptron()).partial_fit(X, y)
    for model in (sx.Perceptron(), sx.OneVsRestClassifier(sx.Perceptron())):
        with pytest.raises(ParameterError, match="there is one class only, 'a'"):
            model.partial_fit(X, np.full(40, "a"), classes=["a"])


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("base", [sx.Perceptron(), sx.LinearDiscriminantAnalysis()])
@pytest.mark.parametrize("scheme", [sx.OneVsRestClassifier, sx.OneVsOneClassifier])
def test_a_scheme_goes_on_after_a_fit(scheme, base):
    for labels in ("ab", "abcd"):
        X, y = next(
            (X[keep], y[keep]) for X, y in calls() for keep in [np.isin(y, list(labels))] if set(y) == set("abcd")
        )
        model = scheme(base).fit(X, y).partial_fit(X, y)
        assert model.score(X, y) > 0.5
        np.testing.assert_array_equal(model._counts, 2 * np.unique(y, return_counts=True)[1])
        again = model.fit(X, y).partial_fit(X, y)
        np.testing.assert_array_equal(again._counts, 2 * np.unique(y, return_counts=True)[1])
