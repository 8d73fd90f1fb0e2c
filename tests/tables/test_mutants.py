"""Damaged Arrow and Parquet files end in one sentence: no crash of the interpreter, no other error."""

import io
import signal
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from separatrix.core.base.errors import TableError
from separatrix.tables.formats.opening import open_source
from separatrix.tables.read_table import read_table

from . import mutants
from .files import refusal


def outcomes(first, last):
    """What became of each mutant; a process that a signal ends tells of the mutant that it was at."""
    found = {}
    while first < last:
        command = [sys.executable, mutants.__file__, str(first), str(last)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        for line in done.stdout.splitlines():
            number, _, outcome = line.partition(" ")
            found[int(number)] = outcome.strip()
            first = int(number) + 1
        if done.returncode < 0:
            found[first - 1] = signal.Signals(-done.returncode).name
        else:
            assert done.returncode == 0, done.stderr[-2000:]
    return found


@pytest.mark.parametrize("last", [450, pytest.param(9000, marks=pytest.mark.slow)])
def test_damaged_files_end_in_one_sentence(last):
    found = outcomes(0, last)
    assert len(found) == last
    count = Counter(found.values())
    assert set(count) <= {"read", "refused"}, {n: said for n, said in found.items() if said not in ("read", "refused")}
    assert count["refused"] > last / 2


@pytest.mark.parametrize("number", [8289, 8298, 8832])
def test_files_that_ended_otherwise_once(number):
    """Rows left out beside a column of views, which PyArrow cannot select; and a null whose view points nowhere."""
    assert set(outcomes(number, number + 1).values()) <= {"read", "refused"}


def test_views_of_text_are_read_and_rows_of_them_left_out(tmp_path):
    long = "a text that is longer than a view"
    text = pa.array(["a", long, None, "a", "a", long], pa.string_view())
    table, path = pa.table({"x": text, "y": ["u", "v", "u", None, "v", "u"]}), str(tmp_path / "t.arrow")
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    assert read_table(path, "y", missing="drop").X[:, 0].tolist() == [0.0, 1.0, 0.0, 1.0]


NOT_UTF8 = pa.array([b"good", b"caf\xe9", b"good", b"caf\xe9"]).view(pa.string())


@pytest.mark.parametrize("place", ["level", "label", "dictionary"])
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.ipc"])
def test_text_that_is_not_utf_8_is_refused(tmp_path, name, place):
    text, sound = NOT_UTF8, pa.array(["u", "v", "u", "v"])
    columns = {"level": (text, sound), "label": (sound, text), "dictionary": (text.dictionary_encode(), sound)}[place]
    table, path = pa.table(dict(zip(("a", "y"), columns, strict=True))), str(tmp_path / name)
    if name == "t.parquet":
        parquet.write_table(table, path)
    elif name == "t.feather":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    what = "Parquet" if name == "t.parquet" else "Arrow"
    assert f"{name}: it cannot be read as {what} (" in refusal(path)
    assert "UTF8" in refusal(path)


def test_a_frame_with_text_that_is_not_utf_8_is_refused():
    assert "its columns cannot be read" in refusal(pa.table({"a": [1, 2, 3, 4], "y": NOT_UTF8}))


def test_a_column_that_is_not_asked_for_is_not_validated(tmp_path):
    """As with CSV files, only the columns that are read have to be in order."""
    feather.write_feather(pa.table({"a": [1, 2, 3, 4], "b": NOT_UTF8, "y": list("uvuv")}), str(tmp_path / "t.feather"))
    assert read_table(tmp_path / "t.feather", "y", drop=["b"]).names == ("a",)


@pytest.mark.parametrize("name", ["t.arrow", "t.parquet"])
def test_a_file_that_is_cut_short_after_it_was_opened(tmp_path, name):
    """A file that is mapped into memory would end the process here."""
    sink = io.BytesIO()
    table = pa.table({"a": [float(i) for i in range(20_000)], "y": ["u", "v"] * 10_000})
    if name == "t.parquet":
        parquet.write_table(table, sink)
    else:
        with ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    path = tmp_path / name
    path.write_bytes(sink.getvalue())
    source = open_source(path)
    path.write_bytes(sink.getvalue()[:500])
    with pytest.raises(TableError, match="cannot be read as"):
        source.read(["a", "y"])
