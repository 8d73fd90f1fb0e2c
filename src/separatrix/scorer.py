"""A fitted linear model without scikit-learn: weights, classes, link. Prediction and model files use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.arrays import AnyArray, Array
from separatrix.errors import ParameterError
from separatrix.geometry import Hyperplane
from separatrix.links import LINKS, Link
from separatrix.rows import count_pass, memory_rows
from separatrix.rows.columns import refuse_not_finite


@runtime_checkable
class Scores(Protocol):
    """Answers for rows, by any fitted model: linear (``Scorer``) or not."""

    @property
    def classes(self) -> AnyArray: ...
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


@dataclass(frozen=True)
class Scorer:
    """W (K or 1, d + 1) for raw rows, intercepts in column 0; one row of W serves two classes.

    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> scorer.predict(np.array([[0.0], [0.5], [1.0]])).tolist()
    ['no', 'yes', 'yes']
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
        count_pass()
        with np.errstate(invalid="ignore", over="ignore"):
            z = np.asarray(X @ self.W[:, 1:].T + self.W[:, 0], dtype=np.float64)
        if not np.all(np.isfinite(z)):
            refuse_not_finite(memory_rows(X, np.zeros(z.shape[0])), names)
            z = np.nan_to_num(z)  # finite rows whose score overflows: far on one side
        return z[:, 0] if len(self.W) == 1 else z

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        """The class of each row; a score of zero goes to the second class. TEXTBOOK D1."""
        z = self.scores(X, names)
        chosen = (z >= 0).astype(np.int64) if z.ndim == 1 else np.argmax(z, axis=1)
        return np.asarray(self.classes[chosen])

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """P(class | x), (n, K)."""
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_probabilities(X, names)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        """ln P(class | x), (n, K), finite where the probability itself would round to zero."""
        return self.link.log_probabilities(self.scores(X, names))

    def hyperplane(self, i: Any = None, j: Any = None, c: float | None = None) -> Hyperplane:
        """The boundary of class i against class j, positive on i's side. TEXTBOOK G5, D5.

        With two classes i defaults to the second; ``c`` moves the boundary to where the activation is c:
        w·x + b = f⁻¹(c).
        """
        if len(self.classes) == 2 and i is None and j is None:
            i, j = self.classes[1], self.classes[0]
        a, b = self._position("i", i), self._position("j", j)
        if a == b:
            raise ParameterError("j", f"got {np.asarray(j).tolist()!r} twice", "name two different classes")
        if len(self.W) == 1:
            w = self.W[0] if a == 1 else -self.W[0]
        else:
            w = self.W[a] - self.W[b]
        level = 0.0 if c is None else self.link.inverse(c)
        return Hyperplane(w[1:], float(w[0]) - level)

    def _position(self, argument: str, label: Any) -> int:
        found = [k for k, known in enumerate(self.classes.tolist()) if known == label]
        if not found:
            raise ParameterError(
                argument, f"got {np.asarray(label).tolist()!r}", f"name one of the classes {self.classes.tolist()}"
            )
        return found[0]
