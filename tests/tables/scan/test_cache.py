"""The cache of rows: it is kept, checked, made again when files change, and never gives a wrong answer."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import separatrix as sx
from separatrix.core.base.errors import LabelError, NotFiniteError, TableError
from separatrix.tables import cache as caching
from separatrix.tables.file_batches import ParquetBatches


@pytest.fixture
def reads(monkeypatch):
    """How often Parquet files were read, and which columns."""
    found = []
    read = ParquetBatches.read

    def counted(self, columns, rows=None):
        found.append(tuple(columns))
        return read(self, columns, rows)

    monkeypatch.setattr(ParquetBatches, "read", counted)
    return found


@pytest.fixture
def file(arrow, tmp_path):
    parquet.write_table(arrow.slice(0, 100_000), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def fitted(path, **settings):
    return sx.LogisticRegression().fit(sx.scan(path, target="y", **settings)).coef_


def test_files_are_read_once_and_then_never_again(file, tmp_path, reads):
    first = fitted(file, cache=tmp_path / "cache")
    assert len(reads) == 1
    np.testing.assert_array_equal(fitted(file, cache=tmp_path / "cache"), first)
    assert len(reads) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_without_a_cache_labels_are_read_alone_and_rows_in_every_pass(file, reads):
    model = sx.LogisticRegression().fit(sx.scan(file, target="y", cache=False))
    assert reads[0] == ("y",)
    assert len(reads) == 1 + model.certificate_.passes


def test_a_temporary_cache_leaves_nothing_behind(file, tmp_path, monkeypatch, reads):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    scan = sx.scan(file, target="y")
    sx.LogisticRegression().fit(scan)
    assert scan.store.file is not None
    assert len(reads) == 1
    assert not list(scratch.iterdir())
    sx.LogisticRegression(C=0.1).fit(scan)
    assert len(reads) == 1


def test_changed_files_are_read_again(file, tmp_path, arrow, reads):
    fitted(file, cache=tmp_path / "cache")
    parquet.write_table(arrow.slice(50_000, 100_000), file)
    again = fitted(file, cache=tmp_path / "cache")
    assert len(reads) == 2
    np.testing.assert_array_equal(again, fitted(file, cache=False))
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_other_columns_have_a_cache_of_their_own(file, tmp_path):
    whole = fitted(file, cache=tmp_path / "cache")
    fewer = fitted(file, cache=tmp_path / "cache", drop=["x0"])
    assert whole.shape[1] == fewer.shape[1] + 1
    np.testing.assert_array_equal(fitted(file, cache=tmp_path / "cache"), whole)


def damages(content):
    half = len(content) // 2
    flipped = bytearray(content)
    flipped[-60] ^= 255
    return {
        "empty": b"",
        "short": content[:10],
        "cut": content[:half],
        "cut at the end": content[:-1],
        "footer changed": bytes(flipped),
        "hole": content[: half - 800] + content[half:],
        "row changed": content[:126] + bytes([content[126] ^ 0xF0]) + content[127:],
        "noise": np.random.default_rng(0).bytes(len(content)),
    }


@pytest.mark.parametrize("how", list(damages(bytes(200))))
def test_a_damaged_cache_is_made_again(file, tmp_path, how, reads):
    first = fitted(file, cache=tmp_path / "cache")
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(damages(kept.read_bytes())[how])
    np.testing.assert_array_equal(fitted(file, cache=tmp_path / "cache"), first)
    assert len(reads) == 2


def test_a_cache_is_that_of_the_listed_classes_and_of_the_spelling(tmp_path):
    cache, path = tmp_path / "cache", tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n-999,b\n2,a\n3,b\n")
    assert sx.scan(path, target="y", cache=cache).classes.tolist() == ["a", "b"]
    with pytest.raises(LabelError, match="'b'"):
        sx.LogisticRegression().fit(sx.scan(path, target="y", cache=cache, classes=["a", "c"]))
    for settings in ({}, {"cache": cache}):
        assert sx.scan(path, target="y", classes=["a", "b", "c"], **settings).classes.tolist() == ["a", "b", "c"]
    with pytest.raises(NotFiniteError, match="row 2"):
        sx.LogisticRegression().fit(sx.scan(path, target="y", cache=cache, na="-999"))


@pytest.mark.parametrize("cached", [True, False])
def test_predictions_read_the_rows_of_the_fit(file, arrow, cached):
    scan = sx.scan(file, target="y", cache=None if cached else False)
    model = sx.LogisticRegression().fit(scan)
    expected = model.predict(scan)
    parquet.write_table(arrow.slice(0, 100), file)
    if cached:
        np.testing.assert_array_equal(model.predict(scan), expected)
    else:
        with pytest.raises(TableError, match="changed since it was first read"):
            model.predict(scan)


def test_a_cache_that_is_cut_short_during_a_fit_is_an_error(file, tmp_path):
    scan = sx.scan(file, target="y", cache=tmp_path / "cache")
    assert scan.n_rows == 100_000
    (kept,) = (tmp_path / "cache").iterdir()
    os.truncate(kept, 1000)
    with pytest.raises(TableError, match="cut short while it was in use"):
        sx.LogisticRegression().fit(scan)


def test_a_file_that_changes_while_its_damaged_cache_is_read(file, arrow, tmp_path, monkeypatch):
    """The rows of the new file must not be kept as those of the first one."""
    fitted(file, cache=tmp_path / "cache")
    (kept,) = (tmp_path / "cache").iterdir()
    content = bytearray(kept.read_bytes())
    content[1000] ^= 1
    kept.write_bytes(content)
    sound = caching._sound

    def changing(*given):
        parquet.write_table(arrow.slice(0, 100), file)
        return sound(*given)

    monkeypatch.setattr(caching, "_sound", changing)
    with pytest.raises(TableError, match="it changed while it was read"):
        fitted(file, cache=tmp_path / "cache")


def full(*given, **named):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk(file, tmp_path, monkeypatch, reads):
    plain = fitted(file, cache=False)
    monkeypatch.setattr(caching.CacheWriter, "add", full)
    reads.clear()
    np.testing.assert_array_equal(fitted(file), plain)  # read again in every pass
    with pytest.raises(TableError, match=r"a cache of rows cannot be written there.*No space left"):
        fitted(file, cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_there_is_no_cache_without_room(file, monkeypatch, reads):
    class Disk:
        free = 1_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda folder: Disk)
    scan = sx.scan(file, target="y")
    sx.LogisticRegression().fit(scan)
    assert scan.store.file is None


def test_a_folder_that_cannot_be_made(file, tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(sx.errors.ParameterError, match="cannot be made"):
        fitted(file, cache=tmp_path / "taken")


KILLED = """
import sys, time
import separatrix as sx
from separatrix.tables import cache as cache_file
add = cache_file.CacheWriter.add
def slow(self, *given):
    add(self, *given)
    print("wrote", flush=True)
    time.sleep(0.2)
cache_file.CacheWriter.add = slow
sx.scan(sys.argv[1], target="y", cache=sys.argv[2]).classes
"""


def test_a_killed_writer(file, tmp_path, monkeypatch):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file), str(tmp_path / "cache")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "wrote\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    (left,) = (tmp_path / "cache").iterdir()  # what it had written so far
    removed = []

    def noting(self, *given):
        removed.append(not left.exists())
        add(self, *given)

    add = caching.CacheWriter.add
    monkeypatch.setattr(caching.CacheWriter, "add", noting)
    np.testing.assert_array_equal(fitted(file, cache=tmp_path / "cache"), fitted(file, cache=False))
    assert removed[0]  # before anything was written, so that killed fits do not fill the disk
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_two_fits_at_once_make_one_cache(file, tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(fitted(file, cache=tmp_path / "c"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert all(np.array_equal(one, found[0]) for one in found)
    assert len(list((tmp_path / "c").iterdir())) == 1


def test_a_scan_can_be_pickled(file):
    scan = sx.scan(file, target="y")
    first = sx.LogisticRegression().fit(scan).coef_
    again = pickle.loads(pickle.dumps(scan))
    np.testing.assert_array_equal(sx.LogisticRegression().fit(again).coef_, first)


def test_a_file_that_changes_while_it_is_read(tmp_path, arrow, monkeypatch):
    path = tmp_path / "t.csv"
    csv.write_csv(arrow.slice(0, 1000), path)
    add = caching.CacheWriter.add

    def changing(self, *given):
        add(self, *given)
        time.sleep(0.01)
        csv.write_csv(arrow.slice(0, 999), path)

    monkeypatch.setattr(caching.CacheWriter, "add", changing)
    for cache in (None, tmp_path / "cache"):
        csv.write_csv(arrow.slice(0, 1000), path)
        with pytest.raises(TableError, match="it changed while it was read"):
            fitted(path, cache=cache)
    assert not list((tmp_path / "cache").iterdir())


def test_labels_of_all_kinds_come_back_from_the_cache(tmp_path):
    for k, labels in enumerate((["b", "a"], [7, -3], [True, False], [2.0, 1.0], ["1", "x"])):
        path = tmp_path / f"{k}.parquet"
        parquet.write_table(pa.table({"x": np.arange(100.0) % 7, "y": labels * 50}), path)
        scans = [sx.scan(path, target="y", cache=tmp_path / "cache") for _ in range(2)]
        assert [scan.classes.tolist() for scan in scans] == [sorted(labels)] * 2
        assert scans[0].classes.dtype == scans[1].classes.dtype
