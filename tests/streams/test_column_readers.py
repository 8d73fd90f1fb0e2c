"""Threads that each decode a share of the columns of a Parquet file give the same record batches as one thread."""

import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import separatrix as sx
from separatrix.base.errors import TableError
from separatrix.streams.column_readers import FEWEST_COLUMNS_PER_READER, column_shares, side_by_side

COLUMNS = 3 * FEWEST_COLUMNS_PER_READER


def written(path, n=5000, group=700, labels=None):
    """A file with several row groups."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, COLUMNS))
    y = pa.array(np.where(X[:, 0] > rng.logistic(size=n), "yes", "no") if labels is None else labels)
    table = pa.table([*map(pa.array, X.T), y], names=[*(f"x{j}" for j in range(COLUMNS)), "y"])
    parquet.write_table(table, path, row_group_size=group)
    return X, y


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_any_number_of_threads_reads_the_same_rows(tmp_path, threads):
    X, y = written(tmp_path / "1.parquet")
    with sx.threads(threads):
        scan = sx.scan(tmp_path, target="y", cache=False)
        parts = list(scan.table.parts())
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), X)
    assert pa.chunked_array([part.labels for part in parts]).to_pylist() == y.to_pylist()


def test_categories_whose_batches_end_with_a_row_group_stay_beside_their_rows(tmp_path):
    n = 5000
    labels = pa.array(np.random.default_rng(1).choice(["a", "b", "c"], n)).dictionary_encode()
    X, y = written(tmp_path / "1.parquet", n, labels=labels)
    with sx.threads(3):
        parts = list(sx.scan(tmp_path, target="y", cache=False).table.parts())
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), X)
    assert [value for part in parts for value in part.labels.to_pylist()] == y.to_pylist()


def test_batches_of_different_lengths_are_joined_row_by_row():
    def reader(name, lengths):
        start = 0
        for m in lengths:
            yield pa.record_batch([pa.array(range(start, start + m))], names=[name])
            start += m

    joined = pa.Table.from_batches(list(side_by_side([reader("a", [3, 4, 1]), reader("b", [5, 3])])))
    assert joined.to_pydict() == {"a": list(range(8)), "b": list(range(8))}


def test_every_column_is_in_one_share():
    for d in range(1, 40):
        for most in range(1, 9):
            shares = column_shares(range(d), most)
            assert [j for share in shares for j in share] == list(range(d))
            assert len(shares) <= most
            assert len(shares) == 1 or min(map(len, shares)) >= FEWEST_COLUMNS_PER_READER


def test_readers_end_when_nobody_reads_on(tmp_path):
    written(tmp_path / "1.parquet", 200_000, 50_000)
    before = threading.active_count()
    with sx.threads(3):
        parts = sx.scan(tmp_path, target="y", cache=False).table.parts()
        next(parts)
        assert threading.active_count() == before + 3
        parts.close()
    assert threading.active_count() == before


def test_a_damaged_column_is_reported_with_the_file(tmp_path):
    path = tmp_path / "1.parquet"
    written(path)
    content = bytearray(path.read_bytes())
    begin = parquet.read_metadata(path).row_group(2).column(COLUMNS - 1).data_page_offset
    content[begin : begin + 400] = b"\xff" * 400
    path.write_bytes(content)
    with sx.threads(3), pytest.raises(TableError, match=r"1\.parquet.* cannot be read as Parquet"):
        list(sx.scan(tmp_path, target="y", cache=False).table.parts())
