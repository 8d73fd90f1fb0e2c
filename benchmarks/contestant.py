"""What is to be done, and by whom: the words that the parent and its workers share.

A worker runs in a peer's interpreter, so nothing here needs more than the standard library and NumPy.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

Rung = Mapping[str, Any]
Ladder = tuple[Rung, ...]


@dataclass(frozen=True)
class Task:
    """One fit (or prediction) to be timed.

    kind: "ridge" and "lasso" minimise C Σ ℓ + ½(1 − l1_ratio)‖w‖² + l1_ratio ‖w‖₁, the intercept free; "path" does it
    for every C of ``Cs``; the others are named after what they do. The shape is that of the data.
    """

    kind: str
    C: float = 1.0
    l1_ratio: float = 0.0
    fit_intercept: bool = True
    Cs: tuple[float, ...] = ()
    epochs: int = 0
    n: int = 0
    d: int = 0
    K: int = 2
    sparse: bool = False
    density: float = 1.0
    dtype: str = "float64"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Task:
        return cls(**{**given, "Cs": tuple(given["Cs"])})

    @property
    def strengths(self) -> tuple[float, ...]:
        """The C of every fit that is asked for."""
        return self.Cs or (self.C,)


@dataclass(frozen=True)
class Answer:
    """What a run came to: numbers for the judge (weights in raw units, intercepts first), and facts to show."""

    result: Any
    facts: dict[str, Any] = field(default_factory=dict)


def weights(coef: Any, intercept: Any) -> np.ndarray:
    """(K or 1, d + 1) with intercepts in column 0."""
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    return np.column_stack([np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), len(coef)), coef])


def linear_model(model: Any, task: Task) -> Answer:
    """The answer of anything with coef_ and intercept_."""
    intercept = getattr(model, "intercept_", 0.0) if task.fit_intercept else 0.0
    facts = {}
    if getattr(model, "n_iter_", None) is not None:
        facts["iterations"] = int(np.max(model.n_iter_))
    return Answer(weights(model.coef_, intercept), facts)


def everywhere(task: Task) -> bool:
    return True


@dataclass(frozen=True)
class Contestant:
    """One solver of one peer at one kind of task.

    prepare(task, X, y, rung) returns what is timed; report(what that returned, task) is not. ``ladder``: settings from
    the loosest to the tightest; the first that reaches the accuracy is the one that is timed. ``compiles``: its code is
    compiled anew in every process, so it runs on a few rows first, and not on the clock.
    """

    name: str
    kind: str
    prepare: Callable[[Task, Any, Any, Rung], Callable[[], Any]]
    report: Callable[[Any, Task], Answer] = linear_model
    ladder: Ladder = ({},)
    where: Callable[[Task], bool] = everywhere
    note: str = ""
    compiles: bool = False


def tolerances(*tols: float, **settings: Any) -> Ladder:
    """A rung a tolerance.

    >>> tolerances(1e-2, 1e-4, max_iter=9)
    ({'tol': 0.01, 'max_iter': 9}, {'tol': 0.0001, 'max_iter': 9})
    """
    return tuple({"tol": tol, **settings} for tol in tols)


def crossed(tols: Ladder, **choices: tuple[Any, ...]) -> Ladder:
    """Every rung with every choice, in turn: for intercepts that are only nearly free."""
    rungs = tols
    for name, values in choices.items():
        rungs = tuple({**rung, name: value} for rung in rungs for value in values)
    return rungs


def in_double(contestant: Contestant) -> Contestant:
    """The same on float32 rows turned into float64 first, inside the timing."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        return lambda: contestant.prepare(task, X.astype(np.float64), y, rung)()

    def where(task: Task) -> bool:
        return task.dtype == "float32" and contestant.where(task)

    return replace(contestant, name=f"{contestant.name}, float64 copy", prepare=prepare, where=where)


# Rows whose scores are compared where the answer is no weight vector.
PROBE = 1000


def probed(model: Any, task: Task) -> Answer:
    """The scores of the first rows, by a run that returns (model, those rows)."""
    fitted, rows = model
    score = getattr(fitted, "decision_function", None) or fitted.predict
    return Answer(np.asarray(score(rows), dtype=np.float64).ravel())


def probing(make: Callable[[Task, Rung], Any], signed: bool = False) -> Callable[..., Callable[[], Any]]:
    """prepare() for `probed`: fit what ``make`` builds, on ±1 targets if ``signed``."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model = make(task, rung)
        t = 2.0 * y - 1.0 if signed else y
        return lambda: (model.fit(X, t), X[:PROBE])

    return prepare


def as_given(result: Any, task: Task) -> Answer:
    """The answer is what the run returned."""
    return Answer(np.asarray(result))


def of_process(printed: str, task: Task) -> Answer:
    """What a cold process printed: the share of rows it has wrong, and its own peak of memory where it knows it."""
    share, *peak = printed.split()
    return Answer(np.asarray(float(share)), {"extra": 1024 * int(peak[0]) if peak else None})


def fitting(make: Callable[[Task, Rung], Any]) -> Callable[..., Callable[[], Any]]:
    """prepare() for `linear_model`: what ``make`` builds, fitted."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model = make(task, rung)
        return lambda: model.fit(X, y)

    return prepare


def training_rows(n: int) -> int:
    """Four fifths of the rows: the others are held out where predictions are judged."""
    return 4 * n // 5


def fitting_most(make: Callable[[Task, Rung], Any]) -> Callable[..., Callable[[], Any]]:
    """prepare() for `linear_model`: what ``make`` builds, fitted to all rows that are not held out."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model, most = make(task, rung), training_rows(len(y))
        return lambda: model.fit(X[:most], y[:most])

    return prepare


# Predictions are timed on a model of this many rows: enough to predict well, quick to fit.
TRAINING = 20_000


def predicting(make: Callable[[], Any]) -> Callable[..., Callable[[], Any]]:
    """prepare(): predict every row by a model of the first ones."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model = make().fit(X[:TRAINING], y[:TRAINING])
        return lambda: model.predict(X)

    return prepare


def predicting_one(one_of: Callable[[Any, Any], Callable[[Any], Any]], form: Callable[[Any], Any]) -> Any:
    """prepare(): predict one row, given in the ``form`` that the peer likes, by one_of(X, y) of the first rows.

    The answer is what the same call says of 200 rows, found before the timing.
    """

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        one = one_of(X[:TRAINING], y[:TRAINING])
        forms = [form(row) for row in X[:200]]
        labels = np.array([np.ravel(one(row))[0] for row in forms], dtype=np.int64)
        row = forms[0]

        def run() -> Any:
            one(row)
            return labels

        return run

    return prepare


# The parent's count of a child's memory has the parent's own in it, from before the child was itself.
PEAK = """
import os
if os.path.exists("/proc/self/status"):
    print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def starting(code: str) -> Callable[..., Callable[[], Any]]:
    """prepare(): a cold process that runs ``code``, which prints the share of rows it has wrong.

    ``code`` finds the rows in X and y.
    """

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        folder = tempfile.mkdtemp()
        np.savez(f"{folder}/rows.npz", X=X, y=y)
        read = f"import numpy as np; rows = np.load({folder + '/rows.npz'!r}); X, y = rows['X'], rows['y']\n"
        command = [sys.executable, "-c", read + code + PEAK]

        def run() -> Any:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        return run

    return prepare
