"""The problem that a fit solves: rows, loss and penalty in standard coordinates, with its sums in a cache.

`Objective` is a mean over rows plus a penalty,

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + Σ_k Σ_j ½ (r_j W_kj)² + a_j |W_kj|,    S = Σ_i s_i,   r_0 = a_0 = 0

with W (K or 1, d + 1), intercepts in column 0, in the coordinates of the rows' frame. With the penalty strength
1/C, the share α of absolute values and factors f_j in raw units, r_j = ((1 − α) f_j/(C S))^½ / scale_j and
a_j = α f_j/(C S scale_j), so E · C S is scikit-learn's objective. Lectures 000, 002 and 004 divide by N as here;
minimisers do not depend on it. ``build_objective`` makes the objective of a fit from labelled rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import ColumnName
from separatrix.core.linear_algebra import (
    Factor,
    Subspace,
    all_null,
    column_name,
    contrasts,
    identified,
    identified_by_root,
    row_rank,
    split_by_gap,
    unresolved,
)
from separatrix.core.losses import LOSSES, Loss
from separatrix.core.null_model import ConstantSlopes, constant_slopes, null_value, null_weights
from separatrix.core.objective_sums import (
    ClassSumsOfColumns,
    CompiledSums,
    DenseTable,
    Evaluation,
    Gram,
    Hessian,
    LargestEntries,
    RelativeMarginRange,
    RelativeMargins,
    RootGram,
    RootHessian,
    ScoreSquares,
    SecondMoments,
    SumsByClass,
    ValueGradient,
    small_block,
)
from separatrix.core.penalty import Penalty, shortest
from separatrix.core.rows.block import Block, is_centred_first
from separatrix.core.rows.column_statistics import standard_frame, summarise
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.protocol import SAMPLE_SEED, Rows, Together, number_of_rows, sample_size

if TYPE_CHECKING:
    from separatrix.core.rows.sampling import RowSample

# --- The rows in a frame, and what their columns determine

# Root penalties in the frame's coordinates are limited to this: with a curvature of 1e300 a weight is zero.
LARGEST_ROOT_PENALTY = 1e150
# The squares of smaller entries underflow.
SMALLEST_SQUARABLE_ENTRY = 1e-140
# With more parameters than this, the Hessian is neither built nor factored.
LARGEST_HESSIAN = 3000


@dataclass(frozen=True, eq=False)
class FramedRows:
    """Rows in the coordinates of their frame, with sums over them that no loss and no penalty enters.

    x̄ is a row with a leading 1, s its weight. Every sum is computed on first use. ``n_scores``: K, or 1 for two
    classes. ``given_sums``: ``class_sums``, if they are known. ``given_weight``: ``total_weight``, if that is known or
    is not the sum of s. ``sample_all``: find the rank from all rows, and not from a sample first.
    """

    rows: Rows
    n_classes: int
    n_scores: int
    given_sums: Array | None = None
    given_weight: float | None = None
    sample_all: bool = False

    @property
    def width(self) -> int:
        """d + 1."""
        return self.rows.n_features + 1

    @cached_property
    def targets(self) -> AnyArray:
        """The value of t in each class."""
        return np.array([-1.0, 1.0]) if self.n_scores == 1 else np.arange(self.n_classes)

    @cached_property
    def n_rows(self) -> int:
        """The number of rows, including those with zero weight."""
        return number_of_rows(self.rows)

    @cached_property
    def class_sums(self) -> Array:
        """Σ s x̄ by class, (classes, d + 1)."""
        if self.given_sums is not None:
            return self.given_sums
        return self.rows.fold(SumsByClass(self.n_classes, self.width, self.n_scores == 1))

    @cached_property
    def total_weight(self) -> float:
        """S, the sum of the rows' weights."""
        return float(self.class_sums[:, 0].sum()) if self.given_weight is None else self.given_weight

    @cached_property
    def mean_class_sums(self) -> Array:
        """(1/S) Σ s x̄ by class, (classes, d + 1): column 0 holds the classes' shares."""
        return self.class_sums / self.total_weight

    @cached_property
    def mean_row(self) -> Array:
        """(1/S) Σ s x̄, (d + 1)."""
        return np.asarray(self.mean_class_sums.sum(axis=0))

    @property
    def sample_size(self) -> int:
        """The approximate size of the sample; it is larger if columns have rare entries."""
        return sample_size(self.n_rows, self.n_scores * self.width, self.width)

    def sample(self, size: int) -> RowSample:
        """A sample of about ``size`` rows, with the same number from each class as far as the class has them."""
        return self.rows.sample(size, SAMPLE_SEED, self.targets)

    @cached_property
    def sampled(self) -> RowSample:
        """A sample of rows for bounds, ranks and preconditioners."""
        return self.sample(self.sample_size)

    @cached_property
    def standing_sample(self) -> Block:
        """The sample's rows, weighted to represent all rows."""
        return self.sampled.standing_for(self.targets, self.class_sums[:, 0])

    @cached_property
    def sample_is_all(self) -> bool:
        """Whether the sample would have all rows."""
        return self.sample_all or self.sample_size >= self.n_rows or self.sampled.n_rows >= self.n_rows

    @cached_property
    def largest_entries(self) -> Array:
        """max |x̄_j| by column, (d + 1)."""
        return self.rows.fold(LargestEntries(self.width))

    @cached_property
    def relative_offsets(self) -> Array:
        """The columns' offsets in units of their scales, (d,)."""
        return np.abs(self.rows.frame.center / self.rows.frame.scale)

    @cached_property
    def rounded_sizes(self) -> Array:
        """The size of the numbers in a column's products, (d + 1,), which determines their rounding error.

        It is the root mean square of the column plus the offset that the products include. In standard coordinates the
        root mean square is below 2.
        """
        sizes = np.full(self.width, 2.0)
        if not is_centred_first(self.rows.frame, self.rows.is_sparse, self.n_rows):
            sizes[1:] += self.relative_offsets
        sizes[0] = 1.0
        return sizes

    @cached_property
    def root_second_moments(self) -> Array:
        """(mean of x̄_j²)^½ by column, (d + 1)."""
        return np.sqrt(self.rows.fold(SecondMoments(self.width)) / self.total_weight)

    @cached_property
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ."""
        block = small_block(self.rows)
        if block is not None:
            self.rows.counter.add()
            return block.kept_sandwich(block.weight / self.total_weight)
        return self.rows.fold(Gram(self.width)) / self.total_weight

    @cached_property
    def sample_gram(self) -> Array:
        """The Gram matrix of the sample, or of all rows if the sample holds them all."""
        if self.sample_is_all:
            return self.gram
        block = self.standing_sample
        return some_rows(block).fold(Gram(self.width)) / float(block.weight.sum())

    @cached_property
    def root_gram(self) -> Array:
        """R with RᵀR the Gram matrix, computed by QR without squaring."""
        return self.rows.fold(RootGram(self.width)) / sqrt(self.total_weight)

    def in_frame(self, frame: Frame) -> FramedRows:
        """The same rows in the coordinates of another frame."""
        old, sums = self.rows.frame, None
        if frame.center is old.center:  # then the sums of columns only change their units
            seen = np.where(np.isfinite(old.scale), old.scale, 0.0)  # a hidden column reads as zero
            with np.errstate(under="ignore"):
                sums = np.column_stack([self.class_sums[:, :1], self.class_sums[:, 1:] * seen / frame.scale])
        rows = self.rows.seen_through(frame)
        return FramedRows(rows, self.n_classes, self.n_scores, sums, self.total_weight, self.sample_all)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of rows, some of them pinned, with what follows from them whatever the loss and the penalty are.

    ``pinned``: the columns of W that keep their starting values, (d + 1,) booleans. Gram matrices are zero there.
    ``counts_null``: directions that a sample does not identify are counted exactly when they are first looked for,
    since without a penalty a certificate needs that count anyway.
    """

    framed: FramedRows
    pinned: AnyArray
    counts_null: bool = False

    @cached_property
    def has_pinned(self) -> bool:
        """Whether any column is pinned."""
        return bool(np.count_nonzero(self.pinned))

    def _without_pinned(self, products: Array) -> Array:
        if self.has_pinned:
            products = products.copy()
            products[self.pinned, :] = products[:, self.pinned] = 0.0
        return products

    @cached_property
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ."""
        return self._without_pinned(self.framed.gram)

    @cached_property
    def sample_gram(self) -> Array:
        """The Gram matrix of the sample, or of all rows if the sample holds them all."""
        return self._without_pinned(self.framed.sample_gram)

    @cached_property
    def root_gram(self) -> Array:
        """R with RᵀR the Gram matrix, computed by QR without squaring."""
        return np.where(self.pinned, 0.0, self.framed.root_gram)

    @property
    def noise(self) -> float:
        """A singular value of columns scaled to length one must exceed this to be distinguished from rounding.

        A framed entry is (x − center)/scale: one rounded subtraction, which is exact where the offset is much larger
        than the spread (Sterbenz), and one exact division. So every entry is accurate whatever the offset, and only the
        rounding of a QR factorisation counts.
        """
        return 64 * self.framed.width * EPS

    @cached_property
    def alone(self) -> Subspace:
        """The identified directions of the columns without a penalty.

        The frame is chosen for columns and penalty together, so with a strong penalty a framed column may be so small
        that its square underflows. Then it is rescaled to its own size first, which takes a pass.
        """
        found, squares = self.sample_alone, self.sample_gram.diagonal()
        frame = self.framed.rows.frame
        small = (squares <= SMALLEST_SQUARABLE_ENTRY**2)[1:] & ~self.pinned[1:] & np.isfinite(frame.scale)
        if not np.count_nonzero(small):
            return found if found is not None and found.Z is None else self.identified(np.zeros(self.framed.width))
        size = self.framed.largest_entries[1:]
        small = (size > 0) & (size < SMALLEST_SQUARABLE_ENTRY)
        if not np.count_nonzero(small):
            return self.identified(np.zeros(self.framed.width))
        with np.errstate(under="ignore"):
            rescaled = Frame(frame.center, np.where(small, frame.scale * power_of_two(size), frame.scale))
        return replace(self, framed=self.framed.in_frame(rescaled)).alone

    @cached_property
    def sample_alone(self) -> Subspace | None:
        """The directions that the sample identifies without a penalty; None if float64 does not decide it."""
        return identified(0.25 * self.sample_gram)

    def identified(self, root_penalty: Array) -> Subspace:
        """The identified directions of the columns with a penalty ½ Σ_j (r_j W_j)², given r.

        Columns that are independent on a sample are independent on all rows, so the sample is read first. If its
        columns seem dependent, one pass over all rows tests whether the directions outside are zero on every row. Only
        if they are not is the Gram matrix of all rows built, and where its eigenvalues do not decide, a root of it,
        which keeps twice the digits.
        """
        penalty, penalised = np.diag(root_penalty**2), bool(np.count_nonzero(root_penalty))

        def by_root(root: Array) -> Subspace:
            return identified_by_root(np.vstack([0.5 * root, np.diag(root_penalty)]), self.noise)

        framed, curvature = self.framed, 0.25 * self.sample_gram + penalty
        space = identified(curvature) if penalised else self.sample_alone
        if space is None and not framed.sample_is_all:
            guess = split_by_gap(curvature)
            if guess is None:
                block = framed.sampled.block
                root = some_rows(block).fold(RootGram(framed.width)) / sqrt(float(block.weight.sum()))
                guess = by_root(np.where(self.pinned, 0.0, root))
            space = self._shown_on_all(guess, root_penalty)
        return space or identified(0.25 * self.gram + penalty) or by_root(self.root_gram)

    def _shown_on_all(self, space: Subspace, root_penalty: Array) -> Subspace | None:
        """The subspace found on a sample, or None if a direction outside it is not zero on all rows.

        With ``counts_null`` the directions outside are first counted exactly. Directions that a sample resolves are not
        null, so if all others are null, then the sample's rows span the same space as all rows, whatever the rounding
        errors of its basis.
        """
        outside, framed = space.outside(), self.framed
        if not len(outside):
            return space
        if self.counts_null and not np.count_nonzero(root_penalty):
            none_held = np.zeros_like(self.pinned)
            space = replace(space, others_null=all_null(framed.rows, space, self.pinned, none_held))
            if space.others_null:
                return space
        length = np.sqrt(framed.rows.fold(ScoreSquares(outside)) / framed.total_weight)
        size = np.sqrt(outside**2 @ np.diag(self.sample_gram))
        return space if np.all(length <= self.noise * np.sqrt(framed.width) * size) else None

    @cached_property
    def rank(self) -> int | None:
        """The rank of X̄ (of X without an intercept) to working precision; None for too many columns."""
        framed = self.framed
        if framed.width > 1000:  # singular values would take longer than the fit
            return None
        block = framed.rows.resident() if framed.n_rows < framed.width else None
        if block is None:
            return self.alone.rank
        rows = block.homogeneous()
        return row_rank(rows[:, ~self.pinned] if self.has_pinned else rows, self.noise)


# --- The objective


class Objective:
    """E(W) over rows: an immutable problem with cached statistics.

    ``columns`` has the rows in their frame, and all that does not depend on the loss and the penalty. A copy with
    another loss or penalty shares it, one with other pinned columns shares ``framed``, so that nothing is computed
    twice and nothing is kept that depends on what has changed. ``with_`` makes such copies.

    By default the pinned columns are an intercept that is not fitted, which stays zero, and the last ``n_offsets``
    columns, offsets whose weights stay one. ``names``: the names of the columns, for messages. ``weight_unit``: the
    rows' weights have been divided by this. ``standard``: the same problem in standard coordinates, if this one is not
    in them: bounds are computed there, because columns far from zero look collinear in their own units.
    ``given_subspace``, ``given_root_penalty``: ``subspace`` and ``root_penalty``, if they are known. ``passes_before``:
    the passes on the rows' counter that belong to other problems.
    """

    columns: Columns
    framed: FramedRows
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
    given_subspace: Subspace | None
    given_root_penalty: Array | None
    passes_before: int
    shape: tuple[int, int]
    size: int
    has_absolute: bool
    smooth: bool
    has_hessian: bool

    def __init__(
        self,
        columns: Columns,
        loss: Loss,
        penalty: Penalty,
        fit_intercept: bool = True,
        *,
        n_offsets: int = 0,
        names: list[str] | None = None,
        weight_unit: float = 1.0,
        standard: Objective | None = None,
        given_subspace: Subspace | None = None,
        given_root_penalty: Array | None = None,
        passes_before: int = 0,
    ) -> None:
        framed, absolute = columns.framed, penalty.l1_ratio > 0 and penalty.strength > 0
        size = framed.n_scores * framed.width
        # This bypasses ``__setattr__``, which refuses every assignment, since problems are shared.
        vars(self).update(
            columns=columns,
            framed=framed,
            rows=framed.rows,
            loss=loss,
            penalty=penalty,
            n_classes=framed.n_classes,
            fit_intercept=fit_intercept,
            pinned=columns.pinned,
            n_offsets=n_offsets,
            names=names,
            weight_unit=weight_unit,
            standard=standard,
            given_subspace=given_subspace,
            given_root_penalty=given_root_penalty,
            passes_before=passes_before,
            # Of W: (K or 1, d + 1).
            shape=(framed.n_scores, framed.width),
            size=size,
            # Whether absolute values are penalised, so that E is not differentiable everywhere.
            has_absolute=absolute,
            # Whether E is twice differentiable.
            smooth=loss.traits.smooth and not absolute,
            # Whether the loss has second derivatives and the Hessian is small enough to build.
            has_hessian=loss.traits.smooth and size <= LARGEST_HESSIAN,
        )

    @classmethod
    def of(
        cls, rows: Rows, loss: Loss, penalty: Penalty, n_classes: int = 2, fit_intercept: bool = True, **more: Any
    ) -> Objective:
        """The objective of rows in their frame; ``more``: other arguments of an objective."""
        framed = FramedRows(rows, n_classes, n_classes if loss.traits.multiclass else 1)
        columns = Columns(framed, pinned_columns(rows.n_features, fit_intercept))
        return cls(columns, loss, penalty, fit_intercept, **more)

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
        subspace: Subspace | None = None,
        count_anew: bool = False,
    ) -> Objective:
        """A copy with other parts.

        ``loss``: another loss of the same targets. ``subspace``: that of the copy, if it is known. ``count_anew``: the
        passes of the copy are counted from 0.

        >>> from separatrix.core.rows.memory_rows import memory_rows
        >>> rows = memory_rows(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
        >>> weak = Objective.of(rows, LOSSES["logistic"], Penalty(1.0, np.ones(1)))
        >>> float(weak.with_(penalty=weak.penalty.times(4.0)).root_penalty[1] / weak.root_penalty[1])
        2.0
        """
        columns, passes_before, standard = self.columns, self.passes_before, self.standard
        if rows is not None:
            framed = FramedRows(rows, self.n_classes, self.shape[0])
            # The standard coordinates of other rows are not known.
            columns, passes_before, standard = replace(columns, framed=framed), 0, None
        if frame is not None:
            columns = replace(columns, framed=columns.framed.in_frame(frame))
        if pinned is not None:
            columns = replace(columns, pinned=pinned)
        if standard is not None:
            standard = standard.with_(penalty=penalty, pinned=pinned, loss=loss)
        return Objective(
            columns,
            loss or self.loss,
            penalty or self.penalty,
            self.fit_intercept,
            n_offsets=self.n_offsets,
            names=self.names,
            weight_unit=self.weight_unit,
            standard=standard,
            given_subspace=subspace,
            passes_before=columns.framed.rows.counter.passes if count_anew else passes_before,
        )

    @property
    def passes(self) -> int:
        """The number of passes over the rows so far, for any purpose."""
        return self.rows.counter.passes - self.passes_before

    @property
    def targets(self) -> AnyArray:
        """The value of t in each class."""
        return self.framed.targets

    @property
    def n_rows(self) -> int:
        """The number of rows, including those with zero weight."""
        return self.framed.n_rows

    @property
    def class_weight(self) -> Array:
        """Σ s by class, (classes,)."""
        return self.framed.class_sums[:, 0]

    @property
    def total_weight(self) -> float:
        """S, the sum of the rows' weights."""
        return self.framed.total_weight

    @property
    def n_free(self) -> int:
        """The number of weights that are fitted: all but the pinned ones."""
        return self.shape[0] * int(np.count_nonzero(~self.pinned))

    def column_name(self, j: int) -> ColumnName:
        """Column j ≥ 1 of W in messages: by its name, or by its number if it has none."""
        return column_name(j - 1, self.names)

    def without_pinned(self, gradient: Array) -> Array:
        """Set the gradient to zero in pinned columns, in place, and return it."""
        if self.columns.has_pinned:
            gradient[:, self.pinned] = 0.0
        return gradient

    # --- The penalty, and the columns that it holds

    @cached_property
    def root_penalty(self) -> Array:
        """r, (d + 1). The square root is taken before dividing by the scales, so columns may have any scale.

        It is limited to LARGEST_ROOT_PENALTY, whose square is still finite.
        """
        if self.given_root_penalty is not None:
            return self.given_root_penalty
        with np.errstate(over="ignore"):
            raw = np.sqrt(self.penalty.quadratic) / sqrt(self.total_weight) / self.rows.frame.scale
        root = np.zeros(self.shape[1])
        np.minimum(raw, LARGEST_ROOT_PENALTY, out=root[1:])
        return root

    @cached_property
    def absolute_penalty(self) -> Array:
        """a, (d + 1), limited like r."""
        if not self.has_absolute:
            return np.zeros(self.shape[1])
        with np.errstate(over="ignore"):
            raw = self.penalty.absolute / self.total_weight / self.rows.frame.scale
        return np.concatenate([[0.0], np.minimum(raw, LARGEST_ROOT_PENALTY)])

    @cached_property
    def held(self) -> AnyArray:
        """Which columns of W, (d + 1,) booleans, have a quadratic penalty large enough for float64 to resolve."""
        # A weaker penalty has no effect on second derivatives: its square is rounded away.
        held: AnyArray = self.root_penalty > 0.01 * self.columns.noise
        return held

    @cached_property
    def weak_columns(self) -> AnyArray | None:
        """Which columns of W have a quadratic penalty that float64 does not resolve, (d + 1,); None if none has."""
        penalised: AnyArray = self.root_penalty > 0
        # Every column that is held is penalised.
        return None if np.count_nonzero(penalised) == np.count_nonzero(self.held) else penalised & ~self.held

    @cached_property
    def unpenalised(self) -> AnyArray:
        """Which columns of W are neither penalised nor pinned, (d + 1,) booleans."""
        free: AnyArray = (self.root_penalty == 0) & ~self.pinned
        return free & (self.absolute_penalty == 0) if self.has_absolute else free

    @cached_property
    def has_unpenalised(self) -> bool:
        """Whether a column other than the intercept is neither penalised nor pinned."""
        return bool(not self.root_penalty[1:].all() and np.count_nonzero(self.unpenalised[1:]))

    @cached_property
    def free_columns(self) -> AnyArray:
        """The columns of W other than the intercept that are not penalised, pinned or hidden by the frame."""
        return 1 + np.flatnonzero(self.unpenalised[1:] & np.isfinite(self.rows.frame.scale))

    @cached_property
    def ridged(self) -> Any:
        """The index of the columns of W with a quadratic penalty: a slice if these are all but the intercept."""
        held = self.root_penalty > 0
        return slice(1, None) if held[1:].all() and not held[0] else held

    def penalty_value(self, W: Array) -> float:
        """The penalty at W."""
        W_r = self.root_penalty * W
        value = 0.5 * float((W_r * W_r).sum())
        return value + float(np.sum(self.absolute_penalty * np.abs(W))) if self.has_absolute else value

    def penalty_gradient(self, W: Array) -> Array:
        """The gradient of the smooth part of the penalty."""
        r = self.root_penalty
        return r * (r * W)

    def subgradient(self, W: Array, gradient: Array) -> Array:
        """The shortest subgradient of E at W, from the gradient of its smooth part: it is zero exactly at a minimum."""
        if not self.has_absolute:
            return gradient
        return shortest(W, gradient, self.absolute_penalty)

    # --- The directions that rows and penalty identify

    @cached_property
    def subspace(self) -> Subspace:
        """The directions of W on which E depends.

        They are computed from X and the penalty, never from a Hessian at some W: the Hessian also loses rank where
        classes are separated, although E depends on W there.

        Columns that are independent without a penalty are independent with any penalty, and the certificate needs their
        rank anyway, so they are tested first. Let the curvature be D A D with D² its diagonal and A ⪰ δI, δ < 1. With a
        penalty P it is at least δ D² + P, which is at least δ (D² + P).
        """
        if self.given_subspace is not None:
            return self.given_subspace
        columns = self.columns
        if not np.count_nonzero(self.root_penalty):
            space = columns.alone
        elif columns.sample_alone is not None and columns.sample_alone.Z is None:
            space = columns.sample_alone
        else:
            space = columns.identified(self.root_penalty)
        return space if self.shape[0] == 1 else replace(space, Q=contrasts(self.shape[0]))

    @cached_property
    def unresolved(self) -> tuple[int, ...]:
        """The columns of W in directions on which E depends but that float64 cannot resolve."""
        if self.subspace.Z is None:
            return ()
        return unresolved(self.rows, self.subspace, self.pinned, self.held)

    # --- E and its derivatives

    @property
    def has_gram(self) -> bool:
        """Whether the Gram matrix of the columns is small enough to build."""
        return self.shape[1] <= LARGEST_HESSIAN

    @cached_property
    def dense_table(self) -> DenseTable | None:
        """The rows as one array, if they are small and dense; None otherwise."""
        return DenseTable.of(self)

    def slope_along(self, V: Array) -> Callable[[float], float]:
        """φ′ for φ(α) = E(αV) on a small dense table, as a function of α, in one pass."""
        assert self.dense_table is not None, "other rows have no cheap slopes"
        V_r = self.root_penalty * V
        of_loss, of_penalty = self.dense_table.slope_along(V), float(np.vdot(V_r, V_r))
        return lambda alpha: of_loss(alpha) + alpha * of_penalty

    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (K, d + 1), in one pass."""
        if self.dense_table is not None:
            return self._with_penalty(W, *self.dense_table.sums(W))
        sums = self._sums_at(W)
        return self._with_penalty_of_sums(W, sums.framed(self.rows.fold(sums)) / self.total_weight)

    @cached_property
    def is_compiled(self) -> bool:
        """Whether passes over the rows are compiled loops."""
        return CompiledSums.suit(self)

    def _sums_at(self, W: Array) -> ValueGradient | CompiledSums:
        """What is summed over rows for the mean loss and its gradient."""
        return CompiledSums.at(W, self.rows.frame) if self.is_compiled else ValueGradient(self.loss, W)

    @property
    def most_together(self) -> int:
        """How many points ``value_gradients`` may be given: one for rows in memory, which cost little to read."""
        # A read of rows outside memory costs about as much as three evaluations.
        return 1 if self.rows.resident() is not None else 4

    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]:
        """E and ∇E at several points in one pass."""
        if len(Ws) == 1:
            return [self.value_gradient(Ws[0])]
        each = tuple(self._sums_at(W) for W in Ws)
        totals, S = self.rows.fold(Together(each)), self.total_weight
        found = zip(Ws, each, totals, strict=True)
        return [self._with_penalty_of_sums(W, sums.framed(total) / S) for W, sums, total in found]

    def _with_penalty_of_sums(self, W: Array, mean: Array) -> Evaluation:
        """E and ∇E from a vector of the mean loss followed by its gradient."""
        return self._with_penalty(W, float(mean[0]), mean[1:].reshape(self.shape))

    def _with_penalty(self, W: Array, mean: float, gradient: Array, second: Array | None = None) -> Evaluation:
        """E and ∇E from the mean loss and its gradient, which is overwritten."""
        if self.columns.has_pinned:
            gradient[:, self.pinned] = 0.0
        W_r = self.root_penalty * W
        gradient += self.root_penalty * W_r
        value = mean + 0.5 * float(np.vdot(W_r, W_r))
        if self.has_absolute:
            value += float(np.sum(self.absolute_penalty * np.abs(W)))
        return Evaluation(value, gradient, second)

    def block_value_gradient(self, W: Array, block: Block) -> Evaluation:
        """Unbiased estimates of E(W) and ∇E(W) from a block of rows drawn at random, for stochastic descent.

        The sum over the block is divided by the weight that as many rows have on average. Divided by the block's own
        weight, the weight of a single row would cancel.
        """
        partial = ValueGradient(self.loss, W)
        expected = block.n_rows * (self.total_weight / self.n_rows)
        return self._with_penalty_of_sums(W, partial.add(partial.zero(), block) / expected)

    def hessian(self, W: Array, block: Block | None = None, at: Evaluation | None = None) -> Array:
        """∇²E(W), (K (d + 1))², in one pass; with a block, only its rows contribute to the loss.

        ``at``: the evaluation at W, if it is at hand; what it computed for each row is then used again.
        """
        if block is None and self.dense_table is not None:
            total = self.dense_table.hessian(W, None if at is None else at.second)
        else:
            total = (self.rows if block is None else some_rows(block)).fold(Hessian(self.loss, W)) / self.total_weight
        diagonal = total.ravel()[:: self.size + 1].reshape(self.shape)  # a view
        diagonal += self.root_penalty**2
        return total

    def factor(self, W: Array, block: Block | None = None, at: Evaluation | None = None) -> Factor | None:
        """A factor of ∇²E(W) on the identified directions; None if it is singular to working precision.

        The factor is computed by Cholesky, or if that fails by QR of a root of the Hessian, which keeps twice the
        digits. ``at``: as for ``hessian``.
        """
        factor = Factor.of(self.subspace.reduce_hessian(self.hessian(W, block, at)))
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
        framed = FramedRows(some_rows(block), self.n_classes, self.shape[0], given_weight=weight)
        return Objective(
            Columns(framed, self.pinned),
            self.loss,
            self.penalty.times(weight / self.total_weight),
            self.fit_intercept,
            n_offsets=self.n_offsets,
            names=self.names,
            weight_unit=self.weight_unit,
            given_subspace=replace(self.subspace, others_null=None),
            # The rows may be copies in these coordinates, whose own frame is the identity.
            given_root_penalty=self.root_penalty,
        )

    def relative_margins(self, W: Array) -> RelativeMargins:
        """The rows' margins under W, each relative to the sizes of its terms, in one pass."""
        return self.rows.fold(RelativeMarginRange(self.loss, W))

    @cached_property
    def value_at_zero(self) -> float:
        """E at W = 0, without a pass."""
        z = np.zeros((self.n_classes, self.shape[0]))
        of_class = self.loss.value(self.targets, z if self.loss.traits.multiclass else z[:, 0])
        return float(self.class_weight @ of_class) / self.total_weight

    @cached_property
    def null_value(self) -> float:
        """E of the null model, whose scores are the best constants (zero without an intercept)."""
        return null_value(self)

    @property
    def null_weights(self) -> Array:
        """The best constants (approximate with an offset), and zero for every column, (K or 1, d + 1)."""
        return null_weights(self)

    @cached_property
    def constant_slopes(self) -> ConstantSlopes | None:
        """The slopes of the loss at constant scores, for the duality bound; None for a loss of several scores."""
        return None if self.loss.traits.multiclass else constant_slopes(self)

    @property
    def offsets(self) -> Array | None:
        """The pinned weights of offset columns, (K or 1, d + 1) in the frame's coordinates; None without an offset."""
        if not self.n_offsets:
            return None
        return self.rows.frame.from_original(np.eye(*self.shape, k=self.shape[1] - self.n_offsets))


# --- Build the objective of a fit: coordinates, penalty and offset

# If at most this share of the columns has a large offset, copying those columns is cheaper than a pass over all.
MOST_LARGE_OFFSET_SHARE = 0.1


def build_objective(
    rows: Rows,
    n_classes: int,
    penalty: Penalty,
    fit_intercept: bool = True,
    standard: bool = True,
    names: list[str] | None = None,
    hide_constant: AnyArray | bool = True,
    loss: str = "logistic",
    n_offsets: int = 0,
    sample_all: bool = False,
) -> Objective:
    """The objective of a fit to rows made by ``labelled_rows``: one score for two classes, softmax for more.

    Parameters
    ----------
    rows : Rows
        The rows; NaN and infinity are refused with their row and column.
    n_classes : int
        The number of classes.
    penalty : Penalty
        The penalty on the columns other than offsets.
    fit_intercept : bool
        Whether to fit an intercept.
    standard : bool
        Use standard coordinates; otherwise the columns' own units, as the methods of the lectures require.
    names : list of str, optional
        The names of the columns other than offsets, for messages.
    hide_constant : bool or (d,) booleans
        Whether constant columns read as zero whatever their weight, for all columns or for each.
    loss : str
        The loss for two classes.
    n_offsets : int
        This many of the last columns are offsets: they are added to the scores, with weights pinned at one.
    sample_all : bool
        Find the rank of the columns from all rows, and not from a sample first.
    """
    if n_offsets:
        penalty = penalty.with_free(n_offsets)
        names = None if names is None else [*names, *(f"offset {k}" for k in range(n_offsets))]
    penalty = penalty.times(1.0 / rows.weight_unit)
    summary = summarise(rows, names, np.array([1.0]) if n_classes == 2 else np.arange(1, n_classes), ranges=False)
    kept = LOSSES[loss if n_classes == 2 else "softmax"]
    frame = standard_frame(summary, penalty.quadratic / summary.weight, fit_intercept, hide_constant)
    sums = None
    if not frame.has_large_offset:
        sums = summary.class_sums(frame)
    elif np.count_nonzero(frame.is_far) <= MOST_LARGE_OFFSET_SHARE * len(frame.is_far):
        # Sums of raw entries have too few digits for columns with a large offset, so these are summed again.
        sums, far = summary.class_sums(frame), np.flatnonzero(frame.is_far)
        partial = SumsByClass(len(sums), len(far) + 1, not kept.traits.multiclass)
        again = rows.fold(ClassSumsOfColumns(partial, far, Frame(frame.center[far], frame.scale[far])))
        sums[:, 1 + far] = again[:, 1:]
    more: dict[str, Any] = {"n_offsets": n_offsets, "names": names, "weight_unit": rows.weight_unit}
    pinned, n_scores = pinned_columns(rows.n_features, fit_intercept, n_offsets), n_classes if n_classes > 2 else 1
    framed = FramedRows(rows.seen_through(frame), n_classes, n_scores, sums, sample_all=sample_all)
    columns = Columns(framed, pinned, counts_null=not np.count_nonzero(penalty.quadratic))
    objective = Objective(columns, kept, penalty, fit_intercept, **more)
    if standard:
        return objective
    raw = replace(columns, framed=FramedRows(rows, n_classes, n_scores))
    return Objective(raw, kept, penalty, fit_intercept, standard=objective, **more)


def pinned_columns(n_features: int, fit_intercept: bool, n_offsets: int = 0) -> AnyArray:
    """The columns of W that keep their starting values, (d + 1,): an intercept that is not fitted, and offsets."""
    pinned = np.zeros(n_features + 1, dtype=bool)
    pinned[0] = not fit_intercept
    pinned[n_features + 1 - n_offsets :] = True
    return pinned


def as_offset(offset: Any, n_rows: int, n_scores: int) -> Array | None:
    """The validated offset of the scores, (n, K or 1); None if there is none.

    >>> as_offset([0.5, 1.0], 2, 1).tolist()
    [[0.5], [1.0]]
    """
    if offset is None:
        return None
    remedy = f"give a number for each of the {n_rows} rows" + (f" and {n_scores} classes" if n_scores > 1 else "")
    try:
        given = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("offset", f"it is not an array of numbers ({error})", remedy) from error
    if given.shape not in ((n_rows, n_scores), (n_rows,) if n_scores == 1 else ()):
        raise ParameterError("offset", f"its shape is {given.shape}", remedy)
    given = given.reshape(n_rows, n_scores)
    if not np.all(np.isfinite(given)):
        raise ParameterError("offset", "it holds NaN or infinity", remedy)
    return given
