"""A column of any type says in SQL and in Python what it says to the encoder."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile
from separatrix.output.python import to_python
from separatrix.output.sql import to_sql
from separatrix.tables.encoder import Encoded, Encoder

from .cases import answered, same
from .sql_engines import ENGINES, split

NOON = datetime.datetime(2024, 1, 1, 12, 0, 0)
LATER = datetime.datetime(2024, 1, 1, 12, 0, 0, 250000)
UTC = datetime.UTC
WHOLE = ("1", "2", "17")
# Every character that Python and Arrow take for white space, on one side of a cell or on both.
SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]


def padded(word):
    return [*(f"{space}{word}" for space in SPACES), *(f"{word}{space}{space}" for space in SPACES)]


# Levels, and columns of several types for them; each has a level never seen and a missing value.
CATEGORIES = {
    "whole": (WHOLE, pa.array([1, 2, 17, 3, None], pa.int32())),
    "whole as doubles": (WHOLE, pa.array([1.0, 2.0, 17.0, 2.5, None, float("nan")], pa.float64())),
    "whole as floats": (WHOLE, pa.array([1.0, 2.0, 17.0, 2.5, None], pa.float32())),
    "whole as text": (WHOLE, pa.array(["1", "2", "1.0", " 1", "17\t", "NA", "", " ", None])),
    "text that reads as numbers": (("1.0", "007", "1"), pa.array([1.0, 7.0, 0.5, None])),
    "text that reads as numbers, as text": (("1.0", "007", "1"), pa.array(["1.0", "1", "007", "7", None])),
    "other numbers alone": (("1.0", "007"), pa.array([1.0, 7.0, 0.5, None, float("nan")])),
    "large and small": (("1e+16", "1e-7", "0.5", "0"), pa.array([1e16, 1e-7, 0.5, 0.1 + 0.2, -0.0, None])),
    "white space of any kind": (("red", "blue"), pa.array([*padded("red"), *SPACES, "r\u00a0ed", "\u200bred", None])),
    "truths": (("true", "false"), pa.array([True, False, None])),
    "truths as text": (("true", "false"), pa.array(["true", "false", "True", "1", None])),
    "truths that mean levels": (("No", "Yes"), pa.array([True, False, None])),
    "truths that mean levels, as text": (("No", "Yes"), pa.array(["Yes", "No", "yes", "true", None])),
    "truths in short": (("T", "F", "other"), pa.array([True, False, None])),
    "truths of letters": (("n", "Y"), pa.array([True, False, None])),
    "truths in digits": (("0", "1", "2"), pa.array([True, False, None])),
    "truths of which one is no level": (("M", "F", "D"), pa.array([True, False, None])),
    "truths that mean several levels": (("yes", "Yes", "no"), pa.array([True, False, None])),
    "truths beside other spellings": (("true", "Yes", "false"), pa.array([True, False, None])),
    "days": (("2024-01-01", "2024-01-02"), pa.array([NOON.date(), datetime.date(2023, 1, 1), None])),
    "times in seconds": (
        ("2024-01-01 12:00:00", "x"),
        pa.array([NOON, datetime.datetime(2023, 1, 1), None], "timestamp[s]"),
    ),
    "times in microseconds": (
        ("2024-01-01 12:00:00", "2024-01-01 12:00:00.25"),
        pa.array([NOON, LATER, datetime.datetime(2023, 1, 1), None], pa.timestamp("us")),
    ),
    "times in milliseconds": (
        ("2024-01-01 12:00:00", "2024-01-01 12:00:00.25"),
        pa.array([NOON, LATER, datetime.datetime(2023, 1, 1), None], pa.timestamp("ms")),
    ),
}
TYPED = [
    (WHOLE, pa.array([Decimal("1.0"), Decimal("17.0"), Decimal("2.5"), None])),
    (("0.1", "0.33333334"), pa.array([0.1, 1 / 3, 0.5, None], pa.float32())),
]
# A zone makes a time UTC; SQLite has no type for it.
ZONED = (
    ("2024-01-01 11:00:00Z", "2024-01-01 12:00:00Z"),
    pa.array([NOON.replace(tzinfo=UTC), NOON.replace(hour=11, tzinfo=UTC), None], pa.timestamp("us", "Europe/Prague")),
)


def of_category(levels, column, missing, unseen):
    fill = tuple(0.25 / (k + 1) for k in range(len(levels) - 1))
    encoder = Encoder((Encoded("c", "category", tuple(levels), fill, missing == "indicator"),), missing, unseen)
    W = 1.0 + np.arange(encoder.n_columns + 1.0)[None, :] ** 2
    return over(encoder, W, column)


def of_plain(kind, column, missing):
    encoder = Encoder((Encoded("c", kind, fill=(0.25,), indicator=missing == "indicator"),), missing)
    return over(encoder, np.array([[-2.0, 1.25, 1.0]])[:, : 1 + encoder.n_columns], column)


def over(encoder, W, column):
    model = ModelFile("logistic", sx.Scorer(W, np.array(["no", "yes"]), "logit"), encoder=encoder)
    return answered(model, pa.table({"c": column, "id": range(len(column))}))


def same_in(case, engine):
    if engine == "python":
        names = {}
        exec(to_python(case.model), names)
        same(case, *asked(names, case.table.to_pylist()))
    else:
        same(case, *split(case, ENGINES[engine](case.table, to_sql(case.model, engine, keep=["id"]))))


def asked(names, rows):
    """Scores, probabilities and labels; None where a row is refused."""
    found = []
    for row in rows:
        try:
            found.append([names[name](row) for name in ("scores", "probabilities", "predict")])
        except ValueError:
            found.append([None] * 3)
    p = [[None, None] if p is None else list(p.values()) for _, p, _ in found]
    return [[z] for z, *_ in found], p, [label for *_, label in found]


@pytest.mark.parametrize("policies", [("impute", "error"), ("indicator", "average"), ("error", "average")])
@pytest.mark.parametrize("kind", CATEGORIES)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "python"])
def test_categories(engine, kind, policies):
    same_in(of_category(*CATEGORIES[kind], *policies), engine)


@pytest.mark.parametrize(("levels", "column"), TYPED)
@pytest.mark.parametrize("policies", [("impute", "error"), ("indicator", "average")])
def test_categories_of_types_that_duckdb_alone_has(levels, column, policies):
    same_in(of_category(levels, column, *policies), "duckdb")


@pytest.mark.parametrize("engine", ["duckdb", "python"])
def test_categories_with_a_zone(engine):
    case = of_category(*ZONED, "impute", "error")
    assert None not in case.labels
    same_in(case, engine)


TEXT_DATES = ["2024-01-01", " 2024-01-01 ", "2024-01-01T12:00:00", "2024-01-01 12:00", "2024-01-01T12:00:00+02:00"]
TEXT_DATES += ["2024-01-01T12:00:00.250Z", "1969-07-20 20:17", "NA", "", "?", "yesterday", None]
DATES = {
    "text": pa.array(TEXT_DATES),
    "white space": pa.array([*padded("2024-01-01"), *padded("2024-01-01T12:00:00+02:00"), *SPACES]),
    "days": pa.array([NOON.date(), datetime.date(1969, 7, 20), None]),
    "seconds": pa.array([NOON, datetime.datetime(1969, 7, 20, 20, 17), None], "timestamp[s]"),
    "microseconds": pa.array([NOON, LATER, None], pa.timestamp("us")),
    "a zone": ZONED[1],
}


@pytest.mark.parametrize("missing", ["error", "impute", "indicator"])
@pytest.mark.parametrize("kind", DATES)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "python"])
def test_dates(engine, kind, missing):
    same_in(of_plain("date", DATES[kind], missing), engine)


PLAIN = {
    "number": {
        "text": pa.array(["1.5", " 2 ", "-3e2", "1e400", "NA", "nan", "?", "abc", "0x10", "", "None", None]),
        "white space": pa.array([*padded("1.5"), *padded("NA"), *SPACES, None]),
        "double": pa.array([1.5, float("nan"), float("inf"), None]),
        "whole": pa.array([1, 2**53 + 1, None]),
        "truth": pa.array([True, False, None]),
    },
    "boolean": {
        "text": pa.array(["true", "FALSE", " True ", "1", "0", "2", "yes", "NA", "", None]),
        "white space": pa.array([*padded("True"), *padded("0"), *SPACES, None]),
        "double": pa.array([1.0, 0.0, 2.0, float("nan"), None]),
        "whole": pa.array([1, 0, 2, None]),
        "truth": pa.array([True, False, None]),
    },
}


@pytest.mark.parametrize("missing", ["error", "indicator"])
@pytest.mark.parametrize("held", ["text", "white space", "double", "whole", "truth"])
@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "python"])
def test_numbers_and_truth_values(engine, kind, held, missing):
    same_in(of_plain(kind, PLAIN[kind][held], missing), engine)


def test_a_truth_value_is_the_level_that_means_it():
    """To the encoder itself: by each level's own score."""
    for levels, means in ((("No", "Yes"), ["Yes", "No"]), (("F", "M"), [None, "F"]), (("yes", "YES"), [None, None])):
        truth = of_category(levels, pa.array([True, False]), "error", "average")
        text = of_category(levels, pa.array([level or "never seen" for level in means]), "error", "average")
        assert np.array_equal(truth.scores, text.scores)


@pytest.mark.parametrize("held", ["text", "truth"])
def test_truth_values_in_standard_sql(held):
    """Which has no word for a column's type; DuckDB reads it."""
    column = pa.array([True, False, None]) if held == "truth" else pa.array(["Yes", "No", "maybe", None])
    case = of_category(("No", "Yes"), column, "impute", "average")
    same(case, *split(case, ENGINES["duckdb"](case.table, to_sql(case.model, "standard", keep=["id"]))))


def test_comments_say_what_a_reader_of_files_may_have_lost():
    def comments(*levels):
        text = to_sql(of_category(levels, pa.array([levels[0]]), "error", "average").model)
        return [line for line in text.splitlines() if line.startswith("--")]

    assert comments("No", "Yes")[0] == "-- 'c': if the engine holds truth values, true counts as 'Yes', false as 'No'"
    assert comments("yes", "YES", "no")[:2] == [
        "-- 'c': if the engine holds truth values, false counts as 'no'",
        "-- 'c': keep it as text; read as a truth value, 'yes', 'YES' would not be recognised",
    ]
    assert comments("007", "x")[0] == "-- 'c': keep it as text; read as a number, '007' would not be recognised"
    assert len(comments("red", "blue")) == 1
    assert comments("red", "NA") == []
    # No name or level can end a comment.
    assert len(comments("yes", "Yes", "a\nb")) == 2
    encoder = Encoder((Encoded("a\nb", "category", ("f", "F"), (0.5,)),))
    model = ModelFile("logistic", sx.Scorer(np.ones((1, 2)), np.array([0, 1]), "logit"), encoder=encoder)
    assert to_sql(model).splitlines()[0].startswith("-- 'a\\nb': keep it as text")


def test_a_table_declared_as_text_in_sqlite():
    """As its own reader of CSV declares all columns."""
    import sqlite3

    model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    engine = sqlite3.connect(":memory:")
    engine.execute("CREATE TABLE `rows` (x0 TEXT)")
    engine.executemany("INSERT INTO `rows` VALUES (?)", [("2.5",), ("12abc",), (" 0 ",)])
    labels = [row[-1] for row in engine.execute(to_sql(model, "sqlite")).fetchall()]
    engine.close()
    assert labels == [1, None, 0]


def test_rows_of_frames_in_python():
    """NumPy's own numbers and truth values, as a row of a frame has them."""
    names = {}
    exec(to_python(of_category(("1", "0.1", "true"), pa.array(["1"]), "error", "error").model), names)
    score = {level: names["scores"]({"c": level}) for level in ("1", "0.1", "true")}
    for value, level in ((np.int64(1), "1"), (np.float32(0.1), "0.1"), (np.float64(1), "1"), (np.True_, "true")):
        assert names["scores"]({"c": value}) == score[level]
