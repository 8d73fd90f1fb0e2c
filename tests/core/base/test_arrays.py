"""Tables that are no numbers yet, told by column; and rows that carry the names of their columns."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.base.arrays import NamedRows, as_floats
from separatrix.core.base.errors import InputError, LabelError

FRAME = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "m"]})
Y = ["no", "no", "yes", "yes"]
SEX = r"^X: row 0, column 'sex' is 'f', not a number; .*TableEncoder.*read_table"


@pytest.mark.parametrize(
    "frame",
    [FRAME, FRAME.astype({"sex": "category"}), pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)],
    ids=["pandas", "categorical", "polars", "arrow"],
)
def test_a_column_of_text_is_named(frame):
    with pytest.raises(InputError, match=SEX):
        sx.LogisticRegression().fit(frame, Y)
    with pytest.raises(InputError, match=SEX):
        as_floats(frame)


def test_wherever_rows_come_in():
    with pytest.raises(InputError, match=SEX):
        sx.Perceptron().partial_fit(FRAME, Y, classes=["no", "yes"])
    with pytest.raises(InputError, match=SEX):
        sx.novikoff_bound(FRAME, Y)
    model = sx.LogisticRegression().fit(FRAME[["age"]], Y)
    with pytest.raises(InputError, match=r"row 0, column 'age' is 'f'"):
        model.predict(FRAME[["sex"]].rename(columns={"sex": "age"}))
    with pytest.raises(InputError, match=r"row 1, column 1 is 'm'"):
        sx.LogisticRegression().fit([[1, 2.0], [3, "m"]], ["u", "v"])


def test_dates_are_named_and_other_errors_stay():
    dated = FRAME[["age"]].assign(born=pd.to_datetime(["2020-01-01"] * 4))
    with pytest.raises(InputError, match="column 'born' holds dates"):
        sx.LogisticRegression().fit(dated, Y)
    with pytest.raises(TypeError, match="float"):
        sx.LogisticRegression().fit(np.array([[{"a": 1}], [2]], dtype=object), ["u", "v"])
    with pytest.raises(ValueError, match="features"):
        sx.LogisticRegression().fit([[1.0], [2.0]], ["u", "v"]).predict([[1.0, 2.0]])


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_time_differences_are_named(make):
    waits = FRAME[["age"]].assign(wait=pd.to_timedelta([1, 2, 3, 4], unit="h"))
    for columns in (["age", "wait"], ["wait"]):
        with pytest.raises(InputError, match=r"^X: column 'wait' holds time differences, not numbers; .*total_seconds"):
            sx.LogisticRegression().fit(make(waits[columns]), Y)


@pytest.mark.parametrize(("kind", "what"), [("m8[s]", "time differences"), ("M8[s]", "dates")])
def test_arrays_of_dates_and_time_differences(kind, what):
    X = np.arange(8).reshape(4, 2).astype(kind)
    model = sx.LogisticRegression().fit(np.arange(8.0).reshape(4, 2) % 3, Y)
    for refused in (lambda: sx.LogisticRegression().fit(X, Y), lambda: model.predict(X), lambda: as_floats(X)):
        with pytest.raises(InputError, match=f"^X: column 0 holds {what}, not numbers"):
            refused()


@pytest.mark.parametrize("estimator", [sx.LogisticRegression(), sx.Perceptron(), sx.Basis(["x0"])])
def test_two_columns_of_one_name(estimator):
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) % 5, columns=["a", "b", "a"])
    with pytest.raises(InputError, match=r"^X: 2 columns are called 'a'; give each its own name"):
        estimator.fit(frame, Y)


def test_a_warning_through_a_pipeline_names_columns():
    model = make_pipeline(sx.TableEncoder(), sx.LogisticRegression(C=np.inf))
    with pytest.warns(sx.errors.SeparationWarning, match="column 'age' alone separates"):
        model.fit(FRAME, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(FRAME).tolist() == Y
        assert model[1].predict(np.array([[30.0, 0.0]])).tolist() == ["no"]


def test_named_rows_are_arrays_in_all_else():
    X = NamedRows.of(np.arange(6.0).reshape(3, 2), ["a", "b"])
    for made in (X[1:], X[:, 0], X + 1, X @ np.ones(2), X.mean(axis=0), np.asarray(X)):
        assert type(made) is np.ndarray
    assert X.sum() == 15.0
    assert np.shares_memory(X, X[1:])


@pytest.mark.parametrize(
    "estimator", [sx.LogisticRegression(), sx.Perceptron(), sx.LinearDiscriminantAnalysis(), sx.Basis(["x0"])]
)
def test_masked_entries_are_refused(estimator):
    rows = np.arange(12.0).reshape(4, 3) % 5
    X = np.ma.masked_array(rows, mask=np.eye(4, 3))
    with pytest.raises(InputError, match=r"^X: 3 of its 12 entries are masked; .*X\.filled\(np\.nan\)"):
        estimator.fit(X, Y)
    with pytest.raises(InputError, match="are masked"):
        sx.LogisticRegression().fit(rows, Y).predict(X)
    with pytest.raises(InputError, match="1 of its 12 entries is masked"):
        as_floats(np.ma.masked_equal(np.arange(12.0).reshape(4, 3), 7))
    with pytest.raises(LabelError, match=r"^y: row 2 is masked"):
        sx.LogisticRegression().fit(rows, np.ma.masked_array([0, 1, 0, 1], mask=[0, 0, 1, 0]))


def test_a_masked_array_without_masked_entries_is_an_array():
    rows = np.arange(12.0).reshape(4, 3) % 5
    model = sx.LogisticRegression().fit(np.ma.masked_array(rows), Y)
    assert (model.coef_ == sx.LogisticRegression().fit(rows, Y).coef_).all()
