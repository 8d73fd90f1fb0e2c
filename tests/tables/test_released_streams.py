"""Arrow's threads have given back what was lent to them when a text file has been read.

A thread that still held an object of Python when the interpreter ended could not take the interpreter's lock, and the
process aborted: one of 70 runs of ``separatrix predict`` on a busy machine.
"""

import gzip
import sys
import time

import pyarrow as pa
import pytest
from pyarrow import csv

import separatrix as sx
from separatrix.core.base.errors import TableError
from separatrix.tables.formats import source
from separatrix.tables.formats.csv_files import BlankLines
from separatrix.tables.formats.source import Content
from separatrix.tables.read_table import read_table

TEXT = b"a,y\n" + b"1,u\n" * 2000


@pytest.fixture(params=["csv", "csv.gz", "bytes", "gzipped bytes"])
def content(request, tmp_path):
    text = gzip.compress(TEXT) if "gz" in request.param else TEXT
    if "bytes" in request.param:
        return Content("rows", text)
    path = tmp_path / f"rows.{request.param}"
    path.write_bytes(text)
    return Content("rows", path)


def test_no_thread_holds_the_stream_or_the_callback_afterwards(content):
    callback = BlankLines()

    def parse(stream):
        return csv.read_csv(stream, parse_options=csv.ParseOptions(invalid_row_handler=callback))

    with content:
        content.compression  # Opens the file.
        held = content.source if isinstance(content.source, bytes) else content._file
        before = sys.getrefcount(held), sys.getrefcount(callback)
        for _ in range(1000):
            assert content.parsed(parse, callback).num_rows == 2000
            assert (sys.getrefcount(held), sys.getrefcount(callback)) == before


def test_the_objects_are_waited_for():
    class Held:
        pass

    held, kept = Held(), []
    with source.Lent(held) as lent:
        assert not lent.is_held
        kept.append(held)
        assert lent.is_held
        kept.clear()
        assert not lent.is_held


@pytest.mark.parametrize(
    "text", [b"a,y\n1,u\n1,u,3\n", b"a,y\n1,\xff\n", b'a,y\n1,"u\n', b"a,y\n1,u\nbad,v\n"], ids=repr
)
@pytest.mark.parametrize("reader", ["table", "scan"])
def test_an_error_is_not_waited_for(tmp_path, text, reader):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    start = time.perf_counter()
    try:
        if reader == "table":
            read_table(path, target="y")
        else:
            sx.LogisticRegression().fit(sx.scan(path, target="y"))
    except (TableError, ValueError, pa.ArrowInvalid):
        pass
    assert time.perf_counter() - start < source.SECONDS_FOR_THREADS
