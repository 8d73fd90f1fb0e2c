"""Settings of the textbook's functions that cannot be used are refused with an error that names them."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError

X, Y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 2.0]], [0, 0, 1, 1]
NOT_POSITIVE = (0, -1, np.nan, "a", None, True, [1])
NOT_FLAGS = (0, -1, np.nan, "a", None, [1])
NOT_COUNTS = (-1, 1.5, np.nan, np.inf, "a", None, True, [1])
NOT_BOXES = (0, None, "a", (0, 1, 0), (0, 1, 0, "a"), (0, np.inf, 0, 1), (np.nan, 1, 0, 1), (1, 0, 0, 1))
NOT_COLUMNS = (0, None, "ab", (0, "a"), (0, 1.5), (0, 1, 2), (0, 9), (1, 1), (-1, 0), (False, True), ((0, 1), 2))
NOT_WEIGHTS = ("a", (0, 1, "a"), (0, 1), (0, np.nan, 0), (0, np.inf, 0))
REFUSED = {
    (sx.novikoff_bound, "eta"): (*NOT_POSITIVE, np.inf),
    (sx.novikoff_bound, "fit_intercept"): NOT_FLAGS,
    (sx.novikoff_bound, "start"): NOT_WEIGHTS,
    (sx.cosines, "most"): NOT_COUNTS,
    (sx.cosines, "zero"): ("a", 0, None),
    (sx.cosines, "fit_intercept"): NOT_FLAGS,
    (sx.along, "bins"): (0, *NOT_COUNTS),
    (sx.along, "direction"): (0, "a", (0, 0), (1, np.nan)),
    (sx.criterion_curve, "points"): (1, *NOT_COUNTS),
    (sx.error_surface, "loss"): ("cubic", [1], None),
    (sx.error_surface, "box"): NOT_BOXES,
    (sx.error_surface, "columns"): NOT_COLUMNS,
    (sx.error_surface, "at"): NOT_WEIGHTS,
    (sx.error_surface, "points"): (1, *NOT_COUNTS),
    (sx.error_surface, "C"): NOT_POSITIVE,
    (sx.error_surface, "l1_ratio"): (-0.1, 1.1, np.nan, "a", None, True, [1]),
    (sx.error_surface, "gradient"): NOT_FLAGS,
    (sx.walk, "solver"): ("nawton", 1),
    (sx.walk, "start"): NOT_WEIGHTS,
    (sx.walk, "steps"): NOT_COUNTS,
    (sx.walk, "tol"): (-1, np.nan, np.inf, "a", None, True, [1]),
    (sx.objective, "loss"): ("cubic", [1], None),
    (sx.objective, "C"): (*NOT_POSITIVE, 1e-320),
    (sx.objective, "l1_ratio"): (-0.1, 1.1, np.nan, "a", None, True, [1]),
    (sx.objective, "fit_intercept"): NOT_FLAGS,
    (sx.objective, "sample_weight"): ([1, 1, 1], [1, 1, 1, -1], [1, 1, 1, np.nan], [0] * 4, ["a"] * 4, [np.inf] * 4),
}


def _called(function, X, **settings):
    found = function(X, Y, **settings)
    return list(found) if function is sx.cosines else found


@pytest.mark.parametrize(("function", "name"), REFUSED, ids=lambda one: getattr(one, "__name__", one))
def test_settings_that_cannot_be_used_are_refused(function, name):
    for value in REFUSED[function, name]:
        with pytest.raises(InputError, match=f"^{name}: "):
            _called(function, X, **{name: value})


@pytest.mark.parametrize(
    "function", list(dict.fromkeys(function for function, _ in REFUSED)), ids=lambda one: one.__name__
)
def test_rows_that_cannot_be_used_are_refused(function):
    for wrong in ([[0.0, np.nan]] * 4, [[0.0, np.inf]] * 4, [["a", "b"]] * 4, [1, 2, 3, 4], X[:3]):
        with pytest.raises(InputError, match="X: "):
            _called(function, wrong)


def test_rows_of_target_weights_must_be_finite():
    for wrong in (np.nan, np.inf):
        with pytest.raises(InputError, match="X: row 1, column 0"):
            sx.target_weights([[0.0], [wrong]], [[1.0]])


def test_weights_given_to_an_objective_must_be_numbers():
    with pytest.raises(InputError, match="w: got 'a'; give "):
        sx.objective(X, Y).value("a")


@pytest.mark.parametrize("model", [sx.LogisticRegression, sx.LinearSVC])
def test_the_smallest_C_is_named_with_its_reason(model):
    for C in (1e-300, 1e-310):
        with pytest.raises(InputError, match="give more than 1e-300, so that a penalty of strength 1/C does"):
            model(C=C).fit(X, Y)
