"""A schema printed, edited, and given back."""

import json

import pyarrow as pa
import pytest

from separatrix.core.base.errors import TableError
from separatrix.tables.infer import infer
from separatrix.tables.read_table import read_table
from separatrix.tables.schema import Column, Schema, read_schema

from .files import write

FRAME = pa.table(
    {
        "zip": [100, 200, 100, 300],
        "sex": ["f", "m", "f", "f"],
        "day": ["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-02"],
        "one": [1, 1, 1, 1],
        "y": ["no", "yes", "no", "yes"],
    }
)


def test_printed_and_read_back():
    schema = infer(FRAME, "y")
    found = json.loads(str(schema))
    assert found == schema.plain()
    assert Schema.from_plain(found) == schema
    assert found["columns"][1] == {"name": "sex", "kind": "category", "reference": "f", "levels": ["f", "m"]}
    assert str(schema).count("\n") == 4 + len(schema.columns)


def test_what_read_table_used_gives_the_same_table_again():
    first = read_table(FRAME, "y", drop=["day"])
    again = read_table(FRAME, schema=Schema.from_plain(first.schema.plain()))
    assert again.names == first.names
    assert again.X.tolist() == first.X.tolist()
    assert again.target == "y"
    assert [column.name for column in again.schema.columns] == ["zip", "sex", "day", "one"]


def test_edits_hold(tmp_path):
    path = write(
        tmp_path / "schema.json",
        """{"target": "y", "columns": [
            {"name": "zip", "kind": "category", "reference": "300"},
            {"name": "sex", "kind": "category", "reference": "m", "levels": ["f", "m"]},
            {"name": "day", "kind": "ignored", "note": "not wanted"}
        ]}""",
    )
    table = read_table(FRAME, schema=read_schema(path))
    assert table.names == ("zip=100", "zip=200", "sex=f")
    assert table.X[0].tolist() == [1.0, 0.0, 1.0]


def test_a_constant_can_be_asked_for():
    table = read_table(FRAME, "y", schema=Schema((Column("one", "number"),)))
    assert "one" in table.names


def test_levels_that_the_schema_does_not_list():
    schema = Schema((Column("zip", "category", ("100", "200")),))
    table = read_table(FRAME, "y", schema=schema)
    assert any("'300'" in note and "does not list" in note for note in table.notes)
    with pytest.raises(TableError, match="'300' in 1 row"):
        read_table(FRAME, "y", schema=schema, unseen="error")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[]", "it is not a JSON object"),
        ('{"colums": []}', "it has the unknown key 'colums'"),
        ('{"target": 3}', "target is 3"),
        ('{"columns": {}}', "'columns' is not a list"),
        ('{"columns": [3]}', "columns[0]: it is not a JSON object"),
        ('{"columns": [{"kind": "number"}]}', "columns[0]: its name is None"),
        ('{"columns": [{"name": "a", "kind": "numeric"}]}', "columns[0] ('a'): its kind is 'numeric'"),
        ('{"columns": [{"name": "a"}]}', "its kind is None"),
        ('{"columns": [{"name": "a", "kind": "number", "levls": []}]}', "it has the unknown key 'levls'"),
        ('{"columns": [{"name": "a", "kind": "number", "levels": ["x", "y"]}]}', "it has levels and is a number"),
        ('{"columns": [{"name": "a", "kind": "category", "levels": [1, 2]}]}', "not all text"),
        ('{"columns": [{"name": "a", "kind": "category", "levels": ["x"]}]}', "one level"),
        ('{"columns": [{"name": "a", "kind": "category", "levels": ["x", "x"]}]}', "a level occurs twice"),
        (
            '{"columns": [{"name": "a", "kind": "category", "levels": ["x", "y"], "reference": "z"}]}',
            "reference is 'z'",
        ),
        ('{"columns": [{"name": "a", "kind": "number", "reference": "z"}]}', "reference is 'z'"),
        ('{"columns": [{"name": "a", "kind": "number", "note": 1}]}', "note is not text"),
        ('{"columns": [{"name": "a", "kind": "number"}, {"name": "a", "kind": "date"}]}', "column 'a' occurs twice"),
        ('{"target": "a", "columns": [{"name": "a", "kind": "number"}]}', "target 'a' is among the columns"),
        ('{"columns": [\n{"name": "a",}]}', "line 2, column"),
        (b'{"target": "\xe9"}', "not UTF-8"),
    ],
)
def test_errors_name_the_place(tmp_path, text, part):
    path = write(tmp_path / "schema.json", text)
    with pytest.raises(TableError) as caught:
        read_schema(path)
    assert part in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_no_such_schema(tmp_path):
    with pytest.raises(TableError, match="cannot be opened"):
        read_schema(tmp_path / "absent.json")


def test_a_column_that_the_table_does_not_have():
    with pytest.raises(TableError, match="it has no column 'zap'; perhaps 'zip'"):
        read_table(FRAME, "y", schema=Schema((Column("zap", "number"),)))


def test_a_kind_that_does_not_fit():
    with pytest.raises(TableError, match="row 1, column 'sex' is 'f', not a number"):
        read_table(FRAME, "y", schema=Schema((Column("sex", "number"),)))
