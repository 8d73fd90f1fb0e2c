"""Intervals of a fitted model by profiles of Firth's likelihood, which is built again from the rows of the fit."""

from __future__ import annotations

from typing import Any

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError
from separatrix.firth.penalised_likelihood import Penalised
from separatrix.firth.profiles import profile_interval


def profile(
    model: Any,
    X: Any,
    y: Any,
    column: int | str,
    level: float = 0.95,
    *,
    contrast: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
) -> tuple[float, float]:
    """The interval of a coefficient of a ``LogisticRegression(bias_reduction="firth")``, on the rows of its fit.

    Parameters
    ----------
    model : LogisticRegression
        The fitted model.
    X, y, sample_weight, offset
        The data of the fit.
    column : int or str
        A column of X by number or name, or "intercept".
    level : float, default 0.95
        The confidence level.
    contrast : array (K,), for more than two classes
        As for ``profile_interval``.

    Returns
    -------
    low, high : float
        The ends of the interval, as from ``profile_interval``.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    >>> model = LogisticRegression(bias_reduction="firth").fit(X, y)
    >>> low, high = profile(model, X, y, 0)
    >>> round(low, 3), round(high, 3)
    (0.002, 6.07)
    """
    problem, W = posed_again(model, X, y, sample_weight, offset)
    return profile_interval(problem, W, _number_of(model, column), level, contrast)


def posed_again(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> tuple[Penalised, Array]:
    """The likelihood that a fitted model maximised, over the same rows, and the model's weights in its coordinates.

    Parameters
    ----------
    model : LogisticRegression
        A model fitted with ``bias_reduction="firth"``.
    X, y, sample_weight, offset
        The data of the fit.

    Returns
    -------
    problem : Penalised
        The likelihood.
    W : array (K or 1, d + 1)
        The weights in its coordinates.

    Raises
    ------
    InputError
        If the model was not fitted by Firth's likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    >>> problem, W = posed_again(LogisticRegression(bias_reduction="firth").fit(X, y), X, y)
    >>> bool(np.linalg.norm(problem.gradient(W, problem.level(W).factor)) < 1e-8)
    True
    """
    claim = getattr(getattr(model, "certificate_", None), "claim", None)
    posed = getattr(claim, "penalised", None)
    if posed is None:
        remedy = "fit LogisticRegression(bias_reduction='firth') first"
        raise InputError("model", f"{type(model).__name__} was not fitted by Firth's likelihood", remedy)
    problem: Penalised = posed(X, y, sample_weight, offset)
    return problem, problem.framed(model.scorer_.W)


def _number_of(model: Any, column: int | str) -> int:
    """The column of W for a column of X, which is given by number or name."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if isinstance(column, str) and column in names:
        return 1 + names.index(column)
    if column == "intercept":
        return 0
    if isinstance(column, str) or not 0 <= column < model.n_features_in_:
        remedy = f"give a number from 0 to {model.n_features_in_ - 1}, a column's name, or 'intercept'"
        raise InputError("column", f"got {column!r}", remedy)
    return 1 + int(column)
