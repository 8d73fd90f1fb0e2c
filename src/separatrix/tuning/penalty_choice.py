"""The result of the choice of C: every value that was tried, with its score. ``penalty_search`` makes the choice."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.base.arrays import Array, Integers


@dataclass(frozen=True)
class PenaltyChoice:
    """The values of C that were tried, with their scores, and the value that was chosen.

    Parameters
    ----------
    Cs : (m,) array
        The values of C, ascending.
    scores : (m,) array
        The mean log loss of held-out rows at each C, in nats.
    standard_errors : (m,) array
        The standard errors of the scores.
    refitted : (m,) array of int
        The number of rows for which the model was refitted without the row, at each C.
    method : {"leave-one-out", "cross-validation"}
        How the scores were computed.
    C : float
        The chosen value.
    sentence : str
        A description of the choice, which is also its string form.

    Examples
    --------
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
