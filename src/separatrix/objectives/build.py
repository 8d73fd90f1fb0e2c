"""Builds the objective of a fit: coordinates, penalty and offset. NaN and infinity are refused here."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.losses import LOSSES
from separatrix.objectives.partials import ClassSums, ClassSumsOfColumns
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.rows import Frame, Rows, standard_frame, summarise

# If at most this share of the columns has a large offset, copying those columns is cheaper than a pass over all.
MOST_LARGE_OFFSET_SHARE = 0.1


def build_objective(
    rows: Rows,
    n_classes: int,
    penalty: Penalty,
    fit_intercept: bool = True,
    standard: bool = True,
    names: list[str] | None = None,
    hide_constant: AnyArray | bool = True,
    loss: str = "logistic",
    n_offsets: int = 0,
) -> Objective:
    """The objective of a fit to rows made by ``labelled_rows``: one score for two classes, softmax for more.

    Parameters
    ----------
    rows : Rows
        The rows; NaN and infinity are refused with their row and column.
    n_classes : int
        The number of classes.
    penalty : Penalty
        The penalty on the columns other than offsets.
    fit_intercept : bool
        Whether to fit an intercept.
    standard : bool
        Use standard coordinates; otherwise the columns' own units, as the methods of the lectures require.
    names : list of str, optional
        The names of the columns other than offsets, for messages.
    hide_constant : bool or (d,) booleans
        Whether constant columns read as zero whatever their weight, for all columns or for each.
    loss : str
        The loss for two classes.
    n_offsets : int
        This many of the last columns are offsets: they are added to the scores, with weights pinned at one.
    """
    if n_offsets:
        penalty, names = penalty.with_free(n_offsets), _with_offset_names(names, n_offsets)
    penalty = penalty.times(1.0 / rows.weight_unit)
    summary = summarise(rows, names, np.array([1.0]) if n_classes == 2 else np.arange(1, n_classes), ranges=False)
    kept = LOSSES[loss if n_classes == 2 else "softmax"]
    frame = standard_frame(summary, penalty.quadratic / summary.weight, fit_intercept, hide_constant)
    sums, multiclass = None, kept.traits.multiclass
    if not frame.has_large_offset:
        sums = summary.class_sums(frame)
    elif np.count_nonzero(frame.is_far) <= MOST_LARGE_OFFSET_SHARE * len(frame.is_far):
        sums = _with_far_sums(rows, frame, summary.class_sums(frame), multiclass)
    more: dict[str, Any] = {"names": names, "weight_unit": rows.weight_unit, "n_offsets": n_offsets}
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


def _with_far_sums(rows: Rows, frame: Frame, sums: Array, multiclass: bool) -> Array:
    """Σ s x̄ by class, recomputed for columns with a large offset, where sums of raw entries have too few digits."""
    far = np.flatnonzero(frame.is_far)
    partial = ClassSums(len(sums), len(far) + 1, not multiclass)
    again = rows.fold(ClassSumsOfColumns(partial, far, Frame(frame.center[far], frame.scale[far])))
    sums[:, 1 + far] = again[:, 1:]
    return sums


def as_offset(offset: Any, n_rows: int, n_scores: int) -> Array | None:
    """The validated offset of the scores, (n, K or 1); None if there is none.

    >>> as_offset([0.5, 1.0], 2, 1).tolist()
    [[0.5], [1.0]]
    """
    if offset is None:
        return None
    remedy = f"give a number for each of the {n_rows} rows" + (f" and {n_scores} classes" if n_scores > 1 else "")
    try:
        given = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("offset", f"it is not an array of numbers ({error})", remedy) from error
    if given.shape not in ((n_rows, n_scores), (n_rows,) if n_scores == 1 else ()):
        raise ParameterError("offset", f"its shape is {given.shape}", remedy)
    given = given.reshape(n_rows, n_scores)
    if not np.all(np.isfinite(given)):
        raise ParameterError("offset", "it holds NaN or infinity", remedy)
    return given


def _with_offset_names(names: list[str] | None, n_offsets: int) -> list[str] | None:
    return None if names is None else [*names, *(f"offset {k}" for k in range(n_offsets))]
