"""The claims of fits whose objective is a sum over rows: likelihoods, Firth's likelihood, and margin losses.

A claim holds everything except the rows that the objective depends on, and recomputes the objective and a bound on its
gap at the fitted weights. A classifier that combines two-class fits makes the claims of all its parts. Objectives and
bounds are imported when a claim is recomputed, since reading a model file does not need them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from separatrix.core.base.arrays import Array, Booleans
from separatrix.core.base.codec import Choice, Number, Several, array
from separatrix.core.base.errors import InputError
from separatrix.core.base.labels import known_codes
from separatrix.core.certificate import Bound, Claim, Recomputed, RowsClaim, TableClaim
from separatrix.core.losses import LOSSES
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.labelled_table import MemoryTable, OutsideMemory, with_offset
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import ClassTotals, Coding, weights_among
from separatrix.core.rows.views import one_against_rest, two_class_table
from separatrix.core.schemes import Scheme
from separatrix.core.scorer import Scorer, Scores

if TYPE_CHECKING:
    from separatrix.core.firth.likelihood import Penalised
    from separatrix.core.problem import Objective


# --- Likelihoods


class LikelihoodOfRows(RowsClaim):
    """A claim whose objective is a sum over rows plus a penalty, which inference and diagnostics can evaluate.

    Such a claim also has the attributes ``C``, ``penalty_factors``, ``class_weights``, ``fit_intercept``, ``l1_ratio``
    and ``loss``. Its rows are ``labelled_rows`` whose weights include the class weights, with an offset as the last
    columns.
    """

    scorer: Scorer
    class_weights: Array

    def table_of(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> MemoryTable:
        """Arrays as a table with the class numbers of the claim, and an offset as its last columns."""
        from separatrix.core.problem import as_offset

        table = super().table_of(X, y, sample_weight)
        added = as_offset(offset, table.n_rows, len(self.among(table.totals)[1]))
        return table if added is None else replace(table, X=with_offset(table.X, added))

    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights of a likelihood, including the class weights."""
        return Coding.of_likelihood(totals, self.class_weights)

    def n_offsets(self, rows: Rows) -> int:
        """The number of the rows' last columns that are an offset."""
        return rows.n_features - self.scorer.n_features

    def among(self, totals: ClassTotals) -> tuple[Booleans | None, Array]:
        """The classes that are part of the objective, since their rows have weight, and their claimed weights.

        None for all classes.
        """
        W, held = self.scorer.W, totals.weight * self.class_weights > 0
        weights = weights_among(W, held) if 2 <= held.sum() < len(held) else None
        return (None, W) if weights is None else (held, weights)

    def objective(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Objective:
        """The objective over these rows, without the penalty of Firth's likelihood."""
        return self.objective_over(self.table_of(X, y, sample_weight, offset))[0]

    @abstractmethod
    def objective_over(self, table: OutsideMemory | MemoryTable) -> tuple[Objective, Array]:
        """The same over a table, and the claimed weights of the classes whose rows have weight."""


@dataclass(frozen=True)
class LikelihoodClaim(LikelihoodOfRows):
    """Everything except the rows that the objective of a fitted logistic regression depends on."""

    scorer: Scorer
    C: Annotated[float, Number(above=0.0)]
    penalty_factors: Annotated[Array, array("d", least=0)]
    fit_intercept: bool
    class_weights: Annotated[Array, array("K", least=0)]
    loss: Annotated[str, Choice(LOSSES)] = "logistic"
    l1_ratio: Annotated[float, Number(0.0, 1.0)] = 0.0
    takes_offset: ClassVar[bool] = True

    def of_rows(self, rows: Rows) -> Recomputed:
        """Objective, gradient and bound at the claimed weights, over rows in which all classes have weight.

        A bound by second derivatives holds for all directions only if the directions that it leaves out have score zero
        on every row. This is proven here in integer arithmetic, while a fit relies on small residuals.
        """
        return self._at(self._built(rows, len(self.scorer.classes)), self.scorer.W)

    def of_table(self, table: OutsideMemory | MemoryTable) -> Recomputed:
        """Like ``of_rows``, for a table in which some classes may have no weight."""
        return self._at(*self.objective_over(table))

    def objective_over(self, table: OutsideMemory | MemoryTable) -> tuple[Objective, Array]:
        held, W = self.among(table.totals)
        coding = Coding.of_likelihood(table.totals, self.class_weights, held)
        return self._built(table.rows(coding), coding.n_classes(len(self.scorer.classes))), W

    def _at(self, problem: Objective, weights: Array) -> Recomputed:
        from separatrix.core.duality_bound import Rounding
        from separatrix.core.gap_bounds import bound
        from separatrix.core.proofs.null_space import leaves_out_null_directions_only

        raw = np.hstack([weights, np.eye(len(weights), problem.n_offsets)])
        W = problem.rows.frame.from_original(raw)
        at = problem.value_gradient(W)
        proven = bound(problem, W, at, thorough=True)
        second = proven.kind == "self-concordance" and proven.value is not None
        if second and not leaves_out_null_directions_only(problem):
            proven = Bound(None, proven.kind, "a direction that the bound leaves out changes the score of some row")
        length = float(np.linalg.norm(problem.subgradient(W, at.gradient)))
        return Recomputed(at.value, problem.null_value, proven, length, Rounding.of(problem, W, at).value)

    def _built(self, rows: Rows, n_classes: int) -> Objective:
        from separatrix.core.penalty import Penalty
        from separatrix.core.problem import build_objective

        # A constant column whose weights are all zero is left out, as in a fit. Others keep their weights.
        unused, n_offsets = ~np.any(self.scorer.W[:, 1:], axis=0), self.n_offsets(rows)
        return build_objective(
            rows,
            n_classes,
            Penalty(0.0 if np.isinf(self.C) else 1.0 / self.C, self.penalty_factors, self.l1_ratio),
            self.fit_intercept,
            hide_constant=np.concatenate([unused, np.zeros(n_offsets, dtype=bool)]),
            loss=self.loss,
            n_offsets=n_offsets,
        )


@dataclass(frozen=True)
class FirthClaim(LikelihoodOfRows):
    """Everything except the rows that Firth's penalised likelihood depends on: it has no other penalty.

    No bound on its gap is known, so what is claimed is that the gradient of the penalised likelihood is zero.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> claim = LogisticRegression(bias_reduction="firth").fit(X, y).certificate_.claim
    >>> claim.recompute(X, y).gradient_norm < 1e-8
    True
    """

    scorer: Scorer
    fit_intercept: bool
    class_weights: Annotated[Array, array("K", least=0)]
    C: ClassVar[float] = np.inf
    l1_ratio: ClassVar[float] = 0.0
    loss: ClassVar[str] = "logistic"
    takes_offset: ClassVar[bool] = True

    @property
    def penalty_factors(self) -> Array:
        return np.ones(self.scorer.n_features)

    def of_rows(self, rows: Rows) -> Recomputed:
        """The objective and the penalised score at the claimed weights, over any kind of rows."""
        from separatrix.core.firth.likelihood import Ascent, null_value, unbounded

        problem = self._penalised_over(rows)
        point = Ascent().at(problem, problem.framed(self.scorer.W))
        if point is None:
            return Recomputed(np.inf, null_value(problem), unbounded(np.inf), np.inf)
        length = float(np.linalg.norm(point.gradient))
        return Recomputed(point.level.value, null_value(problem), unbounded(point.length), length)

    def objective_over(self, table: OutsideMemory | MemoryTable) -> tuple[Objective, Array]:
        return self._penalised_over(table.rows(self.coding_of(table.totals))).objective, self.scorer.W

    def penalised(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Penalised:
        """The penalised likelihood of these rows."""
        return self._penalised_over(self.rows_of(X, y, sample_weight, offset=offset))

    def _penalised_over(self, rows: Rows) -> Penalised:
        from separatrix.core.firth.likelihood import pose

        return pose(rows, len(self.scorer.classes), self.fit_intercept, n_offsets=self.n_offsets(rows))


# --- Linear support vector classification


@dataclass(frozen=True)
class HingeClaim(RowsClaim):
    """Everything except the rows that the objectives depend on: one score for two classes, else one for each class.

    The objective of a score is the penalised mean of a margin loss over all rows, its class against the rest. With
    several scores, objectives, bounds and rounding errors are summed.
    """

    scorer: Scorer
    C: Annotated[float, Number(above=0.0)]
    fit_intercept: bool
    class_weights: Annotated[Array, array("K", least=0)]
    loss: Annotated[str, Choice(LOSSES)] = "squared_hinge"

    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights of ``labelled_rows``, including the class weights."""
        return Coding.of_likelihood(totals, self.class_weights)

    def of_rows(self, rows: Rows) -> Recomputed:
        """Objective, gradient and bound at the claimed weights, over any kind of ``labelled_rows``."""
        each = zip(self.scorer.W, one_against_rest(rows, len(self.scorer.classes)), strict=True)
        parts = [self._part(w).of_rows(against) for w, against in each]
        if len(parts) == 1:
            return parts[0]
        return summed(parts, len(parts))._replace(rounding=sum(part.rounding for part in parts))

    def _part(self, w: Array) -> LikelihoodClaim:
        """The claim of one score with the targets 0 and 1. The row weights already include the class weights."""
        scorer = Scorer(w[None, :], np.array([0, 1]), "sign")
        return LikelihoodClaim(scorer, self.C, np.ones(len(w) - 1), self.fit_intercept, np.ones(2), self.loss)


# --- Fits that combine two-class fits


@dataclass(frozen=True)
class PartsClaim:
    """The objective is the sum Σ E_p over the parts, whose gap is at most the sum of their bounds.

    See docs/tour.md, M1, M2.

    ``claims`` has one claim for each part, in the order of the scheme, or None if its model has no certificate.
    """

    scorer: Scores
    scheme: Scheme
    claims: Annotated[tuple[Claim | None, ...], Several("models")]

    @property
    def names_rows(self) -> bool:
        """Whether the claim of a part names rows by their numbers, and so depends on the order of the rows."""
        return any(getattr(claim, "names_rows", False) for claim in self.claims)

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Recompute each part's claim over the rows of the part, and return the sums."""
        codes = known_codes(y, self.scorer.classes)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if any(claim is not None for claim in self.claims):  # models with a certificate do not accept NaN
            refuse_not_finite(memory_rows(X, codes))
        recomputed = []
        parts = self.scheme.parts(codes, len(self.scorer.classes))
        for claim, (_, rows, target) in zip(self.claims, parts, strict=True):
            if claim is not None:
                recomputed.append(claim.recompute(X[rows], target, None if weight is None else weight[rows]))
        return summed(recomputed, len(self.claims))

    def of_table(self, table: OutsideMemory) -> Recomputed:
        """Recompute each part's claim over a table outside memory, which each part reads with its two classes."""
        K, recomputed = len(self.scorer.classes), []
        for claim, (_, classes, target) in zip(self.claims, self.scheme.parts(np.arange(K), K), strict=True):
            if claim is None:
                continue
            if not isinstance(claim, TableClaim):
                problem = f"{type(claim).__name__} is recomputed from rows in memory only"
                raise InputError("X", problem, "read the rows into memory and call verify(X, y)")
            numbers = np.full(K, -1)
            numbers[classes] = target
            recomputed.append(claim.of_table(two_class_table(table, numbers)))
        return summed(recomputed, len(self.claims))


def summed(parts: Sequence[Recomputed], n_parts: int) -> Recomputed:
    """The sum of the parts' objectives and bounds. ``n_parts`` counts the parts without a claim, too."""
    if not parts:
        return Recomputed(np.nan, np.nan, Bound(None, "none", "no part makes a claim"), np.nan)
    return Recomputed(
        sum(part.objective for part in parts),
        sum(part.null_objective for part in parts),
        summed_bound([part.bound for part in parts], n_parts),
        float(np.linalg.norm([part.gradient_norm for part in parts])),
    )


def summed_bound(bounds: Sequence[Bound], n_parts: int) -> Bound:
    """The bound on a sum of objectives: the sum of their bounds if every part has one, else none.

    >>> summed_bound([Bound(0.25, "duality"), Bound(0.5, "duality")], 2).value
    0.75
    """
    kinds = " and ".join(sorted({bound.kind for bound in bounds}))
    reasons = [bound.reason for bound in bounds if bound.value is None]
    missing = len(reasons) + n_parts - len(bounds)
    if missing:
        because = f"; the first: {reasons[0]}" if reasons else ""
        return Bound(None, kinds or "none", f"{missing} of {n_parts} models have no bound{because}")
    return Bound(float(sum(bound.known for bound in bounds)), kinds)
