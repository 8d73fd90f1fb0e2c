"""Threads that each read a share of the columns of a Parquet file write the same rows as one thread."""

import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import separatrix as sx
from separatrix.base.errors import NotFiniteError, TableError
from separatrix.streams.part_filling import FEWEST_COLUMNS_PER_READER, PartFilling, column_shares

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


def test_batches_of_different_lengths_fill_the_same_rows():
    lengths = {"a0": [3, 4, 1], "b0": [5, 3]}
    columns = [f"{letter}{j}" for letter in "ab" for j in range(FEWEST_COLUMNS_PER_READER)]

    def read(names):
        start = 0
        for m in lengths[names[0]]:
            yield pa.record_batch([pa.array(np.arange(start, start + m, dtype=float))] * len(names), names=names)
            start += m

    with sx.threads(2):
        parts = list(PartFilling("rows", columns, (), np.float64, 6, read).parts(by_threads=True))
    assert [len(X) for X, _, _ in parts] == [6, 2]
    np.testing.assert_array_equal(np.concatenate([X for X, _, _ in parts]), np.repeat(np.arange(8.0)[:, None], 8, 1))


def test_columns_of_different_lengths_are_refused():
    columns = [f"{letter}{j}" for letter in "ab" for j in range(FEWEST_COLUMNS_PER_READER)]

    def read(names):
        yield pa.record_batch([pa.array(np.zeros(5 if names[0] == "a0" else 4))] * len(names), names=names)

    with sx.threads(2), pytest.raises(TableError, match="different numbers of rows"):
        list(PartFilling("rows", columns, (), np.float64, 6, read).parts(by_threads=True))


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_entry_that_is_not_finite_is_named_whichever_thread_finds_one(tmp_path, threads):
    X, _ = written(tmp_path / "1.parquet")
    X[120, 1] = X[100, COLUMNS - 1] = np.nan
    parquet.write_table(
        pa.table([*map(pa.array, X.T)], names=[f"x{j}" for j in range(COLUMNS)]), tmp_path / "1.parquet"
    )
    with sx.threads(threads), pytest.raises(NotFiniteError, match=rf"row 101 .*'x{COLUMNS - 1}'"):
        list(sx.scan(tmp_path / "1.parquet", cache=False).table.parts())


def test_every_column_is_in_one_share():
    for d in range(1, 40):
        for most in range(1, 9):
            shares = column_shares(range(d), "y", most)
            assert [j for share in shares for j in share.columns] == list(range(d))
            assert [share.first for share in shares] == [share.columns[0] for share in shares]
            assert "".join(share.others for share in shares) == "y"
            assert len(shares) <= most
            assert len(shares) == 1 or min(len(share.columns) for share in shares) >= FEWEST_COLUMNS_PER_READER


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
