"""Sources that cannot be used are refused with a sentence that names the file, the column or the row."""

import os
import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import separatrix as sx
from separatrix.core.base.errors import InputError, LabelError, NotFiniteError, TableError, WeightError

N = 1000


def table(n=N, **changed):
    rng = np.random.default_rng(0)
    columns = {"a": rng.standard_normal(n), "b": rng.standard_normal(n), "y": rng.integers(0, 2, n)}
    return pa.table({**columns, **changed})


def written(folder, *tables):
    for k, one in enumerate(tables):
        parquet.write_table(one, folder / f"{k}.parquet")
    return folder


def fit(data, **settings):
    return sx.LogisticRegression().fit(sx.scan(data, **{"target": "y", **settings}))


def with_null(n, row):
    return pa.array([None if k == row else float(k % 7) for k in range(n)])


def test_no_file(tmp_path):
    for name in ("missing.parquet", "*.parquet", "s3nowhere://x/y.parquet"):
        with pytest.raises(TableError, match=r"no such file|no file matches|cannot be opened"):
            sx.scan(name if "://" in name else tmp_path / name, target="y")
    with pytest.raises(TableError, match="the folder has no table in it"):
        sx.scan(tmp_path, target="y")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv", "t.libsvm", "t.csv.gz"])
def test_an_empty_file(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(TableError, match=r"empty|cannot be read as|too short"):
        fit(tmp_path / name, **({"target": None} if "libsvm" in name else {}))


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv", "t.libsvm"])
def test_a_file_of_noise(tmp_path, name):
    (tmp_path / name).write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(TableError):
        fit(tmp_path / name, **({"target": None} if "libsvm" in name else {}))


def test_a_file_that_ends_too_early(tmp_path):
    written(tmp_path, table(50_000))
    content = (tmp_path / "0.parquet").read_bytes()
    scan = sx.scan(tmp_path / "0.parquet", target="y", cache=False)
    (tmp_path / "0.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match=r"0\.parquet"):
        sx.LogisticRegression().fit(scan)


@pytest.mark.parametrize("cache", [None, False])
def test_no_rows(tmp_path, cache):
    with pytest.raises(TableError, match="no rows"):
        fit(written(tmp_path, table(0)), cache=cache)


def test_a_column_is_missing_in_the_second_file(tmp_path):
    with pytest.raises(TableError, match=r"1\.parquet lacks 'b', compared with .*0\.parquet"):
        fit(written(tmp_path, table(), table().drop(["b"])))
    (tmp_path / "0.csv").write_text("a,b,y\n1,2,u\n2,1,v\n")
    (tmp_path / "1.csv").write_text("a,y\n1,u\n")
    with pytest.raises(TableError, match=r"1\.csv lacks 'b'"):
        fit(str(tmp_path / "*.csv"))


def test_other_types_in_the_second_file(tmp_path):
    with pytest.raises(TableError, match=r"column 'b' holds string in .*1\.parquet and double in"):
        fit(written(tmp_path, table(), table(b=["u"] * N)))


def test_whole_numbers_and_decimals_mix(tmp_path):
    whole = pa.array(np.arange(N) % 5)
    model = fit(written(tmp_path, table(), table(b=whole)))
    X = np.concatenate([np.column_stack([t["a"], t["b"]]) for t in (table(), table(b=whole))])
    y = np.concatenate([table()["y"]] * 2)
    np.testing.assert_allclose(model.coef_, sx.LogisticRegression().fit(X, y).coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (["text"] * N, "string"),
        (pa.array([0] * N, pa.int32()).cast(pa.date32()), "date32"),
        (pa.array([0] * N, pa.timestamp("us")), "timestamp"),
        (pa.array([[1.0]] * N), "list"),
    ],
)
def test_columns_that_are_no_numbers(tmp_path, column, what):
    with pytest.raises(TableError, match=f"column 'b' holds {what}.*drop='b'"):
        fit(written(tmp_path, table(b=column)))
    fit(tmp_path, drop="b")


@pytest.mark.parametrize("cache", [None, False])
def test_a_missing_label_is_named(tmp_path, cache):
    labels = pa.array([None if k == 17 else k % 2 for k in range(N)])
    with pytest.raises(LabelError, match=r"row 18 of 1\.parquet has no label in column 'y'"):
        fit(written(tmp_path, table(), table(y=labels)), cache=cache)


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize("value", [None, np.nan, np.inf])
def test_a_missing_number_is_named(tmp_path, value, cache):
    column = table()["b"].to_pylist()
    column[700] = value
    with pytest.raises(NotFiniteError, match=r"row 701 of 1\.parquet is .* in column 'b'"):
        fit(written(tmp_path, table(), table(b=column)), cache=cache)


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, None])
def test_wrong_weights_are_named(tmp_path, value, cache):
    weight = [1.0] * N
    weight[5] = value
    with pytest.raises(WeightError, match=r"row 6 of .* has the weight"):
        fit(written(tmp_path, table(w=weight)), weight="w", cache=cache)


def test_one_class(tmp_path):
    with pytest.raises(LabelError, match="only one class"):
        fit(written(tmp_path, table(y=["u"] * N)))


def test_measurements_as_labels(tmp_path):
    with pytest.raises(LabelError, match="not of measurements"):
        fit(written(tmp_path, table(y=[0.5, 1.5] * (N // 2))))
    with pytest.raises(LabelError, match="more than 10000 different values"):
        fit(written(tmp_path, table(30_000, y=np.arange(30_000))))


def test_a_label_that_was_not_listed(tmp_path):
    with pytest.raises(LabelError, match=r"row 2 of .*|has the label 1 in column .y.; list all labels; got \[0, 2\]"):
        fit(written(tmp_path, table(y=[0, 1] * (N // 2))), classes=[0, 2])


CSV = {
    "a,b,y\n1,2,u\n2,x,v\n": r"row 2, column 'b' is 'x', not a number",
    "a;b;y\n1,5;2;u\n2,5;3;v\n": r"'1,5', not a number; for a file with decimal commas give decimal=','; else correct",
    "a;b;y\n1;2;u\n-2,5e3;3;v\n": r"row 2, column 'a' is '-2,5e3', not a number; for a file with decimal commas",
    "a,b,y\n1,2,u\n2,3\n": "row 2 has 2 cells where the header has 3",
    "a,b,y\n1,true,u\n2,3,v\n": r"row 2, column 'b' is '3', not a truth value",
    "a,b,y\n1,2,u\n2,\0,v\n": "NUL|not a number",
    "a,b,y\n1,2,u\n2,1,?\n": "row 2 of .* has no label",
    "a,b,y\n1,2,u\n2,,v\n": "row 2 of .* missing or NaN in column 'b'",
    "a,b,y\n": "header and no rows",
    "a,a,y\n1,2,u\n": "2 columns are called 'a'",
    "a,b,y\ncat,2,u\ndog,2,v\n": "column 'a' holds string",
    'a,b,y\n1,2,"u\n2,1,v\n3,1,"v\n': "opens with|never closed|cells where",
    'a,b,y\n1,2,u\n2,1,"v': 'opens with " in line 3 is never closed',
    'a,b,y\n1,2,u\n2,1,"v\n': 'opens with " in line 3 is never closed',
    'a,b,y\n1,2,u\n2,1,"v\n2,1,"u': 'opens with " in line 3 continues on line 4',
}


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize("text", CSV, ids=range(len(CSV)))
def test_damaged_text(tmp_path, text, cache):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=CSV[text]):
        fit(tmp_path / "t.csv", cache=cache)


@pytest.mark.parametrize("cell", ["2.5", "1.234,5", "1.234"])
def test_points_beside_decimal_commas(tmp_path, cell):
    (tmp_path / "t.csv").write_text(f"a;y\n1,5;u\n{cell};v\n")
    message = f"row 2, column 'a' is '{cell}', .*; with decimal commas, remove thousands separators; otherwise leave"
    with pytest.raises(InputError, match=message):
        fit(tmp_path / "t.csv", decimal=",")


LIBSVM = {
    "1 1:2 x\n": "cannot be read as libsvm after row 0",
    "1 1:nan\n0 1:2\n": "row 1 of .* 'x1' is nan",
    "1 1:2\n0 99999999:1\n": "its largest index is",
    "\n\n": "it is empty",
}


@pytest.mark.parametrize("text", LIBSVM, ids=range(len(LIBSVM)))
def test_damaged_libsvm(tmp_path, text):
    (tmp_path / "t.libsvm").write_text(text)
    with pytest.raises(InputError, match=LIBSVM[text]):
        fit(tmp_path / "t.libsvm", target=None)


def test_spellings_of_text(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(2000).round(3)
    y = np.where(a > rng.logistic(size=2000), "ja", "nein")
    lines = [f"{v};{label}".replace(".", ",") for v, label in zip(a, y, strict=True)]
    (tmp_path / "t.csv").write_text("gr\u00f6\u00dfe;y\n" + "\n".join(lines) + "\n", encoding="latin-1")
    model = fit(tmp_path / "t.csv", encoding="latin-1", decimal=",")
    np.testing.assert_allclose(model.coef_, sx.LogisticRegression().fit(a[:, None], y).coef_, rtol=1e-6)
    assert model.feature_names_in_.tolist() == ["gr\u00f6\u00dfe"]


def test_an_error_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    os.mkdir(tmp_path / "scratch")
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,u\n2,x,v\n")
    with pytest.raises(InputError):
        fit(tmp_path / "t.csv")
    assert not list((tmp_path / "scratch").iterdir())


def test_an_arrow_file_with_batches_of_other_sizes(tmp_path):
    with ipc.new_file(tmp_path / "t.arrow", table().schema) as out:
        for part in table(300).to_batches(max_chunksize=1):
            out.write_batch(part)
    assert fit(tmp_path / "t.arrow").certificate_.n_rows == 300


def test_a_file_of_as_many_rows_that_changes_between_passes_is_named(tmp_path):
    """The number of rows does not show it, and a fit would mix the rows of both files."""
    rng = np.random.default_rng(0)
    path = tmp_path / "a.parquet"

    def write(seed):
        x = np.random.default_rng(seed).standard_normal(400)
        parquet.write_table(pa.table({"x": x, "y": rng.choice(["a", "b"], 400)}), path)

    write(0)
    scan = sx.scan(path, target="y", cache=False)
    assert scan.classes.tolist() == ["a", "b"]
    write(1)
    os.utime(path, (1, 1))
    with pytest.raises(TableError, match=rf"^{re.escape(str(path))}: it has changed since it was first read"):
        sx.LogisticRegression().fit(scan)
