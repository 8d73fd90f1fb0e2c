"""What the two curves of a ranking share: their numbers, and how they are made of a model or of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from separatrix.diagnostics import Ranking, answers, rank, rankings
from separatrix.plots.display import Display

# Classes whose curves, and bands, are drawn.
MOST_CURVES, MOST_BANDS = 8, 3


@dataclass(eq=False)
class RankingDisplay(Display):
    """One ranking a class, a band around each; abstract: how it is drawn is the curve's own."""

    curves: Sequence[Ranking]
    band: str = "pointwise"
    level: float = 0.95

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, band: str = "pointwise", level: float = 0.95, ax: Any = None
    ) -> Self:
        """From a fitted classifier, and rows X with labels y."""
        return cls(rankings(answers(model, X, y)), band, level).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, score: Any, *, of: Any = 1, band: str = "pointwise", level: float = 0.95, ax: Any = None
    ) -> Self:
        """From scores that grow with the chance of the class ``of``, and labels y."""
        return cls([rank(np.asarray(score), np.asarray(y) == of, of)], band, level).plot(ax)
