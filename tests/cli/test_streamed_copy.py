"""A text table that is read in batches is parsed once; later passes read a copy of what was parsed."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from separatrix.cli.exits import Terminated
from separatrix.core.base.errors import TableError
from separatrix.tables import batches as memory_limit
from separatrix.tables import seen_cells, streamed_table
from separatrix.tables.formats import batched, csv_files
from separatrix.tables.schema import Column
from separatrix.tables.streamed_columns import BatchColumn, GivenColumn

from .running import complaint, run

N = 1500


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(memory_limit, "smallest_memory", lambda n_columns: 0)
    monkeypatch.setattr(batched, "ROWS_PER_BATCH", 97)
    monkeypatch.setattr(batched, "BYTES_PER_BATCH", 8000)
    # So few that columns of numbers are stored as numbers after a few batches.
    monkeypatch.setattr(seen_cells, "MOST_TEXTS_KEPT", 200)


@pytest.fixture
def parses(monkeypatch):
    """The files that were parsed, once for each time."""
    parsed, found = batched._parsed, []

    def counted(source, *given):
        found.append(source.name)
        return parsed(source, *given)

    monkeypatch.setattr(batched, "_parsed", counted)
    return found


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"x{j}": rng.standard_normal(N) for j in range(3)})
    frame["y"] = np.where(frame.x0 > rng.logistic(size=N), "yes", "no")
    return frame


def categories(frame, rng):
    frame["city"] = rng.choice(["Brno", "Kyiv", " Lviv"], N)
    frame["code"] = rng.choice(["007", "7", "1.50", "a"], N)
    frame["flag"] = rng.choice(["true", "false"], N)


def dates(frame, rng):
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    frame["day"] = day.strftime("%Y-%m-%d")
    frame["at"] = (day + pd.to_timedelta(rng.integers(0, 86400, N), "s")).strftime("%Y-%m-%dT%H:%M:%S")


def missing(frame, rng):
    frame["x1"] = np.where(rng.random(N) < 0.1, rng.choice(["", "NA", "?", " null "], N), frame.x1.astype(str))
    frame["c"] = rng.choice(["a", "b", "", "NA"], N)
    frame.loc[rng.random(N) < 0.05, "y"] = None


def late_text(frame, rng):
    """Numbers that become a category by a text in the last batches, so that their spelling matters."""
    frame["late"] = np.where(np.arange(N) > 0.9 * N, "V4", rng.choice(["007", "7", "1.50"], N))


def signs(frame, rng):
    frame["y"] = np.where(frame.y == "yes", "+", "-")
    frame.loc[rng.random(N) < 0.05, "y"] = "?"


def few_numbers(frame, rng):
    frame["age"] = rng.integers(20, 60, N).astype(str)
    frame["score"] = rng.choice(["1", "1.0", " 2.5", "-3e-1", "1e-300"], N)


TABLES = [categories, dates, missing, late_text, signs, few_numbers]


def fitted(data, *more):
    run("fit", data, "--target", "y", "--memory", "1KB", "--standardise", *more, "--out", "m.json")
    return Path("m.json").read_text()


def without_copy(monkeypatch, data, *more):
    with monkeypatch.context() as patch:
        patch.setattr(streamed_table, "room_for_temporary", lambda folder: 0)
        return fitted(data, *more)


@pytest.mark.parametrize(
    ("change", "how"),
    [*((change, "impute") for change in TABLES), (missing, "indicator"), (missing, "drop"), (signs, "drop")],
)
def test_text_is_parsed_once_with_the_same_model(frame, parses, monkeypatch, change, how):
    change(frame, np.random.default_rng(5))
    frame.to_csv("t.csv", index=False)
    found = fitted("t.csv", "--missing", how)
    assert len(parses) == 1
    assert without_copy(monkeypatch, "t.csv", "--missing", how) == found
    assert len(parses) > 3


def test_each_file_of_a_folder_is_parsed_once(frame, parses, monkeypatch):
    Path("d").mkdir()
    for k in range(3):
        frame[k::3].to_csv(f"d/{k}.csv", index=False)
    found = fitted("d")
    assert sorted(Path(name).name for name in parses) == ["0.csv", "1.csv", "2.csv"]
    assert without_copy(monkeypatch, "d") == found


def test_settings_of_columns(frame, parses, monkeypatch):
    rng = np.random.default_rng(5)
    frame["code"] = rng.choice(["1", "01", "2"], N)
    frame["words"] = rng.choice(["red car", "blue car", "red boat"], N)
    frame["day"] = rng.choice(["31.12.2024", "01.02.2023", "-"], N)
    frame.to_csv("t.csv", index=False)
    given = ["--category", "code", "--number", "x0", "--text", "words", "--text-hashed", "--text-features", "8"]
    given += ["--na", "-", "--date-format", "day=%d.%m.%Y", "--missing", "impute"]
    found = fitted("t.csv", *given)
    assert len(parses) == 1
    assert without_copy(monkeypatch, "t.csv", *given) == found
    frame.loc[N - 1, "x0"] = np.inf
    frame.to_csv("t.csv", index=False)
    said = complaint("fit", "t.csv", "--target", "y", "--memory", "1KB", *given, code=3)
    assert f"row {N}, column 'x0' is infinite" in said


def test_a_copy_that_lacks_texts_is_not_used():
    column, number = BatchColumn("a", pa.chunked_array([["007", "7"]])), Column("a", "number")
    target = BatchColumn("y", pa.chunked_array([["u", "v"]]))
    writer = streamed_table.CopyWriter()
    writer.add([column], [GivenColumn(number, None, "t.csv")], target)
    assert writer.finished([Column("a", "category", ("007", "7"))], (), "t.csv") is None
    (batch,) = writer.finished([number], (), "t.csv").batches(["y", "a"])
    assert batch.columns.to_pydict() == {"y": ["u", "v"], "a": [7.0, 7.0]}


def test_a_text_of_a_row_without_a_label(frame, parses, monkeypatch):
    """Its column is a category of all rows, and one of numbers of the rows with a label."""
    frame["y"] = np.where(np.arange(N) % 5 == 0, None, frame.y)
    frame["few"] = np.where(np.arange(N) % 5 == 0, "none of them", (np.arange(N) % 7).astype(str))
    frame.to_csv("t.csv", index=False)
    found = fitted("t.csv", "--missing", "impute")
    assert len(parses) == 1
    assert without_copy(monkeypatch, "t.csv", "--missing", "impute") == found


def full(*given, **named):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up(frame, parses, monkeypatch):
    frame.to_csv("t.csv", index=False)
    found = fitted("t.csv")
    parses.clear()
    monkeypatch.setattr(streamed_table, "_write", full)
    assert fitted("t.csv") == found
    assert len(parses) > 3


def test_a_folder_that_cannot_be_written(frame, parses, monkeypatch):
    frame.to_csv("t.csv", index=False)
    found = fitted("t.csv")
    monkeypatch.setattr(streamed_table.tempfile, "TemporaryFile", full)
    parses.clear()
    with monkeypatch.context() as patch:
        patch.setattr("separatrix.tables.encoded_rows.room_for_temporary", lambda folder: 0)
        assert fitted("t.csv") == found
    assert len(parses) > 3


def open_files():
    """The files that this process has open, where the system tells them."""
    return set(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else set()


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, 0), (TableError("t.csv", "it is bad", "mend it"), 3), (KeyboardInterrupt(), 130), (Terminated(), 143)],
)
def test_nothing_is_left_behind(frame, monkeypatch, tmp_path, error, code):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    frame.to_csv("t.csv", index=False)
    before, add = open_files(), streamed_table.CopyWriter.add

    def interrupted(writer, *given):
        add(writer, *given)
        if error is not None:
            raise error
        assert not list((tmp_path / "tmp").iterdir())

    monkeypatch.setattr(streamed_table.CopyWriter, "add", interrupted)
    run("fit", "t.csv", "--target", "y", "--memory", "1KB", code=code)
    assert not list((tmp_path / "tmp").iterdir())
    if error is None:  # The frames of an error hold the file.
        assert open_files() <= before


def test_quotes_and_windows_line_ends(frame, monkeypatch):
    """Lines are counted while they are parsed; a line end that two pieces share counts once."""
    frame.to_csv("t.csv", index=False, quoting=1, lineterminator="\r\n")
    monkeypatch.setattr(csv_files, "MOST_BYTES_SEARCHED", 1000)
    assert fitted("t.csv")


def test_small_batches_are_joined_with_the_same_model(frame, monkeypatch):
    for module in (batched, memory_limit):
        monkeypatch.setattr(module, "ROWS_PER_BATCH", 1 << 16)
    monkeypatch.setattr(batched, "BYTES_PER_BATCH", 32_000)  # a sixteenth of it is parsed at a time
    sizes, add = [], streamed_table.CopyWriter.add

    def noted(writer, columns, seen, target, ends):
        sizes.append((len(target.cells), len(ends)))
        add(writer, columns, seen, target, ends)

    monkeypatch.setattr(streamed_table.CopyWriter, "add", noted)
    missing(frame, np.random.default_rng(5))
    frame.to_csv("t.csv", index=False)
    for how in ("impute", "drop"):
        found = fitted("t.csv", "--missing", how)
        assert max(ends for _, ends in sizes) == 16
        with monkeypatch.context() as patch:
            patch.setattr(batched.BatchedSource, "parts_joined", 1)
            sizes.clear()
            assert fitted("t.csv", "--missing", how) == found
            assert not any(ends for _, ends in sizes)
        assert sum(rows for rows, _ in sizes) == N
        sizes.clear()


def test_the_first_error_of_joined_batches_is_told(frame, monkeypatch):
    """A cell that is refused, before a row that cannot be parsed."""
    for module in (batched, memory_limit):
        monkeypatch.setattr(module, "ROWS_PER_BATCH", 1 << 16)
    monkeypatch.setattr(batched, "BYTES_PER_BATCH", 64_000)
    frame["x0"] = np.where(np.arange(N) == 1000, "oops", frame.x0.astype(str))
    frame.to_csv("t.csv", index=False)
    with open("t.csv", "a") as file:
        file.write("1,2\n")
    fit = ("fit", "t.csv", "--target", "y", "--memory", "1KB")
    assert "row 1001, column 'x0' is 'oops', not a number" in complaint(*fit, "--number", "x0", code=3)
    assert f"row {N + 1} has 2 cells" in complaint(*fit, code=3)
