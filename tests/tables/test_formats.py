"""Files, folders, standard input and frames: what is read, and what is refused with which sentence."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.formats.batched import batched
from separatrix.tables.formats.csv_files import _BLOCK_BYTES
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Spelling
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal, write

TEXT = "b,y,a\n1,u,2.5\n-3,v,1e-3\n"
TYPED = pa.table({"b": [1, -3], "y": ["u", "v"], "a": [2.5, 1e-3]})


def zstd(text):
    return pa.Codec("zstd").compress(text.encode(), asbytes=True)


def in_parquet(table):
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def in_arrow(table, opener=ipc.new_file):
    sink = io.BytesIO()
    with opener(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


FORMATS = {
    "t.csv": TEXT.encode(),
    "bom.csv": b"\xef\xbb\xbf" + TEXT.encode(),
    "windows.csv": TEXT.replace("\n", "\r\n").encode(),
    "semicolons.csv": TEXT.replace(",", ";").encode(),
    "bars.csv": TEXT.replace(",", "|").encode(),
    "tabs.csv": TEXT.replace(",", "\t").encode(),
    "t.tsv": TEXT.replace(",", "\t").encode(),
    "t.csv.gz": gzip.compress(TEXT.encode()),
    "t.CSV.GZ": gzip.compress(TEXT.encode()),
    "t.csv.zst": zstd(TEXT),
    "t.tsv.zst": zstd(TEXT.replace(",", "\t")),
    "t.parquet": in_parquet(TYPED),
    "t.pq": in_parquet(TYPED),
    "t.arrow": in_arrow(TYPED),
    "t.ipc": in_arrow(TYPED, ipc.new_stream),
}


def is_the_table(table):
    assert table.names == ("b", "a")
    assert table.X.tolist() == [[1.0, 2.5], [-3.0, 0.001]]
    assert table.X.flags.c_contiguous
    assert table.y.tolist() == ["u", "v"]
    assert table.rows.tolist() == [1, 2]
    return True


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same(tmp_path, name):
    path = write(tmp_path / name, FORMATS[name])
    assert is_the_table(read_table(path, "y"))
    assert is_the_table(read_table(str(path), "y"))


def test_feather(tmp_path):
    feather.write_feather(TYPED, str(tmp_path / "t.feather"))
    assert is_the_table(read_table(tmp_path / "t.feather", "y"))


@pytest.mark.parametrize("name", ["t.csv", "semicolons.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.arrow", "t.ipc"])
def test_standard_input_is_known_by_its_first_bytes(monkeypatch, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORMATS[name])))
    assert is_the_table(read_table("-", "y"))


@pytest.mark.parametrize("frame", [TYPED, TYPED.to_pandas(), pl.from_arrow(TYPED)], ids=["arrow", "pandas", "polars"])
def test_frames(frame):
    assert is_the_table(read_table(frame, "y"))


def test_a_delimiter_other_than_the_comma_is_said(tmp_path):
    assert "separated by semicolons" in read_table(write(tmp_path / "t.csv", FORMATS["semicolons.csv"]), "y").notes[0]
    assert read_table(write(tmp_path / "t.csv", "a,x;z,y\n1,2,u\n3,4,v\n"), "y").names == ("a", "x;z")


def test_frames_of_several_types():
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None, 3], dtype="Int64"),
            "c": pd.Categorical(["u", "v", "u"]),
            "d": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
            7: [True, False, True],
            "y": ["p", "q", "p"],
        },
        index=[5, 6, 7],
    )
    table = read_table(frame, "y", missing="impute")
    assert table.names == ("a", "c=v", "d", "7")
    assert table.X.tolist() == [[1.0, 0.0, 18262.0, 1.0], [2.0, 1.0, 18263.0, 0.0], [3.0, 0.0, 18264.0, 1.0]]
    other = pl.DataFrame({"c": pl.Series(["u", "v", "u"], dtype=pl.Categorical), "a": [1, 2, 4], "y": [0, 1, 1]})
    assert read_table(other, "y").X.tolist() == [[0.0, 1.0], [1.0, 2.0], [0.0, 4.0]]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (np.zeros((2, 2)), "got ndarray"),
        (pl.LazyFrame({"a": [1], "y": [1]}), "got LazyFrame"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "a", "y"]), "2 columns are called 'a'"),
        (pa.table([[1], [2], [0]], ["a", "a", "y"]), "2 columns are called 'a'"),
        (pd.DataFrame({"a": [1, "x"], "y": [0, 1]}), "values of one type"),
        (pd.DataFrame({"a": [], "y": []}), "it has no rows"),
    ],
)
def test_frames_that_are_refused(data, part):
    assert part in refusal(data)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,y\n", "a header and no rows"),
        ("a,y", "a header and no rows"),
        ("a,a,y\n1,2,0\n", "2 columns are called 'a'"),
        ("y\n0\n1\n", "the target 'y' is the only column"),
        ("a:y\n1:0\n", "separate the columns by commas"),
        (",y\n1,0\n2,1\n", "column 1 has no name"),
        ("1,2\n3,4\n5,6\n", "the first row must hold the names"),
        ("a,Y\n1,0\n", "perhaps 'Y' is meant"),
        ("a,y\n1,0\n2\n", "row 2 has 1 cell where the header has 2"),
        ("a,b,y\n1,,0\n,2,1\n,3,1\n4,5,0\n", "3 values are missing in 4 rows, by column: 'a' 2, 'b' 1;"),
        ("a,y\nNA,0\n1,1\n2,0\n", "1 value is missing in 3 rows, by column: 'a' 1;"),
        ("a,y\n1,0\n1e400,1\n", "row 2, column 'a' is infinite"),
        ("a,y\n-inf,0\n1,1\n", "row 1, column 'a' is infinite"),
        ("a,y\n1,u\n2,\n3,\n", "row 2, target column 'y' has no label (2 rows have none)"),
        ("a,y\n1,0\n2,0\n", "every row has the same label, 0"),
        ("a,y\n1,0.5\n2,1\n", "row 1 is 0.5, a measurement"),
        ("a,y\n,0\n,1\n", "no column is left to learn from"),
        ("a;y\n1,5;0\n2,5;1\n", "written with commas, such as '1,5'"),
        ("a;y\n1,234;0\n2,500;1\n", "which look like thousands separators; remove them from the file"),
        (b"n\xe1me,y\n1,0\n", "not UTF-8"),
        (b"a,y\n1,b\xe1d\n", "encoding='latin-1'"),
        (b"\x7fELF\x00\x01,\x00\n\x00\x00", "binary"),
    ],
)
def test_bad_csv_is_refused_with_one_sentence(tmp_path, content, part):
    assert part in refusal(write(tmp_path / "t.csv", content))


@pytest.mark.parametrize("cut", [12, -5, -2000])
def test_a_truncated_file(tmp_path, cut):
    rng = np.random.default_rng(0)
    content = gzip.compress(("a,y\n" + "".join(f"{rng.random()},{i % 2}\n" for i in range(20_000))).encode())
    assert "ends too early" in refusal(write(tmp_path / "t.csv.gz", content[:cut]))
    assert "cannot be read" in refusal(write(tmp_path / "t.parquet", FORMATS["t.parquet"][:cut]))
    assert "cannot be read as Arrow" in refusal(write(tmp_path / "t.arrow", FORMATS["t.arrow"][:200]))


def test_other_encodings(tmp_path):
    for encoding in ("latin-1", "cp1252", "utf-16"):
        path = write(tmp_path / "t.csv", "név,a,y\nJosé,1,0\nAnn,2,1\nJosé,4,1\n".encode(encoding))
        assert read_table(path, "y", encoding=encoding).names == ("név=José", "a")
    write(path, "név,a,y\nJosé,1,0\n".encode("latin-1"))
    assert "for a file in Latin-1 give encoding=" in refusal(path)
    assert "it is not utf-16 text" in refusal(path, encoding="utf-16")
    with pytest.raises(ParameterError, match="encoding: got 'klingon'"):
        read_table(path, "y", encoding="klingon")


def test_a_column_left_out_is_never_converted(tmp_path):
    path = write(tmp_path / "t.csv", b"name,a,y\nJos\xe9,1,0\nAnn,2,1\n")
    assert read_table(path, "y", drop=["name"]).X.tolist() == [[1.0], [2.0]]
    assert "UTF-8" in refusal(path)


def test_odd_names_survive(tmp_path):
    names = ["a,b", 'say "x"', "two\nlines", "žluťoučký", " padded "]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = read_table(write(tmp_path / "t.csv", f"\ufeff{header},y\n1,2,3,4,5,0\n6,7,8,9,0,1\n"), "y")
    assert table.names == tuple(names)
    assert table.X[1].tolist() == [6.0, 7.0, 8.0, 9.0, 0.0]


def test_rows_longer_than_a_block(tmp_path):
    """Long cells make rows that long with fewer columns, which are read in less time."""
    names = ",".join(f"a_column_with_a_{'very_' * 50}long_name_{j}" for j in range(5_000))
    X = np.arange(10_000).reshape(2, -1)
    rows = "".join(",".join(f"{v}.{'0' * 250}" for v in X[i]) + f",{i}\n" for i in range(2))
    assert min(map(len, (names, *rows.splitlines()))) > _BLOCK_BYTES
    table = read_table(write(tmp_path / "t.csv", f"{names},y\n{rows}"), "y")
    np.testing.assert_array_equal(table.X, X)


def test_an_open_quote_does_not_swallow_rows(tmp_path):
    def labels(content):
        return read_table(write(tmp_path / "t.csv", content), "y").y.tolist()

    def told(content):
        return refusal(write(tmp_path / "t.csv", content))

    assert "in line 3 is never closed" in told('a,y\n1,u\n2,"v\n3,u\n4,v\n')
    assert 'opens with " in line 3 continues on line 5' in told('a,y\n1,u\n2,"v\n3,u\n4,"v\n5,u\n')
    assert "in line 3 continues on line 4" in told('a,y\n1,u\n2,"v\n3,"\n4,u\n5,v\n')  # the second is a lone quote
    assert "in line 2 continues on line 3" in told('a,t,y\n1,"v,0\n2,"v",1\n3,v,0\n')  # one good cell, one open
    assert "in line 3 continues on line 4" in told('a,y\r\n1,u\r\n2,"v\r\n3,"v\r\n')
    assert labels('a,y\n1,u"\n2,v\n') == ['u"', "v"]  # a quote inside a cell opens nothing
    assert labels('a,y\n1,"u\n"\n2,v\n') == ["u", "v"]
    assert labels('a,y\n1,"u\nw"\n2,5" v\n3,"u\nw"\n4,5" v\n') == ["u\nw", '5" v'] * 2
    assert labels('a,y\n1,"u ""w""\nx"\n\n2,v\n') == ['u "w"\nx', "v"]
    content = 'a,y\n1,"ü\nw"\n2,"v\n3,"v\n'
    assert "line 4 continues on line 5" in refusal(
        write(tmp_path / "t.csv", content.encode("utf-16")), encoding="utf-16"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("cell", ['"v', '"', '"v""', '"v,w'])
def test_an_open_quote_in_the_last_cell_is_refused(tmp_path, cell, end, encoding):
    content = f'a,y\n1,"u"\n2,ü\n3,{cell}{end}'.encode(encoding)
    message = 'the cell that opens with " in line 4 is never closed'
    path = write(tmp_path / "t.csv", content)
    assert message in refusal(path, encoding=encoding)
    with pytest.raises(TableError, match=message):
        list(batched(open_source(path, Spelling(encoding=encoding))).batches(["a"]))


@pytest.mark.parametrize("blank", ["", "\n"])
def test_a_last_line_without_an_end_is_searched_like_others(tmp_path, blank):
    content = f'a,y\n{blank}1,u\n2,v\n3,"v\nw"'
    assert read_table(write(tmp_path / "t.csv", content), "y").y.tolist() == ["u", "v", "v\nw"]
    told = refusal(write(tmp_path / "t.csv", f'a,y\n{blank}1,u\n2,"v\n3,"v'))
    assert f"in line {3 + len(blank)} continues on line {4 + len(blank)}" in told


def test_parquet_names_with_dots_do_not_pull_each_other_in(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "a.b": [3, 4], "y": [True, False]}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", "y", drop=["a.b"]).X.tolist() == [[1.0], [2.0]]
    assert read_table(tmp_path / "t.parquet", "y").y.tolist() == [True, False]


def test_nested_columns_are_named(tmp_path):
    nested = pa.table({"a": [1, 2], "tags": [[1], [2]], "place": [{"k": 1}] * 2, "y": [0, 1]})
    parquet.write_table(nested, tmp_path / "t.parquet")
    text = refusal(tmp_path / "t.parquet")
    assert "column 'tags': it holds list" in text
    assert "'place'" in text
    assert read_table(tmp_path / "t.parquet", "y", drop=["tags", "place"]).names == ("a",)


def test_bad_paths(tmp_path):
    assert "no such file" in refusal(tmp_path / "absent.csv")
    assert "no table in it" in refusal(tmp_path)
    assert "no file matches the pattern" in refusal(str(tmp_path / "*.csv"))
    assert "'.txt' is unknown" in refusal(write(tmp_path / "t.txt", TEXT))
    assert "cannot be read as Parquet" in refusal(write(tmp_path / "t.parquet", "PAR1 not quite"))
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.pq")
    assert "no rows" in refusal(tmp_path / "none.pq")
    assert "no rows" in refusal(write(tmp_path / "none.arrow", in_arrow(TYPED.slice(0, 0))))


def test_unknown_names_come_with_suggestions():
    with pytest.raises(TableError, match="write demo:iris"):
        open_source("iris")
    with pytest.raises(TableError, match="perhaps 'species' is meant"):
        read_table("demo:iris", "specie")
    with pytest.raises(TableError, match="no column 'zzz'"):
        read_table("demo:iris", drop=["zzz"])
    with pytest.raises(ParameterError, match=r"^drop: it names the target"):
        read_table("demo:iris", drop=["species"])


def test_a_file_has_no_target_of_its_own(tmp_path):
    with pytest.raises(ParameterError, match=r"^target: it is not given"):
        read_table(write(tmp_path / "t.csv", TEXT))


def test_columns_are_found_by_name_in_any_order(tmp_path):
    path = write(tmp_path / "t.csv", "extra,b,a\nx,1,2\ny,3,4\n")
    assert read_rows(path, ["a", "b"]).X.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    with pytest.raises(TableError, match="lacks 2 of the 3 columns of the model: 'A', 'c'"):
        read_rows(path, ["A", "b", "c"])


def test_thousands_separators_in_a_file_with_decimal_commas(tmp_path):
    """The error quotes a cell as it is in the file, and does not suggest the option that was given."""
    (tmp_path / "t.csv").write_text("a;y\n1,234;0\n1,234,567;1\n900;0\n")
    with pytest.raises(TableError, match="such as '1,234,567', which look like thousands separators") as refused:
        read_table(tmp_path / "t.csv", "y", decimal=",")
    assert not refused.value.solving
