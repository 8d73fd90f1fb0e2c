"""Rows of a scan are cut into parts of one block, whatever the batches of the source; nothing is lost on the way."""

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx
from separatrix.core.base.errors import NotFiniteError
from separatrix.core.rows.block import block_rows
from separatrix.core.rows.protocol import BLOCK_BYTES
from separatrix.tables import batches
from separatrix.tables.table_parts import BatchColumns

N = 600_000  # long enough for the compiled copy


def mixed(rng):
    """Columns of all kinds that X can have, most of which must be converted to float64."""
    return {
        "double": rng.standard_normal(N),
        "single": rng.standard_normal(N).astype(np.float32),
        "whole": rng.integers(-5, 5, N),
        "truth": rng.random(N) < 0.5,
        **{f"x{j}": rng.standard_normal(N) for j in range(5)},
    }


def test_columns_of_all_types_are_copied_to_parts_of_one_block(tmp_path):
    columns = mixed(np.random.default_rng(0))
    y = np.arange(N) % 3
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "1.parquet", row_group_size=70_000)
    scan = sx.scan(tmp_path, target="y", memory="500MB", cache=False)
    parts = list(scan.table.parts())
    sizes = {part.X.shape[0] for part in parts[:-1]}
    assert sizes == {min(block_rows(BLOCK_BYTES, len(columns)), 1 << 16)}
    expected = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    assert np.array_equal(np.concatenate([part.X for part in parts]), expected)
    assert np.array_equal(np.concatenate([part.labels.to_numpy() for part in parts]), y)


def test_one_thread_reads_batches_while_another_copies_and_sums_them(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = {f"x{j}": rng.standard_normal(N) for j in range(5)}
    pq.write_table(pa.table({**rows, "y": np.arange(N) % 3}), tmp_path / "1.parquet", row_group_size=70_000)
    readers = {}

    def numbered(cls, name):
        plain = getattr(cls, name)

        def noted(*given, **named):
            readers.setdefault(name, set()).add(threading.get_ident())
            return plain(*given, **named)

        monkeypatch.setattr(cls, name, noted)

    numbered(batches, "explained")
    numbered(BatchColumns, "take")
    before = threading.active_count()
    with sx.threads(2):
        scan = sx.scan(tmp_path, target="y", memory="500MB", cache=False)
        parts = scan.coded_parts()
        next(parts)
        here = {threading.get_ident()}
        assert readers["take"] == here
        assert readers["explained"] - here
        parts.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("row", [10, 599_990])
@pytest.mark.parametrize("value", [None, np.inf])
def test_a_missing_or_infinite_entry_is_named_in_short_and_long_tables(tmp_path, row, value):
    columns = mixed(np.random.default_rng(0))
    column = columns["x3"].tolist()
    column[row] = value
    pq.write_table(pa.table({**columns, "x3": column, "y": np.arange(N) % 2}), tmp_path / "1.parquet")
    what = "missing or NaN" if value is None else "infinite"
    with pytest.raises(NotFiniteError, match=rf"row {row + 1} of .* is {what} in column 'x3'"):
        list(sx.scan(tmp_path, target="y", cache=False).table.parts())


def test_labels_of_files_with_text_and_with_categories_are_put_together(tmp_path):
    X = np.random.default_rng(0).standard_normal(1_000)
    y = np.where(X > 0, "b", "a")
    categories = pa.array(y[500:]).dictionary_encode()
    pq.write_table(pa.table({"x": X[:500], "y": y[:500]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": X[500:], "y": categories}), tmp_path / "2.parquet")
    (part,) = sx.scan(tmp_path, target="y", cache=False).table.parts()
    assert part.labels.to_pylist() == y.tolist()


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_are_written_from_any_place_of_batches_whose_columns_change(compiled):
    """The second batch has its columns in another order and with other types, and begins inside its arrays."""
    a, b = np.arange(8.0), np.arange(8.0) ** 2
    b_missing = [None if k == 5 else int(v) for k, v in enumerate(b)]
    batches = [
        pa.record_batch({"a": a, "b": b, "c": a}),
        pa.record_batch({"b": pa.array(b_missing), "a": pa.array(a, pa.float32())}).slice(1),
    ]
    columns = BatchColumns(("a", "b"), np.float64)
    for batch, rows in zip(batches, (slice(2, 6), slice(3, 7)), strict=True):
        X = np.empty((4, 2))
        columns.take(batch)
        assert columns.write(2, X, compiled) == (batch is batches[0])
        columns.release()
        expected = np.column_stack([a[rows], b[rows]])
        if batch is batches[1]:
            expected[2, 1] = np.nan
        assert np.array_equal(X, expected, equal_nan=True)
