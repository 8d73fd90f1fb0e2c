"""Whole tables: the cases that go wrong in practice, and rows for prediction."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.base import codec
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.encoder import Encoder
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal, write


def rows(n, row):
    return "".join(row(i) for i in range(n))


# -------------------------------------------------------------------------------------------------- fitting


def test_a_late_decimal_is_not_rounded_and_does_not_fail(tmp_path):
    n = 400_000  # several of PyArrow's blocks of one megabyte
    path = write(tmp_path / "t.csv", "a,y\n" + rows(n, lambda i: f"{i % 9},{i % 2}\n") + "0.125,1\n")
    table = read_table(path, "y")
    assert table.X[-1, 0] == 0.125
    assert table.X[10, 0] == 1.0


def test_a_late_text_is_named_by_its_row(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n" + rows(100_000, lambda i: f"{i % 9},{i % 2}\n") + "oops,1\n")
    text = refusal(path)
    assert "column 'a': row 100001 is 'oops', not a number, where nearly all others are" in text
    assert "make the column a category with category='a'" in text


def test_a_wide_file(tmp_path):
    X = np.random.default_rng(0).integers(-9, 9, (30, 2000))
    header = ",".join(f"c{j}" for j in range(2000))
    path = write(tmp_path / "t.csv", f"{header},y\n" + rows(30, lambda i: ",".join(map(str, X[i])) + f",{i % 2}\n"))
    table = read_table(path, "y")
    assert table.names == tuple(f"c{j}" for j in range(2000))
    np.testing.assert_array_equal(table.X, X)


def test_a_third_of_the_values_missing(tmp_path):
    rng = np.random.default_rng(0)
    text = "a,c,y\n" + rows(300, lambda i: f"{'' if rng.random() < 0.3 else i},{['', 'u', 'v'][i % 3]},{i % 2}\n")
    path = write(tmp_path / "t.csv", text)
    holes = text.count("\n,") + text.count(",,")
    assert f"{holes} values are missing in 300 rows, by column: 'a' {holes - 100}, 'c' 100;" in refusal(path)
    imputed, marked = (read_table(path, "y", missing=how) for how in ("impute", "indicator"))
    assert imputed.names == ("a", "c=v")
    assert marked.names == ("a", "a=missing", "c=v", "c=missing")
    assert marked.X[:, 3].sum() == 100
    assert np.array_equal(marked.X[:, [0, 2]], imputed.X)
    kept = read_table(path, "y", missing="drop")
    assert kept.n_rows == 300
    assert len(kept.rows) == len(kept.X) == len(kept.y)
    assert kept.X[:, 0].tolist() == [row - 1 for row in kept.rows]  # the numbers of the rows in the file
    assert "left out because a value is missing" in kept.notes[0]


def test_a_newline_in_a_quoted_cell(tmp_path):
    table = read_table(write(tmp_path / "t.csv", 'c,a,y\n"x\ny",1,0\nz,2,1\n"x\ny",3,1\n'), "y")
    assert table.encoder.columns[0].levels == ("x\ny", "z")
    assert table.X.tolist() == [[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]]


def test_a_target_of_measurements(tmp_path):
    rng = np.random.default_rng(0)
    path = write(tmp_path / "t.csv", "a,y\n" + rows(10_000, lambda i: f"{i % 7},{rng.normal()}\n"))
    assert "a measurement rather than a class" in refusal(path)
    write(path, "a,y\n" + rows(10_000, lambda i: f"{i % 7},{i}.0\n"))
    assert "10000 different labels in 10000 rows" in refusal(path)


def test_columns_without_values_or_with_one(tmp_path):
    path = write(tmp_path / "t.csv", "none,one,some,a,y\n,x,q,1,0\n,x,q,2,1\n,x,,3,1\n")
    table = read_table(path, "y")
    assert table.names == ("a",)
    assert table.notes == (
        "Column 'none' is left out: none of its 3 rows has a value.",
        "Column 'one' is left out: its only value is 'x'.",
        "Column 'some' is left out: its only value is 'q', and 1 row has none.",
    )


def test_rows_without_a_label(tmp_path):
    path = write(tmp_path / "t.csv", "a,c,y\n1,u,0\n2,w,\n3,v,1\n4,u,1\n")
    assert "row 2, target column 'y' has no label" in refusal(path)
    for how in ("drop", "impute", "indicator"):
        table = read_table(path, "y", missing=how)
        assert table.rows.tolist() == [1, 3, 4]
        assert table.names == ("a", "c=v")  # w has gone with its row
        assert table.notes == ("1 row without a label is left out.",)


def test_bad_cells_keep_their_numbers_where_rows_are_left_out(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1,\n2,0\ninf,1\n4,1\n")
    assert "row 3, column 'a' is infinite" in refusal(path, missing="drop")


def test_no_row_is_left(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,y\n1,,0\n,2,1\n3,,1\n,4,0\n")
    assert "no row is left" in refusal(path, missing="drop")
    assert "no row has a label" in refusal(write(path, "a,y\n1,\n2,\n"), missing="drop")


def test_texts_that_are_keys(tmp_path):
    path = write(tmp_path / "t.csv", "id,name,a,y\n" + rows(40, lambda i: f"{i * 7},n{i},{i % 5},{i % 2}\n"))
    assert "column 'name': its 40 texts are all different, as in a column of names or keys" in (refusal(path))
    table = read_table(path, "y", drop="name")
    assert table.names == ("id", "a")
    assert table.notes == (
        "Column 'id' is kept: its values never repeat; if it is an index, leave it out with drop='id'.",
    )


def test_all_texts_that_are_refused_are_named(tmp_path):
    path = write(tmp_path / "t.csv", "p,q,a,y\n" + rows(40, lambda i: f"n{i},m{i},{i % 5},{i % 2}\n"))
    assert "(and 1 more: 'q')" in refusal(path)


def test_settings_that_are_no_words():
    with pytest.raises(ParameterError, match="missing: got 'fill'"):
        read_table("demo:iris", missing="fill")
    with pytest.raises(ParameterError, match="unseen: got 'zero'"):
        read_table("demo:iris", unseen="zero")
    with pytest.raises(ParameterError, match="schema: got dict"):
        read_table("demo:iris", schema={"columns": []})


# ----------------------------------------------------------------------------------------------- prediction

TRAINING = pd.DataFrame(
    {
        "age": [20.0, 30, 40, 50, 60, 70],
        "city": ["Brno", "Zlin", "Brno", "Zlin", "Brno", "Prague"],
        "ill": ["no", "no", "yes", "no", "yes", "yes"],
    }
)


def test_rows_are_read_as_in_training():
    table = read_table(TRAINING, "ill")
    again = read_rows(TRAINING[["ill", "city", "age"]], table.encoder, target="ill")
    assert np.array_equal(again.X, table.X)
    assert again.names == table.names
    assert again.notes == ()
    assert again.y is None
    assert read_rows(TRAINING, table.encoder, target="ill", labelled=True).y.tolist() == table.y.tolist()


def test_the_same_rows_from_csv_and_from_a_frame(tmp_path):
    encoder = read_table(TRAINING, "ill").encoder
    TRAINING.to_csv(tmp_path / "t.csv", index=False)
    assert np.array_equal(read_rows(tmp_path / "t.csv", encoder).X, read_rows(TRAINING, encoder).X)
    assert read_table(tmp_path / "t.csv", "ill").encoder == encoder


def test_columns_that_lack_are_all_named():
    encoder = read_table(TRAINING, "ill").encoder
    with pytest.raises(TableError, match="it lacks 2 of the 2 columns of the model: 'age', 'city'; rename 'Age'"):
        read_rows(pa.table({"Age": [1]}), encoder)


def test_more_columns_are_noted_or_refused():
    encoder = read_table(TRAINING, "ill").encoder
    more = TRAINING.assign(new=1)
    assert read_rows(more, encoder, target="ill").notes == ("Not used, since the model has no such columns: 'new'.",)
    with pytest.raises(TableError, match="the model has no columns 'new'"):
        read_rows(more, encoder, strict=True, target="ill")


def test_levels_never_seen_are_counted_or_refused():
    encoder = read_table(TRAINING, "ill").encoder
    later = pa.table({"age": [1, 2, 3], "city": ["Oslo", "Oslo", "Brno"]})
    found = read_rows(later, encoder)
    assert found.notes == ("Column 'city' has levels that no training row had, in 2 rows, counted as average: 'Oslo'.",)
    np.testing.assert_allclose(found.X[:, 1:], [[1 / 6, 2 / 6], [1 / 6, 2 / 6], [0, 0]])
    with pytest.raises(TableError, match="column 'city' has 'Oslo' in 2 rows"):
        read_rows(later, encoder, strict=True)


def test_missing_values_at_prediction():
    later = pa.table({"age": [1.0, None, 3.0], "city": [None, "Brno", "Zlin"]})
    with pytest.raises(TableError, match="2 values are missing in 3 rows, by column: 'age' 1, 'city' 1;"):
        read_rows(later, read_table(TRAINING, "ill").encoder)
    filled = read_rows(later, read_table(TRAINING, "ill", missing="impute").encoder)
    np.testing.assert_allclose(filled.X[1, 0], 45.0)
    said = "Missing values are filled with the means (categories: the most frequent levels) of the training rows"
    assert filled.notes == (f"{said}: 1 in 'age', 1 in 'city'.",)
    assert filled.X[:2, 1:].tolist() == [[0.0, 0.0]] * 2  # Brno, the most frequent level and here the reference
    dropped = read_rows(later, read_table(TRAINING, "ill", missing="drop").encoder)
    assert dropped.rows.tolist() == [3]
    assert dropped.n_rows == 3


def test_a_model_fitted_and_used(tmp_path):
    table = read_table(TRAINING, "ill")
    model = sx.LogisticRegression(C=10).fit(table.X, table.y)
    kept = codec.read(Encoder, codec.plain(table.encoder))
    for data in (TRAINING, TRAINING.iloc[:, ::-1]):
        assert model.predict(read_rows(data, kept).X).tolist() == model.predict(table.X).tolist()


def test_labels_that_were_asked_for_and_are_not_there():
    encoder = read_table(TRAINING, "ill").encoder
    with pytest.raises(TableError, match="it has no column 'ill'"):
        read_rows(TRAINING[["age", "city"]], encoder, target="ill", labelled=True)
    with pytest.raises(ParameterError, match=r"^target: "):
        read_rows(TRAINING, encoder, labelled=True)
