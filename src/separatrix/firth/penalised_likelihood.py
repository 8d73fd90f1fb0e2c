r"""Firth's penalised likelihood, as sums over rows.

    l*(W) = l(W) + ½ ln |I(W)|,    l = −Σ_i s_i ℓ(t_i, W x̄_i),    I = Σ_i s_i H_i ⊗ x̄_i x̄_iᵀ,    H = diag(p) − p pᵀ

with ℓ logistic (there H is the number p(1 − p)) or softmax. |I| is taken over the directions that the columns
determine, so collinear columns, the common shift of K scores and the weights of an offset are not in it. Up to a
constant factor, it does not depend on the units of the columns or on a reference class. The derivative of ½ ln |I| in
the scores of a row is ½ s H u, with u_k = V_kk − 2 (V p)_k and V_kl = (e_k ⊗ x̄)ᵀ I⁻¹ (e_l ⊗ x̄). For two classes it is
h (½ − p), with h = s p(1 − p) x̄ᵀ I⁻¹ x̄ the row's leverage.

The objective that is minimised is E* = −(l* − ½ ln |I(0)|)/S, S = Σ s. I(0) is the information at equal probabilities.
Subtracting its logarithm removes the constant, so E* is the same in all coordinates.

Firth, Bias reduction of maximum likelihood estimates, Biometrika 80 (1993); Heinze and Schemper, A solution to the
problem of separation in logistic regression, Statistics in Medicine 21 (2002); for more classes Kosmidis and Firth,
Multinomial logit bias reduction via the Poisson log-linear model, Biometrika 98 (2011).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, WeightError
from separatrix.firth.firth_partials import Sums, sums_of
from separatrix.objectives import build
from separatrix.objectives.factor import Factor
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import LARGEST_HESSIAN, Objective
from separatrix.objectives.subspace import contrasts, identified
from separatrix.rows import Block, Rows

# If a pivot of the information, scaled to a unit diagonal, is below this, the root of the information is factored
# instead. The rounding error of ln |I| is that of the entries divided by the smallest pivot, and steps must raise l* by
# more.
SMALLEST_TRUSTED_PIVOT = 1e-6
# The smallest total weight, in rows: with less the penalty outweighs the data completely.
SMALLEST_TOTAL_WEIGHT = 1e-3


class Level(NamedTuple):
    """E* at some W, and the factor of the information there, per unit of weight, on the determined directions."""

    value: float
    factor: Factor


class Penalised:
    """E*(W) over rows: an ``Objective`` without a penalty, and the unit of its weights. ``pose`` makes one from rows.

    Parameters
    ----------
    objective : Objective
        The mean loss over the rows, without a penalty.
    unit : float, default 1
        The number by which the rows' weights were divided. Weights count rows here, because the penalty does not grow
        with them.
    zero : array (K or 1, d + 1), optional
        The weights whose scores are the offset alone; by default they are taken from the objective.

    Examples
    --------
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2, np.full(4, 5.0)), 2)
    >>> problem.weight, problem.rank
    (20.0, 2)
    """

    def __init__(self, objective: Objective, unit: float = 1.0, zero: Array | None = None) -> None:
        if not objective.has_hessian:
            problem = f"got 'firth' for {objective.size} parameters"
            raise ParameterError("bias_reduction", problem, f"use fewer columns: at most {LARGEST_HESSIAN} parameters")
        self.objective, self.unit = objective, unit
        # The weights whose scores are the offset alone, (K or 1, d + 1).
        self.zero: Array = next(W for W in (zero, objective.offsets, np.zeros(objective.shape)) if W is not None)

    @cached_property
    def sums(self) -> Sums:
        """The sums over the objective's rows."""
        return sums_of(self.objective)

    @cached_property
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ, zero where weights are pinned."""
        objective = self.objective
        total = self.sums.gram() / objective.total_weight
        total[objective.pinned] = 0.0
        total[:, objective.pinned] = 0.0
        return total

    @property
    def weight(self) -> float:
        """S, the total weight of the rows in their own unit."""
        return self.unit * self.objective.total_weight

    @cached_property
    def rank(self) -> int:
        """The number of directions that the columns determine."""
        return self.objective.subspace.rank

    @cached_property
    def _directions(self) -> Array:
        """The determined directions, (P, K (d + 1))."""
        return self.objective.subspace.reduce_rows(np.eye(self.objective.size)).T

    @cached_property
    def _log_det_at_zero(self) -> float:
        """ln |I(0)| per unit of weight, from the Gram matrix: at zero H is ¼, or 1/K on the contrasts of K classes."""
        objective, Z = self.objective, self.objective.subspace.Z
        G = self.gram if Z is None else Z.T @ self.gram @ Z
        factor = Factor.of(G)
        if factor is None:
            root = objective.root_gram if Z is None else objective.root_gram @ Z
            with np.errstate(divide="ignore"):  # the Gram matrix of a sample may be singular
                log_det = 2 * float(np.sum(np.log(np.linalg.svd(root, compute_uv=False))))
        else:
            log_det = log_determinant(factor)
        K = objective.shape[0]
        return (log_det - self.rank * float(np.log(4 if K == 1 else K))) * max(1, K - 1)

    def level(self, W: Array) -> Level | None:
        """E* and the information at W, in one pass; None where the information is singular, and E* infinite."""
        objective = self.objective
        value, information = self.sums.information(W)
        factor = Factor.of(objective.subspace.reduce_hessian(information / objective.total_weight))
        if factor is None or float(np.min(np.abs(factor.lower.diagonal()), initial=1.0)) ** 2 < SMALLEST_TRUSTED_PIVOT:
            factor = objective.root_factor(W)
        if factor is None or not np.isfinite(value):
            return None
        penalty = 0.5 * (log_determinant(factor) - self._log_det_at_zero)
        return Level(value / objective.total_weight - penalty / self.weight, factor)

    def curvature(self, W: Array) -> Array:
        """∇² of the mean loss alone, (K (d + 1))², in one pass."""
        return self.sums.information(W)[1] / self.objective.total_weight

    def slope(self, W: Array) -> Array:
        """The gradient of the mean loss alone, without the penalty, (K, d + 1), in one cheap pass."""
        objective = self.objective
        return objective.without_pinned(self.sums.slope(W) / objective.total_weight)

    def gradient(self, W: Array, factor: Factor) -> Array:
        """∇E*(W), (K, d + 1), in one pass, with the factor of the information at W."""
        objective = self.objective
        F = factor.half(self._directions).reshape(-1, *W.shape)
        total = self.sums.score(W, F, 1.0 / self.weight)
        return objective.without_pinned(total / objective.total_weight)

    def on(self, block: Block) -> Penalised:
        """The likelihood of some rows alone, in the same coordinates and directions."""
        return Penalised(self.objective.restricted_to(block), self.unit, self.zero)

    def knowing(self, known: Mapping[str, Any]) -> Penalised:
        """The same likelihood with known statistics of its objective."""
        other = copy(self)
        other.objective = self.objective.with_(known=known)
        return other

    @cached_property
    def null_in_closed_form(self) -> float | None:
        """E* of the best constant scores; None if there is an offset, since it then has no closed form.

        With constant scores all rows have the same p, so l* = Σ_k (n_k + r/2) ln p_k up to a constant, where r is the
        rank of the columns. At its maximum, r/2 rows are added to each class.
        """
        objective = self.objective
        if objective.n_offsets:
            return None
        if not objective.fit_intercept:
            return objective.value_at_zero
        n = self.unit * objective.class_sums[:, 0]
        p = (n + 0.5 * self.rank) / (n.sum() + 0.5 * self.rank * len(n))
        return -float(n @ np.log(p) + 0.5 * self.rank * np.sum(np.log(len(n) * p))) / self.weight

    def framed(self, W: Array) -> Array:
        """Convert weights (K or 1, d + 1) in raw units to the problem's coordinates, and append those of an offset."""
        raw = np.hstack([W, np.eye(len(W), self.objective.n_offsets)])
        return self.objective.rows.frame.from_original(raw)


def pose(
    rows: Rows, n_classes: int, fit_intercept: bool = True, names: list[str] | None = None, n_offsets: int = 0
) -> Penalised:
    """Firth's likelihood of rows made by ``labelled_rows``, in memory or streamed.

    Parameters
    ----------
    rows : Rows
        The rows. The weight of a row says how often it counts.
    n_classes : int
        The number of classes.
    fit_intercept : bool
        Whether there is an intercept.
    names : list of str, optional
        The names of the columns other than offsets, for error messages.
    n_offsets : int
        This many of the last columns are an offset: known parts of the scores.

    Returns
    -------
    Penalised

    Raises
    ------
    WeightError
        If the rows count for next to nothing in all.

    Examples
    --------
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(problem.level(problem.zero).value, 6)  # ln 2: the penalty is zero at weights of zero
    0.693147
    """
    objective = build.build_objective(
        rows,
        n_classes,
        Penalty.none(rows.n_features - n_offsets),
        fit_intercept,
        names=names,
        hide_constant=False,  # a constant column is zero in these coordinates anyway, and keeps its weight
        n_offsets=n_offsets,
    )
    problem = Penalised(objective, rows.weight_unit)
    if problem.weight < SMALLEST_TOTAL_WEIGHT:
        fault = f"the rows count for {problem.weight:.2g} in all"
        raise WeightError("sample_weight", fault, "say how often each row counts: the penalty is worth a few rows")
    known: dict[str, Any] = {"gram": problem.gram}  # that of the objective, computed by faster passes
    found = identified(0.25 * problem.gram)
    if found is not None:  # the rank is certain, so no further pass is needed
        known["subspace"] = replace(found, Q=contrasts(n_classes) if n_classes > 2 else None)
    return problem.knowing(known)


def penalised_log_likelihood(problem: Penalised, W: Array) -> float:
    """l*(W) − ½ ln |I(0)|: Firth's likelihood, with a constant that makes it the same in all coordinates.

    Parameters
    ----------
    problem : Penalised
        The likelihood, as ``pose`` returns it.
    W : array (K or 1, d + 1)
        Weights in the problem's coordinates.

    Returns
    -------
    float
        −∞ where the information is singular.

    Examples
    --------
    >>> from separatrix.rows import labelled_rows
    >>> problem = pose(labelled_rows(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2), 2)
    >>> round(penalised_log_likelihood(problem, problem.zero), 6)  # 4 ln ½
    -2.772589
    """
    found = problem.level(W)
    return -np.inf if found is None else -problem.weight * found.value


def log_determinant(factor: Factor) -> float:
    """ln |H| of a factored H.

    >>> round(log_determinant(Factor.of(np.diag([2.0, 3.0]))), 6)  # ln 6
    1.791759
    """
    return 2 * float(np.sum(np.log(np.abs(factor.lower.diagonal()) * factor.d)))
