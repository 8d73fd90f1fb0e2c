"""A fitted linear model without scikit-learn: weights, classes, link. Prediction and model files use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import in_order, one_blas_thread
from separatrix.base.errors import InputError, NotFiniteError, ParameterError
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.geometry import Hyperplane
from separatrix.losses.links import LINKS, Link
from separatrix.rows import Rows, by_row, count_pass, memory_rows
from separatrix.rows.block import is_sparse
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.protocol import BLOCK_BYTES

# Below so many values threads cost more than they save.
FEW_VALUES = 1 << 19
# The type of numbers that a row is taken in as it is; there is one such object.
DOUBLE = np.dtype(np.float64)
# Up to so many numbers a plain sum is faster than an array.
SHORT = 256


@runtime_checkable
class Scores(Protocol):
    """Answers for rows, by any fitted model: linear (``Scorer``) or not."""

    @property
    def classes(self) -> AnyArray: ...
    @property
    def link(self) -> Link: ...
    def scores(self, X: Any, names: list[str] | None = None) -> Array: ...
    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray: ...
    def probabilities(self, X: Any, names: list[str] | None = None) -> Array: ...
    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array: ...


def scores_of(model: Any) -> Any:
    """The scorer of a fitted classifier, or the scorer itself.

    >>> scorer = Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "logit")
    >>> scores_of(scorer) is scorer
    True
    """
    found = getattr(model, "scorer_", model)
    if not isinstance(found, Scores):
        raise ParameterError("model", f"got {type(model).__name__}", "give a fitted classifier of this package")
    return found


def scores_over(scorer: Scores, rows: Rows, names: list[str] | None = None) -> Array:
    """The scores of rows in any home, (n,) or (n, K), in their order. NaN and infinity are refused by place.

    >>> scorer = Scorer(np.array([[0.0, 2.0]]), np.array([0, 1]), "logit")
    >>> scores_over(scorer, memory_rows(np.array([[1.0], [3.0]]), np.zeros(2))).tolist()
    [2.0, 6.0]
    """
    try:
        return by_row(rows, lambda block: scorer.scores(block.X))
    except NotFiniteError:
        refuse_not_finite(rows, names)  # a block counts its rows from its own first
        raise


def taken_apart(model: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The classifier at a pipeline's end, the rows as they reach it, and its columns' names where the steps know them.

    >>> taken_apart("a model", "its rows")
    ('a model', 'its rows', None)
    """
    if len(getattr(model, "steps", ())) < 2:
        return model, X, None
    before = model[:-1]
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, ValueError):  # a step without names
        names = None
    return model[-1], before.transform(X), names


def chosen_classes(z: Array, classes: AnyArray, link: Link) -> AnyArray:
    """The class of each row of scores z: (n,) by the link's boundary, (n, K) by the largest, the first of equal ones.

    >>> chosen_classes(np.array([-1.0, 0.0]), np.array(["no", "yes"]), LINKS["sign"]).tolist()
    ['no', 'yes']
    """
    return np.asarray(classes[link.decides(z).astype(np.int64) if z.ndim == 1 else np.argmax(z, axis=1)])


def score_rows(X: Any, width: int, score: Callable[[Any], Array], names: list[str] | None = None) -> Array:
    """``score`` of all rows, (n, width): one read of X, by all threads where there are many.

    NaN and infinity in X are refused by place; a finite row whose score overflows is far on one side.
    """
    count_pass()
    X = X if is_sparse(X) else np.asarray(X)
    n = X.shape[0]
    values = X.nnz if is_sparse(X) else X.size
    with np.errstate(invalid="ignore", over="ignore"):
        z = np.asarray(score(X), dtype=np.float64) if values <= FEW_VALUES else _by_blocks(X, values, width, score)
        sound = bool(np.isfinite(z.sum())) or bool(np.all(np.isfinite(z)))
    if not sound:
        refuse_not_finite(memory_rows(X, np.zeros(n)), names)
        z = np.nan_to_num(z)
    return z


def _by_blocks(X: Any, values: int, width: int, score: Callable[[Any], Array]) -> Array:
    z = np.empty((X.shape[0], width))
    size = rows_per_piece(2 * BLOCK_BYTES // 8 * X.shape[0], values)

    def fill(rows: slice) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            z[rows] = score(X[rows])

    with one_blas_thread:
        for _ in in_order(fill, pieces(X.shape[0], size)):
            pass
    return z


@dataclass(frozen=True)
class Scorer:
    """W (K or 1, d + 1) for raw rows, intercepts in column 0; one row of W serves two classes.

    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> scorer.predict(np.array([[0.0], [0.5], [1.0]])).tolist()  # P = ½ goes to the first class
    ['no', 'no', 'yes']
    >>> scorer.probabilities(np.array([[0.5]])).tolist()
    [[0.5, 0.5]]
    """

    W: Array
    classes: AnyArray
    link_name: str

    @property
    def link(self) -> Link:
        return LINKS[self.link_name]

    @property
    def n_features(self) -> int:
        return int(self.W.shape[1] - 1)

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        """Z = X wᵀ + b: (n,) for two classes, (n, K) for more. NaN and infinity in X are refused by place."""
        w, b = np.ascontiguousarray(self.W[:, 1:]), self.W[:, 0]
        if len(w) == 1:
            return score_rows(X, 1, lambda rows: (rows @ w[0] + b[0])[:, None], names)[:, 0]
        return score_rows(X, len(w), lambda rows: rows @ w.T + b, names)

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        """The class of each row: the largest score; of one score, the side of the link's boundary. TEXTBOOK D1."""
        return chosen_classes(self.scores(X, names), self.classes, self.link)

    @cached_property
    def _plain(self) -> list[tuple[float, list[float]]]:
        """b and w of each score, and the labels, as plain Python."""
        return [(row[0], row[1:]) for row in self.W.tolist()]

    @cached_property
    def _least(self) -> float:
        """The smallest float64 score that predicts the second class."""
        boundary = self.link.boundary
        return boundary if self.link.takes_boundary else float(np.nextafter(boundary, np.inf))

    @cached_property
    def _labels(self) -> list[Any]:
        return list(self.classes)

    def __reduce__(self) -> tuple[Any, ...]:
        """What is derived stays behind, BLAS's own functions among it."""
        return type(self), (self.W, self.classes, self.link_name)

    @cached_property
    def predict_one(self) -> Callable[[Sequence[float] | Array], Any]:
        """The class of one row of plain numbers: a list, a tuple or a 1-D array. What ``predict`` says, sooner.

        >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
        >>> str(scorer.predict_one([0.75]))
        'yes'
        """
        if len(self.W) > 1:
            return self._predict_one
        from scipy.linalg.blas import ddot

        w, b, (low, high), double, infinity = self.W[0, 1:].copy(), float(self.W[0, 0]), self._labels, DOUBLE, np.inf
        shape, array, otherwise = w.shape, np.ndarray, self._predict_one
        # The least score of the second class: z ≥ least is the link's rule, whether or not it takes its boundary in.
        least = self._least

        def of_one_score(row: Sequence[float] | Array) -> Any:
            if type(row) is array and row.dtype is double and row.shape == shape:
                score = ddot(w, row) + b
                if -infinity < score < infinity:
                    return high if score >= least else low
            return otherwise(row)

        return of_one_score

    def _predict_one(self, row: Sequence[float] | Array) -> Any:
        """The same of any number of scores and any kind of row."""
        if len(row) != self.n_features:
            raise InputError("row", f"it has {len(row)} numbers", f"give the {self.n_features} columns of the fit")
        try:
            if isinstance(row, np.ndarray) or len(row) > SHORT:
                z = self._scores_of_array(np.asarray(row))
            else:
                z = [b + sum(map(mul, w, row)) for b, w in self._plain]
        except TypeError as error:
            raise InputError("row", f"got {row!r}", "give plain numbers") from error
        if not -np.inf < sum(z) < np.inf:
            z = _named(row, z)
        return self._labels[int(z[0] >= self._least) if len(z) == 1 else z.index(max(z))]

    def _scores_of_array(self, row: AnyArray) -> list[float]:
        with np.errstate(invalid="ignore", over="ignore"):
            return (self.W[:, 1:] @ row + self.W[:, 0]).tolist()  # type: ignore[no-any-return]

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """P(class | x), (n, K)."""
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_probabilities(X, names)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """ln P(class | x), (n, K), finite where the probability itself would round to zero."""
        return self.link.log_probabilities(self.scores(X, names))

    def hyperplane(self, i: Any = None, j: Any = None, c: float | None = None) -> Hyperplane:
        """The boundary of class i against class j, positive on i's side. TEXTBOOK G5, D5.

        With two classes i defaults to the second, and the boundary is where predictions change; ``c`` moves it to where
        the activation of class i is c: w·x + b = f⁻¹(c), for the first class f⁻¹(1 − c) where activations are
        probabilities.
        """
        if len(self.classes) == 2 and i is None and j is None:
            i, j = self.classes[1], self.classes[0]
        a, b = self.position("i", i), self.position("j", j)
        if a == b:
            raise ParameterError("j", f"got {np.asarray(j).tolist()!r} twice", "name two different classes")
        if len(self.W) == 1:
            w = self.W[0] if a == 1 else -self.W[0]
        else:
            w = self.W[a] - self.W[b]
        return Hyperplane(w[1:], float(w[0]) - self._level(a, c))

    def _level(self, a: int, c: float | None) -> float:
        """The score for class number a, against the other, at which its activation is c."""
        if c is None:
            return 0.0 if len(self.W) > 1 else self.link.boundary if a == 1 else -self.link.boundary
        # P(first) = c is P(second) = 1 − c; links need not be symmetric.
        first = len(self.W) == 1 and a == 0 and self.link.probabilistic
        return -self.link.inverse(1.0 - c) if first else self.link.inverse(c)

    def position(self, argument: str, label: Any) -> int:
        """The number of a class among ``classes``; ``argument`` is named where there is no such class."""
        found = [k for k, known in enumerate(self.classes.tolist()) if known == label]
        if not found:
            raise ParameterError(
                argument, f"got {np.asarray(label).tolist()!r}", f"name one of the classes {self.classes.tolist()}"
            )
        return found[0]


def _named(row: Sequence[float] | Array, z: list[float]) -> list[float]:
    """Refuse the first number of a row that is not finite; scores that overflow by themselves are far on one side."""
    for column, x in enumerate(row):
        if not -np.inf < x < np.inf:
            what = "NaN" if x != x else "infinity (inf)"
            raise NotFiniteError("row", f"column {column} is {what}", "impute it first")
    return [float(score) for score in np.nan_to_num(z)]
