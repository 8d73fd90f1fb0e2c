"""Columns of every type as numbers and as labels."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from separatrix.errors import TableError
from separatrix.table.encode import features, labels


def numbers(column):
    return features("t", pa.table({"a": column}), ["a"])[:, 0].tolist()


def classes(column):
    return labels("t", pa.table({"y": column}).column("y"), "y")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2], pa.uint8()), [1.0, 2.0]),
        (pa.array([2**60 + 1]), [float(2**60 + 1)]),
        (pa.array([0.5], pa.float32()), [0.5]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array([decimal.Decimal("1.25")]), [1.25]),
        (pa.array([" 1.5 ", "-2", "+3e2"]), [1.5, -2.0, 300.0]),
        (pa.array(["True", "FALSE", "true"]), [1.0, 0.0, 1.0]),
        (pa.array(["1", "2", "1"]).dictionary_encode(), [1.0, 2.0, 1.0]),
    ],
)
def test_numbers(column, expected):
    assert numbers(column) == expected


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime.date(2020, 1, 1)]),
        pa.array([[1.0]]),
        pa.array(["a"]).dictionary_encode(),
        pa.array([b"1"]),
    ],
)
def test_what_holds_no_numbers(column):
    with pytest.raises(TableError, match=r"--drop a"):
        numbers(column)


@pytest.mark.parametrize("column", [pa.array([1.0, None]), pa.array([1.0, np.nan]), pa.nulls(2), pa.array(["1", " "])])
def test_holes_are_refused(column):
    with pytest.raises(TableError, match="has no value"):
        numbers(column)


@pytest.mark.parametrize(
    ("column", "expected", "kind"),
    [
        (["b", "a"], ["b", "a"], "U"),
        (["10", "-2", "0"], [10, -2, 0], "i"),
        (["007", "7"], ["007", "7"], "U"),
        (["1.0", "2.0"], [1.0, 2.0], "f"),
        (["1", "2.5e3", ".5"], [1.0, 2500.0, 0.5], "f"),
        (["true", "False"], [True, False], "b"),
        (["1", "x"], ["1", "x"], "U"),
        (["99999999999999999999", "1"], [99999999999999999999.0, 1.0], "f"),
        (["x" * 300, "b"], ["x" * 300, "b"], "O"),
        ([True, False], [True, False], "b"),
        ([3, 4], [3, 4], "i"),
        ([3.0, 4.0], [3.0, 4.0], "f"),
        (["-", "+"], ["-", "+"], "U"),
    ],
)
def test_labels_keep_their_type(column, expected, kind):
    found = classes(pa.array(column))
    assert found.tolist() == expected
    assert found.dtype.kind == kind


def test_labels_in_chunks_and_dictionaries():
    column = pa.chunked_array([["a", "b"], ["b"]])
    assert labels("t", column, "y").tolist() == ["a", "b", "b"]
    assert labels("t", column.dictionary_encode(), "y").tolist() == ["a", "b", "b"]


def test_labels_that_are_none():
    with pytest.raises(TableError, match="row 2, target column 'y' has no label"):
        classes(pa.array(["a", None]))
    with pytest.raises(TableError, match="has no label"):
        classes(pa.array([np.nan, 1.0]))
    with pytest.raises(TableError, match="makes no labels"):
        classes(pa.array([datetime.date(2020, 1, 1)]))
