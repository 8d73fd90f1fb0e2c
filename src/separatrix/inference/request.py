"""Checks the arguments of ``summary``: a fitted model, its rows, and the meaning of its weights.

A weight can mean two things. A frequency f means that a row stands for f equal rows: n = Σ f, and all results are those
of the repeated rows. A probability weight is the number of rows of the population that a sampled row represents: n is
the number of rows, the sum is a pseudo-likelihood, and only the sandwich covariance is valid. The numbers do not show
which is meant, so users have to declare it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.dask_types import is_dask_table
from separatrix.base.errors import InputError, ParameterError, WeightError
from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import AGREEMENT, Verification, as_matrix
from separatrix.certificates.firth_claim import FirthClaim
from separatrix.certificates.likelihood_claim import LikelihoodClaim, LikelihoodOfRows
from separatrix.cluster.in_place import read_in_place
from separatrix.inference.encoding import Encoding
from separatrix.losses import LOSSES
from separatrix.objectives.build import as_offset
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows.frame import power_of_two
from separatrix.rows.labelled import OutsideMemory
from separatrix.scorers.scorer import taken_apart

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling


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
        from separatrix.inference.table_request import table_request

        return table_request(model, X, y, sample_weight, weights, offset, names, Encoding(encoder, scaling))
    encoding = Encoding.of(model, X, encoder, scaling)
    model, X, known = taken_apart(model, X)
    claim = likelihood_claim(model)
    from separatrix.base.row_weights import row_weights
    from separatrix.classifiers.fit_input import rows_to_score

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
        raise ParameterError("model", f"got {_named(model)}", "give a fitted LogisticRegression")
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
    if not isinstance(name, str) or name not in WEIGHTS:
        raise ParameterError("weights", f"got {weights!r}", f"choose one of {', '.join(map(repr, WEIGHTS))}")
    return WEIGHTS[name]


def _named(model: Any) -> str:
    kind = type(model).__name__
    return f"{kind}, not fitted yet" if kind == "LogisticRegression" else kind
