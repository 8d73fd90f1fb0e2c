r"""The objective: a mean over rows plus a penalty.

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + Σ_k Σ_j ½ (r_j W_kj)² + a_j |W_kj|,    S = Σ_i s_i,   r_0 = a_0 = 0

with W (K or 1, d + 1), intercepts in column 0, in the coordinates of the rows' frame. With the penalty strength
1/C, the share α of absolute values and factors f_j in raw units, r_j = ((1 − α) f_j/(C S))^½ / scale_j and
a_j = α f_j/(C S scale_j), so E · C S is scikit-learn's objective. Lectures 000, 002 and 004 divide by N as here;
minimisers do not depend on it.

`Objective` is built up in five modules, each on the one before: ``problem_parts`` (the parts of a problem, and copies
with other parts), ``row_statistics``, ``framed_penalty``, ``identified_directions``, and this one, which adds E itself
and its derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.constant_slopes import ConstantSlopes, constant_slopes
from separatrix.objectives.evaluation import Evaluation as Evaluation
from separatrix.objectives.factor import Factor
from separatrix.objectives.identified_directions import IdentifiedDirections
from separatrix.objectives.null_model import null_value, null_weights
from separatrix.objectives.partials import (
    Hessian,
    HessianProduct,
    RelativeMarginRange,
    RelativeMargins,
    RootHessian,
    ValueGradient,
)
from separatrix.objectives.statistic import depends_on
from separatrix.rows import Block, some_rows
from separatrix.rows.protocol import Together

# With more parameters than this, the Hessian is neither built nor factored.
LARGEST_HESSIAN = 3000
# The points at which E is computed in one read of rows outside memory: a read costs about as much as three of them.
POINTS_IN_ONE_READ = 4


class Objective(IdentifiedDirections):
    """E(W) over rows: an immutable problem with cached statistics.

    The problem consists of the rows, the loss, the penalty, the number of classes, ``fit_intercept``, and

    - ``pinned``: the columns of W that keep their starting values, (d + 1,) booleans. By default these are an intercept
      that is not fitted, which stays zero, and the last ``n_offsets`` columns, offsets whose weights stay one;
    - ``names``: the names of the columns, for messages;
    - ``weight_unit``: the rows' weights have been divided by this;
    - ``standard``: the same problem in standard coordinates, if this one is not in them. Bounds are computed there,
      because columns far from zero look collinear in their own units.

    Statistics are computed on first use and cached (``statistic.py``). ``known`` gives the values of statistics that
    are already known, by name. ``passes_before``: the passes on the rows' counter that belong to other problems.
    ``with_`` makes a changed copy.
    """

    @depends_on("rows", "loss")
    def has_hessian(self) -> bool:
        """Whether the loss has second derivatives and the Hessian is small enough to build."""
        return self.loss.traits.smooth and self.size <= LARGEST_HESSIAN

    @property
    def has_gram(self) -> bool:
        """Whether the Gram matrix of the columns is small enough to build."""
        return self.shape[1] <= LARGEST_HESSIAN

    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (K, d + 1), in one pass."""
        if self.dense_table is not None:
            return self.dense_table.value_gradient(W)
        return self._with_penalty(W, self.rows.fold(ValueGradient(self.loss, W)) / self.total_weight)

    @property
    def most_together(self) -> int:
        """How many points ``value_gradients`` may be given: one for rows in memory, which cost little to read."""
        return 1 if self.rows.resident() is not None else POINTS_IN_ONE_READ

    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]:
        """E and ∇E at several points in one pass."""
        if len(Ws) == 1:
            return [self.value_gradient(Ws[0])]
        totals = self.rows.fold(Together(tuple(ValueGradient(self.loss, W) for W in Ws)))
        return [self._with_penalty(W, total / self.total_weight) for W, total in zip(Ws, totals, strict=True)]

    def _with_penalty(self, W: Array, mean: Array) -> Evaluation:
        """E and ∇E from a vector of the mean loss followed by its gradient."""
        penalty = self.penalised(W)
        gradient = self.without_pinned(mean[1:].reshape(self.shape)) + penalty.gradient
        return Evaluation(float(mean[0]) + penalty.value, gradient)

    def block_value_gradient(self, W: Array, block: Block) -> Evaluation:
        """Unbiased estimates of E(W) and ∇E(W) from a block of rows drawn at random, for stochastic descent.

        The sum over the block is divided by the weight that as many rows have on average. Divided by the block's own
        weight, the weight of a single row would cancel.
        """
        partial = ValueGradient(self.loss, W)
        expected = block.n_rows * (self.total_weight / self.n_rows)
        return self._with_penalty(W, partial.add(partial.zero(), block) / expected)

    def hessian(self, W: Array, block: Block | None = None) -> Array:
        """∇²E(W), (K (d + 1))², in one pass; with a block, only its rows contribute to the loss."""
        if block is None and self.dense_table is not None:
            return self.dense_table.hessian(W)
        partial = Hessian(self.loss, W)
        total = (self.rows if block is None else some_rows(block)).fold(partial) / self.total_weight
        diagonal = total.ravel()[:: self.size + 1].reshape(self.shape)  # a view
        diagonal += self.root_penalty**2
        return total

    def factor(self, W: Array, block: Block | None = None) -> Factor | None:
        """A factor of ∇²E(W) on the identified directions; None if it is singular to working precision.

        The factor is computed by Cholesky, or if that fails by QR of a root of the Hessian, which keeps twice the
        digits.
        """
        factor = Factor.of(self.subspace.reduce_hessian(self.hessian(W, block)))
        if factor is not None or not self.loss.traits.convex:
            return factor
        return self.root_factor(W, block)

    def root_factor(self, W: Array, block: Block | None = None) -> Factor | None:
        """The same factor by QR of a root of ∇²E(W), for a convex loss."""
        space, partial = self.subspace, RootHessian(self.loss, W)
        R = (self.rows if block is None else some_rows(block)).fold(partial)
        penalty = np.diag(np.tile(self.root_penalty, self.shape[0]))
        root = space.reduce_rows(np.vstack([R / np.sqrt(self.total_weight), penalty]))
        return Factor.of_root(np.asarray(np.linalg.qr(root, mode="r")))

    def restricted_to(self, block: Block) -> Objective:
        """The objective of these rows alone, in the same coordinates, with the penalty scaled to their weight."""
        weight = float(block.weight.sum())
        # Giving the total weight saves the pass for the class sums.
        known = {
            "total_weight": weight,
            "root_penalty": self.root_penalty,
            "subspace": replace(self.subspace, others_null=None),
        }
        return self.with_(rows=some_rows(block), penalty=self.penalty.times(weight / self.total_weight), known=known)

    def hessian_product(self, W: Array, V: Array) -> Array:
        """∇²E(W) V, (K, d + 1), in one pass."""
        total = self.rows.fold(HessianProduct(self.loss, W, V)) / self.total_weight
        return self.without_pinned(total) + self.penalty_gradient(V)

    def relative_margins(self, W: Array) -> RelativeMargins:
        """The rows' margins under W, each relative to the sizes of its terms, in one pass."""
        return self.rows.fold(RelativeMarginRange(self.loss, W))

    @depends_on("rows", "loss")
    def value_at_zero(self) -> float:
        """E at W = 0, without a pass."""
        z = np.zeros((self.n_classes, self.shape[0]))
        of_class = self.loss.value(self.targets, z if self.loss.traits.multiclass else z[:, 0])
        return float(self.class_sums[:, 0] @ of_class) / self.total_weight

    @depends_on("rows", "loss")
    def null_value(self) -> float:
        """E of the null model, whose scores are the best constants (zero without an intercept)."""
        return null_value(self)

    @property
    def null_weights(self) -> Array:
        """The best constants (approximate with an offset), and zero for every column, (K or 1, d + 1)."""
        return null_weights(self)

    @depends_on("rows", "frame", "loss")
    def constant_slopes(self) -> ConstantSlopes | None:
        """The slopes of the loss at constant scores, for the duality bound; None for a loss of several scores."""
        return None if self.loss.traits.multiclass else constant_slopes(self)

    @property
    def offsets(self) -> Array | None:
        """The pinned weights of offset columns, (K or 1, d + 1) in the frame's coordinates; None without an offset."""
        if not self.n_offsets:
            return None
        return self.rows.frame.from_original(np.eye(*self.shape, k=self.shape[1] - self.n_offsets))
