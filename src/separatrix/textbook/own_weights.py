r"""The objective of a linear classifier at any given weights, in the units of the columns.

See docs/tour.md, R3, R4, R8, R9.

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + (1/(C S)) Σ_k Σ_j f_j (α |w_kj| + ½ (1 − α) w_kj²),    S = Σ_i s_i

This is the number that ``certificate_.objective`` reports after a fit with the same settings.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from separatrix.base.arrays import AnyArray, Array, as_floats
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import LabelError, ParameterError, WeightError
from separatrix.base.labels import encode
from separatrix.base.row_weights import row_weights
from separatrix.base.setting_checks import check_C, check_flag, is_number
from separatrix.losses import LOSSES
from separatrix.objectives.build import build_objective
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.rows import labelled_rows
from separatrix.rows.csr import as_csr, is_sparse
from separatrix.rows.in_memory import InMemory


@final
class ObjectiveAt:
    """The objective E as a function of the weights, with gradient and Hessian. ``objective`` returns one.

    Parameters
    ----------
    problem : Objective
        The objective in the units of the columns.
    classes : array (K,)
        The sorted labels.

    Attributes
    ----------
    classes : array (K,)
        The sorted labels; a positive score means the second of two classes.
    shape : tuple
        The shape of the weights, intercepts first: (d + 1,) for two classes, (K, d + 1) for more. Without an intercept,
        d instead of d + 1.

    Examples
    --------
    >>> E = objective([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> E.shape, E.hessian([0.0, 0.0]).tolist()
    ((2,), [[0.25, 0.375], [0.375, 0.875]])
    """

    def __init__(self, problem: Objective, classes: Any) -> None:
        self._problem, self.classes = problem, classes
        width = problem.shape[1] if problem.fit_intercept else problem.shape[1] - 1
        self.shape: tuple[int, ...] = (width,) if problem.shape[0] == 1 else (problem.shape[0], width)

    def __repr__(self) -> str:
        return f"ObjectiveAt(shape={self.shape}, classes={self.classes.tolist()})"

    def value(self, w: Any) -> float:
        """E(w), the mean loss over the rows plus the penalty.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        float
        """
        with one_blas_thread:
            return self._problem.value_gradient(self._weights(w)).value

    def gradient(self, w: Any) -> Array:
        """∇E(w); with an l1 penalty or a loss with kinks, the shortest subgradient.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        array of ``shape``
        """
        W = self._weights(w)
        with one_blas_thread:
            G = self._problem.subgradient(W, self._problem.value_gradient(W).gradient)
        return G[:, self._first :].reshape(self.shape)

    def hessian(self, w: Any) -> Array:
        """∇²E(w), a square matrix over the entries of w in row-major order.

        The l1 penalty adds nothing to it, since its second derivative is zero except at zero weights.

        Parameters
        ----------
        w : array of ``shape``
            The weights, intercepts first.

        Returns
        -------
        array (w.size, w.size)

        Raises
        ------
        ParameterError
            If the loss has no second derivatives.
        """
        if not self._problem.loss.traits.smooth:
            raise ParameterError("loss", "it has no second derivatives", "use value and gradient")
        K, width = self._problem.shape
        with one_blas_thread:
            H = self._problem.hessian(self._weights(w)).reshape(K, width, K, width)
        size = K * (width - self._first)
        return np.ascontiguousarray(H[:, self._first :, :, self._first :]).reshape(size, size)

    @property
    def _first(self) -> int:
        return 0 if self._problem.fit_intercept else 1

    def _weights(self, w: Any) -> Array:
        """The weights with a column for the intercept, (K or 1, d + 1)."""
        given = as_numbers("w", w, f"give {self.shape}, intercepts first")
        if given.shape != self.shape and given.shape != (1, *self.shape):
            raise ParameterError("w", f"its shape is {given.shape}", f"give {self.shape}, intercepts first")
        W = np.zeros(self._problem.shape)
        W[:, self._first :] = given.reshape(len(W), -1)
        return W


OBJECTIVE = InMemory("objective", "it is for examples that fit into memory")


@OBJECTIVE.refusing_tables
def objective(
    X: Any,
    y: Any,
    loss: str = "logistic",
    *,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
) -> ObjectiveAt:
    """Return the objective over these rows as a function of the weights.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Rows.
    y : array (n,)
        Labels of two or more classes.
    loss : str, default "logistic"
        A name in ``sx.losses.LOSSES``. With more than two classes "logistic" means the softmax loss.
    C : float, default infinity
        The inverse strength of the penalty, as in ``LogisticRegression``; infinity means no penalty.
    l1_ratio : float in [0, 1], default 0
        α above: 0 is the ridge, 1 the lasso.
    fit_intercept : bool, default True
        Whether the first entry of the weights is an intercept.
    sample_weight : array (n,) or None
        Weights of the rows.

    Returns
    -------
    ObjectiveAt
        It has the methods ``value(w)``, ``gradient(w)`` and ``hessian(w)``.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> E = sx.objective(X, y, C=1.0)
    >>> round(E.value([0.0, 0.0]), 6)  # ln 2
    0.693147
    >>> E.gradient([0.0, 0.0]).tolist(), E.hessian([0.0, 0.0]).tolist()
    ([0.0, -0.25], [[0.25, 0.375], [0.375, 1.125]])
    >>> model = sx.LogisticRegression(C=1.0).fit(X, y)
    >>> best = [*model.intercept_, *model.coef_[0]]
    >>> bool(abs(E.value(best) - model.certificate_.objective) < 1e-12)
    True
    """
    return ObjectiveAt(*problem_of(X, y, loss, C, l1_ratio, fit_intercept, sample_weight))


def problem_of(
    X: Any,
    y: Any,
    loss: str,
    C: float = np.inf,
    l1_ratio: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
) -> tuple[Objective, AnyArray]:
    """The objective over these rows in the units of the columns, and the classes."""
    _check_settings(loss, C, l1_ratio)
    classes, codes = encode(y)
    if len(classes) < 2:
        raise LabelError("y", f"it has {len(classes)} class", "give rows of at least two classes")
    if len(classes) > 2 and loss not in ("logistic", "softmax"):
        raise ParameterError("loss", f"got {loss!r} for {len(classes)} classes", "use 'logistic'")
    rows = as_csr(X) if is_sparse(X) else as_floats(X)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape}", f"give {len(codes)} rows, one for each label")
    weight = None if sample_weight is None else _checked_weight(sample_weight, len(codes))
    check_flag("fit_intercept", fit_intercept)
    penalty = Penalty(0.0 if np.isinf(C) else 1.0 / C, np.ones(rows.shape[1]), float(l1_ratio))
    with one_blas_thread:
        problem = build_objective(
            labelled_rows(rows, codes, len(classes), weight),
            len(classes),
            penalty,
            fit_intercept,
            standard=False,
            loss=loss,
        )
    return problem, classes


def _check_settings(loss: str, C: float, l1_ratio: float) -> None:
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError("loss", f"got {loss!r}", f"choose one of {', '.join(LOSSES)}")
    check_C(C, "give a positive number, or np.inf for no penalty")
    if not (is_number(l1_ratio) and 0 <= l1_ratio <= 1):
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}", "give a number from 0 (ridge) to 1 (lasso)")


def _checked_weight(sample_weight: Any, n_rows: int) -> Array:
    weight = row_weights(sample_weight, n_rows)
    if not np.any(weight > 0):
        raise WeightError("sample_weight", "all weights are zero", "give at least one positive weight")
    return weight


def as_numbers(name: str, value: Any, remedy: str) -> Array:
    """An argument as an array of float64; the error names the argument.

    >>> as_numbers("w", [0, 1], "give 2 numbers").tolist()
    [0.0, 1.0]
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(name, f"got {value!r}", remedy) from error
