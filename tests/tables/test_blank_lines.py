"""Row 1 is the first row below the header. Blank lines are no rows, wherever they are, and shift no number."""

import numpy as np
import pytest

from separatrix.core.base.errors import TableError
from separatrix.tables.encoder import Encoded, Encoder
from separatrix.tables.read_table import read_rows, read_table

ROWS = [f"{k % 7},{k % 5},{'ny'[k * k % 11 > 4]}" for k in range(40)]


def with_blank_lines(lines, blank, end="\n"):
    """The lines with blank ones before the header, below it, between rows and at the end."""
    whole = [blank, blank]
    for k, line in enumerate(lines):
        whole += [line, *([blank] * (k % 3))]
    return end.join([*whole, blank, blank, ""]).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("blank", ["", " ", " \t  "], ids=["empty", "space", "tab"])
def test_blank_lines_are_no_rows(tmp_path, blank, end):
    (tmp_path / "plain.csv").write_text("\n".join(["a,b,y", *ROWS, ""]))
    (tmp_path / "blank.csv").write_bytes(with_blank_lines(["a,b,y", *ROWS], blank, end))
    plain, table = (read_table(str(tmp_path / name), "y") for name in ("plain.csv", "blank.csv"))
    assert table.names == plain.names
    assert np.array_equal(table.X, plain.X)
    assert np.array_equal(table.y, plain.y)
    assert table.rows.tolist() == list(range(1, 41))
    assert table.notes == plain.notes == ()


@pytest.mark.parametrize("blank", ["", " ", " \t  "], ids=["empty", "space", "tab"])
@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("1,x,n", "row 31, column 'b' is 'x', not a number"),
        ("1,2", "row 31 has 2 cells where the header has 3"),
        ("1,2,n,4", "row 31 has 4 cells where the header has 3"),
        ("inf,2,n", "row 31, column 'a' is infinite"),
    ],
)
def test_a_bad_row_keeps_its_number(tmp_path, blank, row, told):
    path = tmp_path / "t.csv"
    path.write_bytes(with_blank_lines(["a,b,y", *ROWS[:30], row, *ROWS[30:]], blank))
    with pytest.raises(TableError) as caught:
        read_table(str(path), "y", number=["a", "b"])
    assert told in str(caught.value)


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_file_without_a_header(tmp_path, blank):
    path = tmp_path / "t.csv"
    path.write_bytes(with_blank_lines(ROWS, blank))
    assert read_table(str(path), -1, header=False).rows.tolist() == list(range(1, 41))
    path.write_bytes(with_blank_lines([*ROWS[:20], "1", *ROWS[20:]], blank))
    with pytest.raises(TableError, match="row 21 has 1 cell where the first row has 3"):
        read_table(str(path), -1, header=False)


def test_a_row_of_delimiters_is_a_row_without_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,y", *ROWS[:20], ",,", *ROWS[20:], ""]))
    assert read_table(str(path), "y", missing="drop").rows.tolist() == [*range(1, 21), *range(22, 42)]


def test_an_empty_line_in_a_file_of_one_column_is_a_missing_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n\na\n1\n\n3\n")
    table = read_rows(str(path), Encoder((Encoded("a", "number", fill=(2.0,)),), "impute"))
    assert table.X.ravel().tolist() == [1.0, 2.0, 3.0]
    assert table.rows.tolist() == [1, 2, 3]
