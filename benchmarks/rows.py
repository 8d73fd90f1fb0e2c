"""The rows of the table: what is done on which data, how well, and what ratio to the best peer is the goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.contestant import Task
from benchmarks.data import Data, Maker
from benchmarks.objective import largest_slope

ONLINE = ("vowpalwabbit", "river")
LIBLINEAR = ("liblinear", "scikit-learn")


@dataclass(frozen=True)
class Work:
    """Bytes that must be read and operations that must be made, at least."""

    bytes: float
    flops: float


def one_read(task: Task, rows: Data) -> Work:
    """Every entry once: a score and a share of a gradient for each class."""
    return Work(rows.nbytes, 4.0 * rows.entries * (task.K if task.K > 2 else 1))


def epochs(task: Task, rows: Data) -> Work:
    """Every entry once an epoch, for its score."""
    return Work(task.epochs * rows.nbytes, 2.0 * task.epochs * rows.entries)


def moments(task: Task, rows: Data) -> Work:
    """One triangle of Σ x xᵀ."""
    return Work(rows.nbytes, float(task.n) * task.d * (task.d + 1))


def scoring(task: Task, rows: Data) -> Work:
    return Work(rows.nbytes, 2.0 * rows.entries)


def one_row(task: Task, rows: Data) -> Work:
    return Work(8.0 * task.d, 2.0 * task.d)


@dataclass(frozen=True)
class Part:
    """One line of the table.

    ``fractions``: L1 strengths as shares of the least that leaves no weight, in place of C or Cs. ``against``: the
    peers that the goal is about; none: all. ``left_out``: peers that another row shows at the same work.
    """

    name: str
    data: Maker
    task: Task
    goal: float | None
    work: Callable[[Task, Data], Work] | None = one_read
    accuracy: float = 1e-8
    fractions: tuple[float, ...] = ()
    most_passes: int | None = None
    against: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def task_on(self, rows: Data) -> Task:
        """The task with the shape of its data, and strengths that the data set."""
        X, y = rows.X, rows.y
        n, d = X.shape
        # A look at some rows is enough to tell one-hot columns from numbers.
        density = rows.entries / (n * d) if rows.sparse else float(np.mean(X[:1000] != 0))
        shape: dict[str, Any] = {"n": n, "d": d, "K": int(y.max()) + 1, "sparse": rows.sparse, "density": density}
        task = replace(self.task, **shape, dtype=str(X.dtype))
        if not self.fractions:
            return task
        Cs = tuple(1.0 / (share * largest_slope(X, y)) for share in self.fractions)
        return replace(task, C=Cs[0]) if len(Cs) == 1 else replace(task, Cs=Cs)


@dataclass(frozen=True)
class Row:
    name: str
    about: str
    parts: tuple[Part, ...] = field(default=())


RIDGE = Task("ridge")
BARE = Task("ridge", fit_intercept=False)
LASSO = Task("lasso", l1_ratio=1.0)
PATH = Task("path", l1_ratio=1.0)
# 30 strengths from nearly nothing left to a hundredth of it.
WALK = tuple(np.geomspace(0.9, 0.01, 30).tolist())
SHARE = (0.03,)

# Made once and kept while parts that follow each other use the same.
SPARSE, WIDE, POPULATIONS = data.zipf(), data.wide(), data.populations()
# Many rows a column, so that no hyperplane separates them and all contestants make all epochs.
CROWDED = data.zipf(200_000, 5_000)
BUNDLED = ("breast_cancer", "iris", "wine", "digits")
SMALL = ("correlated", "heavy tails", "sparse truth", "imbalanced", "wide")
# Of 20 to 360 rows held out the mean log loss is itself uncertain by this share.
FEW_HELD_OUT = 0.3


def lone(name: str, about: str, part: Part) -> Row:
    return Row(name, about, (part,))


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        lone("tall", "500 000 × 100, correlated columns, C = 1", Part("", data.tall(), RIDGE, 4.0, most_passes=8)),
        lone(
            "tall-iid",
            "the same, uncorrelated",
            Part("", data.tall(correlated=False), RIDGE, 1.2, left_out=ONLINE),
        ),
        lone("scales", "tall, columns scaled 1e-3…1e3 and shifted", Part("", data.scales, RIDGE, 5.0, left_out=ONLINE)),
        lone("year", "300 000 × 60, one column a year, C = 1", Part("", data.year, RIDGE, 4.0, left_out=ONLINE)),
        lone("tall32", "tall in float32", Part("", data.tall(dtype="float32"), RIDGE, 4.0, left_out=ONLINE)),
        Row(
            "onehot",
            "500 000 rows, 10 numbers, 8 categories of 300 levels",
            (
                Part("dense", data.onehot(sparse=False), RIDGE, 2.0, left_out=ONLINE),
                Part("CSR", data.onehot(sparse=True), RIDGE, 2.0, left_out=ONLINE),
            ),
        ),
        lone(
            "likelihood",
            "100 000 × 50, correlated, no penalty (C = ∞)",
            Part("", data.tall(100_000, 50), Task("ridge", C=np.inf), None),
        ),
        lone("softmax", "30 000 × 300, 10 classes, correlated", Part("", data.classes(), RIDGE, 5.0)),
        lone("wide", "500 × 20 000", Part("", WIDE, RIDGE, 5.0, left_out=ONLINE)),
        Row(
            "sparse",
            "100 000 × 50 000, 75 a row, Zipf columns, C = 1",
            (
                Part("free intercept", SPARSE, RIDGE, 1.5, against=LIBLINEAR),
                Part("no intercept", SPARSE, BARE, 1.5, left_out=ONLINE, against=LIBLINEAR),
            ),
        ),
        Row(
            "sparse-large-C",
            "the same at C = 100",
            (
                Part("free intercept", SPARSE, replace(RIDGE, C=100.0), 1.5, left_out=ONLINE, against=LIBLINEAR),
                Part("no intercept", SPARSE, replace(BARE, C=100.0), 1.5, left_out=ONLINE, against=LIBLINEAR),
            ),
        ),
        Row(
            "lasso",
            "L1 on the sparse and the wide data: one fit, and a path of 30",
            (
                Part("sparse, fit", SPARSE, LASSO, 1.2, fractions=SHARE),
                Part("sparse, path", SPARSE, PATH, 1.2, fractions=WALK),
                Part("wide, fit", WIDE, LASSO, 1.2, fractions=SHARE),
                Part("wide, path", WIDE, PATH, 1.2, fractions=WALK),
            ),
        ),
        Row(
            "perceptron",
            "10 epochs in the rows' order; rows wrong are shown, there is no accuracy to reach",
            (
                Part("1 000 000 × 100", data.tall(1_000_000), Task("perceptron", epochs=10), 2.0, epochs),
                Part("200 000 × 5 000, sparse", CROWDED, Task("perceptron", epochs=10), 2.0, epochs),
            ),
        ),
        Row(
            "moments",
            "500 000 × 100, two classes; scores to 1e-6",
            (
                Part("LDA", POPULATIONS, Task("lda"), 3.0, moments, 1e-6),
                Part("QDA", POPULATIONS, Task("qda"), 3.0, moments, 1e-6),
                Part("least squares", POPULATIONS, Task("least-squares"), 0.9, moments, 1e-6),
            ),
        ),
        lone(
            "margin",
            "maximum margin on 20 000 × 50 separable rows, to 1e-3 of the margin",
            Part("", data.separable(), Task("margin"), 1.0, accuracy=1e-3),
        ),
        Row(
            "separability",
            "whether a hyperplane separates two classes, with evidence",
            (
                Part("20 000 × 50, separable", data.separable(), Task("separability"), 50.0, accuracy=0.5),
                Part("20 000 × 50, overlapping", data.tall(20_000, 50), Task("separability"), 50.0, accuracy=0.5),
                Part("100 000 × 50, 10 rows in conflict", data.conflicting(), Task("separability"), 50.0, accuracy=0.5),
                Part("1 000 000 × 50, overlapping", data.tall(1_000_000, 50), Task("separability"), None, accuracy=0.5),
            ),
        ),
        lone(
            "summary",
            "fit, coefficients and standard errors at 200 000 × 50, to 1e-5 of a standard error",
            Part("", data.tall(200_000, 50), Task("summary", C=np.inf), 3.0, moments, 1e-5),
        ),
        Row(
            "auto-C",
            "the penalty chosen from the rows; held-out log loss within 2 % of the best, 30 % where rows are few",
            (
                Part("10 000 × 100", data.tall(10_000), Task("auto-C"), 20.0, None, 0.02),
                Part("2 000 × 50, 5 classes", data.classes(2_000, 50, 5), Task("auto-C"), 20.0, None, 0.02),
                *(Part(name, data.bundled(name), Task("auto-C"), 20.0, None, FEW_HELD_OUT) for name in BUNDLED),
                *(Part(kind, data.small(kind), Task("auto-C"), 20.0, None, FEW_HELD_OUT) for kind in SMALL),
            ),
        ),
        lone(
            "firth",
            "Firth's penalised likelihood at 20 000 × 20, one class rare and quasi-separated",
            Part("", data.rare(), Task("firth", C=np.inf), 2.0, moments),
        ),
        Row(
            "predict",
            "a fitted model of 100 columns",
            (
                Part("one row", data.tall(20_000), Task("predict-one"), 5.0, one_row, 0.2),
                Part("1 000 000 rows", data.tall(1_000_000), Task("predict-many"), 1.0, scoring, 0.02),
            ),
        ),
        lone(
            "start",
            "cold process: import, fit iris, predict",
            Part("", data.iris, Task("start"), 0.9, None, 0.05, against=("scikit-learn",)),
        ),
        Row(
            "cli",
            "command lines, cold; LIBLINEAR's where they are installed",
            (
                Part("--help", data.bundled("breast_cancer"), Task("cli-help"), None, None, 0.1),
                Part("predict 569 rows", data.bundled("breast_cancer"), Task("cli-predict"), None, None, 0.1),
            ),
        ),
    )
}
