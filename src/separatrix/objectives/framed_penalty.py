r"""The penalty in the coordinates of the rows' frame, Σ_k Σ_j ½ (r_j W_kj)² + a_j |W_kj|, and the columns it holds.

With the penalty strength 1/C, the share α of absolute values and factors f_j in raw units,

    r_j = ((1 − α) f_j/(C S))^½ / scale_j,    a_j = α f_j/(C S scale_j),    S = Σ_i s_i,    r_0 = a_0 = 0.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array, all_true, any_true
from separatrix.objectives.evaluation import Evaluation
from separatrix.objectives.penalty import shortest
from separatrix.objectives.row_statistics import RowStatistics
from separatrix.objectives.statistic import depends_on

# A root penalty below this share of the rounding noise has no effect on second derivatives: its square is rounded away.
WEAKEST_PENALTY_SHARE = 0.01
# Root penalties in the frame's coordinates are limited to this: with a curvature of 1e300 a weight is zero.
LARGEST_ROOT_PENALTY = 1e150


class FramedPenalty(RowStatistics):
    """The penalty's value and gradient, and which columns it holds."""

    @depends_on("rows", "frame", "penalty")
    def root_penalty(self) -> Array:
        """r, (d + 1). The square root is taken before dividing by the scales, so columns may have any scale.

        It is limited to LARGEST_ROOT_PENALTY, whose square is still finite.
        """
        with np.errstate(over="ignore"):
            raw = np.sqrt(self.penalty.quadratic) / sqrt(self.total_weight) / self.rows.frame.scale
        root = np.zeros(self.shape[1])
        np.minimum(raw, LARGEST_ROOT_PENALTY, out=root[1:])
        return root

    @depends_on("rows", "frame", "penalty")
    def absolute_penalty(self) -> Array:
        """a, (d + 1), limited like r."""
        if not self.has_absolute:
            return np.zeros(self.shape[1])
        with np.errstate(over="ignore"):
            raw = self.penalty.absolute / self.total_weight / self.rows.frame.scale
        return np.concatenate([[0.0], np.minimum(raw, LARGEST_ROOT_PENALTY)])

    @depends_on("penalty")
    def has_absolute(self) -> bool:
        """Whether absolute values are penalised, so that E is not differentiable everywhere."""
        return self.penalty.l1_ratio > 0 and self.penalty.strength > 0

    @property
    def smooth(self) -> bool:
        """Whether E is twice differentiable."""
        return self.loss.traits.smooth and not self.has_absolute

    @depends_on("rows", "frame", "penalty")
    def has_ridge(self) -> bool:
        """Whether any column has a quadratic penalty."""
        return any_true(self.root_penalty)

    @depends_on("rows", "frame", "penalty")
    def held(self) -> Any:
        """Which columns of W, (d + 1,) booleans, have a quadratic penalty large enough for float64 to resolve."""
        return self.root_penalty > WEAKEST_PENALTY_SHARE * self.column_noise

    @depends_on("rows", "frame", "penalty")
    def weak_columns(self) -> AnyArray | None:
        """Which columns of W have a quadratic penalty that float64 does not resolve, (d + 1,); None if none has."""
        penalised: AnyArray = self.root_penalty > 0
        # Every column that is held is penalised.
        return None if np.count_nonzero(penalised) == np.count_nonzero(self.held) else penalised & ~self.held

    @depends_on("rows", "frame", "penalty", "pinned")
    def unpenalised(self) -> AnyArray:
        """Which columns of W are neither penalised nor pinned, (d + 1,) booleans."""
        free: AnyArray = (self.root_penalty == 0) & ~self.pinned
        return free & (self.absolute_penalty == 0) if self.has_absolute else free

    @depends_on("rows", "frame", "penalty", "pinned")
    def has_unpenalised(self) -> bool:
        """Whether a column other than the intercept is neither penalised nor pinned."""
        return not all_true(self.root_penalty[1:]) and any_true(self.unpenalised[1:])

    @depends_on("rows", "frame", "penalty", "pinned")
    def free_columns(self) -> AnyArray:
        """The columns of W other than the intercept that are not penalised, pinned or hidden by the frame."""
        return 1 + np.flatnonzero(self.unpenalised[1:] & np.isfinite(self.rows.frame.scale))

    @depends_on("rows", "frame", "penalty")
    def ridged(self) -> Any:
        """The index of the columns of W with a quadratic penalty: a slice if these are all but the intercept."""
        held = self.root_penalty > 0
        return slice(1, None) if held[1:].all() and not held[0] else held

    @property
    def column_noise(self) -> float:
        """A singular value of columns scaled to length one must exceed this to be distinguished from rounding.

        A framed entry is (x − center)/scale: one rounded subtraction, which is exact where the offset is much larger
        than the spread (Sterbenz), and one exact division. So every entry is accurate whatever the offset, and only the
        rounding of a QR factorisation counts.
        """
        return 64 * self.shape[1] * EPS

    def penalised(self, W: Array) -> Evaluation:
        """The penalty's value at W, and the gradient of its smooth part."""
        W_r = self.root_penalty * W
        value = 0.5 * float((W_r * W_r).sum())
        if self.has_absolute:
            value += float(np.sum(self.absolute_penalty * np.abs(W)))
        return Evaluation(value, self.root_penalty * W_r)

    def penalty_value(self, W: Array) -> float:
        return self.penalised(W).value

    def penalty_gradient(self, W: Array) -> Array:
        return self.penalised(W).gradient

    def subgradient(self, W: Array, gradient: Array) -> Array:
        """The shortest subgradient of E at W, from the gradient of its smooth part: it is zero exactly at a minimum."""
        if not self.has_absolute:
            return gradient
        return shortest(W, gradient, self.absolute_penalty)
