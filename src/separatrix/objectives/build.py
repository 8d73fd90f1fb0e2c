"""A fit to rows as an objective: coordinates, penalty, offset; NaN and infinity are refused on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.losses import LOSSES
from separatrix.objectives.partials import ClassSums
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.rows import Frame, MemoryRows, Rows, standard_frame, summarise

# Up to this share of the columns a copy of those with a large offset costs less than a pass over all.
FEW_FAR = 0.1


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
    """A fit to rows (of ``labelled_rows``) as an objective: the loss of one score for two classes, softmax for more.

    ``standard``: in standard coordinates; else in the columns' own, as the lectures' methods want. Refuses NaN and
    infinity by row and column. ``hide_constant``: whether a constant column reads as zero whatever its weight, for all
    columns or for each. ``n_offsets``: so many of the last columns are added to the scores, with weights that
    are pinned at one; ``penalty`` and ``names`` are those of the other columns.
    """
    if n_offsets:
        penalty, names = penalty.with_free(n_offsets), _named_beside(names, n_offsets)
    penalty = penalty.times(1.0 / rows.weight_unit)
    summary = summarise(rows, names, np.array([1.0]) if n_classes == 2 else np.arange(1, n_classes), ranges=False)
    kept = LOSSES[loss if n_classes == 2 else "softmax"]
    frame = standard_frame(summary, penalty.quadratic / summary.weight, fit_intercept, hide_constant)
    sums, multiclass = None, kept.traits.multiclass
    if not frame.has_large_offset:
        sums = summary.class_sums(frame)
    elif np.count_nonzero(frame.is_far) <= FEW_FAR * len(frame.is_far):
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


def _with_far_sums(rows: Rows, frame: Frame, sums: Array, multiclass: bool) -> Array | None:
    """Σ s x̄ by class, those of columns with a large offset taken anew: sums of raw entries hold too few digits.

    None where rows are not in memory: reading some of their columns costs as much as reading all.
    """
    block = rows.resident()
    if block is None:
        return None
    far = np.flatnonzero(frame.is_far)
    X: Any = block.X
    alone = MemoryRows(X[:, far], block.t, block.weight, Frame(frame.center[far], frame.scale[far]), rows.counter)
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


def _named_beside(names: list[str] | None, n_offsets: int) -> list[str] | None:
    return None if names is None else [*names, *(f"offset {k}" for k in range(n_offsets))]
