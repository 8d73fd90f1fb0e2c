"""What searches for a separating hyperplane remember from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from separatrix.base.arrays import Array
from separatrix.solvers.separating.mistakes import Survey


class PerceptronMemory(NamedTuple):
    """What the perceptron remembers.

    ``errors``: the mistakes under the current weights; on a large table without a survey only whether there are any.
    ``survey``: the survey of all rows under the current weights, None if there was none. ``best_W`` and
    ``best_errors``: the pocket. ``u`` and ``seen``: the sums for the mean of the weights. ``mistakes``: the updates so
    far. ``epoch`` and ``position``: where the walk is. ``since``: the rows walked since the last update. ``clear``: the
    rows at the start of this epoch that are known to be no mistakes.
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
    clear: int = 0

    @property
    def known_survey(self) -> Survey:
        """The survey, of a state that must have one: a solution, or one of batch or worst-example updates."""
        assert self.survey is not None
        return self.survey

    def surveyed(self, survey: Survey) -> PerceptronMemory:
        """The same with a survey of the current weights."""
        return self._replace(errors=survey.errors, survey=survey)


@dataclass(frozen=True)
class HullMemory:
    """Between which distances the largest margin is, and the length of the longest vector behind them.

    ``errors``: the rows that are not on their own side, None if they were not counted.
    """

    lower: float
    upper: float
    longest: float
    errors: int | None = None
