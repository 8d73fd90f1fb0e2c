"""How text files are spelled: decimal commas, delimiters, quotes, bytes that are no text; and their names."""

import csv
import io
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.formats.csv_files import open_delimited
from separatrix.tables.formats.source import Spelling
from separatrix.tables.read_table import read_rows, read_table
from separatrix.tables.schema import Column, Schema

from .files import refusal, write

EUROPEAN = "a;b;y\n1,5;-,25;u\n2;3,5e2;v\n-4,;1;v\n"


def test_decimal_commas(tmp_path):
    path = write(tmp_path / "t.csv", EUROPEAN)
    assert "give decimal=','" in refusal(path)
    table = read_table(path, "y", decimal=",")
    assert table.X.tolist() == [[1.5, -0.25], [2.0, 350.0], [-4.0, 1.0]]
    with pytest.raises(TableError, match=r"row 1, column 'a' is '1,5', not a number; .* give decimal=','"):
        read_rows(path, ["a", "b"])
    assert read_rows(path, ["a", "b"], decimal=",").X.tolist() == table.X.tolist()
    quoted = write(tmp_path / "q.csv", 'a,y\n"1,5",u\n"2,5",v\n')
    assert read_table(quoted, "y", decimal=",").X.ravel().tolist() == [1.5, 2.5]


@pytest.mark.parametrize("cell", ["1.234,5", "1.234", "1.5", "1.234.567", ".5"])
def test_points_beside_decimal_commas_are_refused(tmp_path, cell):
    path = write(tmp_path / "t.csv", f"a;y\n1,5;u\n{cell};v\n")
    assert f"row 2, column 'a' is {cell!r}, with a point" in refusal(path, decimal=",")


def test_points_and_commas_in_text_stay(tmp_path):
    path = write(tmp_path / "t.csv", "a;c;y\n1,5;v1.5;u\n2;x, y;v\n3;v1.5;u\n4;x, y;v\n")
    assert read_table(path, "y", decimal=",").names == ("a", "c=x, y")


@pytest.mark.parametrize("form", [{"day": "%d.%m.%Y"}, "%d.%m.%Y"])
def test_dates_with_points_beside_decimal_commas(tmp_path, form):
    path = write(tmp_path / "t.csv", "a;day;y\n1,5;01.02.2020;u\n2;02.02.2020;v\n3;04.02.2020;v\n")
    table = read_table(path, "y", decimal=",", date_format=form)
    assert (table.X - table.X[0]).tolist() == [[0.0, 0.0], [0.5, 1.0], [1.5, 3.0]]
    assert table.encoder is not None
    assert read_rows(path, table.encoder, decimal=",", date_format=form).X.tolist() == table.X.tolist()
    assert "date_format={'day': '%d.%m.%Y'}" in refusal(path, decimal=",")


@pytest.mark.parametrize("asked", [{"category": "c"}, {"text": "c"}])
def test_points_in_categories_and_text_beside_decimal_commas(tmp_path, asked):
    path = write(tmp_path / "t.csv", "a;c;y\n1,5;11.5;u\n2;12.5;v\n3;11.5;u\n4;12.5;v\n")
    table = read_table(path, "y", decimal=",", **asked)
    assert table.encoder is not None
    again = read_rows(path, table.encoder, decimal=",").X
    np.testing.assert_array_equal(*(X.toarray() if hasattr(X, "toarray") else X for X in (again, table.X)))


def test_delimiters(tmp_path):
    spaced = write(tmp_path / "t.csv", "a b y\n1 2 u\n3 4 v\n")
    assert "with delimiter=" in refusal(spaced)
    assert read_table(spaced, "y", delimiter=" ").X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for mark in ("tab", "\\t", "\t"):
        tabbed = write(tmp_path / "t.csv", "a,x\ty\n1\tu\n2\tv\n")
        assert read_table(tabbed, "y", delimiter=mark).names == ("a,x",)
    named = write(tmp_path / "t.csv", '"income, EUR";y\n1;u\n2;v\n')
    assert read_table(named, "y").names == ("income, EUR",)


@pytest.mark.parametrize(("name", "value"), [("delimiter", ",,"), ("delimiter", '"'), ("decimal", ";")])
def test_marks_that_are_none(name, value):
    with pytest.raises(ParameterError, match=f"^{name}: got "):
        Spelling(**{name: value})


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("a,y\n1,u\n2\0,v\n", "line 3 holds a NUL byte"),
        ("a,y\n1,u\n2,v\n".encode("utf-16"), "it is UTF-16 text, not UTF-8; give encoding='utf-16'"),
        ("a,y\n1,u\n2,v\n".encode("utf-32"), "it is UTF-32 text"),
        ("sep=;\na;y\n1;u\n", "its first line is 'sep=;'"),
        ("a,y\n5%,u\n7%,v\n", "its numbers are written with other symbols, such as '5%'"),
        ("a,y\n1 000,u\n-$7,v\n", "its numbers are written with other symbols, such as '1 000'"),
        ('a,y\n"$12,881.85",u\n$7,v\n', "its numbers are written with other symbols, such as '$12,881.85'"),
        ('a,y\n"-$1,234,567.5",u\n"($2,000)",v\n', "written with other symbols, such as '-$1,234,567.5'"),
        ("a;y\n12.881,85 €;u\n7 €;v\n", "its numbers are written with other symbols, such as '12.881,85 €'"),
        ("a;y\n12,5 %;u\n7,25 %;v\n", "its numbers are written with other symbols, such as '12,5 %'"),
        ("a;y\n$12;u\n$7;v\n", "write bare numbers, without signs and separators of thousands"),
        ("# made today\na,y\n1,u\n", "it has only one column, '# made today'"),
    ],
)
def test_what_is_no_table_of_numbers_is_said(tmp_path, content, part):
    assert part in refusal(write(tmp_path / "t.csv", content))


def test_a_very_long_cell(tmp_path):
    path = write(tmp_path / "t.csv", f"a,t,y\n1,{'x' * 200_000},u\n2,short,v\n3,short,v\n")
    assert read_table(path, "y").X.shape == (3, 2)


@given(st.lists(st.text('a" ,;\n\r', max_size=6), min_size=1, max_size=8))
def test_what_a_writer_quotes_is_read_back(cells):
    """Whatever the cells hold; but for one over lines that ends in a delimiter, the mark of a quote left open."""
    cells = [cell + "a" for cell in cells]
    text = io.StringIO()
    csv.writer(text).writerows([["t", "y"], *([cell, "u"] for cell in cells)])
    found = open_delimited("a table", text.getvalue().encode()).read(["t"])
    assert found.column("t").to_pylist() == cells


def test_paths_that_cannot_be_opened():
    assert "File name too long" in refusal("x" * 300 + ".csv")
    assert "no such file" in refusal("a\0b.csv")


def test_a_name_that_is_not_utf8(tmp_path):
    raw = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    try:
        with open(raw, "wb") as file:
            file.write(b"a,y\n1,u\n2,v\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    table = read_table(os.fsdecode(raw), "y")
    assert table.X.ravel().tolist() == [1.0, 2.0]
    assert table.source.endswith(r"caf\xe9.csv")


def test_spaces_around_cells_are_no_part_of_them(tmp_path):
    path = write(tmp_path / "t.csv", "a,c,y\n1,red , yes\n2, red,yes\n3,blue,no \n4, NA,no\n")
    table = read_table(path, "y", missing="drop")
    assert table.y.tolist() == ["yes", "yes", "no"]
    assert table.names == ("a", "c=red")
    assert table.rows.tolist() == [1, 2, 3]


def test_levels_and_labels_that_look_alike_are_said(tmp_path):
    path = write(tmp_path / "t.csv", "a,c,y\n1,Red,Yes\n2,red,yes\n3,red,no\n4,blue,cafe\u0301\n5,red,caf\u00e9\n")
    notes = " ".join(read_table(path, "y").notes)
    assert "Column 'c' is kept: its levels 'Red' and 'red' differ only in case" in notes
    assert "Target 'y': its labels 'Yes' and 'yes'" in notes
    assert r"'cafe\u0301' and 'café'" in notes
    plain = write(path, "a,c,y\n1,red,yes\n2,red,yes\n3,red,no\n4,blue,no\n")
    assert read_table(plain, "y").notes == ()


@pytest.mark.parametrize("mark", ["?", "NaN", "NA", " NA", "null", "-", "n/a"])
def test_a_missing_label_by_any_mark(tmp_path, mark):
    path = write(tmp_path / "t.csv", f"a,y\n1,u\n2,{mark}\n3,v\n4,u\n")
    assert "row 2, target column 'y' has no label" in refusal(path)
    table = read_table(path, "y", missing="drop")
    assert table.rows.tolist() == [1, 3, 4]
    listed = Schema((), "y", ("u", "v", mark.strip()))
    assert read_table(path, "y", schema=listed).y.tolist() == ["u", mark.strip(), "v", "u"]


def test_labels_that_the_schema_does_not_list(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1,u\n2,?\n3,w\n4,v\n")
    schema = Schema.from_plain({"classes": ["u", "v"], "columns": []})
    assert Schema.from_plain(schema.plain()) == schema
    assert "row 3 is 'w'" in refusal(path, schema=schema, missing="drop")


def test_plus_and_minus_are_classes_and_none_is_noted(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1,+\n2,-\n3,+\n4,None\n")
    table = read_table(path, "y")
    assert table.y.tolist() == ["+", "-", "+", "None"]
    assert table.notes == ("Target 'y': 'None' counts as a class.",)


def test_na_is_a_level_where_the_schema_lists_it(tmp_path):
    path = write(tmp_path / "t.csv", "a,region,y\n1,NA,u\n2,EU,v\n,EU,v\nNA, NA,u\n")
    schema = Schema((Column("region", "category", ("EU", "NA")),))
    table = read_table(path, "y", schema=schema, missing="impute")
    assert table.names == ("a", "region=NA")
    assert table.X.tolist() == [[1.0, 1.0], [2.0, 0.0], [1.5, 0.0], [1.5, 1.0]]
    assert read_rows(path, table.encoder, target="y").X.tolist() == table.X.tolist()
    other = write(tmp_path / "o.csv", "a,region,y\n1,NA,u\n2,EU,v\n3,US,v\n4, NA,u\n5,US,u\n")
    assert "by column: 'region' 2" in refusal(other)


def test_what_prediction_says_of_a_cell_that_is_no_number(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,2\n3,abc\n")
    with pytest.raises(TableError, match=r"row 2, column 'b' is 'abc', not a number; correct it") as caught:
        read_rows(path, ["a", "b"])
    assert "missing" not in str(caught.value)
    assert "drop" not in str(caught.value)


def test_labels_under_another_name(tmp_path):
    path = write(tmp_path / "t.csv", "a,label\n1,u\n2,v\n")
    with pytest.raises(TableError, match="no column 'y' of labels; name theirs with target=, one of 'label'"):
        read_rows(path, ["a"], target="y", labelled=True)


def test_a_table_prints_short():
    shown = repr(read_table("demo:breast-cancer"))
    assert shown == "Table(demo:breast-cancer: 569 rows, 30 columns, target 'diagnosis')"
