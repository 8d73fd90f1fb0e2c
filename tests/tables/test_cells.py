"""Columns of every type as numbers, truth values, days and text."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from separatrix.core.base.errors import TableError
from separatrix.tables.cells import NO_NUMBER, codes, days, numbers, texts, truths


def chunked(column):
    return pa.chunked_array([column])


def read(reading, column):
    return reading("t", "a", chunked(column)).tolist()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2], pa.uint8()), [1.0, 2.0]),
        (pa.array([2**60 + 1]), [float(2**60 + 1)]),
        (pa.array([0.5], pa.float32()), [0.5]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array([decimal.Decimal("1.25")]), [1.25]),
        (pa.array([" 1.5 ", "-2", "+3e2"]), [1.5, -2.0, 300.0]),
        (pa.array(["1", "2"], pa.large_string()), [1.0, 2.0]),
        (pa.array(["1", " 2"], pa.string_view()), [1.0, 2.0]),
        (pa.array(["1", "2", "1"]).dictionary_encode(), [1.0, 2.0, 1.0]),
    ],
)
def test_numbers(column, expected):
    assert read(numbers, column) == expected


@pytest.mark.parametrize("spelling", [*NO_NUMBER, " NA "])
def test_no_number_by_any_spelling(spelling):
    assert np.isnan(read(numbers, pa.array(["1", spelling]))).tolist() == [False, True]
    assert np.isnan(read(truths, pa.array(["true", spelling]))).tolist() == [False, True]
    assert np.isnan(read(days, pa.array(["2020-01-01", spelling]))).tolist() == [False, True]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime.date(2020, 1, 1)]),
        pa.array([[1.0]]),
        pa.array(["a"]).dictionary_encode(),
        pa.array([b"1"]),
        pa.array(["0x10"]),
        pa.array(["1", "2", "1,5"]),
    ],
)
def test_what_holds_no_numbers(column):
    with pytest.raises(TableError, match=r"drop='a'"):
        read(numbers, column)


def test_the_first_cell_that_is_no_number_is_named():
    cells = ["1"] * 1000
    cells[613] = cells[907] = "x" * 100
    with pytest.raises(TableError, match=r"row 614, column 'a' is 'x+…', not a number"):
        read(numbers, pa.array(cells))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["True", "FALSE", "true"]), [1.0, 0.0, 1.0]),
        (pa.array([1, 0]), [1.0, 0.0]),
        (pa.array(["1", "0"]), [1.0, 0.0]),
        (pa.array([False, True]), [0.0, 1.0]),
    ],
)
def test_truth_values(column, expected):
    assert read(truths, column) == expected


@pytest.mark.parametrize("column", [pa.array(["yes"]), pa.array([2]), pa.array([datetime.date(2020, 1, 1)])])
def test_what_is_no_truth_value(column):
    with pytest.raises(TableError, match="'a'"):
        read(truths, column)


NOON = datetime.datetime(1970, 1, 2, 12)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([datetime.date(1970, 1, 3), datetime.date(1969, 12, 31)]), [2.0, -1.0]),
        (pa.array([NOON], pa.timestamp("ns")), [1.5]),
        (pa.array([NOON], pa.timestamp("s")), [1.5]),
        (pa.array([NOON], pa.timestamp("ms", "Europe/Prague")), [1.5]),
        (pa.array([datetime.date(1970, 1, 3)], pa.date64()), [2.0]),
        (
            pa.array(["1970-01-02T12:00Z", "1970-01-02 13:00+01:00", "1970-01-02 12:00", "1970-01-03"]),
            [1.5, 1.5, 1.5, 2],
        ),
    ],
)
def test_days(column, expected):
    assert read(days, column) == expected


@pytest.mark.parametrize("column", [pa.array(["2020-13-01"]), pa.array(["soon"]), pa.array([3]), pa.array([True])])
def test_what_is_no_date(column):
    with pytest.raises(TableError, match="'a'"):
        read(days, column)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([3, None], ["3", None]),
        ([3.0, float("nan"), 0.5], ["3", None, "0.5"]),
        ([True, False], ["true", "false"]),
        ([decimal.Decimal("3.00")], ["3"]),
        ([datetime.date(2020, 1, 2)], ["2020-01-02"]),
        (["a", None], ["a", None]),
    ],
)
def test_text(column, expected):
    assert texts("t", "a", chunked(pa.array(column))).to_pylist() == expected


def test_nested_values_are_no_text():
    with pytest.raises(TableError, match="holds list"):
        texts("t", "a", chunked(pa.array([[1]])))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_codes(kind):
    column = pa.array(["v", "u", None, "w"], kind)
    for each in (column, column.cast(pa.string()).dictionary_encode()):
        found, missing = codes("t", "a", chunked(each), ("u", "v"))
        assert found.tolist() == [1, 0, -1, -1]
        assert missing.tolist() == [False, False, True, False]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_as_categories_do_not_tell_their_unit(unit):
    """Arrow's own text has three, six or nine places."""
    later = NOON.replace(microsecond=250_000)
    column = pa.chunked_array([pa.array([NOON, later, None], pa.timestamp(unit))])
    plain = [str(NOON), f"{NOON}.25", None]
    assert texts("t", "a", column).to_pylist() == plain
    world = pa.chunked_array([pa.array([NOON, later, None], pa.timestamp(unit, "Europe/Prague"))])
    assert texts("t", "a", world).to_pylist() == [text and f"{text}Z" for text in plain]


def test_zero_has_one_spelling_as_a_category():
    assert texts("t", "a", pa.chunked_array([[0.0, -0.0]])).to_pylist() == ["0", "0"]
