"""How good is this answer, for people; and the check that needs no solver."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Array
from separatrix.bounds import Bound, bound
from separatrix.concurrency import one_blas_thread
from separatrix.errors import LabelError
from separatrix.labels import as_label_array
from separatrix.objective import Objective, Ridge, pose
from separatrix.scorer import Scorer

# What a recomputation may differ by: weights are kept in raw units, which rounds them once more.
AGREEMENT = 1e-9


@dataclass(frozen=True)
class Claim:
    """Everything that the objective of a fitted logistic regression depends on, but the rows."""

    scorer: Scorer
    C: float
    penalty_factors: Array
    fit_intercept: bool
    class_weights: Array

    def objective(self, X: Any, y: Any, sample_weight: Array | None = None) -> tuple[Objective, Array]:
        """The objective over these rows, and the claimed weights in its coordinates."""
        codes = self._codes(y)
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        W = self.scorer.W
        problem = pose(
            X,
            codes,
            len(self.scorer.classes),
            weight * self.class_weights[codes],
            Ridge(0.0 if np.isinf(self.C) else 1.0 / self.C, self.penalty_factors),
            self.fit_intercept,
            hide_constant=False,
        )
        return problem, problem.rows.frame.from_original(W)

    def _codes(self, y: Any) -> Any:
        position = {label: k for k, label in enumerate(self.scorer.classes.tolist())}
        labels = as_label_array(y).tolist()
        unknown = next((label for label in labels if label not in position), None)
        if unknown is not None:
            raise LabelError("y", f"it has the label {unknown!r}", f"use the classes of the fit: {list(position)}")
        return np.array([position[label] for label in labels], dtype=np.int64)


@dataclass(frozen=True)
class Verification:
    """What a recomputation from the rows found. True where it agrees with the certificate."""

    holds: bool
    objective: float
    bound: float | None
    gradient_norm: float
    sentence: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Certificate:
    """The evidence on a fit.

    ``bound``: E − min E is at most this; None with ``bound_reason``. ``objective`` and ``bound`` are per unit of
    weight, as in lecture 002's (1/N) Σ; ``null_objective`` is that of the best constant.
    """

    status: str
    code: str
    met: bool
    objective: float
    null_objective: float
    bound: float | None
    bound_kind: str
    bound_reason: str
    gradient_norm: float
    iterations: int
    passes: int
    solver: str
    why: str
    rank: int | None
    n_parameters: int
    n_rows: int
    claim: Claim

    @property
    def relative_bound(self) -> float | None:
        """The bound as a share of the null model's objective: what ``tol`` is compared with."""
        if self.bound is None:
            return None
        return self.bound / self.null_objective if self.null_objective > 0 else self.bound

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute objective, gradient and bound from the rows, without the solver.

        True where the objective agrees and the recomputed bound supports the claimed one.
        """
        with one_blas_thread:
            problem, W = self.claim.objective(as_matrix(X), y, sample_weight)
            at = problem.value_gradient(W)
            found = bound(problem, W, at, thorough=True)
        scale = max(abs(self.null_objective), abs(self.objective))
        faults = []
        if abs(at.value - self.objective) > AGREEMENT * scale:
            faults.append(f"the objective is {at.value:.12g} on these rows, not {self.objective:.12g}")
        if self.bound is not None and found.known > max(2 * self.bound, AGREEMENT * scale):
            proven = "none" if found.value is None else f"{found.value:.3g}"
            faults.append(f"the bound that these rows prove is {proven}, not {self.bound:.3g}")
        length = float(np.linalg.norm(at.gradient))
        sentence = (
            "does not hold: " + "; ".join(faults)
            if faults
            else f"holds: objective {at.value:.12g}, {describe_bound(found, problem.null_value)}"
        )
        return Verification(not faults, at.value, found.value, length, sentence)

    def to_dict(self) -> dict[str, Any]:
        """The certificate without its claim, as plain values."""
        plain = asdict(self)
        del plain["claim"]
        return plain

    def __str__(self) -> str:
        found = Bound(self.bound, self.bound_kind, self.bound_reason)
        rank = "" if self.rank is None else f"{self.rank} of {self.claim.penalty_factors.size + self._extra}"
        lines = [
            ("status", self.status),
            ("objective", f"{self.objective:.10g} (null model {self.null_objective:.10g})"),
            ("gap", describe_bound(found, self.null_objective)),
            ("gradient", f"{self.gradient_norm:.2e}"),
            ("work", f"{self.iterations} iterations, {self.passes} passes over {self.n_rows} rows"),
            ("solver", self.why),
            ("rank", rank + self._rank_note if rank else "not computed: too many columns"),
        ]
        return "\n".join(f"{name + ':':<11}{text}" for name, text in lines)

    @property
    def _extra(self) -> int:
        return 1 if self.claim.fit_intercept else 0

    @property
    def _rank_note(self) -> str:
        full = self.claim.penalty_factors.size + self._extra
        if self.rank == full:
            return ""
        unique = "the penalty makes them unique" if np.isfinite(self.claim.C) else "the weights are not unique"
        return f": constant or collinear columns; {unique}"


def describe_bound(found: Bound, null_value: float) -> str:
    """A bound in words."""
    if found.value is None:
        return f"unknown ({found.reason})"
    relative = found.value / null_value if null_value > 0 else found.value
    return f"at most {found.value:.2e} above the minimum ({relative:.1e} of the null model), by {found.kind}"


def as_matrix(X: Any) -> Any:
    """X as CSR or a float array: for callers that have not been through an estimator's validation."""
    from separatrix.rows.block import as_csr, is_sparse

    return as_csr(X) if is_sparse(X) else np.asarray(X, dtype=np.float64)
