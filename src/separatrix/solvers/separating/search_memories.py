"""The memories (``State.memory``) of the solvers that search for a separating hyperplane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from separatrix.base.arrays import Array
from separatrix.solvers.separating.mistakes import Survey


class PerceptronMemory(NamedTuple):
    """The memory of the perceptron.

    ``errors``: the number of mistakes under the current weights; on a large table without a survey, it is only known
    whether there are any. ``survey``: the survey of all rows under the current weights, None if there was none.
    ``best_W`` and ``best_errors``: the weights in the pocket and their number of mistakes. ``u`` and ``seen``: the sums
    for the mean of the weights. ``mistakes``: the number of updates so far. ``epoch`` and ``position``: the epoch, and
    the next row in it. ``since``: the number of rows processed since the last update.
    """

    errors: int
    survey: Survey | None
    best_W: Array
    best_errors: int
    u: Array
    seen: int = 0
    mistakes: int = 0
    epoch: int = 0
    position: int = 0
    since: int = 0

    @property
    def known_survey(self) -> Survey:
        """The survey of a state that always has one: a solution, or a state of batch or worst-example updates."""
        assert self.survey is not None
        return self.survey

    def surveyed(self, survey: Survey) -> PerceptronMemory:
        """The memory with the given survey of the current weights."""
        return self._replace(errors=survey.errors, survey=survey)


@dataclass(frozen=True)
class HullMemory:
    """A lower and an upper bound on the largest margin, and the length of the longest vector used to compute them.

    ``errors``: the number of misclassified rows, None if they were not counted.
    """

    lower: float
    upper: float
    longest: float
    errors: int | None = None
