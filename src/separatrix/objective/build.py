"""A fit to rows in memory as an objective: coordinates, penalty, offset; NaN and infinity are refused on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.labels import signed
from separatrix.losses import LOSSES
from separatrix.objective.partials import ClassSums
from separatrix.objective.penalty import Penalty
from separatrix.objective.problem import Objective
from separatrix.rows import Frame, MemoryRows, memory_rows, standard_frame, summarise
from separatrix.rows.block import is_sparse, power_of_two

# Up to this share of the columns a copy of those with a large offset costs less than a pass over all.
FEW_FAR = 0.1


def build_objective(
    X: Any,
    codes: Integers,
    n_classes: int,
    weight: Array,
    penalty: Penalty,
    fit_intercept: bool = True,
    standard: bool = True,
    names: list[str] | None = None,
    hide_constant: bool = True,
    loss: str = "logistic",
    offset: Array | None = None,
) -> Objective:
    """A fit to rows in memory as an objective: the loss of one score for two classes, softmax for more.

    ``standard``: in standard coordinates; else in the columns' own, as the lectures' methods want. Refuses NaN and
    infinity by row and column. ``offset`` (n, K or 1): what is added to the scores, as columns behind X whose weights
    are pinned at one; that copies X.
    """
    if offset is not None:
        X, penalty, names = _beside(X, offset), penalty.with_free(offset.shape[1]), _named_beside(names, offset)
    unit = float(power_of_two(np.max(weight, initial=0.0, keepdims=True))[0])
    penalty = penalty.times(1.0 / unit)
    rows = memory_rows(X, signed(codes) if n_classes == 2 else codes, weight / unit)
    summary = summarise(rows, names, np.array([1.0]) if n_classes == 2 else np.arange(1, n_classes), ranges=False)
    kept = LOSSES[loss if n_classes == 2 else "softmax"]
    frame = standard_frame(summary, penalty.quadratic / summary.weight, fit_intercept, hide_constant)
    sums, multiclass = None, kept.traits.multiclass
    if not frame.has_large_offset:
        sums = summary.class_sums(frame)
    elif np.count_nonzero(frame.is_far) <= FEW_FAR * len(frame.is_far):
        sums = _with_far_sums(rows, frame, summary.class_sums(frame), multiclass)
    more: dict[str, Any] = {"names": names, "weight_unit": unit, "n_offsets": 0 if offset is None else offset.shape[1]}
    objective = Objective(
        rows.seen_through(frame),
        kept,
        penalty,
        n_classes,
        fit_intercept,
        known=None if sums is None else {"class_sums": sums},
        **more,
    )
    return (
        objective if standard else Objective(rows, kept, penalty, n_classes, fit_intercept, standard=objective, **more)
    )


def _with_far_sums(rows: MemoryRows, frame: Frame, sums: Array, multiclass: bool) -> Array:
    """Σ s x̄ by class, those of columns with a large offset taken anew: sums of raw entries hold too few digits."""
    far = np.flatnonzero(frame.is_far)
    alone = MemoryRows(rows.X[:, far], rows.t, rows.weight, Frame(frame.center[far], frame.scale[far]), rows.counter)
    partial = ClassSums(len(sums), len(far) + 1, not multiclass)
    sums[:, 1 + far] = alone.fold(partial)[:, 1:]
    return sums


def as_offset(offset: Any, n_rows: int, n_scores: int) -> Array | None:
    """What is added to the scores, (n, K or 1), checked; None for none.

    >>> as_offset([0.5, 1.0], 2, 1).tolist()
    [[0.5], [1.0]]
    """
    if offset is None:
        return None
    do = f"give a number for each of the {n_rows} rows" + (f" and {n_scores} classes" if n_scores > 1 else "")
    try:
        given = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("offset", f"it is no array of numbers ({error})", do) from error
    given = given[:, None] if given.ndim == 1 and n_scores == 1 else given
    if given.shape != (n_rows, n_scores):
        raise ParameterError("offset", f"its shape is {given.shape}", do)
    if not np.all(np.isfinite(given)):
        raise ParameterError("offset", "it holds NaN or infinity", do)
    return given


def _beside(X: Any, offset: Array) -> Any:
    """X with the columns of an offset behind its own."""
    if not is_sparse(X):
        return np.column_stack([X, offset])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(X), csr_array(offset)], format="csr")


def _named_beside(names: list[str] | None, offset: Array) -> list[str] | None:
    return None if names is None else [*names, *(f"offset {k}" for k in range(offset.shape[1]))]
