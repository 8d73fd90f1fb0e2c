r"""The regularisation path: one fit for each of many values of C, each with a warm start from the last.

Problem   min_W C Σ_i s_i ℓ(t_i, W x̄_i) + Σ_j f_j (α |w_j| + ½ (1 − α) w_j²)   for every C of a list
Given     rows, labels, the values of C or how many, α
Returns   the fitted models, from the strongest penalty to the weakest, each with its certificate
Step      the strongest penalty is the one at which all weights are zero, which follows from the sums of the classes;
          from there a ``WarmPath`` leads to weaker ones

Friedman, Hastie and Tibshirani 2010, section 2.5; docs/tour.md, R8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.classifiers.fit_input import FitInput, refuse_weightless_classes, validate
from separatrix.classifiers.logistic import LogisticRegression, check_settings, coding_of, penalty_of
from separatrix.core.base.arrays import Array, check_count, check_positive
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.watching import part
from separatrix.core.certificate import Certificate
from separatrix.core.regularisation_path import WarmPath
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.solvers.driver import delivered
from separatrix.core.solvers.registry import named
from separatrix.core.solvers.state import Need, Solver


@dataclass(frozen=True)
class PenaltyPath:
    """The fitted models of a regularisation path, in ascending order of C.

    Attributes
    ----------
    models : tuple of LogisticRegression

    Examples
    --------
    >>> import separatrix as sx
    >>> path = sx.penalty_path([[0, 1], [1, 0], [2, 1], [3, 0]], ["no", "no", "yes", "yes"], Cs=[10, 0.1])
    >>> path.Cs.tolist(), path.coef.shape, path.intercept.shape, len(path)
    ([0.1, 10.0], (2, 1, 2), (2, 1), 2)
    """

    models: tuple[LogisticRegression, ...]

    @property
    def Cs(self) -> Array:
        """The values of C, (n,), ascending, so that the penalty weakens."""
        return np.array([model.C for model in self.models])

    @property
    def coef(self) -> Array:
        """The weights of all models, (n, K or 1, d)."""
        return np.stack([model.coef_ for model in self.models])

    @property
    def intercept(self) -> Array:
        """The intercepts of all models, (n, K or 1)."""
        return np.stack([model.intercept_ for model in self.models])

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each model."""
        return tuple(model.certificate_ for model in self.models)

    @property
    def n_nonzero(self) -> Any:
        """For each model the number of columns with a nonzero weight, (n,)."""
        return np.array([int(np.sum(np.any(model.coef_ != 0, axis=0))) for model in self.models])

    def model(self, i: int) -> LogisticRegression:
        """Return the fitted classifier for one value of C.

        Parameters
        ----------
        i : int
            The place of the value in ``Cs``, counted from 0.

        Returns
        -------
        LogisticRegression
        """
        return self.models[i]

    def __len__(self) -> int:
        return len(self.models)


PATH = InMemory(
    "penalty_path",
    "its fits share rows in reduced coordinates, which are kept in memory",
    "fit a few values of C, each with warm_start=True",
)


@PATH.refusing_tables
def penalty_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = None,
    n_values: int = 30,
    span: float = 1e3,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    class_weight: Any = None,
    penalty_factors: Any = None,
    sample_weight: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    solver: str | Solver = "auto",
) -> PenaltyPath:
    """Fit a ``LogisticRegression`` for each of several values of C, each with a warm start from the last.

    Parameters
    ----------
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        Class labels.
    Cs : list of float or None, default None
        The values of C, in any order. None: ``n_values`` values, evenly spaced on a logarithmic scale, from the largest
        C at which all weights are zero to ``span`` times that.
    n_values : int, default 30
        How many values of C.
    span : float, default 1000
        Ratio of the largest C to the smallest.
    l1_ratio : float between 0 and 1, default 1.0
        0 is the ridge, 1 the lasso, in between the elastic net.
    fit_intercept, class_weight, penalty_factors, tol, max_iter, solver
        As for ``LogisticRegression``.
    sample_weight : array (n,) or None
        Weights >= 0; a row of weight 2 counts as two rows.

    Returns
    -------
    PenaltyPath

    Examples
    --------
    >>> import separatrix as sx
    >>> path = sx.penalty_path([[0, 1], [1, 0], [2, 1], [3, 0]], ["no", "no", "yes", "yes"], n_values=4)
    >>> path.n_nonzero.tolist(), [certificate.code for certificate in path.certificates]
    ([0, 1, 1, 1], ['optimal', 'optimal', 'optimal', 'optimal'])
    >>> path.model(3).predict([[0.5, 1]]).tolist()
    ['no']
    """
    shared = {
        "l1_ratio": l1_ratio,
        "fit_intercept": fit_intercept,
        "class_weight": class_weight,
        "penalty_factors": penalty_factors,
        "tol": tol,
        "max_iter": max_iter,
        "solver": solver,
    }
    first = LogisticRegression(**shared)
    check_settings(first)
    check_count("n_values", n_values)
    check_positive("span", span)
    task = validate(first, X, y, sample_weight)
    with one_blas_thread:
        coding, by_class = coding_of(first, task)
        refuse_weightless_classes(task.classes, task.table.totals.weight * by_class)
        asked = named(solver)
        if asked is not None and Need.STANDARD not in asked.needs:
            raise ParameterError("solver", f"got {solver!r}", "use 'auto', or a solver of standard coordinates")
        penalty = penalty_of(first, task.n_features, 1.0)
        walk = WarmPath.over(task.likelihood_rows(coding), task.n_classes, penalty, bool(fit_intercept), task.names)
        models = [LogisticRegression(C, **shared) for C in _values(walk, Cs, n_values, span)]
        for k, model in enumerate(models, 1):
            with part("value of C", k, len(models), f"C = {model.C:.3g}"):
                model.has_sample_weight_ = sample_weight is not None
                _fit(model, walk, task, by_class)
    return PenaltyPath(tuple(models))


def _fit(model: LogisticRegression, walk: WarmPath, task: FitInput, by_class: Array) -> None:
    """Fit ``model``, whose C is larger than that of the last fit on the path."""
    check_settings(model)
    problem, solver, why, outcome = walk.solved(float(model.C), named(model.solver), model.tol, model.max_iter)
    W, judged = delivered(outcome, problem)
    model.n_features_in_, model._dtype = task.n_features, task.X.dtype.name
    if task.names is not None:
        model.feature_names_in_ = np.array(task.names, dtype=object)
    model.C_, model.penalty_choice_ = float(model.C), None
    model._keep(task, by_class, problem, W, judged, solver, why)


def _values(walk: WarmPath, Cs: Any, n_values: int, span: float) -> list[float]:
    if Cs is None:
        zero = walk.zero()
        return [float(C) for C in np.geomspace(zero, zero * span, n_values)]
    try:
        given_values = np.sort(np.asarray(Cs, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        given_values = np.empty(0)
    if len(given_values) == 0 or not np.all(given_values > 0):
        raise ParameterError("Cs", f"got {Cs!r}", "give positive numbers, or None for a list from the data")
    return [float(C) for C in given_values]
