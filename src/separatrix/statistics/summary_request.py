"""Checks the arguments of ``summary``: a fitted model, its rows in memory or outside, the meaning of its weights.

A weight can mean two things. A frequency f means that a row stands for f equal rows: n = Σ f, and all results are those
of the repeated rows. A probability weight is the number of rows of the population that a sampled row represents: n is
the number of rows, the sum is a pseudo-likelihood, and only the sandwich covariance is valid. The numbers do not show
which is meant, so users have to declare it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, check_choice
from separatrix.core.base.errors import InputError, ParameterError, WeightError
from separatrix.core.base.labels import known_codes
from separatrix.core.base.lazy import cached_property, is_dask_table
from separatrix.core.certificate import AGREEMENT, Verification, as_matrix
from separatrix.core.cluster import read_in_place
from separatrix.core.likelihood_claims import FirthClaim, LikelihoodClaim, LikelihoodOfRows
from separatrix.core.losses import LOSSES
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective, as_offset
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import power_of_two
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.targets import CLASS_NUMBERS, row_weights
from separatrix.core.rows.views import model_table
from separatrix.core.scorer import taken_apart
from separatrix.tables.encoder import EncodedFactor, Encoder, Scaling, factors, with_indicators


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table became those of X: an encoder, a scaling and further steps of a pipeline, if any.

    From it, ``summary`` knows the levels of factors.
    ``rows`` (n, p) are what these steps receive; None without steps.
    """

    encoder: Encoder | None = None
    scaling: Scaling | None = None
    steps: Any = None
    rows: Any = None

    @classmethod
    def of(cls, model: Any, X: Any, encoder: Encoder | None, scaling: Scaling | None) -> Encoding:
        """The encoding by the encoder given, or else by that in a pipeline, or else by that which made X."""
        steps = [step for _, step in getattr(model, "steps", ())[:-1]]
        at = next((k for k, step in enumerate(steps, 1) if isinstance(getattr(step, "encoder_", None), Encoder)), 0)
        if at and encoder is None:
            encoder, scaling = steps[at - 1].encoder_, steps[at - 1].scaling_
        elif encoder is None:
            encoder, scaling = getattr(X, "encoding", (None, None))
        if encoder is None or all(step in (None, "passthrough") for step in steps[at:]):
            return cls(encoder, scaling)
        rows = model[:at].transform(X) if at else X
        rows = rows if is_sparse(rows) or hasattr(rows, "iloc") else np.asarray(rows)
        return cls(encoder, scaling, model[at:-1], rows)

    def refuse_other_columns(self, width: int) -> None:
        """Raise an error if the encoder makes another number of columns than X or the first of the steps has."""
        width = width if self.steps is None else self.rows.shape[1]
        if self.encoder is not None and self.encoder.n_columns != width:
            problem = f"it makes {self.encoder.n_columns} columns, and there are {width}"
            raise ParameterError("encoder", problem, "give the encoder that made X")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that the encoder makes."""
        return () if self.encoder is None else self.encoder.names

    def factors(self) -> list[EncodedFactor]:
        """The factors among the columns that the encoder makes; before further steps also its columns of 0 and 1."""
        if self.encoder is None:
            return []
        found = factors(self.encoder, self.scaling)
        if self.steps is None:
            return found
        ones, others = (np.asarray(mask.sum(axis=0)).ravel() for mask in (self.rows == 1, self.rows != 0))
        return with_indicators(found, (ones == others) & (ones > 0) & (ones < self.rows.shape[0]))

    def with_values(self, columns: Integers, values: Array) -> Any:
        """X, if these columns that the encoder makes have the same values in all rows."""
        if is_sparse(self.rows):
            from scipy.sparse import csr_array

            row, kept = np.zeros((1, self.rows.shape[1])), np.ones((1, self.rows.shape[1]))
            row[0, columns], kept[0, columns] = values, 0.0
            ones = csr_array(np.ones((self.rows.shape[0], 1)))
            return self.steps.transform(csr_array(self.rows.multiply(kept)) + ones @ csr_array(row))
        rows = self.rows.copy()
        (rows.iloc if hasattr(rows, "iloc") else rows)[:, columns] = values
        return self.steps.transform(rows)


@dataclass(frozen=True)
class Declared:
    """The declared meaning of sample weights: frequencies (``repeats``) or probability weights."""

    name: str
    covariance: str
    repeats: bool

    def count(self, weight: Array) -> int:
        """n, the number of observations."""
        return int(weight.sum()) if self.repeats else int(np.count_nonzero(weight))

    def refuse(self, weight: Array) -> None:
        """Raise if the weights contradict their declared meaning."""
        broken = np.flatnonzero(weight != np.floor(weight)) if self.repeats else np.empty(0, dtype=np.int64)
        if len(broken):
            problem = f"row {broken[0]} has the frequency {weight[broken[0]]}"
            raise WeightError("sample_weight", problem, "give whole numbers, or declare weights='probability'")


WEIGHTS = {
    "frequency": Declared("frequency", "classical", repeats=True),
    "probability": Declared("probability", "HC1", repeats=False),
}


class SummaryRequest(ABC):
    """A fitted logistic regression and its rows, in memory (``RowsRequest``) or elsewhere (``TableRequest``).

    ``names`` are those of the columns, and ``encoding`` says how they were made of a table. X (n, d) dense or CSR,
    labels y, class numbers, weights and offset as given are in memory only; a request for a table outside memory
    refuses them.
    """

    model: Any
    declared: Declared
    names: tuple[str, ...]
    encoding: Encoding
    X: Any
    y: AnyArray
    codes: Integers
    weight: Array
    offset: Array | None

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of observations."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """Σ s with class weights. For probability weights it is n, so that their unit does not matter."""

    @abstractmethod
    def objective(self) -> Objective:
        """The objective of the fit over these rows."""

    @abstractmethod
    def verified(self) -> Verification:
        """The certificate of the fit, checked on these rows."""

    @abstractmethod
    def only(self, rows: Integers) -> RowsRequest:
        """The same request for some of the rows."""

    @property
    def claim(self) -> LikelihoodClaim:
        """The claim of the fit, which its objective depends on; a Firth fit's claim has the same attributes."""
        return self.model.certificate_.claim  # type: ignore[no-any-return]

    @property
    def firth(self) -> bool:
        return isinstance(self.claim, FirthClaim)

    @property
    def class_weighted(self) -> bool:
        return bool(np.any(self.claim.class_weights != 1.0))

    @property
    def is_likelihood(self) -> bool:
        """Whether the sum over rows is a log-likelihood, without probability or class weights."""
        return self.declared.repeats and not self.class_weighted

    @property
    def penalised(self) -> bool:
        return bool(np.isfinite(self.claim.C) and np.any(self.claim.penalty_factors > 0))


@dataclass(frozen=True)
class RowsRequest(SummaryRequest):
    """A request for rows in memory."""

    model: Any
    X: Any
    y: AnyArray
    codes: Integers
    weight: Array
    offset: Array | None
    declared: Declared
    names: tuple[str, ...]
    encoding: Encoding

    @property
    def n(self) -> int:
        return self.declared.count(self.weight)

    @property
    def total_weight(self) -> float:
        weight = self.weight * self.claim.class_weights[self.codes]
        unit = float(power_of_two(np.max(weight, keepdims=True))[0])
        return float(np.sum(weight / unit)) * unit if self.declared.repeats else float(self.n)

    def objective(self) -> Objective:
        return self.claim.objective(self.X, self.y, self.weight, self.offset)

    def verified(self) -> Verification:
        weight = None if np.all(self.weight == 1.0) else self.weight
        found: Verification = self.model.certificate_.verify(self.X, self.y, weight, self.offset)
        return found

    def only(self, rows: Integers) -> RowsRequest:
        offset = None if self.offset is None else self.offset[rows]
        parts = (self.X[rows], self.y[rows], self.codes[rows], self.weight[rows])
        return RowsRequest(self.model, *parts, offset, self.declared, self.names, Encoding())


def summary_request(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    weights: str | None,
    offset: Any,
    names: Sequence[str] | None,
    encoder: Encoder | None = None,
    scaling: Scaling | None = None,
) -> SummaryRequest:
    """The checked request; refuses models that are not fitted logistic regressions, and weights without a meaning."""
    if is_dask_table(X):
        model, X, known = taken_apart(model, X)
        names = known if names is None else names
        # X is an array now, if a step of the pipeline has gathered the rows.
        X, y, sample_weight = read_in_place(X, y, sample_weight)
    if isinstance(X, OutsideMemory):
        return table_request(model, X, y, sample_weight, weights, offset, names, Encoding(encoder, scaling))
    encoding = Encoding.of(model, X, encoder, scaling)
    model, X, known = taken_apart(model, X)
    claim = likelihood_claim(model)
    from separatrix.classifiers.fit_input import rows_to_score  # loads scikit-learn, which tables do not need

    rows = as_matrix(rows_to_score(model, X)[0])
    codes = known_codes(y, claim.scorer.classes)
    if rows.shape[0] != len(codes):
        raise InputError("y", f"it has {len(codes)} entries for {rows.shape[0]} rows", "give one label per row")
    declared = declared_meaning(sample_weight is not None, weights)
    weight = row_weights(sample_weight, rows.shape[0])
    declared.refuse(weight)
    refuse_few_rows(int(np.count_nonzero(weight)), rows.shape[1] + claim.fit_intercept)
    encoding.refuse_other_columns(rows.shape[1])
    if known is None and encoding.steps is None and not hasattr(model, "feature_names_in_"):
        known = list(encoding.names) or None
    named = column_names(model, known if names is None else names, rows.shape[1])
    beside = as_offset(offset, len(codes), len(claim.scorer.W))
    labels = np.asarray(claim.scorer.classes)[codes]
    return RowsRequest(model, rows, labels, codes, weight, beside, declared, named, encoding)


def refuse_few_rows(n_counted: int, width: int) -> None:
    """Raise an error if fewer rows have weight than a score has coefficients."""
    if n_counted < width:
        problem = f"{n_counted} rows of positive weight for {width} coefficients per score"
        raise InputError("X", problem, "the coefficients are not identified: drop columns, or give more rows")


def likelihood_claim(model: Any) -> Any:
    """The claim of a fit by likelihood. Other models are refused."""
    claim: Any = getattr(getattr(model, "certificate_", None), "claim", None)
    is_likelihood = isinstance(claim, LikelihoodOfRows)
    if not is_likelihood:
        kind = type(model).__name__
        unfitted = ", not fitted yet" if kind == "LogisticRegression" else ""
        raise ParameterError("model", f"got {kind}{unfitted}", "give a fitted LogisticRegression")
    if not LOSSES[claim.loss].traits.likelihood:
        remedy = "fit with loss='logistic', 'probit' or 'cloglog'"
        problem = f"its loss {claim.loss!r} is not a likelihood, so it has no standard errors"
        raise ParameterError("model", problem, remedy)
    return claim


def column_names(model: Any, names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    """The names given, or else those that the model was fitted with, or else x0, x1, …"""
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_columns)])
    named = tuple(str(name) for name in names)
    if len(named) != n_columns:
        raise ParameterError("names", f"there are {len(named)} for {n_columns} columns", "give one name per column")
    return named


# What the rows must be, by whether the fit had sample weights; None: it is not known.
_OF_THE_FIT = {
    None: "give the rows, labels, weights and offset of the fit",
    True: "give the rows, labels and offset of the fit, which had sample weights, and these weights",
    False: "give the rows, labels and offset of the fit, which had no sample weights",
}


def refuse_other_rows(asked: SummaryRequest, at: Evaluation) -> None:
    """Raise an error with the certificate's message if these rows are not those of the fit."""
    certificate = asked.model.certificate_
    scale = max(abs(certificate.null_objective), abs(certificate.objective))
    if not asked.firth and abs(at.value - certificate.objective) <= AGREEMENT * scale:
        return
    found = asked.verified()
    if not found:
        weighted = getattr(asked.model, "has_sample_weight_", None)
        raise InputError("X", f"the certificate {found.sentence}", _OF_THE_FIT[weighted])


def declared_meaning(is_weighted: bool, weights: str | None) -> Declared:
    """The declared meaning of the weights; rows without weights are counted once each."""
    if weights is None and is_weighted:
        remedy = "say what they mean: weights='frequency' or weights='probability'"
        raise ParameterError("weights", "sample_weight came without it", remedy)
    name = "frequency" if weights is None else weights
    check_choice("weights", name, WEIGHTS)
    return WEIGHTS[name]


# --- Tables outside memory


class _WeightCount(NamedTuple):
    """The number of rows with weight, and the first row whose weight is not a whole number, with that weight."""

    counted: int = 0
    broken: int = -1
    fraction: float = 0.0


@dataclass(frozen=True)
class _WeightsOf:
    """Counts the rows with weight, and finds a weight that is not a whole number."""

    def zero(self) -> _WeightCount:
        return _WeightCount()

    def add(self, total: _WeightCount, block: Block) -> _WeightCount:
        broken = np.flatnonzero(block.weight != np.floor(block.weight))[:1]
        counted = int(np.count_nonzero(block.weight))
        row = int(broken[0]) if len(broken) else -1
        own = _WeightCount(counted, block.start + row, float(block.weight[row])) if row >= 0 else _WeightCount(counted)
        return self.merge(total, own)

    def merge(self, a: _WeightCount, b: _WeightCount) -> _WeightCount:
        first = b if a.broken < 0 else a
        return _WeightCount(a.counted + b.counted, first.broken, first.fraction)


@dataclass(frozen=True, eq=False)
class TableRequest(SummaryRequest):
    """A request for a table with the columns and the class numbers of the model."""

    model: Any
    table: OutsideMemory
    declared: Declared
    names: tuple[str, ...]
    encoding: Encoding

    @property
    def is_weighted(self) -> bool:
        """Whether some weight is not one. No weight is larger than the largest, so their sum shows it."""
        totals = self.table.totals
        return bool(np.any(totals.largest > 1) or np.any(totals.weight != totals.rows))

    @cached_property
    def weights(self) -> _WeightCount:
        """What the weights are; with weights other than one this takes a pass."""
        if not self.is_weighted:
            return _WeightCount(self.table.n_rows)
        return self.table.rows(CLASS_NUMBERS).fold(_WeightsOf())

    @property
    def n(self) -> int:
        return int(self.table.totals.weight.sum()) if self.declared.repeats else self.weights.counted

    @property
    def total_weight(self) -> float:
        return float(self.table.totals.weight @ self.claim.class_weights) if self.declared.repeats else float(self.n)

    def objective(self) -> Objective:
        return self.claim.objective_over(self.table)[0]

    def verified(self) -> Verification:
        found: Verification = self.model.certificate_.verify(self.table)
        return found

    def only(self, rows: Integers) -> RowsRequest:
        raise self._refusal()

    def refuse(self, covariance: str, intervals: str) -> None:
        """Raise an error if the request needs the rows in memory."""
        if covariance == "cluster":
            problem = "it needs the rows in memory, beside which groups are given"
            raise ParameterError("covariance", problem, "use 'classical', 'HC0' or 'HC1', or read the rows into memory")
        if intervals == "profile":
            problem = "got 'profile', which needs the rows in memory: it fits the model again for each end"
            raise ParameterError("intervals", problem, "use 'wald', or read the rows into memory")

    def _refusal(self) -> ParameterError:
        problem = (
            f"{self.table.name} is not in memory, and summary needs it there for infinite coefficients and nested "
            "models, since these depend on single rows"
        )
        remedy = "read the rows into memory, or fit with bias_reduction='firth' or a ridge (a finite C)"
        return ParameterError("X", problem, remedy)

    def __getattr__(self, name: str) -> Any:
        """Refuse the arrays of a request for rows in memory."""
        if name in ("X", "y", "codes", "weight", "offset"):
            raise self._refusal()
        raise AttributeError(name)


def table_request(
    model: Any,
    table: OutsideMemory,
    y: Any,
    sample_weight: Any,
    weights: str | None,
    offset: Any,
    names: Sequence[str] | None,
    encoding: Encoding,
) -> TableRequest:
    """The checked request; refuses what is given beside the table."""
    claim = likelihood_claim(model)
    for name, given in (("y", y), ("sample_weight", sample_weight), ("offset", offset)):
        if given is not None:
            raise ParameterError(name, f"got one together with {table.name}", "leave it out")
    known = getattr(model, "feature_names_in_", None)
    columns = None if known is None else [str(name) for name in known]
    seen = model_table(table, claim.scorer.classes, columns, claim.scorer.n_features)
    named = column_names(model, (columns or list(seen.columns)) if names is None else names, seen.n_features)
    encoding.refuse_other_columns(seen.n_features)
    asked = TableRequest(model, seen, declared_meaning(False, weights), named, encoding)
    declared = declared_meaning(asked.is_weighted, weights)
    if declared.repeats and asked.weights.broken >= 0:
        problem = f"row {asked.weights.broken} of {table.name} has the frequency {asked.weights.fraction}"
        raise WeightError("weights", problem, "give whole numbers, or declare weights='probability'")
    refuse_few_rows(asked.weights.counted, seen.n_features + claim.fit_intercept)
    return asked
