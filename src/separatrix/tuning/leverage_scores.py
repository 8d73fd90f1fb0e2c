"""Scores of C by approximate leave-one-out, from the leverages of one fit for each C (docs/tour.md, R8, E2).

The fit at C starts from the fit at the nearest C (``ridge_path``), and the leverages follow from one product with the
inverse of the Hessian ∇²E. If rows are dense and fewer than the columns, this is done in the span of the rows; with
absolute values in the penalty, on the columns in use.

Rad and Maleki 2020; Kimeldorf and Wahba 1970 for the span.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.subspace import Subspace
from separatrix.solvers.row_space import Basis
from separatrix.tuning.leave_one_out import leave_one_out, row_lengths
from separatrix.tuning.leverages import Inverse
from separatrix.tuning.penalty_question import Question
from separatrix.tuning.penalty_scores import FOLD_TOL, PERFECT_LOSS_SHARE, Plan, Scored, mean_loss
from separatrix.tuning.reduced_rows import ReducedRows, reduce_rows
from separatrix.tuning.ridge_path import Fit, Ridge
from separatrix.tuning.starting_penalty import predicted_C
from separatrix.tuning.warm_path import WarmPath

# The path ends if the effective number of parameters exceeds this share of all parameters.
UNPENALISED_SHARE = 0.99


class Fits(Protocol):
    """Fits at a sequence of values of C, and the plan for the search."""

    def plan(self, least: float, rows: float) -> Plan: ...
    def at(self, C: float) -> Fit: ...
    def finished(self, C: float, theta: Array, tol: float) -> Array: ...


@dataclass
class Squares:
    """Fits with a purely quadratic penalty.

    They can start from the fit at any other C, so the search begins near the predicted best C and goes both ways.
    """

    path: Ridge

    def plan(self, least: float, rows: float) -> Plan:
        null = self.path.base.subspace.expand(self.path.null.gradient)
        return Plan(max(least, predicted_C(self.path.base, null, rows)), 8.0, 2, 1, 1.0)

    def at(self, C: float) -> Fit:
        return self.path.at(C)

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        return self.path.finished(C, theta, tol)


@dataclass
class Absolute:
    """Fits with absolute values in the penalty, by the solvers of `WarmPath`, with the Hessian of active weights."""

    path: WarmPath
    max_iter: int

    def plan(self, least: float, rows: float) -> Plan:
        return Plan(least)

    def at(self, C: float) -> Fit:
        solved = self.path.solved(C, tol=FOLD_TOL, max_iter=self.max_iter)
        problem, W = solved.problem, solved.outcome.state.W
        H = problem.hessian(W)
        curved = np.diag(H).reshape(W.shape) > 0
        active = ((W != 0) | problem.unpenalised) & ~problem.pinned & curved
        if len(W) > 1:  # weights of unpenalised columns are determined only up to a common shift
            active[-1] &= ~problem.unpenalised
        loss = solved.outcome.state.at.value - problem.penalty_value(W)
        rows = reduce_rows(problem, Subspace(None, None, W.shape[1]))
        return Fit(rows, W.ravel(), loss, Inverse.on_active(H, active))

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        return theta


@dataclass(frozen=True)
class ByLeverages:
    """Approximate leave-one-out from the leverages of one fit for each C.

    Unlike ``ByFolds`` it fits no model without the held-out rows: one Newton step from the fit to all rows replaces the
    refit, except for rows of high leverage.
    """

    question: Question
    walk: WarmPath
    least: float
    fits: Fits
    basis: Basis | None = None
    kept: list[Array] = field(default_factory=list)  # cache of the rows' lengths
    name: ClassVar[str] = "leave-one-out"

    @property
    def plan(self) -> Plan:
        """The plan of the search, which uses the effective number of rows, (Σ s)²/Σ s²."""
        weight = self.question.weight
        return self.fits.plan(self.least, float(weight.sum()) ** 2 / float(weight @ weight))

    def score(self, C: float) -> Scored:
        """The mean log loss of left-out rows at C."""
        rows, theta, loss, inverse = fit = self.fits.at(C)
        if inverse is None:  # the penalty is negligible and the Hessian singular
            return Scored(C, np.inf, np.inf, 0.0, 0, 0, 0, True, None)
        found, problem = (
            leave_one_out(rows, theta, inverse, self.question.seed, lambda: self._lengths(rows)),
            rows.problem,
        )
        score, error = mean_loss(found.loss, self.question.weight * self.question.scored)
        error = float(np.hypot(error, found.error))
        # With absolute values in the penalty, the effective number of parameters is the number of weights in use,
        # whatever the strength of the penalty, so it does not show that the penalty has no effect.
        free = not problem.has_absolute and float(found.share.sum()) > UNPENALISED_SHARE * len(inverse.A)
        last = free or score < PERFECT_LOSS_SHARE * problem.null_value
        counts = (found.refitted, found.high, found.seen)
        return Scored(C, score, error, loss / problem.null_value, *counts, last, fit._replace(inverse=None))

    def _lengths(self, rows: ReducedRows) -> Array:
        """The lengths of the rows, which do not depend on C; cached."""
        if not self.kept:
            self.kept.append(row_lengths(rows))
        return self.kept[0]

    def weights(self, best: Scored) -> Array | None:
        """The weights at the best C in raw units, without those of an offset."""
        if best.fit is None:
            return None
        problem = best.fit.rows.problem
        W = best.fit.rows.weights(self.fits.finished(best.C, best.fit.theta, self.question.tol))
        if self.basis is not None:
            W = self.basis.image(W)
            problem = self.basis.problem
        raw = problem.rows.frame.to_original(W)
        return raw[:, : self.question.n_features + 1]

    def note(self, path: list[Scored]) -> str:
        """A description of how the scores were computed."""
        where = " in the span of the rows" if self.basis is not None else ""
        seen, rows = max(at.seen for at in path), len(self.question.codes)
        where += f" on {seen} of {rows} rows" if seen < rows else ""
        drawn = any(at.refitted < at.high for at in path)
        some = ", some of the rows of high leverage refitted for all of them" if drawn else ""
        return f"approximate leave-one-out{where}{some}"
