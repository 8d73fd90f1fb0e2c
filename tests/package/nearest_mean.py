"""Nearest mean: a classifier in one file, as an extension would add it. ``test_adding_a_classifier`` registers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np

from separatrix.classifiers.base import Approach, LinearClassifier
from separatrix.classifiers.description import Description, Requires
from separatrix.classifiers.fit_input import validate
from separatrix.classifiers.moments_fit import gathered
from separatrix.core.base.arrays import EPS, Array, check_choice
from separatrix.core.base.codec import array
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.certificate import Bound, Certificate, Recomputed
from separatrix.core.moments import Moments, gather, refuse_extreme_scales
from separatrix.core.moments_claims import MomentsClaim
from separatrix.core.rows.protocol import Rows, counted_passes
from separatrix.core.rows.targets import CLASS_NUMBERS
from separatrix.core.scorer import Scorer

DESCRIPTION = Description(
    about="the class whose mean is nearest",
    claims={"means": "tests.package.nearest_mean:MeansClaim"},
    fitted={"means_": array("K", "d")},
    requires=(Requires.FEW_COLUMNS,),
)


KIND = "the distance of the means"
# Squares of the means of columns with larger scales leave the range of float64.
LARGEST_SCALE = 1e150


@dataclass(frozen=True)
class MeansClaim(MomentsClaim):
    """That means (K, d) are the means of the rows: they minimise E = (1/n) Σ ‖x_i − m_{y_i}‖².

    E exceeds its minimum by exactly Σ_k (n_k/n) ‖m_k − mean_k‖².
    """

    scorer: Scorer
    means: Annotated[Array, array("K", "d")]
    shift: str = "none"

    def of_rows(self, rows: Rows) -> Recomputed:
        """E, its gradient and its gap over these rows."""
        return self.against(gather(rows, len(self.means), pooled=True))

    def against(self, found: Moments) -> Recomputed:
        """E from the moments of the rows; no bound if the scorer's weights are not those of the means."""
        units, n = found.frame.scale**2, found.total_weight
        least = float(np.diag(found.within) @ units) / n
        null = least + float(np.diag(found.between) @ units) / n
        if not np.allclose(self.scorer.W, weights_of(self.means, found.shares, self.shift), rtol=1e-9, atol=0.0):
            return Recomputed(np.inf, null, Bound.unknown(KIND, "the weights are not those of the means"), np.inf)
        off = self.means - found.raw_mean
        gap = float(found.shares @ np.sum(off**2, axis=1))
        length = 2 * float(np.linalg.norm(found.shares[:, None] * off))
        return Recomputed(least + gap, null, Bound(gap + 4 * EPS * null, KIND), length)


def weights_of(means: Array, shares: Array, shift: str) -> Array:
    """The weights of the scores, (K or 1, d + 1), with the intercepts in column 0."""
    b = -0.5 * np.sum(means**2, axis=1) + (np.log(shares) if shift == "priors" else 0.0)
    W = np.column_stack([b, means])
    return W[1:] - W[:1] if len(means) == 2 else W


class NearestMean(LinearClassifier):
    """argmin_k ‖x − m_k‖², m_k the mean of class k; so the scores z_k = m_k·x − ½‖m_k‖² are linear.

    Parameters
    ----------
    shift : "none" or "priors", default "none"
        What is added to the score of class k: nothing ("none"), or ln p(C_k) ("priors").
    """

    approach: ClassVar[Approach] = "discriminant function"

    def __init__(self, shift: Literal["none", "priors"] = "none") -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with labels y and weights, or to a table outside memory alone."""
        check_choice("shift", self.shift, ("none", "priors"))
        task = validate(self, X, y, sample_weight)
        with one_blas_thread, counted_passes() as passes:
            found = gathered(task, task.table.rows(CLASS_NUMBERS), pooled=True)
            refuse_extreme_scales(found.frame, task.names, 0.0, LARGEST_SCALE)
        M = found.raw_mean
        self._keep_scorer(Scorer(weights_of(M, found.shares, self.shift), task.classes, "identity"))
        self.means_, self.n_parameters_ = M, M.size
        claim = MeansClaim(self.scorer_, M, self.shift)
        self.certificate_ = Certificate(
            status="the class means, in closed form",
            code="closed-form",
            met=True,
            **claim.against(found).fields(),
            iterations=1,
            passes=passes[0],
            solver="closed-form",
            why="closed form: a mean for each class",
            rank=None,
            full_rank=M.shape[1],
            n_parameters=M.size,
            n_rows=task.n_rows,
            claim=claim,
        )
        return self
