"""Several files as one table, and the sparse format of libsvm."""

import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

import separatrix as sx
from separatrix.tables.formats.opening import open_source
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal, write


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "b.csv", "y,a\nu,3\n")
    write(tmp_path / "a.csv", "a,y\n1,u\n2,v\n")
    return tmp_path


def test_files_follow_each_other_by_name(folder):
    for data in (folder, str(folder), str(folder / "*.csv")):
        table = read_table(data, "y")
        assert table.X.tolist() == [[1.0], [2.0], [3.0]]
        assert table.y.tolist() == ["u", "v", "u"]


def test_what_else_lies_in_a_folder(folder):
    write(folder / "_SUCCESS", "")
    write(folder / ".hidden.csv", "x\n1\n")
    (folder / "deeper").mkdir()
    assert read_table(folder, "y").notes == ()
    write(folder / "README.txt", "words")
    assert read_table(folder, "y").notes == ("Not read: README.txt.",)


def test_compressed_and_plain_text_may_mix(folder):
    write(folder / "c.csv.gz", gzip.compress(b"a;y\n4;v\n"))
    assert read_table(folder, "y").X[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_columns_that_differ_are_named_with_the_file(folder):
    write(folder / "c.csv", "a,b,y\n1,2,u\n")
    text = refusal(folder)
    assert "c.csv has 'b' in addition" in text
    assert "a.csv" in text
    write(folder / "c.csv", "y,z\nu,1\n")
    assert "c.csv lacks 'a' and has 'z' in addition" in refusal(folder)


def test_text_in_one_file_among_numbers_in_the_others(folder):
    write(folder / "a.csv", "a,y\n" + "".join(f"{i % 9},{'uv'[i % 2]}\n" for i in range(100)))
    write(folder / "c.csv", "a,y\nx,u\n")
    assert "row 1 of c.csv is 'x', not a number" in refusal(folder)


def test_a_bad_file_is_named(folder):
    write(folder / "c.csv", "a,y\n1\n")
    assert f"{folder / 'c.csv'}: row 1 has 1 cell" in refusal(folder)
    write(folder / "c.csv", "")
    assert f"{folder / 'c.csv'}: it is empty" in refusal(folder)


def test_types_that_differ(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "y": [0, 1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"y": [0, 1], "a": [1.5, 3.0]}), tmp_path / "b.parquet")
    assert read_table(tmp_path, "y").X[:, 0].tolist() == [1.0, 2.0, 1.5, 3.0]
    parquet.write_table(pa.table({"y": [0, 1], "a": ["x", "z"]}), tmp_path / "c.parquet")
    text = refusal(tmp_path)
    assert "column 'a' holds string in" in text
    assert "c.parquet" in text
    write(tmp_path / "d.csv", "a,y\n1,0\n")
    assert "give files of one format" in refusal(tmp_path)


# ------------------------------------------------------------------------------------------------- libsvm


@pytest.fixture
def sparse(tmp_path):
    return write(tmp_path / "t.libsvm", "1 1:2 3:4 # a note\n-1 2:1\n1 7:1.5\n")


def test_libsvm_stays_sparse(sparse):
    table = read_table(sparse)
    assert issparse(table.X)
    assert table.names == tuple(f"x{j}" for j in range(1, 8))
    assert table.target == "label"
    assert table.y.tolist() == [1, -1, 1]
    expected = np.zeros((3, 7))
    expected[0, [0, 2]], expected[1, 1], expected[2, 6] = (2, 4), 1, 1.5
    np.testing.assert_array_equal(table.X.toarray(), expected)
    assert table.encoder is None


def test_libsvm_has_the_width_of_training_at_prediction(sparse, tmp_path):
    table = read_table(sparse)
    narrow = read_rows(write(tmp_path / "narrow.svm", "0 2:5\n"), table.names)
    assert narrow.X.toarray().tolist() == [[0, 5, 0, 0, 0, 0, 0]]
    wide = read_rows(write(tmp_path / "wide.svmlight", "1 2:5 9:1\n"), table.names, labelled=True)
    assert wide.X.toarray().tolist() == narrow.X.toarray().tolist()
    assert wide.notes == ("Not used, since the model has no such columns: 'x8', 'x9'.",)
    assert wide.y.tolist() == [1]
    model = sx.LogisticRegression().fit(table.X, table.y)
    assert model.predict(wide.X).shape == (1,)


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm_as_scikit_learn_writes_it(tmp_path, zero_based):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.5)
    X[0] = 1.0
    dump_svmlight_file(X, np.arange(30) % 2, str(tmp_path / "t.svm"), zero_based=zero_based)
    table = read_table(tmp_path / "t.svm")
    np.testing.assert_allclose(table.X.toarray(), X)
    assert table.names[0] == ("x0" if zero_based else "x1")


def test_columns_of_libsvm_can_be_left_out(sparse):
    table = read_table(sparse, drop=["x1", "x7"])
    assert table.names == ("x2", "x3", "x4", "x5", "x6")
    assert table.X.toarray()[:2].tolist() == [[0, 4, 0, 0, 0], [1, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "it is empty"),
        ("cat 1:2\n", "cannot be read as libsvm"),
        ("1 3:1 2:1\n", "cannot be read as libsvm"),
        ("1 1:2\n0 2:nan\n", "row 2, column 'x2' is nan"),
        ("1 1:2\n1 2:3\n", "every row has the same label, 1"),
        ("1.5 1:2\n1 2:3\n", "row 1 is 1.5, a measurement"),
    ],
)
def test_bad_libsvm(tmp_path, content, part):
    assert part in refusal(write(tmp_path / "t.svm", content), None)


def test_libsvm_has_one_target_and_no_other_names(sparse):
    assert "its labels are in its first column" in refusal(sparse, "x1")
    with pytest.raises(sx.errors.TableError, match="it has no column 'age'"):
        read_rows(sparse, ["age", "x1"])


def test_whole_numbers_that_decimals_cannot_hold(tmp_path):
    parquet.write_table(pa.table({"a": [2**53 + 1, 3], "y": ["u", "v"]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"a": [1.5, 3.0], "y": ["u", "v"]}), tmp_path / "2.parquet")
    text = refusal(tmp_path)
    assert "column 'a' mixes types" in text
    assert "9007199254740993" in text
    assert read_table(tmp_path / "1.parquet", "y").X[0, 0] == 2.0**53


def packed(how, text):
    return gzip.compress(text.encode()) if how == "gz" else pa.compress(text.encode(), codec="zstd", asbytes=True)


@pytest.mark.parametrize("how", ["gz", "zst"])
def test_compressed_libsvm(sparse, tmp_path, how):
    path = tmp_path / f"packed.libsvm.{how}"
    path.write_bytes(packed(how, (tmp_path / "t.libsvm").read_text()))
    found, whole = read_table(path), read_table(sparse)
    assert (found.X != whole.X).nnz == 0
    assert found.y.tolist() == whole.y.tolist()
    path.write_bytes(path.read_bytes()[:-9])
    assert "cannot be read as libsvm" in refusal(path, None)


def test_libsvm_files_follow_each_other_as_wide_as_the_widest(tmp_path):
    write(tmp_path / "b.svm", "1 9:3\n")
    write(tmp_path / "a.libsvm", "0 2:5\n1 1:1\n")
    for data in (tmp_path, str(tmp_path / "*svm")):
        table = read_table(data)
        assert table.names == tuple(f"x{j}" for j in range(1, 10))
        assert table.X.toarray()[:, [0, 1, 8]].tolist() == [[0, 5, 0], [1, 0, 0], [0, 0, 3]]
        assert table.y.tolist() == [0, 1, 1]
    assert read_rows(tmp_path, table.names[:4]).X.shape == (3, 4)
    assert read_rows(tmp_path, [*table.names, "x10"]).X.shape == (3, 10)
    write(tmp_path / "b.svm", "0.5 9:3\n0.25 1:1\n")
    assert read_rows(tmp_path, ["x1"], labelled=True).y.tolist() == [0, 1, 0.5, 0.25]
    (tmp_path / "a.libsvm").unlink()
    write(tmp_path / "README", "one file and a note")
    assert read_rows(tmp_path, ["x1"]).notes[0] == "Not read: README."
    write(tmp_path / "c.csv", "a,y\n1,u\n")
    assert "some files hold libsvm (b.svm), others text (c.csv)" in refusal(tmp_path, None)


@pytest.mark.parametrize("text", ["1 1:2 3:4\n0 2:1\n", "# rows\n\n0\n+1 3:.5 # last\n", "1e0\t7:-2e-3\r\n0\t1:1\r\n"])
def test_libsvm_on_standard_input_is_no_header(tmp_path, monkeypatch, text):
    expected = read_table(write(tmp_path / "t.svm", text))
    for content in (text.encode(), packed("gz", text)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        found = read_table("-")
        assert found.names == expected.names
        assert (found.X != expected.X).nnz == 0
        assert found.notes == ("It is read as libsvm: labels and index:value pairs.",)
    for end in ("csv", "tsv"):
        assert "its first line is not a header" in refusal(write(tmp_path / f"t.{end}", text), "y")


@pytest.mark.parametrize("text", ["1,3:4\n1,2\n", "a 1:2\n1\n", "1\t2\n3\t4\n", "12:30\n12:40\n", "0.5\n1\n"])
def test_what_is_no_libsvm_stays_a_table(tmp_path, text):
    path = write(tmp_path / "t.csv", text)
    assert open_source(path).names == tuple(text.split("\n")[0].replace("\t", ",").split(","))
