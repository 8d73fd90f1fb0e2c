"""Every kind of source gives the fit of the same rows in memory, to the last bit."""

import gzip
import itertools

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from pyarrow import csv, feather, fs, ipc, parquet
from sklearn.datasets import dump_svmlight_file

import separatrix as sx
from separatrix.core.base.errors import TableError
from separatrix.core.rows.protocol import BLOCK_BYTES
from separatrix.tables.formats.opening import open_source


def parts(table, n=3):
    """The table in n parts of different size."""
    edges = np.linspace(0, 1, n + 1) ** 1.5 * table.num_rows
    return [table.slice(int(a), int(b) - int(a)) for a, b in itertools.pairwise(edges)]


def write_parquet(table, folder):
    for k, part in enumerate(parts(table)):
        parquet.write_table(part, folder / f"{k}.parquet", row_group_size=20_000)


def parquet_pattern(table, folder):
    write_parquet(table, folder)
    return str(folder / "*.parquet")


def parquet_folder(table, folder):
    write_parquet(table, folder)
    (folder / "_SUCCESS").touch()
    return folder


def parquet_list(table, folder):
    write_parquet(table, folder)
    return [folder / f"{k}.parquet" for k in range(3)]


def parquet_address(table, folder):
    write_parquet(table, folder)
    return f"file://{folder}"


def columns_in_another_order(table, folder):
    for k, part in enumerate(parts(table)):
        names = part.column_names
        parquet.write_table(part.select(names if k == 0 else names[::-1]), folder / f"{k}.parquet")
    return folder


def data_set(table, folder):
    write_parquet(table, folder)
    return pyarrow.dataset.dataset(folder)


def data_set_with_a_column_from_folders(table, folder):
    for k, part in enumerate(parts(table)):
        (folder / f"part={k}").mkdir()
        parquet.write_table(part, folder / f"part={k}" / "t.parquet")
    return pyarrow.dataset.dataset(folder, partitioning="hive")


def arrow_file(table, folder):
    for k, part in enumerate(parts(table)):
        with ipc.new_file(folder / f"{k}.arrow", table.schema) as out:
            out.write_table(part, max_chunksize=30_000)
    return folder


def arrow_stream_file(table, folder):
    with ipc.new_stream(folder / "t.arrow", table.schema) as out:
        out.write_table(table)
    return folder / "t.arrow"


def feather_file(table, folder):
    feather.write_feather(table, str(folder / "t.feather"))
    return folder / "t.feather"


def csv_files(table, folder):
    for k, part in enumerate(parts(table)):
        csv.write_csv(part, folder / f"{k}.csv")
    return str(folder / "*.csv")


def csv_packed(table, folder):
    with gzip.open(folder / "t.csv.gz", "wb", compresslevel=1) as out:
        csv.write_csv(table, out)
    return folder / "t.csv.gz"


def lazy_frame(table, folder):
    write_parquet(table, folder)
    return pl.scan_parquet(folder / "*.parquet")


def relation(table, folder):
    write_parquet(table, folder)
    # The connection of the module: in DuckDB 1.1, a relation does not keep a connection of its own open.
    return duckdb.sql(f"select * from read_parquet('{folder}/*.parquet')")


def factory(table, folder):
    return lambda: pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=17_000)))


def frame_of_polars(table, folder):
    return pl.from_arrow(table)


def table_in_memory(table, folder):
    return table


BATCHES = hasattr(pl.LazyFrame, "collect_batches")
SOURCES = [
    parquet_pattern,
    parquet_folder,
    parquet_list,
    parquet_address,
    columns_in_another_order,
    data_set,
    arrow_file,
    arrow_stream_file,
    feather_file,
    csv_files,
    csv_packed,
    pytest.param(lazy_frame, marks=pytest.mark.skipif(not BATCHES, reason="this polars gives no batches")),
    relation,
    factory,
    frame_of_polars,
    table_in_memory,
]


@pytest.fixture(scope="module")
def in_memory(rows):
    return sx.LogisticRegression().fit(*rows)


def same_fit(ours, theirs):
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_a_source_gives_the_fit_of_memory(arrow, in_memory, tmp_path, source):
    model = sx.LogisticRegression().fit(sx.scan(source(arrow, tmp_path), target="y", cache=False))
    same_fit(model, in_memory)


@pytest.mark.parametrize("source", [parquet_pattern, csv_packed, relation], ids=lambda source: source.__name__)
def test_a_cache_gives_the_fit_of_memory(arrow, in_memory, tmp_path, source):
    scan = sx.scan(source(arrow, tmp_path), target="y")
    same_fit(sx.LogisticRegression().fit(scan), in_memory)
    assert scan.store.file is not None


def test_sparse_text_gives_the_fit_of_memory(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((70_000, 30)) * (rng.random((70_000, 30)) < 0.2)
    y = (X[:, 0] + X[:, 1] > rng.logistic(size=len(X))).astype(int)
    for k, some in enumerate(np.array_split(np.arange(len(X)), 2)):
        dump_svmlight_file(X[some], y[some], str(tmp_path / f"{k}.libsvm"), zero_based=False)
    table = sx.read_table(tmp_path)
    assert table.X.data.nbytes + table.X.indices.nbytes > BLOCK_BYTES, "the rows are more than one block"
    in_memory = sx.LogisticRegression().fit(table.X, table.y)
    for cache in (None, False):
        scan = sx.scan(tmp_path, cache=cache)
        assert scan.columns == table.names
        same_fit(sx.LogisticRegression().fit(scan), in_memory)


def test_files_of_a_store_are_found_by_name_pattern_and_folder(arrow, in_memory, tmp_path):
    (tmp_path / "data").mkdir()
    write_parquet(arrow, tmp_path / "data")
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    for path in ("data", "data/*.parquet", [f"data/{k}.parquet" for k in range(3)]):
        same_fit(sx.LogisticRegression().fit(sx.scan(path, target="y", filesystem=store)), in_memory)


def nested(folder):
    """Files of one row in a folder, in a folder of it and in one of that."""
    for k, place in enumerate(("data", "data/a", "data/a/b", "data/.hidden")):
        (folder / place).mkdir()
        parquet.write_table(pa.table({"x": [float(k)], "y": [k]}), folder / place / f"{k}.parquet")


@pytest.mark.parametrize(
    ("pattern", "rows"),
    {
        "data/**/*.parquet": 3,
        "data/**/b/*.parquet": 1,
        "data/**/**/*.parquet": 3,
        "data/a/**": 2,
        "**/*.parquet": 3,
        "data/*/*.parquet": 1,
        "data/a/**/2.parquet": 1,
    }.items(),
)
def test_two_stars_stand_for_any_number_of_folders(tmp_path, monkeypatch, pattern, rows):
    nested(tmp_path)
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.chdir(tmp_path)
    found = [
        sx.scan(f"{tmp_path}/{pattern}", target="y"),
        sx.scan(pattern, target="y"),
        sx.scan(f"file://{tmp_path}/{pattern}", target="y"),
        sx.scan(pattern, target="y", filesystem=store),
    ]
    assert [scan.n_rows for scan in found] == [rows] * 4
    assert open_source(pattern).read(["x"]).num_rows == rows


@pytest.mark.parametrize("address", ["", "file://"])
def test_what_no_file_matches_is_called_a_pattern(tmp_path, address):
    nested(tmp_path)
    (tmp_path / "data" / "empty").mkdir()
    for end, problem in (
        ("data/**/*.csv", "no file matches the pattern"),
        ("data/*.csv", "no file matches the pattern"),
        ("data/empty", "the folder has no table in it"),
        ("data/none", "there is no such file"),
    ):
        with pytest.raises(TableError, match=problem):
            sx.scan(f"{address}{tmp_path}/{end}")


def test_text_of_a_store(arrow, in_memory, tmp_path):
    csv.write_csv(arrow, tmp_path / "t.csv")
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    same_fit(sx.LogisticRegression().fit(sx.scan("t.csv", target="y", filesystem=store)), in_memory)


def test_numbers_of_other_types(tmp_path):
    rng = np.random.default_rng(2)
    n = 70_000
    whole, truth = rng.integers(-5, 9, n), rng.random(n) < 0.3
    cents = (rng.standard_normal(n) * 100).round().astype(int)
    y = (whole + truth > rng.logistic(size=n) + 2).astype(int)
    money = pa.array(cents).cast(pa.decimal128(19, 0))
    small = pa.array(whole.astype(np.int8))
    parquet.write_table(pa.table({"a": small, "b": truth, "c": money, "y": y}), tmp_path / "t.parquet")
    X = np.column_stack([whole, truth, cents]).astype(float)
    same_fit(
        sx.LogisticRegression().fit(sx.scan(tmp_path / "t.parquet", target="y")), sx.LogisticRegression().fit(X, y)
    )


@pytest.mark.parametrize("cache", [None, False])
def test_single_precision_stays_single(tmp_path, rows, cache):
    X, y = rows[0].astype(np.float32), rows[1]
    parquet.write_table(pa.table({**{f"x{j}": X[:, j] for j in range(8)}, "y": y}), tmp_path / "t.parquet")
    scan = sx.scan(tmp_path / "t.parquet", target="y", cache=cache)
    assert scan.dtype == np.float32
    same_fit(sx.LogisticRegression().fit(scan), sx.LogisticRegression().fit(X, y))


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_and_classes_of_text(tmp_path, rows, cache, class_weight):
    X = rows[0]
    weight = np.random.default_rng(3).exponential(size=len(X))
    y = np.where(X[:, 0] > 0.05, 10, np.where(X[:, 1] > 0, 9, -1))
    table = pa.table({**{f"x{j}": X[:, j] for j in range(8)}, "w": weight, "y": y})
    csv.write_csv(table, tmp_path / "t.csv")
    scan = sx.scan(tmp_path / "t.csv", target="y", weight="w", cache=cache)
    model = sx.LogisticRegression(class_weight=class_weight, C=0.1).fit(scan)
    same_fit(model, sx.LogisticRegression(class_weight=class_weight, C=0.1).fit(X, y, sample_weight=weight))
    assert model.classes_.tolist() == [-1, 9, 10]


def test_a_late_decimal_is_not_lost(tmp_path):
    lines = [f"{k % 7},{k % 2}" for k in range(300_000)] + ["0.25,1"] * 3
    (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(lines) + "\n")
    scan = sx.scan(tmp_path / "t.csv", target="y")
    assert scan.store.file.dense(299_999, 300_003).ravel().tolist() == [299_999 % 7, 0.25, 0.25, 0.25]


def test_columns_from_folders_and_filters_of_data_sets(arrow, tmp_path):
    data = data_set_with_a_column_from_folders(arrow, tmp_path)
    assert sx.scan(data, target="y").columns[-1] == "part"
    some = data.filter(pyarrow.dataset.field("part") > 0)
    assert sx.scan(some, target="y").n_rows == arrow.num_rows - parts(arrow)[0].num_rows


def test_the_number_of_threads_does_not_change_the_fit(arrow, in_memory, tmp_path):
    for count in (1, 3):
        for cache in (None, False):
            with sx.threads(count):
                scan = sx.scan(parquet_pattern(arrow, tmp_path), target="y", cache=cache)
                same_fit(sx.LogisticRegression().fit(scan), in_memory)


def test_an_older_polars_is_told_what_to_do(arrow, tmp_path, monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    with pytest.raises(TableError, match="update polars"):
        sx.scan(lazy_frame(arrow, tmp_path), target="y")
