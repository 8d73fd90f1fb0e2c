"""python -m benchmarks.drag [REPEATS]: CPU milliseconds of what a page with draggable points needs, beside the goals.

Tables have 500 points in two columns, with two or three classes that overlap or are separable. CPU time is measured,
because a busy machine changes it less than the time on the clock; still, other processes slow down the caches.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

WARM_UP, REPEATS = 2, 15
ROWS = 500
BOX = (-4.0, 4.0, -4.0, 4.0)
# Goals in CPU milliseconds: for the fit of any classifier, and for those that have their own.
FIT, FITS = 12.0, {"max-margin": 8.0, "kozinec": 8.0, "logistic": 3.0}
SOFTMAX, REGIONS, CURVE, SURFACE = 5.0, 2.0, 2.0, 15.0


class Task(NamedTuple):
    """What is measured, on which table, and its goal in milliseconds."""

    name: str
    table: str
    goal: float
    work: Callable[[], Any]


def table(n_classes: int, separable: bool) -> tuple[Any, Any]:
    """Points around the corners of a polygon; separable classes are cut off at a radius of 2.5 around theirs."""
    rng, y = np.random.default_rng(0), np.arange(ROWS) % n_classes
    angle, noise = 2 * np.pi * y / n_classes, rng.standard_normal((ROWS, 2))
    corner = np.column_stack([np.cos(angle), np.sin(angle)])
    if not separable:
        return corner + noise, y
    length = np.linalg.norm(noise, axis=1, keepdims=True)
    return 6.0 * corner + noise * np.minimum(1.0, 2.5 / length), y


def tasks() -> Iterator[Task]:
    """All that is measured."""
    import separatrix as sx
    from separatrix.classifiers import CLASSIFIERS
    from separatrix.core.losses import LOSSES

    tables = {
        f"{K} classes, {'separable' if apart else 'overlapping'}": table(K, apart)
        for K in (2, 3)
        for apart in (False, True)
    }
    for name, kind in CLASSIFIERS.items():
        for about, (X, y) in tables.items():
            softmax = name == "logistic" and about.startswith("3")
            yield Task(f"fit {name}", about, SOFTMAX if softmax else FITS.get(name, FIT), partial(_fit, kind, X, y))
    for about in list(tables)[::2]:
        X, y = tables[about]
        for name in ("logistic", "one-versus-one", "qda"):
            model = CLASSIFIERS[name]().fit(X, y)
            yield Task(f"regions of {name}", about, REGIONS, partial(sx.regions, model, BOX))
            yield Task(f"boundary curve of {name}", about, CURVE, partial(sx.boundary_curve, model, BOX, 100, 0, 1))
    X, y = tables["2 classes, overlapping"]
    for name, loss in LOSSES.items():
        if not loss.traits.multiclass:
            yield from _surfaces(name, "2 classes", partial(sx.error_surface, X, y, name, points=61))
    X, y = tables["3 classes, overlapping"]
    yield from _surfaces("softmax", "3 classes", partial(sx.error_surface, X, y, columns=((0, 1), (1, 2)), points=61))


def _surfaces(loss: str, about: str, surface: Callable[..., Any]) -> Iterator[Task]:
    """The error surface of a loss, alone and with a penalty and the gradient."""
    yield Task(f"surface of {loss}, 61 × 61", about, SURFACE, surface)
    yield Task(f"surface of {loss} with penalty and gradient", about, SURFACE, partial(surface, C=1.0, gradient=True))


def _fit(kind: Any, X: Any, y: Any) -> Any:
    return kind().fit(X, y)


def cpu_milliseconds(work: Callable[[], Any], repeats: int) -> float:
    """The median CPU time."""
    spent = []
    for _ in range(WARM_UP + repeats):
        before = time.process_time()
        work()
        spent.append(1e3 * (time.process_time() - before))
    return statistics.median(spent[WARM_UP:])


def main(repeats: int = REPEATS) -> int:
    print("| what | table | CPU ms | goal | |\n|---|---|---:|---:|---|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that overlap cannot be separated
        for task in tasks():
            spent = cpu_milliseconds(task.work, repeats)
            verdict = "" if spent <= task.goal else "above"
            print(f"| {task.name} | {task.table} | {spent:.2f} | {task.goal:g} | {verdict} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
