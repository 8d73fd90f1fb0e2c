"""Files without a header: their columns have made-up names and numbers, and a first line of data gets a note."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import check
from separatrix.core.base.errors import TableError
from separatrix.tables.formats.csv_files import FirstLines
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal, write

IRIS = load_iris()
ROWS = "".join(f"{','.join(map(str, x))},{IRIS.target_names[t]}\n" for x, t in zip(IRIS.data, IRIS.target, strict=True))
NAMES = "a,b,c,d,species\n"


def doubted(text):
    lines = iter(text.splitlines(keepends=True))
    return bool(FirstLines.of(lines, ",", '"').doubts())


@pytest.mark.parametrize("target", [5, "5", -1, "-1", "x5"])
def test_a_file_is_the_same_table_with_a_header_and_without(tmp_path, target):
    bare, headed = write(tmp_path / "bare.csv", ROWS), write(tmp_path / "headed.csv", NAMES + ROWS)
    found, expected = read_table(bare, target, header=False), read_table(headed, "species")
    assert found.X.tolist() == expected.X.tolist() == IRIS.data.tolist()
    assert found.y.tolist() == expected.y.tolist()
    assert (found.names, found.target) == (("x1", "x2", "x3", "x4"), "x5")
    assert found.notes == ()
    assert found.rows.tolist() == list(range(1, 151))


def test_columns_to_leave_out_and_their_kinds_may_be_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "1,7,3,u\n2,8,4,v\n1,9,5,v\n2,9,6,u\n")
    table = read_table(path, -1, drop="2,x3", category=1, header=False)
    assert table.names == ("x1=2",)
    assert {one.check for one in check(path, target=-1, drop=[2, 3], header=False)} >= {"duplicates", "missing"}
    with pytest.raises(TableError, match=r"it has 4 columns, and no column 5; give a number from 1 to 4"):
        read_table(path, 5, header=False)
    with pytest.raises(TableError, match=r"it has 4 columns, and no column 0"):
        read_table(path, 0, header=False)


def test_with_a_header_a_number_is_a_name(tmp_path):
    path = write(tmp_path / "t.csv", "2,1\n5,u\n6,v\n")
    assert read_table(path, "1").names == ("2",)
    with pytest.raises(TableError, match="it has no column '-1'"):
        read_table(path, "-1")


def test_the_other_ways_to_read_a_file_without_a_header(tmp_path):
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts" / "a.csv", "1;2,5;u\n")
    write(tmp_path / "parts" / "b.csv", "3;4,5;v\n\n5;6;u\n")
    folder = read_table(tmp_path / "parts", 3, header=False, decimal=",", delimiter=";")
    assert folder.X.tolist() == [[1.0, 2.5], [3.0, 4.5], [5.0, 6.0]]
    (tmp_path / "z.tsv.gz").write_bytes(gzip.compress(b"1\tu\n2\tv\n"))
    assert read_table(tmp_path / "z.tsv.gz", 2, header=False).X.ravel().tolist() == [1.0, 2.0]
    one = write(tmp_path / "one.csv", "1,u\n")
    assert read_rows(one, ["x1"], header=False).X.tolist() == [[1.0]]
    empty = write(tmp_path / "empty.csv", "\n")
    with pytest.raises(TableError, match="it is empty; give at least one row"):
        read_rows(empty, ["x1"], header=False)
    ragged = write(tmp_path / "ragged.csv", "1,u\n2,v\n3\n")
    with pytest.raises(TableError, match="row 3 has 1 cell where the first row has 2"):
        read_table(ragged, 2, header=False)


def test_rows_to_predict_may_lack_the_target_wherever_it_was(tmp_path):
    path = write(tmp_path / "t.csv", "1,2,3\n4,5,6\n")
    assert read_rows(path, ["x1", "x3", "x4"], header=False, target_place=(4, 2)).X.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert read_rows(path, ["x1", "x3"], header=False, target_place=(3, 2)).X.tolist() == [[1, 3], [4, 6]]
    with pytest.raises(TableError, match="lacks 1 of the 3 columns of the model: 'x4'"):
        read_rows(path, ["x1", "x2", "x4"], header=False)
    with pytest.raises(TableError, match="for a file without a header give header=False"):
        read_rows(path, ["x1", "x2"])


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "1.5,2\n3,4\n",
        "p,x,s\ne,x,n\np,b,s\ne,b,n\n",  # the mushrooms: categories only
        "5.1,?,setosa\n4.9,3.0,setosa\n",
        '"1","u"\n"2","u"\n',
    ],
)
def test_a_row_of_data_in_place_of_a_header_is_doubted(tmp_path, text):
    assert doubted(text)


@pytest.mark.parametrize(
    "text",
    [
        NAMES + ROWS,
        "0,1,2\n5,6,7\n",  # a frame of pandas without names
        "1,2,3\n5,6,7\n",
        "2019,2020,name\n5,6,Ann\n7,8,Bob\n",
        "y,n\nn,y\ny,x\nn,y\n",  # one name is a level of another column
        "a,y\n",
        ",a\n0,5\n1,6\n",  # an index without a name
    ],
)
def test_names_are_not_doubted(text):
    assert not doubted(text)


def test_no_table_of_scikit_learn_has_a_doubtful_header_and_all_have_one_without(tmp_path):
    data = load_breast_cancer()
    body = "".join(f"{','.join(map(str, x))},{t}\n" for x, t in zip(data.data, data.target, strict=True))
    names = ",".join([*data.feature_names, "y"]) + "\n"
    headed, bare = write(tmp_path / "h.csv", names + body), write(tmp_path / "b.csv", body)
    assert not any("first line" in note for note in read_table(headed, "y").notes)
    assert "give header=False." in read_table(bare, "0").notes[0]
    assert np.array_equal(read_table(bare, -1, header=False).X, data.data)


def test_the_advice_reaches_the_user_where_the_first_row_is_in_the_way(tmp_path):
    with pytest.raises(TableError, match=r"its first line repeats a name, and looks like a row.*give header=False"):
        read_table(write(tmp_path / "t.csv", "1,1,0\n2,3,1\n"), "y")
    with pytest.raises(TableError, match="looks like a row of data: if it is one, give header=False"):
        read_table(write(tmp_path / "u.csv", "1,2,0\n2,3,1\n"), "y")


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0.1, 9), min_size=2, max_size=2), min_size=2, max_size=8))
def test_rows_of_decimals_are_always_doubted(rows):
    text = "".join(f"{a:.3f},{b:.3f}\n" for a, b in rows)
    assert doubted(text)


@pytest.mark.parametrize("target", [-1, "vote"])
def test_a_column_of_a_file_that_seems_to_have_no_header_is_refused_with_the_option(tmp_path, target):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{k % 7},{k % 5},{'ny'[k % 2]}\n" for k in range(2, 40)).replace("2,2,n", "2,3,n", 1))
    told = f"it has no column '{target}'; its first line looks like a row of data: if it is one, give header=False"
    assert told in refusal(str(path), target)
