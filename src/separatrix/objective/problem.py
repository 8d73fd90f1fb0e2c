r"""The objective: a mean over rows plus a penalty.

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + Σ_k Σ_j ½ (r_j W_kj)² + a_j |W_kj|,    S = Σ_i s_i,   r_0 = a_0 = 0

with W (K or 1, d + 1), intercepts in column 0, in the coordinates of the rows' frame. With the penalty strength
1/C, the share α of absolute values and factors f_j in raw units, r_j = ((1 − α) f_j/(C S))^½ / scale_j and
a_j = α f_j/(C S scale_j), so E · C S is scikit-learn's objective. Lectures 000, 002 and 004 divide by N as here;
minimisers do not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array
from separatrix.losses import Loss
from separatrix.objective.factor import Factor
from separatrix.objective.partials import (
    ClassSums,
    Gram,
    Hessian,
    HessianProduct,
    LargestEntries,
    RelativeMarginRange,
    RelativeMargins,
    RootGram,
    RootHessian,
    ScoreSquares,
    SecondMoments,
    ValueGradient,
)
from separatrix.objective.penalty import Penalty, shortest
from separatrix.objective.resolution import all_null, not_null, unresolved
from separatrix.objective.statistic import Statistic, depends_on
from separatrix.objective.subspace import Subspace, contrasts, identified, identified_by_root, row_rank, split_by_gap
from separatrix.rows import Block, Frame, Rows, Sample, number_of_rows, some_rows
from separatrix.rows.block import power_of_two

# Past so many parameters a matrix of second derivatives is neither built nor factored.
LARGEST_HESSIAN = 3000
# Past so many columns their rank, which needs singular values, would take longer than the fit.
LARGEST_RANK = 1000
# Rows that stand for all: 20 a parameter at least; so many, or a sixteenth of all, up to so many entries.
SAMPLE_ROWS, LARGEST_SAMPLE, SAMPLE_SEED = 4000, 9 << 19, 20_231_017
# A penalty below this share of the noise has no part in second derivatives: its square is lost beside theirs.
WEAK = 0.01
# Penalties in the frame's coordinates are no larger: with a curvature of 1e300 a weight is zero.
LARGEST_ROOT = 1e150
# Entries below this have squares that are rounded away.
SMALLEST_ENTRY = 1e-140
# The best constant of a loss without a link is no larger, and is found by so many bisections.
LARGEST_CONSTANT, BISECTIONS = 1e3, 60
# Newton steps for the best constants beside an offset, and halvings of each.
NULL_STEPS = 30


class Evaluation(NamedTuple):
    """E at some W, and the gradient of its smooth part: of all but the absolute values."""

    value: float
    gradient: Array


def _without_products(products: Array, pinned: AnyArray) -> Array:
    """A Gram matrix without the pinned columns."""
    kept = products.copy()
    kept[:, pinned] = kept[pinned, :] = 0.0
    return kept


def _without_columns(root: Array, pinned: AnyArray) -> Array:
    """A root of a Gram matrix without the pinned columns."""
    kept = root.copy()
    kept[:, pinned] = 0.0
    return kept


class Objective:
    """E(W) over rows: a problem that does not change, and what has been computed of it.

    The problem is the rows, the loss, the penalty, the number of classes, ``fit_intercept``, and

    - ``pinned``: the columns of W that stay as they start, (d + 1,) of truth values: by default an intercept that is
      not fitted, which stays at zero, and the ``n_offsets`` last columns, offsets whose weights stay at one;
    - ``names``: of the columns, for messages;
    - ``weight_unit``: what the rows' weights were divided by before they came here;
    - ``standard``: the same problem in standard coordinates, where this one is not in them. Bounds are found there:
      columns far from zero look collinear in their own units.

    What is computed is kept (``statistic.py``). ``known`` gives statistics that were found in another way, by name.
    ``passes_before``: passes on the rows' counter that belong to other problems. ``with_`` makes a copy that differs.
    """

    rows: Rows
    loss: Loss
    penalty: Penalty
    n_classes: int
    fit_intercept: bool
    pinned: AnyArray
    n_offsets: int
    names: list[str] | None
    weight_unit: float
    standard: Objective | None
    _passes_before: int

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        penalty: Penalty,
        n_classes: int = 2,
        fit_intercept: bool = True,
        *,
        pinned: AnyArray | None = None,
        n_offsets: int = 0,
        names: list[str] | None = None,
        weight_unit: float = 1.0,
        standard: Objective | None = None,
        known: Mapping[str, Any] | None = None,
        passes_before: int = 0,
    ) -> None:
        if pinned is None:
            pinned = np.zeros(rows.n_features + 1, dtype=bool)
            pinned[0] = not fit_intercept
            pinned[rows.n_features + 1 - n_offsets :] = True
        # Past ``__setattr__``, which refuses: nothing may be assigned to a problem that others hold.
        vars(self).update(
            rows=rows,
            loss=loss,
            penalty=penalty,
            n_classes=n_classes,
            fit_intercept=fit_intercept,
            pinned=pinned,
            n_offsets=n_offsets,
            names=names,
            weight_unit=weight_unit,
            standard=standard,
            _passes_before=passes_before,
        )
        if known:
            if not STATISTICS.keys() >= known.keys():
                raise TypeError(f"not statistics of an objective: {sorted(known.keys() - STATISTICS.keys())}")
            vars(self).update(known)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an Objective does not change: use with_(...) for one with another {name}")

    def with_(
        self,
        *,
        rows: Rows | None = None,
        frame: Frame | None = None,
        penalty: Penalty | None = None,
        pinned: AnyArray | None = None,
        loss: Loss | None = None,
        known: Mapping[str, Any] | None = None,
        count_anew: bool = False,
    ) -> Objective:
        """The problem with other parts, and every statistic of this one that does not depend on them.

        ``loss``: another one of the same targets.
        ``known``: statistics of the new problem that were found in another way. ``count_anew``: its passes begin at 0.

        >>> from separatrix.losses import LOSSES
        >>> from separatrix.rows import memory_rows
        >>> rows = memory_rows(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
        >>> weak = Objective(rows, LOSSES["logistic"], Penalty(1.0, np.ones(1)))
        >>> float(weak.with_(penalty=weak.penalty.times(4.0)).root_penalty[1] / weak.root_penalty[1])
        2.0
        """
        given = {"rows": rows, "frame": frame, "penalty": penalty, "pinned": pinned, "loss": loss}
        changed: Any = frozenset(part for part, value in given.items() if value is not None)
        more_pinned = pinned if pinned is not None and np.all(pinned[self.pinned]) else None
        kept = {}
        for name, value in vars(self).copy().items():  # other threads may be computing more of them
            if name in STATISTICS and (still := STATISTICS[name].kept(value, changed, more_pinned)) is not None:
                kept[name] = still[0]
        of = self.rows if rows is None else rows
        of = of if frame is None else of.seen_through(frame)
        twin = self.standard if rows is None else None
        if twin is not None and not changed <= {"frame"}:
            twin = twin.with_(penalty=penalty, pinned=pinned, loss=loss)
        return Objective(
            of,
            self.loss if loss is None else loss,
            self.penalty if penalty is None else penalty,
            self.n_classes,
            self.fit_intercept,
            pinned=self.pinned if pinned is None else pinned,
            n_offsets=self.n_offsets,
            names=self.names,
            weight_unit=self.weight_unit,
            standard=twin,
            known={**kept, **(known or {})},
            passes_before=of.counter.passes if count_anew else self._passes_before if rows is None else 0,
        )

    def knows(self, statistic: str) -> bool:
        """Whether the statistic of this name has been computed, so that asking for it costs nothing."""
        return statistic in vars(self)

    @property
    def passes(self) -> int:
        """How often the rows have been read, counted where they are read, for whatever purpose."""
        return self.rows.counter.passes - self._passes_before

    @depends_on("rows")
    def shape(self) -> tuple[int, int]:
        """Of W: (K or 1, d + 1)."""
        return (self.n_classes if self.loss.traits.multiclass else 1, self.rows.n_features + 1)

    @depends_on("rows")
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def has_hessian(self) -> bool:
        """Whether second derivatives of the loss exist and fit into a matrix."""
        return self.loss.traits.smooth and self.size <= LARGEST_HESSIAN

    @property
    def has_gram(self) -> bool:
        """Whether the columns' products fit into a matrix."""
        return self.shape[1] <= LARGEST_HESSIAN

    @depends_on("rows")
    def targets(self) -> AnyArray:
        """What t is in each class."""
        return np.arange(self.n_classes) if self.loss.traits.multiclass else np.array([-1.0, 1.0])

    @depends_on("rows")
    def n_rows(self) -> int:
        """How many rows there are, those without weight included."""
        return number_of_rows(self.rows)

    @depends_on("rows", "frame")
    def class_sums(self) -> Array:
        """Σ s x̄ by class, (classes, d + 1)."""
        return self.rows.fold(ClassSums(self.n_classes, self.shape[1], not self.loss.traits.multiclass))

    @depends_on("rows")
    def class_weight(self) -> Array:
        """Σ s by class, (classes,): of rows in memory without a look at their columns."""
        block = None if "class_sums" in vars(self) else self.rows.resident()
        return self.class_sums[:, 0] if block is None else (block.t == self.targets[:, None]) @ block.weight

    @depends_on("rows")
    def total_weight(self) -> float:
        """S, the sum of the rows' weights."""
        return float(self.class_sums[:, 0].sum())

    @depends_on("rows", "frame")
    def mean_class_sums(self) -> Array:
        """(1/S) Σ s x̄ by class, (classes, d + 1): column 0 holds the classes' shares."""
        return self.class_sums / self.total_weight

    @depends_on("rows", "frame")
    def mean_row(self) -> Array:
        """(1/S) Σ s x̄, (d + 1)."""
        return np.asarray(self.mean_class_sums.sum(axis=0))

    @depends_on("rows", "frame", "penalty")
    def root_penalty(self) -> Array:
        """r, (d + 1): never squared with the scales inside, so columns may be of any size.

        Past a size with which no weight differs from zero it is as large as its square can be.
        """
        with np.errstate(over="ignore"):
            raw = np.sqrt(self.penalty.quadratic) / np.sqrt(self.total_weight) / self.rows.frame.scale
        return np.concatenate([[0.0], np.minimum(raw, LARGEST_ROOT)])

    @depends_on("rows", "frame", "penalty")
    def absolute_penalty(self) -> Array:
        """a, (d + 1), limited as r is."""
        with np.errstate(over="ignore"):
            raw = self.penalty.absolute / self.total_weight / self.rows.frame.scale
        return np.concatenate([[0.0], np.minimum(raw, LARGEST_ROOT)])

    @property
    def has_absolute(self) -> bool:
        """Whether absolute values are penalised, so that E has kinks."""
        return self.penalty.l1_ratio > 0 and self.penalty.strength > 0

    @property
    def smooth(self) -> bool:
        """Whether E is twice differentiable."""
        return self.loss.traits.smooth and not self.has_absolute

    @depends_on("rows", "frame", "penalty", "pinned")
    def unpenalised(self) -> Any:
        """Which columns of W no penalty holds, (d + 1,) of truth values."""
        return (self.root_penalty == 0) & (self.absolute_penalty == 0) & ~self.pinned

    @depends_on("rows", "frame", "penalty", "pinned")
    def free_columns(self) -> AnyArray:
        """The columns of W, intercepts aside, that no penalty holds and the frame does not hide."""
        return 1 + np.flatnonzero(self.unpenalised[1:] & np.isfinite(self.rows.frame.scale))

    @depends_on("rows", "frame", "penalty")
    def ridged(self) -> Any:
        """The columns of W whose squares are penalised, as an index: a slice where all are but the intercept."""
        held = self.root_penalty > 0
        return slice(1, None) if held[1:].all() and not held[0] else held

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ in the frame's coordinates."""
        return self._grammed(None)

    def _grammed(self, block: Block | None) -> Array:
        partial = Gram(self.shape[1])
        total = (self.rows if block is None else some_rows(block)).fold(partial)
        total[self.pinned, :] = total[:, self.pinned] = 0.0
        return total / (self.total_weight if block is None else float(block.weight.sum()))

    @depends_on("rows", "pinned")
    def rank(self) -> int | None:
        """Rank of X̄ (of X where there is no intercept) to working precision; None for too many columns."""
        if self.shape[1] > LARGEST_RANK:
            return None
        block = self.rows.resident() if self.n_rows < self.shape[1] else None
        if block is None:
            return self._columns.rank
        rows = block.homogeneous()
        return row_rank(rows[:, ~self.pinned] if self.pinned.any() else rows, self._noise)

    @depends_on("rows", "frame", "pinned")
    def _columns(self) -> Subspace:
        """What the columns determine by themselves, without a penalty.

        A frame is made for columns and penalty together, so beside a strong penalty a column may read as nearly zero;
        then it is looked at in a frame of its own size.
        """
        none = np.zeros(self.shape[1])
        size = self.largest_entries[1:] if np.any(self.root_penalty > 0.25) else none[1:]
        small = (size > 0) & (size < SMALLEST_ENTRY)
        if not np.any(small):
            return self._identified(none)
        frame = self.rows.frame
        with np.errstate(under="ignore"):
            own = Frame(frame.center, np.where(small, frame.scale * power_of_two(size), frame.scale))
        return self.with_(frame=own, penalty=Penalty.none(self.rows.n_features))._columns

    @depends_on("rows", "frame", "pinned")
    def _sample_columns(self) -> Subspace | None:
        """What the columns determine on the sample, without a penalty; None where that is in doubt."""
        return identified(0.25 * self.sample_gram)

    @depends_on("rows", "frame", "penalty", "pinned")
    def subspace(self) -> Subspace:
        """The directions of W on which E depends. Built from X and the penalty, never from a Hessian at some W:
        that one also loses rank where classes are separated, and there E does depend on them.

        Columns that are independent by themselves are so beside any penalty, and the certificate asks for their rank
        anyway, so they are looked at first. With curvature D A D, D its diagonal's root and A at least δ < 1, a penalty
        P makes it at least δ D² + P, which is at least δ (D² + P).
        """
        if not np.any(self.root_penalty):
            found = self._columns
        elif (alone := self._sample_columns) is not None and alone.Z is None:
            found = alone
        else:
            found = self._identified(self.root_penalty)
        return Subspace(contrasts(self.shape[0]) if self.shape[0] > 1 else None, found.Z, found.rank)

    @depends_on("rows", "frame")
    def sampled(self) -> Sample:
        """Rows enough to stand for all where parameters are few: for bounds, ranks and preconditioners."""
        return self.sample(self.sample_size)

    @property
    def sample_size(self) -> int:
        """About how many rows those are; more where columns are rare."""
        enough = max(SAMPLE_ROWS, self.n_rows // 16)
        return max(20 * self.size, min(enough, LARGEST_SAMPLE // self.shape[1]))

    def sample(self, size: int) -> Sample:
        """About ``size`` rows, as many of each class, where there are: a rare class has few rows, and much to say."""
        return self.rows.sample(size, SAMPLE_SEED, self.targets)

    @depends_on("rows", "frame")
    def standing_sample(self) -> Block:
        """The sample's rows, weighted so that they stand for all."""
        return self.sampled.standing_for(self.targets, self.class_weight)

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def sample_gram(self) -> Array:
        """The Gram matrix of the sample, which is that of all rows where they are few."""
        if self.sampled.n_rows >= self.n_rows:
            return self.gram
        return self._grammed(self.standing_sample)

    def _identified(self, root_penalty: Array) -> Subspace:
        # Columns that are independent on some rows are so on all; only where they are not, all must be asked.
        curvature = 0.25 * self.sample_gram + (penalty := np.diag(root_penalty**2))
        found = identified(curvature) if np.any(root_penalty) else self._sample_columns
        if found is None and self.sampled.n_rows < self.n_rows:
            guess = split_by_gap(curvature) or self._by_root(self._rooted(self.sampled.block), root_penalty)
            found = self._shown_on_all(guess)
        found = found or identified(0.25 * self.gram + penalty)
        return found or self._by_root(self.root_gram, root_penalty)

    def _by_root(self, root: Array, root_penalty: Array) -> Subspace:
        return identified_by_root(np.vstack([0.5 * root, np.diag(root_penalty)]), self._noise)

    @property
    def _noise(self) -> float:
        """What a singular value of columns of length one must exceed to be told from rounding.

        Framed rows are written out as (x − center)/scale: one rounded subtraction, exact where the offset dwarfs the
        spread (Sterbenz), and one exact division. So every entry has all its digits whatever the offsets, and what
        counts is the rounding of a QR factorisation.
        """
        return 64 * self.shape[1] * EPS

    @depends_on("rows", "frame")
    def largest_entries(self) -> Array:
        """max |x̄_j| by column, (d + 1)."""
        return self.rows.fold(LargestEntries(self.shape[1]))

    @property
    def zero_columns(self) -> Any:
        """Which columns of W, (d + 1,) of truth values, read zero on every row, exactly."""
        return self.largest_entries == 0

    @depends_on("rows", "frame")
    def rounded_sizes(self) -> Array:
        """The size of what a column's products are rounded as, (d + 1,): its root mean square and its offset, as read.

        In standard coordinates the root mean square is below 2.
        """
        frame, block = self.rows.frame, self.rows.resident()
        offset = np.abs(frame.center / frame.scale) if block is None else block.offsets_read()
        return np.concatenate([[1.0], 2.0 + offset])

    @depends_on("rows", "frame", "penalty")
    def held(self) -> Any:
        """Which columns of W, (d + 1,) of truth values, a penalty holds that float64 can tell from none."""
        return self.root_penalty > WEAK * self._noise

    @depends_on("rows", "frame", "penalty", "pinned")
    def unresolved(self) -> tuple[int, ...]:
        """Columns of W with a direction on which E depends although float64 cannot resolve it (``resolution``)."""
        space = self.subspace
        counted = space.Z is not None and space.Z is vars(self).get("_not_null_outside")
        return (not_null if counted else unresolved)(self.rows, space, self.pinned, self.held)

    def _shown_on_all(self, space: Subspace) -> Subspace | None:
        """The subspace found on a sample, if the directions outside it are zero on all rows, too."""
        outside = space.outside()
        if not len(outside):
            return space
        if not np.any(self.root_penalty) and self._all_null(space):
            vars(self)["unresolved"] = ()  # which would count the same directions, by another pass
            return space
        length = np.sqrt(self.rows.fold(ScoreSquares(outside)) / self.total_weight)
        size = np.sqrt(outside**2 @ np.diag(self.sample_gram))
        return space if np.all(length <= self._noise * np.sqrt(self.shape[1]) * size) else None

    def _all_null(self, space: Subspace) -> bool:
        """Whether all directions outside are null on all rows, exactly; if not, that is remembered of this basis.

        Directions that a sample resolves are not null. If the others are, by their number, then the sample's rows span
        what all rows span, whatever basis rounding has made of it.
        """
        found = all_null(self.rows, space, self.pinned, self.held)
        vars(self)["_not_null_outside"] = None if found else space.Z
        return found

    @depends_on("rows", "frame", "pinned", narrowed=_without_columns)
    def root_gram(self) -> Array:
        """R with RᵀR the Gram matrix, to all digits."""
        return self._rooted(None)

    def _rooted(self, block: Block | None) -> Array:
        partial = RootGram(self.shape[1])
        R: Array = (self.rows if block is None else some_rows(block)).fold(partial)
        R[:, self.pinned] = 0.0
        return np.asarray(R / np.sqrt(self.total_weight if block is None else float(block.weight.sum())))

    def column_name(self, j: int) -> str:
        """What column j of W is called in messages; 0 is the intercept."""
        if j == 0:
            return "the intercept"
        return f"column {j - 1 if self.names is None else repr(self.names[j - 1])}"

    def penalty_value(self, W: Array) -> float:
        return self.penalised(W).value

    def subgradient(self, W: Array, gradient: Array) -> Array:
        """The shortest subgradient of E at W, from the gradient of its smooth part: zero at the minimum alone."""
        if not self.has_absolute:
            return gradient
        return shortest(W, gradient, self.absolute_penalty)

    def penalised(self, W: Array) -> Evaluation:
        """The penalty's value at W, and the gradient of its smooth part."""
        W_r = self.root_penalty * W
        value = 0.5 * float((W_r * W_r).sum())
        if self.has_absolute:
            value += float(np.sum(self.absolute_penalty * np.abs(W)))
        return Evaluation(value, self.root_penalty * W_r)

    def penalty_gradient(self, W: Array) -> Array:
        return self.penalised(W).gradient

    def without_pinned(self, gradient: Array) -> Array:
        """The gradient, changed in place to zero where W is pinned."""
        gradient[:, self.pinned] = 0.0
        return gradient

    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (K, d + 1), in one pass."""
        return self._with_penalty(W, self.rows.fold(ValueGradient(self.loss, W)) / self.total_weight)

    def _with_penalty(self, W: Array, mean: Array) -> Evaluation:
        """E and ∇E from the mean loss and its gradient, one after the other."""
        penalty = self.penalised(W)
        gradient = self.without_pinned(mean[1:].reshape(self.shape)) + penalty.gradient
        return Evaluation(float(mean[0]) + penalty.value, gradient)

    def block_value_gradient(self, W: Array, block: Block) -> Evaluation:
        """The same with the mean over one block's rows in place of all: what stochastic descent walks on."""
        partial = ValueGradient(self.loss, W)
        return self._with_penalty(W, partial.add(partial.zero(), block) / block.weight.sum())

    def hessian(self, W: Array, block: Block | None = None) -> Array:
        """∇²E(W), (K (d + 1))², in one pass; with a block, of E with all other rows' losses left out."""
        partial = Hessian(self.loss, W)
        total = (self.rows if block is None else some_rows(block)).fold(partial) / self.total_weight
        diagonal = total.ravel()[:: self.size + 1].reshape(self.shape)  # a view
        diagonal += self.root_penalty**2
        return total

    def factor(self, W: Array, block: Block | None = None) -> Factor | None:
        """∇²E(W) on the identified directions, factored; None where it is singular there to working precision.

        By Cholesky, and where that fails by QR of its root, which holds twice the digits.
        """
        found = Factor.of(self.subspace.reduce_hessian(self.hessian(W, block)))
        if found is not None or not self.loss.traits.convex:
            return found
        return self.root_factor(W, block)

    def root_factor(self, W: Array, block: Block | None = None) -> Factor | None:
        """The same factor by QR of a root of ∇²E(W), where the loss is convex."""
        space, partial = self.subspace, RootHessian(self.loss, W)
        R = (self.rows if block is None else some_rows(block)).fold(partial)
        penalty = np.diag(np.tile(self.root_penalty, self.shape[0]))
        root = space.reduce_rows(np.vstack([R / np.sqrt(self.total_weight), penalty]))
        return Factor.of_root(np.asarray(np.linalg.qr(root, mode="r")))

    def restricted_to(self, block: Block) -> Objective:
        """The objective of these rows alone, in the same coordinates and directions, the penalty in proportion."""
        weight = float(block.weight.sum())
        # The total weight is given, which spares a pass for the sums by class.
        known = {"total_weight": weight, "root_penalty": self.root_penalty, "subspace": self.subspace}
        return self.with_(rows=some_rows(block), penalty=self.penalty.times(weight / self.total_weight), known=known)

    def hessian_product(self, W: Array, V: Array) -> Array:
        """∇²E(W) V, (K, d + 1), in one pass."""
        total = self.rows.fold(HessianProduct(self.loss, W, V)) / self.total_weight
        return self.without_pinned(total) + self.penalty_gradient(V)

    def relative_margins(self, W: Array) -> RelativeMargins:
        """The rows' margins under W, each as a share of what it is a sum of, in one pass."""
        return self.rows.fold(RelativeMarginRange(self.loss, W))

    @depends_on("rows", "loss")
    def value_at_zero(self) -> float:
        """E where all weights are zero, without a pass."""
        z = np.zeros((self.n_classes, self.shape[0]))
        of_class = self.loss.value(self.targets, z if self.loss.traits.multiclass else z[:, 0])
        return float(self.class_sums[:, 0] @ of_class) / self.total_weight

    @depends_on("rows", "loss")
    def null_value(self) -> float:
        """E of the null model: no column used, the best constant scores (zero without an intercept)."""
        if self.offsets is not None:
            return self._null_value_beside()
        share, c = self.mean_class_sums[:, 0], self.null_weights[:, 0]
        if np.count_nonzero(share) < 2:
            return 0.0
        z = np.tile(c, (self.n_classes, 1))
        return float(share @ self.loss.value(self.targets, z if self.loss.traits.multiclass else z[:, 0]))

    @property
    def offsets(self) -> Array | None:
        """The pinned weights of offset columns, (K or 1, d + 1) in the frame's coordinates; None without an offset."""
        if not self.n_offsets:
            return None
        return self.rows.frame.from_original(np.eye(*self.shape, k=self.shape[1] - self.n_offsets))

    @property
    def null_weights(self) -> Array:
        """The best constants, and zero for every column, (K or 1, d + 1); beside an offset, near them."""
        W, share = np.zeros(self.shape), np.clip(self.mean_class_sums[:, 0], EPS, 1 - EPS)
        if self.offsets is not None:
            W[:] = self.offsets
        if self.fit_intercept:
            W[:, 0] = best_constants(self.loss, self.targets, share) - W[:, 1:] @ self.mean_row[1:]
        return W

    def _null_value_beside(self) -> float:
        """E of the best constants beside an offset, by Newton's method on them alone."""
        constants = np.zeros_like(self.pinned)
        constants[0] = self.fit_intercept
        alone, W = self.with_(pinned=self.pinned | ~constants), self.null_weights
        at = alone.value_gradient(W)
        for _ in range(NULL_STEPS):
            g = alone.subspace.reduce(at.gradient)
            factor = alone.factor(W) if len(g) and self.has_hessian else None
            if factor is None or not np.any(np.abs(g) > EPS):
                break
            V = alone.subspace.expand(factor.solve(g))
            tried = (W - V / 2**k for k in range(NULL_STEPS))
            nearer = next(((to, then) for to in tried if (then := alone.value_gradient(to)).value < at.value), None)
            if nearer is None:
                break
            W, at = nearer
        return at.value

    @depends_on("rows", "frame")
    def root_second_moments(self) -> Array:
        """(mean of x̄_j²)^½ by column, (d + 1)."""
        return np.sqrt(self.rows.fold(SecondMoments(self.shape[1])) / self.total_weight)


def best_constants(loss: Loss, targets: AnyArray, share: Array) -> Array | float:
    """The constant scores, (K,) or one number, that minimise Σ_k p_k ℓ(t_k, c) for the classes' shares p, all positive.

    A link has them in closed form: its probabilities are the shares. Without one, c is where the mean slope changes its
    sign, by bisection; where all of an interval is best, its end nearer to the larger class.

    >>> from separatrix.losses import LOSSES
    >>> float(best_constants(LOSSES["squared"], np.array([-1.0, 1.0]), np.array([0.25, 0.75])))
    0.5
    """
    if loss.traits.multiclass:
        z: Array = np.log(share) - np.log(share).mean()
        return z
    if loss.traits.link is not None:
        return loss.traits.link.inverse(float(share[1]))
    larger = 1.0 if share[1] >= share[0] else -1.0

    def slope(size: float) -> float:
        """The mean slope at a score of this size, away from zero towards the larger class."""
        return larger * float(share @ loss.derivative(targets, np.full(2, larger * size)))

    far = 1.0
    while slope(far) < 0 and far < LARGEST_CONSTANT:
        far *= 2.0
    low, high = 0.0, far
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return larger * high if low > 0 else 0.0


# Of every objective, by name.
STATISTICS: dict[str, Statistic[Any]] = {
    name: value for name, value in vars(Objective).items() if isinstance(value, Statistic)
}
