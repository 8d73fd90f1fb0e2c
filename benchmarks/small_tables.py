"""python -m benchmarks.small_tables: fits of small tables beside scikit-learn's solvers, in milliseconds of CPU time.

On a small table most of the time is spent in the interpreter, so a fit is timed in one process that is warmed up,
taking turns with one solver of scikit-learn at a time. If all of them took turns, scikit-learn's solvers would find the
code that they share in the processor's cache, and this package would not. CPU time is measured, because a busy machine
changes it less than the time on the clock.
Every solver runs with its own defaults and C = 1; only this package proves that its weights are optimal.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

WARM_UP, REPEATS = 5, 200
# Solvers of scikit-learn, with the largest number of classes that each accepts.
SOLVERS = {"lbfgs": 100, "newton-cholesky": 100, "liblinear": 2}
OURS = "separatrix"


def tables() -> dict[str, tuple[Any, Any]]:
    """The tables by name: X and y."""
    from sklearn.datasets import load_iris, make_classification

    shapes = ((50, 2), (200, 10), (1000, 50))
    made = {
        f"{n} × {d}": make_classification(n, d, n_informative=max(2, d // 2), n_redundant=0, random_state=0)
        for n, d in shapes
    }
    dice = np.random.default_rng(0)
    X = dice.standard_normal((500, 2))
    scores = X @ dice.standard_normal((2, 3)) + dice.gumbel(size=(500, 3))
    return {
        **made,
        "150 × 4, 3 classes (iris)": load_iris(return_X_y=True),
        "500 × 2": (X, (scores[:, 0] > scores[:, 1]).astype(int)),
        "500 × 2, 3 classes": (X, scores.argmax(axis=1)),
    }


def solvers(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Functions that make an unfitted classifier of scikit-learn, by the name of its solver."""
    from sklearn.linear_model import LogisticRegression

    names = [name for name, most in SOLVERS.items() if n_classes <= most]
    return {name: partial(LogisticRegression, solver=name) for name in names}


def beside(theirs: Callable[[], Any], X: Any, y: Any, repeats: int) -> tuple[float, float]:
    """The median CPU times of a fit in milliseconds, of this package and of another classifier; they take turns."""
    from separatrix import LogisticRegression

    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(WARM_UP + repeats):
        for make, times in zip((LogisticRegression, theirs), spent, strict=True):
            model = make()
            before = time.process_time()
            model.fit(X, y)
            times.append(1e3 * (time.process_time() - before))
    ours, other = (statistics.median(times[WARM_UP:]) for times in spent)
    return ours, other


def medians(X: Any, y: Any, repeats: int = REPEATS) -> dict[str, float]:
    """The median CPU time of a fit in milliseconds, by solver; for this package, beside the fastest of the others."""
    pairs = {name: beside(make, X, y, repeats) for name, make in solvers(len(np.unique(y))).items()}
    ours, _ = min(pairs.values(), key=lambda pair: pair[1])
    return {OURS: ours, **{name: other for name, (_, other) in pairs.items()}}


def main(repeats: int = REPEATS) -> int:
    names = [OURS, *SOLVERS]
    print(f"| table | {' | '.join(names)} | ours / their fastest |\n|---|{'---:|' * (len(names) + 1)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's lbfgs stops before it converges on iris
        for table, (X, y) in tables().items():
            found = medians(X, y, repeats)
            ratio = found[OURS] / min(spent for name, spent in found.items() if name != OURS)
            cells = [f"{found[name]:.2f}" if name in found else "" for name in names]
            print(f"| {table} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
