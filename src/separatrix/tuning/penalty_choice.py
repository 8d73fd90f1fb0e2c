"""What became of choosing C: every value tried, with its score. ``penalty_search`` chooses."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.base.arrays import Array, Integers


@dataclass(frozen=True)
class PenaltyChoice:
    """Every C tried, ascending, its score and the standard error of that, and how many rows were fitted again.

    ``scores`` are mean log losses in nats of rows not seen; ``method`` "leave-one-out" or "cross-validation".

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> choice = LogisticRegression("auto").fit(X, y).penalty_choice_
    >>> choice.method, bool(choice.scores.min() == choice.scores[choice.Cs == choice.C][0])
    ('leave-one-out', True)
    >>> str(choice)
    'C = ..., chosen by approximate leave-one-out: log loss ... ± ... (... values of C from ... to ...)...'
    """

    Cs: Array
    scores: Array
    standard_errors: Array
    refitted: Integers
    method: str
    C: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence
