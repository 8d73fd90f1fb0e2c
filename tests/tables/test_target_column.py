"""The target's column as labels."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from separatrix.core.base.errors import LabelError, TableError
from separatrix.tables.target_column import labels, refuse_measurements


def classes(column):
    return labels("t", pa.table({"y": column}).column("y"), "y")


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
    assert classes(pa.array(["a", "b"], pa.string_view())).tolist() == ["a", "b"]


def test_labels_that_are_none():
    with pytest.raises(TableError, match="row 2, target column 'y' has no label"):
        classes(pa.array(["a", None]))
    with pytest.raises(TableError, match="has no label"):
        classes(pa.array([np.nan, 1.0]))
    with pytest.raises(TableError, match="cannot be labels"):
        classes(pa.array([datetime.date(2020, 1, 1)]))


@pytest.mark.parametrize(
    ("y", "part"),
    [
        ([1, 1], "every row has the same label, 1"),
        (["a", "a"], "every row has the same label, 'a'"),
        ([1.0, 2.5], "row 12 is 2.5, a measurement"),
        (list(range(30)), "30 different labels in 30 rows"),
    ],
)
def test_what_makes_no_classes(y, part):
    with pytest.raises(LabelError, match=part):
        refuse_measurements("t", np.array(y), "y", np.arange(11, 11 + len(y)), 20)


def test_whole_decimals_make_classes():
    refuse_measurements("t", np.array([1.0, 2.0]), "y", np.array([1, 2]), 20)


def test_labels_that_floats_cannot_tell_apart_stay_text():
    spelled = ["9007199254740993123", "9007199254740993124", "5"]
    assert labels("a table", pa.chunked_array([spelled]), "y").tolist() == spelled
    assert labels("a table", pa.chunked_array([["1e400", "2"]]), "y").tolist() == ["1e400", "2"]
    assert labels("a table", pa.chunked_array([["1.0", "1"]]), "y").tolist() == [1.0, 1.0]
