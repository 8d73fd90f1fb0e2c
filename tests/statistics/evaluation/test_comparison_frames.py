"""A comparison on data frames is that on the same table in a file."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError, TableError
from separatrix.statistics.comparison import compare_table
from separatrix.tables.read_table import read_raw


def people(n=90):
    """A frame with a category, some missing ages and text labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "c": rng.choice(list("uvwx"), n, p=[0.5, 0.4, 0.07, 0.03])})
    labels = np.where(frame["a"] + (frame["c"] == "v") + rng.normal(size=n) > 0, "yes", "no")
    return frame, labels


@pytest.mark.parametrize(
    "kind", [lambda f: f, lambda f: f.astype({"c": "category"}), pl.from_pandas, pa.Table.from_pandas]
)
def test_a_frame_is_compared_as_the_same_table_in_a_file_is(kind, tmp_path):
    frame, labels = people()
    frame.assign(y=labels).to_csv(tmp_path / "people.csv", index=False)
    names = ["logistic", "lda"]
    expected = compare_table(read_raw(tmp_path / "people.csv", "y"), cv=3, seed=5, only=names)
    found = sx.compare(kind(frame), labels, cv=3, seed=5, only=names)
    for name in names:
        assert found[name].accuracy.by_fold == expected[name].accuracy.by_fold
        assert found[name].log_loss.by_fold == expected[name].log_loss.by_fold
        assert found[name].classes.tolist() == ["no", "yes"]


@pytest.mark.parametrize("missing", ["impute", "indicator", "drop"])
def test_missing_values_of_a_frame_are_treated_as_those_of_a_file(missing):
    frame, labels = people()
    frame.loc[::7, "a"] = np.nan
    expected = compare_table(read_raw(frame.assign(y=labels), "y", missing=missing), cv=3, only=["logistic"])
    found = sx.compare(frame, labels, cv=3, only=["logistic"], missing=missing)
    assert found["logistic"].log_loss.by_fold == expected["logistic"].log_loss.by_fold
    with pytest.raises(TableError, match="missing='impute'"):
        sx.compare(frame, labels, cv=3)
    numbers = sx.compare(frame[["a"]], labels, cv=3, only=["logistic"], missing=missing)
    assert numbers["logistic"].fitted


@pytest.mark.parametrize("kind", [pl.Series, pd.Series, pd.Categorical, pa.array, list])
def test_labels_of_a_frame_may_be_of_any_kind(kind):
    frame, labels = people()
    found = sx.compare(pl.from_pandas(frame), kind(labels), cv=2, only=["lda"])["lda"]
    assert found.classes.tolist() == ["no", "yes"]
    assert found.fitted


def test_a_column_of_a_frame_may_have_the_name_of_the_labels():
    frame, labels = people()
    renamed = frame.rename(columns={"a": "y", "c": "y_"})
    found = sx.compare(renamed, labels, cv=3, only=["lda"])["lda"]
    assert found.log_loss.by_fold == sx.compare(frame, labels, cv=3, only=["lda"])["lda"].log_loss.by_fold


def test_frames_that_cannot_be_compared():
    frame, labels = people()
    with pytest.raises(ParameterError, match="one row for each label"):
        sx.compare(frame, labels[:-1])
    with pytest.raises(LabelError, match="one class only"):
        sx.compare(frame, ["yes"] * len(frame))
    with pytest.raises(ParameterError, match="missing: got 'impute', and X is not a data frame"):
        sx.compare(np.eye(4), [0, 0, 1, 1], missing="impute")
    with pytest.raises(ParameterError, match="missing: got 'guess'"):
        sx.compare(frame, labels, missing="guess")
