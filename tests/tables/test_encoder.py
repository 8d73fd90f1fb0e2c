"""From columns to X and back to JSON: every meaning that an export repeats."""

import copy
import json

import numpy as np
import pyarrow as pa
import pytest

from separatrix.core.base import codec
from separatrix.core.base.errors import ModelFileError, ParameterError, TableError
from separatrix.tables.encoder import Encoded, Encoder
from separatrix.tables.infer import infer
from separatrix.tables.learn_encoder import fit_encoder
from separatrix.tables.schema import Column, Schema

TRAINING = pa.table(
    {
        "age": [20.0, 30.0, None, 40.0],
        "city": ["Brno", "Prague", "Brno", "Zlin"],
        "ok": [True, False, True, True],
        "day": pa.array(["2020-01-01", "2020-01-03", "2020-01-02", "2020-01-02"]),
    }
)


def fitted(missing="impute", unseen="average"):
    rows = TRAINING.filter(TRAINING["age"].is_valid()) if missing == "error" else TRAINING
    return fit_encoder(infer(TRAINING), rows, missing, unseen)


def test_names_widths_and_fills():
    encoder = fitted()
    assert encoder.names == ("age", "city=Prague", "city=Zlin", "ok", "day")
    assert encoder.n_columns == 5
    assert [column.fill for column in encoder.columns] == [(30.0,), (0.0, 0.0), (1.0,), (18263.0,)]
    assert [column.average for column in encoder.columns] == [(), (0.25, 0.25), (), ()]
    assert fitted("indicator").names == ("age", "age=missing", "city=Prague", "city=Zlin", "ok", "day")


def test_averages_are_the_means_of_X():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=50), "b": [f"l{k}" for k in rng.integers(0, 4, 50)]})
    encoder = fit_encoder(infer(table), table)
    X, kept = encoder.transform(table, "t")
    assert kept.all()
    np.testing.assert_allclose(X.mean(axis=0), np.concatenate([column.unseen for column in encoder.columns]))


def test_the_most_frequent_level_fills_whichever_is_the_reference():
    table = pa.table({"a": ["u", "v", "v", "w", "w", None], "b": [True, False, None, False, True, True]})
    for reference in "uvw":
        encoder = fit_encoder(infer(table, reference={"a": reference}), table, "impute")
        filled = encoder.transform(table.slice(5), "t")[0]
        as_v = encoder.transform(pa.table({"a": ["v"], "b": [True]}), "t")[0]  # v and w are tied: by the alphabet
        assert filled.tolist() == as_v.tolist()
        assert encoder.transform(table.slice(2, 1), "t")[0][0, -1] == 1.0


def test_means_that_would_overflow_as_sums():
    table = pa.table({"a": [1.5e308, 1.7e308, 1.6e308]})
    assert fit_encoder(infer(table), table).columns[0].fill[0] == pytest.approx(1.6e308)


def test_impute_fills_with_means_and_indicator_marks():
    X, kept = fitted().transform(TRAINING, "t")
    assert X[:, 0].tolist() == [20.0, 30.0, 30.0, 40.0]
    assert X[:, 1:3].tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]
    assert X[:, 3].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert kept.all()
    marked, _ = fitted("indicator").transform(TRAINING, "t")
    assert marked[:, 1].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert np.array_equal(np.delete(marked, 1, axis=1), X)


def test_a_hole_where_training_had_none_is_filled_without_a_mark():
    later = pa.table({"age": [1.0, 1.0], "city": ["Brno", None], "ok": [None, True], "day": ["2020-01-01", None]})
    X, _ = fitted("indicator").transform(later, "t")
    assert X.tolist() == [[1.0, 0.0, 0.0, 0.0, 1.0, 18262.0], [1.0, 0.0, 0.0, 0.0, 1.0, 18263.0]]


def test_drop_leaves_rows_out_and_means_are_of_the_rest():
    encoder = fitted("drop")
    X, kept = encoder.transform(TRAINING, "t")
    assert kept.tolist() == [True, True, False, True]
    assert X.shape == (3, 5)
    assert encoder.columns[0].fill == (X[:, 0].mean(),)
    np.testing.assert_allclose(X[:, 1:3].mean(axis=0), encoder.columns[1].average)


def test_error_names_all_columns_and_counts():
    table = pa.table({"a": [1.0, None, None, 2.0], "b": ["u", "v", None, "u"], "c": [1, 2, 3, 4]})
    expected = r"3 values are missing in 4 rows, by column: 'a' 2, 'b' 1;"
    with pytest.raises(TableError, match=expected):
        fit_encoder(infer(table), table)
    with pytest.raises(TableError, match=expected):
        fit_encoder(infer(table), table.slice(0, 1)).transform(table, "t")


def test_levels_never_seen():
    later = pa.table({"age": [1.0] * 3, "city": ["Oslo", "Rome", "Oslo"], "ok": [True] * 3, "day": ["2020-01-01"] * 3})
    found = fitted("indicator").read(later, "t")
    assert found.X[:, 2:4].tolist() == [[0.25, 0.25]] * 3
    assert found.X[:, 1].tolist() == [0.0] * 3
    assert found.unseen == {"city": {"Oslo": 2, "Rome": 1}}
    with pytest.raises(TableError, match="column 'city' has 'Oslo' in 2 rows; column 'city' has 'Rome' in 1 row"):
        fitted(unseen="error").transform(later, "t")


def test_numbers_as_categories_are_spelled_whole():
    table = pa.table({"k": [3.0, 4.0, 3.0, None]})
    encoder = fit_encoder(infer(table, given=Schema((Column("k", "category"),))), table, "impute")
    assert encoder.names == ("k=4",)
    for later in (pa.array([4]), pa.array([4.0]), pa.array(["4"]), pa.array([4], pa.uint8())):
        assert encoder.transform(pa.table({"k": later}), "t")[0].tolist() == [[1.0]]


def test_infinite_numbers_are_refused_always():
    for missing in ("error", "impute", "indicator", "drop"):
        with pytest.raises(TableError, match="row 2, column 'age' is infinite"):
            fitted(missing).transform(TRAINING.set_column(0, "age", pa.array([1.0, np.inf, 1.0, 1.0])), "t")


def test_two_columns_of_one_name():
    table = pa.table({"a": ["u", "v", "u"], "a=v": [1, 2, 3]})
    with pytest.raises(TableError, match="two columns of X would have the name 'a=v'"):
        fit_encoder(infer(table), table)


def test_words_that_are_no_settings():
    with pytest.raises(ParameterError, match="missing: got 'fill'"):
        fitted("fill")
    with pytest.raises(ParameterError, match="unseen: got 'zero'"):
        fitted(unseen="zero")


@pytest.mark.parametrize("missing", ["error", "impute", "indicator", "drop"])
def test_there_and_back_through_json(missing):
    encoder = fitted(missing)
    again = codec.read(Encoder, json.loads(json.dumps(codec.plain(encoder))))
    assert again == encoder
    whole = TRAINING.slice(0, 2)
    assert np.array_equal(again.transform(whole, "t")[0], encoder.transform(whole, "t")[0])


def _spoiled(path, value):
    found = copy.deepcopy(codec.plain(fitted("indicator")))
    *way, last = path
    place = found
    for key in way:
        place = place[key]
    place[last] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (["missing"], "ignore", "its missing is unknown: 'ignore'"),
        (["unseen"], None, "its unseen is unknown: None"),
        (["more"], 1, "its content has an unknown key, more"),
        (["columns"], {}, "not a list"),
        (["columns", 0], [], r"its columns\.0 is not an object"),
        (["columns", 0, "name"], 3, r"its columns\.0\.name is 3, not of type str"),
        (["columns", 0, "kind"], "text", r"its columns\.0\.kind is unknown: 'text'"),
        (["columns", 0, "levels"], ["a", "b"], "2 levels, which does not fit a number"),
        (["columns", 0, "fill"], [], "its content needs 1 fills for column 'age'"),
        (["columns", 0, "fill"], [1], r"its columns\.0\.fill\.0 is 1, not of type float"),
        (["columns", 0, "fill"], ["inf"], r"its columns\.0\.fill\.0 is inf, not finite"),
        (["columns", 0, "indicator"], 1, r"its columns\.0\.indicator is 1, not of type bool"),
        (["columns", 1, "levels"], ["a"], "1 levels, which does not fit a category"),
        (["columns", 1, "levels"], ["a", "b", "a"], r"its columns\.1 has levels that are not distinct"),
        (["columns", 1, "levels"], ["a", "b", 3], r"its columns\.1\.levels\.2 is 3, not of type str"),
        (["columns", 1, "fill"], [0.5], r"its columns\.1 needs 2 fills"),
        (["columns", 2, "name"], "age", "its content has two columns of the same name"),
        (["missing"], "impute", "an indicator for column 'age', which its 'missing' does not allow"),
    ],
)
def test_every_check_of_what_comes_back(path, value, part):
    with pytest.raises(ModelFileError, match=part):
        codec.read(Encoder, _spoiled(path, value))


def test_an_encoder_made_by_hand():
    encoder = Encoder((Encoded("b", "number"), Encoded("a", "boolean")))
    X, kept = encoder.transform(pa.table({"a": [True, False], "b": [1, 2]}), "t")
    assert X.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert X.flags.c_contiguous
    assert kept.tolist() == [True, True]


def test_columns_that_a_table_lacks():
    with pytest.raises(TableError, match="it lacks the columns 'age', 'ok'"):
        fitted().transform(TRAINING.select(["day", "city"]), "t")


@pytest.mark.parametrize(
    ("kind", "levels", "values"),
    [
        ("number", (), ["1", " 2.50", "?", "007"]),
        ("boolean", (), ["true", "FALSE", " ", "true "]),
        ("date", (), ["2024-01-02", "1970-01-01T12:00Z", "NA", "2024-01-02"]),
        ("category", ("a", "b"), ["a", " b", "strange", "NA"]),
        ("words", (), ["a b", " ", "c", "d"]),
    ],
)
def test_a_column_of_dictionary_type_is_read_as_its_values_are(kind, levels, values):
    indices = pa.array([0, 1, None, 3, 2, 0, 1], pa.int32())
    chunks = [pa.DictionaryArray.from_arrays(indices, pa.array(values)) for values in (values, values[::-1])]
    coded, plain = (
        pa.table({"a": pa.chunked_array(some)}) for some in (chunks, [chunk.dictionary_decode() for chunk in chunks])
    )
    column = Encoded("a", kind, levels)
    np.testing.assert_array_equal(column.read(coded, "t"), column.read(plain, "t"))


def test_values_of_a_dictionary_that_no_row_has_are_not_refused():
    values = pa.array(["1", "oops", "2"])
    unused = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 2], pa.int8()), values)
    column = Encoded("a", "number")
    np.testing.assert_array_equal(column.read(pa.table({"a": unused}), "t"), [1.0, 2.0, np.nan, 2.0])
    used = pa.DictionaryArray.from_arrays(pa.array([0, 2, 2, 1], pa.int8()), values)
    with pytest.raises(TableError, match="row 4, column 'a' is 'oops', not a number"):
        column.read(pa.table({"a": used}), "t")
