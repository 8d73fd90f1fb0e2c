"""Sums and largest differences of scores over rows, for claims that compare a scorer with the model it comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.moments.gaussians import Gaussians
from separatrix.rows import Block
from separatrix.scorers.scorer import Scores

# Largest difference between scores and recomputed scores that rounding explains, relative to 1 + the largest score.
SCORE_ROUNDING = 1e-6


@dataclass
class Compared:
    """How far claimed scores are from expected ones at most, how large the expected ones are, and a sum over rows."""

    difference: float = 0.0
    largest: float = 0.0
    total: float = 0.0
    weight: float = 0.0

    @property
    def agree(self) -> bool:
        """Whether rounding explains the difference."""
        return bool(self.difference <= SCORE_ROUNDING * (1.0 + self.largest))

    def with_(self, other: Compared) -> Compared:
        """The comparison over these rows and others."""
        return Compared(
            float(np.maximum(self.difference, other.difference)),  # NaN stays NaN, and does not agree
            float(np.maximum(self.largest, other.largest)),
            self.total + other.total,
            self.weight + other.weight,
        )


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


@dataclass(frozen=True)
class SameScores:
    """Compares the scores of two scorers."""

    claimed: Scores
    expected: Scores

    def zero(self) -> Compared:
        return Compared()

    def add(self, total: Compared, block: Block) -> Compared:
        claimed, expected = self.claimed.scores(block.X), self.expected.scores(block.X)
        return total.with_(Compared(_largest(claimed - expected), _largest(expected)))

    def merge(self, a: Compared, b: Compared) -> Compared:
        return a.with_(b)


@dataclass(frozen=True)
class JointLikelihood:
    """Σ s ln p(x, y): ln P(y|x) from a scorer, ln p(x) from Gaussians; and compares the scores of both.

    The scores are those of the Gaussians if they are log joint densities, up to a term that all classes share.
    """

    scorer: Scores
    gaussians: Gaussians

    def zero(self) -> Compared:
        return Compared()

    def add(self, total: Compared, block: Block) -> Compared:
        z, joint = self.scorer.scores(block.X), self.gaussians.log_joint(block.X)
        expected = joint - joint[:, :1]
        if z.ndim == 1:
            expected, claimed = expected[:, 1:], z[:, None]
        else:
            claimed = z - z[:, :1]
        counted = np.flatnonzero(block.weight > 0)
        by_class = self.scorer.log_probabilities(block.X)
        posterior = np.take_along_axis(by_class, block.t[:, None], axis=1)[counted, 0]
        evidence = np.logaddexp.reduce(joint, axis=1)[counted]
        weight = block.weight[counted]
        summed = float(weight @ (posterior + evidence))
        return total.with_(Compared(_largest(claimed - expected), _largest(expected), summed, float(weight.sum())))

    def merge(self, a: Compared, b: Compared) -> Compared:
        return a.with_(b)
