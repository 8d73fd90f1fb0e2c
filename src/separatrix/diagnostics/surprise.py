"""The rows that a model is most surprised by: −log₂ P(true class | x) bits, or how far a score is on the wrong side.

Wrong labels and rows of another kind are found among them first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.evaluation.answers import Answers
from separatrix.evaluation.measures import in_bits, true_class_log_probability


@dataclass(frozen=True)
class Surprises:
    """Row numbers, the most surprising first, and how much: in bits where ``in_bits``, else as scores, > 0 if wrong."""

    rows: Integers
    amount: Array
    in_bits: bool


def surprising(found: Answers, top: int = 10) -> Surprises:
    """The ``top`` rows by surprise; of scores without probabilities only rows that are got wrong.

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
    return Surprises(order, amount[order], True)
