"""What a fit learns from a table it learns from its own rows: rows held out change nothing."""

import numpy as np
import pandas as pd
import pytest

from separatrix.core.base.codec import plain
from separatrix.core.base.errors import TableError
from separatrix.tables.read_table import read_raw, read_table
from separatrix.tables.schema import Column, Schema
from separatrix.tables.table_encoder import TableEncoder

LEVELS = np.array(["u", "v", "w", "x"])


def frame_of(seed, n=80):
    """Numbers with holes, a category with a rare level, a truth value, a date."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n).round(1)
    age[rng.random(n) < 0.1] = np.nan
    city = LEVELS[rng.choice(4, n, p=[0.4, 0.3, 0.25, 0.05])].astype(object)
    city[rng.random(n) < 0.1] = None
    since = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    return pd.DataFrame(
        {"age": age, "city": city, "ok": rng.random(n) < 0.3, "since": since, "y": rng.integers(0, 2, n)}
    )


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("missing", ["impute", "indicator"])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_an_encoder_that_saw_the_training_rows_alone(seed, missing, standardise):
    frame = frame_of(seed)
    train = np.random.default_rng(seed).random(80) < 0.5
    table = read_raw(frame, "y", missing=missing).learned(train, standardise)
    alone = TableEncoder(missing=missing, standardise=standardise).fit(frame[train].drop(columns="y"))
    assert table.encoder == alone.encoder_
    expected = alone.transform(frame.drop(columns="y"))
    np.testing.assert_allclose(table.X, expected, rtol=1e-12, atol=1e-12)
    assert (table.scaling is not None) == standardise


@pytest.mark.parametrize("seed", range(4))
def test_rows_held_out_are_free_to_hold_anything(seed):
    frame, other = frame_of(seed), frame_of(seed + 100)
    train = np.random.default_rng(seed).random(80) < 0.6
    changed = frame.where(pd.Series(train), other)
    changed = changed.astype({name: frame[name].dtype for name in frame})
    before, after = (
        read_raw(one, "y", missing="indicator").learned(train, standardise=True) for one in (frame, changed)
    )
    assert before.encoder == after.encoder
    assert plain(before.scaling) == plain(after.scaling)
    assert before.X[train].tobytes() == after.X[train].tobytes()
    assert not np.array_equal(before.X[~train], after.X[~train])


def test_all_rows_are_those_of_read_table():
    frame = frame_of(0)
    for missing in ("impute", "indicator", "drop"):
        whole, raw = read_table(frame, "y", missing=missing), read_raw(frame, "y", missing=missing)
        every = raw.learned(np.ones(len(raw.V), dtype=bool))
        assert whole.encoder == every.encoder
        assert whole.X.tobytes() == every.X.tobytes()
        assert whole.notes == every.notes


def test_numbers_without_holes_are_coded_once():
    raw = read_raw("demo:iris")
    some = np.arange(150) % 3 > 0
    assert raw.learned().X is raw.V
    assert raw.learned(some).X is raw.V
    np.testing.assert_allclose(
        [column.fill[0] for column in raw.learned(some).encoder.columns], raw.V[some].mean(axis=0)
    )
    before = raw.V.copy()
    assert raw.learned(some, standardise=True).X is not raw.V
    assert np.array_equal(raw.V, before)


ONE = pd.DataFrame({"a": np.arange(8.0), "c": list("uuuvvvwx"), "y": [0, 1] * 4})
FITTED = np.arange(8) < 6


def test_levels_of_rows_held_out_are_levels_never_seen():
    table = read_raw(ONE, "y").learned(FITTED)
    assert table.names == ("a", "c=v")
    assert table.X[6:, 1].tolist() == [0.5, 0.5]
    assert (
        "Column 'c' has levels that no fitted row has, in 2 rows held out, counted as average: 'w', 'x'." in table.notes
    )
    with pytest.raises(TableError, match="no training row had: column 'c' has 'w' in 1 row; column 'c' has 'x'"):
        read_raw(ONE, "y", unseen="error").learned(FITTED)


def test_the_reference_does_not_depend_on_how_frequent_levels_are_in_the_rows_fitted():
    assert read_raw(ONE, "y").learned(np.arange(8) > 1).encoder.columns[1].levels == ("u", "v", "w", "x")
    asked = Schema((Column("c", "category", preferred="w"),))
    for raw in (read_raw(ONE, "y", schema=asked), read_raw(ONE, "y", reference={"c": "w"})):
        assert raw.learned().encoder.columns[1].levels == ("w", "u", "v", "x")
        fitted = raw.learned(FITTED)
        assert fitted.encoder.columns[1].levels == ("u", "v")
        assert "The reference 'w' of column 'c' is in no row fitted; 'u' takes its place." in fitted.notes


def test_levels_that_a_schema_gives_hold():
    given = Schema((Column("c", "category", ("w", "u", "v", "x")),))
    table = read_raw(ONE, "y", schema=given).learned(FITTED)
    assert table.names == ("a", "c=u", "c=v", "c=x")
    assert table.X[6:, 1:].tolist() == [[0, 0, 0], [0, 0, 1]]


def test_a_category_of_one_level_in_the_rows_fitted_is_left_out():
    table = read_raw(ONE, "y").learned(np.arange(8) < 3)
    assert table.names == ("a",)
    assert "Column 'c' is left out: its only value is 'u' in the rows fitted." in table.notes
    with pytest.raises(TableError, match="no column varies in the rows fitted"):
        read_raw(ONE[["c", "y"]], "y").learned(np.arange(8) < 3)


def test_an_indicator_is_for_holes_in_the_rows_fitted():
    frame = ONE.assign(a=[0, 1, 2, 3, 4, 5, None, 7.0])
    raw = read_raw(frame, "y", missing="indicator")
    assert "a=missing" in raw.learned().names
    table = raw.learned(FITTED)
    assert "a=missing" not in table.names
    assert table.X[6, 0] == 2.5
    assert any(
        note.startswith("Missing values are filled and marked, as learned from the rows fitted: 1 in 'a'")
        for note in table.notes
    )
