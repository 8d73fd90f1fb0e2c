"""Queries and streams that fail are refused with one sentence, which contains the words of their engine."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.base.errors import TableError

from .test_hostile import fit, table


def test_a_reader_that_can_be_read_only_once_is_refused():
    reader = table().to_reader()
    with pytest.raises(TableError, match="read only once"):
        sx.scan(reader, target="y")


@pytest.mark.parametrize("cache", [None, False])
def test_a_stream_that_is_empty_the_second_time_is_noticed(cache):
    batches = table(5000).to_batches()
    given = []

    def once():
        given.append(1)
        return pa.RecordBatchReader.from_batches(table().schema, iter(batches if len(given) <= 2 else []))

    # The first stream gives the schema, and the second one is the pass over labels, or the one that fills the cache.
    scan = sx.scan(once, target="y", cache=cache)
    if cache is None:
        sx.LogisticRegression().fit(scan)
        return
    with pytest.raises(TableError, match="it had 5000 rows when it was first read, and 0 rows now"):
        sx.LogisticRegression().fit(scan)


FRAME = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "s": ["1", "2", "three", "4"], "y": [0, 1, 0, 1]})


def closed_relation():
    base = duckdb.connect()
    found = base.sql("select 1.0 x, 1 y")
    base.close()
    return found


def relation_of_a_dropped_table():
    base = duckdb.connect()
    base.execute("create table gone as select 1.0 x, 1 y")
    found = base.sql("select * from gone")
    base.execute("drop table gone")
    return found


# What is said before the words of the engine, which differ between its releases.
NOT_COMPUTED = "it cannot be computed ("
QUERIES = {
    "no column": (f"the lazy frame: {NOT_COMPUTED}", lambda: FRAME.lazy().select("none", "y")),
    "no number": (f"the lazy frame: {NOT_COMPUTED}", lambda: FRAME.lazy().with_columns(pl.col("s").cast(pl.Float64))),
    "no file": (f"the lazy frame: {NOT_COMPUTED}", lambda: pl.scan_parquet("/no/such/file.parquet")),
    "128 bits": (
        "the lazy frame: column 'x' holds Int128, which PyArrow does not read (",
        lambda: FRAME.lazy().with_columns(pl.col("x").cast(pl.Int128)),
    ),
    "no number in SQL": (
        f"the relation: {NOT_COMPUTED}",
        lambda: duckdb.sql("select 1.0 x, cast(s as double) s, y from (values ('1', 0), ('three', 1)) v(s, y)"),
    ),
    "closed": (f"the relation: {NOT_COMPUTED}", closed_relation),
    "no table": (f"the relation: {NOT_COMPUTED}", relation_of_a_dropped_table),
    "the function that makes the stream": (
        f"the stream: {NOT_COMPUTED}",
        lambda: lambda: FRAME.lazy().select("none").collect(),
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_error_of_a_query_is_one_sentence(name):
    begin, query = QUERIES[name]
    with pytest.raises(TableError) as caught:
        fit(query())
    said = str(caught.value)
    assert said.startswith(begin)
    assert len(said) > len(begin) + 20
    assert "\n" not in said


def test_a_connection_that_is_closed_after_the_scan():
    base = duckdb.connect()
    scan = sx.scan(base.sql("select 1.0 x, 1 y union all select 2.0, 0"), target="y")
    base.close()
    with pytest.raises(TableError, match="the relation: it cannot be computed"):
        sx.LogisticRegression().fit(scan)


def shuffled_each_time(n=2000):
    """A function whose streams have the same rows in another order each time, as a GROUP BY gives them."""
    rng, rows = np.random.default_rng(0), table(n)
    return lambda: rows.take(rng.permutation(n)).to_reader()


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_rows_in_another_order_are_refused_unless_they_are_cached(classes):
    sx.LogisticRegression().fit(sx.scan(shuffled_each_time(), target="y", classes=classes))
    scan = sx.scan(shuffled_each_time(), target="y", classes=classes, cache=False)
    with pytest.raises(TableError, match="another order when they were read again"):
        sx.LogisticRegression().fit(scan)


@pytest.mark.parametrize("order", ["", "order by id"])
def test_only_ordered_groups_of_a_query_can_be_read_again(order):
    """DuckDB computes groups in several threads, and gives each when it is ready."""
    base = duckdb.connect()
    base.execute("set threads = 4")
    base.execute("create table t as select i as id, sin(i) as x, (i * 7919) % 13 < 6 as y from range(200000) r(i)")
    groups = base.sql(f"select id, max(x) as x, bool_or(y) as y from t group by id {order}")
    scan = sx.scan(groups, target="y", drop="id", cache=False)
    if order:
        assert sx.LogisticRegression().fit(scan).certificate_.met
        return
    with pytest.raises(TableError, match="another order when they were read again"):
        sx.LogisticRegression().fit(scan)
