"""The certificate of a fit: a bound on how far it is from the optimum, in words, and a check without the solver.

A ``Bound`` has a value, or the reason why there is none. A certificate holds a claim: everything that the objective
depends on except the rows. ``Certificate.verify`` lets the claim recompute the objective and its bound from rows, and
compares them with what the certificate states.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import EPS, as_floats
from separatrix.core.base.codec import COUNT, SENTENCE
from separatrix.core.base.errors import InputError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.cluster import read_in_place

if TYPE_CHECKING:
    from separatrix.core.rows.labelled_table import MemoryTable, OutsideMemory
    from separatrix.core.rows.memory_rows import MemoryRows
    from separatrix.core.rows.protocol import Rows
    from separatrix.core.rows.targets import ClassTotals, Coding


# --- Bounds on the distance from the optimum


def _refuse_infinite(bound: WeightErrorBound | Bound) -> None:
    """Replace a value that is not finite, since its computation overflowed, by the reason why there is no bound."""
    if bound.value is not None and not math.isfinite(bound.value):
        object.__setattr__(bound, "value", None)
        object.__setattr__(bound, "reason", bound.reason or "a sum in the bound leaves the range of float64")


@dataclass(frozen=True)
class WeightErrorBound:
    """An upper bound on the distance of each weight from the optimum: ``value`` times the ``unit``.

    ``value`` is None if no bound is known, with the ``reason``; the reason is empty if the question does not apply to
    the fit. A value that is not finite is no bound. If columns are collinear, the bound holds for the identified
    quantities: the scores and their combinations.

    >>> print(WeightErrorBound(3e-9, "standard errors of the optimum's"))
    each within 3.0e-09 standard errors of the optimum's
    """

    value: float | None = None
    unit: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        _refuse_infinite(self)

    @property
    def is_told(self) -> bool:
        """Whether there is a bound or a reason to report."""
        return self.value is not None or bool(self.reason)

    def __str__(self) -> str:
        return f"unknown ({self.reason})" if self.value is None else f"each within {self.value:.1e} {self.unit}"


NO_WEIGHT_ERROR = WeightErrorBound()


@dataclass(frozen=True)
class Bound:
    """``value`` bounds E(W) − inf E, or is None with the ``reason``; ``kind`` names the argument behind the bound.

    A value that is not finite, since a sum overflowed, is no bound.

    >>> Bound(math.nan, "duality")
    Bound(value=None, kind='duality', reason='a sum in the bound leaves the range of float64', ...

    ``resolved``: if there is no bound because rows differ along a direction by less than float64 resolves, a bound on
    E(W) minus the infimum of E over the other directions. ``weights``: the bound on the weights by the same argument.
    """

    value: float | None
    kind: str
    reason: str = ""
    resolved: float | None = None
    weights: WeightErrorBound = NO_WEIGHT_ERROR

    def __post_init__(self) -> None:
        _refuse_infinite(self)
        if self.resolved is not None and not math.isfinite(self.resolved):
            object.__setattr__(self, "resolved", None)

    @classmethod
    @lru_cache(maxsize=64)  # a search for a hyperplane asks for the same one after each step
    def unknown(cls, kind: str, reason: str) -> Bound:
        """No bound, neither on the gap nor on the weights."""
        return cls(None, kind, reason, weights=WeightErrorBound(None, "", reason))

    @classmethod
    def of_gap(
        cls, gap: float, objective: float, rounding: float, kind: str, weights: WeightErrorBound = NO_WEIGHT_ERROR
    ) -> Bound:
        """A bound from a gap, which the rounding of W itself increases; at most E, which is nonnegative everywhere.

        ``rounding`` is the rounding error of the value of E. It limits the bound only, since gaps are computed from
        gradients.
        """
        return cls(min(gap + 4 * EPS * abs(objective), objective + rounding), kind, weights=weights)

    @property
    def known(self) -> float:
        """The bound; infinite if there is none."""
        return self.value if self.value is not None and self.value >= 0 else math.inf


# --- Claims, and what they recompute from rows


class Recomputed(NamedTuple):
    """Objective, bound and gradient at the weights of a claim, recomputed from rows without a solver."""

    objective: float
    null_objective: float
    bound: Bound
    gradient_norm: float
    rounding: float = 0.0  # bound on the rounding error of the objective

    def fields(self) -> dict[str, Any]:
        """The values by the names of the certificate's fields."""
        return {
            "objective": self.objective,
            "null_objective": self.null_objective,
            "bound": self.bound.value,
            "bound_kind": self.bound.kind,
            "bound_reason": self.bound.reason,
            "gradient_norm": self.gradient_norm,
            "weight_error": self.bound.weights.value,
            "weight_error_unit": self.bound.weights.unit,
            "weight_error_reason": self.bound.weights.reason,
        }


@runtime_checkable
class Claim(Protocol):
    """Everything except the rows that the objective of a fit depends on: plain settings and the fitted scorer."""

    @property
    def scorer(self) -> Any: ...
    def recompute(self, X: Any, y: Any, sample_weight: Any) -> Recomputed: ...


@runtime_checkable
class TableClaim(Claim, Protocol):
    """A claim that can be recomputed over a table outside memory, whose class numbers are those of the claim."""

    def of_table(self, table: OutsideMemory) -> Recomputed: ...


class RowsClaim(ABC):
    """A claim that is recomputed by sums over rows, so that the rows need not be in memory."""

    scorer: Any

    def table_of(self, X: Any, y: Any, sample_weight: Any = None) -> MemoryTable:
        """Arrays as a table with the class numbers of the claim."""
        from separatrix.core.base.labels import known_codes
        from separatrix.core.rows.labelled_table import MemoryTable

        codes = known_codes(y, self.scorer.classes)
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return MemoryTable(as_matrix(X), codes, weight, len(self.scorer.classes))

    def rows_of(self, X: Any, y: Any, sample_weight: Any = None, **offset: Any) -> MemoryRows:
        """The rows that ``of_rows`` takes, from arrays: their targets and weights are those that the claim uses."""
        table = self.table_of(X, y, sample_weight, **offset)
        return table.rows(self.coding_of(table.totals))

    @abstractmethod
    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets and weights that the claim uses, as functions of class numbers, given the totals of classes."""

    @abstractmethod
    def of_rows(self, rows: Rows) -> Recomputed:
        """The claimed quantities, recomputed over any kind of rows."""

    def of_table(self, table: OutsideMemory | MemoryTable) -> Recomputed:
        """The claimed quantities, recomputed over a table with the class numbers of the claim."""
        return self.of_rows(table.rows(self.coding_of(table.totals)))

    def recompute(self, X: Any, y: Any, sample_weight: Any = None, **offset: Any) -> Recomputed:
        """The claimed quantities, recomputed over rows in memory."""
        return self.of_table(self.table_of(X, y, sample_weight, **offset))


@dataclass(frozen=True)
class NoClaim:
    """The claim of an ``Uncertified``: a scorer about which nothing is stated."""

    scorer: Any

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Return NaN and no bound."""
        return Recomputed(math.nan, math.nan, Bound(None, "none", "nothing is claimed"), math.nan)


# --- The certificate

# Largest accepted relative difference between the recomputed and the claimed objective. It is not zero, since the
# weights are stored in raw units, which rounds them once more.
AGREEMENT = 1e-9
# Largest accepted difference between the recomputed and the claimed error of the weights, in the unit of that error.
WEIGHT_AGREEMENT = 1e-6


@dataclass(frozen=True)
class Verification:
    """The result of ``Certificate.verify``. As a bool, it is true if the recomputation agrees with the certificate.

    Attributes
    ----------
    holds : bool
        Whether the certificate holds on these rows.
    objective, gradient_norm : float
        The recomputed values.
    bound : float or None
        The recomputed bound on the gap.
    sentence : str
        The result in words.
    """

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
    """How good a fit is, with proof: E(W) − min E ≤ ``bound``.

    Attributes
    ----------
    status : str
        Why the fit ended, in a sentence. If the fit was made in this process, it is a message
        (``core/base/messages.py``), and ``status.rows`` and ``status.columns`` are the rows and columns that it names.
        From a model file it is plain text.
    code : str
        The kind of status. "optimal": the bound is within the tolerance. "resolved": the bound is within the tolerance
        over the directions that float64 resolves, while columns are collinear up to rounding; then ``bound`` is None,
        and ``bound_reason`` names these columns.
    met : bool
        Whether the fit met its stopping rule.
    objective, null_objective : float
        E at the fitted weights, and at the best constant scores. Both are divided by the total weight, as in lecture
        002's (1/N) Σ.
    bound : float or None
        E − min E is at most this. If it is None, ``bound_reason`` says why.
    bound_kind, bound_reason : str
        How the bound was proven, or why there is none.
    gradient_norm : float
        The length of the gradient, or of the shortest subgradient.
    iterations, passes : int
        The work: iterations of the solver, and passes over the rows.
    solver, why : str
        The solver, and why it was chosen.
    rank, full_rank : int
        The rank of the columns, with an intercept if there is one, and the rank that they would have if no columns were
        collinear. ``rank`` is None if it was not computed.
    n_parameters, n_rows : int
        The size of the model and of the data.
    claim : Claim
        What ``verify`` recomputes.
    facts : mapping of str
        Further facts that only some classifiers have.
    weight_error : float or None
        Each weight is within this many ``weight_error_unit`` of its optimum. If it is None, ``weight_error_reason``
        says why, or is empty if such a bound does not apply to the fit.
    weight_error_unit, weight_error_reason : str
        The unit of ``weight_error``, and the reason why it is None.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> certificate = LogisticRegression().fit(rows, labels).certificate_
    >>> certificate.met, certificate.relative_bound < 1e-8, certificate.solver
    (True, True, 'newton')
    >>> bool(certificate.verify(rows, labels)), bool(certificate.verify(rows, labels[::-1]))
    (True, False)
    """

    status: Annotated[str, SENTENCE]
    code: str
    met: bool
    objective: float
    null_objective: float
    bound: float | None
    bound_kind: str
    bound_reason: Annotated[str, SENTENCE]
    gradient_norm: float
    iterations: Annotated[int, COUNT]
    passes: int
    solver: str
    why: Annotated[str, SENTENCE]
    rank: int | None
    full_rank: int
    n_parameters: int
    n_rows: Annotated[int, COUNT]
    claim: Claim
    facts: Mapping[str, str | float | int] = field(default_factory=dict)
    weight_error: float | None = None
    weight_error_unit: str = ""
    weight_error_reason: str = ""

    @property
    def claimed(self) -> Bound:
        """The claimed bounds on the gap and on the error of the weights."""
        weights = WeightErrorBound(self.weight_error, self.weight_error_unit, self.weight_error_reason)
        return Bound(self.bound, self.bound_kind, self.bound_reason, weights=weights)

    @property
    def relative_bound(self) -> float | None:
        """The bound divided by the null model's objective, which is compared with ``tol``."""
        if self.bound is None:
            return None
        return self.bound / self.null_objective if self.null_objective > 0 else self.bound

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Verification:
        """Recompute objective, gradient and bound from the rows, without the solver.

        Parameters
        ----------
        X, y, sample_weight
            The data of the fit, or as X alone the table outside memory that was fitted, such as a scan. Its columns
            must be in the order of the fit. Rows and files may be in any order, unless the claim names rows by their
            numbers, as the proof of a largest margin does.
        offset : array or None
            The offset of the fit, if it had one.

        Returns
        -------
        Verification
            True if the objective agrees and the recomputed bound supports the claimed one.

        Raises
        ------
        InputError
            If the shapes do not fit the model, or a table is outside memory and the claim needs its rows in memory.
        """
        from separatrix.core.rows.labelled_table import OutsideMemory  # reading a model file does not need it

        X, y, sample_weight = read_in_place(X, y, sample_weight)
        if isinstance(X, OutsideMemory):
            return self._verify_table(X, y, sample_weight, offset)
        if y is None:
            raise InputError("y", "it is None", "give the labels of the fit, one per row")
        rows = as_matrix(X)
        if rows.ndim != 2:
            raise InputError("X", f"its shape is {rows.shape}", "give a table: rows by columns")
        self._check_width(rows.shape[1])
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None and len(given) != rows.shape[0]:
                raise InputError(name, f"it has {len(given)} entries for {rows.shape[0]} rows", "give one per row")
        extra = {} if offset is None else {"offset": offset}
        if extra and not getattr(self.claim, "takes_offset", False):
            raise InputError("offset", "this model was fitted without one", "leave it out")
        with one_blas_thread:
            return self._compared(self.claim.recompute(rows, y, sample_weight, **extra))

    def verify_rows(self, rows: Rows) -> Verification:
        """Recompute objective, gradient and bound from any kind of rows, such as rows that are read from a stream.

        Parameters
        ----------
        rows : Rows
            The rows of the fit, with the targets and weights that ``claim.rows_of`` gives them.

        Returns
        -------
        Verification
            As from ``verify``.

        Raises
        ------
        InputError
            If the rows have another number of columns than the model, or the claim needs rows in memory.

        Examples
        --------
        >>> from separatrix import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> certificate = LinearSVC().fit(X, y).certificate_
        >>> bool(certificate.verify_rows(certificate.claim.rows_of(X, y)))
        True
        """
        if not isinstance(self.claim, RowsClaim):
            raise self._needs_memory("rows")
        n_offsets = rows.n_features - getattr(self.claim.scorer, "n_features", rows.n_features)
        takes_offset = getattr(self.claim, "takes_offset", False) and n_offsets == len(self.claim.scorer.W)
        self._check_width(rows.n_features - n_offsets * takes_offset)
        with one_blas_thread:
            return self._compared(self.claim.of_rows(rows))

    def _verify_table(self, table: OutsideMemory, y: Any, sample_weight: Any, offset: Any) -> Verification:
        """``verify`` for a table outside memory, whose labels and weights are columns of its own."""
        from separatrix.core.rows.views import model_table, names_by_index

        for name, given in (("y", y), ("sample_weight", sample_weight), ("offset", offset)):
            if given is not None:
                raise InputError(name, f"got one together with {table.name}", "leave it out")
        if not isinstance(self.claim, TableClaim):
            raise self._needs_memory("X")
        names = names_by_index(table, getattr(self.claim.scorer, "n_features", table.n_features))
        self._check_width(len(names))
        seen = model_table(table, self.claim.scorer.classes, names, len(names))
        with one_blas_thread:
            return self._compared(self.claim.of_table(seen))

    def _needs_memory(self, argument: str) -> InputError:
        """The error about rows outside memory, for a claim that is not a sum over rows."""
        problem = f"{type(self.claim).__name__} is recomputed from rows in memory only"
        return InputError(argument, problem, "read the rows into memory and call verify(X, y)")

    def _compared(self, recomputed: Recomputed) -> Verification:
        """The comparison of recomputed quantities with the claimed ones."""
        objective, null_value, found, length, rounding = recomputed
        scale = max(abs(self.null_objective), abs(self.objective))
        faults = []
        if not abs(objective - self.objective) <= AGREEMENT * scale + 2 * rounding:
            faults.append(f"the objective is {objective:.12g} on these rows, not {self.objective:.12g}")
        if self.bound is not None and found.known > max(2 * self.bound, AGREEMENT * scale):
            proven = "none" if found.value is None else f"{found.value:.3g}"
            order = ""
            if not faults and getattr(self.claim, "names_rows", False):  # the objective agrees, so the order may differ
                order = "; the proof names rows by their numbers, so give the rows in the order of the fit"
            faults.append(f"the bound that these rows prove is {proven}, not {self.bound:.3g}{order}")
        if self.bound is not None and not self.bound >= 0:
            faults.append(f"the claimed bound is {self.bound:.3g}, and a gap is never negative")
        claimed, weights = self.claimed.weights, found.weights
        if claimed.value is not None:
            most = 2 * claimed.value + WEIGHT_AGREEMENT
            if weights.value is None or (weights.unit == claimed.unit and weights.value > most):
                faults.append(f"the error of the weights that these rows prove is: {weights}; not: {claimed}")
        sentence = f"holds: objective {objective:.12g}, gap {describe_bound(found, null_value)}"
        if faults:
            sentence = "does not hold: " + "; ".join(faults)
        return Verification(not faults, objective, found.value, length, sentence)

    def _check_width(self, n_features: int) -> None:
        expected = getattr(self.claim.scorer, "n_features", n_features)
        if n_features != expected:
            raise InputError("X", f"it has {n_features} columns", f"give the {expected} columns of the fit")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, without the claim.

        Returns
        -------
        dict
        """
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "claim"}

    def lines(self) -> list[tuple[str, str]]:
        """Return the lines that printing the certificate shows.

        Returns
        -------
        list of (name, text)
        """
        claimed = self.claimed
        steps = "1 iteration" if self.iterations == 1 else f"{self.iterations} iterations"
        passes = "1 pass" if self.passes == 1 else f"{self.passes} passes"
        return [
            ("status", self.status),
            ("objective", f"{self.objective:.10g} (null model {self.null_objective:.10g})"),
            ("gap", describe_bound(claimed, self.null_objective)),
            *([("weights", str(claimed.weights))] if claimed.weights.is_told else []),
            ("gradient", f"{self.gradient_norm:.2e}"),
            ("work", f"{steps}, {passes} over {self.n_rows} rows"),
            ("solver", self.why),
            ("rank", self._rank_sentence()),
            *((name, str(value)) for name, value in self.facts.items()),
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name + ':':<11}{text}" for name, text in self.lines())

    def _rank_sentence(self) -> str:
        if self.rank is None:
            return "not computed"
        collinear = "constant or collinear columns" + (", up to rounding" if self.code == "resolved" else "")
        note = "" if self.rank == self.full_rank else f": {collinear}"
        return f"{self.rank} of {self.full_rank}{note}"


class Uncertified(Certificate):
    """A certificate without a claim, which cannot be verified; its status says why."""

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Verification:
        """Return a verification that does not hold, since nothing is claimed."""
        return Verification(False, math.nan, None, math.nan, f"nothing to verify: {self.status}")

    def lines(self) -> list[tuple[str, str]]:
        facts = [(name, str(value)) for name, value in self.facts.items()]
        return [("status", self.status), ("solver", self.why), *facts]


def describe_bound(found: Bound, null_value: float) -> str:
    """The bound in words, absolute and relative to the objective of the null model."""
    if found.value is None:
        return f"unknown ({found.reason})"
    relative = found.value / null_value if null_value > 0 else found.value
    return f"at most {found.value:.2e} ({relative:.1e} of the null model's objective), proven by {found.kind}"


def as_matrix(X: Any) -> Any:
    """X as CSR or as a float array, for input that no estimator has validated."""
    from separatrix.core.rows.block import as_csr, is_sparse

    return as_csr(X) if is_sparse(X) else as_floats(X)
