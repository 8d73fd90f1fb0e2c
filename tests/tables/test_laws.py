"""Laws of tables: one answer from every format, and none but the rows themselves matters."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from separatrix.core.base.codec import plain, read
from separatrix.tables.encoder import Encoder
from separatrix.tables.read_table import read_rows, read_table
from separatrix.tables.schema import Schema

SEEDS = range(12)


def draw(seed):
    """Columns of every kind with holes, and labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))

    def holes(values, share=0.2):
        return [None if rng.random() < share else value for value in values]

    start = datetime.date(2000, 1, 1)
    return pa.table(
        {
            "decimal": holes((rng.normal(size=n) * 10.0 ** rng.integers(-9, 9)).tolist()),
            "whole": holes(rng.integers(-(2**40), 2**40, n).tolist()),
            "level": holes([f"level {k}" for k in rng.integers(0, 6, n)]),
            "odd, text": holes([['a "quoted" one', "two\nlines", "žluť", " x "][k] for k in rng.integers(0, 4, n)]),
            "truth": holes((rng.random(n) < 0.5).tolist()),
            "day": holes([start + datetime.timedelta(days=int(k)) for k in rng.integers(0, 9999, n)]),
            "code": rng.integers(1, 5, n).tolist(),
            "y": ["no", "yes", *(["no", "yes"][k] for k in rng.integers(0, 2, n - 2))],
        }
    )


def same(one, other):
    assert one.names == other.names
    assert one.encoder == other.encoder
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.rows, other.rows)
    assert one.notes == other.notes


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", ["impute", "indicator", "drop"])
def test_every_format_tells_the_same(tmp_path, seed, missing):
    table = draw(seed)
    csv.write_csv(table, tmp_path / "t.csv")
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=20)
    feather.write_feather(table, str(tmp_path / "t.feather"), chunksize=17)
    from_memory = read_table(table, "y", missing=missing)
    for name in ("t.csv", "t.parquet", "t.feather"):
        same(read_table(tmp_path / name, "y", missing=missing), from_memory)
    same(read_table(table.to_pandas(), "y", missing=missing), from_memory)


@pytest.mark.parametrize("seed", SEEDS)
def test_training_rows_read_again_are_X(seed):
    table = draw(seed)
    for missing in ("impute", "indicator", "drop"):
        first = read_table(table, "y", missing=missing)
        encoder = read(Encoder, plain(first.encoder))
        shuffled = table.select(table.column_names[::-1])
        again = read_rows(shuffled, encoder, target="y", labelled=True)
        np.testing.assert_array_equal(again.X, first.X)
        np.testing.assert_array_equal(again.y, first.y)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_changes_nothing_else(seed):
    table = draw(seed)
    order = np.random.default_rng(seed).permutation(table.num_rows)
    first, other = (read_table(t, "y", missing="indicator") for t in (table, table.take(pa.array(order))))
    assert other.names == first.names
    np.testing.assert_allclose(other.X, first.X[order], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_schema_given_back_changes_nothing(seed):
    table = draw(seed)
    first = read_table(table, "y", missing="impute")
    same(read_table(table, schema=Schema.from_plain(first.schema.plain()), missing="impute"), first)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", ["impute", "indicator"])
def test_every_row_has_one_level(seed, missing):
    """Also a row whose value is missing: the most frequent level, or the level "missing"."""
    found = read_table(draw(seed), "y", missing=missing)
    for column, own in found.encoder.places(found.X):
        if column.kind in ("category", "boolean"):
            assert np.isin(own, [0, 1]).all()
        if column.kind == "category":
            assert np.all(own.sum(axis=1) <= 1)
            known = own[own[:, -1] == 0] if column.indicator else own
            shares = known[:, : column.values].mean(axis=0)
            assert not column.indicator or shares.tolist() == pytest.approx(column.average)


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_is_a_level_like_any_other(seed):
    """The columns of a category with holes are those of the same category with a word in the holes."""
    table = draw(seed)
    marked = read_table(table, "y", missing="indicator")
    for column, own in marked.encoder.places(marked.X):
        if column.indicator and column.kind == "category":
            whole = table.column(column.name).cast(pa.string()).fill_null("\ufffc")
            spelled = read_table(pa.table({column.name: whole, "y": table["y"]}), "y")
            np.testing.assert_array_equal(spelled.X, own)
