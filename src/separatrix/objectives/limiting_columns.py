"""Names the columns because of which float64 cannot give a fit more digits, and says what to do about them.

Four causes can be determined: columns that are collinear, exactly or nearly; a column whose mean is many times its
spread, so that its entries and its weight have few digits for the spread; a column of extreme size; and a penalty that
is too weak beside rounding errors, in all columns or in a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.messages import ByAudience, ColumnName, Message, Parameter, Remedy, joined
from separatrix.rows.frame import LARGEST_RAW_EXPONENT, Frame

if TYPE_CHECKING:
    from separatrix.objectives.problem import Objective

# A sentence names at most this many columns of a group, and this many groups.
MOST_NAMED_LIMITS, MOST_NAMED_GROUPS = 5, 3
# Columns are nearly collinear if some combination of them, each of length one, is shorter than this: a sum of squares
# then has fewer than four digits for it.
NEARLY_COLLINEAR = 1e-6
# A column takes part in a dependency if its share exceeds this one of the largest.
SMALLEST_SHARE_IN_DEPENDENCY = 1e-3
# A mean of more than this many spreads leaves fewer than eight digits for the spread.
FAR_FROM_ZERO = 1e8
# Dependencies are looked for among at most this many columns: a QR factorisation of the rows takes n d² steps.
MOST_COLUMNS_SEARCHED = 500
# A penalty is too weak if rounding errors of the gradient, of this size, allow a gap above SMALLEST_PROVABLE_GAP. The
# gradient of a smooth loss near one with kinks is steeper, and solvers cannot make it as small.
ROUNDED_GRADIENT, ROUNDED_STEEP_GRADIENT, SMALLEST_PROVABLE_GAP = 8 * EPS, 1e-11, 1e-9
# If a penalty is too weak in a column of at least this size, the size is the cause, and not C.
LARGE_COLUMN = 1e6
STANDARDISE = Message(
    ByAudience("standardise that column first", shell="standardise the columns first, with --standardise")
)
STANDARDISE_OR_DROP = Message(STANDARDISE, ", or leave that column out")


def column_name(j: int, names: Sequence[str] | None) -> ColumnName:
    """Column j in messages: by its name, or by its number if it has none.

    >>> column_name(1, ["age", "height"]).python, column_name(1, None).python
    ("column 'height'", 'column 1')
    """
    return ColumnName(j, None if names is None else f"column {names[j]!r}")


def listed(columns: Sequence[int], names: Sequence[str] | None) -> Message:
    """The first columns by name, and an ellipsis if there are more.

    >>> print(listed([0, 2], None)), print(listed(range(9), None))
    column 0, column 2
    column 0, column 1, column 2, column 3, column 4, …
    (None, None)
    """
    named = [Message(column_name(int(j), names)) for j in columns[:MOST_NAMED_LIMITS]]
    return joined(", ", [*named, *["…"] * (len(columns) > MOST_NAMED_LIMITS)])


def dependent_groups(N: Array) -> list[list[int]]:
    """The groups of columns that depend on each other, from the projection N (d, d) onto the null directions.

    >>> v = np.array([[1.0, -1.0, 0.0]]) / np.sqrt(2)
    >>> dependent_groups(v.T @ v)
    [[0, 1]]
    """
    related = np.abs(N) > SMALLEST_SHARE_IN_DEPENDENCY * np.max(np.diag(N), initial=0.0)
    groups, left = [], set(np.flatnonzero(np.diag(related)).tolist())
    while left:
        group, fresh = set[int](), {min(left)}
        while fresh:
            group |= fresh
            fresh = set(np.flatnonzero(related[sorted(fresh)].any(axis=0)).tolist()) & left - group
        groups.append(sorted(group))
        left -= group
    return groups


def dependent(N: Array, names: Sequence[str] | None, how: str = "collinear") -> Message:
    """Which columns depend on each other, given the projection onto the null directions, and how many to leave out.

    >>> print(dependent(np.full((2, 2), 0.5), ["a", "b"]))
    column 'a', column 'b' are collinear; leave one of them out
    """
    groups, excess = dependent_groups(N), round(float(np.trace(N)))
    if not groups:
        return Message()
    told = [Message(listed(group, names), f" are {how}") for group in groups[:MOST_NAMED_GROUPS]]
    told += [Message(f"{len(groups) - len(told)} more groups are, too")] * (len(groups) > len(told))
    alone = "leave one of them out" if excess <= 1 else f"leave {excess} of them out"
    each = "leave one of each group out" if excess == len(groups) else f"leave {excess} of them out"
    return Message(joined("; ", told), Remedy(alone if len(groups) == 1 else each))


def far_from_zero(frame: Frame, names: Sequence[str] | None, least: float = FAR_FROM_ZERO) -> Message:
    """The column whose mean is the most spreads, if these are more than ``least``; else an empty message.

    >>> print(far_from_zero(Frame(np.array([0.0, 1e12]), np.ones(2)), None))
    the mean of column 1 is about 1e+12 times its spread; standardise that column first
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        offsets = np.nan_to_num(np.where(np.isfinite(frame.scale), np.abs(frame.center) / frame.scale, 0.0))
    if not np.max(offsets, initial=0.0) > least:
        return Message()
    j = int(np.argmax(offsets))
    spreads = f" is about {offsets[j]:.0e} times its spread"
    return Message("the mean of ", column_name(j, names), spreads, Remedy(STANDARDISE))


def of_extreme_size(frame: Frame, names: Sequence[str] | None) -> Message:
    """The column whose size is farthest from one, if its weight may leave float64; else an empty message.

    >>> print(of_extreme_size(Frame(np.zeros(2), np.array([1.0, 2.0**-1000])), None))
    the entries of column 1 differ by about 9e-302; standardise that column first, or leave that column out
    """
    with np.errstate(divide="ignore"):
        exponents = np.where(np.isfinite(frame.scale), np.abs(np.log2(frame.scale)), 0.0)
    if not np.max(exponents, initial=0.0) > LARGEST_RAW_EXPONENT:
        return Message()
    j = int(np.argmax(exponents))
    return Message(_differing(j, frame, names), Remedy(STANDARDISE_OR_DROP))


def _differing(j: int, frame: Frame, names: Sequence[str] | None) -> Message:
    return Message("the entries of ", column_name(j, names), f" differ by about {frame.scale[j]:.0e}")


def weakly_penalised(objective: Objective) -> Message:
    """The column whose penalty is weakest, if rounding errors hide the penalty; else an empty message.

    The penalty on raw weights counts less and less the larger a column is: at 1e12, rounding errors in the gradient are
    as large as the gradient of the penalty.
    """
    frame = objective.rows.frame
    r, a = objective.root_penalty[1:], objective.absolute_penalty[1:]
    off = ROUNDED_GRADIENT if objective.loss.traits.smooth else ROUNDED_STEEP_GRADIENT
    with np.errstate(divide="ignore", over="ignore"):
        unproven = np.where(r > 0, 0.5 * (off / r) ** 2, off / a)
    unproven[objective.unpenalised[1:] | objective.pinned[1:] | ~np.isfinite(frame.scale)] = 0.0
    if not np.max(unproven, initial=0.0) > SMALLEST_PROVABLE_GAP:
        return Message()
    j = int(np.argmax(unproven))
    if frame.scale[j] < LARGE_COLUMN:
        return Message(
            "the penalty is too weak beside rounding errors", Remedy(Message("use a smaller ", Parameter("C")))
        )
    hidden = ", so rounding errors hide the penalty on its weight"
    return Message(_differing(j, frame, objective.names), hidden, Remedy(STANDARDISE_OR_DROP))


def oversized_column(objective: Objective) -> Message:
    """The column whose size limits the digits of a fit, without a pass over the rows; else an empty message."""
    cause = of_extreme_size(objective.rows.frame, objective.names) or weakly_penalised(objective)
    return cause if cause.columns else Message()


def nearly_collinear(R: Array, names: Sequence[str] | None) -> Message:
    """The columns that are collinear or nearly so; an empty message if there are none. RᵀR is their Gram matrix.

    >>> print(nearly_collinear(np.array([[1.0, 1.0], [0.0, 1e-9]]), None))
    column 0, column 1 are nearly collinear; leave one of them out
    """
    length = np.linalg.norm(R, axis=0)
    seen = np.flatnonzero((length > 0) & np.isfinite(length))
    _, values, V = np.linalg.svd(R[:, seen] / length[seen], full_matrices=True)
    short = V[np.concatenate([values, np.zeros(len(V) - len(values))]) < NEARLY_COLLINEAR]
    N = np.zeros((len(length), len(length)))
    N[np.ix_(seen, seen)] = short.T @ short
    return dependent(N, names, "nearly collinear")


def limiting_columns(objective: Objective) -> Message:
    """The columns that limit the digits of a fit, with the way out; an empty message if no cause is known.

    It takes a pass and a QR factorisation unless the objective has computed them already.
    """
    frame, names = objective.rows.frame, objective.names
    cause = of_extreme_size(frame, names) or far_from_zero(frame, names)
    weak = cause or weakly_penalised(objective)
    if cause or weak.columns or not 2 <= objective.shape[1] - 1 <= MOST_COLUMNS_SEARCHED:
        return weak
    return nearly_collinear(objective.root_gram[:, 1:], names) or weak
