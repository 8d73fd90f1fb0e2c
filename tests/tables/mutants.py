"""Damaged Arrow and Parquet files, read one after the other in a process of its own, which a crash may end.

    python mutants.py FIRST LAST

prints the number of a mutant before it is read, and after it what became of it: "read", "refused", or the error that
no table should end in. The formats take turns.
"""

import datetime
import io
import random
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

ROWS = 40
_TEXT = [None if i % 9 == 4 else f"level {i % 4} é" for i in range(ROWS)]
_LABELS = ["yes" if i % 3 else "no" for i in range(ROWS)]
TABLE = pa.table(
    {
        "number": pa.array([i * 0.5 for i in range(ROWS)]),
        "whole": pa.array([None if i % 11 == 5 else i % 7 for i in range(ROWS)], pa.int32()),
        "text": pa.array(_TEXT),
        "large": pa.array(_TEXT, pa.large_string()),
        "coded": pa.array(_TEXT).dictionary_encode(),
        "truth": pa.array([i % 2 == 0 for i in range(ROWS)]),
        "day": pa.array([datetime.date(2020, 1, 1 + i % 28) for i in range(ROWS)]),
        "time": pa.array([i * 3_600_000_000 for i in range(ROWS)], pa.timestamp("us", "Europe/Prague")),
        "price": pa.array([Decimal(i) / 4 for i in range(ROWS)], pa.decimal128(9, 2)),
        "y": pa.array(_LABELS),
    }
)
# Parquet has no views, and older readers of Arrow files neither; they are the easiest to point out of their buffers.
VIEWED = TABLE.append_column("view", pa.array(_TEXT, pa.string_view()))


def _arrow(opener, table, compression):
    sink = io.BytesIO()
    with opener(sink, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        for batch in table.to_batches(max_chunksize=25):
            writer.write_batch(batch)
    return sink.getvalue()


def _parquet(**options):
    sink = io.BytesIO()
    parquet.write_table(TABLE, sink, row_group_size=25, **options)
    return sink.getvalue()


FORMATS = {
    "file.arrow": lambda: _arrow(ipc.new_file, VIEWED, None),
    "lz4.feather": lambda: _arrow(ipc.new_file, TABLE, "lz4"),
    "zstd.feather": lambda: _arrow(ipc.new_file, TABLE, "zstd"),
    "stream.ipc": lambda: _arrow(ipc.new_stream, VIEWED, None),
    "lz4-stream.ipc": lambda: _arrow(ipc.new_stream, TABLE, "lz4"),
    "plain.parquet": lambda: _parquet(compression="none", use_dictionary=False),
    "coded.parquet": lambda: _parquet(compression="none"),
    "snappy.parquet": lambda: _parquet(compression="snappy"),
    "zstd.parquet": lambda: _parquet(compression="zstd", data_page_version="2.0"),
}


def mutant(sound, number):
    """The file with some bytes changed, a range zeroed or filled, or its end cut off; the same for the same number."""
    chance = random.Random(number)
    damaged = bytearray(sound)
    kind = chance.randrange(10)
    if kind < 6:
        for _ in range(chance.choice([1, 1, 2, 8])):
            damaged[chance.randrange(len(damaged))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    elif kind < 9:
        start, length = chance.randrange(len(damaged)), chance.choice([4, 8, 64])
        damaged[start : start + length] = bytes([chance.choice([0, 0xFF, 0x7F])]) * len(damaged[start : start + length])
    else:
        del damaged[chance.randrange(len(damaged)) :]
    return bytes(damaged)


def main(first, last):
    from separatrix.core.base.errors import InputError
    from separatrix.tables.read_table import read_table

    sound = [(name, made()) for name, made in FORMATS.items()]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(first), int(last)):
            name, whole = sound[number % len(sound)]
            path = Path(folder, name)
            path.write_bytes(mutant(whole, number))
            print(number, end=" ", flush=True)
            try:
                read_table(path, "y", missing="impute")
                print("read", flush=True)
            except InputError:
                print("refused", flush=True)
            except Exception as error:  # the campaign is about which errors come through
                print(f"{type(error).__name__}: {error}".replace("\n", " ")[:200], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
