"""The problem that a fit solves: rows, loss and penalty in standard coordinates, with its sums in a cache.

`Objective` is a mean over rows plus a penalty,

    E(W) = (1/S) Σ_i s_i ℓ(t_i, W x̄_i) + Σ_k Σ_j ½ (r_j W_kj)² + a_j |W_kj|,    S = Σ_i s_i,   r_0 = a_0 = 0

with W (K or 1, d + 1), intercepts in column 0, in the coordinates of the rows' frame. With the penalty strength
1/C, the share α of absolute values and factors f_j in raw units, r_j = ((1 − α) f_j/(C S))^½ / scale_j and
a_j = α f_j/(C S scale_j), so E · C S is scikit-learn's objective. Lectures 000, 002 and 004 divide by N as here;
minimisers do not depend on it. ``build_objective`` makes the objective of a fit from labelled rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar

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
    ClassSums,
    ClassSumsOfColumns,
    DenseTable,
    Evaluation,
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
from separatrix.core.penalty import Penalty, shortest
from separatrix.core.rows.block import Block, is_centred_first
from separatrix.core.rows.column_statistics import standard_frame, summarise
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.protocol import SAMPLE_SEED, Rows, Together, number_of_rows, sample_size

if TYPE_CHECKING:
    from separatrix.core.rows.sampling import Sample

# --- Cached statistics of a problem, each with the parts of the problem that it depends on

T = TypeVar("T")

Part = Literal["rows", "frame", "penalty", "pinned", "loss"]


class Statistic(cached_property[T]):
    """A cached property that declares the parts of the problem it depends on, which are five.

    A copy of a problem may change the ``rows`` with their targets and weights, their ``frame``, the ``penalty``, which
    columns of W are ``pinned``, and the ``loss``. ``Objective.with_`` keeps the statistics that depend on none of the
    changed parts.

    ``narrowed``: a function that updates the statistic when more columns are pinned, given its value and the pinned
    columns, (d + 1,) booleans; None if it must be computed again.
    """

    depends_on: frozenset[Part]
    narrowed: Callable[[T, AnyArray], T] | None

    def kept(self, value: T, changed: frozenset[Part], more_pinned: AnyArray | None) -> tuple[T] | None:
        """The value after the parts ``changed``, in a tuple, or None if it is no longer valid.

        ``more_pinned``: the newly pinned columns, if these include all that were pinned before; otherwise None.
        """
        lost = self.depends_on & changed
        if not lost:
            return (value,)
        if lost == {"pinned"} and more_pinned is not None and self.narrowed is not None:
            return (self.narrowed(value, more_pinned),)
        return None


def depends_on(
    *parts: Part, narrowed: Callable[[Any, AnyArray], Any] | None = None
) -> Callable[[Callable[[Any], T]], Statistic[T]]:
    """Declare a method without arguments as a statistic of these parts of the problem.

    >>> class Problem:
    ...     @depends_on("rows")
    ...     def total(self):
    ...         return 3.0
    >>> Problem().total, sorted(Problem.total.depends_on)
    (3.0, ['rows'])
    """

    def declare(method: Callable[[Any], T]) -> Statistic[T]:
        statistic = Statistic(method)
        statistic.depends_on, statistic.narrowed = frozenset(parts), narrowed
        return statistic

    return declare


# --- The objective

# Root penalties in the frame's coordinates are limited to this: with a curvature of 1e300 a weight is zero.
LARGEST_ROOT_PENALTY = 1e150
# The squares of smaller entries underflow.
SMALLEST_SQUARABLE_ENTRY = 1e-140
# With more parameters than this, the Hessian is neither built nor factored.
LARGEST_HESSIAN = 3000


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
    """E(W) over rows: an immutable problem with cached statistics.

    The problem consists of the rows, the loss, the penalty, the number of classes, ``fit_intercept``, and

    - ``pinned``: the columns of W that keep their starting values, (d + 1,) booleans. By default these are an intercept
      that is not fitted, which stays zero, and the last ``n_offsets`` columns, offsets whose weights stay one;
    - ``names``: the names of the columns, for messages;
    - ``weight_unit``: the rows' weights have been divided by this;
    - ``standard``: the same problem in standard coordinates, if this one is not in them. Bounds are computed there,
      because columns far from zero look collinear in their own units.

    Statistics are computed on first use and cached; ``statistics`` has all of them by name. ``known`` gives the values
    of statistics that are already known, by name. ``passes_before``: the passes on the rows' counter that belong to
    other problems. Whoever holds a problem can rely on it, since it does not change: ``with_`` makes a changed copy.

    x̄ is a row with a leading 1, in the coordinates of the rows' frame; s is its weight.
    """

    statistics: ClassVar[dict[str, Statistic[Any]]]

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
        # This bypasses ``__setattr__``, which refuses every assignment, since problems are shared.
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
            if not self.statistics.keys() >= known.keys():
                raise TypeError(f"not statistics of an objective: {sorted(known.keys() - self.statistics.keys())}")
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
        """A copy with other parts that keeps every cached statistic that does not depend on them.

        ``loss``: another loss of the same targets.
        ``known``: statistics of the new problem that are already known. ``count_anew``: its passes are counted from 0.

        >>> from separatrix.core.rows.memory_rows import memory_rows
        >>> rows = memory_rows(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
        >>> weak = Objective(rows, LOSSES["logistic"], Penalty(1.0, np.ones(1)))
        >>> float(weak.with_(penalty=weak.penalty.times(4.0)).root_penalty[1] / weak.root_penalty[1])
        2.0
        """
        given: dict[Part, Any] = {"rows": rows, "frame": frame, "penalty": penalty, "pinned": pinned, "loss": loss}
        changes = {part: value for part, value in given.items() if value is not None}
        parts = {"rows": self.rows, "loss": self.loss, "penalty": self.penalty, "pinned": self.pinned, **changes}
        of = parts["rows"] if frame is None else parts["rows"].seen_through(frame)
        if count_anew:
            passes_before = of.counter.passes
        else:
            passes_before = self._passes_before if rows is None else 0
        return Objective(
            of,
            parts["loss"],
            parts["penalty"],
            self.n_classes,
            self.fit_intercept,
            pinned=parts["pinned"],
            n_offsets=self.n_offsets,
            names=self.names,
            weight_unit=self.weight_unit,
            standard=self._changed_standard(changes),
            known={**self._still_known(changes), **(known or {})},
            passes_before=passes_before,
        )

    def _changed_standard(self, changes: Mapping[Part, Any]) -> Objective | None:
        """``standard`` with these changes; None for other rows, whose standard coordinates are not known."""
        if self.standard is None or "rows" in changes:
            return None
        others = {part: value for part, value in changes.items() if part != "frame"}
        return self.standard.with_(**others) if others else self.standard

    def _still_known(self, changes: Mapping[Part, Any]) -> dict[str, Any]:
        """The cached statistics that hold after these changes, by name."""
        changed, pinned = frozenset(changes), changes.get("pinned")
        more_pinned = pinned if pinned is not None and np.all(pinned[self.pinned]) else None
        kept = {}
        for name, value in vars(self).copy().items():  # a copy, because other threads may be adding statistics
            statistic = self.statistics.get(name)
            if statistic is not None and (still := statistic.kept(value, changed, more_pinned)) is not None:
                kept[name] = still[0]
        return kept

    def knows(self, statistic: str) -> bool:
        """Whether the statistic of this name is already cached."""
        return statistic in vars(self)

    @property
    def passes(self) -> int:
        """The number of passes over the rows so far, for any purpose."""
        return self.rows.counter.passes - self._passes_before

    @depends_on("rows")
    def shape(self) -> tuple[int, int]:
        """Of W: (K or 1, d + 1)."""
        return (self.n_classes if self.loss.traits.multiclass else 1, self.rows.n_features + 1)

    @depends_on("rows")
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @depends_on("rows", "pinned")
    def n_free(self) -> int:
        """The number of weights that are fitted: all but the pinned ones."""
        return self.shape[0] * int(np.count_nonzero(~self.pinned))

    def column_name(self, j: int) -> ColumnName:
        """Column j ≥ 1 of W in messages: by its name, or by its number if it has none."""
        return column_name(j - 1, self.names)

    @depends_on("pinned")
    def has_pinned(self) -> bool:
        """Whether any column of W is pinned."""
        return bool(np.count_nonzero(self.pinned))

    def without_pinned(self, gradient: Array) -> Array:
        """Set the gradient to zero in pinned columns, in place, and return it."""
        if self.has_pinned:
            gradient[:, self.pinned] = 0.0
        return gradient

    # --- The rows: counts, sums by class, sizes of columns, and the sample

    @depends_on("rows")
    def targets(self) -> AnyArray:
        """The value of t in each class."""
        return np.arange(self.n_classes) if self.loss.traits.multiclass else np.array([-1.0, 1.0])

    @depends_on("rows")
    def n_rows(self) -> int:
        """The number of rows, including those with zero weight."""
        return number_of_rows(self.rows)

    @depends_on("rows", "frame")
    def class_sums(self) -> Array:
        """Σ s x̄ by class, (classes, d + 1)."""
        return self.rows.fold(ClassSums(self.n_classes, self.shape[1], not self.loss.traits.multiclass))

    @property
    def class_weight(self) -> Array:
        """Σ s by class, (classes,)."""
        return self.class_sums[:, 0]

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

    @depends_on("rows", "frame")
    def sampled(self) -> Sample:
        """A sample of rows for bounds, ranks and preconditioners."""
        return self.sample(self.sample_size)

    @property
    def sample_size(self) -> int:
        """The approximate size of the sample; it is larger if columns have rare entries."""
        return sample_size(self.n_rows, self.size, self.shape[1])

    def sample(self, size: int) -> Sample:
        """A sample of about ``size`` rows, with the same number from each class as far as the class has them."""
        return self.rows.sample(size, SAMPLE_SEED, self.targets)

    @depends_on("rows", "frame")
    def standing_sample(self) -> Block:
        """The sample's rows, weighted to represent all rows."""
        return self.sampled.standing_for(self.targets, self.class_weight)

    @depends_on("rows", "frame")
    def largest_entries(self) -> Array:
        """max |x̄_j| by column, (d + 1)."""
        return self.rows.fold(LargestEntries(self.shape[1]))

    @property
    def zero_columns(self) -> Any:
        """Which columns of W, (d + 1,) booleans, are exactly zero on every row."""
        return self.largest_entries == 0

    @depends_on("rows", "frame")
    def relative_offsets(self) -> Array:
        """The columns' offsets in units of their scales, (d + 1,), zero for the intercept."""
        offsets, frame = np.zeros(self.shape[1]), self.rows.frame
        np.divide(frame.center, frame.scale, out=offsets[1:])
        return np.abs(offsets)

    @depends_on("rows", "frame")
    def rounded_sizes(self) -> Array:
        """The size of the numbers in a column's products, (d + 1,), which determines their rounding error.

        It is the root mean square of the column plus the offset that the products include. In standard coordinates the
        root mean square is below 2.
        """
        centred = is_centred_first(self.rows.frame, self.rows.is_sparse, self.n_rows)
        sizes = np.full(self.shape[1], 2.0) if centred else 2.0 + self.relative_offsets
        sizes[0] = 1.0
        return sizes

    @depends_on("rows", "frame")
    def root_second_moments(self) -> Array:
        """(mean of x̄_j²)^½ by column, (d + 1)."""
        return np.sqrt(self.rows.fold(SecondMoments(self.shape[1])) / self.total_weight)

    # --- The penalty, and the columns that it holds

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
        return bool(np.count_nonzero(self.root_penalty))

    @depends_on("rows", "frame", "penalty")
    def held(self) -> Any:
        """Which columns of W, (d + 1,) booleans, have a quadratic penalty large enough for float64 to resolve."""
        # A weaker penalty has no effect on second derivatives: its square is rounded away.
        return self.root_penalty > 0.01 * self.column_noise

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
        return bool(not self.root_penalty[1:].all() and np.count_nonzero(self.unpenalised[1:]))

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

    # --- Gram matrices, the rank of the columns, and the directions that rows and penalty identify

    @depends_on("rows", "frame", "penalty", "pinned", "loss")
    def dense_table(self) -> DenseTable | None:
        """The rows as one array, if they are small and dense; None otherwise."""
        return DenseTable.of(self)

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ in the frame's coordinates."""
        return self.gram_of(None)

    def gram_of(self, block: Block | None) -> Array:
        """The Gram matrix of a block's rows, or of all rows."""
        if block is None and self.dense_table is not None:
            return self.dense_table.gram()
        partial = Gram(self.shape[1])
        total = (self.rows if block is None else some_rows(block)).fold(partial)
        total[self.pinned, :] = total[:, self.pinned] = 0.0
        return total / (self.total_weight if block is None else float(block.weight.sum()))

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def sample_gram(self) -> Array:
        """The Gram matrix of the sample, or of all rows if the sample holds them all."""
        if self.sample_size >= self.n_rows or self.sampled.n_rows >= self.n_rows:
            return self.gram
        return self.gram_of(self.standing_sample)

    @depends_on("rows", "frame", "pinned", narrowed=_without_columns)
    def root_gram(self) -> Array:
        """R with RᵀR the Gram matrix."""
        return self.root_gram_of(None)

    def root_gram_of(self, block: Block | None) -> Array:
        """R with RᵀR the Gram matrix of a block's rows, or of all rows, computed by QR without squaring."""
        partial = RootGram(self.shape[1])
        R: Array = (self.rows if block is None else some_rows(block)).fold(partial)
        R[:, self.pinned] = 0.0
        return np.asarray(R / np.sqrt(self.total_weight if block is None else float(block.weight.sum())))

    @depends_on("rows", "frame", "pinned")
    def columns_alone(self) -> Subspace:
        """The identified directions of the columns without a penalty.

        The frame is chosen for columns and penalty together, so with a strong penalty a framed column may be nearly
        zero. Such a column is rescaled to its own size first, which takes a pass. A sample saves the pass if its
        columns are independent and their squares do not underflow.
        """
        alone = self.sample_columns_alone
        smallest = SMALLEST_SQUARABLE_ENTRY**2
        if alone is not None and alone.Z is None and (self.sample_gram.diagonal() > smallest).all():
            return alone
        none = np.zeros(self.shape[1])
        # With a weaker penalty framed columns are not small, because the frame scales columns and penalty together.
        strong = np.any(self.root_penalty > 0.25)
        size = self.largest_entries[1:] if strong else none[1:]
        small = (size > 0) & (size < SMALLEST_SQUARABLE_ENTRY)
        if not np.any(small):
            return self._identified_columns(none)
        frame = self.rows.frame
        with np.errstate(under="ignore"):
            rescaled = Frame(frame.center, np.where(small, frame.scale * power_of_two(size), frame.scale))
        return self.with_(frame=rescaled, penalty=Penalty.none(self.rows.n_features)).columns_alone

    @depends_on("rows", "frame", "pinned")
    def sample_columns_alone(self) -> Subspace | None:
        """The directions that the sample identifies without a penalty; None if float64 does not decide it."""
        return identified(0.25 * self.sample_gram)

    def _identified_columns(self, root_penalty: Array) -> Subspace:
        """The identified directions of the columns with this penalty, which may differ from the problem's.

        Columns that are independent on a sample are independent on all rows, so the sample is read first. If its
        columns seem dependent, one pass over all rows tests whether the directions outside are zero on every row. Only
        if they are not is the Gram matrix of all rows built, and where its eigenvalues do not decide, a root of it,
        which keeps twice the digits.
        """
        penalty = np.diag(root_penalty**2)

        def by_root(root: Array) -> Subspace:
            return identified_by_root(np.vstack([0.5 * root, np.diag(root_penalty)]), self.column_noise)

        curvature = 0.25 * self.sample_gram + penalty
        space = identified(curvature) if np.any(root_penalty) else self.sample_columns_alone
        if space is None and self.sampled.n_rows < self.n_rows:
            guess = split_by_gap(curvature)
            space = self._shown_on_all(by_root(self.root_gram_of(self.sampled.block)) if guess is None else guess)
        return space or identified(0.25 * self.gram + penalty) or by_root(self.root_gram)

    def _shown_on_all(self, space: Subspace) -> Subspace | None:
        """The subspace found on a sample, or None if a direction outside it is not zero on all rows.

        Without a penalty the directions outside are first counted exactly. Directions that a sample resolves are not
        null, so if all others are null, then the sample's rows span the same space as all rows, whatever the rounding
        errors of its basis.
        """
        outside = space.outside()
        if not len(outside):
            return space
        if not np.any(self.root_penalty):
            space = replace(space, others_null=all_null(self.rows, space, self.pinned, self.held))
            if space.others_null:
                return space
        length = np.sqrt(self.rows.fold(ScoreSquares(outside)) / self.total_weight)
        size = np.sqrt(outside**2 @ np.diag(self.sample_gram))
        return space if np.all(length <= self.column_noise * np.sqrt(self.shape[1]) * size) else None

    @depends_on("rows", "frame", "penalty", "pinned")
    def subspace(self) -> Subspace:
        """The directions of W on which E depends.

        They are computed from X and the penalty, never from a Hessian at some W: the Hessian also loses rank where
        classes are separated, although E depends on W there.

        Columns that are independent without a penalty are independent with any penalty, and the certificate needs their
        rank anyway, so they are tested first. Let the curvature be D A D with D² its diagonal and A ⪰ δI, δ < 1. With a
        penalty P it is at least δ D² + P, which is at least δ (D² + P).
        """
        if not self.has_ridge:
            columns = self.columns_alone
        elif (alone := self.sample_columns_alone) is not None and alone.Z is None:
            columns = alone
        else:
            columns = self._identified_columns(self.root_penalty)
        return columns if self.shape[0] == 1 else replace(columns, Q=contrasts(self.shape[0]))

    @depends_on("rows", "pinned")
    def rank(self) -> int | None:
        """The rank of X̄ (of X without an intercept) to working precision; None for too many columns."""
        if self.shape[1] > 1000:  # singular values would take longer than the fit
            return None
        block = self.rows.resident() if self.n_rows < self.shape[1] else None
        if block is None:
            return self.columns_alone.rank
        rows = block.homogeneous()
        return row_rank(rows[:, ~self.pinned] if self.pinned.any() else rows, self.column_noise)

    @depends_on("rows", "frame", "penalty", "pinned")
    def unresolved(self) -> tuple[int, ...]:
        """The columns of W in directions on which E depends but that float64 cannot resolve."""
        if self.subspace.Z is None:
            return ()
        return unresolved(self.rows, self.subspace, self.pinned, self.held)

    # --- E and its derivatives

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
        # A read of rows outside memory costs about as much as three evaluations.
        return 1 if self.rows.resident() is not None else 4

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


Objective.statistics = {name: value for name, value in vars(Objective).items() if isinstance(value, Statistic)}


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
        partial = ClassSums(len(sums), len(far) + 1, not kept.traits.multiclass)
        again = rows.fold(ClassSumsOfColumns(partial, far, Frame(frame.center[far], frame.scale[far])))
        sums[:, 1 + far] = again[:, 1:]
    fixed = (kept, penalty, n_classes, fit_intercept)
    more: dict[str, Any] = {"names": names, "weight_unit": rows.weight_unit, "n_offsets": n_offsets}
    known = None if sums is None else {"class_sums": sums}
    objective = Objective(rows.seen_through(frame), *fixed, known=known, **more)
    return objective if standard else Objective(rows, *fixed, standard=objective, **more)


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
