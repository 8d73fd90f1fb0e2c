"""What columns are taken for: the rules, each at its edge."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from separatrix.base.errors import TableError
from separatrix.checks import check_table
from separatrix.table import Column, Schema, infer, read_table
from separatrix.table.infer import most_levels


def column(values, name="a", given=None):
    return infer(pa.table({name: values}), given=given).columns[0]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "number"),
        (["1", "2.5", "1e3"], "number"),
        (["1", "NA", "2"], "number"),
        (["1", "?", "n/a", "3"], "number"),
        ([True, False], "boolean"),
        (["true", "FALSE", None], "boolean"),
        (["yes", "no", "yes"], "category"),
        (["Y", "N", "Y"], "category"),
        (["1", "0", "1"], "number"),
        (["2020-01-01", "2020-01-02"], "date"),
        (["2020-01-01 10:00", "2020-01-02T11:30:00Z"], "date"),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "date"),
        ([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)], "date"),
        (["u", "v", "u"], "category"),
        (["None", "mild", "None"], "category"),
        (["u", "v"], "text"),
        (["1,5", "2,5", "1,5"], "text"),
        ([[1], [2]], "text"),
        ([datetime.time(1), datetime.time(2)], "text"),
        ([b"a", b"b"], "text"),
        ([5, 5, 5], "ignored"),
        (["x", "x", None], "ignored"),
        ([None, None], "ignored"),
        (["", "NA"], "ignored"),
        ([float("nan")] * 2, "ignored"),
    ],
)
def test_kinds(values, kind):
    assert column(pa.array(values)).kind == kind


def test_pandas_categories_are_seen_through():
    assert column(pa.array(["u", "v", "u"]).dictionary_encode()).levels == ("u", "v")
    assert column(pa.array(["1", "2", "1"]).dictionary_encode()).kind == "number"


def test_the_reference_is_the_first_level_in_alphabetical_order():
    assert column(["b", "c", "c", "a"]).levels == ("a", "b", "c")
    assert column(["b", "B", "b", "é"]).levels == ("B", "b", "é")


def test_how_many_levels_a_category_has_at_most():
    for n in (100, 2000, 40_000):
        most = most_levels(n)
        assert column([f"l{i % most}" for i in range(n)]).kind == "category"
        found = column([f"l{i % (most + 1)}" for i in range(n)])
        assert found.kind == "text"
        assert f"{most + 1} different texts" in found.note
    assert most_levels(40_000) == 1000


def test_whole_numbers_stay_numbers_unless_the_schema_says_category():
    assert column([1, 2, 3, 1]).kind == "number"
    said = column([1, 2, 3, 1], given=Schema((Column("a", "category"),)))
    assert said.levels == ("1", "2", "3")


def test_a_reference_that_was_asked_for():
    asked = Schema((Column("a", "category", preferred="v"),))
    assert column(["u", "u", "v"], given=asked).levels == ("v", "u")
    with pytest.raises(TableError, match="the reference 'v' of column 'a' is in no row"):
        column(["u", "u", "w"], given=asked)


def test_a_category_that_was_asked_for_may_have_levels_of_one_row():
    asked = Schema((Column("a", "category"),))
    assert column(["u", "v"], given=asked).levels == ("u", "v")
    assert column([f"{i}" for i in range(1001)], given=asked).kind == "text"


@pytest.mark.parametrize(
    ("name", "values", "part"),
    [
        ("n", range(1, 31), "counts the rows"),
        ("n", range(30), "counts the rows"),
        ("user_id", range(100, 400, 10), "never repeat"),
        ("ID", range(100, 400, 10), "never repeat"),
        ("customerId", range(100, 400, 10), "never repeat"),
        ("paid", range(100, 400, 10), ""),
        ("height", range(100, 400, 10), ""),
        ("id", [1, 1, *range(2, 30)], ""),
    ],
)
def test_what_looks_like_an_index_is_noted_and_kept(name, values, part):
    found = column([float(v) for v in values], name)
    assert found.kind == "number"
    assert part in found.note
    assert bool(found.note) == bool(part)


def test_an_index_without_a_name_is_left_out():
    assert column(list(range(30)), "").kind == "ignored"


def test_a_stray_text_among_numbers_is_no_category():
    cells = [str(i % 9) for i in range(100_000)]
    cells[70_000] = "oops"
    cells[80_000] = "n.a."
    found = column(cells)
    assert found.kind == "text"
    assert "row 70001 is 'oops', not a number, where nearly all others are (2 such cells in all)" in found.note
    assert column(["0", "1", "2", "3+"] * 5).kind == "category"  # a quarter is no slip


def test_the_whole_column_is_judged_not_its_start():
    n = 200_000
    early = ["1"] * n
    assert column([*early, "0.5"]).kind == "number"
    assert column(["true"] * n + ["no"]).kind == "category"
    assert column(["2020-01-01"] * n + ["soon"]).kind == "category"


def test_infinite_numbers_are_numbers_here_and_refused_later():
    assert column([1.0, np.inf, -np.inf] * 10).kind == "number"


@pytest.mark.parametrize("mark", ["?", "-", "n/a", "null"])
def test_a_level_that_may_mean_a_missing_value_gets_a_note(mark):
    table = pa.table({"c": ["red", mark, "blue", "red", "blue"] * 8, "a": list(range(40)), "y": ["u", "v"] * 20})
    for how in ({}, {"category": "c"}):
        (note,) = [note for note in read_table(table, "y", drop="a", **how).notes if "missing" in note]
        assert f"its level {mark!r}, in 8 rows, may mean a missing value; if it does, give na={mark!r}" in note
        assert not [n for n in read_table(table, "y", na=mark, missing="drop", **how).notes if "may mean" in n]
    (finding,) = [finding for finding in check_table(table, "y") if finding.check == "marks"]
    assert (finding.severity, f"na={mark!r}" in finding.remedy) == ("note", True)


def test_no_note_on_minus_beside_plus():
    table = pa.table({"c": ["+", "-", "-", "+"] * 5, "a": list(range(20)), "y": ["u", "v"] * 10})
    assert not [note for note in read_table(table, "y").notes if "missing" in note]


def test_a_reference_of_very_few_rows_gets_a_note():
    c = ["1.Liga", *["red", "blue", "red"] * 13]
    table = pa.table({"c": c, "y": ["u", "v"] * 20})
    (note,) = read_table(table, "y").notes
    assert "The reference '1.Liga' of column 'c' is in 1 of the rows fitted" in note
    assert "give reference={'c': 'red'}" in note
    assert read_table(table, "y", reference={"c": "red"}).notes == ()
    assert read_table(table, "y", reference={"c": "1.Liga"}).notes == ()
