"""A fitted linear model that does not depend on scikit-learn: weights, classes and link.

``Scores`` is the interface that all fitted models share, and ``Scorer`` is the linear one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Annotated, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, pieces, rows_per_piece
from separatrix.core.base.codec import Choice, Labels, array
from separatrix.core.base.errors import InputError, NotFiniteError, ParameterError
from separatrix.core.base.labels import label_list
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order, one_blas_thread
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.links import LINKS, BinaryLink, Link
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import BLOCK_BYTES, count_pass

# Largest number of values that are scored by a single thread: for fewer, starting threads costs more than it saves.
MOST_VALUES_IN_ONE_THREAD = 1 << 19
# NumPy has a single object for float64, so that ``predict_one`` can compare types by identity.
DOUBLE = np.dtype(np.float64)


# The labels of the K classes.
Classes: TypeAlias = Annotated[AnyArray, Labels("K")]


@runtime_checkable
class Scores(Protocol):
    """The interface of fitted models: scores, classes and probabilities of rows."""

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
    scorer = getattr(model, "scorer_", model)
    if not isinstance(scorer, Scores):
        raise ParameterError("model", f"got {type(model).__name__}", "give a fitted classifier of this package")
    return scorer


def taken_apart(model: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The last step of a pipeline, the rows that reach it, and the names of their columns if the steps know them.

    >>> taken_apart("a model", "its rows")
    ('a model', 'its rows', None)
    """
    if len(getattr(model, "steps", ())) < 2:
        return model, X, None
    before = model[:-1]
    try:
        given = before.get_feature_names_out()
    except (AttributeError, ValueError):  # a step without names
        given = None
    names = None if given is None else [str(name) for name in given]  # None of "passthrough" after an array
    return model[-1], before.transform(X), names


def chosen_classes(z: Array, classes: AnyArray, link: Link) -> AnyArray:
    """The class of each row: for scores (n,) by the link's boundary, for scores (n, K) the first of the largest.

    >>> chosen_classes(np.array([-1.0, 0.0]), np.array(["no", "yes"]), LINKS["sign"]).tolist()
    ['no', 'yes']
    """
    return np.asarray(classes[link.decides(z).astype(np.int64) if z.ndim == 1 else np.argmax(z, axis=1)])


def score_rows(X: Any, width: int, score: Callable[[Any], Array], names: list[str] | None = None) -> Array:
    """``score`` of all rows, (n, width), in one pass over X, with several threads if X is large.

    An error about NaN or infinity in X names the cell. A score of finite values that overflows is clipped to the
    largest float64.
    """
    count_pass()
    X = X if is_sparse(X) else np.asarray(X)
    n = X.shape[0]
    values = X.nnz if is_sparse(X) else X.size
    with np.errstate(invalid="ignore", over="ignore"):
        if values <= MOST_VALUES_IN_ONE_THREAD:
            z = np.asarray(score(X), dtype=np.float64)
        else:
            z = np.empty((n, width))

            def fill(some: slice) -> None:
                with np.errstate(invalid="ignore", over="ignore"):
                    z[some] = score(X[some])

            with one_blas_thread:
                for _ in in_order(fill, pieces(n, rows_per_piece(2 * BLOCK_BYTES // 8 * n, values))):
                    pass
        sound = bool(np.isfinite(z.sum())) or bool(np.all(np.isfinite(z)))
    if not sound:
        refuse_not_finite(memory_rows(X, np.zeros(n)), names)
        z = np.nan_to_num(z)
    return z


@dataclass(frozen=True)
class Scorer:
    """A fitted linear model.

    Parameters
    ----------
    W : array (K or 1, d + 1)
        Weights in the units of the columns, intercepts in column 0. A single row is for two classes.
    classes : array (K,)
        The labels.
    link_name : str
        The key of the link in ``LINKS``.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.scorer import Scorer
    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> scorer.predict(np.array([[0.0], [0.5], [1.0]])).tolist()  # P = ½ goes to the first class
    ['no', 'no', 'yes']
    >>> scorer.probabilities(np.array([[0.5]])).tolist()
    [[0.5, 0.5]]
    """

    W: Annotated[Array, array("scores", "1+d")]
    classes: Classes
    link_name: Annotated[str, Choice(LINKS)]

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """Say what is wrong with a scorer that was read from a file; an empty text if nothing is.

        Parameters
        ----------
        sizes : dict of str to int
            The lengths of named axes.

        Returns
        -------
        str
        """
        binary, softmax = isinstance(LINKS[self.link_name], BinaryLink), self.link_name == "softmax"
        fits = len(self.W) > 1 if softmax else len(self.W) == 1 or not binary
        return "" if fits else f"has the link {self.link_name}, which does not fit {len(self.W)} scores"

    @property
    def link(self) -> Link:
        return LINKS[self.link_name]

    @property
    def n_features(self) -> int:
        return int(self.W.shape[1] - 1)

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        """Return the scores X wᵀ + b.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        names : list of str or None
            Column names for the error about NaN or infinity in X.

        Returns
        -------
        array (n,) for two classes, (n, K) for more
        """
        w, b = np.ascontiguousarray(self.W[:, 1:]), self.W[:, 0]
        if len(w) == 1:
            return score_rows(X, 1, lambda rows: (rows @ w[0] + b[0])[:, None], names)[:, 0]
        return score_rows(X, len(w), lambda rows: rows @ w.T + b, names)

    def quick_scores(self) -> Callable[[Array], Array]:
        """Return ``scores`` as a function of dense finite rows, without checks, which is fast for few rows.

        Returns
        -------
        function
            From rows (n, d) to scores, (n,) for two classes, (n, K) for more.
        """
        w, b = np.ascontiguousarray(self.W[:, 1:].T), self.W[:, 0]
        if len(b) == 1:
            w, b = w[:, 0], b[0]
        return lambda X: np.asarray(X @ w + b)

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        """Predict the class of each row: the largest score, or for a single score by the link's boundary.

        See docs/tour.md, D1.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        names : list of str or None
            Column names for the error about NaN or infinity in X.

        Returns
        -------
        array (n,)
            Labels.
        """
        return chosen_classes(self.scores(X, names), self.classes, self.link)

    @cached_property
    def _plain(self) -> list[tuple[float, list[float]]]:
        """The intercept and the weights of each score, as Python numbers."""
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
        """Pickle the fields only: cached properties hold BLAS functions, which cannot be pickled."""
        return type(self), (self.W, self.classes, self.link_name)

    @cached_property
    def predict_one(self) -> Callable[[Sequence[float] | Array], Any]:
        """The class of a single row, given as a list, a tuple or a 1-D array. It is faster than ``predict``.

        >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
        >>> str(scorer.predict_one([0.75]))
        'yes'
        """
        if len(self.W) > 1:
            return self._predict_one
        from scipy.linalg.blas import ddot

        w, b, (low, high), double, infinity = self.W[0, 1:].copy(), float(self.W[0, 0]), self._labels, DOUBLE, np.inf
        shape, array, otherwise = w.shape, np.ndarray, self._predict_one
        # The smallest score of the second class, so that z ≥ least holds for both kinds of links.
        least = self._least

        def of_one_score(row: Sequence[float] | Array) -> Any:
            if type(row) is array and row.dtype is double and row.shape == shape:
                score = ddot(w, row) + b
                if -infinity < score < infinity:
                    return high if score >= least else low
            return otherwise(row)

        return of_one_score

    def _predict_one(self, row: Sequence[float] | Array) -> Any:
        """The same for any number of scores and any kind of row."""
        if len(row) != self.n_features:
            raise InputError("row", f"it has {len(row)} numbers", f"give the {self.n_features} columns of the fit")
        try:
            # Up to this length of a list, a sum in Python is faster than converting it to an array.
            if isinstance(row, np.ndarray) or len(row) > 256:
                with np.errstate(invalid="ignore", over="ignore"):
                    z = (self.W[:, 1:] @ np.asarray(row) + self.W[:, 0]).tolist()
            else:
                z = [b + sum(map(mul, w, row)) for b, w in self._plain]
        except TypeError as error:
            raise InputError("row", f"got {row!r}", "give plain numbers") from error
        if not -np.inf < sum(z) < np.inf:  # a value is not finite, or a score of finite values has overflown
            for column, x in enumerate(row):
                if not -np.inf < x < np.inf:
                    what = "NaN" if x != x else "infinity (inf)"
                    raise NotFiniteError("row", f"column {column} is {what}", "impute it first")
            z = np.nan_to_num(z).tolist()
        return self._labels[int(z[0] >= self._least) if len(z) == 1 else z.index(max(z))]

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """Return the probabilities P(class | x).

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        names : list of str or None
            Column names for the error about NaN or infinity in X.

        Returns
        -------
        array (n, K)
        """
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_probabilities(X, names)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """Return ln P(class | x), which is finite even if the probability underflows.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        names : list of str or None
            Column names for the error about NaN or infinity in X.

        Returns
        -------
        array (n, K)
        """
        return self.link.log_probabilities(self.scores(X, names))

    def hyperplane(self, i: Any = None, j: Any = None, c: float | None = None) -> Hyperplane:
        """Return the boundary of class i against class j (docs/tour.md, G5, D5).

        Parameters
        ----------
        i, j : labels
            The two classes; the positive side is that of i. With two classes i is the second by default.
        c : float or None
            With two classes: the boundary is where the activation of class i is c, w·x + b = f⁻¹(c), or f⁻¹(1 − c) for
            the first class if activations are probabilities. By default it is where predictions change.

        Returns
        -------
        Hyperplane
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
        """The score at which the activation of class number a is c."""
        if c is None:
            return 0.0 if len(self.W) > 1 else self.link.boundary if a == 1 else -self.link.boundary
        # P(first) = c means P(second) = 1 − c, and links need not be symmetric.
        first = len(self.W) == 1 and a == 0 and self.link.probabilistic
        return -self.link.inverse(1.0 - c) if first else self.link.inverse(c)

    def position(self, argument: str, label: Any) -> int:
        """The number of a class among ``classes``.

        Parameters
        ----------
        argument : str
            The name of the argument that holds the label, for the error about an unknown class.
        label : object
            The label of the class.

        Returns
        -------
        int
        """
        labels = label_list(self.classes)
        numbers = [k for k, known in enumerate(labels) if known == label]
        if not numbers:
            raise ParameterError(argument, f"got {np.asarray(label).tolist()!r}", f"name one of the classes {labels}")
        return numbers[0]
