"""Cells as the user says they are meant: missing values, dates, kinds of columns, quotes."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import Column, Schema, check
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.formats.source import Spelling
from separatrix.tables.read_table import read_rows, read_table

from .files import write

FORMS = ("%d.%m.%Y", "%m/%d/%y", "%Y%m%d", "%d %B %Y", "%d-%m-%Y %H:%M", "%Y-%m-%dT%H:%M:%S.%f%z")


@pytest.mark.parametrize("mark", ["-", "?", "n.a.", "-999", "x,y", "."])
@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_a_text_that_means_nothing_is_a_missing_value(tmp_path, mark, ending):
    """In numbers, in categories and in labels, as if the cells were empty."""
    a, b, y = ["1", mark, "2", "3", "4"], ["u", "v", mark, "u", "v"], ["p", "q", "p", "q", mark]
    frame = pd.DataFrame({"a": a, "b": b, "y": y})
    blank = frame.where(frame != mark, None)
    if ending == "csv":
        data, expected = tmp_path / "t.csv", tmp_path / "e.csv"
        frame.to_csv(data, index=False)
        blank.to_csv(expected, index=False)
    elif ending == "parquet":
        data, expected = tmp_path / "t.parquet", tmp_path / "e.parquet"
        frame.to_parquet(data)
        blank.to_parquet(expected)
    else:
        data, expected = frame, blank
    found, wanted = (
        read_table(data, "y", missing="impute", na=mark),
        read_table(expected, "y", missing="impute"),
    )
    assert found.names == wanted.names
    assert found.X.tolist() == wanted.X.tolist()
    assert found.y.tolist() == wanted.y.tolist() == ["p", "q", "p", "q"]
    assert read_rows(data, wanted.encoder, na=[mark]).X.tolist() == read_rows(expected, wanted.encoder).X.tolist()


def test_a_number_that_means_nothing_in_typed_columns():
    frame = pd.DataFrame({"a": [1.0, -999.0, 3.0], "k": [1, 2, -999], "y": ["u", "v", "v"]})
    table = read_table(frame, "y", missing="impute", na=["-999", "none of this"])
    assert table.X.tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 1.5]]


def test_spaces_around_it_do_not_matter(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1, u\n - ,v\n3,v\n")
    assert np.isnan(read_table(path, "y", missing="drop", na=" -").X).sum() == 0
    assert check(path, target="y", na="-").of("missing")[0].facts["missing"] == {"a": 1}


@settings(deadline=None)
@given(st.lists(st.integers(0, 20_000), min_size=3, max_size=9, unique=True), st.sampled_from(FORMS))
def test_dates_in_any_form_are_the_days_of_iso(days, form):
    dates = [datetime(1990, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in days]
    texts = [date.strftime(form) for date in dates]
    labels = ["u", "v", "w"] * 3
    frame = pd.DataFrame({"day": texts, "y": labels[: len(texts)]})
    iso = pd.DataFrame({"day": [date.date().isoformat() for date in dates], "y": frame["y"]})
    expected = read_table(iso, "y").X.ravel().tolist()
    assert read_table(frame, "y", date_format={"day": form}).X.ravel().tolist() == expected
    assert read_table(frame, "y", date_format=form).X.ravel().tolist() == expected


def test_one_form_for_all_columns_that_hold_such_dates(tmp_path):
    rows = "".join(f"{k:02d}.02.2024,2024-03-{k:02d},{k % 3}.5,{'pq'[k % 2]},{'uv'[k % 2]}\n" for k in range(1, 13))
    path = write(tmp_path / "t.csv", "a,b,c,d,y\n" + rows)
    schema = read_table(path, "y", date_format="%d.%m.%Y").schema
    assert [column.kind for column in schema.columns] == ["date", "date", "number", "category"]
    mixed = write(tmp_path / "m.csv", "a,y\n01.02.2024,u\n02.02.2024,v\n2024-02-03,u\n")
    for form in ("%d.%m.%Y", {"a": "%d.%m.%Y"}):
        with pytest.raises(TableError, match=r"row 3, column 'a' is '2024-02-03', not a date of the form %d\.%m\.%Y"):
            read_table(mixed, "y", date_format=form)
    with pytest.raises(ParameterError, match=r"date_format: no column of .* holds dates of the form '%d/%m/%Y'"):
        read_table(path, "y", date_format="%d/%m/%Y")
    with pytest.raises(TableError, match="it has no column 'born'"):
        read_table(path, "y", date_format={"born": "%d/%m/%Y"})


@pytest.mark.parametrize("form", ["nope", "%d.%m", "", 7, "%Q", {"a": "%H:%M"}, "%d.%m.%Y\0"])
def test_forms_that_are_none(form):
    with pytest.raises(ParameterError, match=r"^date_format: got "):
        Spelling(date_format=form)


@pytest.mark.parametrize("given", [{"na": 7}, {"na": [None]}, {"header": "no"}, {"quote": "''"}, {"quote": ","}])
def test_other_marks_that_are_none(given):
    with pytest.raises(ParameterError, match=f"^{next(iter(given))}: got "):
        Spelling(**given)


def test_kinds_by_name(tmp_path):
    path = write(
        tmp_path / "t.csv", 'zip,"a,b",age,y\n' + "".join(f"{k % 2},{k},{k % 5},{'uv'[k % 2]}\n" for k in range(9))
    )
    assert read_table(path, "y", category="zip,age").names == ("zip=1", "a,b", "age=1", "age=2", "age=3", "age=4")
    assert read_table(path, "y", category=["zip"], drop="a,b").names == ("zip=1", "age")
    assert read_table(path, "y", drop='zip,"a,b"').names == ("age",)
    assert read_table(path, "y", category="zip", number="a,b", drop="age").names == ("zip=1", "a,b")
    listed = Schema((Column("zip", "category", ("1", "0")), Column("age", "ignored")))
    assert read_table(path, "y", schema=listed, category="zip", drop="a,b").names == ("zip=0",)
    assert read_table(path, "y", schema=listed, number="age,zip", drop="a,b").names == ("zip", "age")
    with pytest.raises(ParameterError, match="number: column 'zip' is given as a category, too"):
        read_table(path, "y", category="zip", number="zip")
    with pytest.raises(ParameterError, match="category: it names the target 'y'"):
        read_table(path, "y", category="y")
    with pytest.raises(TableError, match="it has no column 'nope'"):
        read_table(path, "y", drop="zip,nope")


def test_a_column_asked_to_hold_numbers_names_the_cell_that_is_none(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1,u\nlow,v\n3,u\nhigh,v\n")
    with pytest.raises(TableError, match="row 2, column 'a' is 'low', not a number"):
        read_table(path, "y", number="a")


@pytest.mark.parametrize("quote", ["'", "~", "|"])
def test_other_quotes(tmp_path, quote):
    cells = ["x,1", f"a{quote}{quote}b", 'say "so"', "x,1"]
    rows = "".join(f"{quote}{cell}{quote},{'uv'[k % 2]}\n" for k, cell in enumerate(cells))
    path = write(tmp_path / "t.csv", "t,y\n" + rows)
    table = read_table(path, "y", quote=quote, category="t")
    assert table.names == ('t=say "so"', "t=x,1")
    assert table.encoder.columns[0].levels[0] == f"a{quote}b"
    swallowed = write(tmp_path / "s.csv", f"t,y\n{quote}x,u\n{quote}z,v\n")
    with pytest.raises(TableError, match=r"the cell that opens with . in line 2 continues on line 3"):
        read_table(swallowed, "y", quote=quote)


def test_no_quotes(tmp_path):
    path = write(tmp_path / "t.csv", 't,y\n"a,u\nb",v\n"a,v\nb",u\n')
    assert read_table(path, "y", quote="none").names == ('t=b"',)
