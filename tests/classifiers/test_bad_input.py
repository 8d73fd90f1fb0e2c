"""The worst input: one clear sentence that names the argument, what came, and what to do; nothing is changed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import (
    InputError,
    LabelError,
    NotConvergedWarning,
    NotFiniteError,
    ParameterError,
    WeightError,
)

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 2.0]])
y = np.array([0, 1, 0, 1])


def _with(value, row=2, column=1):
    spoilt = X.copy()
    spoilt[row, column] = value
    return spoilt


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_is_named_by_row_and_column(value):
    model = sx.LogisticRegression()
    with pytest.raises(NotFiniteError, match=r"X: row 2, column 1 is (NaN|infinity).*impute or drop.*TableEncoder"):
        model.fit(_with(value), y)
    with pytest.raises(NotFiniteError, match="row 2, column 1"):
        model.fit(csr_array(_with(value)), y)
    with pytest.raises(NotFiniteError, match="row 2, column 'height'"):
        model.fit(pd.DataFrame(_with(value), columns=["age", "height"]), y)
    model.fit(X, y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFiniteError, match="row 2, column 1"):
            method(_with(value))
        with pytest.raises(NotFiniteError, match="row 2, column 1"):
            method(csr_array(_with(value)))


@pytest.mark.parametrize(
    ("rows", "labels", "weight", "error", "message"),
    [
        (X, np.zeros(4), None, LabelError, "y: it has only one class, .*0.*two classes"),
        (X, None, None, LabelError, "y is None"),
        (X, [0, 1, None, 1], None, LabelError, "row 2 has no label"),
        (X, [0, 1, np.nan, 1], None, LabelError, "row 2 has no label"),
        (X, pd.Series(["a", "b", None, "b"]), None, LabelError, "row 2 has no label"),
        (X, [0.5, 1.5, 2.5, 3.5], None, LabelError, r"row 0 is 0\.5 .*classes, not measurements"),
        (X, np.eye(4), None, ValueError, "1d array"),
        (X, y[:3], None, ValueError, "inconsistent"),
        (X[:0], y[:0], None, ValueError, "0 sample"),
        (X[:, :0], y, None, ValueError, "0 feature"),
        (X[0], y, None, ValueError, "2D"),
        (X, y, [1, 1, -1, 1], WeightError, r"sample_weight: row 2 has -1\.0; give finite weights"),
        (X, y, [1, 1, np.nan, 1], WeightError, "row 2 has nan"),
        (X, y, [1, 1], WeightError, "one number per row"),
        (X, y, ["a", "b", "c", "d"], WeightError, "one number per row"),
        (X, y, np.zeros(4), WeightError, "zero"),
    ],
)
def test_data(rows, labels, weight, error, message):
    with pytest.raises(error, match=message):
        sx.LogisticRegression().fit(rows, labels, sample_weight=weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C: got 0; give a positive number, or np.inf"),
        ({"C": -1.0}, "C: got -1"),
        ({"C": np.nan}, "C: got nan"),
        ({"C": "big"}, "C: got 'big'"),
        ({"C": True}, "C: got True"),
        ({"tol": -1e-3}, "tol"),
        ({"tol": np.inf}, "tol"),
        ({"max_iter": -1}, "max_iter: got -1; give a whole number"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"solver": "magic"}, "solver: got 'magic'; choose one of auto, newton"),
        ({"solver": 3}, "solver: got 3"),
        ({"start": "middle"}, "start: got 'middle'"),
        ({"start": np.zeros((1, 9))}, r"start: .*\(1, 9\).*\(1, 3\)"),
        ({"start": np.full((1, 3), np.nan)}, "start"),
        ({"fit_intercept": "yes"}, "fit_intercept: got 'yes'"),
        ({"class_weight": "heavy"}, "class_weight: got 'heavy'"),
        ({"class_weight": {7: 1.0}}, r"class_weight: it names 7; use the labels \[0, 1\]"),
        ({"class_weight": [1, 2]}, "class_weight"),
        ({"penalty_factors": [1.0]}, "penalty_factors.*2 finite factors"),
        ({"penalty_factors": [1.0, -1.0]}, "penalty_factors"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        sx.LogisticRegression(**settings).fit(X, y)


def test_negative_class_weight():
    with pytest.raises(WeightError, match="class_weight: 1 has -2"):
        sx.LogisticRegression(class_weight={1: -2.0}).fit(X, y)


def test_wrong_number_of_columns_and_unfitted():
    with pytest.raises(NotFittedError):
        sx.LogisticRegression().predict(X)
    model = sx.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="3 features, but LogisticRegression is expecting 2"):
        model.predict(np.ones((2, 3)))


def test_every_input_error_says_three_things():
    with pytest.raises(InputError) as caught:
        sx.LogisticRegression(C=-1).fit(X, y)
    assert caught.value.argument == "C"
    assert caught.value.problem
    assert caught.value.remedy


def test_newton_refuses_too_many_parameters():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((6, 3100))
    with pytest.raises(ParameterError, match=r"'newton' needs few enough parameters.*'lbfgs' or 'auto'"):
        sx.LogisticRegression(solver="newton").fit(wide, [0, 1] * 3)


def test_huge_finite_rows_are_no_error():
    model = sx.LogisticRegression().fit(X, y)
    far = np.full((1, 2), 1.7e308)
    assert model.predict(far)[0] in (0, 1)
    assert np.all(np.isfinite(model.predict_proba(far)))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("size", [1e200, 1.79e308, 1e-310])
@pytest.mark.parametrize("kind", ["two values", "one row", "all rows"])
def test_no_certificate_has_a_bound_that_is_not_a_number(name, size, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    if kind == "one row":
        X[5, 1] = size
    else:
        X[:, 1] = np.sign(X[:, 1]) * size if kind == "two values" else X[:, 1] * min(size, 1e307)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            certificate = CLASSIFIERS[name]().fit(X, y).certificate_
        except InputError:
            return  # Rows that the classifier refuses have no certificate.
    for value, why in (
        (certificate.bound, certificate.bound_reason),
        (certificate.weight_error, certificate.weight_error_reason),
    ):
        assert value is None or np.isfinite(value)
        assert "nan" not in why
    assert "at most nan" not in str(certificate)
    assert certificate.bound is not None or certificate.bound_reason


@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearSVC(), sx.LeastSquaresClassifier()])
def test_entries_near_the_largest_float_give_no_warnings_of_numpy(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    X[3, 1], X[4, 1] = 1.7e308, -1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        certificate = model.fit(X, y).certificate_
    assert certificate.met or "column 1" in certificate.status
