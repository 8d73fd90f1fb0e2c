"""Files whose columns have types that differ are read with a type that holds the values of all of them."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

import separatrix as sx
from separatrix.core.base.errors import TableError


def far_from_zero(n=4000):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(n)
    return 1e8 + z, np.where(z + rng.logistic(size=n) > 0, "a", "b")


@pytest.mark.parametrize("write", [parquet.write_table, feather.write_feather], ids=["parquet", "arrow"])
def test_float32_in_the_first_file_rounds_no_other_file(tmp_path, write):
    x, y = far_from_zero()
    ending = "parquet" if write is parquet.write_table else "arrow"
    narrow = pa.array(x[:100].astype(np.float32))
    write(pa.table({"x": narrow, "y": y[:100]}), tmp_path / f"1.{ending}")
    write(pa.table({"x": x[100:], "y": y[100:]}), tmp_path / f"2.{ending}")
    scan = sx.scan(tmp_path, target="y")
    assert scan.dtype == np.float64
    whole = np.concatenate([narrow.to_numpy().astype(float), x[100:]])[:, None]
    np.testing.assert_array_equal(np.concatenate(list(scan.matrices())), whole)
    ours, theirs = (sx.LogisticRegression(C=np.inf).fit(*given).coef_ for given in ((scan,), (whole, y)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((pa.float32(), pa.int64()), np.float64),
        ((pa.float32(), pa.decimal128(12, 2)), np.float64),
        ((pa.float16(), pa.float32()), np.float32),
        ((pa.float32(), pa.float32()), np.float32),
    ],
)
def test_the_width_is_that_of_all_files(tmp_path, kinds, expected):
    for k, kind in enumerate(kinds):
        x = pa.array([1.0, 2.0, 3.0]).cast(pa.float32()).cast(kind)
        parquet.write_table(pa.table({"x": x, "y": ["a", "b", "a"]}), tmp_path / f"{k}.parquet")
    assert sx.scan(tmp_path, target="y").dtype == expected


def test_a_data_set_has_the_types_of_its_own_schema(tmp_path):
    x, y = far_from_zero(200)
    parquet.write_table(pa.table({"x": x.astype(np.float32), "y": y}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"x": x, "y": y}), tmp_path / "2.parquet")
    data = dataset.dataset(tmp_path, schema=pa.schema([("x", pa.float64()), ("y", pa.string())]))
    scan = sx.scan(data, target="y")
    assert scan.dtype == np.float64
    np.testing.assert_array_equal(np.concatenate(list(scan.matrices()))[200:, 0], x)


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [
        (pa.array([0, 1], pa.int8()), pa.array([200, 1], pa.int64()), [0, 1, 200]),
        (pa.array([0, 1], pa.int64()), pa.array([2.0, 1.0]), [0.0, 1.0, 2.0]),
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.large_string()), ["a", "b", "c"]),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]), ["a", "b", "c"]),
    ],
)
def test_labels_whose_types_differ(tmp_path, first, second, classes):
    for k, y in enumerate((first, second)):
        parquet.write_table(pa.table({"x": [1.0, 2.0], "y": y}), tmp_path / f"{k}.parquet")
    for cache in (None, False):
        scan = sx.scan(tmp_path, target="y", cache=cache)
        assert scan.classes.tolist() == classes
        assert sx.LogisticRegression().fit(scan).classes_.tolist() == classes


def test_labels_that_no_type_holds_are_named(tmp_path):
    for k, y in enumerate((pa.array([0.5, 1.0]), pa.array([2**60 + 1, 1]))):
        parquet.write_table(pa.table({"x": [1.0, 2.0], "y": y}), tmp_path / f"{k}.parquet")
    with pytest.raises(TableError, match="cannot be read as labels of type double"):
        sx.LogisticRegression().fit(sx.scan(tmp_path, target="y"))
