"""Names the columns because of which a scatter matrix is singular, and says what to do about them."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.base.messages import Message, Remedy, joined, reason, remedy
from separatrix.moments.whitening import Whitening
from separatrix.objectives.limiting_columns import dependent, listed

# What a column without scatter within the classes is called.
WITHOUT_SCATTER = "constant within the classes up to rounding"


def singular_columns(
    white: Whitening,
    names: Sequence[str] | None,
    otherwise: str,
    constant: str = "constant up to rounding",
    first: int = 0,
) -> Message:
    """Which columns are constant and which are collinear, and the way out.

    Parameters
    ----------
    white : Whitening
        The whitening of the singular matrix.
    names : sequence of str or None
        The names of the columns.
    otherwise : str
        What else can be done; the last clause of the sentence.
    constant : str, default "constant up to rounding"
        What columns without scatter are called.
    first : int, default 0
        The row of the matrix that belongs to column 0; rows before it belong to the intercept.

    Returns
    -------
    Message

    Examples
    --------
    >>> import numpy as np
    >>> white = Whitening.of(np.array([[1.0, 2.0], [2.0, 4.0]]))
    >>> print(singular_columns(white, None, "give more rows"))
    column 0, column 1 are collinear up to rounding; leave one of them out, or give more rows
    >>> print(singular_columns(Whitening.of(np.diag([1.0, 0.0])), None, "give more rows"))
    column 1 is constant up to rounding; leave column 1 out, or give more rows
    """
    without = [int(j) - first for j in white.constant if j >= first]
    related = dependent(white.null_directions()[first:, first:], names, "collinear up to rounding")
    told, ways = list[str](), list[str]()
    if without:
        told.append(Message(listed(without, names), " are " if len(without) > 1 else " is ", constant))
        ways.append(Message("leave ", listed(without, names), " out"))
    if related:
        told.append(reason(related))
        ways.append(remedy(related))
    return Message(joined("; ", told), Remedy(joined(", ", [*ways, Message("or ", otherwise)])))
