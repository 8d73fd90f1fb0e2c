"""``fit`` and ``partial_fit`` of the classifiers that need only sums of (1, x, xxᵀ).

Each call of ``partial_fit`` adds to the sums and solves again. The model is then that of ``fit`` with all rows so far,
up to rounding. The rows are not kept. Rows can be added to a model of ``fit``, too, since it has the sums
(``moments_``).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length

from separatrix.classifiers.fit_input import (
    FitInput,
    column_names,
    forgotten,
    places_of,
    refuse_steps_outside_memory,
    rows_to_fit,
    validate,
    with_later,
)
from separatrix.core.base.arrays import AnyArray, Array, check_count
from separatrix.core.base.errors import NotConvergedWarning, ParameterError, WeightError
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.certificate import Certificate, Claim, Recomputed
from separatrix.core.moments import ClassSums, Moments, gather
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows, counted_passes
from separatrix.core.rows.targets import CLASS_NUMBERS, row_weights
from separatrix.core.scorer import Scorer


@dataclass(frozen=True)
class SumsSoFar:
    """The sums of all rows so far, by class. ``told``: the classes given in the first call, or None.

    ``weighted``: whether some of the rows came with sample weights; None if it is not known.
    """

    sums: ClassSums
    classes: AnyArray
    told: AnyArray | None = None
    weighted: bool | None = False


class GathersMoments(ABC):
    """A classifier whose fit needs only the moments of the rows. ``_sums``: those of all rows so far."""

    _dtype: str
    has_sample_weight_: bool | None
    classes_: AnyArray
    certificate_: Certificate
    n_parameters_: int
    _sums: SumsSoFar | None = None

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse invalid settings."""

    @abstractmethod
    def _fit_rows(self, task: FitInput, rows: Rows) -> None:
        """Fit the model to rows whose targets are class numbers, and set its certificate by ``_certify``."""

    @abstractmethod
    def _pools(self) -> bool:
        """Whether the scatters of the classes are needed only as their sum."""

    @abstractmethod
    def _has_enough(self, sums: ClassSums) -> bool:
        """Whether sums of at least two classes determine a model."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory, such as a scan, has its labels and weights in columns of its own.
        y : array (n,)
            Class labels.
        sample_weight : array (n,) or None
            Weights >= 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._check_settings()
        vars(self).pop("_sums", None)  # of earlier calls of partial_fit
        self._fit_task(validate(self, X, y, sample_weight))
        return self

    def _fit_task(self, task: FitInput) -> None:
        with one_blas_thread, counted_passes() as passes:
            self._fit_rows(task, task.table.rows(CLASS_NUMBERS))
        self.certificate_ = replace(self.certificate_, passes=passes[0])
        if not self.certificate_.met:
            warnings.warn(self.certificate_.status, NotConvergedWarning, stacklevel=3)

    def _certify(
        self,
        task: FitInput,
        status: str,
        at: Recomputed,
        claim: Claim,
        rank: int,
        full_rank: int,
        facts: Mapping[str, str | float | int],
        **other: Any,
    ) -> None:
        """Set the certificate of a closed form. ``_fit_task`` adds the passes, which may have been counted by then."""
        settings: dict[str, Any] = {
            "code": "closed-form" if rank == full_rank else "singular",
            "met": True,
            "why": "closed form: sums of (1, x, xxᵀ) by class",
        }
        self.certificate_ = Certificate(
            status=status,
            **at.fields(),
            iterations=1,
            passes=0,
            solver="closed-form",
            rank=rank,
            full_rank=full_rank,
            n_parameters=self.n_parameters_,
            n_rows=task.n_rows,
            claim=claim,
            facts=facts,
            **settings | other,
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the sums, and fit the model to all rows so far.

        The model is that of ``fit`` with all these rows, up to rounding. It has the classes that have appeared. While
        there are too few rows for a model, the estimator is not fitted.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            Rows.
        y : array (n,)
            Class labels. New ones may appear in any call.
        classes : array, optional
            All labels that will occur, in the first call; others are then refused.
        sample_weight : array (n,) or None
            Weights >= 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._check_settings()
        refuse_steps_outside_memory(X=X, y=y, classes=classes, sample_weight=sample_weight)
        before = self._sums or self._sums_of_fit()
        X = rows_to_fit(self, X, reset=before is None)
        check_consistent_length(X, y)
        weight = row_weights(sample_weight, X.shape[0])
        weighted = sample_weight is not None or (before is not None and before.weighted)
        told = (None if classes is None else encode(classes)[0]) if before is None else before.told
        if told is not None:
            known_codes(y, told)  # refuses other labels
        known = encode(y)[0] if before is None else with_later(before.classes, y)
        rows = memory_rows(X, known_codes(y, known), weight)
        with one_blas_thread:
            if before is None:
                sums = ClassSums.of(rows, len(known), self._pools(), column_names(self))
            else:
                sums = before.sums.among(places_of(known, before.classes)).plus(rows, column_names(self))
        # Refused rows have raised an error before this line, so the sums are still those of the rows before.
        self._sums = SumsSoFar(sums, known, told, weighted)
        narrow = X.dtype == np.float32 and (before is None or self._dtype == "float32")
        self._dtype = "float32" if narrow else "float64"
        self._solve(self._sums)
        return self

    def _sums_of_fit(self) -> SumsSoFar | None:
        """The sums of the rows of ``fit``; None before it."""
        if not hasattr(self, "certificate_"):
            return None
        moments = getattr(self, "moments_", None)
        if not isinstance(moments, Moments):
            problem = "this model has no sums to add rows to: it was read from a file, or has too many columns"
            raise ParameterError("X", problem, "begin with partial_fit, or fit all rows at once")
        sums = ClassSums.gathered(moments, np.ones(len(moments.weight)))
        return SumsSoFar(sums, self.classes_, weighted=self.has_sample_weight_)

    def _solve(self, so_far: SumsSoFar) -> None:
        """Fit the model to the sums, if they are enough."""
        forgotten(self)
        sums = so_far.sums
        seen = np.flatnonzero(sums.seen)
        sums = sums if len(seen) == len(sums.seen) else sums.among(seen)
        if len(seen) < 2 or not self._has_enough(sums):
            return
        self.has_sample_weight_ = so_far.weighted
        self._fit_task(FitInput(sums.as_rows(), so_far.classes[seen], column_names(self)))


def gathered(task: FitInput, rows: Rows, **how: Any) -> Moments:
    """The moments of rows whose targets are class numbers; each class must have a row of positive weight."""
    moments = gather(rows, task.n_classes, names=task.names, **how)
    empty = np.flatnonzero(moments.weight == 0)
    if len(empty):
        raise WeightError(
            "sample_weight",
            f"class {task.classes.tolist()[empty[0]]!r} has no row of positive weight",
            "give one of its rows a positive weight, or leave its rows out",
        )
    return moments


class Projects(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A classifier that projects rows to at most min(K − 1, d) directions."""

    n_components: int | None
    classes_: AnyArray

    def _components(self, task: FitInput) -> int:
        """The number of directions, at most min(K − 1, d)."""
        most: int = min(task.n_classes - 1, task.n_features)
        if self.n_components is None:
            return most
        check_count("n_components", self.n_components)
        if self.n_components > most:
            problem = f"got {self.n_components}, and n_components cannot be larger than min(n_features, n_classes - 1)"
            raise ParameterError("n_components", problem, f"give at most {most}")
        return self.n_components

    def _projected(self, X: Any, directions: Array, offset: Array) -> Array:
        """x·v + offset for each of the directions v (d, q), (n, q)."""
        W = np.column_stack([offset, directions.T])
        z: Array = self._answers(X, Scorer(W, self.classes_, "identity").scores)
        return z[:, None] if z.ndim == 1 else z
