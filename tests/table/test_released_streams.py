"""Arrow's threads have released a stream of ours when a text file has been read.

A thread that still held one when the interpreter ended could not take the interpreter's lock, and the process aborted:
one of 160 runs of ``separatrix predict`` on a compressed file, on a busy machine.
"""

import gzip
import sys
import time

import pytest
from pyarrow import csv

from separatrix.table.formats import unpacking
from separatrix.table.formats.unpacking import Content, Unpacked


def test_bytes_in_memory_are_held_by_no_thread():
    content = Content("rows", b"a,y\n1,u\n")
    start = time.perf_counter()
    for _ in range(20):
        assert content.parsed(csv.read_csv).num_rows == 1
    assert time.perf_counter() - start < unpacking.SECONDS_FOR_THREADS


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_no_thread_holds_the_stream_afterwards(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    with gzip.open(path, "wt") if ending.endswith("gz") else open(path, "w") as file:
        file.write("a,y\n" + "1,u\n" * 2000)
    for _ in range(200):
        with Content("rows", path) as content:
            held = []

            def parse(stream, content=content, held=held):
                held.append(stream if isinstance(stream, Unpacked) else content._file)
                held.append(sys.getrefcount(held[0]))
                return csv.read_csv(stream)

            assert content.parsed(parse).num_rows == 2000
            assert sys.getrefcount(held[0]) <= held[1]
