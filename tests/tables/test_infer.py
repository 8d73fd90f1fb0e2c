"""What columns are taken for: the rules, each at its edge."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from separatrix.core.base.errors import TableError
from separatrix.core.base.messages import solving
from separatrix.statistics.checks import check
from separatrix.tables.cells import READINGS
from separatrix.tables.infer import infer, most_levels
from separatrix.tables.read_table import read_table
from separatrix.tables.schema import Column, Schema
from separatrix.tables.seen_cells import unlike


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


@pytest.mark.parametrize(
    ("values", "stray", "unlike"),
    [
        (["2021-01-10", "2021-02-11 10:30", "2020-02-29T23:59Z"], "2021-02-30", "not a date"),
        (["2021-01-10", "2021-02-11", "2021-03-12"], "10.1.2021", "not a date"),
        (["true", "False", "TRUE"], "ture1", "not true or false"),
        (["true", "False", "TRUE"], "1", "not true or false"),
    ],
)
def test_a_stray_text_among_dates_or_truth_values_is_no_category(values, stray, unlike):
    cells = values * 20
    cells[37], cells[38] = stray, None
    found = column(cells)
    assert found.kind == "text"
    expected = f"row 38 is {stray!r}, {unlike}, where nearly all others are; correct it, or make the column a category"
    assert expected in found.note
    assert column(cells, given=Schema((Column("a", "category"),))).kind == "category"
    assert column([*values * 6, stray] * 5).kind == "category"  # one in 19 is more than 5 %


@pytest.mark.parametrize("values", [["2021-01-10", "2021-02-11", "2021-03-12"], ["true", "false", "True"]])
def test_a_stray_word_among_dates_or_truth_values_may_mean_a_missing_value(values):
    cells = values * 20
    cells[37] = "unknown"
    table = pa.table({"a": cells, "x": [k % 7 for k in range(60)], "y": ["u", "v"] * 30})
    with pytest.raises(TableError, match="if it means a missing value, give na='unknown'") as refused:
        read_table(table, "y")
    assert [setting.python for setting in refused.value.solving] == ["na='unknown'", "missing='impute'"]
    assert read_table(table, "y", na="unknown", missing="impute").names == ("a", "x")


def test_categories_may_have_dates_and_truth_values_among_their_levels():
    for few in ("2021-01-10", "true", "5"):
        assert column(["red", "blue", "green"] * 6 + [few] * 2).kind == "category"
        assert column([few] * 18 + ["red", "blue"]).kind == "category"  # a tenth is no slip


def test_missing_values_are_not_counted_among_the_numbers():
    """Of 100 cells 96 have no value, so the four others are not strays among numbers."""
    assert column(["?"] * 96 + ["red", "blue"] * 2).kind == "category"
    assert "row 101 is 'red', not a number" in column(["?"] * 50 + ["1", "2"] * 25 + ["red"]).note


def test_dates_with_a_mark_in_more_than_a_few_rows_get_a_note():
    found = column(["2021-01-10", "2021-02-11", "2021-03-12", "-"] * 10)
    assert found.kind == "category"
    assert "its texts are dates, but for '-' in 10 rows; if that means a missing value, give na='-'" in found.note


def test_the_whole_column_is_judged_not_its_start():
    n = 200_000
    early = ["1"] * n
    assert column([*early, "0.5"]).kind == "number"
    assert column(["true"] * n + ["no"] * n).kind == "category"
    assert column(["2020-01-01"] * n + ["soon"] * n).kind == "category"


def test_infinite_numbers_are_numbers_here_and_refused_later():
    assert column([1.0, np.inf, -np.inf] * 10).kind == "number"


@pytest.mark.parametrize("mark", ["?", "-", "n/a", "null"])
def test_a_level_that_may_mean_a_missing_value_gets_a_note(mark):
    table = pa.table({"c": ["red", mark, "blue", "red", "blue"] * 8, "a": list(range(40)), "y": ["u", "v"] * 20})
    for how in ({}, {"category": "c"}):
        (note,) = [note for note in read_table(table, "y", drop="a", **how).notes if "missing" in note]
        assert f"its level {mark!r}, in 8 rows, may mean a missing value; if it does, give na={mark!r}" in note
        assert not [n for n in read_table(table, "y", na=mark, missing="drop", **how).notes if "may mean" in n]
    (finding,) = [finding for finding in check(table, target="y") if finding.check == "marks"]
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


def test_the_patterns_of_strays_agree_with_what_is_read():
    days = [f"{y:04}-{m:02}-{d:02}" for y in (0, 1900, 2000, 2023, 2024) for m in range(14) for d in range(33)]
    times = ["10", "10:30", "24:00", "10:60", "10:30:59", "10:30:60", "10:30:20.", "10:30:20.123456", "1030"]
    zones = ["", "Z", "z", "+02", "+0200", "-23:59", "+24:00", "+02:60", " Z"]
    instants = [f"2021-01-01{mark}{time}{zone}" for mark in " Tt" for time in times for zone in zones]
    words = ["true", "False", "TRUE", "ture", "yes", "2021", "2021-1-1", "20210101", "2021-01-01Z", "5", "-.5e3", "1,5"]
    texts = [*days, *instants, "2021-01-01 10:30:20.1234567", *words]
    for kind, reading in READINGS.items():
        odd = unlike(pa.chunked_array([texts]), kind)
        for text, other in zip(texts, odd.tolist(), strict=True):
            assert other != _reads(reading, text), (kind, text)


def _reads(reading, text):
    try:
        reading("schema", "a", pa.chunked_array([[text]]))
    except TableError:
        return False
    return True


def refused(columns):
    with pytest.raises(TableError) as error:
        read_table(pa.table({**columns, "y": ["u", "v", "w"] * 2}), "y")
    return str(error.value), [setting.python for setting in error.value.solving]


@pytest.mark.parametrize(
    "values", [["1,234", "900", "2,500"], ["-1,234,567", "2,500.75", "0"], ["12,34,567", "1", "2"]]
)
def test_thousands_separators_are_not_taken_for_decimal_commas(values):
    text, settings = refused({"a": values * 2, "b": ["1", "2", "3"] * 2})
    assert f"such as {values[0]!r}, which look like thousands separators; remove them from the file" in text
    assert "category='a'" in text
    assert "decimal" not in text
    assert not settings


@pytest.mark.parametrize("values", [["1,5", "900", "2,25"], ["1,234", "0,500", "2,500"], ["-1,5e3", ",5", "2"]])
def test_decimal_commas_are_suggested(values):
    for others in (
        ["1", "2", "3"],
        ["1.2.2024", "31.12.2024", "3.4.2025"],
        ["2.0.1", "10.0.0.1", "3.4.5"],
        list("aba"),
    ):
        note = infer(pa.table({"a": values * 2, "b": others * 2})).columns[0].note
        assert "if the commas are decimal marks of a text file, give decimal=','" in note
        assert [setting.python for setting in solving(note)] == ["decimal=','"]


@pytest.mark.parametrize("others", [["1.5", "2", "3"], ["1.0", "2.0", "3.0"], ["1.234.567", "2", "3"], [1, 2, 3]])
def test_decimal_commas_are_not_suggested_beside_numbers_that_they_would_spoil(others):
    note = infer(pa.table({"b": others * 2, "a": ["1,5", "2", "2,25"] * 2})).columns[1].note
    assert "such as '1,5', but those of other columns are not" in note
    assert not solving(note)


def test_commas_like_thousands_separators_are_decimal_beside_decimal_commas():
    text, settings = refused({"a": ["1,234", "2,500", "7"] * 2, "b": ["1,5", "2", "2,25"] * 2})
    assert settings == ["decimal=','"]
    assert "thousands" not in text
    note = infer(pa.table({"a": ["1,234,567", "2,500", "7"] * 2, "b": ["1,5", "2", "2,25"] * 2})).columns[0].note
    assert "thousands" in note


def test_commas_and_points_in_one_column():
    text, settings = refused({"a": ["1.234,5", "2", "2,25"] * 2})
    assert "its numbers are written with commas, such as '1.234,5'; write them without thousands separators" in text
    assert "decimal" not in text
    assert not settings
