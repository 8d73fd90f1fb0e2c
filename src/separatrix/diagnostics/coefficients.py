r"""What each column does to the scores, in steps that compare: one standard deviation, or 0 to 1 where that is all.

Of a logistic regression without a penalty, with intervals and as odds ratios exp(β·step); of any other linear model the
weights alone: a penalised weight is biased by an amount that the rows do not tell. Dividing columns by their spread to
compare coefficients: Gelman, Scaling regression inputs by dividing by two standard deviations, Stat. Med. 27 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError, ParameterError
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.inference import summary
from separatrix.rows import Block, memory_rows, summarise
from separatrix.rows.block import is_sparse
from separatrix.scorers.scorer import taken_apart


@dataclass(frozen=True)
class Coefficients:
    """``value`` (q, d): the score of each of ``classes`` (q) per step of each column; ``low`` and ``high``, or NaN.

    ``steps`` (d,): how long one is; ``binary`` (d,): where it is from 0 to 1. ``ratio``: what exp of a value is called,
    None where it means nothing. ``reference``: the class that values are against, None where each has its own score.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    value: Array
    low: Array
    high: Array
    steps: Array
    binary: Any
    level: float
    ratio: str | None
    says: str

    @property
    def has_intervals(self) -> bool:
        return bool(np.any(np.isfinite(self.low)))

    def largest(self, top: int) -> Integers:
        """The columns with the largest value for some class, largest first; columns without one come last."""
        size = np.max(np.where(np.isnan(self.value), -1.0, np.abs(self.value)), axis=0)
        return np.argsort(-size, kind="stable")[:top]

    def step_of(self, j: int) -> str:
        """The column's step in words."""
        return "0 to 1" if self.binary[j] else f"+{self.steps[j]:.3g}"


@dataclass(frozen=True)
class FromZeroToOne:
    """Which of d columns run from 0 to 1, (d,): a partial over rows. A level's column does, with means filled in, too.

    >>> rows = memory_rows(np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.0, 1.0]]), np.zeros(3))
    >>> rows.fold(FromZeroToOne(3)).all(axis=0).tolist()
    [True, False, True]
    """

    d: int

    def zero(self) -> Any:
        """Nothing below 0 or above 1 so far, no 0 and no 1, (3, d)."""
        return np.array([[True], [False], [False]]).repeat(self.d, axis=1)

    def add(self, total: Any, block: Block) -> Any:
        X: Any = block.X
        if is_sparse(X):
            total[0, X.indices[(X.data < 0) | (X.data > 1)]] = False
            total[2, X.indices[X.data == 1]] = True
            total[1] |= np.bincount(X.indices[X.data != 0], minlength=self.d) < block.n_rows
        else:
            total[0] &= np.all((X >= 0) & (X <= 1), axis=0)
            total[1] |= np.any(X == 0, axis=0)
            total[2] |= np.any(X == 1, axis=0)
        return total

    def merge(self, a: Any, b: Any) -> Any:
        a[0] &= b[0]
        a[1:] |= b[1:]
        return a


def coefficients(model: Any, X: Any, y: Any, *, names: Any = None, level: float = 0.95) -> Coefficients:
    """The coefficients of a fitted linear model over its own rows X, y; of a pipeline, its last step's.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = coefficients(LogisticRegression(C=np.inf).fit(X, y), X, y)
    >>> found.ratio, found.steps.round(2).tolist(), np.exp(found.value).round(2).tolist()
    ('odds ratio', [1.71], [[7.95]])
    >>> coefficients(LogisticRegression(C=1.0).fit(X, y), X, y).has_intervals
    False
    """
    model, X, encoded = taken_apart(model, X)
    if not hasattr(model, "coef_"):
        came = f"{type(model).__name__} has no weight for each column"
        raise ParameterError("model", came, "give a fitted linear classifier")
    rows, known = rows_to_score(model, X)
    seen = memory_rows(rows, np.zeros(rows.shape[0]))
    std = summarise(seen, ranges=False).std
    binary = seen.fold(FromZeroToOne(len(std))).all(axis=0)
    steps = np.where(binary, 1.0, std)
    named = column_names(len(std), known or encoded, names)
    found, reason = _inferred(model, X, y, level)
    if found is not None:
        slopes = slice(len(found.names) - len(named), None)  # the intercept, where there is one, comes first
        value, low, high = (np.atleast_2d(a)[:, slopes] * steps for a in (found.coef, found.low, found.high))
        says = f"{100 * level:g} % Wald intervals"
        return Coefficients(
            named, found.classes, found.reference, value, low, high, steps, binary, level, found.ratio_name, says
        )
    weights = np.asarray(model.coef_) * steps
    nothing = np.full(weights.shape, np.nan)
    labels = np.asarray(model.classes_).tolist()
    pair = len(weights) == 1
    classes, reference = (tuple(labels[1:]), labels[0]) if pair else (tuple(labels), None)
    return Coefficients(
        named,
        classes,
        reference,
        weights,
        nothing,
        nothing.copy(),
        steps,
        binary,
        level,
        None,
        f"no intervals: {reason}",
    )


def column_names(d: int, known: list[str] | None, given: Any = None) -> tuple[str, ...]:
    """Of d columns: as given, else as the fit had them, else x0, x1, ….

    >>> column_names(2, None)
    ('x0', 'x1')
    """
    if given is None:
        return tuple(known) if known is not None else tuple(f"x{j}" for j in range(d))
    found = tuple(str(name) for name in given)
    if len(found) != d:
        raise ParameterError("names", f"got {len(found)} for {d} columns", "give one a column")
    return found


def _inferred(model: Any, X: Any, y: Any, level: float) -> tuple[Any, str]:
    """The statistical table, or None and why there is none."""
    claim: Any = getattr(getattr(model, "certificate_", None), "claim", None)
    if not hasattr(claim, "penalty_factors"):  # the claims of likelihoods alone have these
        return None, f"{type(model).__name__} has no standard errors"
    if np.isfinite(claim.C) and np.any(claim.penalty_factors > 0):
        return None, f"the fit is penalised (C={claim.C:.4g}), so its weights are biased towards zero"
    robust = "HC1" if np.any(claim.class_weights != 1.0) else None
    try:
        found = summary(model, X, y, covariance=robust, level=level)
    except InputError as error:
        return None, str(error)
    return (None, found.withheld) if found.withheld else (found, "")
