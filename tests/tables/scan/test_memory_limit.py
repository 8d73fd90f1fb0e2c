"""A fit to files stays within its memory, and needs no more of it for more rows."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

FIT = """
import sys
import separatrix as sx
cache = None if sys.argv[2] == "cached" else False
with sx.threads(2):
    sx.LogisticRegression().fit(sx.scan(sys.argv[1], target="y", memory="500MB", cache=cache))
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024 / 1e6)
"""


def peak_megabytes(path, cache):
    run = subprocess.run([sys.executable, "-c", FIT, str(path), cache], check=True, capture_output=True, text=True)
    return float(run.stdout)


def written(path, n, d=20):
    rng = np.random.default_rng(0)
    schema = pa.schema([*((f"x{j}", pa.float64()) for j in range(d)), ("y", pa.int8())])
    with parquet.ParquetWriter(path, schema) as out:
        for _ in range(n // 100_000):
            X = rng.standard_normal((100_000, d))
            y = (X[:, 0] > rng.logistic(size=len(X))).astype(np.int8)
            out.write_table(pa.table([*X.T.copy(), y], schema=schema))
    return path


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("cache", ["cached", "not cached"])
def test_memory_does_not_grow_with_the_rows(tmp_path, cache):
    small = peak_megabytes(written(tmp_path / "small.parquet", 2_000_000), cache)
    large = peak_megabytes(written(tmp_path / "large.parquet", 6_000_000), cache)
    assert max(small, large) < 500
    assert large < 1.05 * small + 10
