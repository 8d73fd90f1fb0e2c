"""The rows with the largest surprisal −log₂ P(true class | x) in bits, or the scores farthest on the wrong side.

Mislabelled rows and outliers tend to be among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.evaluation.answers import Answers
from separatrix.evaluation.measures import in_bits, true_class_log_probability

# A smaller surprisal, in bits, rounds to 0.0: the model expects the label with a probability of at least 97 %.
LEAST_SURPRISE = 0.05


@dataclass(frozen=True)
class Surprises:
    """The most surprising rows. ``surprising`` returns one.

    Attributes
    ----------
    rows : array
        Row numbers, the most surprising first.
    amount : array
        The surprisal of each row in bits if ``in_bits``; else by how much its score is on the wrong side.
    in_bits : bool
    """

    rows: Integers
    amount: Array
    in_bits: bool


def surprising(found: Answers, top: int = 10) -> Surprises:
    """Find the rows whose true class surprises the model most.

    Parameters
    ----------
    found : Answers
        The model's answers to labelled rows.
    top : int, default 10
        How many rows to return. Rows that surprise by less than 0.05 bits are left out; without probabilities, so are
        all rows that are classified correctly.

    Returns
    -------
    Surprises

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> from separatrix.evaluation.answers import answers
    >>> X, y = [[x] for x in range(8)], [0, 0, 0, 0, 1, 1, 1, 0]
    >>> surprising(answers(LogisticRegression().fit(X, y), X, y), top=1).rows.tolist()
    [7]
    """
    if found.log_P is None:
        amount = -found.margin
        order = np.argsort(-amount, kind="stable")[:top]
        order = order[amount[order] > 0]
        return Surprises(order, amount[order], False)
    amount = in_bits(-true_class_log_probability(found.log_P, found.codes))
    order = np.argsort(-amount, kind="stable")[:top]
    order = order[amount[order] >= LEAST_SURPRISE]
    return Surprises(order, amount[order], True)


def most_surprising(sets: Sequence[Surprises], top: int) -> tuple[Surprises, ...]:
    """The most surprising rows of several sets of rows together: of each set those that are among the first ``top``.

    >>> a = Surprises(np.array([4, 0]), np.array([5.0, 1.0]), True)
    >>> b = Surprises(np.array([7, 2]), np.array([3.0, 2.0]), True)
    >>> [kept.rows.tolist() for kept in most_surprising([a, b], 3)]
    [[4], [7, 2]]
    """
    sizes = [len(one.rows) for one in sets]
    order = np.argsort(-np.concatenate([one.amount for one in sets]), kind="stable")[:top]
    kept = np.zeros(sum(sizes), dtype=bool)
    kept[order] = True
    masks = np.split(kept, np.cumsum(sizes)[:-1])
    return tuple(
        Surprises(one.rows[mask], one.amount[mask], one.in_bits) for one, mask in zip(sets, masks, strict=True)
    )
