"""python dask_ml_lbfgs.py FILE WORKERS TOLERANCES: fits dask-ml's lbfgs to a Parquet file, and prints JSON lines.

After each line it waits for a line of standard input, and ends if there is none.

It runs in dask-ml's environment, and imports nothing of this repository.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def cpu_seconds() -> float:
    import psutil

    me = psutil.Process()
    used = [each.cpu_times() for each in (me, *me.children(recursive=True))]
    return float(sum(times.user + times.system for times in used))


def main() -> None:
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression
    from distributed import Client, wait

    path, workers, tolerances = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    local: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with Client(n_workers=workers, threads_per_worker=1, processes=True, **local):
        table = dd.read_parquet(path, split_row_groups=True)
        names = [name for name in table.columns if name != "y"]
        table = table.persist()
        X, y = table[names].values.compute_chunk_sizes().persist(), table["y"].values.compute_chunk_sizes().persist()
        wait([X, y])
        for tol in tolerances:
            cpu, wall = cpu_seconds(), time.perf_counter()
            model = LogisticRegression(solver="lbfgs", C=1.0, tol=tol, max_iter=1000).fit(X, y)
            spent = {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}
            answer = {"coef": model.coef_.ravel().tolist(), "intercept": float(model.intercept_)}
            print(json.dumps({**spent, **answer, "tol": tol}), flush=True)
            if not sys.stdin.readline():
                break


if __name__ == "__main__":
    main()
