"""Names the columns whose sizes keep a search for a separating hyperplane undecided in float64, and the remedy.

The search measures distances in the raw units of the columns. So the sizes of columns can limit it, in addition to the
causes that limit other fits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.base.messages import ByAudience, Message, Remedy
from separatrix.objectives.limiting_columns import (
    MOST_COLUMNS_SEARCHED,
    column_name,
    far_from_zero,
    nearly_collinear,
)
from separatrix.objectives.problem import Objective
from separatrix.rows import Frame, summarise

# If the spreads of two columns differ by more than this factor, a distance has fewer than eight digits for the smaller.
UNLIKE_SPREADS = 1e8
STANDARDISE_ALL = Message(
    ByAudience("standardise the columns first", shell="standardise the columns first, with --standardise")
)
CHANGE_DISTANCES = Message(STANDARDISE_ALL, ", which changes how distances are measured")


def limiting_sizes(problem: Objective) -> Message:
    """The columns that limit the search, with the remedy; an empty message if no cause is known.

    >>> from separatrix.rows import memory_rows
    >>> from separatrix.solvers.separating.separation_objective import build_separation_objective
    >>> rows = memory_rows(np.array([[0.0, 1e13], [1.0, 1e13 + 1]]), np.array([-1.0, 1.0]))
    >>> print(limiting_sizes(build_separation_objective(rows, names=["age", "born"])))
    the mean of column 'born' is about 2e+13 times its spread; standardise that column first
    """
    summary = summarise(problem.rows, ranges=False)
    scale = np.where(summary.constant | (summary.std == 0), np.inf, summary.std)
    frame, names = Frame(summary.mean, scale), problem.names
    cause = far_from_zero(frame, names) or unlike_sizes(frame, names, CHANGE_DISTANCES)
    if cause or not 2 <= len(scale) <= MOST_COLUMNS_SEARCHED:
        return cause
    return nearly_collinear(problem.root_gram[:, 1:], names)


def unlike_sizes(frame: Frame, names: Sequence[str] | None, way_out: Message) -> Message:
    """The columns with the largest and the smallest spread, if these are very different; otherwise an empty message.

    >>> print(unlike_sizes(Frame(np.zeros(2), np.array([1.0, 1e-12])), None, STANDARDISE_ALL))
    the entries of column 0 differ by about 1e+00, those of column 1 by about 1e-12; standardise the columns first
    """
    varying = np.flatnonzero(np.isfinite(frame.scale))
    if len(varying) < 2:
        return Message()
    small, large = (int(varying[pick(frame.scale[varying])]) for pick in (np.argmin, np.argmax))
    least, most = float(frame.scale[small]), float(frame.scale[large])
    if not most > UNLIKE_SPREADS * least:
        return Message()
    first = Message("the entries of ", column_name(large, names), f" differ by about {most:.0e}, ")
    return Message(first, "those of ", column_name(small, names), f" by about {least:.0e}", Remedy(way_out))


def because(problem: Objective, joint: str = ": ") -> Message:
    """The cause as the end of a sentence, after ``joint``; empty if it is not known."""
    cause = limiting_sizes(problem)
    return Message(joint, cause) if cause else Message()
