"""Files, standard input and bundled sets: what is read, and what is refused with which sentence."""

import io
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from separatrix.errors import ParameterError, TableError
from separatrix.table import DEMOS, open_source, read_columns, read_labelled


def labelled(path, target="y", leave_out=()):
    return read_labelled(open_source(str(path)), target, leave_out)


@pytest.fixture
def csv(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, target="y", leave_out=()):
    with pytest.raises(TableError) as caught:
        labelled(path, target, leave_out)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("name", DEMOS)
def test_demo_sets_have_targets_of_their_own(name):
    table = read_labelled(open_source(f"demo:{name}"))
    assert table.X.flags.c_contiguous
    assert table.X.dtype == np.float64
    assert len(table.y) == len(table.X)
    assert table.target not in table.names


def test_demo_labels_are_for_people():
    assert set(read_labelled(open_source("demo:breast-cancer")).y.tolist()) == {"malignant", "benign"}
    assert set(read_labelled(open_source("demo:digits")).y.tolist()) == set(range(10))


def test_csv_tsv_parquet_and_stdin_agree(csv, tmp_path, monkeypatch):
    rows = "b,y,a\n1,u,2.5\n-3,v,1e-3\n"
    parquet.write_table(pa.table({"b": [1, -3], "y": ["u", "v"], "a": [2.5, 1e-3]}), tmp_path / "t.pq")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    for table in (
        labelled(csv(rows)),
        labelled(csv(rows.replace(",", "\t"), "t.tsv")),
        labelled(tmp_path / "t.pq"),
        read_labelled(open_source("-"), "y"),
    ):
        assert table.names == ("b", "a")
        assert table.X.tolist() == [[1.0, 2.5], [-3.0, 0.001]]
        assert table.y.tolist() == ["u", "v"]


def test_a_late_decimal_is_not_rounded_and_does_not_fail(csv):
    n = 400_000  # several of PyArrow's blocks of one megabyte
    cells = [str(i % 9) for i in range(n)]
    cells[-1] = "0.125"
    table = labelled(csv("a,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))))
    assert table.X[-1, 0] == 0.125
    assert table.X[10, 0] == 1.0


def test_late_text_is_named_by_its_row(csv):
    n = 300_000
    text = refusal(csv("a,y\n" + "1,0\n" * n + "oops,1\n"))
    assert f"row {n + 1}, column 'a' is 'oops', not a number" in text
    assert "--drop a" in text


def test_a_column_left_out_is_never_converted(csv):
    path = csv(b"name,a,y\nJos\xe9,1,0\nAnn,2,1\n")
    assert labelled(path, leave_out=["name"]).X.tolist() == [[1.0], [2.0]]
    assert "UTF-8" in refusal(path)


def test_columns_are_found_by_name_in_any_order(csv):
    source = open_source(str(csv("extra,b,a\nx,1,2\ny,3,4\n")))
    assert read_columns(source, ["a", "b"]).X.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    with pytest.raises(TableError, match="lacks 2 of the 3 columns of the model: 'A', 'c'"):
        read_columns(source, ["A", "b", "c"])


def test_odd_names_survive(csv):
    names = ["a,b", 'say "x"', "two\nlines", "žluťoučký", " padded "]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = labelled(csv(f"\ufeff{header},y\n1,2,3,4,5,0\n6,7,8,9,0,1\n"))
    assert table.names == tuple(names)
    assert table.X[1].tolist() == [6.0, 7.0, 8.0, 9.0, 0.0]


def test_parquet_names_with_dots_do_not_pull_each_other_in(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "a.b": [3, 4], "y": [True, False]}), tmp_path / "t.parquet")
    assert labelled(tmp_path / "t.parquet", leave_out=["a.b"]).X.tolist() == [[1.0], [2.0]]
    assert labelled(tmp_path / "t.parquet").y.tolist() == [True, False]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,y\n", "a header and no rows"),
        ("a,y", "a header and no rows"),
        ("a,a,y\n1,2,0\n", "2 columns are called 'a'"),
        ("y\n0\n1\n", "no column beside the target"),
        ("a;y\n1;0\n", "separate the columns by commas"),
        (",y\n1,0\n2,1\n", "column 1 has no name"),
        ("1,2\n3,4\n5,6\n", "the first row must hold the names"),
        ("a,Y\n1,0\n", "perhaps 'Y' is meant"),
        ("a,y\n1,0\n2\n", "row 2 has 1 cell where the header has 2"),
        ("a,b,y\n1,,0\n,2,1\n,,1\n", "row 1, column 'b' has no value (4 values are missing in all, in 2 columns)"),
        ("a,y\nNA,0\n1,1\n", "row 1, column 'a' has no value"),
        ("a,y\n1,0\nx,1\n ,0\n", "row 2, column 'a' is 'x'"),
        ("a,y\n1,0\n1e400,1\n", "row 2, column 'a' is infinite"),
        ("a,y\n-inf,0\n1,1\n", "row 1, column 'a' is infinite"),
        ("a,y\n0x10,0\n1,1\n", "'0x10', not a number"),
        ("a,y\n1,u\n2,\n3,\n", "row 2, target column 'y' has no label (2 rows have none)"),
        (b"n\xe1me,y\n1,0\n", "not UTF-8"),
        (b"a,y\n1,b\xe1d\n", "not UTF-8"),
        (b"\x7fELF\x00\x01,\x00\n\x00\x00", "binary"),
        ("a,y\n" + "x" * 100 + ",1\n", "x…', not a number"),
    ],
)
def test_bad_csv_is_refused_with_one_sentence(csv, content, part):
    assert part in refusal(csv(content))


def test_an_open_quote_does_not_swallow_rows(csv):
    assert "never closes" in refusal(csv('a,y\n1,u\n2,"v\n3,u\n4,v\n'))
    assert labelled(csv('a,y\n1,u"\n2,v\n')).y.tolist() == ['u"', "v"]  # a quote inside a cell opens nothing
    assert labelled(csv('a,y\n1,"u\n"\n2,v\n')).y.tolist() == ["u\n", "v"]


def test_bad_paths(tmp_path, csv):
    assert "no such file" in refusal(tmp_path / "absent.csv")
    assert "folder" in refusal(tmp_path)
    assert "'.txt' is unknown" in refusal(csv("a,y\n1,0\n", "table.txt"))
    assert "cannot be read as Parquet" in refusal(csv("PAR1 not quite", "table.parquet"))
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.pq")
    assert "no rows" in refusal(tmp_path / "none.pq")


def test_unknown_names_come_with_suggestions():
    with pytest.raises(TableError, match=r"demo:iris.*demo:wine"):
        open_source("demo:irs")
    with pytest.raises(TableError, match="write demo:iris"):
        open_source("iris")
    iris = open_source("demo:iris")
    with pytest.raises(TableError, match="perhaps 'species' is meant"):
        read_labelled(iris, "specie")
    with pytest.raises(TableError, match="no column 'zzz'"):
        read_labelled(iris, leave_out=["zzz"])
    with pytest.raises(ParameterError, match="--drop"):
        read_labelled(iris, leave_out=["species"])


def test_a_file_has_no_target_of_its_own(csv):
    with pytest.raises(ParameterError, match="--target"):
        labelled(csv("a,y\n1,0\n"), None)
