"""Small files that stand for huge tables: refused by limits that are stated and can be raised."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from separatrix.cli import main
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.formats import source
from separatrix.tables.formats.libsvm import open_svmlight, seems_svmlight
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Content, Spelling
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal, write

ROWS = "a,b,y\n" + "1,2,u\n3,4,v\n" * 5_000
PAIRS = "1 1:2 2:3\n0 1:4 2:5\n" * 5_000


def packed(name, text):
    if name.endswith(".zst"):
        return pa.Codec("zstd").compress(text.encode(), asbytes=True)
    return gzip.compress(text.encode())


@pytest.fixture
def small(monkeypatch):
    """Limits that small files go beyond."""
    monkeypatch.setattr(source, "UNPACKED_AT_LEAST", 20_000)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.libsvm.gz", "t.svm.zst", "t.tsv.gz"])
def test_a_file_that_unpacks_to_too_much(tmp_path, small, name):
    text = PAIRS if "svm" in name else ROWS
    path = write(tmp_path / name, packed(name, text.replace(",", "\t") if "tsv" in name else text))
    target = None if "svm" in name else "y"
    assert 200 * path.stat().st_size < len(text), "the table is compressed to less than a hundredth"
    said = refusal(path, target)
    assert " MB unpack to more than " in said
    assert said.endswith("check where it comes from; if you trust it, raise max_unpacked, in GB.")
    assert read_table(path, target, max_unpacked=0.001).n_rows == 10_000
    assert "unpack to more than 1e-06 GB" in refusal(path, target, max_unpacked=1e-6)


def test_a_file_may_unpack_to_a_hundred_times_its_size(tmp_path, small):
    rng = np.random.default_rng(0)
    text = "a,y\n" + "".join(f"{value},{k % 2}\n" for k, value in enumerate(rng.random(5_000)))
    assert len(text) > 5 * source.UNPACKED_AT_LEAST
    assert read_table(write(tmp_path / "t.csv.gz", gzip.compress(text.encode())), "y").n_rows == 5_000


def test_standard_input_has_the_same_limits(small, monkeypatch):
    for text in (ROWS, PAIRS):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text.encode()))))
        assert "unpack to more than" in refusal("-", None if text is PAIRS else "y")


def test_a_parquet_file_of_runs(tmp_path, small):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1.0] * 60_000, "y": ["u"] * 60_000}), path)
    assert "unpack to more than" in refusal(path)
    with pytest.raises(TableError, match="unpack to more than"):
        open_source(path).read(["a"])
    assert open_source(path, Spelling(max_unpacked=1)).read(["a"]).num_rows == 60_000


@pytest.mark.parametrize("opener", [ipc.new_file, ipc.new_stream])
def test_an_arrow_file_of_a_billion_rows_without_a_value(tmp_path, opener):
    nothing = pa.table({"a": pa.nulls(10**9), "y": pa.nulls(10**9)})
    with opener(str(tmp_path / "t.arrow"), nothing.schema) as writer:
        writer.write_table(nothing)
    assert (tmp_path / "t.arrow").stat().st_size < 2_000
    assert "unpack to more than 1 GB" in refusal(tmp_path / "t.arrow")


LARGEST = f"1 1:2 {2**31 - 1}:1\n0 1:4\n"


def test_a_libsvm_index_that_makes_too_many_columns(tmp_path):
    said = refusal(write(tmp_path / "t.libsvm", LARGEST), None)
    assert said.endswith(
        "t.libsvm: its largest index is 2,147,483,647, where 3 index:value pairs may have 1,000,000 columns; "
        "check that line; if the index is right, raise max_columns."
    )
    wide = write(tmp_path / "wide.libsvm", "1 1:2 1500000:1\n0 1:4\n")
    assert "its largest index is 1,500,000" in refusal(wide, None)
    assert read_table(wide, max_columns=1_500_000).X.shape == (2, 1_500_000)
    assert "may have 2 columns" in refusal(write(tmp_path / "three.svm", "1 3:1\n0 1:4\n"), None, max_columns=2)


def test_a_libsvm_file_may_have_ten_columns_for_each_pair(tmp_path):
    pairs = " ".join(f"{10 * k}:1" for k in range(1, 120_001))
    assert open_svmlight("t", f"1 {pairs}\n0 1:4\n".encode()).values.shape == (2, 1_200_001)
    write(tmp_path / "a.svm", f"1 {pairs}\n0 1:4\n")
    write(tmp_path / "b.svm", LARGEST)
    with pytest.raises(TableError, match=r"b\.svm: its largest index"):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["x2147483647", f"x{10**30}", f"x{'9' * 10_000}", f"x{'0' * 10_000}7"])
def test_a_model_s_column_past_those_of_the_file_is_zero(tmp_path, name):
    path = write(tmp_path / "t.libsvm", "1 1:2 3:1\n0 1:4 2:5\n")
    X = read_rows(path, ["x3", name, "x1"]).X
    assert X.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 4.0]]


@pytest.mark.parametrize("setting", [{"max_columns": 0}, {"max_unpacked": -1.0}, {"max_unpacked": "5"}])
def test_limits_that_are_none(tmp_path, setting):
    [name] = setting
    with pytest.raises(ParameterError, match=f"^{name}: got .* above 0"):
        read_table(write(tmp_path / "t.csv", ROWS), "y", **setting)


def test_the_command_line_says_its_own_options(tmp_path, small, capsys):
    for name, content, option in [
        ("t.csv.gz", gzip.compress(ROWS.encode()), "--max-unpacked, in GB."),
        ("t.libsvm", LARGEST.encode(), "--max-columns."),
    ]:
        path = str(write(tmp_path / name, content))
        target = ["--target", "y"] if "csv" in name else []
        with pytest.raises(SystemExit) as ended:
            main(["fit", path, *target])
        said = capsys.readouterr().err
        assert ended.value.code == 3
        assert said.count("\n") == 1
        assert said.rstrip().endswith(f"raise {option}")
    path = str(write(tmp_path / "t.csv.gz", gzip.compress(ROWS.encode())))
    with pytest.raises(SystemExit) as ended:
        main(["fit", path, "--target", "y", "--max-unpacked", "1"])
    assert ended.value.code in (0, 1)


def test_a_first_line_without_an_end(tmp_path, monkeypatch):
    from separatrix.tables.formats import csv_files as delimited

    monkeypatch.setattr(delimited, "_LONGEST_ROW_BYTES", 1_000)
    assert "its first lines are longer than" in refusal(write(tmp_path / "t.csv", "a" * 5_000))


@pytest.mark.parametrize(
    "line", ["1" * 500_000, "1" * 500_000 + "x", "1 " * 300_000, " " * 500_000 + "x", "1,1" * 99_999]
)
def test_a_long_line_is_looked_at_once(line):
    """With quantifiers that give back what they took, each of these took hours."""
    assert not seems_svmlight(Content("", line.encode()))


def test_a_long_line_of_pairs_is_libsvm():
    assert seems_svmlight(Content("", b"1 " + b" ".join(b"%d:1" % k for k in range(1, 300_000))))
